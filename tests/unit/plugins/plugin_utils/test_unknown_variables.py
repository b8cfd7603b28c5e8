# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Variables that look like ours and are none come with the likely one; ours, and those of others, don't come."""

from __future__ import annotations

import pathlib
import re

import pytest
import yaml

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils import _variables

ROOT = pathlib.Path(__file__).parents[4]
KNOWN = _variables.known_variables(lambda path: yaml.safe_load(pathlib.Path(path).read_text(encoding="utf-8")))


def words(*names):
    return [one.words for one in _variables.unknown_variables(names, KNOWN)]


def test_variables_of_every_role_and_playbook_are_known():
    names = {"maintain_margin", "drain_steps", "rehearse_speed", "azure_maintenance_hosts", "azure_maintenance_folder"}
    assert names | {"emulator_listen", "maintain_result", "watcher_mode", "watcher_serial"} <= KNOWN
    assert words(*KNOWN, "ansible_host", "web_port", "drainage", "watchers") == []


@pytest.mark.parametrize("role", sorted(path.name for path in (ROOT / "roles").iterdir()))
def test_no_role_is_left_out(role):
    assert (ROOT / "roles" / role / "meta" / "argument_specs.yml") in _variables.SPECS


def test_one_that_is_none_comes_with_the_likely_one():
    names = (
        "maintain_margn",
        "azure_maintenace_scope",
        "azure_maintenance_scop",
        "drain_zzzzzzzzzzzz",
        "maintain_margn",
    )
    assert words("maintain_window", "watcher_users", "drain_hosts") == [
        "drain_hosts",
        "maintain_window",
        "watcher_users",
    ]
    assert words(*names, "watcher_aprove") == [
        "azure_maintenance_scop (did you mean 'azure_maintenance_scope'?)",
        "drain_zzzzzzzzzzzz",
        "maintain_margn (did you mean 'maintain_margin'?)",
        "watcher_aprove (did you mean 'watcher_approve'?)",
    ]


def test_the_misspelt_ones_are_refused_and_the_others_named():
    unknown = _variables.unknown_variables(["watcher_aprove", "drain_zzzzzzzzzzzz"], KNOWN)
    assert _variables.named(unknown) == [
        "This collection has no variable drain_zzzzzzzzzzzz: unless it is one of your own, correct it."
    ]
    assert _variables.refused(unknown) == [
        "This collection has no variable watcher_aprove (did you mean 'watcher_approve'?): correct it, or rename it where it is one of "
        "your own."
    ]
    assert _variables.named([]) == _variables.refused([]) == []


@pytest.mark.parametrize("former", sorted(name for name, new in _variables.RENAMED.items() if new))
def test_one_that_has_another_name_now_is_refused_with_that(former):
    unknown = _variables.unknown_variables([former], KNOWN)
    assert _variables.refused(unknown) == [f"Variable {former} is now called {_variables.RENAMED[former]}: rename it."]
    assert _variables.named(unknown) == []


def test_one_that_nothing_has_taken_the_place_of_is_refused():
    unknown = _variables.unknown_variables(["maintain_slice"], KNOWN)
    assert _variables.refused(unknown) == ["Variable maintain_slice has no effect any more: remove it."]
    assert _variables.named(unknown) == []


def test_no_former_name_is_read_and_every_new_one_is():
    assert not KNOWN.intersection(_variables.RENAMED)
    assert KNOWN | {"ansible_become"} >= {new for new in _variables.RENAMED.values() if new}


@pytest.mark.parametrize(
    "shared, hosts, said",
    [
        ([], {"web1": [], "web2": ["drain_stepps"]}, "drain_stepps of web2 (did"),
        ([], {"web1": ["drain_stepps"], "web2": ["drain_stepps"]}, "drain_stepps (did"),
        (["drain_stepps"], {"web1": [], "web2": []}, "drain_stepps (did"),
    ],
)
def test_a_slip_of_some_hosts_names_them(shared, hosts, said):
    (one,) = _variables.unknown_of_play(shared, hosts, KNOWN)
    assert one.words == f"{said} you mean 'drain_steps'?)"


def test_what_our_own_files_set_is_known():
    """Else a run would name what an earlier play of ours has left."""
    files = [*ROOT.glob("roles/*/tasks/**/*.yml"), *ROOT.glob("playbooks/**/*.yml")]
    keys = {
        key for path in files for key in re.findall(r"^ +((?:[a-z]+_)+[a-z]+):", path.read_text(encoding="utf-8"), re.M)
    }
    ours = {key for key in keys if key.startswith(_variables.PREFIXES)}
    assert ours and ours <= KNOWN
