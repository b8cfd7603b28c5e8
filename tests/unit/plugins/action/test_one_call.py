# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A call of a machine over a connection that plays a script: whatever it does, the task is ok and ends in its time."""

import json
import sys
import time

import pytest
from ansible.errors import AnsibleConnectionFailure, AnsibleError
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from winrm.exceptions import WinRMError

from ansible_collections.cloudops.azure_maintenance.plugins.action import internal
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._tasks import machine_call
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.action.machine import action_of_task, connection
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils.ticking import look

HANGS = 300  # seconds


class Played:
    """One call: what it returned, what was sent, how long it may take."""

    def __init__(self, exec_command, over="ssh", interpreter=sys.executable, variables=None, **arguments):
        self.commands, self.limits, self.resets, self.removed = [], [], [], []
        call = {"requests": [{"do": "hello"}], "seconds": 0.5, "resource_name": ""}
        over = connection(over)

        def execute(command, in_data=None, sudoable=True):
            self.commands.append((command, in_data))
            return exec_command(command, in_data, sudoable)

        over.exec_command, over.reset = execute, lambda: self.resets.append(1)
        arguments = {"call": call, **arguments}
        action = action_of_task(internal, {"work": "machine", **arguments}, over)
        action._remove_tmp_path = self.removed.append
        found = ArgumentSpecValidator(machine_call.ARGUMENTS).validate(arguments)
        assert not found.error_messages
        variables = {"inventory_hostname": "web1", "ansible_python_interpreter": interpreter, **(variables or {})}
        self.result = action.machine(found.validated_parameters, variables, self.limits.append)


def sent_by(options=None, call=None, **variables):
    """What a call sent to the program."""
    arguments = {"plan": "found", "options": options, **({"call": call} if call else {})}
    played = Played(lambda *_arguments: (0, b"", b""), variables=variables, **arguments)
    return json.loads(played.commands[0][1].rpartition(b")\n")[2])


def test_the_program_ends_before_its_call_does():
    """Else a metadata service that hangs would be taken for a machine that does."""
    assert sent_by()["options"]["seconds"] == 0.25
    assert machine_call.ON_THE_WAY == 2.0


def test_an_option_that_says_nothing_is_left_to_the_program():
    """A role's variable holds all of them, and there is no `omit` in a variable."""
    assert set(sent_by()["options"]) == {"number", "seconds"}
    found = sent_by(options={"endpoint": "http://here", "api_version": "", "folder": ""})
    assert set(found["options"]) == {"number", "seconds", "endpoint"}


@pytest.mark.parametrize("ago, sent", [(5.0, "approve"), (15.0, "look")])
def test_an_approval_of_a_run_that_was_stopped_meanwhile_is_not_sent(monkeypatch, ago, sent):
    monkeypatch.setattr(machine_call, "steady", lambda: 1000.0)
    approve = {"do": "approve", "ids": ["A"], "decided": 1000.0 - ago}
    call = {"requests": [approve], "seconds": 0.5, "resource_name": "", "heard": HEARD}
    played = Played(lambda *_arguments: (0, b"", b""), call=call)
    found = json.loads(played.commands[0][1].rpartition(b")\n")[2])
    assert [request["do"] for request in found["requests"]] == [sent]


HEARD = {"uptime": 1000.0, "boot_id": "boot-1", "at": 500.0}
GO = {"do": "go", "to": "prepared", "events": ["E1"], "left": 60.0}
NOT_HEARD = "nothing was heard from the machine before this call, which only looks: nothing was started"


def a_call(**more):
    return {"requests": [GO, {"do": "look", "wait": 0}], "seconds": 8, **more}


def test_a_call_says_until_which_uptime_somebody_waits_for_it(monkeypatch):
    monkeypatch.setattr(machine_call, "steady", lambda: 530.0)
    sent = sent_by(call=a_call(heard=HEARD))
    assert sent["options"]["within"] == {"uptime": 1030.0, "boot_id": "boot-1", "until": 1038.0}
    assert sent["requests"] == [GO, {"do": "look", "wait": 0}]
    assert "heard" not in sent["options"] and "decided" not in sent["options"]


