# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The clock of one call: it does not jump, and nothing sleeps beyond the call's end.

Private to this collection.
"""

from .._clock import Clock, Deadline
from .._errors import ScheduledEventsError


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
