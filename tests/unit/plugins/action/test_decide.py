# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action decide: a run is begun and moved on once a task, whatever it is given; and what a tick's decision prints."""

from __future__ import annotations

import json
import time

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.action import decide
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._ticking import run
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.action.machine import action_of_task
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils import ticking
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils.deciding import (
    begun,
    facts,
    of_hosts,
    ticked,
)


@pytest.fixture(autouse=True)
def no_rest(monkeypatch):
    rests = []
    monkeypatch.setattr(time, "sleep", rests.append)
    return rests


def test_a_run_from_its_beginning_to_its_first_work(no_rest):
    record = begun("web1", "web2")
    assert record["same"]["rounds"] == 1 and record["run"]["check"] is False and record["run"]["run"].startswith("run-")
    record = ticked(record, ticking.answers(record, ticking.reboot("vm1")))
    assert record["events"]["A"]["affected"] == ["web1"] and no_rest == [record["todo"]["seconds"]]
    assert [one["do"] for one in record["todo"]["calls"]["web1"]["requests"]] == ["go", "look"]


def test_each_run_has_a_name_of_its_own():
    assert begun("web1")["run"]["run"] != begun("web1")["run"]["run"]


def test_an_answer_to_an_earlier_call_is_none():
    record = begun("web1", "web2")
    answers = ticking.answers(record)
    answers["web2"]["number"] -= 1
    record = ticked(record, answers)
    assert record["hosts"]["web1"]["lost"] == "" and "nothing that could be read" in record["hosts"]["web2"]["lost"]


def test_a_number_may_be_a_text():
    record = begun("web1")
    answers = ticking.answers(record)
    answers["web1"]["number"] = str(answers["web1"]["number"])
    assert ticked(record, answers)["hosts"]["web1"]["lost"] == ""


def test_who_has_left_the_play_is_lost_whatever_its_last_answer_was():
    """A machine that leaves the play can't end the run for others, nor is its old answer taken for a new one."""
    record = begun("web1", "web2")
    record = ticked(record, ticking.answers(record), present=["web1"])
    assert "has left the play" in record["hosts"]["web2"]["lost"] and not record["finished"]


@pytest.mark.parametrize("apart, allowed, state", [(0, True, "failed"), (1, True, "done"), (0, False, "pending")])
def test_what_came_of_own_tasks_comes_with_the_answer_to_the_same_call(apart, allowed, state):
    record = begun("web1")
    record["todo"]["tasks_allowed"] = ["web1"] if allowed else []
    step = {"key": "tasks own.yml", "type": "tasks", "do": "/own.yml"}
    mark = {
        "since": "12:00",
        "holder": {"run": "r1"},
        "steps": [{"key": step["key"], "before": None, "tries": 1, "limit": 60.0}],
    }
    asked = {"key": step["key"], "direction": "do", "begun": True, "left": 60.0, "begins": 60.0}
    answer = {**ticking.answers(record)["web1"], "elsewhere": asked, "mark": mark}
    attempt = f"12:00 {step['key']} do 1"
    failed = {"state": "failed", "note": "no", "direction": "do"}
    failure = {"number": answer["number"] - apart, "attempt": attempt, "outcome": failed}
    found = {"__drain_answer": answer, "__drain_failure": failure, "__drain_plan": {"steps": [step]}}
    brought = run.answers(record, {"web1": found})["web1"]
    assert brought["outcomes"][step["key"]]["state"] == state
    assert brought["jobs"] == {attempt: "ran" if allowed else "waits"}


