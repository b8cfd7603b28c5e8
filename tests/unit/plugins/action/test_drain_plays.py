# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plays of role drain: one that names none of its entry points, and which tasks its ticks print."""

from __future__ import annotations

import json
import re
import sys

import pytest

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.action.playing import playbook

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
    variables = {"drain_steps": steps, "drain_become": False, "azure_maintenance_folder": str(tmp_path / "marks")}
    printed, status = playbook(tmp_path, tmp_path / "play.yml", HOST, variables)
    assert status == 0, printed
    assert (tmp_path / "drained").exists()
    assert json.loads((tmp_path / "marks" / "mark.json").read_text())["phase"] == "prepared"


def test_a_misspelt_variable_is_refused(tmp_path):
    (tmp_path / "play.yml").write_text(PLAY)
    variables = {"drain_stepps": [], "drain_become": False, "azure_maintenance_folder": str(tmp_path / "marks")}
    printed, status = playbook(tmp_path, tmp_path / "play.yml", HOST, variables, COLUMNS="100000")
    assert status == 2 and "no variable drain_stepps (did you mean 'drain_steps'?)" in printed, printed
    assert not (tmp_path / "marks").exists()


HOSTS = "".join(
    f"{name} ansible_connection=local ansible_python_interpreter={sys.executable}\n" for name in ("web1", "web2")
)
BOTH = PLAY.replace("hosts: web1", "hosts: web1:web2")
CALL, ASK = "Tick | Ask the machine, and decide", "Tick | Ask the machines"
OTHERS, OWN, DECIDE = "Tick | Have others do their part", "Tick | Go through the user's own tasks", "Tick | Decide"
TASKS = {CALL: 1, OTHERS: 3, OWN: 5}  # of a tick
ONCE = {"type": "command", "do": "true"}


@pytest.mark.parametrize(
    "step, ticks",
    [
        (ONCE, {CALL}),
        ({**ONCE, "delegate_to": "web2", "hosts": ["web1"]}, {ASK, OTHERS, DECIDE}),
        ({"type": "tasks", "do": "own.yml", "hosts": ["web1"]}, {ASK, OTHERS, OWN, DECIDE}),
    ],
    ids=["machine", "others", "own tasks"],
)
def test_a_tick_has_the_tasks_that_a_step_of_any_host_needs(tmp_path, step, ticks):
    """And both hosts go through them side by side, whichever of them has the step."""
    (tmp_path / "play.yml").write_text(BOTH)
    (tmp_path / "own.yml").write_text("- ansible.builtin.command: 'true'\n")
    variables = {
        "azure_maintenance_folder": f"{tmp_path}/marks/{{{{ inventory_hostname }}}}",
        "drain_become": False,
        "drain_tasks_paths": [str(tmp_path)],
        "drain_steps": [ONCE, step],
    }
    printed, status = playbook(tmp_path, tmp_path / "play.yml", HOSTS, variables)
    assert status == 0, printed
    assert (
        set(re.findall(r"TASK \[.* : (Tick \| .*?)\] ", printed)) - {"Tick | Run the handlers that they notified"}
        == ticks
    )
    included = re.findall(r"(?m)^included: .*/tick/(\w+)\.yml for (.*?)(?: => .*)?$", printed)
    assert included and {tuple(sorted(hosts.split(", "))) for _name, hosts in included} == {("web1", "web2")}, printed
    tasks = printed.split("\nTASK [")
    last = max(
        number
        for number, task in enumerate(tasks)
        if f" : {(CALL if CALL in ticks else DECIDE)}]" in task and "\nok: [web" in task
    )
    # four more ticks, the rest of the loops, and four tasks that show the result
    assert len(tasks) - 1 - last <= 4 * TASKS[CALL if CALL in ticks else OWN if OWN in ticks else OTHERS] + 5 + 4, (
        printed
    )
