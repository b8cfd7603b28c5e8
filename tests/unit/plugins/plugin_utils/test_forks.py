# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What Ansible's processes find worked out once an action was loaded."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import importlib, inspect
from ansible.executor import task_executor
assert task_executor.__file__ not in inspect.modulesbyfile
importlib.import_module("ansible_collections.cloudops.azure_maintenance.plugins.action.{}")
assert task_executor.__file__ in inspect.modulesbyfile
"""


@pytest.mark.parametrize("action", ["preflight", "tick"])
def test_which_module_is_in_which_file_is_known_before_processes_are_forked(action):
    subprocess.run([sys.executable, "-c", PROGRAM.format(action)], check=True, timeout=60)


FILTERS = """
import importlib
from ansible.plugins import loader

def loads(*args, **kwargs):
    raise AssertionError("they were not loaded before")

importlib.import_module("ansible_collections.cloudops.azure_maintenance.plugins.action.{}")
loader.PluginLoader.all = loads  # by which a loader of filters finds its files
assert loader.filter_loader.get("ansible.builtin.combine") and loader.test_loader.get("ansible.builtin.search")
"""


@pytest.mark.parametrize("action", ["preflight", "tick"])
def test_filters_and_tests_are_loaded_before_processes_are_forked(action):
    subprocess.run([sys.executable, "-c", FILTERS.format(action)], check=True, timeout=60)
