# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Spot machine's eviction gives 30 s: nobody waits so long that they are over before it is acted on."""

from __future__ import annotations

import pytest

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._fleet.runs import (
    Machine,
    Run,
    event,
    rules,
    started,
)


def spot(host, scope, **facts):
    machine = Machine(host, scope, **facts)
    machine.spot = True
    return machine


def longest_gap(machine, began, until):
    times = [began, *sorted({at for at, _request in machine.asked if at > began}), until]
    return max(b - a for a, b in zip(times, times[1:], strict=False))


def test_advice_reaches_nobody_unprepared():
    run = Run("web1", policy=rules("prepare"))
    run["web1"].seconds = 600.0
    run.show(event("A", ["vm1"], type="SpotRebalanceRecommendation", not_before=900.0))
    run.until(lambda: run["web1"].mark)
    run.show(started(event("A", ["vm1"], type="SpotRebalanceRecommendation")))
    run.tick(3)
    run.show()
    run.to_end()
    assert run.problems == [] and "UNPREPARED" not in run.timeline


@pytest.mark.parametrize(
    "rule, not_before, latest",
    [({}, None, 5), ({"start": "now"}, 3000.0, 5), ({"start": "by not-before"}, 3000.0, 2705)],
)
def test_what_a_rule_prepares_for_without_a_not_before_or_now_begins_at_once(rule, not_before, latest):
    run = Run("web1", policy=[{"do": "prepare", **rule}], wait_timeout=20000.0)
    advice = event("A", ["vm1"], type="SpotRebalanceRecommendation", not_before=not_before)
    run.show(advice)
    run.until(lambda: run.prepared("web1"))
    begun = min(at for at, request in run["web1"].asked if request["do"] == "go")
    assert latest - 35 < begun < latest
    run.until(lambda: run.at > 1000)  # however long it is shown
    assert run.prepared("web1") and run.problems == []
    assert " 600 s" not in run.timeline and ("it names no time" in run.timeline) is (not_before is None)
    run.show()
    run.to_end()
    assert not run["web1"].mark and run.problems == []


@pytest.mark.parametrize("priority, is_spot", [("Spot", True), ("SpotPlus", True), ("Low", True), ("Regular", False)])
def test_a_machine_of_any_priority_that_is_evicted_is_a_spot_machine(priority, is_spot):
    machine = Machine("web1", "a")
    hello = machine.hello
    machine.hello = lambda *args: dict(hello(*args), priority=priority)
    run = Run(machine).tick(2)
    assert run.record.hosts["web1"].who.spot is is_spot


# ---- while nothing is under way ----


def test_one_whose_kind_could_not_be_learned_is_asked_again():
    """Its name is known and its scope declared, so that nothing else is left to ask for."""
    late = spot("web2", "b")
    hello = late.hello
    late.hello = lambda *args: dict(hello(*args), priority="", problem="the service was slow")
    run = Run(Machine("web1", "a"), late).tick(2)
    late.hello = hello
    run.until(lambda: run.record.hosts["web2"].who.spot)
    assert 60 <= run.at < 90


# ---- while something is under way ----


@pytest.mark.parametrize("is_linux", [True, False])
def test_it_is_looked_at_every_ten_seconds_while_others_are_out(is_linux):
    lone = spot("db1", "db", is_linux=is_linux)
    run = Run("web1", "web2", Machine("db2", "db2"), lone, policy=rules("prepare"))
    run.tick()
    run.show(event("A", ["vm1"]), to=["web1", "web2"])
    run.until(lambda: run.prepared("web1"))
    began = run.at
    run.until(lambda: run.at > began + 120)
    assert longest_gap(lone, began, run.at) <= 10
    assert longest_gap(run["db2"], began, run.at) > 10


def test_the_sentinel_looks_every_ten_seconds_for_a_spot_machine_of_its_scope():
    run = Run("web1", Machine("db1", "db"), spot("db2", "db"), policy=rules("prepare"))
    run.tick()
    run.show(event("A", ["vm1"]), to=["web1"])
    run.until(lambda: run.prepared("web1"))
    began = run.at
    run.until(lambda: run.at > began + 120)
    assert longest_gap(run["db1"], began, run.at) <= 10
