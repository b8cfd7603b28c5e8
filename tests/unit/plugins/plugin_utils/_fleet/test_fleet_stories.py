# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stories of maintenance that once went wrong: several things that are right each by itself come together."""

from __future__ import annotations

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._core.mark_view import FRESH
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.marks import is_prepared
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._fleet.runs import (
    NO_ROUTE,
    Machine,
    Run,
    event,
    started,
)

ROLE_DEFAULTS = {"max_unavailable": "50%", "wait_timeout": 3600.0}


# ---- seen in time ----


@pytest.mark.parametrize("hit", ["web1", "web3"])
def test_of_three_lone_machines_one_is_evicted_with_all_defaults(hit):
    """The worst moment: when all of them have just begun to wait for a change, until the last of them has."""
    machines = [Machine(f"web{number}", scope=f"web{number}") for number in (1, 2, 3)]
    for machine in machines:
        machine.spot, machine.seconds = True, 2.0
    run = Run(*machines, **ROLE_DEFAULTS)
    run.tick(3)
    assert run.record.todo.idle
    run[hit].show(event("A", [run[hit].name], type="Preempt", not_before=run.at + 30))
    ends = run.at + 30
    run.until(lambda: run.sent("A"), seconds=2.0)
    assert run.at < ends and run.prepared(hit)


def test_what_only_one_machine_of_a_wrongly_declared_scope_is_shown_is_found_by_its_own_look():
    run = Run("web1", "web2", "web3", **ROLE_DEFAULTS)
    run.tick(3)
    run["web3"].show(event("A", ["vm3"], not_before=run.at + 900))
    ends = run.at + 900
    run.until(lambda: run.sent("A"))
    assert run.at < ends and run.approvals() == ["web3"]


@pytest.mark.parametrize("declared", [True, False])
def test_one_whose_placement_group_can_not_be_learned_is_prepared(declared):
    machines = [Machine(f"web{number}", declared=declared) for number in (1, 2)]
    run = Run(*machines)
    for machine in machines:
        says = {"resource_name": machine.name, "placement_group": "", "vm_id": "", "priority": ""}
        machine.hello = lambda request, call, at, says=says: dict(says, problem="The service answered HTTP 500.")
    run.tick()
    run.show(event("A", ["vm1"]))
    run.until(lambda: run.sent("A"))
    assert run.prepared("web1") and run.problems == []
    asked = [request["do"] for _at, request in run["web1"].asked]
    assert not declared or asked.count("hello") == 1, "what a declared scope makes needless is not asked for again"


def test_what_only_the_approver_is_shown_is_begun_in_the_next_tick():
    run = Run()
    run.tick()
    first = event("A", ["vm1"])
    run.show(first)
    run.until(lambda: "approve" in str(run.record.todo.calls.get("web2")))
    run.show(first, event("B", ["vm3"], not_before=run.at + 30), to=["web2"])
    run.tick()
    requests = run.record.todo.calls["web3"]["requests"]
    assert [request["events"] for request in requests if request["do"] == "go"] == [["B"]]
    assert run.record.todo.seconds == 0.0


def test_an_event_that_had_started_is_said_to_have_started_before_it_was_seen():
    run = Run("web1", "web2")
    run.tick()
    run.show(started(event("A", ["vm2"])))
    run.tick()
    (line,) = [line for line in run.timeline.splitlines() if "  started  " in line]
    assert line.endswith("started    before it was first seen")


# ---- approved, and not too early ----


def test_one_that_is_being_brought_back_counts_as_prepared_once_it_is_so_again():
    run = Run()
    run.tick()
    run.show(event("A", ["vm1"]))
    run.until(lambda: run.sent("A"))
    run["web1"].seconds, run["web2"].seconds = 60.0, 2.0
    run.show()
    run.until(lambda: run["web1"].mark["phase"] == "recovering")
    run.show(event("B", ["vm1", "vm2"], not_before=3000))
    run.until(lambda: run.sent("B"))
    assert run.prepared("web1", "web2")


