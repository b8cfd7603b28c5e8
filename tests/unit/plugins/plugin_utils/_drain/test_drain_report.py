# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Modules' results in, sentences out."""

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._drain.report import (
    Attempt,
    explain,
    failed_step,
    lost,
    succeeded_step,
    why_failed,
)

STEP = {"number": 2, "name": "command app drain", "type": "command"}


def attempt(**more):
    given = {"host": "web1", "direction": "do", "seconds": 2.04, "limit": 60.0, "budget": 300.0, "of_budget": False}
    return Attempt(**dict(given, **more))


def why(result, step=None, **more):
    return why_failed(step or STEP, result, attempt(**more))


def test_a_step_that_went_well():
    assert succeeded_step(STEP, {"changed": True, "rc": 0}, attempt(note="all quiet")) == {
        "name": "command app drain",
        "type": "command",
        "ok": True,
        "changed": True,
        "seconds": 2.0,
        "message": "all quiet",
    }


def test_a_step_of_several_rounds_has_changed_when_one_has():
    assert succeeded_step(STEP, {"results": [{"changed": False}, {"changed": True}]}, attempt())["changed"]
    assert not succeeded_step(STEP, {"results": [{"changed": False}]}, attempt())["changed"]
    assert not succeeded_step(STEP, {}, attempt())["changed"]


def test_a_step_that_failed_names_host_step_reason_and_seconds():
    report = failed_step(STEP, "no such unit", attempt())
    assert report["message"] == "web1, step 2 (command app drain), command: no such unit (after 2.0 s)"
    assert not report["ok"] and not report["changed"]


def test_an_inverse_that_failed_says_so():
    undo = attempt(direction="undo")
    assert failed_step(STEP, "x", undo)["message"].startswith("web1, step 2 (command app drain), undone: x")
    verify = dict(STEP, type="verify")
    assert failed_step(verify, "x", undo)["message"].startswith("web1, step 2 (command app drain), verify: x")


@pytest.mark.parametrize(
    "result",
    [
        {"unreachable": True, "msg": "Connection refused"},
        {"results": [{"changed": True}, {"unreachable": True, "msg": "Connection refused"}]},
    ],
)
def test_a_lost_machine_is_a_failure_although_its_task_went_on(result):
    report = succeeded_step(STEP, result, attempt())
    assert not report["ok"] and "command: unreachable: Connection refused (after" in report["message"]


def test_a_lost_machine_that_says_nothing():
    assert why({"unreachable": True, "msg": ""}) == "unreachable: the connection was lost"


@pytest.mark.parametrize(
    "result",
    [
        {
            "failed": True,
            "msg": "The ansible.builtin.command action failed to execute in the expected time frame (5) and was terminated",
        },
        {"failed": True, "timedout": {"period": 5}, "msg": "Timed out after 5 second(s)."},
        {"failed": True, "rc": 124, "cmd": ["timeout", "-k", "5", "5", "app"], "stdout": "", "msg": "non-zero"},
    ],
)
def test_a_step_that_hangs_is_explained_by_its_own_limit_or_by_the_budget(result):
    assert why(result) == "it did not end within its 60 s"
    assert why(result, of_budget=True) == "the budget of 300 s is used up"


def test_124_of_a_command_that_nobody_timed_is_just_an_exit_code():
    assert why({"rc": 124, "cmd": ["app"], "failed": True}) == "exit code 124"
    assert why({"rc": 124, "cmd": "timeout 5 x", "failed": True}, dict(STEP, type="tasks")) == "exit code 124"


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


def test_of_several_rounds_the_failed_one_counts():
    rounds = [{"msg": "first"}, {"failed": True, "msg": "second"}]
    assert why({"msg": "One or more items failed", "results": rounds}) == "second"


@pytest.mark.parametrize(
    "result, words",
    [
        ({"rc": 3, "cmd": "x", "stderr": "geheim"}, "it failed with 3; its words are kept back (no_log)"),
        ({"msg": "geheim"}, "it failed; its words are kept back (no_log)"),
    ],
)
def test_a_secret_step_keeps_its_words_back(result, words):
    assert why(result, dict(STEP, no_log=True)) == words


def test_of_several_load_balancers_the_one_is_named():
    step = dict(STEP, type="haproxy", socket="/run/h.sock")
    rounds = [{"changed": True}, {"failed": True, "msg": "No such file", "__drain_target": {"load_balancer": "lb2"}}]
    assert why({"results": rounds}, step) == "lb2, socket /run/h.sock: No such file"
    rounds[1] = dict(rounds[1], failed=False, unreachable=True, msg="refused")
    assert lost(step, {"results": rounds}) == "lb2 unreachable: refused"
    assert "haproxy: lb2 unreachable: refused (after" in succeeded_step(step, {"results": rounds}, attempt())["message"]
