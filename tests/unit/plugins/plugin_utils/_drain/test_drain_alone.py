# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Role drain by itself, call by call: what a machine answers in, the next call or the result out."""

from __future__ import annotations

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._drain import alone
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._drain.plan import NOTHING

STEPS = [
    {"key": "command a", "name": "a", "type": "command", "number": 1, "does": "run a", "undoes": "run b"},
    {"key": "service x", "name": "x", "type": "service", "number": 2, "does": "stop x", "undoes": "start x"},
]
for step in STEPS:
    step.update(timeout=60.0, undo_timeout=30.0)
PLAN = {"steps": STEPS, "prepare": STEPS, "recover": STEPS[::-1], "errors": []}


def begun(name="prepare", at=0.0, plan="usual", **more):
    plan = PLAN if plan == "usual" else plan
    options = {
        "host": "web1",
        "list": name,
        "run": "d1",
        "job": "",
        "controller": "ctl",
        "whose": "",
        "unmarked": False,
    }
    options["check_mode"] = False
    return alone.begun(dict(options, **more), plan, at)


def entry(key, state, note="", tries=1, seconds=2.0):
    step = next(step for step in STEPS if step["key"] == key)
    words = {"words": step["does"], "unwords": step["undoes"], "type": step["type"]}
    return {"key": key, "state": state, "note": note, "tries": tries, "seconds": seconds, **words}


def went(state, *entries, why="", ask=()):
    answer = {"state": state, "why": why, "ask": list(ask), "elsewhere": None, "steps": list(entries)}
    return {"lost": "", "answers": [answer], "mark": None, "number": 1}


def shown(mark=None):
    return {"lost": "", "answers": [], "mark": mark, "number": 0}


def request(record):
    return record["call"]["requests"][0]


def test_the_mark_is_looked_at_before_anything_is_asked_for():
    record = begun()
    assert record["call"]["requests"] == [] and not record["call"]["run"] and not record["result"]["ok"]
    record = alone.ticked(record, shown({"holder": {"kind": "drain", "run": "d0"}, "number": 7, "steps": []}), 1.0)
    assert record["call"]["run"] == "d1" and record["call"]["number"] == 8
    assert request(record)["to"] == "prepared" and request(record)["events"] == [] and request(record)["left"] == 149.0


def test_a_preparation():
    record = alone.ticked(begun(), shown(), 1.0)
    record = alone.ticked(record, went("preparing", entry("command a", "begun")), 2.0)
    assert not record["finished"] and request(record)["left"] == 148.0
    record = alone.ticked(
        record, went("prepared", entry("command a", "done"), entry("service x", "done", tries=0)), 5.0
    )
    assert record["finished"] and not record["fail"] and record["result"]["ok"] and record["result"]["message"] == ""
    assert [report["name"] for report in record["result"]["steps"]] == ["a", "x"]
    assert [report["changed"] for report in record["result"]["steps"]] == [True, False]
    assert record["show"] == ["web1: a: done in 2 s", "web1: x: done in 2 s, nothing was changed"]


def test_what_was_done_before_has_not_changed_now():
    mark = {"holder": {"kind": "drain", "run": "d0"}, "number": 3, "steps": [entry("command a", "done")]}
    record = alone.ticked(begun(), shown(mark), 1.0)
    record = alone.ticked(record, went("prepared", entry("command a", "done")), 2.0)
    assert record["result"]["ok"] and not record["result"]["steps"][0]["changed"]


def test_a_step_that_only_waits_has_changed_nothing():
    record = alone.ticked(begun(), shown(), 1.0)
    waited = dict(entry("command a", "done"), type="connections")
    record = alone.ticked(record, went("prepared", waited, entry("service x", "done")), 2.0)
    assert [report["changed"] for report in record["result"]["steps"]] == [False, True]


