# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Clocks that tests can replace, the moment that they show, deadlines on them, and the rhythm of polls.

Private to this collection.
"""

import datetime
import math
import re
import time
from typing import Any, Iterator, NamedTuple, Optional

from ._errors import ScheduledEventsError


class Moment(NamedTuple):
    """Now, by the machine's clocks."""

    wall: float  # Unix time: only to be shown
    uptime: float  # seconds since the machine was started
    boot_id: str


class Clock:
    """The machine's clocks. Nothing else in this collection reads the time or sleeps."""

    def now(self) -> float:
        """Seconds of a clock that nobody sets: for durations and deadlines."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        if seconds > 0:
            time.sleep(seconds)

    def wall(self) -> float:
        """Unix time: only to compare with times of day that Azure tells."""
        return time.time()


def steady() -> float:
    """Seconds of a clock that nobody sets, and that goes on while the system sleeps where there is one that does: for the controller."""
    if hasattr(time, "CLOCK_BOOTTIME"):  # Linux, from Python 3.7 on
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.monotonic()


def iso_utc(wall: float) -> str:
    """A Unix time as ISO 8601 in UTC, in whole seconds."""
    moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=math.floor(wall))
    return moment.isoformat() + "Z"


_ISO_UTC = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)Z\Z")


def unix_time(text: Any) -> Optional[float]:
    """The Unix time of what :func:`iso_utc` has written; None for anything else."""
    found = _ISO_UTC.match(text) if isinstance(text, str) else None
    try:
        moment = datetime.datetime(*map(int, found.groups())) if found else None  # type: ignore[arg-type]
    except ValueError:
        return None
    return (moment - datetime.datetime(1970, 1, 1)).total_seconds() if moment else None


class Deadline:
    """A point in time, so many seconds from now.

    :arg seconds: None for a deadline that never passes
    """

    def __init__(self, clock: Clock, seconds: Optional[float]) -> None:
        self._clock = clock
        self._at = math.inf if seconds is None else clock.now() + seconds

    def remaining(self) -> float:
        """Seconds that are left, never below 0."""
        return max(0.0, self._at - self._clock.now())

    def passed(self) -> bool:
        return self.remaining() <= 0


def ticks(clock: Clock, interval: float, deadline: Deadline) -> Iterator[int]:
    """Count polls: the first at once, one every `interval` seconds, the last when the deadline has passed.

    There is always one poll, and always one after the deadline, so that a wait which gives up
    has seen the end of its time; no sleep goes beyond the deadline.
    """
    count = 0
    while True:
        last = deadline.passed()
        count += 1
        yield count
        if last:
            return
        clock.sleep(min(interval, deadline.remaining()))


class CallClock(Clock):
    """:arg seconds: that the call may take"""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock = clock
        self._began = clock.now()
        self._wall = clock.wall()
        self.deadline = Deadline(clock, seconds)

    def now(self) -> float:
        return self._clock.now()

    def wall(self) -> float:
        return self._wall + self._clock.now() - self._began

    def sleep(self, seconds: float) -> None:
        """:raises ScheduledEventsError: instead of sleeping too long: whatever this would wait for comes too late"""
        if seconds > self.deadline.remaining():
            raise ScheduledEventsError("There was no answer in the time that this call has.", kind="timeout")
        self._clock.sleep(seconds)
