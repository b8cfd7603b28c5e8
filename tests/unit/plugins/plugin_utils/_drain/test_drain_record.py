# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of a run, move by move: which step is next, how long it may take, what is undone, what came of it."""

from __future__ import annotations

import copy
import typing

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._drain import record as run_record
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._drain.plan import Host, make_plan

ONE = {"type": "command", "name": "one", "do": "a", "undo": "z", "timeout": 10, "undo_timeout": 20}
TWO = {"type": "command", "name": "two", "do": "b", "undo": "y", "timeout": 10}
WAIT = {"type": "connections", "name": "quiet", "port": 443, "timeout": 10, "interval": 3}
DONE = {"changed": True}
BROKEN = {"failed": True, "msg": "broken"}
LOST = {"unreachable": True, "msg": "no route"}
LEFT = {"result": {"left": 3}}


class Run:
    """A run of these steps: the record, moved on by a clock that only the test moves."""

    def __init__(self, *steps, name="prepare", check_mode=False, may_fail=True, begin=1000.0, **budgets):
        host = Host("web1", "linux", {"all": ["web1"]}, lambda name: "linux", lambda path: path)
        self.plan = make_plan(list(steps), host)
        assert self.plan["errors"] == []
        self.list = name
        self.at = begin
        options = {
            "host": "web1",
            "list": name,
            "budgets": dict({"prepare": 300.0, "recover": 600.0, "revert": 120.0}, **budgets),
            "check_mode": check_mode,
            "may_fail": may_fail,
        }
        self.record = run_record.begin(options, self.at)

    @property
    def todo(self):
        return self.record["todo"]

    @property
    def step(self):
        return self.plan[self.list][self.todo["place"]]

    def __call__(self, happened, *known, after=0.0):
        self.at += after
        before = copy.deepcopy(self.record)
        moved = getattr(run_record, happened)(self.record, *known, at=self.at)
        assert self.record == before, "a move does not change the record that it is given"
        assert set(moved) == set(typing.get_type_hints(run_record.Record))
        assert set(moved["todo"]) == set(typing.get_type_hints(run_record.Todo))
        self.record = moved
        return self

    def planned(self):
        return self("planned", self.plan)

    def goes(self, result=None, after=1.0):
        """The next step begins and comes to its end."""
        result = DONE if result is None else result
        self("started")
        happened = "failed" if result.get("failed") else "did"
        return self(happened, self.step, result, after=after)

    def ended(self):
        return self("ended").record["result"]


def names(run):
    return [run.record["steps"][place]["name"] for place in run.record["queue"]]


# Which step is next


def test_steps_are_gone_through_in_order():
    run = Run(ONE, TWO).planned()
    assert run.todo["rounds"] == 2 and names(run) == ["one", "two"]
    run("started")
    assert (run.todo["place"], run.todo["direction"], run.todo["file"]) == (0, "do", "steps/command/linux.yml")
    run("did", run.step, DONE)
    assert run.todo["rounds"] == 1
    run("started")
    assert run.todo["place"] == 1
    run("did", run.step, DONE)
    assert run.todo["rounds"] == 0 and not run.todo["revert"]
    result = run.ended()
    assert result["ok"] and [step["name"] for step in result["steps"]] == ["one", "two"]


def test_a_recovery_goes_by_the_inverses_last_one_first():
    run = Run(ONE, TWO, name="recover").planned()
    assert names(run) == ["two", "one"]
    run("started")
    assert run.todo["direction"] == "undo" and run.step["undo"] == {"argv": ["y"]}


def test_after_a_step_that_failed_no_other_begins():
    run = Run(ONE, TWO, TWO).planned().goes().goes(BROKEN)
    assert run.todo["rounds"] == 0 and run.todo["revert"]


def test_a_recovery_goes_on_after_a_failure():
    run = Run(ONE, TWO, name="recover").planned().goes(BROKEN)
    assert run.todo["rounds"] == 1 and not run.todo["revert"]
    result = run.goes().ended()
    assert not result["ok"] and [step["ok"] for step in result["steps"]] == [False, True] and not result["reverted"]


def test_a_machine_that_was_lost_ends_the_preparation():
    run = Run(ONE, TWO).planned().goes(LOST)
    assert run.todo["rounds"] == 0 and run.todo["revert"]
    assert "unreachable: no route" in run.ended()["message"]


def test_no_steps_are_no_rounds():
    assert Run().planned().todo["rounds"] == 0 and Run().planned().ended()["ok"]


