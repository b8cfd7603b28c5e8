# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What time it is for Azure, how much of it is left, and whether the machine stood still. Pure.

Private to this collection.

The machine's clock on the wall may be wrong or be set at any moment, so times of day are taken from the service's own answers,
and aged between two of them by the clock that nobody sets.
"""

from typing import NamedTuple

from ..._core.deadlines import Terms
from ..._core.lease import Moment
from ..settings.options import Settings
from .facts import PollResult

MARGIN = 30.0
"""Seconds before not-before at which a machine has to be prepared, or it is late."""

SHARE_OF_NOTICE = 0.1
"""Of the notice, that the margin takes at most: a watcher decides at once."""

PAUSE = 2.0
"""Seconds between both clocks from which on they are reported."""


class Reckoning(NamedTuple):
    """A moment by both clocks."""

    at: float  # the clock that nobody sets
    wall: float  # Unix time

    def wall_at(self, at: float) -> float:
        """The Unix time at another moment of the clock that nobody sets."""
        return self.wall + at - self.at


def reckoned(polled: PollResult, moment: Moment, now: float) -> Reckoning:
    """The moment of a poll: what the answer says itself, else the machine's clock."""
    return Reckoning(polled.at, polled.date if polled.date is not None else moment.wall - (now - polled.at))


def terms(settings: Settings) -> Terms:
    """What this machine needs before and after an event."""
    return Terms(MARGIN, SHARE_OF_NOTICE, settings.prepare_before, settings.limits, settings.undo_limits)


def pause(before: Reckoning, after: Reckoning) -> float:
    """Seconds by which the clock on the wall ran ahead of the other; 0 where it is too little to be reported."""
    gap = after.wall - before.wall_at(after.at)
    return gap if abs(gap) > PAUSE else 0.0
