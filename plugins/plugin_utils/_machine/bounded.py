# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An action whose call ends in its time, and which leaves nothing behind that hangs.

Private to this collection.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TypeVar

from ansible.plugins.action import ActionBase

from .alarm import Alarm

T = TypeVar("T")

RESET_SECONDS = 2.0


class BoundedAction(ActionBase):
    """:attr is_lost: whether nothing came back. Ansible does not clean up then: over a connection that was cut it would hang"""

    is_lost = False

    def cleanup(self, force: bool = False) -> None:
        if not self.is_lost:
            super().cleanup(force)

    def bounded(self, seconds: float, call: Callable[[], T]) -> tuple[T | None, bool]:
        """What the call returned, if anything; and whether it had to be ended."""
        alarm = Alarm(seconds)
        try:
            return alarm.around(call), alarm.rang
        finally:
            if alarm.rang:
                self._reset()

    def _reset(self) -> None:
        """Let go of the connection: over a lasting one of ssh's that is dead the next call would hang as well, and WinRM keeps
        a shell for hours that nobody closes.
        """
        end = self._connection.reset if self._connection.transport == "ssh" else self._connection.close
        with contextlib.suppress(Exception):
            Alarm(RESET_SECONDS).around(end)
        self._connection.close = _nothing  # Ansible would close it once more when the task is over, without a limit


def _nothing() -> None:
    pass
