# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A virtual clock: what happens when, in one thread, without any waiting.

Whatever lives here is a generator that yields how long it sleeps (a number), or what it waits for and how long at most
(a `Signal` and a number). It is sent True where the signal came, False where the time was over.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Generator
from typing import Any

Life = Generator[Any, bool, Any]


class Signal:
    """Something that several can wait for."""

    def __init__(self) -> None:
        self.waiting: list[Process] = []

    def fire(self) -> None:
        waiting, self.waiting = self.waiting, []
        for process in waiting:
            process.clock.at(process.clock.now, process.resume, process.turn, True)


class Process:
    """A generator on the clock. `done` fires at its end, `result` is what it returned."""

    def __init__(self, clock: Clock, life: Life) -> None:
        self.clock, self.life = clock, life
        self.turn = 0  # a wake-up that comes too late is of an earlier one
        self.over, self.result = False, None
        self.done = Signal()

    def resume(self, turn: int, signalled: bool) -> None:
        if self.over or turn != self.turn:
            return
        self.turn += 1
        try:
            wait = self.life.send(signalled) if self.turn > 1 else next(self.life)
        except StopIteration as end:
            self.over, self.result = True, end.value
            self.done.fire()
            return
        if isinstance(wait, tuple):
            signal, wait = wait
            signal.waiting.append(self)
        self.clock.at(self.clock.now + wait, self.resume, self.turn, False)

    def end(self) -> None:
        """Stop it where it is, as SIGKILL does."""
        if not self.over:
            self.over = True
            self.life.close()
            self.done.fire()


class Clock:
    def __init__(self) -> None:
        self.now = 0.0
        self.wrong = (
            0.0,
            0.0,
        )  # by how many seconds the controller's clock is ahead, and until when: then it is corrected
        self._agenda: list[tuple[float, int, Callable[..., None], tuple[Any, ...]]] = []
        self._count = 0

    @property
    def error(self) -> float:
        ahead, until = self.wrong
        return ahead if self.now < until else 0.0

    def at(self, when: float, what: Callable[..., None], *arguments: Any) -> None:
        self._count += 1
        heapq.heappush(self._agenda, (max(when, self.now), self._count, what, arguments))

    def after(self, seconds: float, what: Callable[..., None], *arguments: Any) -> None:
        self.at(self.now + seconds, what, *arguments)

    def begin(self, life: Life) -> Process:
        process = Process(self, life)
        self.at(self.now, process.resume, 0, False)
        return process

    def run(self, until: float, enough: Callable[[], bool]) -> bool:
        """Go on until enough has happened; False when that took too long."""
        while self._agenda and not enough():
            when, _count, what, arguments = heapq.heappop(self._agenda)
            if when > until:
                return False
            self.now = when
            what(*arguments)
        return enough()
