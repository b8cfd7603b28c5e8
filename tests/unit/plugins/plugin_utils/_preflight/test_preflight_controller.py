# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the controller itself says: strategies, collections, variables."""

from __future__ import annotations

import pathlib
import re
import types

import pytest
import yaml

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._preflight import controller

ROOT = pathlib.Path(__file__).parents[5]
KNOWN = controller.known_variables(yaml.safe_load(path.read_text(encoding="utf-8")) for path in controller.SPECS)


@pytest.mark.parametrize("strategy", ["linear", "debug"])
def test_strategies_that_go_from_task_to_task(strategy):
    assert controller.strategy_problem(strategy) == ""


@pytest.mark.parametrize("strategy", ["free", "host_pinned"])
def test_strategies_that_do_not(strategy):
    assert f"needs the strategy linear, and this play has {strategy}: " in controller.strategy_problem(strategy)


def test_the_strategy_is_that_of_the_play():
    block = types.SimpleNamespace(_play=types.SimpleNamespace(strategy="free"), _parent=None)
    included = types.SimpleNamespace(_parent=block)
    assert controller.strategy_of(types.SimpleNamespace(_parent=included)) == "free"
    assert controller.strategy_of(types.SimpleNamespace(_parent=None)) == "linear"


def test_collections_that_are_there():
    assert controller.is_there("cloudops.azure_maintenance")
    assert not controller.is_there("cloudops.nosuch") and not controller.is_there("nosuch.nosuch")


def test_variables_of_every_role_and_playbook_are_known():
    names = {"maintain_policy", "drain_steps", "rehearse_speed", "azure_maintenance_hosts", "azure_maintenance_folder"}
    assert names | {"emulator_listen", "maintain_result"} <= KNOWN
    assert controller.unknown_variables([*KNOWN, "ansible_host", "web_port", "drainage"], KNOWN) == []


def test_one_that_is_none_comes_with_the_likely_one():
    names = [
        "maintain_polcy",
        "azure_maintenace_scope",
        "azure_maintenance_scop",
        "drain_zzzzzzzzzzzz",
        "maintain_polcy",
    ]
    assert controller.unknown_variables(names, KNOWN) == [
        "azure_maintenance_scop (did you mean 'azure_maintenance_scope'?)",
        "drain_zzzzzzzzzzzz",
        "maintain_polcy (did you mean 'maintain_policy'?)",
    ]


def test_what_our_own_files_set_is_known():
    """Else a run would name what an earlier play of ours has left."""
    files = [*ROOT.glob("roles/*/tasks/**/*.yml"), *ROOT.glob("playbooks/**/*.yml")]
    keys = {
        key for path in files for key in re.findall(r"^ +((?:[a-z]+_)+[a-z]+):", path.read_text(encoding="utf-8"), re.M)
    }
    ours = {key for key in keys if key.startswith(controller.PREFIXES)}
    assert ours and ours <= KNOWN
