# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Modules' results in, sentences out."""

import json

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._drain.record import (
    explain,
    look,
    make_report,
    make_result,
)

STEP = {
    "number": 2,
    "name": "command app drain",
    "type": "command",
    "does": "run app drain",
    "undoes": "run app resume",
}


def run(**more):
    return dict(
        {
            "host": "web1",
            "direction": "do",
            "ok": False,
            "seconds": 2.04,
            "limit": 60,
            "budget": 300,
            "budget_bound": False,
        },
        **more,
    )


def message(result, **more):
    return make_report(result, STEP, run(**more))["message"]


# One step


def test_a_step_that_went_well():
    assert make_report({"changed": True, "rc": 0}, STEP, run(ok=True, note="all quiet")) == {
        "name": "command app drain",
        "type": "command",
        "ok": True,
        "changed": True,
        "seconds": 2.0,
        "message": "all quiet",
    }


def test_a_step_of_several_rounds_has_changed_when_one_has():
    assert make_report({"results": [{"changed": False}, {"changed": True}]}, STEP, run(ok=True))["changed"]
    assert not make_report({"results": [{"changed": False}]}, STEP, run(ok=True))["changed"]
    assert not make_report({}, STEP, run(ok=True))["changed"]


def test_a_step_that_failed_names_host_step_reason_and_seconds():
    report = make_report({"failed": True, "changed": True, "msg": "no such unit"}, STEP, run())
    assert report["message"] == "web1, step 2 (command app drain), command: no such unit (after 2.0 s)"
    assert not report["ok"] and not report["changed"]


def test_an_inverse_that_failed_says_so():
    assert message({"msg": "x"}, direction="undo").startswith("web1, step 2 (command app drain), undone: x")
    verify = dict(STEP, type="verify")
    assert make_report({"msg": "x"}, verify, run(direction="undo"))["message"].startswith(
        "web1, step 2 (command app drain), verify: x"
    )


@pytest.mark.parametrize(
    "result",
    [
        {"unreachable": True, "msg": "Connection refused"},
        {"results": [{"changed": True}, {"unreachable": True, "msg": "Connection refused"}]},
    ],
)
def test_a_lost_machine_is_a_failure_although_its_task_went_on(result):
    report = make_report(result, STEP, run(ok=True))
    assert not report["ok"] and "unreachable: Connection refused" in report["message"]


def test_a_lost_machine_that_says_nothing():
    assert "unreachable: the connection was lost" in message({"unreachable": True, "msg": ""})


TIMED_OUT = [
    {
        "failed": True,
        "msg": "The ansible.builtin.command action failed to execute in the expected time frame (5) and was terminated",
    },
    {"failed": True, "timedout": {"period": 5}, "msg": "Timed out after 5 second(s)."},
    {"failed": True, "rc": 124, "cmd": ["timeout", "-k", "5", "5", "app"], "stdout": "", "msg": "non-zero return code"},
]


@pytest.mark.parametrize("result", TIMED_OUT)
def test_a_step_that_hangs_is_told_by_its_own_limit_or_by_the_budget(result):
    assert "it did not end within its 60 s (after" in message(result)
    assert "the budget of 300 s is used up (after" in message(result, budget_bound=True)


def test_124_of_a_command_that_nobody_timed_is_just_an_exit_code():
    assert "exit code 124" in message({"rc": 124, "cmd": ["app"], "failed": True})


