# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A call that can't last longer than its limit, whatever it waits for; and an action whose call ends in its time, and which leaves nothing behind
that hangs.

Ansible's own `timeout` of a task leaves the ssh client running that hangs, and makes a failed task of it.

Private to this collection.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import signal
import subprocess
from collections.abc import Callable
from typing import Any, TypeVar

from ansible.plugins.action import ActionBase

T = TypeVar("T")

GRACE = 1.0  # seconds for the call to end by itself once the processes that it waits for are gone

RESET_SECONDS = 2.0


class _Over(BaseException):
    """Nothing of Ansible's takes it for an error that it could handle or try again."""


class Alarm:
    """Ends a call after `seconds`: first the processes that it has started, and if that is not enough, the call.

    rang: whether it had to
    """

    def __init__(self, seconds: float) -> None:
        self.rang = False
        self._seconds = seconds
        self._is_ending = False
        self._before: set[int] = set()

    def around(self, call: Callable[[], T]) -> T | None:
        """What the call returns; None where nothing but an exception helped."""
        self._before = _descendants() if _has_children() else set()
        handler = signal.signal(signal.SIGALRM, self._ring)
        try:
            try:
                # again and again: a clean-up that the exception sets off may hang as well
                signal.setitimer(signal.ITIMER_REAL, max(0.001, self._seconds), GRACE)
                return call()
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
        except _Over:  # also from within that finally
            signal.setitimer(signal.ITIMER_REAL, 0)
            return None
        finally:
            signal.signal(signal.SIGALRM, handler)

    def _ring(self, _number: int, _frame: Any) -> None:
        if self._is_ending:  # among thousands of processes it takes longer than the grace
            return
        self._is_ending = True
        again, self.rang = self.rang, True
        try:
            _end(self._before)
        finally:
            self._is_ending = False
        if again:
            raise _Over


def _end(spared: set[int]) -> None:
    """Kill every process that this one has started, and theirs. They are stopped first, so that none starts another."""
    found: set[int] = set()
    while more := _descendants() - spared - found:
        found |= more
        _signal(more, signal.SIGSTOP)
    _signal(found, signal.SIGKILL)


def _signal(pids: set[int], number: int) -> None:
    for pid in pids:
        with contextlib.suppress(OSError):  # ended meanwhile, or root's
            os.kill(pid, number)


def _has_children() -> bool:
    """Whether this process has any, or nobody can tell: to ask all processes in every call would take longer than the rest of it."""
    try:
        lists = [path.read_text() for path in pathlib.Path("/proc/self/task").glob("*/children")]
    except OSError:
        return True
    return not lists or any(lists)


def _descendants() -> set[int]:
    parents = _parents()
    found: set[int] = set()
    more = {os.getpid()}
    while more:
        more = {pid for pid, parent in parents.items() if parent in more}
        found |= more
    return found


def _parents() -> dict[int, int]:
    """The parent of every process."""
    found: dict[int, int] = {}
    if not os.path.isdir("/proc/self"):  # not on Linux
        listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], stdout=subprocess.PIPE, text=True, check=False)
        return {int(pid): int(parent) for pid, parent in map(str.split, listed.stdout.splitlines())}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, IndexError):  # ended meanwhile
            # "PID (NAME) STATE PARENT ...", and a name may have anything in it
            found[int(stat.parent.name)] = int(stat.read_text(errors="replace").rpartition(")")[2].split()[1])
    return found


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
