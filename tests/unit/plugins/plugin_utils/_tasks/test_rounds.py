# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What others do for a machine, a round a call of a line."""

import contextlib
import time
import types

import pytest
from ansible.errors import AnsibleError
from ansible.parsing.dataloader import DataLoader
from ansible.playbook.play_context import PlayContext
from ansible.playbook.task import Task
from ansible.plugins import loader
from ansible.template import Templar

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._steps.step_type import Host
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._drain.orders import orders
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._drain.plan import make_plan
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._drain.way import Order
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._tasks import machine_line
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._windows.channels import Broken
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._windows.modules import SERVICE
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.action.machine import connection

HOST = Host("web1", "linux", {"all": ["web1", "lb1"]}, lambda name: "linux", lambda path: path)
STEP = {
    "type": "command",
    "name": "Drain",
    "do": "app drain",
    "delegate_to": "lb1",
    "no_log": True,
    "environment": {"A": "{{ b }}"},
}


def action():
    task = Task()
    task.action, task.args = "cloudops.azure_maintenance.internal", {"work": "drain"}
    data_loader = DataLoader()
    return machine_line._Action(task, connection("local"), PlayContext(), data_loader, Templar(data_loader), loader)


limits = []  # of the calls


@pytest.fixture
def on_windows(request, monkeypatch):
    monkeypatch.setattr(machine_line._Action, "is_windows", getattr(request, "param", False))


@pytest.fixture(params=[0.0])
def looked(request, monkeypatch, on_windows):
    """A look at a delegated step, with what each call was to be."""
    steps = make_plan([STEP], HOST)["steps"]
    key = steps[0]["key"]
    entry = {"key": key, "before": None, "by": "r1", "tries": 1, "limit": 300.0}
    mark = {"since": "12:00", "holder": {"run": "r1"}, "steps": [entry]}
    asked = {"key": key, "direction": "do", "begun": True, "left": 300.0, "begins": 60.0}
    answer = {"number": 1, "elsewhere": asked, "mark": mark, "ended": time.monotonic() - request.param}
    calls = []
    limits.clear()

    def called(self, order, task_vars, secret=False):
        calls.append((order.use, secret))
        return {"ansible_job_id": "j1", "finished": False, "changed": True}

    monkeypatch.setattr(machine_line._Action, "called", called)
    monkeypatch.setattr(machine_line, "variables_of", lambda *_arguments: {})
    monkeypatch.setattr(machine_line, "reached", lambda *_arguments: action())
    line = machine_line.MachineLine(None, {}, machine_line.Target("web1", "lb1"), {"steps": steps})
    round = {"kind": "round", "round": orders(answer, steps)[0], "answer": answer, "jobs": {}}
    return line.call(round, limits.append), calls


def test_what_came_is_judged_and_the_job_returned(looked):
    result, _calls = looked
    pending = {"state": "pending", "note": "", "direction": "do"}
    assert result.pop("ended") <= time.monotonic()
    assert result["outcome"].pop("left") == 300, "what begins now has all of its time"
    assert result["outcome"].pop("late", 0.0) >= 0
    job = {"jid": "j1", "is_over": False, "failed": None}
    assert result == {"changed": True, "failed": False, "outcome": pending, "job": job}


@pytest.mark.parametrize("looked", [61.0], indirect=True)
def test_a_step_is_not_begun_where_the_time_that_was_left_went_by_since_the_machine_answered(looked):
    result, calls = looked
    assert calls == [] and result["outcome"]["state"] == "failed" and result["job"] is None
    assert "the time that was left was used up before it could begin" in result["outcome"]["note"]
    assert result["outcome"]["seconds"] == 0.0, "and not since the mark called it begun"


@pytest.mark.parametrize(("on_windows", "seconds"), [(False, 20.0), (True, 30.0)], indirect=["on_windows"])
def test_a_module_on_a_windows_machine_has_time_to_start_powershell(looked, seconds):
    assert limits == [seconds] * 2


def test_a_secret_step_is_secret_where_it_is_done(looked):
    _result, calls = looked
    assert calls == [("ansible.builtin.command", True), ("ansible.builtin.async_status", True)]


