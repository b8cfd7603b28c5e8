# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps that others do for the machine: asked for, marked as begun, their outcomes taken."""

import pytest

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._machine.acting import (
    Machine,
    step,
)

SERVICE = "service remote"


@pytest.fixture
def machine(tmp_path):
    steps = (
        step("first"),
        step("remote", "service", elsewhere=True),
        step("tasks.yml", "tasks", elsewhere=True),
        step("last"),
    )
    return Machine(tmp_path, *steps)


def test_cases_before_that_others_must_learn_are_asked_for_before_anything_is_begun(machine):
    answer = machine.call({"do": "go", "to": "prepared", "left": 600.0, "events": ["E1"]})
    assert answer["ask"] == [SERVICE]  # and not the tasks, which have none
    assert answer["answers"][0]["state"] == "preparing"
    assert (machine.mark(), machine.world.journal) == (None, [])
    answer = machine.go(before={SERVICE: {"ran": True}})
    assert answer["ask"] == []
    assert [entry["before"] for entry in machine.mark()["steps"]] == [{}, {"ran": True}, None, {}]


def test_it_is_handed_out_once_it_is_marked_as_begun(machine):
    answer = machine.call({"do": "go", "to": "prepared", "left": 50.0, "before": {SERVICE: {"ran": True}}})
    asked = {"key": SERVICE, "direction": "do", "begun": True, "no_new_steps": False, "begins": 50.0, "left": 60.0}
    assert answer["elsewhere"] == asked
    assert machine.states() == {"first": "done", "remote": "begun", "tasks.yml": "waiting", "last": "waiting"}
    machine.clock.sleep(4)
    answer = machine.go(left=46.0)
    assert answer["elsewhere"] == dict(asked, begun=False, begins=46.0, left=56.0)
    assert answer["state"] == "preparing"


def test_its_mark_says_which_run_began_it(machine):
    machine.go(before={SERVICE: {"ran": True}})
    assert [entry["by"] for entry in machine.mark()["steps"]] == ["run-1", "run-1", "", ""]


def test_the_outcome_of_one_is_the_begin_of_the_next(machine):
    machine.go(before={SERVICE: {"ran": True}})
    answer = machine.go(outcomes={SERVICE: {"state": "done", "note": "", "seconds": 3.2}})
    assert answer["elsewhere"]["key"] == "tasks tasks.yml"
    assert answer["elsewhere"]["begun"]
    assert machine.mark()["steps"][1]["seconds"] == 3.2
    answer = machine.go(outcomes={"tasks tasks.yml": {"state": "done"}})
    assert answer["state"] == "prepared"
    assert machine.world.journal == [("do", "first"), ("do", "last")]


def test_what_was_left_alone_by_the_case_before_is_not_handed_out(machine):
    answer = machine.go(before={SERVICE: {"ran": False}})
    assert answer["elsewhere"]["key"] == "tasks tasks.yml"


def test_pending_is_asked_about_until_its_limit(machine):
    machine.go(before={SERVICE: {"ran": True}})
    pending = {SERVICE: {"state": "pending", "note": "2 sessions left"}}
    assert machine.go(outcomes=pending)["elsewhere"]["begun"] is False
    assert machine.mark()["steps"][1]["note"] == "2 sessions left"
    machine.clock.sleep(60)
    assert machine.go(outcomes=pending)["elsewhere"]["left"] == 0.0  # what was seen a tick ago may be over by now
    machine.clock.sleep(30)
    answer = machine.go(outcomes=pending)
    assert answer["state"] == "failed"
    assert "2 sessions left" in answer["why"]


def test_pending_that_was_seen_in_its_time_is_asked_about_once_more(machine):
    """However long ago that is: the next call to a slow machine may come a minute later."""
    machine.go(before={SERVICE: {"ran": True}})
    machine.clock.sleep(100)
    seen = {"state": "pending", "note": "", "direction": "do"}
    answer = machine.go(outcomes={SERVICE: dict(seen, left=58.0)})
    assert (answer["state"], answer["elsewhere"]["left"]) == ("preparing", 0.0)
    assert machine.go(outcomes={SERVICE: dict(seen, left=0.0)})["state"] == "failed"


def test_what_was_really_begun_later_has_its_time_from_then_on(machine):
    machine.go(before={SERVICE: {"ran": True}})
    machine.clock.sleep(55)
    pending = {"state": "pending", "note": "", "direction": "do"}
    assert machine.go(outcomes={SERVICE: dict(pending, left=60.0, late=50.0)})["elsewhere"]["left"] == 55.0
    machine.clock.sleep(56)
    assert machine.go(outcomes={SERVICE: pending})["state"] == "preparing"


