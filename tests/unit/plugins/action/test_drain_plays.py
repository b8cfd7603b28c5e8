# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plays of role drain: one that names none of its entry points, and those in which hosts take part that another does not."""

from __future__ import annotations

import json
import re
import sys

import pytest

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.action.playing import only_ours, playbook

HOST = f"web1 ansible_connection=local ansible_python_interpreter={sys.executable}\n"
PLAY = """
- name: Take it out of service
  hosts: web1
  gather_facts: false
  roles: [cloudops.azure_maintenance.drain]
"""


def test_a_play_of_the_role_alone_does_the_steps(tmp_path):
    (tmp_path / "play.yml").write_text(PLAY)
    steps = [{"type": "command", "do": ["touch", str(tmp_path / "drained")]}]
    variables = {"drain_steps": steps, "azure_maintenance_folder": str(tmp_path / "marks")}
    printed, status = playbook(tmp_path, tmp_path / "play.yml", HOST, variables)
    assert status == 0, printed
    assert (tmp_path / "drained").exists()
    assert json.loads((tmp_path / "marks" / "mark.json").read_text())["phase"] == "prepared"


def test_a_misspelt_variable_is_refused(tmp_path):
    (tmp_path / "play.yml").write_text(PLAY)
    variables = {"drain_stepps": [], "azure_maintenance_folder": str(tmp_path / "marks")}
    printed, status = playbook(tmp_path, tmp_path / "play.yml", HOST, variables, COLUMNS="100000")
    assert status == 2 and "no variable drain_stepps (did you mean 'drain_steps'?)" in printed, printed
    assert not (tmp_path / "marks").exists()


@pytest.mark.parametrize("options", [(), ("--check",)])
@pytest.mark.parametrize("tasks_from", ["prepare", "recover"])
def test_a_collection_that_a_later_step_needs_is_missed_before_the_first(tmp_path, tasks_from, options):
    play = PLAY.replace("roles: [cloudops.azure_maintenance.drain]", "tasks: [TASK]")
    task = f"{{ansible.builtin.include_role: {{name: cloudops.azure_maintenance.drain, tasks_from: {tasks_from}}}}}"
    (tmp_path / "play.yml").write_text(play.replace("TASK", task))
    steps = [
        {"type": "command", "do": ["touch", str(tmp_path / "drained")]},
        {"type": "haproxy", "load_balancers": ["web1"], "socket": str(tmp_path / "none")},
    ]
    variables = {"drain_steps": steps, "azure_maintenance_folder": str(tmp_path / "marks")}
    alone = dict(ANSIBLE_COLLECTIONS_PATH=only_ours(), PYTHONPATH=only_ours(), COLUMNS="100000")
    printed, status = playbook(tmp_path, tmp_path / "play.yml", HOST, variables, *options, **alone)
    assert status == 2 and "The collection community.general, required by web1, is not installed" in printed, printed
    assert "Nothing was changed." in printed
    assert not (tmp_path / "drained").exists() and not (tmp_path / "marks").exists()


HOSTS = "".join(
    f"{name} ansible_connection=local ansible_python_interpreter={sys.executable}\n"
    for name in ("web1", "web2", "web3")
)
SOME = """
- name: Some hosts take part
  hosts: all
  strategy: STRATEGY
  serial: SERIAL
  gather_facts: false
  vars:
    drain_steps: [{type: command, do: [sh, -c, 'echo $0 >> {{ folder }}/{{ inventory_hostname }}', '{{ word }}'], undo: "true"}]
  tasks:
    - name: Prepare one, and then another
      ansible.builtin.include_role:
        name: cloudops.azure_maintenance.drain
        tasks_from: prepare
      vars:
        word: "{{ item }} in {{ inventory_hostname }}"
      loop: [web1, web2]
      when: inventory_hostname == item

    - name: Prepare with steps that one can not have
      ansible.builtin.include_role:
        name: cloudops.azure_maintenance.drain
        tasks_from: prepare
        apply: {ignore_errors: true}
      vars:
        drain_steps: [{type: "{{ 'servise' if inventory_hostname == 'web3' else 'command' }}", do: "true"}]
      when: inventory_hostname != 'web1'

    - name: Recover two
      ansible.builtin.include_role:
        name: cloudops.azure_maintenance.drain
        tasks_from: recover
      when: inventory_hostname != 'web3'
      vars:
        word: "{{ inventory_hostname }} in {{ inventory_hostname }}"

    - name: Show what came of it
      ansible.builtin.debug:
        msg: "{{ [drain_result, drain_recover_result | default({'ok': ''})] | map(attribute='ok') | join(' ') }}, {{ drain_result.message }}"
"""


