# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Role watcher by ansible-playbook, as far as it comes before it asks the machine: what is refused, and what is warned of."""

import sys

import pytest

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.action.playing import playbook

HOSTS = f"web1 ansible_connection=local ansible_python_interpreter={sys.executable}\n"
PLAY = """
- hosts: web1
  gather_facts: false
  vars:
    watcher_keep_stat: true
  roles:
    - role: cloudops.azure_maintenance.watcher
"""


LONG = """
- hosts: web1
  gather_facts: false
  vars:
    watcher_hooks:
      - {name: app, phase: prepare, content: "#!/bin/sh", limit: 500}
    drain_steps:
      - {type: command, do: "true", timeout: 101}
    watcher_python: /nowhere/python
  roles:
    - role: cloudops.azure_maintenance.watcher
"""


@pytest.mark.parametrize("state", ["present", "absent"])
def test_a_variable_that_a_play_misspells(tmp_path, state):
    (tmp_path / "play.yml").write_text(PLAY)
    given = {"watcher_state": state, "watcher_systemd": False, "azure_maintenance_folder": str(tmp_path / "state")}
    given["azure_maintenance_endpoint"] = "http://127.0.0.1:9"  # nobody is asked, should the role go on
    home = tmp_path / "home"
    home.mkdir()
    printed, status = playbook(tmp_path, tmp_path / "play.yml", HOSTS, given, HOME=str(home), COLUMNS="100000")
    said = "web1: This collection has no variable watcher_keep_stat (did you mean 'watcher_keep_state'?): correct it"
    assert status == 2 and said in printed, printed
    assert "changed=0" in printed
    assert list(home.iterdir()) == [] and not (tmp_path / "state").exists()


def test_limits_of_more_than_ten_minutes_are_warned_of_before_anything_is_done(tmp_path):
    (tmp_path / "play.yml").write_text(LONG)
    home = tmp_path / "home"
    home.mkdir()
    given = {"watcher_systemd": False, "azure_maintenance_endpoint": "http://127.0.0.1:9"}
    printed, status = playbook(tmp_path, tmp_path / "play.yml", HOSTS, given, HOME=str(home), COLUMNS="100000")
    assert "To prepare this machine may take 601 s" in printed, printed
    assert status == 2 and "web1 can't run /nowhere/python (watcher_python)" in printed
    assert "changed=0" in printed and list(home.iterdir()) == []
