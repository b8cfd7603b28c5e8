# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What people have said on the machines themselves: a machine that was put back by force, approvals that are on hold."""

import pytest

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._fleet.runs import (
    NO_ROUTE,
    Run,
    event,
    mark,
    rules,
    started,
)


def waiting_for_web2(**options):
    """web1 is prepared for event A, web2 is not yet."""
    run = Run(**options)
    run["web2"].seconds = 60.0
    run.tick()
    run.show(event("A", ["vm1", "vm2"]))
    return run.until(lambda: run.prepared("web1"))


@pytest.mark.parametrize("is_seen_on_the_way", [False, True])
def test_who_was_put_back_by_force_is_not_drained_again_for_the_same_event(is_seen_on_the_way):
    run = waiting_for_web2()
    events = run["web1"].mark["events"]
    if is_seen_on_the_way:
        run["web1"].put_back, run["web1"].mark = events, mark("drain-1", events, phase="recovering", kind="drain")
        run.tick()
    run["web1"].put_back, run["web1"].mark = events, None
    since = run.at
    run.to_end()
    assert run.goes("web1", since=since + 1) == [] and run.approvals() == []
    assert any("it was recovered by force despite this event" in said for said in run.problems)
    assert not any("Somebody else" in said for said in run.problems)
    assert run["web2"].mark is None, "nothing is left out of service for an event that is not approved"


def test_a_new_run_keeps_off_as_well_until_a_person_says_yes():
    run = Run("web1", "web2")
    run["web1"].put_back = ["A"]
    run.tick()
    run.show(event("A", ["vm1"]), event("B", ["vm2"], not_before=1000))
    run.tick(3)
    assert run.goes("web1") == []
    assert any("vm1" in said or "web1" in said for said in run.problems)
    assert run.goes("web2"), "other events are none of its business"


def test_a_later_yes_has_it_prepared_again():
    run = Run("web1", "web2")
    run.tick()
    run["web1"].put_back, run["web1"].yes = ["A"], ["A"]
    run.show(event("A", ["vm1"]))
    run.until(lambda: run.sent("A"))


def test_a_machine_that_was_put_back_under_a_started_event_is_left_alone():
    run = Run("web1", "web2")
    run.tick()
    run.show(event("A", ["vm1"]))
    run.until(lambda: run.sent("A"))
    run.show(started(event("A", ["vm1"])))
    run.tick(2)
    run["web1"].boot += "+"  # it has rebooted in the meantime
    run["web1"].is_put_back()
    since = run.at
    run.tick(3)
    run.show()
    run.to_end()
    assert run["web1"].mark is None and run.goes("web1", since=since + 1) == []


def test_who_was_put_back_before_an_event_started_and_is_heard_of_after_it_may_have_been_reached_in_service():
    run = Run("web1", "web2", policy=rules("prepare"))
    run.tick()
    run.show(event("A", ["vm1"]))
    run.until(lambda: run.prepared("web1"))
    run["web1"].is_put_back()
    run.show(started(event("A", ["vm1"])))
    run.tick(3)
    run.show()
    run.to_end()
    assert any("may have reached web1 unprepared: web1 was recovered by force" in said for said in run.problems)


def test_a_yes_after_it_was_put_back_does_not_hide_that_it_was_in_service():
    run = Run("web1", "web2", policy=rules("prepare"))
    run.tick()
    run.show(event("A", ["vm1"]))
    run.until(lambda: run.prepared("web1"))
    run["web1"].down = NO_ROUTE
    run["web1"].is_put_back()
    run["web1"].yes = ["A"]
    run.show(started(event("A", ["vm1"])))
    run.until(lambda: run.event().started is not None)
    run["web1"].down = ""
    run.until(lambda: not run.record.hosts["web1"].lost)
    run.show()
    run.to_end()
    assert any("may have reached web1 unprepared: web1 was recovered by force" in said for said in run.problems)


@pytest.mark.parametrize("answers_under_it", [False, True])
def test_who_was_put_back_and_is_heard_of_when_the_event_is_over_may_have_been_reached(answers_under_it):
    """Unless it was still prepared after the start; another event has it marked anew in the very call."""
    run = Run("web1", "web2", policy=rules("prepare"), rounds=0)
    run.tick()
    first, second = event("A", ["vm1"]), event("B", ["vm1"], not_before=3000.0)
    run.show(first, second)
    run.until(lambda: run.prepared("web1"))
    run.tick()
    if answers_under_it:
        run.show(started(first), second)
        run.tick(2)
    run["web1"].down = NO_ROUTE
    run["web1"].put_back, run["web1"].mark = ["A"], mark("r1", ["B"])
    run.show(started(first), second)
    run.tick(3)
    run.show(second)
    run.until(lambda: run.event("A").gone is not None)
    run["web1"].down = ""
    run.until(lambda: not run.record.hosts["web1"].lost)
    run.tick(2)
    said = [words for words in run.problems if "may have reached web1 unprepared: web1 was recovered by force" in words]
    assert len(said) == (0 if answers_under_it else 1)


def test_approvals_that_are_on_hold_on_a_machine_are_on_hold_for_the_run():
    run = Run("web1", "web2", policy=rules("prepare_and_approve"), prepare_before=60.0)
    run["web1"].hold = {"reason": "release night", "by": "ann", "until": None, "vm_id": ""}
    run.tick()
    run.show(event("A", ["vm1"]))
    run.tick(12)
    assert run.approvals() == [] and run.goes("web1") == [], "what is not to be approved is not prepared early either"
    (said,) = [said for said in run.problems if "on hold" in said]
    assert "ann: release night" in said and "azure-maintenance release" in said
    run["web1"].hold = None
    run.until(lambda: run.sent("A"))


def test_a_hold_of_the_machine_that_it_was_copied_from_holds_nothing():
    run = Run("web1", "web2")
    run["web1"].vm_id, run["web1"].hold = "vm-1", {"reason": "", "by": "ann", "until": None, "vm_id": "vm-0"}
    run.tick()
    run.show(event("A", ["vm1"]))
    run.until(lambda: run.sent("A"))
