# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""For several files of tests: a machine with the watcher as its service, and a file that is found open."""

import threading
import time
import types

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.windows import (
    platform as windows_files,
)
from ansible_collections.cloudops.azure_maintenance.tests.wine.hooking import LONG
from ansible_collections.cloudops.azure_maintenance.tests.wine.installed import Machine, build, next_name


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return build(tmp_path_factory.mktemp("program"))


@pytest.fixture
def machine(tmp_path, program):
    found = Machine(tmp_path, program, next_name())
    yield found
    found.end()


@pytest.fixture
def refused(monkeypatch):
    """An event: somebody has found a file open, and is about to try again. Nobody gives up meanwhile."""
    found = threading.Event()

    def sleep(seconds):
        found.set()
        time.sleep(seconds)

    monkeypatch.setattr(windows_files, "time", types.SimpleNamespace(monotonic=time.monotonic, sleep=sleep))
    monkeypatch.setattr(windows_files, "PATIENCE", LONG)
    return found
