# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What whole plays print, by Ansible's own callback: of a run that only shows an event, and where somebody else's part of a step fails."""

import re
import sys

import pytest

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.action.mixed import ID, MAINTAIN, PLAYS
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.action.playing import emulator, playbook

HOSTS = "".join(
    f"{host} ansible_connection=local ansible_python_interpreter={sys.executable}\n" for host in ("linux1", "linux2")
)
SCENARIO = {
    "settings": {"rate_limit": 0},
    "vms": [{"name": "linux1", "scope": "web"}, {"name": "linux2", "scope": "web"}],
    "resources": ["linux2"],
    "events": [{"type": "Freeze", "id": ID, "notice": 3600, "tail": 100}],
}
LINE = re.compile(r"(?m)^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ  (\w+)")
RED = re.compile(r"(?m)^(fatal|failed): .*|^\.\.\.ignoring|.*rescued=[1-9].*")
FAILS = """
- name: Steps whose part elsewhere fails
  hosts: linux1
  gather_facts: false
  tasks:
    - name: Prepare, one step at a time
      ansible.builtin.include_tasks: one.yml
      loop: "{{ steps }}"
      loop_control:
        loop_var: step
"""
ONE = """
- name: Prepare
  ansible.builtin.include_role:
    name: cloudops.azure_maintenance.drain
    tasks_from: prepare
    apply: {ignore_errors: true}
  vars:
    drain_steps: "{{ [step] }}"

- name: Show what came of it
  ansible.builtin.debug:
    msg: "{{ drain_result.message }}"
"""


def run(folder, play, variables):
    with emulator(folder, SCENARIO) as (address, _control):
        variables = dict(variables, emulator=address, azure_maintenance_folder=f"{folder}/{{{{ inventory_hostname }}}}")
        return playbook(folder, play, HOSTS, variables)


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """A run that finds an event which it only shows."""
    policy = [{"name": "Only look", "do": "notify"}]
    variables = dict(MAINTAIN, azure_maintenance_hosts="all", maintain_wait_timeout=0, azure_maintenance_policy=policy)
    folder = tmp_path_factory.mktemp("shown")
    printed, status = run(folder, "cloudops.azure_maintenance.maintain", variables)
    assert status == 0, printed
    return printed


def test_what_happens_is_printed_once(shown):
    assert LINE.findall(shown) == ["shown", "planned"]
    assert f"Freeze {ID} (Platform) affects linux2 (linux2)" in shown


def test_the_timeline_is_the_last_that_is_shown(shown):
    task = shown[shown.index("Go on | Poll") : shown.index("\nok: [linux1]")]
    news, event, timeline = task.rpartition(f"\nFreeze {ID} (Platform) affects linux2 (linux2)\n")
    assert event and "  planned " in news and re.match(r"  20\S+  shown .*\n  20\S+  planned ", timeline)


def maintenance_of_three(folder, step, resources, **reboot):
    """A run over three machines that goes through a reboot of some of them: what it printed, how it ended, and (changed, failed) by host."""
    hosts = ("linux1", "linux2", "linux3")
    reboot = {"type": "Reboot", "id": ID, **reboot}
    vms = [{"name": host, "scope": "web"} for host in hosts]
    scenario = {**SCENARIO, "vms": vms, "events": [reboot], "resources": resources}
    inventory = "".join(
        f"{host} ansible_connection=local ansible_python_interpreter={sys.executable}\n" for host in hosts
    )
    with emulator(folder, scenario) as (address, _control):
        variables = dict(MAINTAIN, emulator=address, azure_maintenance_folder=f"{folder}/{{{{ inventory_hostname }}}}")
        variables.update(azure_maintenance_hosts="all", maintain_rounds=1, drain_steps=[step])
        printed, status = playbook(folder, "cloudops.azure_maintenance.maintain", inventory, variables)
    return printed, status, re.findall(r"(?m)^(\w+) .*changed=(\d) .*failed=(\d)", printed)


def test_a_maintenance_of_one_of_three_machines_fits_on_a_screen(tmp_path):
    """All that is printed from the start to the recap, and who has changed in that."""
    step = {"type": "command", "do": ["sleep", "1"], "undo": ["true"]}
    printed, status, counted = maintenance_of_three(tmp_path, step, ["linux2"], notice=900, tail=3)
    assert status == 0, printed
    assert "  recovered  linux2" in printed and len(printed[: printed.index("PLAY RECAP")].splitlines()) <= 60, printed
    assert counted == [("linux1", "0", "0"), ("linux2", "1", "0")]  # linux1 has run the task for all


def test_a_machine_that_could_not_be_prepared_fails_and_no_other_with_it(tmp_path):
    step = {"type": "command", "do": "test {{ inventory_hostname }} != linux2", "undo": ["true"]}
    printed, status, counted = maintenance_of_three(tmp_path, step, ["linux2", "linux3"], notice=45, tail=2)
    assert status == 2 and "Left for a person" in printed, printed
    assert counted == [("linux1", "0", "0"), ("linux2", "0", "1"), ("linux3", "1", "0")], printed


def test_a_part_that_fails_is_no_error_in_red(tmp_path):
    steps = [
        {"type": "command", "do": ["sh", "-c", "echo no such server >&2; exit 3"], "delegate_to": "linux2"},
        {"type": "command", "do": "true", "delegate_to": "lost"},
        {"type": "haproxy", "load_balancers": ["linux2"], "socket": str(tmp_path / "none")},
    ]
    (tmp_path / "fails.yml").write_text(FAILS)
    (tmp_path / "one.yml").write_text(ONE)
    lost = "lost ansible_host=lost ansible_connection=standin ansible_shell_type=powershell\n"
    variables = {"steps": steps, "azure_maintenance_folder": str(tmp_path / "marks")}
    standin = {"ANSIBLE_CONNECTION_PLUGINS": str(PLAYS), "STANDIN_LOG": str(tmp_path / "calls")}
    printed, status = playbook(tmp_path, tmp_path / "fails.yml", HOSTS + lost, variables, **standin)
    ends = ["fatal", ""]  # of each step the role's own end alone, which the play ignores
    assert status == 0 and RED.findall(printed) == ends * len(steps), printed
    said = re.findall(r'(?m)^ +"msg": "(.*)"', printed)
    assert ["exit code 3" in said[0], "lost unreachable" in said[1], "linux2" in said[2]] == [True] * 3, said