def came_of(tmp_path, strategy, serial):
    (tmp_path / "play.yml").write_text(SOME.replace("STRATEGY", strategy).replace("SERIAL", serial))
    variables = {
        "folder": str(tmp_path / "notes"),
        "azure_maintenance_folder": f"{tmp_path}/marks/{{{{ inventory_hostname }}}}",
    }
    (tmp_path / "notes").mkdir()
    printed, status = playbook(tmp_path, tmp_path / "play.yml", HOSTS, variables)
    notes = {path.name: path.read_text() for path in (tmp_path / "notes").iterdir() if path.is_file()}
    return printed, status, notes


@pytest.mark.parametrize(
    "strategy, serial, tasks",
    [("linear", "0", 4), ("linear", "1", 6), ("free", "0", 6)],
    ids=["linear", "serial", "free"],
)
def test_the_hosts_that_take_part_are_those_that_include_the_role(tmp_path, strategy, serial, tasks):
    """Each with the variables of its own include; what is wrong with one is no matter of another."""
    printed, _status, notes = came_of(tmp_path, strategy, serial)
    assert notes == {host: f"{host} in {host}\n" for host in ("web1", "web2")}, printed
    said = dict(re.findall(r"ok: \[(web\d)\] => \{\s+\"msg\": \"(.*)\"", printed))
    assert said["web1"] == "True True, " and said["web2"].startswith("True True, "), printed
    assert "type 'servise' is unknown" in said["web3"] and said["web3"].startswith("False"), printed
    acted = re.findall(r"(?m)^TASK \[.* : Run \| Act for all hosts that take part\] .*\n((?:(?!TASK).*\n)*)", printed)
    assert sum(len(re.findall(r"(?m)^ok: ", one)) for one in acted) == tasks, "one for all that go together"
    assert "[WARNING]" not in printed, printed


HANDLERS = """
- name: Notify handlers
  hosts: web1
  gather_facts: false
  vars:
    drain_steps: [{type: command, do: "true", undo: "true"}]
    run: "{{ (lookup('ansible.builtin.file', folder ~ '/marks/mark.json') | from_json).holder.run }}"
  tasks:
    - name: Fail to prepare
      ansible.builtin.include_role: {name: cloudops.azure_maintenance.drain, tasks_from: prepare, apply: {ignore_errors: true}}
      vars: {drain_steps: [{type: command, do: "true"}, {type: command, do: "false"}]}

    - name: Prepare, and recover at once
      ansible.builtin.include_role: {name: cloudops.azure_maintenance.drain, tasks_from: "{{ item }}"}
      loop: [prepare, prepare, recover, prepare]

    - name: Bring it back, as playbook recover does
      ansible.builtin.include_role: {name: cloudops.azure_maintenance.maintain, tasks_from: recover}
      vars: {recover_take: "{{ run }}", recover_force: true}

    - name: Prepare
      ansible.builtin.include_role: {name: cloudops.azure_maintenance.drain, tasks_from: prepare}

    - name: Bring back what a run of this name has left prepared
      ansible.builtin.include_role: {name: cloudops.azure_maintenance.maintain, tasks_from: restore}
      vars: {__maintain_run: {run: "{{ run }}"}}
  handlers:
    - name: azure maintenance recovered
      ansible.builtin.shell: echo back >>{{ folder }}/notes

    - name: Note that it is out
      ansible.builtin.shell: echo out >>{{ folder }}/notes
      listen: azure maintenance prepared
"""


def test_handlers_run_at_the_end_of_what_has_changed_something(tmp_path):
    """Whether they listen to the topic, or have its name."""
    (tmp_path / "play.yml").write_text(HANDLERS)
    variables = {
        "folder": str(tmp_path),
        "azure_maintenance_folder": str(tmp_path / "marks"),
        "azure_maintenance_endpoint": "http://127.0.0.1:9",  # nobody answers there
    }
    printed, status = playbook(tmp_path, tmp_path / "play.yml", HOST, variables)
    assert status == 0, printed
    assert (tmp_path / "notes").read_text().split() == ["out", "back"] * 3, printed
