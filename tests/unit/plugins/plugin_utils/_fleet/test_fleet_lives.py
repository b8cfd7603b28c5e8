# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run makes of the polls of one machine: tests/vectors/lives.json, which its watcher has to pass as well."""

from __future__ import annotations

import pytest

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.vectors import cases
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._fleet.polled import Polled


@pytest.mark.parametrize("case", cases("lives.json"))
def test_a_life(case):
    polled = Polled(case.get("settings", {}), 1000.0)
    last = [polled.poll(one) for one in case["polls"]][-1]
    assert last == case.get("expect", case.get("run"))


@pytest.mark.parametrize("case", cases("lives.json", lambda case: "expect" not in case))
def test_a_case_in_which_run_and_watcher_differ_says_what_is_right(case):
    assert case["run"] != case["watcher"], "they decide alike now: what they do is to be its `expect`"
    assert case["right"].split(":")[0] in ("run", "watcher", "either")


@pytest.mark.parametrize(
    ("name", "is_new"),
    [("a Preempt that is shown during a recovery does not", True), ("a preparation that goes on", False)],
)
def test_another_outage_stops_what_the_one_before_is_undoing(name, is_new):
    case = next(one.values[0] for one in cases("lives.json") if one.id == name)
    polled = Polled(case.get("settings", {}), 1000.0)
    for one in case["polls"]:
        polled.poll(one)
    asked = polled.record.todo.calls["web1"]["requests"]
    assert [one["replace_outage"] for one in asked if one["do"] == "go"] == [is_new]