# Undoing


def test_all_that_was_tried_is_undone_last_one_first_the_failed_step_included():
    run = Run(ONE, {"type": "command", "do": "x"}, TWO, ONE).planned().goes().goes().goes(BROKEN)
    run("reverting")
    assert names(run) == ["two", "one"], "what has no inverse is not undone, what was not tried neither"
    assert not run.todo["revert"]
    result = run.goes().goes().ended()
    assert not result["ok"] and result["reverted"] and result["failed_step"] == "two"
    assert [step["ok"] for step in result["steps"]] == [True, True, False]


def test_undoing_goes_on_after_a_failure_and_reports_it():
    run = Run(ONE, TWO).planned().goes().goes(BROKEN)("reverting").goes(BROKEN)
    assert run.todo["rounds"] == 1
    result = run.goes().ended()
    assert not result["reverted"] and len(result["revert_errors"]) == 1
    assert "step 2 (two), undone: broken" in result["revert_errors"][0]


def test_undoing_has_a_budget_of_its_own():
    run = Run(ONE, prepare=5.0, revert=50.0).planned().goes(BROKEN, after=4.0)("reverting")("started")
    assert run.record["ends"] == 1054.0 and run.record["current"]["ends"] == 1024.0


def test_a_step_that_was_cut_short_by_something_else_is_undone():
    """The step has begun, its report never came, and the run was stopped by an error of Ansible's."""
    run = Run(ONE, TWO).planned()("started")("stopped", {"msg": "template error"})
    assert run.todo["rounds"] == 0 and run.todo["revert"]
    result = run("reverting").goes().ended()
    assert result["message"] == "template error. What was done is undone."


# Time


def test_a_step_has_its_own_time():
    run = Run(ONE).planned()("started")
    assert (run.todo["wait"], run.todo["cut_at"]) == (10, 1012.0)
    run("waited", after=4.5)
    assert (run.todo["wait"], run.todo["cut_at"]) == (5, 1012.0)
    run("waited", after=60.0)
    assert run.todo["wait"] == 1, "never nothing: for Ansible that is no limit"


def test_an_inverse_has_its_own_time():
    assert Run(ONE, name="recover").planned()("started").todo["wait"] == 20


def test_the_budget_bounds_a_step_and_leaves_it_a_second_to_report():
    run = Run(ONE, prepare=5.0).planned()("started")
    assert (run.todo["wait"], run.todo["cut_at"]) == (4, 1005.0)
    run("failed", run.step, {"failed": True, "timedout": {"period": 5}, "msg": "x"}, after=5.0)
    assert "the budget of 5 s is used up (after 5.0 s)" in run.record["reports"][0]["message"]


def test_what_ended_a_step_is_its_own_limit_where_that_is_shorter():
    run = Run(ONE, prepare=50.0).planned()("started")
    run("failed", run.step, {"failed": True, "timedout": {"period": 5}, "msg": "x"}, after=10.0)
    assert "it did not end within its 10 s (after 10.0 s)" in run.record["reports"][0]["message"]


def test_a_step_does_not_begin_without_time():
    run = Run(ONE, TWO, prepare=5.0).planned().goes(after=4.0)("started")
    assert run.todo["stop"] == "", "a second is enough"
    run = Run(ONE, TWO, prepare=5.0).planned().goes(after=4.1)("started")
    assert run.todo["stop"] == "the budget of 5 s was used up before it began"
    run("failed", run.step, {"failed": True, "msg": run.todo["stop"]})
    assert "step 2 (two), command: the budget of 5 s was used up before it began" in run.ended()["message"]


def test_seconds_are_counted():
    result = Run(ONE, TWO).planned().goes(after=2.0).goes(after=3.04).ended()
    assert [step["seconds"] for step in result["steps"]] == [2.0, 3.0] and result["seconds"] == 5.0


# What a step goes by


def test_a_step_looks_again_while_there_is_time():
    run = Run(WAIT).planned()("started")
    assert (run.todo["interval"], run.todo["looks"]) == (3, 5)
    assert run("saw", run.step, LEFT, "gone", after=6.9).todo["look_again"]
    assert not run("saw", run.step, LEFT, "gone", after=0.1).todo["look_again"], "the next look would be at the limit"
    assert run.todo["stop"] == "port 443 still has established connections"
    run("failed", run.step, {"failed": True, "msg": run.todo["stop"]})
    assert "quiet), connections: port 443 still has established connections (after 7.0 s)" in run.ended()["message"]