def test_a_preparation_that_failed_is_undone():
    record = alone.ticked(begun(), shown(), 1.0)
    failed = entry("service x", "failed", "no such unit")
    record = alone.ticked(record, went("failed", entry("command a", "done"), failed, why="x"), 10.0)
    assert not record["finished"] and request(record)["to"] == "recovered" and request(record)["left"] == 90.0
    back = [entry("command a", "taken_back"), entry("service x", "taken_back")]
    record = alone.ticked(record, went("recovered", *back), 12.0)
    result = record["result"]
    assert record["finished"] and record["fail"] and result["reverted"] and result["failed_step"] == "x"
    assert result["message"] == "web1, step 2 (x), service: no such unit (after 2.0 s). What was done is undone."
    assert [report["ok"] for report in result["steps"]] == [True, False]
    assert record["show"] == ["web1: a: done in 2 s", "web1: x: undone in 2 s", "web1: a: undone in 2 s"]


def test_undoing_it_may_fail_as_well():
    record = alone.ticked(begun(), shown(), 1.0)
    record = alone.ticked(record, went("failed", entry("command a", "failed", "no"), why="x"), 10.0)
    record = alone.ticked(record, went("half", entry("command a", "not_taken_back", "never"), why="y"), 12.0)
    result = record["result"]
    assert not result["reverted"] and result["revert_errors"] == ["web1, step 1 (a), undone: never (after 2.0 s)"]
    assert "Undoing it failed as well" in result["message"]


def test_where_nothing_was_begun_nothing_is_undone():
    record = alone.ticked(begun(), shown(), 1.0)
    record = alone.ticked(record, went("failed", why="No mark could be written. Nothing was started."), 2.0)
    assert record["finished"] and not record["result"]["reverted"]
    assert record["result"]["message"] == "web1: No mark could be written. Nothing was started."


def test_somebody_else_s_machine_is_refused():
    record = alone.ticked(begun(), shown(), 1.0)
    record = alone.ticked(record, went("refused", why="The machine is owned by run r on ctl."), 2.0)
    assert record["finished"] and record["result"]["message"] == "web1: The machine is owned by run r on ctl."


def test_a_recovery_reports_the_last_step_first_and_takes_nobody_s_mark_unasked():
    mark = {"holder": {"kind": "run", "run": "r1"}, "number": 3, "steps": []}
    assert request(alone.ticked(begun("recover"), shown(mark), 1.0))["take"] == ""
    record = alone.ticked(begun("recover", whose="any"), shown(mark), 1.0)
    assert (request(record)["take"], request(record)["forced"]) == ("r1", False)
    record = alone.ticked(begun("recover", whose="r1"), shown(mark), 1.0)
    assert (request(record)["take"], request(record)["forced"]) == ("r1", True)
    back = [entry("command a", "taken_back"), entry("service x", "taken_back", "left as it was before", tries=1)]
    record = alone.ticked(record, went("recovered", *back), 4.0)
    assert [report["name"] for report in record["result"]["steps"]] == ["x", "a"] and record["result"]["ok"]
    assert record["show"] == ["web1: x: undone in 2 s: left as it was before", "web1: a: undone in 2 s"]


def test_a_machine_without_a_mark_is_left_as_it_is_unless_somebody_says_otherwise():
    record = alone.ticked(begun("recover"), shown(), 1.0)
    assert request(record)["unmarked"] is False
    record = alone.ticked(record, went("recovered", why="The machine is not marked: nothing was done to it."), 2.0)
    assert record["result"]["ok"] and record["result"]["steps"] == []
    assert record["result"]["message"] == "The machine is not marked: nothing was done to it."
    assert request(alone.ticked(begun("recover", unmarked=True), shown(), 1.0))["unmarked"] is True


