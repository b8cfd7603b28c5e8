# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The alarm: a call ends in its time, with all that it has started, and nothing else is touched."""

from __future__ import annotations

import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._machine import bounded as alarms
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._machine.bounded import Alarm

LONG = 60  # seconds: more than any machine needs to end a process


@pytest.fixture
def _impatient(monkeypatch):
    """For calls that end by no process: else a slow machine would need more than the grace to end one, and the call be ended as well."""
    monkeypatch.setattr(alarms, "GRACE", 0.3)


@pytest.fixture(autouse=True)
def _patient(monkeypatch):
    monkeypatch.setattr(alarms, "GRACE", LONG)


def state(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return "gone"


def test_a_call_that_ends_in_time_is_left_alone():
    alarm = Alarm(LONG)
    assert alarm.around(lambda: "answer") == "answer" and not alarm.rang
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_a_call_that_ends_in_time_asks_for_no_other_processes(monkeypatch):
    """There may be thousands on a controller, and each task of a tick would ask for all of them."""
    monkeypatch.setattr(alarms, "_parents", lambda: pytest.fail("all processes were asked for"))
    assert not alarms._has_children()
    assert Alarm(LONG).around(lambda: "answer") == "answer"
    child = subprocess.Popen(["sleep", "60"])
    assert alarms._has_children()
    child.kill()
    child.wait()


def test_its_error_is_its_own():
    with pytest.raises(KeyError):
        Alarm(LONG).around(lambda: {}["x"])
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGALRM) == signal.SIG_DFL


def ended_by_a_ring(alarm, command):
    """The exit code of a process for which a call waits when the alarm rings; it has said that it has begun."""

    def call():
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert process.stdout.readline() == b"begun\n"
        signal.raise_signal(signal.SIGALRM)
        return process.wait()

    return alarm.around(call)


def test_what_a_call_waits_for_is_ended_and_the_call_goes_on():
    """A connection then comes to its own end: it sees an ssh client that was killed."""
    spared = subprocess.Popen(["sleep", "60"])
    alarm = Alarm(LONG)
    assert ended_by_a_ring(alarm, ["sh", "-c", "sleep 60 & echo begun; sleep 60; exit 0"]) == -signal.SIGKILL
    assert alarm.rang and state(spared.pid) not in ("T", "Z", "X", "gone")
    spared.kill()
    spared.wait()


def running(argument):
    """The processes with this argument; those that have ended and were not waited for have none any more."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if argument in path.read_text(errors="replace"):
                found.append(int(path.parent.name))
    return found


# It ends by itself, and so do those that it starts: where the alarm fails, or the tests are killed, it must not go on for ever.
STARTS_OTHERS = """
import os, sys, time
print("begun", flush=True)
for number in range(200):
    if not os.fork():
        time.sleep(200)
        os._exit(0)
    time.sleep(0.01)
"""


def test_a_process_that_starts_others_all_the_time_is_ended_with_them(tmp_path):
    alarm = Alarm(LONG)
    assert ended_by_a_ring(alarm, [sys.executable, "-c", STARTS_OTHERS, str(tmp_path)]) == -signal.SIGKILL
    deadline = time.monotonic() + LONG  # they were killed, which takes its time on a machine that is busy
    while running(str(tmp_path)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not running(str(tmp_path))


def test_a_ring_while_processes_are_being_ended_begins_nothing_anew(monkeypatch):
    """Where there are thousands of them it takes longer than the grace."""
    asked = []

    def slowly():
        asked.append(1)
        signal.raise_signal(signal.SIGALRM)
        return set()

    monkeypatch.setattr(alarms, "_has_children", lambda: False)
    monkeypatch.setattr(alarms, "_descendants", slowly)
    assert Alarm(LONG).around(lambda: signal.raise_signal(signal.SIGALRM) or "answer") == "answer"
    assert asked == [1]


@pytest.mark.usefixtures("_impatient")
def test_a_call_that_waits_for_no_process_is_ended_itself():
    started = time.monotonic()
    alarm = Alarm(0.2)
    assert alarm.around(lambda: time.sleep(2 * LONG)) is None
    assert alarm.rang and time.monotonic() - started < LONG


@pytest.mark.usefixtures("_impatient")
def test_a_clean_up_that_hangs_is_ended_as_well():
    ended = []

    def call():
        try:
            time.sleep(60)
        finally:
            try:
                time.sleep(60)
            finally:
                ended.append(True)

    alarm = Alarm(0.2)
    assert alarm.around(call) is None and ended == [True]
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


@pytest.mark.usefixtures("_impatient")
def test_nobody_takes_it_for_an_error_to_try_again():
    tries = []

    def call():
        while True:
            try:
                tries.append(1)
                time.sleep(60)
            except Exception:
                continue

    assert Alarm(0.2).around(call) is None and tries == [1]


def test_an_alarm_that_was_set_before_is_heard_after(monkeypatch):
    heard = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: heard.append(number))
    try:
        Alarm(LONG).around(lambda: None)
        os.kill(os.getpid(), signal.SIGALRM)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert heard == [signal.SIGALRM]


def test_without_proc_the_processes_are_asked_of_ps(monkeypatch):
    monkeypatch.setattr(os.path, "isdir", lambda path: False)
    assert alarms._parents()[os.getpid()] == os.getppid()