def test_a_step_does_not_look_again_when_it_has_seen_enough():
    run = Run(WAIT).planned()("started")
    run("saw", run.step, {"result": {"left": 0}}, "gone")
    assert not run.todo["look_again"] and run.todo["stop"] == ""


def test_what_is_to_be_said_of_a_step_that_goes_on_is_in_its_report():
    run = Run(dict(WAIT, at_limit="continue")).planned()("started")
    run("saw", run.step, LEFT, "gone")
    assert run.todo["stop"] == ""
    run("saw", run.step, DONE, "")("did", run.step, DONE)
    assert run.ended()["steps"][0]["message"] == "went on although port 443 still had established connections"


@pytest.mark.parametrize("about", ["", "gone"])
def test_a_step_does_not_go_on_from_a_machine_that_is_lost(about):
    run = Run(WAIT).planned()("started")
    run("saw", run.step, LOST, about)
    assert run.todo["stop"] == "unreachable: no route" and not run.todo["look_again"]


def test_a_secret_answer_is_in_no_report():
    """``no_log`` also holds for what is made of the answer that was waited for."""
    request = {"url": "http://app/", "until": {"contains": "geheim"}}
    for content in ("geheim", "other"):
        run = Run({"type": "http", "do": request, "no_log": True}).planned()("started")
        run("saw", run.step, {"status": 200, "content": content}, "until")
        if run.todo["stop"]:
            run("failed", run.step, {"failed": True, "msg": run.todo["stop"]})
        else:
            run("did", run.step, DONE)
        assert run.record["reports"][0]["ok"] == (content == "geheim")
        assert "geheim" not in str(run.record)


def test_options_are_not_in_the_record():
    run = Run({"type": "http", "do": {"url": "http://app/"}, "user": "me", "password": "geheim"}).planned()
    assert "geheim" not in str(run.goes().record)


# The end


@pytest.mark.parametrize("name, word", [("prepare", "preparation"), ("recover", "recovery")])
def test_a_run_that_does_not_end_says_so(name, word):
    result = Run(ONE, name=name).planned().goes().record["result"]
    assert not result["ok"] and result["message"] == f"The {word} did not come to its end." and result["steps"] == []


@pytest.mark.parametrize("name, word", [("prepare", "preparation"), ("recover", "recovery")])
def test_steps_that_can_not_be_run(name, word):
    run = Run(ONE, name=name)("stopped", {"msg": "web1: drain_steps, step 1: wrong."})
    assert not run.todo["revert"] and run.ended()["message"] == "web1: drain_steps, step 1: wrong."
    silent = Run(ONE, name=name)("stopped", {"msg": ""}).ended()
    assert not silent["ok"] and silent["message"] == f"The {word} failed and said nothing."


@pytest.mark.parametrize("may_fail", [True, False])
def test_the_host_fails_only_when_it_may(may_fail):
    run = Run(ONE, may_fail=may_fail).planned().goes(BROKEN)
    assert not run.todo["fail"]
    assert run("ended").todo["fail"] is may_fail
    assert not Run(ONE, may_fail=may_fail).planned().goes()("ended").todo["fail"]


# Check mode


def test_check_mode_has_a_line_for_every_step_and_goes_through_none():
    run = Run({"type": "service", "name": "nginx"}, WAIT, check_mode=True).planned()
    assert run.todo["rounds"] == 0
    assert run.todo["show"] == [
        "1. service nginx: stop the service nginx (at most 60 s; then undone by: start the service nginx)",
        "2. quiet: wait until port 443 has no established connection (at most 10 s; then undone by: nothing)",
    ]
    result = run.ended()
    assert result["ok"] and result["message"] == "Check mode: nothing was run."
    assert result["steps"][0]["message"] == "would stop the service nginx"


def test_check_mode_of_a_recovery():
    run = Run(ONE, name="recover", check_mode=True).planned()
    assert run.todo["show"] == ["1. one: run z (at most 20 s)"]
    assert run.ended()["steps"][0]["message"] == "would run z"


def test_check_mode_without_steps_says_so():
    assert Run(check_mode=True).planned().todo["show"] == ["nothing"]


def test_check_mode_with_wrong_steps_fails():
    assert not Run(check_mode=True)("stopped", {"msg": "wrong"}).ended()["ok"]
    assert Run(check_mode=True)("stopped", {"msg": "wrong"}).ended()["message"] == "wrong."
