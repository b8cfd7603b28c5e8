# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose machine it is, what it is prepared for, and when it is brought back: by its mark."""

from __future__ import annotations

import pytest

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._deciding.runs import (
    NO_ROUTE,
    Machine,
    Run,
    event,
    mark,
    rules,
    started,
)


def two_prepared(**options):
    """An event of two machines, both prepared, that nobody approves."""
    run = Run(policy=rules("prepare"), **options)
    run.tick()
    run.show(event("A", ["vm1", "vm2"]))
    return run.until(lambda: run.prepared("web1", "web2"))


# ---- the barrier ----


def test_the_approval_asks_the_present_marks():
    run = Run()
    run["web2"].seconds = 60.0
    run.tick()
    run.show(event("A", ["vm1", "vm2"]))
    run.until(lambda: run.prepared("web1"))
    run["web1"].mark = None  # somebody puts it back
    run.tick(30)
    assert run.approvals() == []
    assert run.goes("web1", since=run.at - 100) == [], "whoever removed it had his reasons"
    assert any("somebody else removed its mark" in problem for problem in run.problems)


def test_a_mark_that_was_seen_long_ago_does_not_count():
    run = Run()
    run["web2"].seconds = 100.0
    run.tick()
    run.show(event("A", ["vm1", "vm2"]))
    run.until(lambda: run.prepared("web1"))
    run["web1"].down = NO_ROUTE
    run.until(lambda: run.prepared("web2"))
    run.tick(5)
    assert run.approvals() == []
    run["web1"].down = ""
    run.until(lambda: run.sent("A"))


def test_what_was_brought_back_is_prepared_anew():
    """A machine that was prepared for an event that is over is not prepared for the next one by that."""
    run = Run("web1", "web2", "web3", policy=rules("prepare_and_approve"))
    run["web2"].seconds = 40.0
    run.tick()
    run.show(event("A", ["vm1"]))
    run.until(lambda: run.sent("A"))
    run.show()
    run.until(lambda: run.event()["gone"] is not None)
    run.tick(2)
    run.show(event("B", ["vm1", "vm2"], not_before=2000))
    run.until(lambda: run.sent("B"))
    assert run.prepared("web1", "web2")
    assert "B" in run["web1"].mark["events"]


def test_an_event_that_shows_before_recovery_joins_the_outage():
    run = Run(policy=rules("prepare_and_approve"))
    run.tick()
    run.show(event("A", ["vm1"]))
    run.until(lambda: run.sent("A"))
    run.show(event("B", ["vm1"], not_before=2000))
    run.until(lambda: run.sent("B"))
    assert run["web1"].mark["events"] == ["A", "B"]
    assert "recovered" not in run.goes("web1")


# ---- nobody undoes what he did not do ----


def test_a_machine_without_a_mark_is_never_recovered():
    run = Run()
    run.show(started(event("A", ["vm1"], type="Freeze")))
    run.tick(4)
    run.show()
    run.to_end()
    assert run.goes("web1") == []
    assert any("reached web1 unprepared" in problem for problem in run.problems)


def test_recovery_looks_first():
    run = two_prepared(event_timeout=300.0)
    run.show(started(event("A", ["vm1", "vm2"])))
    run.until(lambda: run.event()["started"] is not None)
    run["web1"].down = NO_ROUTE
    run.show(to=["web2", "web3"])
    run.until(lambda: run.event()["gone"] is not None)
    run.tick(3)
    run["web1"].down = ""
    run.tick(20)
    assert run["web1"].mark["phase"] == "prepared", "its own document still has the event"
    run.show()
    run.until(lambda: run["web1"].mark is None)


def test_a_look_that_is_old_when_its_tick_ends_brings_nothing_back():
    """A machine that hangs makes a tick long: meanwhile the next event may have begun."""
    run = two_prepared()
    run.show()
    run.tick(2, seconds=45.0)
    assert run.event()["gone"] is not None
    assert [request["do"] for request in run.record["todo"]["calls"]["web1"]["requests"]] == ["look"]
    run.tick()
    assert [request["do"] for request in run.record["todo"]["calls"]["web1"]["requests"]] == ["go", "look"]


def test_while_all_ticks_are_long_a_machine_is_brought_back_all_the_same():
    """As with load balancers that hang for minutes."""
    run = two_prepared()
    run.show()
    run.until(lambda: "recovered" in run.goes("web1"), seconds=25.0, most=8)


def test_a_windows_machine_s_look_counts_until_its_next_one():
    """It is called on every third tick, and its look is some seconds old when its own one ends."""
    run = Run(Machine("web1", is_linux=False), "web2", "web3", policy=rules("prepare"))
    run.show(event("A", ["vm1", "vm2"]))
    run.until(lambda: run.prepared("web1", "web2"))
    run["web2"].seconds, run["web1"].seconds = 100.0, 20.0
    run.show()
    run.until(lambda: run.event()["gone"] is not None)
    over = run.at
    run.until(lambda: run["web1"].mark is None)
    assert run.at - over < 60