def test_an_order_becomes_the_task_that_ansible_would_have():
    """In the background for so long, in its environment, which is no template; and nothing of that stays for the next call."""
    module = action()
    first = module._action(Order("ansible.builtin.command", {"cmd": "x"}, 30, {"A": "{{ b }}"}), secret=True)
    assert (first._task.action, first._task.args, first._task.async_val) == (
        "ansible.builtin.command",
        {"cmd": "x"},
        30,
    )
    assert first._task.no_log is True
    assert "{{ b }}" in first._compute_environment_string()
    second = module._action(Order("ping", {}), secret=False)
    assert (
        second._task.async_val == 0
        and not second._task.no_log
        and "{{ b }}" not in second._compute_environment_string()
    )


@pytest.mark.parametrize(("is_cut", "lost", "made"), [(True, "cut", 2), (True, "", 1), (False, "cut", 1)])
def test_the_connection_to_a_windows_machine_is_made_anew_after_it_was_cut(monkeypatch, is_cut, lost, made):
    actions, ended = [], []

    def reached(*_arguments):
        machine = types.SimpleNamespace(is_cut=is_cut, machine=lambda *_call: {"lost": lost})
        machine.cleanup = lambda: None
        machine.alone, machine.let_go = contextlib.nullcontext, lambda: ended.append(machine)
        machine._connection = types.SimpleNamespace(_shell=types.SimpleNamespace(tmpdir="x"))
        actions.append(machine)
        return machine

    monkeypatch.setattr(machine_line, "variables_of", lambda *_arguments: {})
    monkeypatch.setattr(machine_line, "reached", reached)
    line = machine_line.MachineLine(None, {}, machine_line.Target("web1"), {"steps": []})
    call = {"kind": "machine", "call": {"requests": []}, "holder": {}, "options": {}}
    assert line.call(dict(call), print) == {"lost": lost}
    assert len(actions) == made
    assert ended == actions[:-1], "what stays there ends with it"


@pytest.mark.parametrize(("over", "hung", "resets"), [("ssh", True, 1), ("ssh", False, 0), ("local", True, 0)])
def test_a_lasting_connection_of_ssh_is_ended_after_a_call_hung(monkeypatch, over, hung, resets):
    """One that is dead would let the next call hang as well."""
    machine, counted = types.SimpleNamespace(_connection=connection(over)), []

    def fails():
        counted.append(1)
        raise AnsibleError("there is none")

    machine._connection.reset = fails
    monkeypatch.setattr(machine_line, "variables_of", lambda *_arguments: {})
    monkeypatch.setattr(machine_line, "reached", lambda *_arguments: machine)
    machine_line.MachineLine(None, {}, machine_line.Target("web1"), {"steps": []}, hung)
    assert len(counted) == resets


@pytest.mark.parametrize(("wrong", "cleaned"), [({"unreachable": True}, 0), ({"failed": True}, 1), (None, 1)])
def test_ansible_does_not_clean_up_over_a_connection_that_was_lost(monkeypatch, wrong, cleaned):
    machine, counted = action(), []
    machine.called = lambda *_arguments: {"went_wrong": wrong} if wrong else {"changed": False}
    machine.cleanup = lambda: counted.append(1)
    monkeypatch.setattr(machine_line, "variables_of", lambda *_arguments: {})
    monkeypatch.setattr(machine_line, "reached", lambda *_arguments: machine)
    line = machine_line.MachineLine(None, {}, machine_line.Target("web1"), {"steps": []})
    line.call({"kind": "module", "use": "ping", "arguments": {}, "seconds": 5.0}, print)
    assert len(counted) == cleaned


@pytest.mark.parametrize(
    ("error", "went_wrong"),
    [
        (AnsibleError("running scripts is disabled"), {"failed": True}),
        (Broken("PowerShell gave no answer in time"), {"failed": False, "unreachable": True}),
    ],
)
@pytest.mark.parametrize("on_windows", [True], indirect=True)
def test_what_keeps_powershell_from_running_is_a_failure_and_no_lost_connection(on_windows, error, went_wrong):
    def fails(_module, _arguments):
        raise error

    module = action()
    module.execute = lambda *_arguments: fails
    came = module.said_instead(Order(SERVICE, {"name": "W3SVC"}), {"inventory_hostname": "web1"})["went_wrong"]
    assert came.pop("msg").startswith("web1: ") and came == went_wrong