@pytest.mark.parametrize("to, words", [("prepared", "preparing"), ("recovered", "recovering")])
def test_a_start_of_the_machine_takes_no_time_from_what_others_do(machine, to, words):
    machine.go(before={SERVICE: {"ran": True}})
    machine.go(to, outcomes={SERVICE: {"state": "done"}} if to == "recovered" else {})
    machine.boot_id = "boot-2"
    answer = machine.go(to, outcomes={SERVICE: {"state": "pending"}})
    limit = 60.0 if to == "prepared" else 40.0
    assert (answer["state"], answer["elsewhere"]["left"]) == (words, limit)
    machine.clock.sleep(limit + 30)
    answer = machine.go(to, outcomes={SERVICE: {"state": "pending"}})
    assert answer["state"] != words


def test_a_failure_elsewhere_fails_the_preparation(machine):
    machine.go(before={SERVICE: {"ran": True}})
    answer = machine.go(outcomes={SERVICE: {"state": "failed", "note": "lb1: unreachable"}})
    assert answer["state"] == "failed"
    assert "lb1: unreachable" in answer["why"]


def test_what_never_began_is_not_said_to_have_lasted(machine):
    machine.go(before={SERVICE: {"ran": True}})
    machine.clock.sleep(55)
    answer = machine.go(outcomes={SERVICE: {"state": "failed", "note": "no time was left", "seconds": 0.0}})
    assert answer["why"].endswith("no time was left")


def test_the_way_back_hands_out_the_inverse_and_takes_no_old_outcome_for_it(machine):
    machine.go(before={SERVICE: {"ran": True}})
    answer = machine.go("recovered", outcomes={SERVICE: {"state": "done"}})  # of the way there
    asked = {"key": SERVICE, "direction": "undo", "begun": True, "no_new_steps": False, "begins": 600.0, "left": 40.0}
    assert answer["elsewhere"] == asked
    assert machine.states()["remote"] == "taking_back"
    late = machine.go("recovered", outcomes={SERVICE: {"state": "done", "direction": "do"}})
    assert late["elsewhere"]["begun"] is False
    answer = machine.go("recovered", outcomes={SERVICE: {"state": "done", "direction": "undo"}})
    assert answer["state"] == "recovered"
    assert machine.world.journal == [("do", "first"), ("undo", "first")]


@pytest.mark.parametrize("state", ["done", "failed"])
def test_what_others_are_doing_is_undone_when_it_has_ended(machine, state):
    machine.go(before={SERVICE: {"ran": True}})
    answer = machine.go("recovered", outcomes={SERVICE: {"state": "pending", "direction": "do"}})
    assert (answer["state"], machine.states()["remote"]) == ("recovering", "begun")
    asked = {"key": SERVICE, "direction": "do", "begun": False, "no_new_steps": False, "begins": 600.0, "left": 60.0}
    assert answer["elsewhere"] == asked
    answer = machine.go("recovered", outcomes={SERVICE: {"state": state, "direction": "do"}})
    asked = {"key": SERVICE, "direction": "undo", "begun": True, "no_new_steps": False, "begins": 600.0, "left": 40.0}
    assert answer["elsewhere"] == asked


def test_what_others_are_doing_is_undone_when_its_limit_has_long_passed(machine):
    machine.go(before={SERVICE: {"ran": True}})
    pending = {SERVICE: {"state": "pending", "direction": "do"}}
    machine.go("recovered", outcomes=pending)
    machine.clock.sleep(89)
    assert machine.go("recovered", outcomes=pending)["elsewhere"]["direction"] == "do"
    machine.clock.sleep(2)
    assert machine.go("recovered", outcomes=pending)["elsewhere"]["direction"] == "undo"


def test_outcomes_of_what_is_not_under_way_change_nothing(machine):
    machine.go(before={SERVICE: {"ran": True}})
    machine.go(
        outcomes={"tasks tasks.yml": {"state": "failed"}, "command first": {"state": "failed"}, "x": {"state": "done"}}
    )
    assert machine.states() == {"first": "done", "remote": "begun", "tasks.yml": "waiting", "last": "waiting"}


def test_a_step_of_the_machine_for_which_it_has_no_hand_fails(tmp_path):
    machine = Machine(tmp_path, step("pool", "iis"))
    parts = machine.parts()
    machine.parts = lambda: parts._replace(runner_of=lambda step: None)
    answer = machine.go()
    assert answer["state"] == "failed"
    assert "no way to do a step of type iis" in answer["why"]


def test_where_all_is_done_elsewhere_one_call_writes_the_mark_twice_at_most(tmp_path, monkeypatch):
    """A machine to which each write is a call of its own, Windows, can't afford more."""
    machine = Machine(tmp_path, *[step(f"t{number}", "tasks", elsewhere=True) for number in range(3)])
    writes = []
    for name in ("create", "replace"):
        original = getattr(machine.store, name)
        monkeypatch.setattr(machine.store, name, lambda *args, of=original: writes.append(1) or of(*args))
    machine.go()
    assert len(writes) == 2
    del writes[:]
    machine.go(outcomes={"tasks t0": {"state": "done"}})
    assert len(writes) == 2
