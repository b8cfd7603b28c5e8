# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The mark of a simulated Linux machine, in memory, as one call reads and writes it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from . import collection
from .aside import Meanwhile
from .clock import Life
from .journal import copied
from .marks import journalled
from .step import Step

if TYPE_CHECKING:
    from .machine import Machine

mark = collection.part("module_utils._machine.mark")

LOCK_WITHIN = 2.0  # seconds for which the lock is waited for
HANGS = 18.0  # seconds for which a call may hang while it writes


class Store(mark.Store):
    """The machine's mark for one call. Each change is journalled.

    :arg run: whose call it is
    """

    def __init__(self, machine: Machine, run: str, meanwhile: Meanwhile) -> None:
        self._machine, self._run, self._meanwhile = machine, run, meanwhile
        self.is_alone = False

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        if self.is_alone:
            yield
            return
        machine = self._machine
        if machine.locked:
            self._meanwhile(self._waited())
        self.is_alone = machine.locked = True
        try:
            yield
        finally:
            self.is_alone = machine.locked = False

    def _waited(self) -> Life:
        machine, until = self._machine, self._machine.clock.now + LOCK_WITHIN
        machine.waited_for.fire()
        while machine.locked:
            if machine.clock.now >= until:
                raise mark.Busy("It has been locked by another call")
            yield 0.05

    def read(self) -> Any:
        there = self._machine.mark
        if there and "unreadable" in there:
            raise mark.MarkUnreadable(there["unreadable"])
        return copied(there)

    def disk(self) -> str:
        return f"disk {self._machine.disks}"

    def create(self, new: Any) -> None:
        with self.alone():
            if self._machine.mark is not None:
                raise mark.Fenced("There is one already.")
            self._write(new)

    def replace(self, new: Any, run: str, number: int) -> None:
        with self.held(run, number):
            if self._machine.fault("lock") and _begins(self._machine.mark, new, self._machine.steps):
                self._meanwhile(self._hung())
            self._write(new)

    def remove(self, run: str, number: int) -> None:
        with self.held(run, number):
            for event in self._machine.mark["events"]:
                self.withdraw_confirmation(event)
            self._machine.forget_jobs()
            self._change(None)

    @contextlib.contextmanager
    def held(self, run: str, number: int) -> Iterator[None]:
        with self.alone():
            there = self._machine.mark or {"holder": {"run": ""}, "number": 0}
            if "unreadable" in there or there["holder"]["run"] != run or there["number"] != number:
                raise mark.Fenced("The mark was taken, or removed, in the meantime.")
            yield

    def confirmed_events(self) -> list[str]:
        return list(self._machine.yes)

    def confirm_event(self, event: str, by: str, at: str) -> None:
        del by, at
        self._machine.yes = [*self._machine.yes, event]

    def withdraw_confirmation(self, event: str) -> None:
        self._machine.yes = [one for one in self._machine.yes if one.upper() != event.upper()]

    def suppressed_events(self) -> list[str]:
        return sorted(self._machine.put_back)

    def _hung(self) -> Life:
        """In the lock: until somebody waits for it, and not for ever."""
        waits: tuple[Any, float] = (self._machine.waited_for, HANGS)
        if (yield waits):
            yield 0.1 + self._machine.azure.chance.random()

    def _write(self, new: Any) -> None:
        if self._machine.fault("mark-readonly"):
            raise mark.NotWritten("The mark can't be written: no space left on device")
        self._change(copied(new))

    def _change(self, new: Any) -> None:
        before, self._machine.mark = self._machine.mark, new
        journalled(self._machine, before, new, self._run)


def _begins(before: Any, new: Any, steps: Iterable[Step]) -> bool:
    """Whether a step is to begin here as soon as the mark says so."""
    here = {step.key for step in steps if not step.elsewhere}
    under_way = [
        {entry["key"] for entry in one["steps"] if entry["state"] in ("begun", "taking_back")} for one in (before, new)
    ]
    return bool(here & (under_way[1] - under_way[0]))
