# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the watcher asks of the system that it runs on, and what its loop sleeps on; ``linux_system.py`` and ``windows_system.py`` answer.

Private to this collection.
"""

from ..._clock import Moment


class WatchedSystem:
    """One system. None of these waits: what takes its time is asked beside the loop.

    going_down: whether it is being shut down; settled: whether what it starts at its boot has been started, or was waited for long enough
    """

    going_down = False
    settled = True

    def moment(self) -> Moment:
        """Now, by the machine's clocks."""
        raise NotImplementedError

    def start(self) -> None:
        """Begin to ask."""

    def stop(self) -> None:
        """Ask no more."""

    def watch_closely(self, closely: bool) -> None:
        """Whether something is under way, for which it matters that the system goes down."""


class Wake:
    """What the loop sleeps on."""

    def wait(self, seconds: float) -> None:
        """Until somebody wakes it, or the seconds are over."""
        raise NotImplementedError

    def wake(self) -> None:
        """From any thread, and from a handler of a signal."""
        raise NotImplementedError
