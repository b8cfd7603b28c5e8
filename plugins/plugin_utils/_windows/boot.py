# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a Windows machine was started, and which boot that is, by look.ps1.

Private to this collection.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any

from ...module_utils._clock import Clock, Moment
from ...module_utils._text import one_line
from .machine import WindowsMachine, WindowsProblem
from .store import WindowsStore

_DRIFT = 15.0  # seconds by which the moment of a boot may seem to move when the clock is set: no machine is reached sooner after a reboot


class Boot:
    """When the machine was started, by its own clock."""

    def __init__(self, machine: WindowsMachine, store: WindowsStore, clock: Clock) -> None:
        self._machine = machine
        self._store = store
        self._clock = clock
        self._asked = machine.later(Do="boot")

    def assume(self, said: Mapping[str, Any], age: float) -> None:
        """Begin with what an earlier call has found, so many seconds ago."""
        self._asked.assume(said, age, ("id",))

    @property
    def said(self) -> dict[str, Any]:
        said = self._asked.answer()
        return {key: said.get(key) for key in ("booted", "uptime_ms", "clock_ms", "id")}

    @property
    def age(self) -> float:
        return round(self._machine.age(self._asked), 3)

    @property
    def has_id(self) -> bool:
        """Whether this boot has an id, by which no other one can be taken for it."""
        return bool(self.said["id"])

    def moment(self) -> Moment:
        said = self._asked.answer()
        booted, uptime = said.get("booted"), said.get("uptime_ms")
        if not isinstance(booted, str) or not isinstance(uptime, int) or not isinstance(said.get("clock_ms"), int):
            raise WindowsProblem(
                f"{self._machine.name}: when the machine was started can't be determined from Win32_OperatingSystem "
                f"({one_line(said.get('message'), 200) or 'it did not say'}): see whether WMI works there."
            )
        seconds = uptime / 1000.0 + self._machine.age(self._asked)
        return Moment(self._clock.wall(), seconds, said.get("id") or self._boot_id(booted, seconds))

    def window(self, seconds: float) -> dict[str, int]:
        """So many seconds from now, by a clock of the machine that nobody sets: in no other boot, and after no sleep of ours."""
        shown = int(self._asked.answer()["clock_ms"])
        return {"FromMs": shown, "UntilMs": shown + round(1000 * (seconds + self._machine.age(self._asked)))}

    def wall(self) -> float:
        """The Unix time by the machine's own clock."""
        return _unix_time(str(self._asked.answer()["booted"])) + self.moment().uptime

    def _boot_id(self, booted: str, uptime: float) -> str:
        """Where the user may not give the boot an id: its moment, or what the mark calls it, if that is the same.

        The moment seems to move when Windows' clock is set.
        """
        mark = self._store.there()
        if mark and uptime >= mark["lease"]["uptime"] and _apart(mark["lease"]["boot_id"], booted) <= _DRIFT:
            return str(mark["lease"]["boot_id"])
        return booted


def _unix_time(moment: str) -> float:
    return datetime.datetime.fromisoformat(moment).replace(tzinfo=datetime.timezone.utc).timestamp()


def _apart(boot_id: str, booted: str) -> float:
    """Seconds between two moments of a boot; infinite where one of them is none."""
    try:
        return abs(_unix_time(boot_id) - _unix_time(booted))
    except (TypeError, ValueError):
        return float("inf")
