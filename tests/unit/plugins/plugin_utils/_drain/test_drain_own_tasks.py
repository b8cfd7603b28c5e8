# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The user's own task files: which one a tick goes through, and what came of it."""

from __future__ import annotations

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._steps.step_type import Host
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._drain import own_tasks
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._drain.plan import make_plan

HOST = Host("web1", "linux", {"all": ["web1"]}, lambda name: "linux", lambda path: path)
STEPS = make_plan([{"type": "tasks", "do": "/out.yml", "undo": "/back.yml"}], HOST)["steps"]
KEY = STEPS[0]["key"]
RESULT = {"failed": True, "msg": "no such table"}


def answer(direction="do", begun=True, by="another", key=KEY, number=7, no_new_steps=False):
    """What the machine answered whose mark says by which run the step was begun."""
    asked = {
        "key": key,
        "direction": direction,
        "begun": begun,
        "no_new_steps": no_new_steps,
        "left": 60.0,
        "begins": 60.0,
    }
    entry = {"key": key, "before": None, "by": by, "tries": 1, "limit": 60.0}
    mark = {"since": "12:00", "holder": {"run": "here"}, "steps": [entry]}
    return {"number": number, "elsewhere": asked, "mark": mark}


def after(given, jobs=None, allowed=True, failure=None):
    """The file that is gone through, what came of the step, and what this run has gone about then."""
    jobs = jobs or {}
    file = own_tasks.file(given, STEPS, jobs, allowed)
    came = own_tasks.came(given, STEPS, jobs, allowed, failure)
    return file, came["outcomes"][KEY], {**jobs, **came["jobs"]}


@pytest.mark.parametrize("direction, path", [("do", "/out.yml"), ("undo", "/back.yml")])
def test_a_file_without_a_failure_has_come_to_its_end(direction, path):
    file, outcome, _jobs = after(answer(direction))
    assert file == path and outcome == {"state": "done", "note": "", "direction": direction}


def test_a_failure_is_of_the_step():
    failure = {"result": RESULT, "secret": False}
    assert after(answer(), failure=failure)[1] == {"state": "failed", "note": "no such table", "direction": "do"}


def test_what_a_secret_task_said_is_kept_back():
    note = after(answer(), failure={"result": dict(RESULT, rc=3), "secret": True})[1]["note"]
    assert "no such table" not in note and "3" in note


def test_one_that_has_to_wait_is_not_gone_through_and_begins_later():
    file, outcome, jobs = after(answer(), allowed=False)
    assert file == "" and outcome["state"] == "pending" and "too short" in outcome["note"]
    file, outcome, _jobs = after(answer(begun=False), jobs)
    assert file == "/out.yml" and outcome["state"] == "done"


@pytest.mark.parametrize("jobs", [{}, {f"12:00 {KEY} do 1": own_tasks.WAITS}])
def test_what_has_not_begun_does_not_where_nothing_new_may_be_begun(jobs):
    marked = answer(begun=False, by="here", no_new_steps=True)
    assert own_tasks.file(marked, STEPS, jobs, True) == ""
    assert own_tasks.came(marked, STEPS, jobs, True, None) == {}
    assert own_tasks.file(answer(begun=False, by="here"), STEPS, jobs, True) == "/out.yml"


def test_what_another_run_began_is_not_begun_once_more():
    file, outcome, jobs = after(answer(begun=False))
    assert file == "" and outcome["state"] == "failed" and "nobody knows how it ended" in outcome["note"]
    assert after(answer(begun=False), jobs)[:2] == (file, outcome), "however often it is asked for"


def test_what_this_run_has_not_heard_of_is_begun():
    """A step is marked as begun before anybody hears of it: that answer was lost."""
    assert after(answer(begun=False, by="here"))[0] == "/out.yml"


def test_what_another_run_began_to_take_back_is_taken_back():
    assert after(answer("undo", begun=False))[0] == "/back.yml"


def test_an_earlier_outage_says_nothing():
    assert after(answer(begun=False), {f"11:00 {KEY} do 1": own_tasks.RAN})[0] == ""


@pytest.mark.parametrize("given", [{"number": 7, "elsewhere": None}, answer(key="command suspend")])
def test_without_such_a_step_there_is_nothing(given):
    assert own_tasks.file(given, STEPS, {}, True) == "" and own_tasks.came(given, STEPS, {}, True, None) == {}
