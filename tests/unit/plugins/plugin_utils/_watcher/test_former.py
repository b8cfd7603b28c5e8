# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an earlier deployment has left: its hooks go unless the machine needs them, and a deployment with another state folder leaves no mark
behind, and nothing that a person has put beside it."""

from __future__ import annotations

import json

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._watcher.former import (
    former_of,
    kind_of_mark,
    leaving,
    left_behind,
)
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._watcher.place import place_of
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.well_said import assert_well_said
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._watcher.test_watcher_plan import (
    HOOK,
    files,
)

OLD, NEW = "/var/lib/azure-maintenance", "/data/azm/state"
EMPTY = {"lost": "", "mark": None, "yes": [], "put_back": [], "hold": None}
MARK = {"number": 3, "holder": {"kind": "watcher", "run": "w-1"}, "since": "2026-11-21T11:11:24Z", "phase": "prepared"}
HOLD = {"reason": "tests", "by": "ops", "until": None, "vm_id": ""}


def words(here=EMPTY, force=False, **there):
    found = left_behind(OLD, NEW, dict(EMPTY, **there), here, force)
    if found:
        assert_well_said(f"web1 {found}.")
        assert OLD in found and NEW in found
    return found


PLACE = place_of("linux", {})
INSTALLED = json.dumps(
    {"hooks": {"recover.d/50-old": {}, "prepare.d/50-app": {}, "../../etc/passwd": {}}, "folder": "/data/azm"}
)
OURS = former_of(INSTALLED, PLACE)
APP, OLD_HOOK = (
    {"key": key, "path": f"/etc/azure-maintenance/hooks/{key}"} for key in ("prepare.d/50-app", "recover.d/50-old")
)


@pytest.mark.parametrize("settings", ["", "{", "[]", "{}", '{"folder": null}', '{"folder": ""}', '{"hooks": null}'])
def test_settings_that_name_nothing(settings):
    assert former_of(settings, PLACE) == {"folder": "/var/lib/azure-maintenance", "hooks": []}


def test_what_settings_name():
    assert OURS == {"folder": "/data/azm", "hooks": [APP, OLD_HOOK]}, "nothing that is not below the folder of hooks"


def mark(*keys, kind="watcher"):
    return {"holder": {"kind": kind}, "steps": [{"key": key} for key in keys]}


def test_only_hooks_of_ours_that_are_not_wanted_go():
    assert leaving(files(hooks=[HOOK]), OURS, None) == {"hooks": [OLD_HOOK], "new": [], "refused": ""}
    assert leaving(files(hooks=[HOOK]), former_of("", PLACE), None) == {"hooks": [], "new": [APP], "refused": ""}
    assert leaving(files(), OURS, None)["hooks"] == [APP, OLD_HOOK]


def test_what_brings_the_machine_back_stays_as_long_as_it_is_out():
    made = files({"type": "service", "name": "nginx"}, hooks=[HOOK])
    assert leaving(made, OURS, mark("prepare.d/50-app", "service nginx"))["refused"] == ""
    refused = leaving(made, OURS, mark("recover.d/50-old", "service nginx", "service app"))["refused"]
    assert "not among its new hooks and steps: recover.d/50-old, service app. Wait" in refused
    assert leaving(made, OURS, mark("recover.d/50-old"), force=True)["refused"] == ""
    assert leaving(made, OURS, mark("recover.d/50-old", kind="run"))["refused"] == ""


@pytest.mark.parametrize(
    "content, kind",
    [('{"holder": {"kind": "run"}}', "run"), ('{"holder": null}', ""), ("[]", ""), ("", ""), ('{"holder"', "")],
)
def test_who_holds_a_mark(content, kind):
    assert kind_of_mark(content) == kind


# ---- another state folder ----


def test_a_folder_with_nothing_in_it():
    assert words() == ""


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("mark", [MARK, dict(MARK, holder={"kind": "run", "run": "r"}), {"unreadable": "is no JSON"}])
def test_a_mark_never_stays_behind(mark, force):
    assert f"is marked in {OLD}" in words(mark=mark, force=force)
    assert f"is marked in {OLD}" in words(mark=mark, force=force, here=dict(EMPTY, mark=dict(MARK, since="another")))


@pytest.mark.parametrize(
    ("there", "name"),
    [({"hold": HOLD}, "hold.json"), ({"yes": ["E-1"]}, "folder yes"), ({"put_back": ["E-1"]}, "put_back.json")],
)
def test_what_a_person_has_left_stays_behind_by_force_only(there, name):
    assert name in words(**there)
    assert words(**there, force=True) == ""
    assert words(**there, here=dict(EMPTY, **there)) == "", "somebody has copied it"


def test_one_folder_by_two_names():
    both = dict(EMPTY, mark=MARK, hold=HOLD, yes=["E-1"], put_back=["E-2"])
    assert words(**dict(both, mark=dict(MARK, number=4, phase="recovering")), here=both) == ""


def test_a_folder_that_nobody_can_ask_about():
    found = words(**dict(dict.fromkeys(EMPTY), lost="It took more than 20 s."), force=True)
    assert found.endswith("It took more than 20 s")


def test_a_machine_that_was_not_asked_about_the_new_folder():
    assert f"is marked in {OLD}" in words(mark=MARK, here={})