@pytest.mark.parametrize(
    "result, words",
    [
        ({"rc": 3, "cmd": ["a"], "stdout": "one\ntwo\n", "stderr": "warned\nbroken\n\n"}, "exit code 3: broken"),
        ({"rc": 3, "cmd": ["a"], "stdout": "one\ntwo\n", "stderr": " \n"}, "exit code 3: two"),
        ({"rc": 3, "cmd": ["a"], "stdout": "", "stderr": ""}, "exit code 3"),
        ({"rc": 2, "cmd": "a", "msg": "[Errno 2] No such file"}, "exit code 2: [Errno 2] No such file"),
        ({"msg": "many\n  lines   here"}, "many lines here"),
        (
            {"msg": "MODULE FAILURE\nSee stdout", "rc": 1, "module_stderr": "Traceback\nOSError: gone\n"},
            "OSError: gone",
        ),
        ({"msg": "", "exception": "Traceback\nKeyError: 1"}, "KeyError: 1"),
        (
            {"error": [{"output": "Suspend failed\n", "error_details": {"message": "Access denied"}}], "msg": ""},
            "Access denied",
        ),
        ({"error": [{"output": "Suspend failed", "error_details": None}]}, "Suspend failed"),
        ({"error": [{"output": ""}]}, "PowerShell failed"),
        ({"error": [], "msg": "Unhandled exception"}, "Unhandled exception"),
        ({"error": "not found", "msg": "The API said no"}, "The API said no"),
        ({"error": 404, "msg": "The API said no"}, "The API said no"),
        ({"error": {"code": 1}, "msg": "The API said no"}, "The API said no"),
        ({}, "it failed and said nothing"),
    ],
)
def test_a_result_in_one_line(result, words):
    assert explain(result) == words


def test_long_words_are_cut():
    assert len(explain({"msg": "x" * 5000})) == 500


def test_of_several_rounds_the_failed_one_is_told():
    assert "second" in message(
        {"msg": "One or more items failed", "results": [{"msg": "first"}, {"failed": True, "msg": "second"}]}
    )


@pytest.mark.parametrize(
    "result, words", [({"rc": 3, "cmd": "x"}, "it failed with 3;"), ({"msg": "geheim"}, "it failed;")]
)
def test_a_secret_step_keeps_its_words_back(result, words):
    message_of = make_report(dict(result, stderr="geheim"), dict(STEP, no_log=True), run())["message"]
    assert words in message_of and "geheim" not in message_of


def test_of_several_load_balancers_the_one_is_named():
    step = dict(STEP, type="haproxy", socket="/run/h.sock")
    rounds = [{"changed": True}, {"failed": True, "msg": "No such file", "__drain_target": {"load_balancer": "lb2"}}]
    assert "haproxy: lb2, socket /run/h.sock: No such file" in make_report({"results": rounds}, step, run())["message"]
    rounds[1] = dict(rounds[1], failed=False, unreachable=True, msg="refused")
    assert (
        "lb2, socket /run/h.sock: unreachable: refused"
        in make_report({"results": rounds}, step, run(ok=True))["message"]
    )


# An answer that is waited for

UNTIL = {"status": [200]}


def answer(body, status=200, **until):
    content = body if isinstance(body, str) else json.dumps(body)
    return look({"status": status, "content": content}, dict(UNTIL, **until))


@pytest.mark.parametrize("result", [{"status": 200}, {"status_code": 200, "status": "x"}])
def test_the_status_alone(result):
    assert look(result, UNTIL) == {"done": True, "seen": "status 200", "wanted": "status 200"}


def test_another_status():
    assert answer("", status=503) == {"done": False, "seen": "status 503", "wanted": "status 200"}
    assert answer("", status=503, status_wanted=0) and look({"status": 503}, {"status": [200, 503]})["done"]


@pytest.mark.parametrize(
    "result", [{"status": -1, "msg": "Connection refused"}, {"msg": "Connection refused", "failed": True}]
)
def test_no_answer(result):
    found = look(result, dict(UNTIL, json={"path": "a", "equals": 1}))
    assert not found["done"] and found["seen"] == "no answer: Connection refused"


def test_a_body_that_contains():
    assert answer("all idle now", contains="idle")["done"]
    found = answer("busy", contains="idle")
    assert (found["done"], found["seen"]) == (False, "status 200, a body without it")
    assert found["wanted"] == "status 200, a body that contains 'idle'"
    assert not look({"status": 200, "content": None}, dict(UNTIL, contains="idle"))["done"]


