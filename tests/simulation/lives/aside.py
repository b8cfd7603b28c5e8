# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Synchronous code on the virtual clock: it runs in a thread of its own, which stands still whenever the clock goes on."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

from .clock import Life

Meanwhile = Callable[[Life], Any]
"""Has another life go on in the place of the code that calls it, and returns what comes of that."""


class Ended(BaseException):
    """Whoever ran the code was killed, or has stopped waiting for it."""


class _Turn:
    """One of the two waits for the other, which gives it something."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lock.acquire()
        self._what: tuple[Any, ...] = ()

    def give(self, *what: Any) -> None:
        self._what = what
        self._lock.release()

    def take(self) -> tuple[Any, ...]:
        self._lock.acquire()
        return self._what


class _Thread:
    """Runs one piece of code after the other: to start a thread costs more than most of what is run in it."""

    idle: list[_Thread] = []

    def __init__(self) -> None:
        self._turn = _Turn()
        threading.Thread(target=self._go_on, daemon=True).start()

    def run(self, code: Callable[[], None]) -> None:
        self._turn.give(code)

    def _go_on(self) -> None:
        while True:
            (code,) = self._turn.take()
            code()
            self.idle.append(self)


os.register_at_fork(after_in_child=_Thread.idle.clear)  # a new process has none of these threads


def aside(code: Callable[[Meanwhile], Any]) -> Life:
    """The life of synchronous code; returns what it returns, raises what it raises."""
    to_clock, to_code = _Turn(), _Turn()

    def meanwhile(life: Life) -> Any:
        to_clock.give(life, None, None)
        error, result = to_code.take()
        if error is not None:
            raise error
        return result

    def run() -> None:
        try:
            to_clock.give(None, None, code(meanwhile))
        except BaseException as error:
            to_clock.give(None, error, None)

    (_Thread.idle.pop() if _Thread.idle else _Thread()).run(run)
    life, error, result = to_clock.take()
    while life is not None:
        try:
            gave = (None, (yield from life))
        except GeneratorExit:
            while life is not None:  # also what the code does on its way out ends at once
                to_code.give(Ended(), None)
                life, _error, _result = to_clock.take()
            raise
        except Exception as caught:
            gave = (caught, None)
        to_code.give(*gave)
        life, error, result = to_clock.take()
    if error is not None:
        raise error
    return result
