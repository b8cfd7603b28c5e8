# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The filter: files of the controller, and plain data through templates."""

from __future__ import annotations

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.cloudops.azure_maintenance.plugins.filter import watcher_plan
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._watcher.test_machine_refusals import (
    OPTIONS as OF_MACHINE,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._watcher.test_machine_refusals import (
    PROBED,
    answer,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._watcher.test_watcher_plan import (
    OPTIONS,
    steps,
)

plan = watcher_plan.watcher_plan
PLACE = plan({}, "place", options={"system": "linux", "version": "1.0.0"})


def test_the_file_has_the_filter_of_its_name():
    assert watcher_plan.FilterModule().filters() == {"watcher_plan": plan}


def test_files_are_looked_for_in_order(tmp_path):
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "app").write_text("#!/bin/sh\n", encoding="utf-8")
    search = ["", str(tmp_path / "one"), str(tmp_path / "two")]
    options = dict(OPTIONS, hooks=[{"name": "app", "phase": "prepare", "file": "app"}])

    def found():
        made = plan(options, "files", place=PLACE, steps=steps(), search=search)
        return made["errors"] or [hook["file"] for hook in made["hooks"]]

    assert found() == [str(tmp_path / "one" / "app")]
    (tmp_path / "one" / "app").unlink()
    assert found() == [str(tmp_path / "two" / "app")]
    (tmp_path / "two" / "app").unlink()
    assert "its file is not there: app" in found()[0]


def test_names_are_those_of_all_roles():
    made = plan(
        OPTIONS,
        "files",
        place=PLACE,
        steps=steps(),
        names=["watcher_aprove", "watcher_mode", "azure_maintenance_policy", "x"],
    )
    slip = [
        "This collection has no variable watcher_aprove (did you mean 'watcher_approve'?): correct it, or rename it where it is one of "
        "your own"
    ]
    assert made["errors"] == slip
    assert plan(["watcher_aprove", "maintain_zzzz"], "names") == {
        "errors": slip,
        "warnings": ["This collection has no variable maintain_zzzz: unless it is one of your own, correct it."],
    }


def test_the_other_parts():
    assert plan([], "version").count(".") == 2
    assert plan(PROBED, "refusals", host="web1", options=OF_MACHINE, answer=answer()) == []
    made = plan(OPTIONS, "files", place=PLACE, steps=steps())
    former = plan('{"folder": "/old", "hooks": {"notify.d/50-x": {}}}', "former", place=PLACE)
    (gone,) = plan(made, "leaving", former=former)["hooks"]
    assert gone == {"key": "notify.d/50-x", "path": "/etc/azure-maintenance/hooks/notify.d/50-x"}
    for hooks in (False, True):
        services = plan(made, "services", place=PLACE, notify_hooks=hooks)
        assert [service["enabled"] for service in services.values()] == [True, hooks, False]
    assert plan({"rc": 0, "stdout": '{"looking": true}'}, "status")["polls"]
    assert plan('{"holder": {"kind": "drain"}}', "mark") == "drain"
    there = {"mark": None, "hold": {"by": "ops"}, "yes": [], "put_back": []}
    asked = {"place": dict(PLACE, state="/new"), "there": there, "answer": dict(there, hold=None)}
    assert plan(former, "left_behind", **asked).startswith("has a hold")
    assert plan(former, "left_behind", force=True, **asked) == ""


def test_a_part_that_there_is_not():
    with pytest.raises(
        AnsibleFilterError,
        match="part is 'all'; it is one of options, version, place, files, names, refusals, former, leaving, left_behind, mark, services, status",
    ):
        plan({}, "all")