@pytest.mark.parametrize(
    "body, path, equals, done",
    [
        ({"a": {"b": 0}}, "a.b", 0, True),
        ({"a": {"b": 0}}, "a.b", "0", True),
        ({"a": {"b": 3}}, "a.b", 0, False),
        ({"a": [{"b": "x"}]}, "a.0.b", "x", True),
        ({"a": [1]}, "a.1", 1, False),
        ({"a": [1]}, "a.x", 1, False),
        ({"a": True}, "a", True, True),
        ({"a": True}, "a", "True", True),
        ({"a": True}, "a", 1, False),
        ({"a": False}, "a", "", False),
        ({"a": None}, "a", None, True),
        ({"a": None}, "b", None, False),
        ({"a": []}, "a", [], True),
        ({"a": {}}, "a", "{}", False),
        ("no json", "a", 1, False),
        ("", "a", None, False),
    ],
)
def test_a_value_in_the_body(body, path, equals, done):
    assert answer(body, json={"path": path, "equals": equals})["done"] is done


def test_a_value_is_told_as_seen_and_wanted():
    found = answer({"jobs": 3}, json={"path": "jobs", "equals": 0})
    assert (found["seen"], found["wanted"]) == ("status 200, jobs = 3", "status 200, jobs = 0")
    assert answer("<html>", json={"path": "jobs", "equals": 0})["seen"] == "status 200, a body that is no JSON"
    assert answer({}, json={"path": "jobs", "equals": 0})["seen"] == "status 200, no jobs in the body"


def test_status_and_body_both_count():
    assert not answer("idle", status=500, contains="idle")["done"]
    assert not answer({"a": 1}, status=500, json={"path": "a", "equals": 1})["done"]
    assert not answer({"a": 1}, contains="idle", json={"path": "a", "equals": 1})["done"]


# A whole run

GOOD = {"name": "one", "type": "service", "ok": True, "changed": True, "seconds": 1.0, "message": ""}
BAD = {
    "name": "two",
    "type": "command",
    "ok": False,
    "changed": False,
    "seconds": 1.0,
    "message": "web1, step 2: broken.",
}


def result(steps, **more):
    return make_result(
        dict(
            {"steps": steps, "reverts": None, "seconds": 3.21, "trouble": "", "planned": None, "direction": "do"},
            **more,
        )
    )


def test_a_run_that_went_well():
    assert result([GOOD]) == {
        "ok": True,
        "seconds": 3.2,
        "steps": [GOOD],
        "failed_step": "",
        "message": "",
        "reverted": False,
        "revert_errors": [],
    }


def test_a_run_that_was_undone():
    found = result([GOOD, BAD], reverts=[GOOD])
    assert not found["ok"] and found["failed_step"] == "two" and found["steps"] == [GOOD, BAD]
    assert found["reverted"] and found["revert_errors"] == []
    assert found["message"] == "web1, step 2: broken. What was done is undone."


def test_a_run_that_could_not_be_undone():
    found = result([GOOD, BAD], reverts=[GOOD, dict(BAD, message="web1, step 1: stuck")])
    assert not found["reverted"] and found["revert_errors"] == ["web1, step 1: stuck"]
    assert found["message"] == "web1, step 2: broken. Undoing it failed as well: web1, step 1: stuck."


def test_a_recovery_tells_every_failure():
    found = result([BAD, GOOD, dict(BAD, name="three", message="web1, step 1: gone")], direction="undo")
    assert found["failed_step"] == "two" and found["message"] == "web1, step 2: broken. web1, step 1: gone."


def test_steps_that_could_not_be_run():
    found = result([], trouble="web1: drain_steps, step 1: wrong.")
    assert not found["ok"] and found["message"] == "web1: drain_steps, step 1: wrong." and not found["reverted"]
    assert result([], trouble="wrong", planned=[])["message"] == "wrong."


@pytest.mark.parametrize("direction, words", [("do", "would run app drain"), ("undo", "would run app resume")])
def test_check_mode_says_what_would_be_done(direction, words):
    found = result([], planned=[STEP], direction=direction)
    assert found["ok"] and found["message"] == "Check mode: nothing was run."
    assert found["steps"] == [
        {"name": STEP["name"], "type": "command", "ok": True, "changed": False, "seconds": 0.0, "message": words}
    ]
