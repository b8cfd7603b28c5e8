# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plays that name role drain and none of its entry points."""

from __future__ import annotations

import json
import sys

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
