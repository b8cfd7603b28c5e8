# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Preparing and recovering a machine, call by call: the mark first, then the steps, and always by the mark."""

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.step_runner import (
    DONE,
    FAILED,
    PENDING,
    Progress,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._machine.acting import (
    Machine,
    ScriptedHand,
    another_run,
    step,
)

STILL_AT_IT = [Progress(PENDING)]


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path / "marks", step("nginx", "service"), step("drain"), step("wait"))


def test_one_call_goes_from_step_to_step_while_they_end_at_once(machine):
    answer = machine.go()
    assert (answer["state"], answer["ask"], answer["elsewhere"]) == ("prepared", [], None)
    assert machine.world.journal == [("do", "nginx"), ("do", "drain"), ("do", "wait")]
    assert machine.mark()["phase"] == "prepared"
    assert machine.mark()["events"] == ["E1"]
    assert answer["steps"] == machine.mark()["steps"]


def test_every_answer_has_the_time_by_which_the_mark_s_lease_ends(machine):
    machine.go()
    machine.clock.sleep(30)
    answer = machine.call(run="")
    assert (answer["boot_id"], answer["uptime"]) == ("boot-1", machine.moment().uptime)
    assert answer["mark"]["lease"]["until"] - answer["uptime"] == 90


def test_recovering_goes_back_from_the_last_one_and_removes_the_mark(machine):
    machine.go()
    del machine.world.journal[:]
    assert machine.go("recovered")["state"] == "recovered"
    assert machine.world.journal == [("undo", "wait"), ("undo", "drain"), ("undo", "nginx")]
    assert machine.mark() is None
    assert sorted(path.name for path in machine.folder.iterdir()) == ["lock"]


def test_the_mark_says_that_a_step_is_begun_before_it_is(machine):
    seen = []
    machine.world.results.default_factory = lambda: seen.append(machine.states()) or [Progress(DONE)]
    machine.go()
    assert seen == [
        {"nginx": "begun", "drain": "waiting", "wait": "waiting"},
        {"nginx": "done", "drain": "begun", "wait": "waiting"},
        {"nginx": "done", "drain": "done", "wait": "begun"},
    ]


def test_all_cases_before_stand_in_the_first_mark(machine):
    machine.world.initial_states["nginx"] = {"ran": True}
    machine.world.results["do", "nginx"] = STILL_AT_IT
    assert machine.go()["state"] == "preparing"
    assert [entry["before"] for entry in machine.mark()["steps"]] == [{"ran": True}, {}, {}]


def test_a_service_that_did_not_run_is_neither_stopped_nor_started(machine):
    machine.world.initial_states["nginx"] = {"ran": False}
    assert machine.go()["state"] == "prepared"
    assert machine.go("recovered")["state"] == "recovered"
    assert [name for _direction, name in machine.world.journal] == ["drain", "wait", "wait", "drain"]


def test_where_a_case_before_cant_be_learned_nothing_is_begun(machine):
    machine.world.initial_states["drain"] = "systemctl does not answer"
    answer = machine.go()
    assert answer["state"] == "failed"
    assert answer["why"] == (
        "Could not determine the initial state of step 1 (drain): systemctl does not answer. The step was not started."
    )
    assert (machine.mark(), machine.world.journal) == (None, [])


def test_whoever_takes_long_to_say_it_uses_up_no_other_steps_time(tmp_path, monkeypatch):
    machine = Machine(tmp_path, step("node", "failover_cluster"), step("web", "service"))
    seconds = {"failover_cluster": 20.0, "service": 0.1}
    initial = {"ran": True, "paused": False}
    monkeypatch.setattr(ScriptedHand, "before", lambda _hand, one: machine.clock.sleep(seconds[one["type"]]) or initial)
    assert machine.go()["state"] == "preparing"
    assert [entry["before"] for entry in machine.mark()["steps"]] == [initial] * 2


