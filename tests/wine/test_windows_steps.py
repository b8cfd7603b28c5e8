# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps that a Windows machine does by itself: services by its service manager, and the connections that its kernel lists."""

import socket
import subprocess
import sys

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine import step_runners
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.step_runner import (
    ABSENT,
    DONE,
    FAILED,
    PENDING,
    RunnerFailed,
    StepRun,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.windows import services
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._machine.acting import step
from ansible_collections.cloudops.azure_maintenance.tests.wine.hooking import LONG, jobs_in, until

NAME = "azure-maintenance-test"
# A service that does nothing
SERVICE = """
import ctypes, threading
stop = threading.Event()
class Status(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint32) for name in "abcdefg"]
class Entry(ctypes.Structure):
    _fields_ = [("name", ctypes.c_wchar_p), ("main", ctypes.c_void_p)]
api = ctypes.WinDLL("advapi32")
api.RegisterServiceCtrlHandlerExW.restype = ctypes.c_void_p
def said(state):
    api.SetServiceStatus(ctypes.c_void_p(handle[0]), ctypes.byref(Status(16, state, 1, 0, 0, 0, 0)))
@ctypes.WINFUNCTYPE(ctypes.c_uint32, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_void_p)
def control(what, kind, data, context):
    if what == 1:
        stop.set()
    return 0
handle = []
@ctypes.WINFUNCTYPE(None, ctypes.c_uint32, ctypes.c_void_p)
def main(count, words):
    handle.append(api.RegisterServiceCtrlHandlerExW("x", control, None))
    said(4)
    stop.wait()
    said(1)
api.StartServiceCtrlDispatcherW((Entry * 2)(Entry("x", ctypes.cast(main, ctypes.c_void_p)), Entry(None, None)))
"""


def sc(*words):
    return subprocess.Popen(["sc.exe", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).wait()


@pytest.fixture
def service(tmp_path):
    (tmp_path / "service.py").write_text(SERVICE)
    command = subprocess.list2cmdline([sys.executable, str(tmp_path / "service.py")])
    assert sc("create", NAME, "binPath=", command) == 0
    yield NAME
    if services.state_of(NAME) != services.STOPPED:
        services.stop(NAME)
    sc("delete", NAME)


def did(tmp_path, wanted, direction, job, limit=LONG, initial=None):
    runner = step_runners.make_runners(jobs_in(tmp_path))[wanted["type"]]
    step_run = StepRun(wanted, direction, job, limit, 0.0, initial or {})

    def over():
        progress = runner.begin(step_run)  # again while nothing is seen of it, as its keeper may be slow
        return progress.state not in (ABSENT, PENDING) and progress

    return until(over, "the end of the step")


def test_a_service_is_stopped_and_started(tmp_path, service):
    wanted = step(service, "service", service=service, no_log=False)
    runner = step_runners.make_runners(jobs_in(tmp_path))["service"]
    assert runner.before(wanted) == {"ran": False}
    assert did(tmp_path, wanted, "undo", "one").state == DONE
    assert services.state_of(service) == services.RUNNING and runner.before(wanted) == {"ran": True}
    assert did(tmp_path, wanted, "do", "two").state == DONE
    assert services.state_of(service) == services.STOPPED
    assert did(tmp_path, wanted, "do", "three").state == DONE, "it is stopped already"


def test_a_boot_starts_no_service_before_it_is_recovered(tmp_path, service):
    """By an automatic one: Wine knows none that is delayed."""
    services.set_start_mode(service, "auto")
    services.start(service)
    wanted = step(service, "service", service=service, stay_stopped=True, no_log=False)
    initial = step_runners.make_runners(jobs_in(tmp_path))["service"].before(wanted)
    assert initial == {"ran": True, "start_mode": "auto"}
    assert did(tmp_path, wanted, "do", "one", initial=initial).state == DONE
    assert (services.state_of(service), services.start_mode_of(service)) == (services.STOPPED, "manual")
    assert did(tmp_path, wanted, "undo", "two", initial=initial).state == DONE
    assert (services.state_of(service), services.start_mode_of(service)) == (services.RUNNING, "auto")


def test_one_that_is_not_there(tmp_path):
    wanted = step("one", "service", service="no such service", no_log=False)
    with pytest.raises(RunnerFailed, match="this machine has no service no such service"):
        step_runners.make_runners(jobs_in(tmp_path))["service"].before(wanted)
    progress = did(tmp_path, wanted, "do", "one")
    assert progress.state == FAILED and "no service" in progress.note


def test_one_that_ends_at_its_start(tmp_path, service):
    (tmp_path / "service.py").write_text("raise SystemExit(3)")
    progress = did(tmp_path, step(service, "service", service=service, no_log=False), "undo", "one")
    assert progress.state == FAILED and progress.note


def test_connections_are_counted():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(1)
        port = listener.getsockname()[1]
        assert step_runners.established(port, set()) == 0
        with socket.create_connection(("127.0.0.1", port)):
            accepted = listener.accept()[0]
            until(lambda: step_runners.established(port, set()) == 1, "the connection")
            accepted.close()
        until(lambda: step_runners.established(port, set()) == 0, "its end")
