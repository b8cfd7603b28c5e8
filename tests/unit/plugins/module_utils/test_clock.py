# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
import time

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._clock import Clock, Deadline, steady, ticks
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import ScriptedClock


def looks(clock, interval, seconds, takes=0.0):
    """When the looks of a wait come."""
    times = []
    for count in ticks(clock, interval, Deadline(clock, seconds)):
        times.append(clock.elapsed)
        assert count == len(times)
        clock.elapsed += takes
    return times


def test_a_look_every_interval_and_a_last_one_at_the_deadline():
    clock = ScriptedClock()
    assert looks(clock, 1.0, 2.5) == [0, 1, 2, 2.5]
    assert clock.sleeps == [1, 1, 0.5]


def test_no_time_is_one_look():
    clock = ScriptedClock()
    assert looks(clock, 1.0, 0) == [0]
    assert clock.sleeps == []


def test_an_interval_beyond_the_deadline_is_clipped():
    assert looks(ScriptedClock(), 60.0, 5) == [0, 5]


def test_a_look_that_outlasts_the_deadline_is_followed_by_one_more():
    # only a look that began after the deadline tells that nothing happened before it
    assert looks(ScriptedClock(), 1.0, 5, takes=10) == [0, 10]


def test_a_deadline_counts_down_to_nothing():
    clock = ScriptedClock()
    deadline = Deadline(clock, 3)
    assert deadline.remaining() == 3 and not deadline.passed()
    clock.sleep(3)
    assert deadline.remaining() == 0 and deadline.passed()
    clock.sleep(3)
    assert deadline.remaining() == 0


def test_no_deadline_never_passes():
    deadline = Deadline(ScriptedClock(), None)
    assert deadline.remaining() == float("inf") and not deadline.passed()


@pytest.mark.parametrize("seconds, slept", [(1.5, [1.5]), (0, []), (-1, [])])
def test_the_real_clock(monkeypatch, seconds, slept):
    calls = []
    monkeypatch.setattr(time, "sleep", calls.append)
    monkeypatch.setattr(time, "monotonic", lambda: 12.0)
    monkeypatch.setattr(time, "time", lambda: 34.0)
    clock = Clock()
    clock.sleep(seconds)
    assert calls == slept
    assert (clock.now(), clock.wall()) == (12.0, 34.0)


def test_the_steady_clock_goes_on_while_the_system_sleeps(monkeypatch):
    monkeypatch.setattr(time, "CLOCK_BOOTTIME", "boot", raising=False)
    monkeypatch.setattr(time, "clock_gettime", {"boot": 12.5}.__getitem__, raising=False)
    assert steady() == 12.5
    monkeypatch.delattr(time, "CLOCK_BOOTTIME")
    monkeypatch.setattr(time, "monotonic", lambda: 7.0)
    assert steady() == 7.0, "where there is no such clock"