@pytest.mark.parametrize("seconds, state", [(0.3, "preparing"), (1.5, "failed")])
def test_a_machine_that_is_slow_to_say_what_is_the_case_before_answers_in_time(tmp_path, monkeypatch, seconds, state):
    """Else the call would be cut off, and the next one begin from the start, for ever."""
    machine = Machine(tmp_path, *[step(f"s{number}", "service") for number in range(12)])
    case = {"ran": True}
    monkeypatch.setattr(ScriptedHand, "before", lambda _hand, _step: machine.clock.sleep(seconds) or case)
    answer = machine.go()
    assert answer["state"] == state
    assert machine.clock.elapsed < 6 and machine.world.journal == []
    if state == "failed":
        assert "the initial state of step 1 (s3): the 4 s are over" in answer["why"] and machine.mark() is None
    else:
        assert machine.go()["state"] == "prepared"


def test_the_lease_is_renewed_once_a_call(machine, monkeypatch):
    """What a machine counts in fractions of a second does not come out even."""
    machine.go()
    writes, original = [], machine.store.replace
    monkeypatch.setattr(machine.store, "replace", lambda *args: writes.append(1) or original(*args))
    for calls in range(1, 20):
        machine.clock.sleep(0.37)
        assert (machine.go()["state"], len(writes)) == ("prepared", calls)


def test_a_step_that_takes_its_time_is_begun_once_and_asked_about_by_later_calls(machine):
    machine.world.results["do", "drain"] = [Progress(PENDING)] * 30 + [Progress(DONE)]
    assert machine.go()["state"] == "preparing"
    assert machine.states() == {"nginx": "done", "drain": "begun", "wait": "waiting"}
    calls = 1
    while machine.go()["state"] == "preparing":
        calls += 1
        machine.clock.sleep(2)
    assert calls > 3
    assert machine.world.journal == [("do", "nginx"), ("do", "drain"), ("do", "wait")]
    assert machine.mark()["steps"][1]["seconds"] > 10


def test_a_call_waits_a_little_for_what_it_began_and_not_for_what_was_under_way(machine):
    machine.world.results["do", "nginx"] = STILL_AT_IT
    machine.go()
    assert 0.4 < machine.clock.elapsed < 0.7
    before = machine.clock.elapsed
    machine.go()
    assert machine.clock.elapsed == before


def test_no_step_is_begun_when_the_time_of_a_call_is_over(tmp_path):
    machine = Machine(tmp_path, *[step(f"s{number}") for number in range(20)])
    for number in range(20):  # each takes its 0.4 s
        machine.world.results["do", f"s{number}"] = [Progress(PENDING)] * 6 + [Progress(DONE)]
    assert machine.go()["state"] == "preparing"
    assert 3.0 <= machine.clock.elapsed < 3.6
    assert 0 < len(machine.world.journal) < 20
    while machine.go()["state"] == "preparing":
        pass
    assert machine.world.journal == [("do", f"s{number}") for number in range(20)]


@pytest.mark.parametrize(
    "left, ends, limit, budget", [(600, False, 60, 60), (12, False, 60, 12), (600, True, 60, 60), (12, True, 12, 12)]
)
def test_a_step_has_its_own_limit_and_of_a_drain_by_itself_what_is_left(machine, left, ends, limit, budget):
    machine.world.results["do", "nginx"] = STILL_AT_IT
    machine.go(left=left, ends=ends)
    marked = machine.mark()["steps"][0]
    assert (machine.world.limit, marked["limit"], marked["budget"]) == (limit, limit, budget)


def test_a_failed_step_ends_the_preparation_and_is_taken_back_too(machine):
    machine.world.results["do", "drain"] = [Progress(FAILED, "exit code 1: no such pool")]
    answer = machine.go()
    assert answer["state"] == "failed"
    assert "step 1 (drain), command: exit code 1: no such pool" in answer["why"]
    assert (machine.mark()["phase"], machine.states()["wait"]) == ("half", "waiting")
    assert machine.go()["state"] == "failed"  # and nothing is tried again
    assert machine.go("recovered")["state"] == "recovered"
    assert machine.world.journal == [("do", "nginx"), ("do", "drain"), ("undo", "drain"), ("undo", "nginx")]


