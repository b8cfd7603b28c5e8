# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the watcher says to systemd and its journal, what it asks of the system, and that it is alone."""

import io
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine import system as machine_system
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.system import System
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.reports.systemd_transport import (
    JournalLog,
    Log,
    Notify,
    StreamLog,
    make_log,
    send_datagram,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.service import linux_system
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.service.linux_system import (
    LinuxSystem,
    PipeWake,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.service.service import Manager
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.service.state_files import (
    AlreadyRunning,
    InstanceLock,
    RememberedState,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.watching import (
    Lines,
    until,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import ScriptedClock


@pytest.fixture
def listener(tmp_path):
    found = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    found.bind(str(tmp_path / "socket"))
    found.settimeout(60)
    yield found
    found.close()


# --- systemd ---


def test_no_child_takes_itself_for_the_service(tmp_path, listener, monkeypatch):
    """As systemd-run does, whose words systemd then refuses with a warning."""
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "socket"))
    notify = Manager().notify()
    seen = subprocess.run(["env"], stdout=subprocess.PIPE, check=True).stdout
    assert b"NOTIFY_SOCKET" not in seen
    notify.ready()
    assert listener.recv(100) == b"READY=1"


def test_what_systemd_is_told(tmp_path, listener):
    notify = Notify({"NOTIFY_SOCKET": str(tmp_path / "socket"), "WATCHDOG_USEC": "180000000"}, send_datagram)
    assert notify.interval == 30.0
    notify.ready()
    notify.status("watching\nREADY=0")
    notify.status("watching\nREADY=0")
    notify.alive()
    notify.stopping()
    said = [listener.recv(1000).decode() for _each in range(4)]
    assert said == ["READY=1", "STATUS=watching READY=0", "WATCHDOG=1", "STOPPING=1"]


def test_a_name_outside_of_the_file_system():
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(f"\0azure-maintenance-{os.getpid()}")
        Notify({"NOTIFY_SOCKET": f"@azure-maintenance-{os.getpid()}"}, send_datagram).ready()
        assert listener.recv(100) == b"READY=1"


def test_without_a_service_manager_nobody_is_told():
    sent = []
    notify = Notify({"WATCHDOG_USEC": "1000000"}, lambda *message: sent.append(message))
    notify.ready()
    assert notify.interval == 0.0 and sent == []


def test_whoever_does_not_listen_holds_nobody_up(tmp_path, listener):
    assert not send_datagram(str(tmp_path / "nobody"), b"x")
    sent = 0
    while send_datagram(str(tmp_path / "socket"), b"x" * 1000) and sent < 10000:
        sent += 1
    assert sent < 10000, "nobody reads, and no more is sent than fits"


# --- the journal ---


def fields_of(datagram):
    """The fields of the journal's own protocol."""
    found = {}
    while datagram:
        name, _newline, rest = datagram.partition(b"\n")
        (length,) = struct.unpack("<Q", rest[:8])
        found[name.decode()], datagram = rest[8 : 8 + length].decode(), rest[9 + length :]
    return found


def test_the_journal_gets_fields(tmp_path, listener):
    log = JournalLog(send_datagram, Log(), str(tmp_path / "socket"))
    log.say("Two\nlines=1\u00e9", 4, event_id="A-1", outage="", none=None, count=0)
    assert fields_of(listener.recv(10000)) == {
        "MESSAGE": "Two\nlines=1\u00e9",
        "PRIORITY": "4",
        "SYSLOG_IDENTIFIER": "azure-maintenance",
        "AZURE_MAINTENANCE_EVENT_ID": "A-1",
        "AZURE_MAINTENANCE_COUNT": "0",
    }
    log.say("x" * 1000000)
    assert len(fields_of(listener.recv(500000))["MESSAGE"]) == 48 * 1024


def test_what_the_journal_does_not_take_goes_elsewhere(tmp_path):
    lines = Lines()
    JournalLog(send_datagram, lines, str(tmp_path / "nobody")).say("Here.")
    assert lines.lines == ["Here."]


def test_lines_for_people():
    stream = io.StringIO()
    StreamLog(stream, ScriptedClock()).say("One\nTwo\x1b[31m", 3, event_id="x")
    StreamLog(stream, ScriptedClock(), with_priority=True).say("Three", 3)
    assert stream.getvalue() == "2026-01-01T00:00:00Z One\n2026-01-01T00:00:00Z Two [31m\n<3>Three\n"
    stream.close()
    StreamLog(stream, ScriptedClock()).say("Nobody reads it any more.")


def test_which_log_it_is(tmp_path, monkeypatch, listener):
    with open(str(tmp_path / "err"), "w") as err:
        monkeypatch.setattr(sys, "stderr", err)
        found = os.fstat(err.fileno())
        stream = f"{found.st_dev}:{found.st_ino}"
        monkeypatch.setattr(f"{make_log.__module__}.JOURNAL", str(tmp_path / "socket"))
        assert isinstance(make_log({"JOURNAL_STREAM": stream}, ScriptedClock(), send_datagram), JournalLog)
        for environment in ({}, {"JOURNAL_STREAM": "1:1"}):
            assert isinstance(make_log(environment, ScriptedClock(), send_datagram), StreamLog)


# --- the system ---


def system(clock, *words, **more):
    answers = list(words)
    return LinuxSystem(
        clock, more.get("boot_timeout", 300.0), lambda: answers.pop(0), System(), more.get("systemd", True)
    )


def test_it_is_settled_when_the_boot_is_over():
    found = system(ScriptedClock(), "initializing", "starting", "degraded", "starting")
    settled = []
    for _each in range(4):
        found.ask()
        settled.append(found.settled)
    assert settled == [False, False, True, True] and not found.going_down


def test_or_when_it_was_waited_for_long_enough():
    clock = ScriptedClock()
    found = system(clock, "starting", boot_timeout=20.0)
    found.ask()
    clock.elapsed += 19
    assert not found.settled
    clock.elapsed += 1
    assert found.settled


def test_it_goes_down():
    found = system(ScriptedClock(), "stopping", "running")
    found.ask()
    assert found.going_down and not found.settled
    found.ask()
    assert not found.going_down and found.settled


def test_where_systemd_says_nothing_nothing_is_waited_for():
    found = system(ScriptedClock(), "")
    found.ask()
    assert found.settled and not found.going_down
    assert system(ScriptedClock(), systemd=False).settled


def test_it_is_asked_only_while_that_matters(monkeypatch):
    monkeypatch.setattr(linux_system, "ASK_EVERY", 0.01)
    asked = []
    found = LinuxSystem(linux_system.Clock(), 300.0, lambda: asked.append(1) or "running", System())
    found.start()
    until(lambda: asked)
    time.sleep(0.1)
    assert len(asked) <= 2
    found.watch_closely(True)
    until(lambda: len(asked) > 5)
    found.watch_closely(False)
    time.sleep(0.05)
    count = len(asked)
    time.sleep(0.1)
    assert len(asked) <= count + 1
    found.stop()
    found._thread.join(60)
    assert not found._thread.is_alive()


@pytest.mark.parametrize("script, word", [("echo stopping; exit 1", "stopping"), ("sleep 600", "")])
def test_systemctl_is_asked_within_bounds(tmp_path, monkeypatch, script, word):
    program = tmp_path / "systemctl"
    program.write_text(f"#!/bin/sh\n{script.replace('sleep', 'exec sleep')}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(machine_system, "ASK_LIMIT", 60 if word else 0.5)
    began = time.monotonic()
    assert machine_system.is_system_running() == word
    assert time.monotonic() - began < 300
    assert machine_system.has_started(10.0), "only what it says of its start counts"
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    assert machine_system.is_system_running() == ""


def test_the_moment_is_the_machines():
    moment = system(ScriptedClock()).moment()
    assert moment.boot_id == System().boot_id() and abs(moment.uptime - System().uptime()) < 300


def test_the_loop_is_woken_from_threads_and_signals():
    wake = PipeWake()
    began = time.monotonic()
    threading.Timer(0.1, wake.wake).start()
    wake.wait(600)
    for _each in range(200000 // 4096):
        for _more in range(4096):
            wake.wake()
    wake.wait(600)
    before = signal.signal(signal.SIGALRM, lambda number, frame: wake.wake())
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    for _each in range(100):  # until the pipe is empty, then until the signal
        wake.wait(0.01)
    signal.signal(signal.SIGALRM, before)
    assert time.monotonic() - began < 300
    took = time.monotonic()
    wake.wait(0.2)
    assert time.monotonic() - took > 0.15


# --- alone, and what is remembered ---


def test_only_one_runs_for_a_folder(tmp_path):
    first = InstanceLock(str(tmp_path))
    code = "import fcntl, sys; fcntl.flock(open(sys.argv[1]), fcntl.LOCK_EX | fcntl.LOCK_NB)"
    other = [sys.executable, "-c", code, str(tmp_path / "watcher.lock")]
    assert subprocess.run(other, stderr=subprocess.DEVNULL, check=False).returncode == 1
    with pytest.raises(AlreadyRunning, match=f"process {os.getpid()}"):
        InstanceLock(str(tmp_path))
    first.release()
    InstanceLock(str(tmp_path)).release()
    assert subprocess.run(other, check=False).returncode == 0


def test_what_is_remembered(tmp_path):
    folder = tmp_path / "run"
    first = RememberedState(str(folder))
    assert first.what == {}
    first.keep({"a": [1]})
    written = (folder / "remembered.json").stat().st_ino
    first.keep({"a": [1]})
    assert (folder / "remembered.json").stat().st_ino == written
    assert RememberedState(str(folder)).what == {"a": [1]}
    first.keep({"a": [1]}, [{"id": "1"}])
    second = RememberedState(str(folder))
    assert (second.what, second.reports) == ({"a": [1]}, [{"id": "1"}])
    second.keep({"a": [1]})
    assert RememberedState(str(folder)).reports == []
    for broken in ("{", "[]"):
        (folder / "remembered.json").write_text(broken)
        assert RememberedState(str(folder)).what == {}


def test_the_boot_is_the_one_that_systemd_names():
    said = {"AZURE_MAINTENANCE_BOOT_ID": "5ce768ea970948c59b355a2b476a16a1"}
    assert linux_system.this_system(said).boot_id() == "5ce768ea-9709-48c5-9b35-5a2b476a16a1"
    assert linux_system.this_system({}).boot_id() == System().boot_id()
