# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A whole run of role maintain whose steps are the user's own task files: which of them were gone through, and what it prints."""

import re
import sys

import pytest

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.action.maintained import (
    RUN,
    happened,
    maintained,
    tasks_of,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.action.mixed import MAINTAIN
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.action.playing import playbook

NAMES = ("linux1", "linux2", "linux3")
HOSTS = "".join(f"{name} ansible_connection=local ansible_python_interpreter={sys.executable}\n" for name in NAMES)
SCENARIO = {
    "settings": {"rate_limit": 0},
    "vms": [{"name": name, "scope": "web"} for name in NAMES],
    "events": [],
}
EVENT = {"type": "Reboot", "resources": ["linux1", "linux2"], "notice": 36000, "tail": 10}
FILE = """
- name: Note who it is
  ansible.builtin.lineinfile:
    path: "{{ notes }}"
    line: "{{ inventory_hostname }} WORD {{ drain_timeout }}"
    create: true
    mode: "0600"
  throttle: 1

- name: See to it
  ansible.builtin.command: "true"
  changed_when: false
"""
THEIRS = ["Note who it is", "See to it"]
FAILS = """
- name: Steps of the user's own tasks that fail on one machine
  hosts: all
  gather_facts: false
  ignore_unreachable: true
  tasks:
    - name: Prepare
      ansible.builtin.include_role:
        name: cloudops.azure_maintenance.drain
        tasks_from: prepare
        apply: {ignore_errors: true}

    - name: Show what came of it
      ansible.builtin.debug:
        msg: "{{ inventory_hostname }} said: {{ drain_result.message }}"
  handlers:
    - name: Reload
      ansible.builtin.command: "false"
"""
SECRET = """
- name: Fail
  ansible.builtin.fail:
    msg: the password
  no_log: true
"""
NOTIFIES = """
- name: Change something
  ansible.builtin.command: "true"
  notify: Reload
"""
WORKS = """
- name: Do it
  ansible.builtin.command: "true"
"""
HANGS = """
- name: Wait
  ansible.builtin.command: sleep 61
"""


@pytest.fixture(scope="module")
def owned(tmp_path_factory):
    """What was printed, and the notes of the user's tasks; both machines have the same file first, and then each another."""
    folder = tmp_path_factory.mktemp("owned")
    for word in ("out", *NAMES):
        (folder / f"{word}.yml").write_text(FILE.replace("WORD", word))
    variables = {
        **MAINTAIN,
        "azure_maintenance_hosts": "all",
        "azure_maintenance_folder": f"{folder}/marks/{{{{ inventory_hostname }}}}",
        "drain_tasks_paths": [str(folder)],
        "drain_steps": [{"type": "tasks", "do": "out.yml", "undo": "{{ inventory_hostname }}.yml"}],
        "notes": str(folder / "notes"),
    }
    printed, status = maintained(folder, HOSTS, SCENARIO, EVENT, lambda control: variables)
    assert status == 0, printed
    return printed, (folder / "notes").read_text().splitlines()


def test_each_machine_has_gone_through_its_own_files(owned):
    assert sorted(line.rpartition(" ")[0] for line in owned[1]) == [
        f"linux{number} {word}" for number in (1, 2) for word in sorted((f"linux{number}", "out"))
    ]
    assert happened(owned[0]) == ["prepared", "prepared", "approved", "recovered", "recovered"]


def test_the_run_returns_once_for_all_machines_whose_files_are_due(owned):
    tasks = [name for name in tasks_of(owned[0]) if name in (RUN, *THEIRS)]
    assert tasks == [RUN, *THEIRS, RUN, *THEIRS, *THEIRS, RUN], owned[0]


def test_machines_go_through_the_same_file_side_by_side(owned):
    included = re.findall(r"(?m)^included: .*/(out|linux\d)\.yml for (\w+(?:, \w+)*)", owned[0])
    assert sorted((name, *sorted(hosts.split(", "))) for name, hosts in included) == [
        ("linux1", "linux1"),
        ("linux2", "linux2"),
        ("out", "linux1", "linux2"),
    ]


# The file of each machine, and why its step fails, if it does
FAILURES = [
    (SECRET, "it failed; its words are kept back"),
    (NOTIFIES, "exit code 1"),
    (None, "its file could not be read"),
    (WORKS, ""),
]
LATE = [(WORKS, ""), (HANGS, "it did not end within its time")]
SECONDS = 60


@pytest.mark.parametrize("hangs, cases", [(SECONDS, FAILURES), (15, LATE)], ids=["failure", "limit"])
def test_what_fails_on_one_machine_is_its_steps_failure(tmp_path, hangs, cases):
    """Ansible goes through the files one after the other, whichever comes first: who has to wait for one that hangs has more time than that."""
    machines = {f"linux{number}": case for number, case in enumerate(cases, 1)}
    (tmp_path / "play.yml").write_text(FAILS)
    for host, (tasks, _why) in machines.items():
        (tmp_path / f"{host}.yml").write_text(tasks or WORKS)
    gone = [host for host, (tasks, _why) in machines.items() if tasks is None]
    step = {
        "type": "tasks",
        "do": "{{ inventory_hostname }}.yml",
        "timeout": f"{{{{ {hangs} if inventory_hostname == 'linux2' else {SECONDS} }}}}",
    }
    removes = {"type": "command", "do": ["rm", f"{tmp_path}/{{{{ inventory_hostname }}}}.yml"], "hosts": gone}
    variables = {
        "azure_maintenance_folder": f"{tmp_path}/marks/{{{{ inventory_hostname }}}}",
        "drain_tasks_paths": [str(tmp_path)],
        "drain_steps": [removes, step] if gone else [step],
    }
    hosts = "".join(
        f"{host} ansible_connection=local ansible_python_interpreter={sys.executable}\n" for host in machines
    )
    printed, status = playbook(tmp_path, tmp_path / "play.yml", hosts, variables)
    said = dict(re.findall(r'"msg": "(\w+) said: (.*)"', printed))
    assert status == 0 and set(said) == set(machines), printed
    for host, (_tasks, why) in machines.items():
        assert why in said[host] if why else said[host] == "", printed


def test_nothing_is_warned_of(owned):
    assert "[DEPRECATION" not in owned[0] and "[WARNING]" not in owned[0], owned[0]