def test_a_hand_that_breaks_is_its_steps_failure(machine):
    machine.world.results["do", "nginx"] = None  # list(None) raises
    answer = machine.go()
    assert answer["state"] == "failed"
    assert "not iterable" in answer["why"]


# Row 15
def test_when_no_time_is_left_what_runs_goes_on_to_its_own_limit_and_nothing_more_is_begun(machine):
    """A drain that ends late is better than one that is killed: the event comes in any case."""
    machine.world.results["do", "drain"] = STILL_AT_IT
    machine.go(left=30)
    machine.clock.sleep(50)
    assert machine.go(left=0)["state"] == "preparing"
    assert machine.world.journal[-1] == ("do", "drain")
    machine.clock.sleep(20)
    answer = machine.go(left=0)
    assert answer["state"] == "failed" and "it did not end within its 60 s" in answer["why"]
    assert ("do", "wait") not in machine.world.journal


def test_the_last_step_may_end_late(tmp_path):
    machine = Machine(tmp_path, step("drain"))
    machine.world.results["do", "drain"] = STILL_AT_IT
    machine.go(left=30)
    machine.world.jobs = {name: [Progress(DONE)] for name in machine.world.jobs}
    machine.clock.sleep(45)
    assert (machine.go(left=0)["state"], machine.mark()["phase"]) == ("prepared", "prepared")


def test_when_no_time_is_left_to_a_drain_by_itself_what_runs_is_ended(machine):
    machine.world.results["do", "drain"] = STILL_AT_IT
    machine.go(left=30, ends=True)
    answer = machine.go(left=0, ends=True)
    assert answer["state"] == "failed"
    assert "the time that was left is used up" in answer["why"]
    assert machine.world.journal[-1] == ("stop", "drain")


@pytest.mark.parametrize("to", ["prepared", "recovered"])
def test_until_what_is_ended_has_ended_nothing_else_is_begun(machine, to):
    """What takes it back must not run beside it."""
    machine.world.results["do", "drain"] = STILL_AT_IT
    machine.world.ending = [Progress(PENDING)] * 15
    machine.go(left=30, ends=True)
    assert machine.go(to, left=0, ends=True)["state"] == ("preparing" if to == "prepared" else "recovering")
    assert (machine.world.journal[-1], machine.states()["drain"]) == (("stop", "drain"), "begun")
    machine.world.ending = []
    assert machine.go("recovered", left=0)["state"] == "recovered"
    assert machine.world.journal[-2:] == [("undo", "drain"), ("undo", "nginx")]


@pytest.mark.parametrize(
    "to, states", [("prepared", ["preparing", "failed"]), ("recovered", ["recovering", "recovered"])]
)
def test_what_does_not_let_itself_be_ended_is_given_up(machine, to, states):
    machine.world.results["do", "drain"] = STILL_AT_IT
    machine.world.ending = [Progress(PENDING)] * 1000
    machine.go(left=30, ends=True)
    found = []
    for seconds in (4, 2):
        found.append(machine.go(to, left=0, ends=True)["state"])
        machine.clock.sleep(seconds)
    found.append(machine.go(to, left=0, ends=True)["state"])
    assert found == [states[0], *states]


def test_what_was_not_begun_before_the_time_was_used_up_is_not_begun_after_it(machine):
    """The program was cut off between the mark and the begin."""
    machine.world.results["do", "drain"] = STILL_AT_IT
    machine.go()
    machine.world.jobs.popitem()
    del machine.world.journal[:]
    assert machine.go(left=0)["state"] == "failed"
    assert machine.world.journal == [("stop", "drain")]


