# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The machine program itself by way of the action machine, against an emulator on loopback."""

import base64
import json
import sys

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.action.playing import emulator, playbook

ID = "0B7D7A24-9C1A-4B8E-8E5C-0B8C2A8F0C11"
SCENARIO = {
    "settings": {"rate_limit": 0},
    "vms": [{"name": "web1"}],
    "resources": ["web1"],
    "events": [{"type": "Reboot", "id": ID, "notice": 900, "tail": "never"}],
}
HOSTS = f"""
web1 ansible_connection=local ansible_python_interpreter={sys.executable}
down ansible_connection=ssh ansible_host=127.0.0.1 ansible_port=1
"""
PLAY = """
- hosts: all
  gather_facts: false
  tasks:
    - set_fact:
        plan:
          steps: [{key: command x, type: command, do: [sh, -c, "echo very secret"], password: "{{ 'deep' ~ 'secret' }}"}]
      no_log: true
    - cloudops.azure_maintenance.internal:
        work: machine
        call:
          requests: [{do: hello}, {do: look, wait: 0, since: null}]
        options:
          endpoint: "{{ emulator }}"
          folder: "{{ folder }}"
        plan: plan
      register: answer
    - debug:
        msg: "ANSWER {{ inventory_hostname }} {{ answer | to_json | b64encode }} "
"""


def test_a_machine_says_who_it_is_and_what_it_sees(tmp_path):
    (tmp_path / "play.yml").write_text(PLAY)
    with emulator(tmp_path, SCENARIO) as (address, _control):
        variables = {"emulator": address + "/vm/web1", "folder": str(tmp_path / "marks")}
        printed, status = playbook(tmp_path, tmp_path / "play.yml", HOSTS, variables, ANSIBLE_VERBOSITY="3")
    assert status == 0 and "unreachable=1" not in printed and "very secret" not in printed, printed
    assert "deepsecret" not in printed
    words = [text.split()[:2] for text in printed.split("ANSWER ")[1:]]
    answers = {host: json.loads(base64.b64decode(text)) for host, text in words}
    assert answers["web1"]["lost"] == ""
    hello, look = answers["web1"]["answers"]
    assert hello["resource_name"] == "web1" and hello["problem"] == ""
    assert [event["id"] for event in look["events"]] == [ID] and 0 <= look["age"] <= look["began"]
    assert answers["web1"]["mark"] is None and answers["web1"]["boot_id"]
    assert "refused" in answers["down"]["lost"] and answers["down"]["answers"] is None


IN_A_ROW = """
- hosts: web1
  gather_facts: false
  tasks:
    - cloudops.azure_maintenance.internal: {work: machine, call: {requests: [&look {do: look, wait: 0}, *look]}, options: &options {endpoint: "{{ emulator }}"}}
      register: looked
    - cloudops.azure_maintenance.internal:
        work: machine
        call:
          requests: [{do: approve, ids: ["%s"], prepared: [web1], decided: "{{ lookup('ansible.builtin.file', '/proc/uptime').split() | first }}"}]
          heard: "{{ looked.heard }}"
        options: *options
      register: answer
      failed_when: answer.answers[0].approved | length != 1 or answer.answers[0].look.failure is not none
"""


def test_an_approval_right_after_looks_is_not_refused(tmp_path):
    """Its service answers five requests a second."""
    (tmp_path / "play.yml").write_text(IN_A_ROW % ID)
    with emulator(tmp_path, {**SCENARIO, "settings": {}}) as (address, _control):
        printed, status = playbook(tmp_path, tmp_path / "play.yml", HOSTS, {"emulator": address + "/vm/web1"})
    assert status == 0, printed
    requests = [json.loads(line) for line in (tmp_path / "journal").read_text().splitlines() if '"request"' in line]
    assert [request["status"] for request in requests] == [200] * 9