def test_a_mark_counts_for_some_seconds_after_it_was_seen():
    run = Run()
    run.tick()
    run.show(event("A", ["vm1"]))
    run.until(lambda: run.sent("A"))
    machine = run.record.hosts["web1"]
    seen = machine.said.at
    run.record.at = seen + FRESH
    assert is_prepared(run.record, machine, "A")
    run.record.at += 1
    assert not is_prepared(run.record, machine, "A")


def test_an_approver_that_was_lost_for_a_moment_approves_when_it_is_back():
    run = Run(Machine("web1", scope="web1"))
    run.tick()
    run.show(event("A", ["vm1"]))
    run.until(lambda: run.prepared("web1"))
    run["web1"].down = NO_ROUTE
    run.tick(3)
    assert not run.sent("A")
    run["web1"].down = ""
    run.until(lambda: run.sent("A"), most=20)
    assert run.problems == []


# ---- prepared, and put back ----


@pytest.mark.parametrize("returns", ["Scheduled", "Started"])
@pytest.mark.parametrize("before", ["Scheduled", "Started"])
def test_an_event_that_comes_back_finds_its_machine_in_service_and_that_is_said(before, returns):
    run = Run("web1", "web2", rounds=0, wait_timeout=4000.0)
    run.tick()
    reboot = event("A", ["vm1"])
    run.show(reboot)
    run.until(run.sent)
    run.show(reboot if before == "Scheduled" else started(reboot))
    run.tick(3)
    run.show()
    run.until(lambda: not run.marked())
    run["web1"].seconds = 1000.0
    run.show(reboot if returns == "Scheduled" else started(reboot))
    run.tick(2)
    run.show(started(reboot))
    run.tick(4)
    assert any("reached web1 unprepared" in problem for problem in run.problems)


def test_what_was_prepared_again_when_it_came_back_is_not_unprepared():
    run = Run("web1", "web2", rounds=0, wait_timeout=4000.0)
    run.tick()
    run.show(event("A", ["vm1"]))
    run.until(run.sent)
    run.show()
    run.until(lambda: not run.marked())
    run.show(event("A", ["vm1"]))
    run.until(lambda: run.prepared("web1"))
    run.tick(2)
    run.show(started(event("A", ["vm1"])))
    run.tick(3)
    run.show()
    run.to_end()
    assert run.problems == [] and run.timeline.count("prepared   web1") == 2


def test_one_that_was_never_put_back_stays_prepared_when_its_event_comes_back():
    run = Run("web1", "web2", rounds=0, wait_timeout=4000.0)
    run.tick()
    run.show(event("A", ["vm1"]))
    run.until(run.sent)
    run["web1"].down = NO_ROUTE
    run.show(to=["web2"])
    run.until(lambda: run.event().gone is not None)
    run["web1"].down = ""
    run.show(started(event("A", ["vm1"])))
    run.tick(8)
    run.show()
    run.to_end()
    assert run.problems == []


def test_what_another_event_s_preparation_was_is_undone_when_its_recovery_has_begun():
    run = Run("web1", "web2")
    run.tick()
    run.show(event("F", ["vm1"], type="Freeze"))
    run.until(lambda: run.sent("F"))
    run["web1"].seconds = 60.0
    run.show()
    run.until(lambda: run["web1"].mark["phase"] == "recovering")
    preempt = event("P", ["vm1"], type="Preempt", not_before=run.at + 30)
    run.show(preempt)
    run.tick(3)
    assert run["web1"].mark["phase"] == "preparing" and run["web1"].mark["events"] == ["F", "P"]
    run.show(started(preempt))
    run.tick(3)
    run["web1"].down = NO_ROUTE  # it is prepared to the last, and never becomes it
    run.show()
    run.until(lambda: run.event("P").gone is not None)
    assert any("reached web1 unprepared" in problem for problem in run.problems)