def test_when_no_time_is_left_nothing_more_is_begun(machine):
    machine.world.results["do", "drain"] = [Progress(PENDING)] * 15 + [Progress(DONE)]
    machine.go(left=30)
    machine.world.jobs = {name: [Progress(DONE)] for name in machine.world.jobs}
    answer = machine.go(left=0)
    assert answer["state"] == "failed"
    assert "used up before step 1 (wait) could begin" in answer["why"]
    assert machine.states()["wait"] == "waiting"
    assert machine.go("recovered", left=0)["state"] == "recovered"


def test_without_time_at_all_no_mark_is_made(machine):
    assert machine.go(left=0)["state"] == "failed"
    assert (machine.mark(), machine.world.journal) == (None, [])


def test_a_step_that_does_not_keep_its_limit_is_given_up(machine):
    machine.world.results["do", "nginx"] = STILL_AT_IT
    machine.go()
    machine.clock.sleep(63)
    assert machine.go()["state"] == "preparing"
    machine.clock.sleep(3)
    answer = machine.go()
    assert answer["state"] == "failed"
    assert "did not end within its 60 s" in answer["why"]


@pytest.mark.parametrize("seconds, is_given_up", [(4, False), (6, True)])
def test_until_it_has_ended_it_is_not_undone(machine, seconds, is_given_up):
    machine.world.results["do", "nginx"] = STILL_AT_IT
    machine.world.ending = [Progress(PENDING)] * 3
    machine.go()
    machine.clock.sleep(66)
    for _call in range(2):
        assert machine.go()["state"] == "preparing"
        assert machine.mark()["steps"][0]["state"] == "begun"
        assert machine.mark()["steps"][0]["note"] == "it did not end within its 60 s"
    if is_given_up:
        machine.world.ending = [Progress(PENDING)] * 10**6
    machine.clock.sleep(seconds)
    answer = machine.go()
    assert answer["state"] == "failed" and "it did not end within its 60 s" in answer["why"]
    assert ("undo", "nginx") not in machine.world.journal
    assert machine.go("recovered")["state"] == "recovered"
    assert machine.world.journal[-1] == ("undo", "nginx")


def test_a_step_does_not_begin_when_nobody_waits_any_more_after_its_mark_was_written(machine):
    """The disk held the mark up for longer than the call may take."""
    moment = machine.moment()
    within = {"uptime": moment.uptime, "boot_id": moment.boot_id, "until": moment.uptime + 10}
    slow = [20.0]

    def at(place):
        if place == "before replace" and slow:
            machine.clock.sleep(slow.pop())

    machine.store._at = at
    answer = machine.go(options={"within": within})
    assert answer["state"] == "skipped" and "This call comes too late" in answer["why"]
    assert machine.world.journal == []
    assert machine.go()["state"] == "prepared"
    assert machine.world.journal == [("do", "nginx"), ("do", "drain"), ("do", "wait")]


def test_an_event_that_is_gone_ends_what_runs_and_takes_it_back(machine):
    machine.world.results["do", "drain"] = STILL_AT_IT
    machine.go()
    assert machine.go("recovered")["state"] == "recovered"
    assert machine.world.journal == [
        ("do", "nginx"),
        ("do", "drain"),
        ("stop", "drain"),
        ("undo", "drain"),
        ("undo", "nginx"),
    ]


def test_what_cant_be_taken_back_leaves_the_mark_and_is_tried_again(machine):
    machine.go()
    machine.world.results["undo", "drain"] = [Progress(FAILED, "exit code 1")]
    answer = machine.go("recovered")
    assert answer["state"] == "half"
    assert "(drain), undone: exit code 1" in answer["why"]
    assert machine.mark()["phase"] == "half"
    assert machine.states() == {"nginx": "taken_back", "drain": "not_taken_back", "wait": "taken_back"}
    del machine.world.journal[:]
    machine.world.results["undo", "drain"] = [Progress(DONE)]
    assert machine.go("recovered")["state"] == "recovered"
    assert machine.world.journal == [("undo", "drain")]


def test_a_machine_without_a_mark_is_not_recovered(machine):
    answer = machine.go("recovered")
    assert answer["state"] == "recovered"
    assert "not marked: nothing was done" in answer["why"]
    assert machine.world.journal == []


