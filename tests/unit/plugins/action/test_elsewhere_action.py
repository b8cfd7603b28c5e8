# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A module of Ansible's in its time, over a connection that plays a script."""

import sys
import time

import pytest
from ansible.errors import AnsibleConnectionFailure, AnsibleError
from ansible.parsing.dataloader import DataLoader
from ansible.playbook.play_context import PlayContext
from ansible.playbook.task import Task
from ansible.plugins import loader
from ansible.template import Templar

from ansible_collections.cloudops.azure_maintenance.plugins.action import elsewhere
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._machine import alarm, bounded
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.action.machine import connection


class Played:
    """One task: what it returned, how often the connection was reset, and whether Ansible's clean-up was called."""

    def __init__(self, monkeypatch, tmp_path, exec_command, seconds=30.0, task=None):
        monkeypatch.setattr(alarm, "GRACE", 0.2)
        monkeypatch.setattr(bounded, "RESET_SECONDS", 0.3)
        monkeypatch.setenv("ANSIBLE_REMOTE_TMP", str(tmp_path))
        self.resets, self.removed = 0, []
        task = self.task = task.copy() if task else Task()  # as for each round of a loop
        task.action = "cloudops.azure_maintenance.elsewhere"
        task.args = {"use": "ping", "options": {}, "seconds": seconds}
        over = connection("ssh")
        over.exec_command = exec_command

        def count():
            self.resets += 1

        over.reset = count
        data_loader = DataLoader()
        action = elsewhere.ActionModule(task, over, PlayContext(), data_loader, Templar(data_loader), loader)
        self.raised, self.result = None, {}
        started = time.monotonic()
        variables = {"inventory_hostname": "lb1", "ansible_python_interpreter": sys.executable}
        try:
            self.result = action.run(task_vars=variables)
        except AnsibleError as error:
            self.raised = error
        action._remove_tmp_path = self.removed.append
        over._shell.tmpdir = "/nowhere"
        action.cleanup()
        self.seconds = time.monotonic() - started


def hangs(*_arguments, **_options):
    time.sleep(300)


def cut(*_arguments, **_options):
    """As ssh says it when it is killed."""
    started = time.monotonic()
    while time.monotonic() < started + 0.6:
        time.sleep(0.05)
    raise AnsibleConnectionFailure("ssh was killed")


@pytest.mark.parametrize("dead", [hangs, cut])
def test_a_call_that_hangs_is_ended_and_counts_as_unreachable(monkeypatch, tmp_path, dead):
    played = Played(monkeypatch, tmp_path, dead, seconds=0.5)
    assert played.result["unreachable"] and played.result["msg"].startswith("It gave no answer within 0.5 s")
    assert played.resets == 1 and played.removed == [] and played.seconds < 10


def test_one_that_hangs_leaves_less_time_to_those_after_it(monkeypatch, tmp_path):
    monkeypatch.setattr(elsewhere, "LEAST", 0.2)
    first = Played(monkeypatch, tmp_path, hangs, seconds=0.5)
    second = Played(monkeypatch, tmp_path, hangs, seconds=0.5, task=first.task)
    assert second.result["unreachable"] and second.result["msg"].startswith("It gave no answer within 0.2 s")
    other = Played(monkeypatch, tmp_path, hangs, seconds=0.5)
    assert other.result["msg"].startswith("It gave no answer within 0.5 s")


def test_what_ansible_says_of_a_connection_that_fails_at_once_stays(monkeypatch, tmp_path):
    def fails(*_arguments, **_options):
        raise AnsibleConnectionFailure("No route to host")

    played = Played(monkeypatch, tmp_path, fails)
    assert isinstance(played.raised, AnsibleConnectionFailure) and played.resets == 0
