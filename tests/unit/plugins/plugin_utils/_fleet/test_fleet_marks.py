# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose machine it is, what it is prepared for, and when it is recovered: by its mark."""

from __future__ import annotations

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.marks import is_prepared
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._fleet.runs import (
    NO_ROUTE,
    Machine,
    Run,
    event,
    mark,
    put,
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


@pytest.mark.parametrize("how", ["approved", "started"])
def test_what_a_mark_said_before_another_event_may_have_hit_its_machine_does_not_count(how):
    run = Run("web1", policy=rules("hold"))
    run.tick()
    run.show(event("A", ["vm1"]), event("B", ["vm1"]))
    run.until(lambda: run.prepared("web1"))
    run.tick(2)
    machine, hit = run.record.hosts["web1"], run.event("A")
    said = machine.said.at
    run.record.at = said + 2
    assert is_prepared(run.record, machine, "B")
    put(hit, **{"approved": {"approval__at": said + 1}, "started": {"tracked__started": said + 1}}[how])
    assert not is_prepared(run.record, machine, "B")
    put(machine, said__at=said + 1.5)
    assert is_prepared(run.record, machine, "B")


def test_what_was_brought_back_is_prepared_anew():
    """A machine that was prepared for an event that is over is not prepared for the next one by that."""
    run = Run("web1", "web2", "web3", policy=rules("prepare_and_approve"))
    run["web2"].seconds = 40.0
    run.tick()
    run.show(event("A", ["vm1"]))
    run.until(lambda: run.sent("A"))
    run.show()
    run.until(lambda: run.event().gone is not None)
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


def away_until(left, second, **more):
    """A machine that is down under its event, and is there again when so many seconds are left before its second one."""
    run = Run(Machine("web1", needs=60.0), "web2", "web3", policy=rules("prepare_and_approve"))
    for name, value in more.items():
        setattr(run["web2"], name, value)
    run.tick()
    run.show(event("A", ["vm1"], not_before=400.0))
    run.until(run.sent)
    run["web1"].down = NO_ROUTE
    run.show(started(event("A", ["vm1"])), second)
    run.until(lambda: "B" in run.record.events and run.event("A").started is not None)
    run.show(second)
    run.until(lambda: run.event("A").gone is not None)
    run.until(lambda: second["starts"] - run.at < left)
    run["web1"].down = ""
    return run.until(lambda: not run.record.hosts["web1"].lost)


def test_an_event_joins_whose_margin_has_begun_while_the_machine_was_away():
    second = event("B", ["vm1"], not_before=500.0)
    run = away_until(45.0, second)
    run.until(lambda: "B" in run["web1"].mark["events"], most=6)
    assert run.at < 500 and "recovered" not in run.goes("web1")
    run.show(started(second))
    run.until(lambda: run.event("B").started is not None)
    run.show()
    run.to_end()
    assert run.marked() == [] and run.problems == []


def test_one_that_would_not_be_back_before_its_next_event_stays_out():
    second = event("B", ["vm1", "vm2"], not_before=500.0)
    run = away_until(55.0, second, fails="nginx did not stop")
    assert run.at < 495
    run.until(lambda: run.at > 510)
    assert (run.marked(), run.goes("web1", since=400.0), run.record.finished) == (["web1"], [], False)
    run.show(started(second))
    run.tick(5)
    assert run.marked() == ["web1"]
    run.show()
    run.to_end()
    assert run.marked() == []


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
    run.until(lambda: run.event().started is not None)
    run["web1"].down = NO_ROUTE
    run.show(to=["web2", "web3"])
    run.until(lambda: run.event().gone is not None)
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
    run.tick(3, seconds=45.0)  # the first two count once: nobody has looked in between
    assert run.event().gone is not None
    assert [request["do"] for request in run.record.todo.calls["web1"]["requests"]] == ["look"]
    run.tick()
    assert [request["do"] for request in run.record.todo.calls["web1"]["requests"]] == ["go", "look"]


def test_while_all_ticks_are_long_a_machine_is_brought_back_all_the_same():
    """As with load balancers that hang for minutes."""
    run = two_prepared()
    run.show()
    run.until(lambda: "recovered" in run.goes("web1"), seconds=25.0, most=8)


def test_one_that_can_not_look_is_brought_back_all_the_same():
    run = two_prepared()
    run.show(started(event("A", ["vm1", "vm2"])))
    run.until(lambda: run.event().started is not None)
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
    assert any("web1 is marked by" in problem and "r0" in problem for problem in run.problems)
    assert any("run r0 on ctl1, since 1970-01-01T00:00:00Z" in problem for problem in run.problems)


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
    assert "from run r0 on ctl1" in run.timeline


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


@pytest.mark.parametrize("seconds", [4.0, 8.0])
def test_nor_does_one_document_in_a_tick_that_lasts_for_long(seconds):
    run = Run("web1", "web2")
    run["web1"].mark = mark("r0", ["A"], until=0.0)
    run["web2"].down = NO_ROUTE
    run.tick(seconds=seconds)  # a hiccup: its document lacks what it was drained for
    assert [one["do"] for one in run.record.todo.calls["web1"]["requests"]] == ["look"]
    run.show(started(event("A", ["vm1"])))
    run.tick(20, seconds=seconds)
    assert run.goes("web1") == []
    run.show()
    run.to_end()
    assert run["web1"].mark is None


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
    assert run.record.todo.calls["web1"]["number"] > 500


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
    run.until(lambda: run.event().failed if "A" in run.record.events else False)
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
    run.until(lambda: run.event().failed if "A" in run.record.events else False)
    since = run.at
    run["web1"].down = NO_ROUTE
    run.tick()
    run.show(started(event("A", ["vm1", "vm2"])), to=["web1"])
    run["web1"].down = ""
    run["web1"].asked.clear()
    run.tick(8)
    assert run.goes("web1", since) == []


def test_one_that_can_not_look_is_not_put_back_for_a_failure():
    run = Run()
    run["web2"].fails, run["web1"].seconds, run["web2"].seconds = "nginx did not stop", 20.0, 20.0
    run.tick()
    run.show(event("A", ["vm1", "vm2"]))
    run.until(lambda: run["web1"].mark and run["web2"].mark)
    for host in ("web1", "web2", "web3"):  # it may start meanwhile
        run[host].blind = "the service can't be reached"
    run.until(lambda: run.event().failed)
    since = run.at
    run.tick(5)
    assert run.at - since < 60 and "recovered" not in run.goes("web1") + run.goes("web2")
    for host in ("web1", "web2", "web3"):
        run[host].blind = ""
    run.until(lambda: not run.marked())


def test_undoing_that_does_not_fit_waits_until_it_is_over():
    run = Run(Machine("web1", needs=300.0), Machine("web2", needs=300.0))
    run["web2"].fails = "late"
    run.tick()
    run.show(event("A", ["vm1", "vm2"], not_before=run.at + 200))
    run.until(lambda: run.event().failed if "A" in run.record.events else False)
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
    run.until(lambda: run.event().failed if "A" in run.record.events else False)
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
    assert run.event().tracked.outcome == "cancelled"


# ---- recovery that fails, or comes late ----


def test_a_recovery_that_failed_is_tried_again():
    run = Run(policy=rules("prepare"))
    run.tick()
    run.show(event("A", ["vm1"]))
    run.until(lambda: run.prepared("web1"))
    run["web1"].stuck = "the service does not start"
    run.show()
    run.until(lambda: run.event().recovered)
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
    run.until(lambda: run.event().started is not None)
    run["web3"].down = NO_ROUTE
    run.show()
    run.until(lambda: run["web1"].mark is None and run["web2"].mark is None, most=20)
    run.show(event("B", ["vm1"], not_before=2000))
    run.until(lambda: run.sent("B"))
    run.show()
    run.tick(100)
    assert any("web3 had the mark of run r1 when it last answered" in problem for problem in run.problems)
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


# ---- a start of the machine undoes what was done ----


def restart(machine):
    machine.boot += "'"


def done_again(run, host, since):
    return [
        request
        for at, request in run[host].asked
        if request["do"] == "go" and request["redo_after_reboot"] and at >= since
    ]


def test_prepared_under_another_start_is_not_prepared():
    """web1 is prepared and restarts by itself while web2 drains."""
    run = Run()
    run["web2"].seconds = 60.0
    run.tick()
    run.show(event("A", ["vm1", "vm2"]))
    run.until(lambda: run.prepared("web1"))
    run.tick(2)
    restart(run["web1"])
    run["web1"].seconds = 90.0
    at = run.at
    run.until(lambda: run.prepared("web2"))
    run.tick(3)
    assert not run.sent() and done_again(run, "web1", at)
    run.until(run.sent)
    assert run.prepared("web1")
    assert "web1 was rebooted after it was prepared" in run.timeline
    assert any("web1 was rebooted after it was prepared" in words for words in run.notes)
    assert run.result["events"][0]["prepared"]["web1"]["seconds"] >= 90, "of the second time"
    assert run.problems == []


def test_not_under_the_start_by_an_earlier_event_either():
    """A has started and restarted web1 when B is announced: nothing is started under A, and B is not approved before A is over."""
    run = Run()
    run.tick()
    reboot, other = event("A", ["vm1"]), event("B", ["vm1"], not_before=9000)
    run.show(reboot)
    run.until(run.sent)
    run.show(started(reboot))
    run.tick(2)
    restart(run["web1"])
    run.show(started(reboot), other)
    run.tick(20)
    assert not run.sent("B") and run["web1"].mark["phase"] == "prepared"
    at = run.at
    run.show(other)
    run.until(lambda: run.sent("B"))
    assert done_again(run, "web1", at)
    run.show(started(other))
    run.tick(3)
    assert not any("unprepared" in problem for problem in run.problems)


def test_a_start_by_the_event_itself_has_nothing_done_again():
    run = Run()
    run.tick()
    reboot = event("A", ["vm1"])
    run.show(reboot)
    run.until(run.sent)
    at = run.at
    run["web1"].down = NO_ROUTE
    run.show(started(reboot))
    run.tick(5)
    restart(run["web1"])
    run["web1"].down = ""
    run.tick(10)
    assert done_again(run, "web1", at) == [] and "started anew" not in run.timeline
    run.show()
    run.to_end()
    assert "recovered" in run.timeline and run.problems == []


@pytest.mark.parametrize(
    "kind, rebooted, is_unprepared",
    [("Freeze", 10, True), ("Freeze", 40, False), ("Freeze", -1000, False), ("Reboot", 10, False)],
)
@pytest.mark.parametrize("is_over", [False, True])
def test_a_crash_before_an_event_that_reboots_nobody_leaves_the_machine_unprepared(
    kind, rebooted, is_unprepared, is_over
):
    """It shows when the machine answers again, long after the start; a boot before its preparation is a clock that was set."""
    run = Run()
    run.tick()
    freeze = event("A", ["vm1"], type=kind)
    run.show(freeze)
    run.until(run.sent)
    run["web1"].down, at = NO_ROUTE, run.at
    run.until(lambda: run.at >= at + 30)
    run.show(started(freeze))
    run.tick(5)
    run.show(*[] if is_over else [started(freeze)])
    run.until(lambda: run.at >= at + 60)
    assert not any("unprepared" in problem for problem in run.problems)
    restart(run["web1"])
    run["web1"].down, run["web1"].booted = "", at + rebooted
    run.until(lambda: not run.record.hosts["web1"].lost)
    words = "reached web1 unprepared: web1 was rebooted after it had been prepared, and its steps were not done again"
    assert [words in problem for problem in run.problems if "unprepared" in problem] == [True] * is_unprepared
    run.show()
    run.to_end()
    assert run.event().recovered["web1"].ok


def test_what_waits_for_a_person_is_prepared_again_before_it_is_approved():
    run = Run(policy=rules("hold"))
    run.tick()
    run.show(event("A", ["vm1"]))
    run.until(lambda: run.prepared("web1"))
    run.tick(3)
    restart(run["web1"])
    run["web1"].yes = ["A"]
    run.tick()
    assert not run.sent()
    run.until(run.sent)
    assert run["web1"].mark["again"] == run["web1"].boot


def test_the_mark_of_a_dead_run_from_before_a_start_is_taken_over_and_prepared_again():
    run = Run()
    run["web1"].mark = dict(mark("dead", ["A"]), boot_id="boot-0")
    run.show(event("A", ["vm1"]))
    run.tick(2)
    assert not run.sent()
    run.until(run.sent)
    assert done_again(run, "web1", 0.0) and run["web1"].mark["again"] == "boot-1"


def test_with_no_time_for_it_nothing_is_begun_and_it_is_said():
    run = Run()
    run.tick()
    reboot = event("A", ["vm1"], not_before=200)
    run.show(reboot)
    run["web2"].down = run["web3"].down = NO_ROUTE
    run["web1"].refuses = "it can't approve"
    run.until(lambda: run.prepared("web1"))
    run.until(lambda: run.at >= 152)
    restart(run["web1"])
    at = run.at
    run.tick(5)
    assert done_again(run, "web1", at) == []
    run.show(started(reboot))
    run.tick(2)
    assert any("web1 was rebooted after it had been prepared" in problem for problem in run.problems)


def test_prepared_before_a_start_does_not_count_for_the_event_after_it():
    """A has rebooted web1, and B starts while the steps are done again; that they are done is heard with the start."""
    run = Run()
    run.tick()
    reboot, other = event("A", ["vm1"]), event("B", ["vm1"], not_before=3000)
    run.show(reboot)
    run.until(run.sent)
    run["web1"].down = NO_ROUTE
    run.show(started(reboot))
    run.tick(3)
    run.show(other)
    run.until(lambda: run.event().gone is not None)
    restart(run["web1"])
    run["web1"].down = ""
    run.until(lambda: run["web1"].mark["phase"] == "preparing")
    run["web1"].done_at = run.at
    run.show(started(other))
    run.tick(2)
    assert run.prepared("web1")
    assert any("Reboot B (web1) reached web1 unprepared" in problem for problem in run.problems)


# ---- how old an answer is ----


def test_an_answer_ages_from_the_end_of_its_call():
    """Beside another host's task file of 50 s a person recovers web1 by force."""
    run = Run()
    run.tick()
    run.show(event("A", ["vm1"]))
    run.until(lambda: run["web1"].mark and run.at >= run["web1"].done_at)
    run.tick(seconds=50)
    assert run.prepared("web1")
    run["web1"].mark = None
    run.tick(10)
    assert run.approvals() == []


def test_one_that_grew_old_beside_others_is_asked_for_once_more_by_itself():
    run = Run()
    run.tick()
    run.show(event("A", ["vm1"], not_before=2000), event("B", ["vm2"], not_before=2000))
    run["web2"].seconds = 1000.0
    run.until(lambda: run.prepared("web1"), seconds=50)
    run.until(lambda: run.sent("A"), most=4, seconds=50)
    requests = [request["do"] for _at, request in run["web2"].asked[-3:]]
    assert "go" in requests, "whoever is still being prepared gets on as well"


# ---- marks that are lost ----

AT_HAPROXY = {
    "key": "haproxy",
    "type": "haproxy",
    "words": "disable web1 at lb1",
    "unwords": "enable web1 at lb1",
    "state": "done",
    "before": {"ran": True},
    "seconds": 1.0,
    "note": "",
}


def prepared_at_the_load_balancer(**options):
    """web1 is prepared for event A, by a step of which only its mark and the run's record know."""
    run = Run(**options)
    run.tick()
    run.show(event("A", ["vm1"]))
    run.until(lambda: run["web1"].mark)
    run["web1"].mark["steps"] = [dict(AT_HAPROXY)]
    return run.until(lambda: run.prepared("web1"))


def test_a_mark_that_is_lost_with_the_disk_is_put_back_from_the_record_and_undone():
    run = prepared_at_the_load_balancer()
    run.until(lambda: run.sent("A"))
    run.show(started(event("A", ["vm1"])))
    run["web1"].loses_its_disk()
    run.until(lambda: run["web1"].mark is not None)
    assert run["web1"].mark["steps"] == [AT_HAPROXY], "nothing else knows what was done"
    run.tick(5)
    assert run["web1"].mark["phase"] == "recovering", "not before the event is over"
    run.show()
    run.to_end()
    assert run["web1"].mark is None
    assert run.event().recovered["web1"].ok and run.problems == []
    assert any("lost its mark with its disk" in said and "enable web1 at lb1" in said for said in run.notes)


def test_a_mark_that_another_run_has_removed_is_not_put_back_after_the_reboot():
    """The event has rebooted the machine, and a run that took it over then has recovered it: there is nothing left to undo."""
    run = prepared_at_the_load_balancer()
    run.until(lambda: run.sent("A"))
    run.show(started(event("A", ["vm1"])))
    run["web1"].down = NO_ROUTE
    run.tick(2)
    restart(run["web1"])
    run["web1"].mark, run["web1"].down = None, ""
    asked = len(run["web1"].asked)
    run.tick(3)
    run.show()
    run.to_end()
    assert [request for _at, request in run["web1"].asked[asked:] if request["do"] == "go"] == []
    assert run["web1"].mark is None and not any("lost its mark" in said for said in run.notes)


def test_a_disk_that_is_lost_while_the_event_is_over_already_is_no_recovery():
    run = prepared_at_the_load_balancer()
    run.until(lambda: run.sent("A"))
    run.show(started(event("A", ["vm1"])))
    run.tick(2)
    run["web1"].down = NO_ROUTE
    run.show()
    run.until(lambda: run.event().gone is not None)
    run["web1"].loses_its_disk()
    run["web1"].down = ""
    run.until(lambda: run["web1"].mark is not None)
    run.to_end()
    assert run["web1"].mark is None and run.event().recovered["web1"].ok


def test_a_machine_that_lost_its_disk_before_the_event_is_not_prepared():
    run = prepared_at_the_load_balancer(policy=rules("hold"))
    run["web1"].loses_its_disk()
    run["web1"].yes = ["A"]
    run.tick(10)
    assert run.approvals() == []
    assert any("its mark was lost with its disk" in problem for problem in run.problems)


def test_a_machine_that_lost_its_disk_is_not_taken_for_prepared_for_the_next_event():
    """What its mark says was done on it, a new disk does not know."""
    run = prepared_at_the_load_balancer(rounds=0)
    run.until(lambda: run.sent("A"))
    run["web1"].loses_its_disk()
    run.show(started(event("A", ["vm1"])), event("B", ["vm1"], not_before=2000))
    run.tick(8)
    assert run.approvals("B") == [] and run["web1"].mark["phase"] == "recovering"
    run.show(event("B", ["vm1"], not_before=2000))
    run.until(lambda: run.sent("B"))
    assert run["web1"].mark["events"] == ["B"], "another outage, when the first one was over"


def test_a_mark_that_can_not_be_put_back_is_named_with_what_is_to_be_undone():
    run = prepared_at_the_load_balancer(recover_timeout=100.0)
    run.until(lambda: run.sent("A"))
    run.show(started(event("A", ["vm1"])))
    run["web1"].loses_its_disk()
    run["web1"].go = lambda request, call, at: run["web1"]._state("half", "the disk is full")
    run.tick(3)
    run.show()
    run.to_end()
    assert any("enable web1 at lb1" in said and "-e recover_unmarked=true" in said for said in run.problems)


def test_a_mark_that_somebody_removes_is_named_with_what_may_not_be_undone():
    run = prepared_at_the_load_balancer()
    run["web1"].mark = None
    run.tick(3)
    said = [problem for problem in run.problems if "Somebody else removed the mark of web1" in problem]
    assert said and "enable web1 at lb1" in said[0] and "-e recover_unmarked=true" in said[0]
    assert run.goes("web1", since=run.at - 5) == []


def test_nothing_is_brought_back_under_an_event_that_this_run_has_approved():
    """What was approved may start at any moment, though the machine is not prepared for it."""
    run = Run("web1", "web2", policy=rules("approve"))
    run["web1"].mark, run["web1"].seconds = mark("dead", [], until=10.0), 60.0
    run.tick()
    run.show(event("A", ["vm1"]))
    run.until(run.sent)
    at = run.at
    run.tick(20)
    later = [request["no_new_steps"] for when, request in run["web1"].asked if request["do"] == "go" and when > at + 1]
    assert later and all(later)
    run.show()
    run.to_end()
    assert run.marked() == []