def test_unless_it_is_said_that_it_was_taken_out_without_a_mark(machine):
    assert machine.go("recovered", unmarked=True)["state"] == "recovered"
    assert machine.world.journal == [("undo", "wait"), ("undo", "drain"), ("undo", "nginx")]
    assert machine.mark() is None


def test_that_bears_a_mark_while_it_lasts(machine):
    machine.world.results["undo", "drain"] = STILL_AT_IT
    assert machine.go("recovered", unmarked=True)["state"] == "recovering"
    assert machine.mark()["phase"] == "recovering"
    assert machine.go("recovered")["state"] == "recovering"
    assert machine.world.journal == [("undo", "wait"), ("undo", "drain")]


def test_still_checks_and_begins_nothing(machine):
    assert machine.go(no_new_steps=True)["state"] == "refused"
    machine.world.results["do", "nginx"] = STILL_AT_IT
    machine.go()
    machine.world.jobs = {name: [Progress(DONE)] for name in machine.world.jobs}
    assert machine.go(no_new_steps=True)["state"] == "preparing"
    assert machine.states() == {"nginx": "done", "drain": "waiting", "wait": "waiting"}
    assert machine.world.journal == [("do", "nginx")]


def test_another_event_joins_the_outage(machine):
    machine.go()
    assert machine.go(events=["E2", "e1"])["state"] == "prepared"
    assert machine.mark()["events"] == ["E1", "E2"]


def test_a_machine_without_steps_bears_its_mark_all_the_same(tmp_path):
    machine = Machine(tmp_path)
    assert machine.go()["state"] == "prepared"
    assert machine.mark()["phase"] == "prepared"
    assert machine.go("recovered")["state"] == "recovered"


def test_a_reboot_in_between_is_seen_by_what_was_under_way(machine):
    machine.world.results["do", "drain"] = STILL_AT_IT
    machine.go()
    machine.boot_id, machine.clock.elapsed = "boot-2", 1.0
    answer = machine.go()
    assert answer["state"] == "failed"
    assert machine.mark()["steps"][1]["seconds"] == 65.0  # a number, and no more than it could have had
    assert machine.go("recovered")["state"] == "recovered"


def test_an_event_that_comes_while_recovering_has_what_was_taken_back_done_again(machine):
    machine.go()
    machine.world.results["undo", "drain"] = STILL_AT_IT
    assert machine.go("recovered")["state"] == "recovering"
    del machine.world.journal[:]
    machine.world.jobs = {name: [Progress(DONE)] for name in machine.world.jobs}
    assert machine.go(events=["E2"])["state"] == "prepared"
    assert machine.world.journal == [("do", "drain"), ("do", "wait")]


# --- an inventory that has changed ---


def test_steps_that_the_inventory_has_meanwhile_are_done_too(machine):
    machine.go()
    machine.steps.append(step("more"))
    machine.world.initial_states["more"] = {"x": 1}
    assert machine.go()["state"] == "prepared"
    assert machine.world.journal[-1] == ("do", "more")
    assert machine.mark()["steps"][-1]["before"] == {"x": 1}


def test_what_it_no_longer_has_is_named_and_the_mark_stays(machine):
    machine.go()
    machine.steps = [one for one in machine.steps if one["name"] != "drain"]
    answer = machine.go("recovered")
    assert answer["state"] == "half"
    assert "command drain (do drain, undo drain) was not undone: the inventory no longer has this step" in answer["why"]
    assert machine.states() == {"nginx": "taken_back", "drain": "done", "wait": "taken_back"}


def test_what_it_no_longer_has_and_nobody_began_is_dropped(machine):
    machine.world.results["do", "nginx"] = STILL_AT_IT
    machine.go()
    machine.steps = [step("nginx", "service"), step("new")]
    machine.go()
    assert list(machine.states()) == ["nginx", "new"]


# --- whose it is ---