def test_one_that_can_not_look_is_brought_back_all_the_same():
    run = two_prepared()
    run.show(started(event("A", ["vm1", "vm2"])))
    run.until(lambda: run.event()["started"] is not None)
    run["web1"].blind = "403"
    run.show()
    run.to_end()
    assert run.marked() == []


# ---- others' marks ----


@pytest.mark.parametrize("kind", ["run", "drain"])
def test_a_living_other_holder_is_left_alone(kind):
    run = Run()
    run["web1"].mark = mark("r0", ["A"], kind=kind, until=100000.0)
    run.show(event("A", ["vm1", "vm2"]))
    run.tick(10)
    assert run.goes("web1") == []
    assert run.approvals() == []
    assert any("web1 bears the mark of" in problem and "r0" in problem for problem in run.problems)
    assert any(f"{kind} r0 of ctl1, since 1970-01-01T00:00:00Z" in problem for problem in run.problems)


def test_a_mark_that_can_not_be_read_is_a_mark():
    run = Run()
    run["web1"].mark = {"unreadable": "it is of format 7"}
    run["web1"].answer = lambda call, at, old=run["web1"].answer: dict(
        old(dict(call, run="?"), at), mark={"unreadable": "it is of format 7"}
    )
    run["web1"].mark = None
    run.show(event("A", ["vm1"]))
    run.tick(10)
    assert run.goes("web1") == []
    assert any("it is of format 7" in problem for problem in run.problems)


def test_its_own_watcher_may_have_prepared_it():
    run = Run()
    run["web1"].mark = mark("watcher", ["A"], kind="watcher")
    run.show(event("A", ["vm1", "vm2"]))
    run.until(lambda: run.sent("A"))
    assert run.goes("web1") == []


def test_a_dead_run_s_machine_is_taken_over_and_prepared_further():
    run = Run()
    run["web1"].mark = mark("r0", ["A"], phase="preparing", until=30.0)
    run.show(event("A", ["vm1"]))
    run.tick(2)
    assert run.goes("web1") == [], "its run may still live"
    run.until(lambda: run.sent("A"))
    assert run["web1"].mark["holder"]["run"] == "r1"
    assert "from run r0 of ctl1" in run.timeline


def test_a_dead_run_s_machine_is_brought_back_when_its_event_is_over():
    run = Run(wait_timeout=0.0)
    run["web1"].mark = mark("r0", ["A"], until=30.0)
    run.to_end()
    assert run.at > 30
    assert run.marked() == []
    assert run.problems == []
    assert "recovered  web1" in run.timeline


def test_one_document_does_not_bring_a_dead_run_s_machine_back():
    run = Run()
    run["web1"].mark, run["web1"].boot = mark("r0", ["A"], until=100000.0), "boot-2"
    run.tick()
    run.show(event("A", ["vm1"]))
    run.until(lambda: run.sent("A"))
    assert "recovered" not in run.goes("web1")


def test_a_reboot_ends_a_lease():
    run = Run(wait_timeout=0.0)
    run["web1"].mark, run["web1"].boot = mark("r0", ["A"], until=100000.0), "boot-2"
    run.to_end()
    assert run.marked() == []
    assert run.at < 60


def test_a_dead_run_s_machine_that_is_down_is_waited_for_or_named():
    """It was killed while its machines rebooted: one is back, one is not, and nothing tells of that one's mark."""
    run = Run(wait_timeout=100.0)
    run["web1"].mark = mark("r0", ["A"], until=10.0)
    run["web1"].down = NO_ROUTE
    run.tick(10)
    run["web1"].down = ""
    run.to_end()
    assert run.marked() == [] and run.problems == []

    run = Run(wait_timeout=100.0)
    run["web1"].down = NO_ROUTE
    run.to_end()
    assert run.problems == [f"web1 could not be asked: {NO_ROUTE}"]


def test_what_may_have_been_approved_is_not_called_to_come_when_a_look_has_lacked_it():
    """Another run took the machine over after its reboot, and brought it back."""
    run = Run("web1", wait_timeout=0.0)
    run.show(event("A", ["vm1"]))
    run.until(lambda: run.prepared("web1"))
    run["web1"].lost_approvals = 1
    run.tick(2)
    run["web1"].mark = None
    run.show()
    run.to_end()
    said = [problem for problem in run.problems if "somebody else removed its mark" in problem]
    assert said and "may have been approved, but preparation failed on web1" in said[0]
    assert "still to come" not in said[0] and "It was last seen at" in said[0]


def test_a_mark_s_number_is_outdone():
    run = Run()
    run["web1"].mark = dict(mark("r0", ["A"], until=10.0), number=500)
    run.tick(2)
    assert run.record["todo"]["calls"]["web1"]["number"] > 500


# ---- a preparation that failed ----