# ---- recovered, and not too early ----


@pytest.mark.parametrize("kind", ["Preempt", "Terminate"])
def test_a_machine_whose_end_is_cancelled_while_it_drains_is_brought_back(kind):
    run = Run(Machine("web1", scope="web1"), "web2")
    run["web1"].seconds = 400.0
    run.tick()
    run.show(event("A", ["vm1"], type=kind, not_before=2000), to=["web1"])
    run.until(lambda: run["web1"].mark is not None)
    run.tick(5)
    run["web1"].seconds = 10.0
    run.show(to=["web1"])
    run.to_end()
    assert run.approvals() == [] and run.event().tracked.outcome == "cancelled"
    assert run.marked() == [] and run.problems == []
    assert run.event().recovered["web1"].ok


def test_a_lone_machine_that_is_evicted_after_a_freeze_stays_out_of_service():
    run = Run(Machine("web1", scope="web1"), rounds=0, wait_timeout=600.0)
    run["web1"].seconds = 2.0
    run.tick()
    run.show(event("F", ["vm1"], type="Freeze", duration=5, not_before=900))
    run.until(lambda: run.sent("F"))
    run.show(started(event("F", ["vm1"], type="Freeze", duration=5)))
    run.until(lambda: run.event("F").started is not None)
    run.show()
    run.until(lambda: run.event("F").gone is not None)
    run.show(event("A", ["vm1"], type="Preempt", not_before=run.at + 30))
    run.until(lambda: run.sent("A"), seconds=2.0)
    run.tick(4, seconds=2.0)
    assert run.prepared("web1") and "recovered" not in run.goes("web1")


def test_nothing_is_put_into_service_under_an_event_that_may_have_been_approved():
    """Azure may have got the approval whose answer was lost: the event may start at any moment."""
    run = Run(policy=[{"do": "approve", "when": {"types": ["Freeze"]}}, {"do": "prepare"}])
    run.tick()
    reboot, freeze = event("B", ["vm1"], not_before=300), event("F", ["vm1"], type="Freeze", not_before=2000)
    run.show(reboot)
    run.until(lambda: run.prepared("web1"))
    for machine in run.machines.values():
        machine.lost_approvals, machine.service_refuses = 1, "the service answered 410"
    run.show(reboot, freeze)
    run.until(lambda: "F" in run.record.events and run.event("F").approval.maybe)
    assert not run.sent("F")
    run.show(freeze)
    run.until(lambda: run.event("B").gone is not None)
    run.tick(20)
    assert run.prepared("web1") and "recovered" not in run.goes("web1")
    run.show()
    run.until(lambda: run.event("F").recovered or run.event("B").recovered)
    assert run.marked() == []


def test_a_recovery_that_the_next_event_cut_off_is_tried_again():
    run = Run(rounds=0, wait_timeout=2000.0)
    run.tick()
    run.show(event("A", ["vm1"]))
    run.until(lambda: run.sent("A"))
    run["web1"].seconds = 20.0
    run.show()
    run.until(lambda: run["web1"].mark["phase"] == "recovering")
    failure = started(event("B", ["vm1"]))
    run.show(failure)
    run["web1"].stuck = "the machine went down"
    run.until(lambda: run["web1"].mark["phase"] == "half")
    run.tick(20)
    assert run["web1"].mark is not None
    run["web1"].stuck = ""
    run.show()
    run.until(lambda: run["web1"].mark is None, most=30)
    run.to_end()
    assert not any("not back in service" in problem for problem in run.problems)


def test_one_that_somebody_else_had_taken_out_stays_out_after_an_event_without_notice():
    run = Run(rounds=0, wait_timeout=600.0)
    failure = started(event("A", ["vm1"], type="Freeze"))
    run.show(failure)
    run.tick(4)
    run.show()
    run.to_end()
    assert run.event().gone is not None and run.event().gone < run.at - 100
    assert run.goes("web1") == []
