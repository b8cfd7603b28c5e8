# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hooks as steps of a machine's outage, call by call: begun once, in their order, side by side, and after a start of the machine."""

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.step_runner import (
    ABSENT,
    AGAIN,
    CUT_OFF,
    DONE,
    FAILED,
    PENDING,
    REFUSED,
    Progress,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._machine.acting import (
    Machine,
    ScriptedHand,
    hook,
    step,
)

STILL_AT_IT = [Progress(PENDING)]
DID = [("do", "10-app"), ("do", "20-more"), ("do", "nginx"), ("do", "drain")]


@pytest.fixture
def machine(tmp_path):
    """The watcher hands over all hooks in name order, and then its steps."""
    hooks = [hook("10-app"), hook("20-more"), hook("10-back", "recover"), hook("20-last", "recover")]
    return Machine(tmp_path / "marks", *hooks, step("nginx", "service"), step("drain"))


def test_hooks_are_the_outermost_and_run_in_name_order(machine):
    assert machine.go()["state"] == "prepared"
    assert machine.world.journal == DID
    assert [entry["key"] for entry in machine.mark()["steps"]][:2] == ["prepare.d 10-app", "prepare.d 20-more"]
    del machine.world.journal[:]
    machine.world.results["undo", "20-last"] = STILL_AT_IT
    assert machine.go("recovered")["state"] == "recovering"
    assert machine.world.journal == [("undo", name) for name in ("drain", "nginx", "10-back", "20-last")]
    assert [entry["key"] for entry in machine.mark()["steps"]][:2] == ["recover.d 20-last", "recover.d 10-back"]
    machine.world.jobs = {name: [Progress(DONE)] for name in machine.world.jobs}
    assert machine.go("recovered")["state"] == "recovered"
    assert machine.mark() is None


def test_a_hook_of_recover_that_is_removed_meanwhile_is_not_missed(machine):
    machine.go()
    machine.steps = [one for one in machine.steps if "20" not in one["name"]]
    assert machine.go("recovered")["state"] == "recovered"


def test_one_that_is_removed_while_it_is_due_is_named(machine):
    machine.world.results["do", "10-app"] = STILL_AT_IT
    machine.go()
    machine.world.jobs = {name: [Progress(DONE)] for name in machine.world.jobs}
    machine.steps = [one for one in machine.steps if one["name"] != "20-more"]
    answer = machine.go()
    assert (answer["state"], "prepare.d 20-more" in answer["why"]) == ("failed", True)
    assert "this hook is no longer there" in answer["why"]


def test_a_failed_hook_ends_the_preparation_and_the_others_of_recover_run(machine):
    machine.world.results["do", "10-app"] = [Progress(FAILED, "exit code 1: no")]
    answer = machine.go()
    assert (answer["state"], answer["why"]) == ("failed", "hook prepare.d 10-app: exit code 1: no")
    assert machine.go()["state"] == "failed"
    assert machine.go("recovered")["state"] == "recovered"
    assert machine.world.journal == [("do", "10-app"), ("undo", "10-back"), ("undo", "20-last")]


def test_a_hook_of_recover_that_failed_is_begun_once_until_somebody_wants_it_again(machine):
    machine.go()
    machine.world.results["undo", "10-back"] = [Progress(FAILED, "exit code 1")]
    machine.world.results["undo", "drain"] = [Progress(FAILED, "exit code 2")]
    assert machine.go("recovered")["state"] == "half"
    assert machine.states()["20-last"] == "taken_back"  # the others run all the same
    del machine.world.journal[:]
    machine.world.results.clear()
    answer = machine.go("recovered")
    assert (answer["state"], machine.world.journal) == ("half", [("undo", "drain")])
    assert "hook recover.d 10-back: exit code 1" in answer["why"]
    assert machine.go("recovered", retry_hooks=True)["state"] == "recovered"
    assert machine.world.journal == [("undo", "drain"), ("undo", "10-back")]


# --- hooks of recover that are refused, or missing ---


@pytest.fixture
def refusing(machine):
    """It is to be put back, and 10-back can't be run."""
    machine.go()
    machine.world.results["undo", "10-back"] = [Progress(REFUSED, "it was not run: chmod +x 10-back")]
    answer = machine.go("recovered")
    assert (answer["state"], "hook recover.d 10-back: it was not run: chmod +x" in answer["why"]) == ("half", True)
    assert machine.states()["20-last"] == "taken_back"  # the others run all the same
    del machine.world.journal[:]
    return machine


def test_one_that_was_refused_is_tried_again_by_itself(refusing):
    assert refusing.go("recovered", no_new_steps=True)["state"] == "half"
    assert (refusing.go("recovered")["state"], refusing.states()["10-back"]) == ("half", "not_taken_back")
    refusing.world.results.clear()
    assert refusing.go("recovered")["state"] == "recovered"
    assert refusing.world.journal == [("undo", "10-back"), ("undo", "10-back")]  # the first one was refused, too


def test_one_that_runs_at_last_and_fails_is_not_tried_again(refusing):
    refusing.world.results["undo", "10-back"] = [Progress(FAILED, "exit code 1")]
    assert refusing.go("recovered")["state"] == "half"
    assert refusing.go("recovered")["state"] == "half"
    assert refusing.world.journal == [("undo", "10-back")]


def test_one_that_was_refused_and_that_somebody_removes_is_not_missed(refusing):
    refusing.steps = [one for one in refusing.steps if one["name"] != "10-back"]
    assert refusing.go("recovered")["state"] == "recovered"
    assert refusing.world.journal == []


def test_one_that_was_refused_belongs_to_the_next_outage_too(refusing):
    refusing.world.results.clear()
    assert refusing.go(replace_outage=True)["state"] == "prepared"
    assert refusing.go("recovered")["state"] == "recovered"
    assert ("undo", "10-back") in refusing.world.journal


# --- the note of whoever calls ---


def test_the_note_is_kept_and_replaced_whole(machine):
    machine.go(note={"outage": "o1", "started": []})
    assert machine.mark()["note"] == {"outage": "o1", "started": []}
    machine.go()
    assert machine.mark()["note"] == {"outage": "o1", "started": []}
    machine.world.results["undo", "drain"] = STILL_AT_IT
    machine.go("recovered", note={"started": ["E1"]})
    assert machine.mark()["note"] == {"started": ["E1"]}


def test_it_stands_in_the_first_mark_before_anything_is_begun(machine):
    seen = []
    machine.world.results.default_factory = lambda: seen.append(machine.mark()["note"]) or [Progress(DONE)]
    machine.go(note={"outage": "o1"})
    assert seen[0] == {"outage": "o1"}


def test_without_one_the_mark_has_none(machine):
    machine.go()
    assert "note" not in machine.mark() and "again" not in machine.mark()


# --- all at once ---


def test_at_once_all_hooks_are_begun_by_one_call_and_the_steps_come_after_them(machine):
    for name in ("10-app", "20-more"):
        machine.world.results["do", name] = [Progress(PENDING)] * 3 + [Progress(DONE)]
    assert machine.go(parallel=True, left=20)["state"] == "preparing"
    assert machine.world.journal == DID[:2]
    assert [entry["budget"] for entry in machine.mark()["steps"][:2]] == [20.0, 20.0]
    calls = 1
    while machine.go(parallel=True, left=20)["state"] == "preparing":
        calls += 1
        assert calls < 10
    assert machine.world.journal == DID


def test_the_mark_says_of_all_that_they_are_begun_before_the_first_one_is(machine):
    seen = []
    machine.world.results.default_factory = lambda: seen.append(machine.states()) or [Progress(DONE)]
    machine.go(parallel=True)
    assert seen[0] == {"10-app": "begun", "20-more": "begun", "nginx": "waiting", "drain": "waiting"}


def test_those_that_were_begun_side_by_side_are_all_looked_at_by_every_call(machine):
    """One that ends, or asks for another try, does not wait for the one before it."""
    machine.world.results["do", "10-app"] = STILL_AT_IT
    machine.world.results["do", "20-more"] = [Progress(PENDING), Progress(FAILED, "exit code 1")]
    machine.go(parallel=True)
    machine.go()
    assert machine.states()["10-app"] == "begun" and machine.states()["20-more"] == "failed"


def test_at_once_begins_none_when_nothing_may_begin(machine):
    machine.world.results["do", "10-app"] = STILL_AT_IT
    machine.go()
    for how in ({"no_new_steps": True}, {"left": 0}):
        machine.go(parallel=True, **how)
        assert machine.states()["20-more"] == "waiting"
    assert ("do", "20-more") not in machine.world.journal


def test_a_second_hook_that_waits_is_begun_when_the_time_gets_short(machine):
    machine.world.results["do", "10-app"] = STILL_AT_IT
    machine.go()
    machine.go(parallel=True)
    assert machine.world.journal == DID[:2]
    machine.go(parallel=True)
    assert machine.world.journal == DID[:2]


# --- the machine was rebooted by nobody's event ---


def test_again_does_the_steps_again_and_no_hook(machine):
    machine.world.initial_states["nginx"] = {"ran": True}
    machine.go()
    del machine.world.journal[:]
    machine.world.initial_states["nginx"] = {"ran": False}
    machine.boot_id = "boot-2"
    assert machine.go(redo_after_reboot=True)["state"] == "prepared"
    assert machine.world.journal == [("do", "nginx"), ("do", "drain")]
    assert [entry["before"] for entry in machine.mark()["steps"]] == [{}, {}, {"ran": True}, {}]


def test_again_does_so_once_after_each_start(machine):
    machine.go()
    assert machine.go(redo_after_reboot=True)["state"] == "prepared"
    assert machine.world.journal == DID
    machine.boot_id = "boot-2"
    machine.go(redo_after_reboot=True)
    machine.go(redo_after_reboot=True)
    assert machine.world.journal == DID + DID[2:]
    machine.boot_id = "boot-3"
    machine.go(redo_after_reboot=True)
    assert machine.world.journal == DID + DID[2:] * 2


def test_again_goes_on_with_what_can_be_repeated_where_the_start_cut_it_off(machine):
    machine.world.results["do", "nginx"] = STILL_AT_IT
    machine.go()
    machine.boot_id = "boot-2"
    machine.world.results.clear()
    assert machine.go(redo_after_reboot=True)["state"] == "prepared"
    assert machine.world.journal == DID[:3] + DID[2:]


def _ended_by_a_start(machine):
    """The machine restarts in the middle of step nginx."""
    machine.world.results["do", "nginx"] = [*STILL_AT_IT, Progress(CUT_OFF, "it was interrupted")]
    machine.go()
    machine.boot_id = "boot-2"


def test_what_a_start_has_ended_has_not_failed_while_nothing_may_be_begun(machine):
    """As under another event, which has started it."""
    _ended_by_a_start(machine)
    machine.world.results.clear()
    assert machine.go(no_new_steps=True)["state"] == "preparing"
    assert machine.go()["state"] == "preparing" and machine.world.journal == DID[:3]
    assert machine.go(redo_after_reboot=True)["state"] == "prepared"
    assert machine.world.journal == DID[:3] + DID[2:]


@pytest.mark.parametrize("given", [{"ends": 600.0}, {"left": 0.0}])
def test_it_has_failed_where_nobody_does_it_again(machine, given):
    _ended_by_a_start(machine)
    answer = machine.go(**given)
    assert answer["state"] == "failed" and "it was interrupted" in answer["why"]


def test_it_is_undone_when_its_event_is_over(machine):
    _ended_by_a_start(machine)
    machine.go(no_new_steps=True)
    assert machine.go("recovered")["state"] == "recovered"
    assert ("undo", "nginx") in machine.world.journal


@pytest.mark.parametrize("name", ["nginx", "drain"])
@pytest.mark.parametrize("results", [STILL_AT_IT, [Progress(DONE)]])
def test_what_was_cut_off_before_it_began_and_begins_after_the_start_is_not_begun_once_more(machine, name, results):
    """The mark said that it begins when the machine crashed; the first call after that does not know of the start yet."""
    machine.world.results["do", name] = STILL_AT_IT
    machine.go()
    machine.go()
    (last,) = [job for job, left in machine.world.jobs.items() if left[0].state == PENDING]
    del machine.world.jobs[last]
    del machine.world.journal[:]
    machine.boot_id = "boot-2"
    machine.world.results["do", name] = results
    machine.go()
    machine.world.results.clear()
    machine.world.jobs = {job: [Progress(DONE)] for job in machine.world.jobs}
    machine.go(redo_after_reboot=True)
    assert machine.go(redo_after_reboot=True)["state"] == "prepared"
    twice = (
        2 if name == "nginx" and results != STILL_AT_IT else 1
    )  # to stop it once more does no harm, and the start may have started it
    assert machine.world.journal.count(("do", name)) == twice


def test_a_step_that_was_cut_off_and_can_not_be_repeated_has_failed(machine):
    machine.world.results["do", "drain"] = STILL_AT_IT
    machine.go()
    machine.boot_id = "boot-2"
    assert machine.go(redo_after_reboot=True)["state"] == "failed"


# --- tries ---


class Asking(ScriptedHand):
    """One hook's hand says what the test says, whichever try it is."""

    said = Progress(PENDING)
    begun = 0

    def begin(self, step_run):
        self.begun += 1
        self.step_runs = getattr(self, "step_runs", []) + [step_run]
        return self.said

    def check(self, step_run):
        return self.said


@pytest.fixture
def asking(tmp_path):
    machine = Machine(tmp_path / "marks", hook("10-app"), hook("10-back", "recover"))
    machine.world = Asking(machine.world)
    return machine


def test_another_try_is_begun_under_the_same_job_within_the_same_limit(asking):
    hand = asking.world
    asking.go()
    hand.said = Progress(AGAIN, "it asked for another try")
    asking.clock.sleep(10)
    asking.go()
    first, second = hand.step_runs
    assert second.job == first.job and second.limit == first.limit == 60.0
    assert second.elapsed > 10 and asking.mark()["steps"][0]["tries"] == 1


def test_another_try_is_not_begun_when_nothing_may_begin(asking):
    asking.go()
    asking.world.said = Progress(AGAIN)
    asking.go(no_new_steps=True)
    asking.go(left=0)
    assert asking.world.begun == 1


def test_what_the_start_of_the_machine_kept_from_beginning_has_all_of_its_time(asking):
    """Or what it cut off and is begun once more: the hand says ABSENT of both."""
    hand = asking.world
    hand.said = Progress(DONE)
    asking.go()
    hand.said = Progress(PENDING)
    asking.go("recovered")
    asking.boot_id = "boot-2"
    hand.said = Progress(ABSENT)
    asking.go("recovered")
    hand.said = Progress(PENDING)
    asking.clock.sleep(30)
    assert asking.go("recovered")["state"] == "recovering"
    assert hand.step_runs[-1].elapsed < 1 and hand.step_runs[-1].limit == 40.0
    asking.clock.sleep(21)
    assert asking.go("recovered")["state"] == "half"


def test_what_the_start_of_the_machine_cut_off_waits_for_as_long_as_nothing_may_begin(asking):
    """The watcher begins nothing after a start before it has looked."""
    hand = asking.world
    hand.said = Progress(DONE)
    asking.go()
    hand.said = Progress(PENDING)
    asking.go("recovered")
    asking.boot_id = "boot-2"
    hand.said = Progress(ABSENT, "it was interrupted, and is started once more")
    for _call in range(3):
        assert asking.go("recovered", no_new_steps=True)["state"] == "recovering"
        asking.clock.sleep(600)
    assert hand.begun == 2
    hand.said = Progress(DONE)
    assert asking.go("recovered")["state"] == "recovered"


def test_what_the_system_does_not_take_on_has_not_failed(asking):
    asking.world.said = Progress(ABSENT, "it was not started: the system is going down")
    answer = asking.go()
    assert (answer["state"], answer["steps"][0]["state"]) == ("preparing", "begun")
    assert answer["steps"][0]["note"] == "it was not started: the system is going down"
    asking.world.said = Progress(DONE)
    assert asking.go()["state"] == "prepared"
