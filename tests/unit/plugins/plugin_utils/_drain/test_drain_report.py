# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Modules' results in, sentences out."""

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._drain.report import (
    explain,
    failed_words,
    lost,
    why_failed,
)

STEP = {"number": 2, "name": "command app drain", "type": "command"}


def why(result, step=None):
    return why_failed(step or STEP, result)


def test_a_step_that_failed_names_host_step_reason_and_seconds():
    words = failed_words("web1", STEP, "do", "no such unit", 2.04)
    assert words == "web1, step 2 (command app drain), command: no such unit (after 2.0 s)"


def test_an_inverse_that_failed_says_so():
    words = failed_words("web1", STEP, "undo", "x", 2.0)
    assert words.startswith("web1, step 2 (command app drain), undone: x")
    words = failed_words("web1", dict(STEP, type="verify"), "undo", "x", 2.0)
    assert words.startswith("web1, step 2 (command app drain), verify: x")


@pytest.mark.parametrize(
    "result",
    [
        {"unreachable": True, "msg": "Connection refused"},
        {"results": [{"changed": True}, {"unreachable": True, "msg": "Connection refused"}]},
    ],
)
def test_a_lost_machine_is_a_failure_although_its_task_went_on(result):
    assert lost(STEP, result) == "unreachable: Connection refused"


def test_the_machine_is_named_that_a_step_is_delegated_to():
    step = dict(STEP, delegate_to="lb1")
    assert lost(step, {"unreachable": True, "msg": "Connection refused"}) == "lb1 unreachable: Connection refused"
    assert why_failed(step, {"failed": True, "msg": "no such job"}) == "lb1: no such job"


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
        {"failed": True, "finished": True, "child_pid": 7, "msg": "Timeout exceeded"},
        {"failed": True, "rc": 124, "cmd": ["timeout", "-k", "5", "5", "app"], "stdout": "", "msg": "non-zero"},
    ],
)
def test_a_step_that_hangs_is_explained_by_its_time(result):
    assert why(result) == "it did not end within its time"


@pytest.mark.parametrize("no_log", [False, True])
@pytest.mark.parametrize("before", ["", "failure during async watchdog: "])  # from ansible-core 2.21 on
def test_a_program_of_windows_may_go_on_when_nobody_waits_for_it_any_more(no_log, before):
    result = {"failed": True, "finished": True, "ansible_job_id": "j1"}
    result["msg"] = before + "timed out waiting for module completion"
    words = "it did not end within its time, and may still be running there"
    assert why(result, dict(STEP, no_log=no_log)) == words


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
