# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What Windows hears of the end of the watcher's service, by a stand-in for the service manager: by that it starts the service again, or
does not. Wine starts none again."""

import ctypes
import os
import sys

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.windows import kernel, services
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.service import windows_service


class ServiceManager:
    """Begins a service's program, and keeps what it says: states, with the code of the last one, and the end of its process."""

    def __init__(self, monkeypatch):
        self.heard, self.has_process = [], True
        self._handler = None
        monkeypatch.setattr(ctypes, "WINFUNCTYPE", ctypes.CFUNCTYPE, raising=False)
        monkeypatch.setattr(kernel, "function", lambda name: {"SetServiceStatus": self._set}.get(name, self._dispatch))
        monkeypatch.setattr(kernel, "did", self._register)
        monkeypatch.setattr(os, "_exit", self._exit)

    def stop(self):
        """What it wants of the program."""
        self._handler(services.STOP, 0, None, None)

    def _register(self, name, service, handler, context):
        self._handler = handler
        return 1

    def _dispatch(self, table):
        ctypes.CFUNCTYPE(None, ctypes.c_uint32, ctypes.c_void_p)(table[0].main)(0, None)
        return 1

    def _set(self, handle, status):
        if self.has_process:
            self.heard.append((status._obj.state, status._obj.own_code))

    def _exit(self, code):
        self.has_process = False
        self.heard.append(f"process ends with {code}")


@pytest.fixture(name="manager")
def _manager(monkeypatch):
    return ServiceManager(monkeypatch)


def served(serve):
    """A service whose program this is; the words about what it has raised."""
    words = []
    services.ServiceProgram("azure-maintenance", 1000).run(
        serve, lambda error: words.append(repr(error)), windows_service.is_crash
    )
    return words


BEGUN = (services.START_PENDING, 0)


@pytest.mark.parametrize("code", [0, 77, 78])
def test_what_only_a_person_can_put_right_stays_stopped(manager, code):
    assert served(lambda: code) == []
    assert manager.heard == [BEGUN, (services.STOPPED, code)]


@pytest.mark.parametrize("code", [1, 73, 75])
def test_any_other_error_is_a_crash(manager, code):
    assert served(lambda: code) == []
    assert manager.heard == [BEGUN, f"process ends with {code}"]


@pytest.mark.parametrize("leave", [lambda: 1 // 0, lambda: sys.exit(2)], ids=["error", "exit"])
def test_so_is_what_nobody_catches(manager, leave):
    assert len(served(leave)) == 1
    assert manager.heard == [BEGUN, "process ends with 1"]


def test_one_that_was_to_stop_has_stopped_however_it_ends(manager):
    """Whoever stops a service does not want it started again."""

    def serve():
        manager.stop()
        return 1

    served(serve)
    assert manager.heard == [BEGUN, (services.STOPPED, 1)]
