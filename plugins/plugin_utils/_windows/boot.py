# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a Windows machine was started, and which boot that is, as one call sees it.

Private to this collection.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

from ...module_utils._clock import Clock, Moment
from ...module_utils._machine.mark import Mark
from ...module_utils._text import one_line
from .machine import WindowsMachine, WindowsProblem

_DRIFT = 15.0  # seconds by which the moment of a boot may seem to move when the clock is set: no machine is reached sooner after a reboot


class Boot:
    """
    :arg mark: reads what the machine has, which may call the boot otherwise than the machine does by now
    """

    def __init__(self, machine: WindowsMachine, clock: Clock, mark: Callable[[], Mark | None]) -> None:
        self._clock = clock
        (said,) = machine.ask({"Do": "boot"})
        self._at = clock.now()
        booted, uptime, shown = (said.get(key) for key in ("booted", "uptime_ms", "clock_ms"))
        if not isinstance(booted, str) or not isinstance(uptime, int) or not isinstance(shown, int):
            machine.give_up(
                WindowsProblem(
                    f"{machine.name}: when the machine was started can't be determined from Win32_OperatingSystem "
                    f"({one_line(said.get('message'), 200) or 'it did not say'}): see whether WMI works there."
                )
            )
        self._booted, self._uptime, self._shown = booted, uptime / 1000.0, shown
        self._id = said.get("id") or self._by_moment(mark())

    def moment(self) -> Moment:
        return Moment(self._clock.wall(), self._uptime + self._age(), self._id)

    def window(self, seconds: float) -> dict[str, int]:
        """So many seconds from now, by a clock of the machine that nobody sets: in no other boot."""
        return {"FromMs": self._shown, "UntilMs": self._shown + round(1000 * (seconds + self._age()))}

    def wall(self) -> float:
        """The Unix time by the machine's own clock; ours where it does not say when it was started in words that are known."""
        try:
            return _unix_time(self._booted) + self._uptime + self._age()
        except ValueError:
            return self._clock.wall()

    def _age(self) -> float:
        return self._clock.now() - self._at

    def _by_moment(self, mark: Mark | None) -> str:
        """Where the user may not give the boot an id: its moment, or what the mark calls it, if that is the same.

        The moment seems to move when Windows' clock is set.
        """
        lease = mark["lease"] if mark else None
        is_same = lease and self._uptime >= lease["uptime"] and _apart(lease["boot_id"], self._booted) <= _DRIFT
        return str(lease["boot_id"] if lease and is_same else self._booted)


def _unix_time(moment: str) -> float:
    return datetime.datetime.fromisoformat(moment).replace(tzinfo=datetime.timezone.utc).timestamp()


def _apart(boot_id: Any, booted: str) -> float:
    """Seconds between two moments of a boot; infinite where one of them is none."""
    try:
        return abs(_unix_time(boot_id) - _unix_time(booted))
    except (TypeError, ValueError):
        return float("inf")
