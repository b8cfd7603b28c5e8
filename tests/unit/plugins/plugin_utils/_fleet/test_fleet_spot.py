# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Spot machine's eviction gives 30 s: nobody waits so long that they are over before it is acted on."""

from __future__ import annotations

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.tick_planner import LONGEST_LOOK
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._fleet.runs import (
    NO_ROUTE,
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


def slices(run):
    """How long the next tick's calls wait, by host."""
    calls = run.record["todo"]["calls"].items()
    return {host: request["wait"] for host, call in calls for request in call["requests"] if request["do"] == "look"}


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


# ---- while nothing is under way ----


def test_slices_fit_its_notice_where_there_are_several_scopes():
    run = Run(Machine("web1", "a"), spot("web2", "b"), Machine("web3", "c"), slice=90.0).tick()
    assert slices(run) == {"web1": 10.0, "web2": 10.0, "web3": 10.0}


def test_slices_that_are_shorter_stay_so():
    assert set(slices(Run(Machine("web1", "a"), spot("web2", "b"), slice=4.0).tick()).values()) == {4.0}


def test_a_look_that_ends_with_the_change_needs_no_slices():
    assert slices(Run("web1", spot("web2", "web")).is_proven().tick()) == {"web1": LONGEST_LOOK}


def test_the_sentinel_may_be_another_machine_of_its_scope():
    run = Run("web1", spot("web2", "web"), Machine("db1", "db"), slice=90.0).tick()
    assert slices(run) == {"web1": 10.0, "db1": 10.0}


def test_a_preempt_is_acted_on_whenever_it_comes():
    for wait in range(11):
        run = Run("web1", spot("web2", "web"), Machine("db1", "db"), slice=90.0)
        run["web2"].seconds = 2.0
        run.tick(3)
        shown = run.at - wait  # in the middle of the slice that has just ended
        run.show(event("A", ["vm2"], type="Preempt", not_before=shown + 30), to=["web1", "web2"])
        run.until(lambda run=run: run.sent(), seconds=2.0)
        assert run.at < shown + 30


def test_windows_machines_wait_beside_linux_ones():
    run = Run("web1", spot("db1", "db", is_linux=False), slice=90.0).tick()
    assert slices(run) == {"web1": 10.0, "db1": 10.0}
    run = Run(spot("web1", "web"), Machine("db1", "db", is_linux=False), slice=90.0).tick()
    assert slices(run) == {"web1": 10.0, "db1": 10.0}


def test_one_that_is_learned_late():
    late = spot("web2", "b")
    late.down = NO_ROUTE
    run = Run(Machine("web1", "a"), late, Machine("web3", "c"), slice=90.0).tick()
    run.tick(6)
    late.down = ""
    run.until(lambda: run.record["hosts"]["web2"]["spot"])
    assert set(slices(run).values()) == {10.0}


def test_one_whose_kind_could_not_be_learned_is_asked_again():
    """Its name is known and its scope declared, so that nothing else is left to ask for."""
    late = spot("web2", "b")
    hello = late.hello
    late.hello = lambda *args: dict(hello(*args), priority="", problem="the service was slow")
    run = Run(Machine("web1", "a"), late, slice=90.0).tick()
    assert set(slices(run).values()) == {60.0}, "then it is asked again"
    run.tick()
    late.hello = hello
    assert slices(run) == {"web1": 10.0, "web2": 0.0}, "it may turn out to be one"
    run.tick(2)
    assert run.at < 90 and set(slices(run).values()) == {10.0}


def test_one_that_was_taken_away_needs_none():
    gone = spot("web2", "b")
    run = Run(Machine("web1", "a"), gone, Machine("web3", "c"), slice=90.0, rounds=0)
    run.tick()
    gone.show(event("A", ["vm2"], type="Preempt", not_before=run.at + 30))
    run.until(lambda: run.prepared("web2"))
    gone.show(started(event("A", ["vm2"], type="Preempt")))
    run.tick()
    gone.down = NO_ROUTE
    run.until(lambda: run.event()["closed"])
    lengths = [max(slices(run.tick()).values()) for _number in range(3)]
    assert max(lengths) > 10


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
