# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Part drain of action tick: a call and its decision as one task, which returns the host's record in any case."""

import json
import time

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.action import tick
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.program import lost
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._ticking import alone
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.action.machine import action_of_task
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._drain import test_tick_file

SHOWN = {"lost": "", "answers": [], "mark": None, "number": 0, "uptime": 5.0, "boot_id": "b"}
WENT = {"state": "prepared", "why": "", "ask": [], "elsewhere": None, "steps": []}


@pytest.fixture(autouse=True)
def rests(monkeypatch):
    found = []
    monkeypatch.setattr(time, "sleep", found.append)
    return found


@pytest.fixture
def record():
    """The record of a host whose machine is called for the first time."""
    found = test_tick_file.begun(web1=test_tick_file.plan([test_tick_file.COMMAND]))
    return {name: found[name] for name in found if name != "changed"}


def played(monkeypatch, record, came, interpreter=None):
    """What the task returns, and the calls that it made."""
    calls = []

    def answered(action, _task_vars, call):
        calls.append(call)
        action._facts.update({"discovered_interpreter_python": interpreter} if interpreter else {})
        return dict(came)

    monkeypatch.setattr(tick.ActionModule, "_tried", answered)
    arguments = {"part": "drain", "call": record["call"], "holder": record["holder"]}
    action = action_of_task(tick, arguments)
    # What others did in an earlier run of the same play, under a number that this run has as well
    earlier = {"__drain_answer": {"lost": "earlier"}, "__drain_did": {"results": [{"__drain_target": {"number": 0}}]}}
    result = action.run(task_vars={"inventory_hostname": "web1", alone.RECORD: record, **earlier})
    return json.loads(json.dumps(result)), calls


def test_what_comes_is_decided_about_at_once(monkeypatch, record, rests):
    first, calls = played(monkeypatch, record, SHOWN)
    assert calls[0]["requests"] == [] and not first["finished"] and first["changed"] is False
    assert (
        first["call"]["number"] == 1 and first["call"]["requests"][0]["to"] == "prepared" and rests == [first["rest"]]
    )
    last, calls = played(monkeypatch, first, {**SHOWN, "number": 1, "answers": [WENT]})
    assert [request["do"] for request in calls[0]["requests"]] == ["go"]
    assert last["finished"] and last["result"]["ok"] and len(rests) == 1


def test_a_call_that_was_lost_is_made_again(monkeypatch, record):
    result, _calls = played(monkeypatch, record, lost("It could not be reached"))
    assert not result["finished"] and result["call"]["number"] == 0
    record.update(turned=record["turned"] - 301.0)
    result, _calls = played(monkeypatch, record, lost("It could not be reached"))
    assert result["finished"] and "could not be asked: It could not be reached" in result["result"]["message"]


def test_an_answer_to_another_call_is_none(monkeypatch, record):
    result, _calls = played(monkeypatch, record, {**SHOWN, "number": 7, "answers": [WENT]})
    assert not result["finished"] and result["call"]["number"] == 0


def test_who_is_finished_is_not_called(monkeypatch, record):
    over = dict(record, finished=True, call=None)
    result, calls = played(monkeypatch, over, SHOWN)
    assert calls == [] and result == json.loads(json.dumps(dict(over, changed=False, skipped=True)))


def test_the_interpreter_that_was_found_is_kept_and_is_no_part_of_the_record(monkeypatch, record):
    result, _calls = played(monkeypatch, record, SHOWN, "/usr/bin/python3")
    assert result["ansible_facts"] == {"discovered_interpreter_python": "/usr/bin/python3"}
    result, _calls = played(monkeypatch, result, SHOWN)
    assert set(result) == alone._KEYS | {"changed"}


def test_the_record_outlives_a_decision_that_fails(monkeypatch, record):
    def fails(*_arguments):
        raise KeyError("x")

    monkeypatch.setattr(alone.alone, "ticked", fails)
    result, _calls = played(monkeypatch, record, SHOWN)
    assert result["failed"] and "KeyError: 'x'" in result["msg"] and result["holder"] == record["holder"]
