# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role's filters: what they hand to the plain Python behind them, and what they make of files and systems."""

from __future__ import annotations

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.cloudops.azure_maintenance.plugins.filter import drain_steps

GROUPS = {"all": ["web1", "lb1"]}
COMMAND = {"type": "command", "name": "one", "do": "a b"}


def plan(steps, **more):
    return drain_steps.drain_steps(steps, **dict({"host": "web1", "system": "linux", "groups": GROUPS}, **more))


def test_the_file_has_the_filter_of_its_name():
    assert drain_steps.FilterModule().filters() == {"drain_steps": drain_steps.drain_steps}


def test_the_steps_time_is_the_one_asked_for():
    assert plan([{"type": "service", "name": "x"}], timeout="7")["prepare"][0]["timeout"] == 7.0


def test_a_system_that_is_none():
    with pytest.raises(AnsibleFilterError, match="system is 'mac'; it is one of linux, windows"):
        plan([], system="mac")


def test_task_files_are_looked_for_in_order(tmp_path):
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
    (tmp_path / "two" / "mine.yml").write_text("[]")
    search = ["", str(tmp_path / "one"), str(tmp_path / "two")]
    step = {"type": "tasks", "do": "mine.yml"}
    assert plan([step], search=search)["prepare"][0]["do"] == str(tmp_path / "two" / "mine.yml")
    (tmp_path / "one" / "mine.yml").write_text("[]")
    assert plan([step], search=search)["prepare"][0]["do"] == str(tmp_path / "one" / "mine.yml")
    (tmp_path / "one" / "mine.yml").unlink()
    absolute = {"type": "tasks", "do": str(tmp_path / "two" / "mine.yml")}
    assert plan([absolute])["prepare"][0]["do"] == absolute["do"]
    assert "is not there: mine.yml" in plan([step])["errors"][0]


def test_the_system_of_a_delegate_is_told_by_its_variables():
    step = dict(COMMAND, delegate_to="lb1")
    assert plan([step])["prepare"][0]["system"] == "linux"
    hostvars = {"lb1": {"ansible_connection": "winrm"}}
    assert plan([step], hostvars=hostvars)["prepare"][0]["system"] == "windows"


def test_a_step_is_not_changed_by_planning_it():
    step = {"type": "http", "do": {"url": "http://a/", "until": {}}}
    plan([step])
    assert step == {"type": "http", "do": {"url": "http://a/", "until": {}}}


def test_a_task_file_with_run_once_is_refused_with_its_step(tmp_path):
    (tmp_path / "mine.yml").write_text("- {name: Silence, ansible.builtin.command: /bin/true, run_once: true}")
    found = plan([{"type": "tasks", "do": "mine.yml"}], search=[str(tmp_path)], verify=["mine.yml"])
    starts = [error.partition(", so")[0] for error in found["errors"]]
    assert starts == [
        "drain_steps, step 1 (tasks): mine.yml: task 'Silence' has run_once",
        "drain_verify_tasks, file 1: mine.yml: task 'Silence' has run_once",
    ]