@pytest.mark.parametrize("apart, before", [(0, {"haproxy h": {"servers": {"lb1/www": "UP"}}}), (1, {})])
def test_what_load_balancers_did_in_one_task_comes_with_the_answer_to_the_same_call(apart, before):
    record = begun("web1")
    answer = ticking.answers(record)["web1"]
    step = {"key": "haproxy h", "type": "haproxy"}
    target = {
        "load_balancer": "lb1",
        "place": "lb1",
        "key": "haproxy h",
        "part": "before",
        "number": answer["number"] - apart,
    }
    came = {"servers": [{"backend": "www", "status": "UP"}], "__drain_target": target}
    after = ticked(record, {"web1": answer}, __drain_did={"results": [came]}, __drain_plan={"steps": [step]})
    assert after["hosts"]["web1"]["before"] == before


def test_the_first_mark_is_named_while_something_can_be_said(capsys):
    record = begun("web1", "web2")
    record = ticked(record, ticking.answers(record, ticking.reboot("vm1")))
    assert "taken out of service" not in capsys.readouterr().out
    record = ticked(record, ticking.answers(record, ticking.reboot("vm1"), mark_on="web1"))
    said = capsys.readouterr().out
    assert f"web1: taken out of service from here on, with the mark of {record['run']['run']}" in " ".join(said.split())
    assert "begin the same command again" in " ".join(said.split()) and "rehearse" not in said
    ticked(record, ticking.answers(record, ticking.reboot("vm1"), mark_on="web1"))
    assert capsys.readouterr().out == ""


def test_a_rehearsal_is_not_begun_again_but_cleaned_up(capsys):
    record = begun("web1", "web2")
    answers = ticking.answers(record, ticking.reboot("vm1"), mark_on="web1")
    answers["web1"]["mark"]["endpoint"] = "http://10.0.0.11:8780/vm/web1"
    ticked(record, answers)
    assert "rehearse with -e rehearse_state=absent recovers its machines" in " ".join(capsys.readouterr().out.split())


def test_what_happens_is_said_when_it_happens(capsys):
    record = begun("web1", "web2")
    record = ticked(record, ticking.answers(record, ticking.reboot("vm1")))
    said = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in said if line[:2] == "20"] == ["shown", "planned"]
    ticked(record, ticking.answers(record, ticking.reboot("vm1")))
    assert capsys.readouterr().out == ""


def played(task_vars, **arguments):
    """What a task returns."""
    action = action_of_task(decide, arguments)
    return json.loads(json.dumps(action.run(task_vars=task_vars)))


def test_a_task_returns_the_record_for_all_hosts():
    variables = of_hosts({"web1": {run.FOUND: facts("web1")}})
    record = played(variables, role="maintain", begin={"members": ["web1"], "check": "False", "job": "12"})
    assert record["run"]["job"] == "12" and record["changed"] is False
    answered = of_hosts({"web1": {"__drain_answer": ticking.answers(record)["web1"]}}, ansible_play_batch=["web1"])
    after = played({**answered, run.RECORD: record}, role="maintain")
    assert after["ticks"] == 1 and not after["hosts"]["web1"]["lost"]


def test_where_nothing_is_to_be_decided_the_record_stays_as_it_is():
    record = begun("web1")
    left = dict(record, skipped=True, failed=False, warnings=[])  # as an earlier task's result
    found = played({run.RECORD: left}, role="maintain", due="False")
    assert found == json.loads(json.dumps({**record, "changed": False, "skipped": True}))


def test_a_run_whose_options_contradict_each_other_does_not_begin():
    variables = of_hosts({host: {run.FOUND: {**facts(host), "resource_name": "vm1"}} for host in ("web1", "web2")})
    found = played(variables, role="maintain", begin={"members": ["web1", "web2"], "check": False, "job": ""})
    assert found["failed"] and "vm1" in found["msg"] and "run" not in found


def test_the_record_outlives_a_decision_that_fails(monkeypatch):
    """Whoever recovers the machines after the failure goes by it."""
    record = begun("web1")

    def fails(*_arguments):
        raise KeyError("x")

    monkeypatch.setattr(run.run_record, "ticked", fails)
    found = ticked(record, ticking.answers(record))
    assert found["failed"] and "KeyError: 'x'" in found["msg"] and found["run"] == record["run"]