def test_another_run_keeps_off_and_says_why(machine):
    machine.go()
    before = machine.mark()
    answer = machine.call({"do": "go", "to": "recovered"}, **another_run())
    assert answer["answers"][0]["state"] == "refused"
    assert "owned by run run-1 on ctl1" in answer["answers"][0]["why"]
    assert answer["fenced"] == answer["answers"][0]["why"]
    assert machine.mark() == before
    assert answer["mark"] == before


def test_a_mark_whose_holder_is_silent_is_taken_over_and_that_is_said(machine):
    machine.world.results["do", "drain"] = STILL_AT_IT
    machine.go()
    machine.clock.sleep(121)
    answer = machine.go(options=another_run(), take="run-1", to="recovered")
    assert answer["state"] == "recovered"
    assert answer["why"] == "The machine was taken over from run run-1 on ctl1, since 2026-01-01T00:00:00Z"
    assert machine.world.journal[-2:] == [("undo", "drain"), ("undo", "nginx")]


def test_what_a_call_asks_for_renews_the_lease(machine):
    machine.world.results["do", "drain"] = STILL_AT_IT
    machine.go(lease=50)
    machine.clock.sleep(40)
    machine.call({"do": "yes", "event": "E9", "by": "somebody"})  # any call of the run
    machine.clock.sleep(40)
    answer = machine.go(options=another_run(), take="run-1")
    assert answer["state"] == "refused"
    assert "another 9 s" in answer["why"] or "another 10 s" in answer["why"]
    machine.go(lease=500)
    assert machine.mark()["lease"]["until"] - machine.mark()["lease"]["uptime"] == 500


def test_an_unreadable_mark_is_somebodys(machine):
    machine.folder.mkdir()
    (machine.folder / "mark.json").write_text("{", encoding="utf-8")
    answer = machine.call({"do": "go", "to": "prepared", "left": 600.0})
    assert answer["answers"][0]["state"] == "refused"
    assert "can't be understood: it is no JSON" in answer["answers"][0]["why"]
    assert "can't be understood" in answer["mark"]["unreadable"]
    assert (machine.folder / "mark.json").read_text(encoding="utf-8") == "{"
    assert machine.world.journal == []


@pytest.mark.parametrize("left, waits", [(600.0, True), (61.0, False)])
def test_what_a_start_has_taken_back_is_done_again_when_the_start_is_over(tmp_path, left, waits):
    """What it is still starting would only be stopped to be started by it; unless no time is left to wait for that."""
    machine = Machine(tmp_path, step("one"))
    assert machine.go()["state"] == "prepared"
    machine.boot_id = "boot-2"
    parts, started = machine.parts(), []
    machine.parts = lambda: parts._replace(has_started=lambda: bool(started))
    assert machine.go(redo_after_reboot=True, left=left)["state"] == ("preparing" if waits else "prepared")
    assert (machine.mark().get("again") is None) == waits
    started.append("now")
    assert machine.go(redo_after_reboot=True, left=left)["state"] == "prepared"
    assert machine.mark()["again"] == "boot-2" and machine.world.journal == [("do", "one")] * 2


def test_a_mark_that_was_lost_with_the_disk_is_put_back_as_it_was_and_undone(machine):
    machine.go()
    lost = machine.mark()
    machine.store.take_off()
    del machine.world.journal[:]
    assert machine.go("recovered", restore=lost, no_new_steps=True)["state"] == "recovering"
    assert machine.mark()["steps"] == lost["steps"] and machine.mark()["number"] > lost["number"]
    assert machine.go("recovered")["state"] == "recovered"
    assert machine.world.journal == [("undo", "wait"), ("undo", "drain"), ("undo", "nginx")]


def test_a_mark_that_is_there_is_not_replaced_by_an_older_one(machine):
    machine.go()
    lost = dict(machine.mark(), steps=[])
    machine.go("recovered", restore=lost, no_new_steps=True)
    assert len(machine.mark()["steps"]) == 3