def test_a_machine_that_does_not_answer_is_asked_again_until_the_budget_is_used_up():
    record = alone.ticked(begun(), shown(), 1.0)
    record = alone.ticked(record, {"lost": "refused"}, 140.0)
    assert not record["finished"] and 0 < record["rest"] <= alone.SLOW
    record = alone.ticked(record, {"lost": "refused"}, 301.0)
    assert record["finished"] and record["result"]["message"] == "web1 could not be asked: refused."


def test_what_others_did_is_said_again_when_the_call_that_said_it_was_lost():
    """Or the user's tasks would run once more: the machine still has the step under way."""
    done = {"tasks a": {"state": "done", "note": "", "direction": "do"}}
    record = alone.ticked(begun(), shown(), 1.0)
    record = alone.ticked(record, {**went("preparing"), "outcomes": done, "jobs": {"first": "j1"}}, 2.0)
    record = alone.ticked(record, {"lost": "refused"}, 3.0)
    assert request(record)["outcomes"] == done
    record = alone.ticked(record, {**went("preparing"), "jobs": {"second": None}}, 4.0)
    assert request(record)["outcomes"] == {} and record["jobs"] == {"first": "j1", "second": None}


def test_a_call_that_came_too_late_is_made_again_with_what_others_did():
    heard = {"uptime": 77.0, "boot_id": "boot-1", "at": 5.0}
    done = {"tasks a": {"state": "done", "note": "", "direction": "do"}}
    record = alone.ticked(begun(), {**shown(), "heard": heard}, 1.0)
    assert record["call"]["heard"] == heard and record["call"]["decided"] == 1.0
    record = alone.ticked(record, {**went("preparing"), "outcomes": done, "heard": heard}, 2.0)
    record = alone.ticked(record, {**went("skipped", why="It comes too late."), "heard": None}, 3.0)
    assert request(record)["outcomes"] == done and record["call"]["heard"] is None and not record["finished"]
    record = alone.ticked(record, went("skipped", why="It comes too late."), 302.0)
    assert record["finished"] and record["result"]["message"] == "web1: It comes too late."


def test_until_the_machine_has_shown_its_mark_it_is_asked_for_nothing_else():
    record = alone.ticked(begun(), {"lost": "refused"}, 1.0)
    assert record["call"]["requests"] == [] and record["rest"] > 0 and not record["finished"]


def test_what_others_did_goes_to_the_machine_with_the_next_call():
    record = alone.ticked(begun(), shown(), 1.0)
    asked = went("preparing", ask=["haproxy h"])
    record = alone.ticked(record, {**asked, "before": {"haproxy h": {"servers": {}}}}, 2.0)
    assert request(record)["before"] == {"haproxy h": {"servers": {}}} and record["rest"] == 0.0
    done = {"haproxy h": {"state": "done", "note": ""}}
    record = alone.ticked(record, {**went("preparing"), "outcomes": done}, 3.0)
    assert request(record)["outcomes"] == done
    assert request(alone.ticked(record, went("preparing"), 4.0))["outcomes"] == {}


def test_check_mode_shows_the_plan_and_calls_nobody():
    record = begun(check_mode=True)
    assert record["finished"] and record["call"] is None and not record["fail"] and record["result"]["ok"]
    assert record["show"][0] == "web1: 1. a: run a (at most 60 s; then undone by: run b)"
    assert begun("recover", check_mode=True)["show"][0] == "web1: 2. x: start x (at most 30 s)"


def test_steps_that_can_not_be_run():
    record = begun(plan=NOTHING, trouble="web1: drain_steps is a text, not a list of steps")
    assert (
        record["finished"] and record["fail"] and record["result"]["message"].startswith("web1: drain_steps is a text")
    )


def test_the_longer_it_lasts_the_less_often_it_is_looked_at():
    record = alone.ticked(begun(), shown(), 0.1)
    assert record["rest"] == 0.0
    assert alone.ticked(record, went("preparing"), 100.0)["rest"] == 5.0
    assert alone.ticked(record, went("preparing"), 290.0)["rest"] == alone.SLOW
