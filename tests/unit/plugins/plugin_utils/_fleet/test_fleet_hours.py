# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""By choice events are prepared for and approved in the hours of their rules only; what can't wait is prepared in time.

A run begins on Thursday, 1 January 1970, at 00:00 UTC.
"""

from __future__ import annotations

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.filter.maintenance_plan import maintenance_plan
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet import result
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.event_terms import in_words
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.options import PlanError
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._fleet.runs import (
    NO_ROUTE,
    Machine,
    Run,
    event,
    mark,
    started,
)

HOUR = 3600.0


def rule(do="prepare_and_approve", **hours):
    return [{"name": "Nights", "do": do, **hours}]


def shown(*events, policy=None, machines=(), **options):
    """A run that is shown events at its beginning; their not-before is in two hours."""
    run = Run(*machines, policy=policy or rule(hours="01:00-05:00"), **options)
    run.tick()
    run.show(*(events or [event(not_before=2 * HOUR)]))
    return run.tick()


def waits(run, key="A"):
    return run.event(key).turn.words


def test_an_event_waits_until_its_hours_open():
    run = shown()
    assert (run.event().turn.state, run.marked()) == ("waits", [])
    assert waits(run).startswith("it waits for its hours (01:00-05:00 UTC): they open Thu 01:00 UTC, in 59 min")
    before = run.record.ticks
    run.until(run.marked)
    assert HOUR <= run.at < HOUR + 10, "as soon as they open"
    assert run.record.ticks - before < HOUR / 60, "while it only waits for its hours nobody is called every few seconds"
    run.until(run.sent)
    assert run.at < HOUR + 60
    run.show()
    run.to_end()
    assert run.problems == [] and "waits" in run.timeline


def test_what_a_watcher_has_prepared_takes_out_no_other_machine_of_the_event_early():
    run = Run(policy=rule(hours="05:00-06:00"))
    run["web1"].watcher = {"mode": "manage", "version": "0.2.0", "alive": True, "lacks": []}
    run["web1"].mark = mark("watcher", ["A"], kind="watcher")
    run.show(event("A", ["vm1", "vm2"], not_before=1800.0))
    run.tick(10)
    assert run.event().turn.state == "waits" and run.goes("web2") == []
    run.until(lambda: run.prepared("web2"))
    assert 1500 <= run.at < 1600 and not run.sent("A")


def test_what_can_not_wait_is_prepared_in_time_and_starts_by_itself():
    run = shown(event(not_before=1800.0), policy=rule(hours="05:00-06:00"))
    assert waits(run) == (
        "its hours (05:00-06:00 UTC) do not open before its not-before: it is prepared in time, and starts by itself"
    )
    run.until(run.marked)
    assert 1500 <= run.at < 1500 + 10, "hours forbid what is early only"
    assert run.record.ticks < 30
    run.until(lambda: run.prepared("web1"))
    run.until(lambda: run.at >= 1790)
    assert run.event().turn.state == "turn" and run.approvals() == []
    assert waits(run) == "its hours (05:00-06:00 UTC) are not open: it is not approved and starts by itself"
    run.show(started(event()))
    run.tick(3)
    run.show()
    run.to_end()
    assert (run.problems, run.marked(), run.approvals()) == ([], [], [])


def test_that_a_machine_is_silent_when_it_starts_by_itself_is_no_reason_why_it_was_not_approved():
    freeze = event("A", ["vm1"], not_before=900.0, type="Freeze")
    run = shown(freeze, machines=("web1", "web2"), policy=rule(hours="05:00-06:00"))
    run.until(lambda: run.prepared("web1"))
    run.until(lambda: run.at > 895)
    run["web1"].down = NO_ROUTE  # its own freeze has begun
    run.tick(1)
    assert "can't be reached" in run.event().against.hold
    run.show(started(freeze))
    run.tick(2)
    run["web1"].down = ""
    run.show()
    run.to_end()
    assert run.problems == [] and run.event().tracked.outcome == "completed"


@pytest.mark.parametrize("within, steps", [(3600.0, 30.0), (60.0, 30.0), (3600.0, 400.0)])
def test_hours_that_open_after_it_had_to_be_prepared(within, steps):
    machine = Machine("web1", needs=steps)
    run = shown(
        event(not_before=HOUR + 40), machines=(machine,), policy=rule(hours="01:00-05:00"), prepare_before=within
    )
    # what its margin, its step, and a few seconds need, or what is not early by the option
    due = HOUR + 40 - max(60 + steps + 4 + 15, min(within, 300))
    run.until(run.marked)
    assert due <= run.at < due + 10 and run.record.ticks < 40, "a long look ends when it is due"
    run.until(lambda: run.prepared("web1"))
    assert run.at < HOUR - 15 and run.approvals() == []
    run.until(run.sent)
    assert HOUR <= run.at < HOUR + 15


def test_outside_of_its_hours_it_waits_for_room_in_its_group():
    one, other = event("A", ["vm1"], not_before=1000.0), event("B", ["vm2"], not_before=1001.0)
    run = shown(one, other, policy=rule(hours="05:00-06:00"), max_unavailable=1)
    run.until(run.marked)
    run.until(lambda: run.at > 760)
    assert (run.marked(), run.event("B").turn.state, run.event("B").turn.resumes) == (["web1"], "waits", None)
    run.until(lambda: "web2" in run.marked())
    assert 1001 - 60 - 34 - 15 <= run.at < 1001 - 60 - 34


def test_outside_of_its_hours_all_of_its_machines_are_prepared():
    """One of them must first be asked for the initial state, which takes a tick longer."""
    run = Run("web1", "web2", policy=rule(hours="05:00-06:00"))
    prepare, asks = run["web2"]._prepare, [True, True]
    run["web2"]._prepare = lambda *args: (
        dict(run["web2"]._state("preparing"), ask=[asks.pop()]) if asks else prepare(*args)
    )
    run.show(event(resources=["vm1", "vm2"], not_before=400.0))
    run.until(lambda: run.prepared("web1", "web2"))
    assert not asks and run.at < 200


def closing(hours, **options):
    """Prepared while its hours close."""
    run = Run(policy=rule(hours=hours), **options)
    run["web1"].seconds = 100.0
    run.tick()
    run.show(event(not_before=600.0))
    run.tick(2)
    assert run.marked() == ["web1"]
    return run.until(lambda: run.prepared("web1"))


def test_hours_that_close_during_the_preparation():
    run = closing(["00:00-00:01", "00:05-00:08"])
    run.tick(5)
    assert run.at > 100 and run.approvals() == [] and run.prepared("web1")
    assert waits(run).startswith(
        "its hours (00:00-00:01, 00:05-00:08 UTC) are not open: it is not approved before Thu 00:05 UTC, in "
    )
    assert run.timeline.count("are not open") == 2, "what happened, and the plan"
    run.until(lambda: run.at > 290)
    assert run.prepared("web1") and run.approvals() == [], "what is prepared stays so"
    run.until(run.sent)
    assert 300 <= run.at < 315


def test_hours_that_close_for_good_during_the_preparation():
    run = closing("00:00-00:01")
    run.until(lambda: run.at >= 590)
    assert run.prepared("web1") and run.approvals() == []
    run.show(started(event()))
    run.tick(2)
    run.show()
    run.to_end()
    assert (run.problems, run.marked()) == ([], [])


def test_an_approval_whose_answer_was_lost_is_not_sent_again_once_they_are_closed():
    run = Run("web1", "web2", policy=rule(hours="00:00-00:01"))
    run["web1"].seconds = 30.0
    run.tick()
    run.show(event(not_before=2 * HOUR))
    run["web1"].lost_approvals = run["web2"].lost_approvals = 100
    run.until(run.approvals)
    run.until(lambda: run.at > 90)
    count = run.event().approval.tries.times
    run.until(lambda: run.at > 150)
    assert run.event().approval.tries.times == count and not run.sent()


def test_an_approval_that_was_accepted_is_not_sent_again_once_they_are_closed():
    """Documents say Scheduled all the same: the event may have come back, and is approved early by that."""
    run = Run("web1", "web2", policy=rule(hours=["00:00-00:02", "00:10-00:20"]))
    run.tick()
    run.show(event(not_before=2 * HOUR))
    run["web1"].seconds = run["web2"].seconds = 30.0
    run.until(run.sent)
    assert run.at < 60
    run.until(lambda: run.at > 590)
    assert run.timeline.count(", again:") == 1, "a minute later, in its hours, and not outside of them"
    assert run.prepared("web1"), "it may start at any moment"
    run.until(lambda: run.timeline.count(", again:") == 2)
    assert 600 <= run.at < 615


def test_all_of_its_machines_must_be_within_their_hours():
    one, other = Machine("web1"), Machine("web2")
    one.options = {"policy": rule(hours="00:00-01:30")}
    other.options = {"policy": rule(hours="01:00-02:00", zone="UTC")}
    run = shown(event(resources=["vm1", "vm2"], not_before=2 * HOUR), machines=(one, other, "web3"))
    assert run.event().turn.state == "waits"
    assert "(00:00-01:30 UTC for web1, 01:00-02:00 UTC for web2): they open Thu 01:00 UTC" in waits(run)
    run.until(run.sent)
    assert HOUR <= run.at < HOUR + 60


def test_a_machine_without_hours_does_not_open_those_of_another():
    other = Machine("web2")
    other.options = {"policy": rule(hours="01:00-02:00")}
    run = shown(event(resources=["vm1", "vm2"], not_before=2 * HOUR), machines=("web1", other), policy=rule())
    assert "they open Thu 01:00 UTC" in waits(run) and run.marked() == []


def test_hours_in_another_zone():
    run = shown(policy=rule(hours="22:00-05:00", weekdays=["wed"], zone="-02:00"))
    run.until(run.sent)
    assert run.at < 60, "there it is Wednesday, 22:00"


def test_a_yes_that_is_given_before_waits_for_the_hours():
    run = shown(policy=rule("hold", hours="01:00-05:00"))
    run["web1"].yes = ["A"]
    run.until(lambda: run.at > HOUR - 300)
    assert run.marked() == []
    run.until(run.sent)
    assert HOUR <= run.at < HOUR + 60


def test_an_approval_without_preparation_waits_for_its_hours():
    run = shown(policy=rule("approve", hours="01:00-05:00"))
    assert "it waits for its hours" in waits(run)
    run.until(run.sent)
    assert HOUR <= run.at < HOUR + 15 and run.marked() == []


def test_an_approval_without_preparation_that_can_not_wait():
    run = shown(event(not_before=900.0), policy=rule("approve", hours="01:00-05:00"))
    assert waits(run) == "its hours (01:00-05:00 UTC) do not open before its not-before: it starts by itself"
    run.until(lambda: run.at > 890)
    assert run.approvals() == [] and "it is not approved and starts by itself" in waits(run)
    run.show()
    run.to_end()
    assert run.approvals() == []


def test_who_only_prepares_waits_for_his_hours_too():
    run = shown(policy=rule("prepare", hours="01:00-05:00"), prepare_before=2.5 * HOUR)
    assert run.event().turn.state == "waits" and run.marked() == []
    run.until(lambda: run.prepared("web1"))
    assert HOUR <= run.at < HOUR + 60
    assert waits(run) == "" and run.approvals() == []


def test_who_only_prepares_and_is_due_is_not_said_to_be_unapproved():
    run = shown(event(not_before=900.0), policy=rule("prepare", hours="05:00-06:00"))
    run.until(lambda: run.prepared("web1"))
    assert "not approved" not in waits(run)
    assert not run.event().turn.shut


def test_one_that_is_left_for_later_stays_so():
    run = shown(policy=rule("prepare", hours="01:00-05:00"), prepare_before=600.0)
    assert run.event().turn.state == "later"


def test_one_that_waits_for_its_hours_is_overtaken():
    nights = [{"do": "prepare_and_approve", "hours": "01:00-05:00", "when": {"types": ["Redeploy"]}}, *rule()]
    run = shown(
        event("A", ["vm1"], type="Redeploy", not_before=2 * HOUR),
        event("B", ["vm2"], not_before=3 * HOUR),
        policy=nights,
        max_unavailable=1,
    )
    assert (run.event("A").turn.state, run.event("B").turn.state) == ("waits", "turn")


def test_capacity_holds_within_the_hours():
    run = shown(event("A", ["vm1"], not_before=2 * HOUR), event("B", ["vm2"], not_before=2.5 * HOUR), max_unavailable=1)
    run.until(run.marked)
    assert run.marked() == ["web1"]
    assert waits(run, "B").startswith("it waits for its turn")
    assert "waits      it waits for its turn" in run.timeline, "it is said when the reason changes"


def test_what_is_too_large_has_no_hours():
    run = shown(event(resources=["vm1", "vm2"], not_before=2 * HOUR), max_unavailable=1)
    assert (run.event().turn.state, run.event().turn.too_large) == ("waits", True)
    assert "never approved early" in waits(run) and not run.event().turn.shut


def test_one_that_is_cancelled_while_it_waits():
    run = shown()
    run.tick(3)
    run.show()
    run.to_end()
    assert run.event().tracked.outcome == "cancelled"
    assert (run.problems, run.marked(), run.record.rounds_done) == ([], [], 1)


def test_check_mode_says_what_it_waits_for():
    run = Run(policy=rule(hours="22:00-05:00", weekdays=["sat", "sun"]), check=True)
    run.show(event(not_before=100 * HOUR))
    run.tick()
    (line,) = result.plan_lines(run.record)
    assert (
        "prepare, then approve, early only 22:00-05:00 UTC on sat, sun [policy: Nights; rule 1 matches every event]"
        in line
    )
    assert "it waits for its hours (22:00-05:00 UTC on sat, sun): they open Sat 22:00 UTC, in 2 d 21 h" in line


def test_wrong_hours_end_the_run_before_it_begins():
    with pytest.raises(PlanError) as caught:
        Run("web1", "web2", policy=rule(hours="10pm-5am"))
    said = caught.value.message
    assert "azure_maintenance_policy: Rule 1 of the policy ('Nights'): `hours` must be hours such as" in said
    assert "'10pm-5am' (web1, web2). Nothing was changed." in said


@pytest.mark.parametrize(
    "seconds, words",
    [
        (0.4, "0 s"),
        (119, "119 s"),
        (120, "2 min"),
        (3599, "59 min"),
        (3600, "1 h"),
        (11100, "3 h 5 min"),
        (86400, "1 d"),
        (86400 + 7200 + 600, "1 d 2 h"),
    ],
)
def test_words_of_time(seconds, words):
    assert in_words(seconds) == words


def test_the_plan_filter_waits_for_hours_that_open_in_time(monkeypatch):
    monkeypatch.setattr("time.time", lambda: 3 * 86400.0 - 600)  # a Saturday, ten minutes before midnight
    for notice, verdict in ((1200, "later"), (250, "prepare")):
        (planned,) = planned_for(notice, {"do": "prepare_and_approve", "weekdays": "sun"})
        assert planned["verdict"] == verdict


def planned_for(notice, only):
    look = {
        "resource_name": "vm1",
        "incarnation": 1,
        "events": [dict(event(), notice=notice)],
        "unusable_events": [],
        "began": 0.0,
        "age": 0.0,
    }
    return maintenance_plan([{"host": "web1", "look": look}], policy=[only])


@pytest.mark.parametrize(
    "do, notice, verdict",
    [
        ("prepare_and_approve", 7200, "later"),
        ("prepare_and_approve", 290, "prepare"),
        ("prepare_and_approve", 20, "prepare"),
        ("approve", 7200, "later"),
        ("approve", 10, "watch"),
        ("prepare", 20, "prepare"),
    ],
)
def test_the_plan_filter_goes_by_the_time_of_day(do, notice, verdict, monkeypatch):
    monkeypatch.setattr("time.time", lambda: 3 * 86400.0)  # a Sunday
    for weekdays, wanted in (("sat", verdict), ("sun", do)):
        (planned,) = planned_for(notice, {"do": do, "weekdays": weekdays})
        assert planned["verdict"] == wanted
        assert ("hours" in planned["why"].partition("]")[2]) is (weekdays == "sat" and do != "prepare")


def test_hours_go_by_the_clock_as_it_is_now_not_as_it_was_when_the_run_began():
    run = closing(["00:00-00:01", "01:00-02:00"])
    run.tick(5)
    assert run.approvals() == []
    run.ahead = HOUR - run.at  # it is corrected
    run.until(run.sent)
    assert run.at < 200
    assert "The controller's time jumped forward by" in run.timeline


def test_a_clock_that_is_corrected_closes_hours_as_well():
    run = Run(policy=rule(hours="00:00-00:10"))
    run["web1"].seconds = 30.0
    run.tick()
    run.show(event(not_before=900.0))
    run.until(lambda: run.marked() == ["web1"])
    run.ahead = HOUR
    run.until(lambda: run.prepared("web1"))
    run.tick(5)
    assert run.approvals() == [] and waits(run).startswith("its hours (00:00-00:10 UTC) are not open")