def test_what_is_left_is_less_by_the_time_since_the_decision():
    """Other machines of the task were called first."""
    sent = sent_by(call=a_call(heard=HEARD, decided=machine_call.steady() - 40))
    assert 15.0 < sent["requests"][0]["left"] <= 20.0 and sent["requests"][1] == {"do": "look", "wait": 0}


def test_a_call_to_a_machine_of_which_nothing_was_heard_only_looks():
    requests = [GO, {"do": "look", "wait": 0}, {"do": "approve", "ids": ["E1"]}, {"do": "yes", "event": "E1"}]
    assert [one["do"] for one in sent_by(call=a_call(requests=requests))["requests"]] == ["look"]

    def answers(_command, data, _sudoable):
        marker = data.split(b"'azure_maintenance ")[1].split(b"'")[0]
        looked = {**look(), "began": 1.0, "since": 1.0, "asked": 1.0, "age": 1.0}
        content = {"lost": "", "answers": [looked], "uptime": 77.0, "boot_id": "boot-2", "took": 0.1, "number": 0}
        content.update(mark=None, put_back=[], yes=[], hold=None, watcher=None, fenced="", ask=[], elsewhere=None)
        return 0, b"azure_maintenance " + marker + json.dumps(content).encode(), b""

    found = Played(answers, call=a_call(requests=requests)).result
    went, looked, approve, yes = found["answers"]
    assert (went["state"], went["why"], yes) == ("skipped", NOT_HEARD, {"problem": NOT_HEARD})
    assert looked["incarnation"] == 3
    assert approve["not_approved"] == [{"id": "E1", "reason": "skipped", "message": NOT_HEARD}]
    assert found["heard"]["uptime"] == 77.0 and found["heard"]["boot_id"] == "boot-2"
    assert 0 <= machine_call.steady() - found["heard"]["at"] < 60


def test_steps_are_a_variables():
    step = {"key": "command x", "do": {"argv": ["echo", "{{ no template }}"]}}
    assert sent_by(found={"steps": [step]})["steps"] == [step]
    assert sent_by()["steps"] == []


def test_a_task_of_its_own_ends_what_hangs(tmp_path):
    call = {"requests": [{"do": "hello"}], "seconds": 0.5}
    over = connection("ssh")
    over.exec_command = lambda *_arguments, **_options: time.sleep(HANGS)
    over.reset = (tmp_path / "reset").touch
    began = time.monotonic()
    variables = {"inventory_hostname": "web1", "ansible_python_interpreter": sys.executable}
    result = action_of_task(internal, {"work": "machine", "call": call}, over).run(task_vars=variables)
    assert result["lost"].startswith("It gave no answer within 0.5 s") and time.monotonic() - began < HANGS
    assert (tmp_path / "reset").exists(), "over ssh's lasting connection the next task would hang as well"
    assert not result["changed"] and "failed" not in result and "unreachable" not in result


@pytest.mark.parametrize(
    "kind, said",
    [
        (AnsibleConnectionFailure, ""),
        (AnsibleError, ""),
        (OSError, ""),
        (WinRMError, "WinRMError: "),
    ],
)
def test_a_connection_that_fails_is_no_failure_of_the_task(kind, said):
    def fails(*_arguments):
        raise kind("No route to host")

    played = Played(fails)
    assert played.result["lost"] == f"It could not be reached: {said}No route to host."
    assert played.resets == [] and played.removed == [] and played.limits == [0.5]


def test_an_interpreter_that_no_answer_confirms_is_not_remembered():
    def execute(_command, in_data, _sudoable):
        if b"start(" in (in_data or b""):
            return 127, b"", b"sh: /usr/bin/python3: not found"
        return 0, b"PLATFORM\nLinux\nFOUND\n/usr/bin/python3\nENDFOUND\n", b""

    played = Played(execute, interpreter="auto_silent")
    assert played.result["lost"].startswith("There is no Python at /usr/bin/python3")
    assert "ansible_facts" not in played.result
