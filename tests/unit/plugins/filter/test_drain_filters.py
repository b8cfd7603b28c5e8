# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role's filters: what they hand to the plain Python behind them, and what they make of files and systems."""

from __future__ import annotations

import time

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.cloudops.azure_maintenance.plugins.filter import drain_steps, drain_tick
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._ticking import alone
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils.deciding import of_hosts

GROUPS = {"all": ["web1", "lb1"]}
OPTIONS = {
    "host": "web1",
    "list": "prepare",
    "budgets": {"prepare": "300.0", "recover": "600", "revert": 120},
    "check_mode": "False",
    "may_fail": "yes",
    "job": "",
    "whose": "",
    "unmarked": "False",
}
COMMAND = {"type": "command", "name": "one", "do": "a b"}


def plan(steps, **more):
    return drain_steps.drain_steps(steps, **dict({"host": "web1", "system": "linux", "groups": GROUPS}, **more))


@pytest.mark.parametrize("module", [drain_steps, drain_tick])
def test_each_file_has_the_filter_of_its_name(module):
    name = module.__name__.rsplit(".", 1)[1]
    assert module.FilterModule().filters() == {name: getattr(module, name)}


def test_the_steps_time_is_the_one_asked_for():
    assert plan([{"type": "service", "name": "x"}], timeout="7")["prepare"][0]["timeout"] == 7.0


def test_a_system_that_is_none():
    with pytest.raises(AnsibleFilterError, match="system is 'mac'; it is one of linux, windows"):
        plan([], system="mac")


def test_task_files_are_looked_for_in_order(tmp_path):
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
    (tmp_path / "two" / "mine.yml").write_text("[]")
    search = ["", str(tmp_path / "one"), str(tmp_path / "two")]
    step = {"type": "tasks", "do": "mine.yml"}
    assert plan([step], search=search)["prepare"][0]["do"] == str(tmp_path / "two" / "mine.yml")
    (tmp_path / "one" / "mine.yml").write_text("[]")
    assert plan([step], search=search)["prepare"][0]["do"] == str(tmp_path / "one" / "mine.yml")
    (tmp_path / "one" / "mine.yml").unlink()
    absolute = {"type": "tasks", "do": str(tmp_path / "two" / "mine.yml")}
    assert plan([absolute])["prepare"][0]["do"] == absolute["do"]
    assert "is not there: mine.yml" in plan([step])["errors"][0]


def test_the_system_of_a_delegate_is_told_by_its_variables():
    step = dict(COMMAND, delegate_to="lb1")
    assert plan([step])["prepare"][0]["system"] == "linux"
    hostvars = {"lb1": {"ansible_connection": "winrm"}}
    assert plan([step], hostvars=hostvars)["prepare"][0]["system"] == "windows"


def test_a_step_is_not_changed_by_planning_it():
    step = {"type": "http", "do": {"url": "http://a/", "until": {}}}
    plan([step])
    assert step == {"type": "http", "do": {"url": "http://a/", "until": {}}}


def begun(made, **options):
    variables = of_hosts({"web1": {alone.PLAN: made}}, ansible_play_batch=["web1"])
    return alone.begun({**variables, alone.PLAN: made}, {**OPTIONS, **options})


def ticked(record, answer, **variables):
    return alone.ticked({alone.RECORD: record, "__drain_answer": answer, **variables})


def test_a_run_by_its_record():
    """Numbers and truth values come as templates of older ansible-cores make them; an answer to another call is none."""
    made = plan([COMMAND])
    record = begun(made)
    assert record["may_fail"] is True and record["unmarked"] is False and record["budgets"]["prepare"] == 300.0
    record["began"] = record["turned"] = time.monotonic() - 1
    answer = {"lost": "", "answers": [], "mark": None, "number": "0"}
    record = ticked(record, answer)
    assert record["call"]["number"] == 1
    stale = ticked(record, answer)
    assert stale["call"]["number"] == 2 and not stale["finished"]
    went = {"state": "prepared", "why": "", "ask": [], "elsewhere": None, "steps": []}
    record = ticked(record, {**answer, "number": 1, "answers": [went]})
    assert record["finished"] and record["result"]["ok"]


def test_steps_that_can_not_be_run_are_said():
    record = begun({}, trouble="no such file")
    assert record["finished"] and record["result"]["message"] == "no such file."


def test_a_task_file_with_run_once_is_refused_with_its_step(tmp_path):
    (tmp_path / "mine.yml").write_text("- {name: Silence, ansible.builtin.command: /bin/true, run_once: true}")
    found = plan([{"type": "tasks", "do": "mine.yml"}], search=[str(tmp_path)], verify=["mine.yml"])
    starts = [error.partition(", so")[0] for error in found["errors"]]
    assert starts == [
        "drain_steps, step 1 (tasks): mine.yml: task 'Silence' has run_once",
        "drain_verify_tasks, file 1: mine.yml: task 'Silence' has run_once",
    ]


def test_a_step_of_the_users_own_tasks(tmp_path):
    (tmp_path / "own.yml").touch()
    path = str(tmp_path / "own.yml")
    made = plan([{"type": "tasks", "do": path}])
    key = made["steps"][0]["key"]
    entry = {"key": key, "before": None, "tries": 1, "by": "r1", "limit": "7"}
    mark = {"since": "2026-11-22T10:00:00Z", "holder": {"run": "r1"}, "steps": [entry]}
    asked = {
        "number": 1,
        "elsewhere": {"key": key, "direction": "do", "begun": "True", "left": "7", "begins": "7"},
        "mark": mark,
    }
    rounds = drain_tick.drain_tick(asked, "own", plan=made, ended=[3.0, 5.0, 4.0])
    assert rounds == [{"file": path, "began": 5.0}]
    assert drain_tick.drain_tick(asked, "own", plan=made, ended=[3.0], allowed="False") == []
    failure = drain_tick.drain_tick(asked, "own_failed", plan=made, result={"msg": "no"})
    assert failure["outcome"]["note"] == "no"
    for secret in (True, "{{ is_secret }}"):
        kept = drain_tick.drain_tick(asked, "own_failed", plan=made, result={"msg": "password"}, secret=secret)
        assert "password" not in kept["outcome"]["note"]
    record = begun(made)
    record["call"]["number"] = 1
    answer = {**asked, "lost": "", "answers": [{"state": "preparing", "steps": []}]}
    record = ticked(record, answer, __drain_plan=made, __drain_failure=failure)
    assert record["outcomes"] == {key: failure["outcome"]} and list(record["jobs"].values()) == ["ran"]


def test_something_that_can_not_happen():
    with pytest.raises(AnsibleFilterError, match="did you mean 'orders'"):
        drain_tick.drain_tick({}, "order")
