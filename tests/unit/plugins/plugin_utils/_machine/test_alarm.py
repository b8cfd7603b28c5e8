# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The alarm: a call ends in its time, with all that it has started, and nothing else is touched."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._machine import alarm as alarms
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._machine.alarm import Alarm


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(alarms, "GRACE", 0.3)


def state(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return "gone"


def test_a_call_that_ends_in_time_is_left_alone():
    alarm = Alarm(5)
    assert alarm.around(lambda: "answer") == "answer" and not alarm.rang
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_a_call_that_ends_in_time_asks_for_no_other_processes(monkeypatch):
    """There may be thousands on a controller, and each task of a tick would ask for all of them."""
    monkeypatch.setattr(alarms, "_parents", lambda: pytest.fail("all processes were asked for"))
    assert not alarms._has_children()
    assert Alarm(5).around(lambda: "answer") == "answer"
    child = subprocess.Popen(["sleep", "60"])
    assert alarms._has_children()
    child.kill()
    child.wait()


def test_its_error_is_its_own():
    with pytest.raises(KeyError):
        Alarm(5).around(lambda: {}["x"])
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGALRM) == signal.SIG_DFL


def test_what_a_call_waits_for_is_ended_and_the_call_goes_on():
    """A connection then comes to its own end: it sees an ssh client that was killed."""
    spared = subprocess.Popen(["sleep", "60"])
    alarm = Alarm(0.3)
    done = alarm.around(
        lambda: subprocess.run(["sh", "-c", "sleep 60 & sleep 60; exit 0"], stdout=subprocess.PIPE, check=False)
    )
    assert alarm.rang and done.returncode == -signal.SIGKILL
    assert state(spared.pid) in "SR"
    spared.kill()
    spared.wait()


def test_a_process_that_starts_others_all_the_time_is_ended_with_them(tmp_path):
    # What it starts starts nothing, and there is an end to it: whatever escapes a test that is cut off does no harm.
    code = "import os, time\nfor _number in range(200):\n    if not os.fork():\n        time.sleep(30)\n        os._exit(0)\n    time.sleep(0.05)"
    alarm = Alarm(0.4)
    alarm.around(lambda: subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=False))
    time.sleep(0.2)
    assert alarm.rang and not alarms._descendants()


def test_a_call_that_waits_for_no_process_is_ended_itself():
    started = time.monotonic()
    alarm = Alarm(0.2)
    assert alarm.around(lambda: time.sleep(60)) is None
    assert alarm.rang and time.monotonic() - started < 5


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
        Alarm(5).around(lambda: None)
        os.kill(os.getpid(), signal.SIGALRM)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert heard == [signal.SIGALRM]


def test_without_proc_the_processes_are_asked_of_ps(monkeypatch):
    monkeypatch.setattr(os.path, "isdir", lambda path: False)
    assert alarms._parents()[os.getpid()] == os.getppid()
