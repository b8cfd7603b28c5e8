# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action machine over a connection that plays a script: whatever it does, the task is ok and ends in its time."""

import json
import sys
import time
import types

import pytest
from ansible.errors import AnsibleConnectionFailure, AnsibleError
from ansible.parsing.dataloader import DataLoader
from ansible.playbook.play_context import PlayContext
from ansible.plugins import loader
from ansible.template import Templar

from ansible_collections.cloudops.azure_maintenance.plugins.action import machine
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._machine import alarm, bounded
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.action.machine import connection


def hangs(*_arguments, **_options):
    time.sleep(300)


class Played:
    """One task: what it returned, how often the connection was reset, and whether Ansible's clean-up was called."""

    def __init__(
        self,
        monkeypatch,
        exec_command,
        over="ssh",
        reset=lambda: None,
        close=lambda: None,
        grace=0.2,
        interpreter=sys.executable,
        variables=None,
        **arguments,
    ):
        monkeypatch.setattr(alarm, "GRACE", grace)
        monkeypatch.setattr(bounded, "RESET_SECONDS", 0.3)
        self.commands, self.resets, self.removed = [], 0, []
        task = types.SimpleNamespace(
            action="cloudops.azure_maintenance.machine",
            args={"call": {"requests": [{"do": "hello"}], "seconds": 0.5, "resource_name": ""}, **arguments},
            check_mode=False,
            async_val=0,
            delegate_to=None,
            diff=False,
            environment=[],
            collections=[],
        )
        over = connection(over)

        def execute(command, in_data=None, sudoable=True):
            self.commands.append((command, in_data))
            return exec_command(command, in_data, sudoable)

        def count():
            self.resets += 1
            reset()

        over.exec_command, over.reset, over.close = execute, count, close
        self.connection = over
        data_loader = DataLoader()
        action = machine.ActionModule(task, over, PlayContext(), data_loader, Templar(data_loader), loader)
        action._remove_tmp_path = self.removed.append
        started = time.monotonic()
        variables = {"inventory_hostname": "web1", "ansible_python_interpreter": interpreter, **(variables or {})}
        self.result = action.run(task_vars=variables)
        action.cleanup()
        self.seconds = time.monotonic() - started


def sent_by(monkeypatch, options=None, **variables):
    """What a call sent to the program."""
    played = Played(monkeypatch, lambda *_arguments: (0, b"", b""), variables=variables, plan="found", options=options)
    return json.loads(played.commands[0][1].rpartition(b")\n")[2])


def test_the_program_ends_before_its_call_does(monkeypatch):
    """Else a metadata service that hangs would be taken for a machine that does."""
    assert sent_by(monkeypatch)["options"]["seconds"] == 0.25
    assert machine.ON_THE_WAY == 2.0


def test_an_option_that_says_nothing_is_left_to_the_program(monkeypatch):
    """A role's variable holds all of them, and there is no `omit` in a variable."""
    assert set(sent_by(monkeypatch)["options"]) == {"number", "seconds"}
    found = sent_by(monkeypatch, options={"endpoint": "http://here", "discover": "False", "timeout": "3", "folder": ""})
    assert {name: found["options"].get(name) for name in ("endpoint", "discover", "timeout", "folder")} == {
        "endpoint": "http://here",
        "discover": False,
        "timeout": 3.0,
        "folder": None,
    }


def test_steps_are_a_variables(monkeypatch):
    step = {"key": "command x", "do": {"argv": ["echo", "{{ no template }}"]}}
    assert sent_by(monkeypatch, found={"steps": [step]})["steps"] == [step]
    assert sent_by(monkeypatch)["steps"] == []


def test_a_call_that_hangs_has_the_connection_reset_and_ansible_leave_it_alone(monkeypatch):
    played = Played(monkeypatch, hangs)
    assert played.result["lost"].startswith("It gave no answer within 0.5 s")
    assert played.resets == 1 and played.removed == [] and played.seconds < 10
    assert not played.result["changed"] and "failed" not in played.result and "unreachable" not in played.result


def test_a_reset_that_hangs_or_fails_is_ended_as_well(monkeypatch):
    played = Played(monkeypatch, hangs, reset=hangs)
    assert played.result["lost"].startswith("It gave no answer") and played.resets == 1 and played.seconds < 10

    def fails():
        raise AnsibleError("no")

    assert Played(monkeypatch, hangs, reset=fails).result["lost"].startswith("It gave no answer")


def test_a_connection_that_hangs_when_it_is_closed_is_left(monkeypatch):
    """WinRM's closes its shell over the network, and Ansible does that after each task."""
    closed = []
    played = Played(monkeypatch, hangs, over="local", close=lambda: closed.append(1) or hangs())
    assert played.result["lost"].startswith("It gave no answer") and closed == [1] and played.seconds < 10
    played.connection.close()
    assert closed == [1]


@pytest.mark.parametrize("kind", [AnsibleConnectionFailure, AnsibleError, OSError])
def test_a_connection_that_fails_is_no_failure_of_the_task(monkeypatch, kind):
    def fails(*_arguments):
        raise kind("No route to host")

    played = Played(monkeypatch, fails)
    assert played.result["lost"] == "It could not be reached: No route to host."
    assert played.resets == 0 and played.removed == []


def test_an_interpreter_that_no_answer_confirms_is_not_remembered(monkeypatch):
    def execute(_command, in_data, _sudoable):
        if b"start(" in (in_data or b""):
            return 127, b"", b"sh: /usr/bin/python3: not found"
        return 0, b"PLATFORM\nLinux\nFOUND\n/usr/bin/python3\nENDFOUND\n", b""

    played = Played(monkeypatch, execute, interpreter="auto_silent")
    assert played.result["lost"].startswith("There is no Python at /usr/bin/python3")
    assert "ansible_facts" not in played.result


def test_an_answer_that_came_before_the_alarm_counts(monkeypatch):
    """The program may hang after it has answered, or what it began may hold the connection."""

    def execute(_command, in_data, _sudoable):
        marker = in_data.split(b"'azure_maintenance ")[1].split(b"'")[0]
        started = time.monotonic()
        while time.monotonic() < started + 0.6:
            time.sleep(0.05)
        return -9, b"azure_maintenance " + marker + b'{"lost": "", "took": 0, "answers": [], "number": 3}\n', b""

    played = Played(monkeypatch, execute, grace=20)
    assert played.result["lost"] == "" and played.result["number"] == 3 and played.resets == 1
    assert played.removed != []
