# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the user's own task files must not have."""

from __future__ import annotations

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._steps.step_type import StepError
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._drain.task_files import task_file

TASK = "- {{name: Silence, ansible.builtin.command: /bin/true, run_once: {}}}"


def found(folder, text):
    (folder / "own.yml").write_text(text)
    return task_file([folder], "own.yml")


@pytest.mark.parametrize("value", ["true", "yes", "'True'", "1", "'{{ groups.web | length > 1 }}'"])
def test_a_task_that_would_run_for_one_machine_only_is_refused(tmp_path, value):
    with pytest.raises(StepError, match="own.yml: task 'Silence' has run_once, .* with delegate_to"):
        found(tmp_path, TASK.format(value))


@pytest.mark.parametrize("value", ["false", "no", "", "'off'"])
def test_one_that_runs_for_each_machine_is_not(tmp_path, value):
    assert found(tmp_path, TASK.format(value)) == str(tmp_path / "own.yml")


@pytest.mark.parametrize("key", ["block", "rescue", "always"])
def test_it_is_seen_in_blocks_and_on_them(tmp_path, key):
    inner = f"- block: []\n  {key}:\n    - block: []\n      {key}:\n        - ansible.builtin.meta: noop\n"
    assert found(tmp_path, inner)
    for mark in ("          run_once: true", "      run_once: true", "  run_once: true"):
        with pytest.raises(StepError, match="a task has run_once"):
            found(tmp_path, inner + mark)


@pytest.mark.parametrize(
    "text", ["", "{}", "- text", "- [", "- debug: {msg: !vault x}", "$ANSIBLE_VAULT;1.1;AES256\n3162\n"]
)
def test_a_file_that_cant_be_judged_is_left_to_ansible(tmp_path, text):
    assert found(tmp_path, text)


def test_a_file_that_is_not_there(tmp_path):
    assert task_file([tmp_path], "nowhere.yml") is None
