# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A call that can't last longer than its limit, whatever it waits for; an action whose call ends in its time, and which leaves nothing behind
that hangs; and why nothing came back, in a sentence.

Ansible's own `timeout` of a task leaves the ssh client running that hangs, and makes a failed task of it.

Private to this collection.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import re
import signal
import subprocess
from collections.abc import Callable
from typing import Any, TypeVar

from ansible.plugins.action import ActionBase

from ...module_utils._text import last_line, one_line, shortened

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


# Signs of a problem in what was said, and the sentence for it. The first one that is found holds.
_PROBLEMS = tuple(
    (re.compile(signs, re.IGNORECASE), sentence)
    for signs, sentence in (
        (
            r"password is required|missing \w+ password|(terminal|tty) is required|you must have a tty|no tty present|"
            r"run from a terminal",
            "sudo wants a password there, or a terminal: give it one (ansible_become_password), or let the user run "
            "sudo without.",
        ),
        (r"incorrect \w+ password|sorry, try again", "sudo refused the password (ansible_become_password)."),
        (
            r"not in the sudoers file|not allowed to (execute|run)",
            "sudo does not let the user become another one there.",
        ),
        (r"no space left on device|disk quota exceeded", "There is no room left on its disk."),
        (r"read-only file system", "Its disk is read-only."),
        (
            r"unknown option: -I|invalid syntax|no module named '?(runpy|http\.client)",
            "Its Python is too old or not whole: Python 3.6 or newer is needed (ansible_python_interpreter).",
        ),
        (
            r"does not support optimized module pipelining",
            "Its connection can't send what the program reads: use another one, such as ssh (ansible_connection).",
        ),
        (r"cannot allocate memory|memoryerror", "It has no memory left to start a program."),
    )
)
_PREFIXES = re.compile(
    r"^((Task failed|Failed to connect to the host via \w+|Data could not be sent to remote host \S+ "
    r"Make sure this host can be reached over ssh):\s*)+"
)


def too_slow(seconds: float) -> str:
    return f"It gave no answer within {seconds:g} s, and the call was ended: the machine or the network to it hangs."


def unreachable(message: str) -> str:
    """:arg message: what Ansible's connection said"""
    return _known(message) or f"It could not be reached: {_said(message) or 'the connection did not say why'}."


def not_put(reason: str) -> str:
    """:arg reason: where the program was to be put, and why it could not"""
    return f"The program of this collection could not be put there ({one_line(reason, 300)}). {_known(reason)}".strip()


def no_answer(interpreter: str, status: int, stdout: str, stderr: str) -> str:
    """What the program's end says that came without its answer.

    :arg interpreter: the Python that was to run it
    """
    if status in (126, 127):
        return (
            f"There is no Python at {interpreter} ({_said(last_line(stderr)) or 'the shell did not say why'}): set "
            "ansible_python_interpreter, or install it."
        )
    known = _known(stderr) or _known(stdout)
    if known:
        return known
    number = status - 128 if status > 128 else -status
    if number in (6, 9, 11, 15):
        return f"The program was killed there by signal {number}: see the machine's log; it may have no memory left."
    said = _said(last_line(stderr) or last_line(stdout))
    return f"The program ended there without an answer, with status {status}" + (f": {said}." if said else ".")


def _known(text: str) -> str:
    return next((sentence for signs, sentence in _PROBLEMS if signs.search(text)), "")


def _said(text: str) -> str:
    return shortened(_PREFIXES.sub("", one_line(text, 10000)).rstrip(". "), 200)
