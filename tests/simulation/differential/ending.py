# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a life is over."""

from __future__ import annotations

from collections.abc import Callable, Collection

from lives.azure import Event
from lives.clock import Clock

from .script import Script

QUIET, LONGEST = 30.0, 300.0
"""Seconds after the last event by which all is done where nothing is left to do, and by which it is over in any case."""


def live(clock: Clock, script: Script, events: Collection[Event], in_service: Callable[[], bool]) -> None:
    """Let everything happen that is planned, and all that follows from it."""
    last = max(event.at for event in script.events)

    def is_over() -> bool:
        if clock.now <= last or any(event.left is None or event.returns is not None for event in events):
            return False
        since = clock.now - max(event.left or 0.0 for event in events)
        return since > (QUIET if in_service() else LONGEST)

    clock.run(script.until + LONGEST, is_over)
