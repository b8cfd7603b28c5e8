# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A module of Ansible's, over a connection that plays a script."""

import sys

import pytest
from ansible.errors import AnsibleConnectionFailure
from ansible.parsing.dataloader import DataLoader
from ansible.playbook.play_context import PlayContext
from ansible.playbook.task import Task
from ansible.plugins import loader
from ansible.template import Templar
from winrm.exceptions import WinRMError

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._drain import calling
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._drain.way import Order
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.action.machine import connection


class Action(calling.CallingAction):
    def run(self, tmp=None, task_vars=None):
        raise NotImplementedError


def called(exec_command):
    """What came of a module over a connection that does so."""
    task = Task()
    task.action, task.args = "ping", {}
    over = connection("ssh")
    over.exec_command = exec_command
    data_loader = DataLoader()
    action = Action(task, over, PlayContext(), data_loader, Templar(data_loader), loader)
    variables = {"inventory_hostname": "lb1", "ansible_python_interpreter": sys.executable}
    return action.called(Order("ping", {}), variables)


@pytest.mark.parametrize(
    "kind, said",
    [
        (AnsibleConnectionFailure, ""),
        (OSError, "OSError: "),
        (WinRMError, "WinRMError: "),
    ],
)
def test_a_connection_that_fails_is_no_error_of_the_task(kind, said):
    def fails(*_arguments, **_options):
        raise kind("No route to host")

    wrong = called(fails)["went_wrong"]
    assert wrong["unreachable"] and wrong["msg"] == f"{said}No route to host"


@pytest.mark.parametrize(
    "came, ok_codes, failure_answers, wrong",
    [
        ({"rc": 0}, None, False, False),
        ({"rc": 3, "failed": True}, None, False, True),
        ({"rc": 3, "failed": True, "delta": "0:00:01.5"}, [0, 3], False, False),
        ({"rc": 0, "delta": "0:00:01.5"}, [3], False, True),
        ({"finished": 0}, [0], False, False),
        ({"failed": True, "status": 503}, None, True, False),
        ({"unreachable": True}, None, True, True),
    ],
)
def test_what_went_wrong(came, ok_codes, failure_answers, wrong):
    found = calling._outcome(dict(came, changed=True), ok_codes, failure_answers)
    assert found["failed"] is False and found["changed"] is True and "unreachable" not in found
    assert ("went_wrong" in found) is wrong
    assert all((found.get("went_wrong") or found)[key] == came[key] for key in came if key != "failed")


CANT_START = [
    {"rc": 2, "failed": True, "cmd": "app.exe", "msg": "Failed to run: 'app.exe': not found"},  # win_command
    {"rc": 2, "failed": True, "cmd": ["timeout", "app"], "delta": None, "msg": "[Errno 2] No such file"},
]


@pytest.mark.parametrize("came", CANT_START)
def test_the_number_of_a_module_that_can_not_start_the_program_is_no_exit_code(came):
    found = calling._outcome(came, [0, 2], False)
    assert found["went_wrong"]["failed"] and "rc" not in found["went_wrong"]
    assert found["went_wrong"]["msg"] == came["msg"]


@pytest.mark.parametrize(
    "stderr, wrong",
    [("timeout: failed to run command 'app': No such file or directory\n", True), ("sh: 1: app: not found\n", False)],
)
def test_nor_is_that_of_the_program_timeout_which_can_not_start_it(stderr, wrong):
    came = {"rc": 127, "failed": True, "delta": "0:00:00.1", "cmd": ["timeout", "-k", "5", "60", "app"]}
    assert ("went_wrong" in calling._outcome(dict(came, stderr=stderr), [0, 127], False)) is wrong


def test_what_is_made_already_is_not_judged_by_an_exit_code():
    """A command with ``creates`` that did not have to run."""
    found = calling._outcome({"rc": 0, "skipped": True, "msg": "skipped"}, [3], False)
    assert "went_wrong" not in found and found["rc"] == 0


def test_of_what_went_wrong_only_plain_data_is_kept():
    """From ansible-core 2.19 on an exception is an object of its own, and what is no_log stays so."""
    came = {"failed": True, "msg": "no", "exception": object(), "_ansible_no_log": True, "_ansible_parsed": True}
    found = calling._outcome(came, None, False)
    assert found == {
        "changed": False,
        "failed": False,
        "went_wrong": {"failed": True, "msg": "no"},
        "_ansible_no_log": True,
    }
