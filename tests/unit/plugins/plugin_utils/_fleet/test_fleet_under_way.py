# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decisions while calls are under way: a run decides whenever a machine has answered, and waits for no other one."""

from __future__ import annotations

import pytest

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._fleet.runs import (
    NO_ROUTE,
    Machine,
    Run,
    event,
    started,
)


def approving(took, **options):
    """A run whose web2 is about to approve event A, which affects web1, in a call of so many seconds."""
    run = Run(**options)
    run.tick()
    run.show(event("A", ["vm1"]))
    run.until(lambda: "approve" in str(run.record.todo.calls.get("web2")))
    run["web2"].took = took
    return run.tick()


def approvers(run):
    """Who was asked to approve event A; a call that is under way counts."""
    calls = [(host, [one for _at, one in machine.asked]) for host, machine in run.machines.items()]
    calls += [(host, call["requests"]) for host, (call, _at) in run.under_way.items()]
    return [host for host, asked in calls for one in asked if one["do"] == "approve" and "A" in one["ids"]]


def test_an_event_that_starts_while_its_approval_is_under_way_was_perhaps_approved():
    run = approving(took=60.0)
    run.show(started(event("A", ["vm1"])))
    run.until(lambda: run.event().started is not None)
    assert "web2" in run.under_way
    assert "perhaps by an approval of this run that was not answered" in run.timeline


@pytest.mark.parametrize("refusal", ["refuses", "service_refuses"])
def test_one_that_starts_after_its_approval_was_refused_was_not(refusal):
    run = approving(took=20.0)
    for machine in run.machines.values():
        setattr(machine, refusal, "the service answered 410")
    run.until(lambda: "web2" not in run.under_way)
    run["web2"].took = 0.5
    run.show(started(event("A", ["vm1"])))
    run.until(lambda: run.event().started is not None)
    assert "not by an approval of this run" in run.timeline


def test_nobody_else_approves_an_event_while_its_approval_is_under_way():
    """Though web2 is to be prepared for another one by now, and web3 would be asked in its place."""
    run = approving(took=100.0)
    run.show(event("A", ["vm1"]), event("B", ["vm2"], not_before=5000.0))
    run.until(lambda: "web2" not in run.under_way)
    assert approvers(run) == ["web2"] and run.sent()


def test_another_one_approves_it_when_nothing_came_back():
    run = approving(took=40.0)
    run["web2"].lost_approvals = 1
    run.until(lambda: run.sent())
    assert approvers(run) == ["web2", "web3"]


def test_a_machine_that_waits_in_a_call_is_called_anew_where_it_is_needed():
    """Another one is shown an event that affects it, of which its own document says nothing yet."""
    run = Run("web1", "web2").is_proven()
    run["web2"].down = NO_ROUTE
    run.until(lambda: "web1" in run.under_way)
    run["web2"].down = ""
    run.show(event("A", ["vm1"]), to=["web2"])
    run.until(lambda: "A" in run.record.events)
    shown = run.at
    run.until(lambda: run["web1"].mark)
    assert run.at - shown < 10


def test_a_scope_is_polled_while_its_machine_waits_in_a_call():
    """Other machines answer meanwhile, and each time it is decided anew."""
    run = Run("web1", Machine("db1", "db")).tick()
    run.show(event("A", ["vm1"], not_before=3000.0), to=["web1"])
    run["web1"].seconds = 1000.0
    run.until(lambda: run.at > 90)
    assert "db1" in run.under_way and run.problems == []


def test_a_scope_whose_machine_hangs_in_a_call_that_waits_was_not_polled():
    run = Run("web1", Machine("db1", "db")).tick()
    run.tick()
    run["db1"].down, run["db1"].took = NO_ROUTE, 130.0
    run.until(lambda: "db1" not in run.under_way)
    run.tick(10)
    assert any("No machine polled the events of scope 'db' (db1)" in problem for problem in run.problems)