def test_a_failed_preparation_is_undone_while_there_is_time():
    run = Run()
    run["web2"].fails = "nginx did not stop"
    run.tick()
    run.show(event("A", ["vm1", "vm2"]))
    run.to_end()
    assert run.approvals() == []
    assert run.marked() == []
    words = [problem for problem in run.problems if "preparation failed on web2: nginx did not stop" in problem]
    assert words and "still to come, not before 1970-01-01T00:15:00Z" in words[0]


def test_no_machine_is_put_into_service_under_its_event():
    run = Run()
    run["web2"].fails, run["web2"].seconds, run["web1"].seconds = "late", 60.0, 60.0
    run.tick()
    run.show(event("A", ["vm1", "vm2"], not_before=run.at + 100))
    run.until(lambda: run.event()["failed"] if "A" in run.record["events"] else False)
    run.show(started(event("A", ["vm1", "vm2"])))
    run.tick(10)
    assert run["web1"].mark is not None and run["web2"].mark is not None
    run.show()
    run.to_end()
    assert run.marked() == []


def test_one_that_was_lost_looks_before_it_is_put_back():
    run = Run()
    run["web2"].fails = "nginx did not stop"
    run.tick()
    run.show(event("A", ["vm1", "vm2"]))
    run.until(lambda: run.event()["failed"] if "A" in run.record["events"] else False)
    since = run.at
    run["web1"].down = NO_ROUTE
    run.tick()
    run.show(started(event("A", ["vm1", "vm2"])), to=["web1"])
    run["web1"].down = ""
    run["web1"].asked.clear()
    run.tick(8)
    assert run.goes("web1", since) == []


def test_undoing_that_does_not_fit_waits_until_it_is_over():
    run = Run(Machine("web1", needs=300.0), Machine("web2", needs=300.0))
    run["web2"].fails = "late"
    run.tick()
    run.show(event("A", ["vm1", "vm2"], not_before=run.at + 200))
    run.until(lambda: run.event()["failed"] if "A" in run.record["events"] else False)
    run.tick(5)
    assert "recovered" not in run.goes("web1") + run.goes("web2")
    run.show()
    run.to_end()
    assert run.marked() == []


def test_hold_keeps_them_prepared_until_it_is_over():
    run = Run(on_failure="hold")
    run["web2"].fails = "nginx did not stop"
    run.tick()
    run.show(event("A", ["vm1", "vm2"]))
    run.until(lambda: run.event()["failed"] if "A" in run.record["events"] else False)
    run.tick(10)
    assert run.marked() == ["web1", "web2"]
    run.show()
    run.to_end()
    assert run.marked() == []


def test_a_cancelled_event_stops_its_preparation():
    run = Run()
    run["web1"].seconds = 400.0
    run.tick()
    run.show(event("A", ["vm1"], not_before=2000))
    run.until(lambda: run["web1"].mark is not None)
    run["web1"].seconds = 10.0
    run.show()
    run.until(lambda: not run.marked(), most=20)
    assert run.event()["outcome"] == "cancelled"


# ---- recovery that fails, or comes late ----


def test_a_recovery_that_failed_is_tried_again():
    run = Run(policy=rules("prepare"))
    run.tick()
    run.show(event("A", ["vm1"]))
    run.until(lambda: run.prepared("web1"))
    run["web1"].stuck = "the service does not start"
    run.show()
    run.until(lambda: run.event()["recovered"])
    assert any("web1 is not back in service: the service does not start" in problem for problem in run.problems)
    run["web1"].stuck = ""
    run.to_end()
    assert run.marked() == [] and run.problems == []


def test_a_machine_that_stays_down_holds_up_nobody():
    """Of three that rebooted one stays down; the others are back at once, and the next event is handled meanwhile."""
    run = Run(rounds=0, recover_timeout=200.0)
    run.tick()
    run.show(event("A", ["vm1", "vm2", "vm3"]))
    run.until(lambda: run.sent("A"))
    run.show(started(event("A", ["vm1", "vm2", "vm3"])))
    run.until(lambda: run.event()["started"] is not None)
    run["web3"].down = NO_ROUTE
    run.show()
    run.until(lambda: run["web1"].mark is None and run["web2"].mark is None, most=20)
    run.show(event("B", ["vm1"], not_before=2000))
    run.until(lambda: run.sent("B"))
    run.show()
    run.tick(100)
    assert any("web3 bore the mark of run r1 when it was last heard of" in problem for problem in run.problems)
    run["web3"].down = ""
    run.until(lambda: run["web3"].mark is None)
    run.to_end()
    assert run.problems == []


def test_one_that_never_comes_back_is_named():
    run = Run(recover_timeout=200.0)
    run.tick()
    run.show(event("A", ["vm1"]))
    run.until(lambda: run.sent("A"))
    run["web1"].down = NO_ROUTE
    run.show()
    run.to_end()
    assert run.at < 400
    assert [problem for problem in run.problems if "web1" in problem and NO_ROUTE in problem]
