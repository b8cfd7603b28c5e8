# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Part wait of action tick: a wait and its decision as one task, which returns the record in any case."""

import json
import time

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.action import tick
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.program import lost
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._ticking import run
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.action.machine import action_of_task
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils import ticking
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils.deciding import begun

ticked = run.moved_on


@pytest.fixture(autouse=True)
def no_rest(monkeypatch):
    monkeypatch.setattr(time, "sleep", lambda seconds: None)


@pytest.fixture
def waiting():
    """The record of a run of one scope that waits."""
    record = begun("web1", "web2")
    return ticked(record, ticking.answers(record))


def played(monkeypatch, record, host, came):
    """What the task returns for a host, and the calls that it made."""
    calls = []

    def answered(_action, _task_vars, call):
        calls.append(call)
        return came

    monkeypatch.setattr(tick.ActionModule, "_tried", answered)
    arguments = {"part": "wait", "call": record["todo"]["calls"].get(host, {"requests": []})}
    action = action_of_task(tick, arguments)
    action._facts = {"discovered_interpreter_python": "/usr/bin/python3"}
    result = action.run(task_vars={"inventory_hostname": host, "__maintain_record": record})
    return json.loads(json.dumps(result)), calls


def test_a_run_of_one_scope_waits_with_one_machine(waiting):
    assert waiting["todo"]["alone"] == "web1" and waiting["todo"]["idle"]
    assert begun("web1", "web2")["todo"]["alone"] == ""  # both are asked


def test_what_comes_is_decided_about_at_once(monkeypatch, waiting, capsys):
    came = ticking.answers(waiting, ticking.reboot("vm2"))["web1"]
    result, calls = played(monkeypatch, waiting, "web1", came)
    assert [request["do"] for request in calls[0]["requests"]] == ["look"]
    assert result["ticks"] == waiting["ticks"] + 1 and list(result["events"]) and not result["todo"]["idle"]
    assert result["changed"] is False and "ansible_facts" not in result and "answers" not in result
    assert "  shown  " in capsys.readouterr().out


def test_a_call_that_was_lost_is_what_came(monkeypatch, waiting):
    result, _calls = played(monkeypatch, waiting, "web1", lost("It could not be reached"))
    assert result["hosts"]["web1"]["lost"] == "It could not be reached"


def test_an_answer_to_another_call_is_none(monkeypatch, waiting):
    came = dict(ticking.answers(waiting, ticking.reboot("vm2"))["web1"], number=0)
    result, _calls = played(monkeypatch, waiting, "web1", came)
    assert result["hosts"]["web1"]["lost"] == run.SILENT and not result["events"]


def test_in_any_other_tick_the_record_stays_as_it_is(monkeypatch, waiting):
    came = ticking.answers(waiting, ticking.reboot("vm2"))["web1"]
    busy = ticked(waiting, {"web1": came})
    for record, host in ((busy, "web1"), (waiting, "web2"), (dict(waiting, finished=True), "web1")):
        result, calls = played(monkeypatch, record, host, came)
        assert calls == [] and result == json.loads(json.dumps(dict(record, changed=False, skipped=True)))


def test_what_ansible_has_added_to_a_result_is_no_part_of_the_record(monkeypatch, waiting):
    came = ticking.answers(waiting, ticking.reboot("vm2"))["web1"]
    result, _calls = played(monkeypatch, dict(waiting, skipped=True, failed=False, warnings=[]), "web1", came)
    assert set(result) == run._KEYS | {"changed"}


@pytest.mark.parametrize(
    "systems, folders",
    [
        ([True], "mark.json in /var/lib/azure-maintenance, or in azure_maintenance_folder"),
        ([False], r"mark.json in %ProgramData%\AzureMaintenance, or in azure_maintenance_folder"),
        ([True, False], r"in /var/lib/azure-maintenance and %ProgramData%\AzureMaintenance, or in"),
    ],
)
def test_the_first_mark_is_said_with_the_folder_of_its_system(systems, folders):
    hosts = {f"web{number}": {"is_linux": is_linux, "mark": {}} for number, is_linux in enumerate(systems)}
    words = run._first_mark_words({"run": {"run": "run-1"}, "hosts": hosts}, list(hosts))
    assert folders in words
