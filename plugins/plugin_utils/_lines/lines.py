# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All lines of a run: each is made for the first call to its machine, one that hangs is killed, and idle ones beyond a few dozen are closed.

Private to this collection.
"""

from __future__ import annotations

import contextlib
import math
import os
import selectors
import signal
import time
from collections.abc import Callable, Hashable, Iterator
from typing import Any, NamedTuple

from ansible.utils.display import Display

from .line import CLOSING, RAISED, Connect, Line

GRACE = 6.0
"""Seconds beyond a call's own until its line is there: on a busy controller it takes as long to make one."""

KEPT = 30
"""Idle lines that stay open: each takes 6 MB, and is made anew in a tenth of a second."""

AT_ONCE = 8 * (os.cpu_count() or 1)
"""Calls that only look and have just begun: each takes a tenth to half a second of the controller's CPU, and with many more of them none
would end in its time."""

JUST_BEGUN = 5.0
"""Seconds after which a call does not count among these any more: nobody waits for a machine that hangs. Twice as many as the last one took
where that is more: then it is the controller that is slow."""

TOGETHER = 4
"""Calls that only look and begin before answers are taken in: on a busy controller it takes a second to open a line."""

PARENT_EVERY = 2.0
"""Seconds after which it is noticed at the latest that ansible-playbook was killed."""

HUNG = "_hung"
"""The key of an answer that is none: the seconds that the call had."""


class Orphaned(BaseException):
    """ansible-playbook itself was killed: nobody would hear of what is done from here on."""


class _Call(NamedTuple):
    call: dict[str, Any]
    seconds: float
    tag: Any
    may_wait: bool
    begun: float = 0.0  # by time.monotonic
    until: float = 0.0  # when its line is killed, likewise


class Lines:
    """To be used in a ``with``, at whose end no line is left.

    :arg connect: makes what carries out the calls of a line, by the line's key, and whether the one before hung

    :attr opened: how many were made
    :attr killed: how many had to be killed
    """

    def __init__(self, connect: Callable[[Any, bool], Connect]) -> None:
        self._connect = connect
        self._lines: dict[Hashable, Line] = {}
        self._waiting: dict[Hashable, _Call] = {}  # the longest waiting first
        self._calls: dict[Hashable, _Call] = {}
        self._idle: dict[Hashable, None] = {}  # the longest idle first
        self._hung: set[Hashable] = set()  # whose last line was killed
        self._closing: set[int] = set()
        self._selector = selectors.DefaultSelector()
        self._parent = os.getppid()
        self._took = 0.0  # seconds, the last call that only looked
        self.opened = self.killed = 0

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, *_: Any) -> None:
        for key in list(self._lines):
            self._drop(key, at_once=key in self._calls)
        self._selector.close()
        until = time.monotonic() + CLOSING
        while self._closing and time.monotonic() < until:
            self._reap()
            time.sleep(0.02)
        for pid in self._closing:
            with contextlib.suppress(OSError):
                os.killpg(pid, signal.SIGKILL)
                os.waitpid(pid, 0)

    @property
    def busy(self) -> int:
        """How many calls are under way, or wait until they may begin."""
        return len(self._calls) + len(self._waiting)

    @property
    def waiting(self) -> int:
        """How many wait until they may begin."""
        return len(self._waiting)

    def is_busy(self, key: Hashable) -> bool:
        """Whether a call is under way over the line of this key, or waits until it may begin."""
        return key in self._calls or key in self._waiting

    def call(self, key: Hashable, call: dict[str, Any], seconds: float, tag: Any, may_wait: bool = False) -> None:
        """Make a call over the line of this key. One that is still under way over it is given up. Returns at once.

        :arg seconds: that the call may take
        :arg tag: comes back with the answer
        :arg may_wait: whether it may begin later, while answers are awaited
        """
        if key in self._calls:
            self._drop(key, at_once=True)
        self._waiting.pop(key, None)
        made = _Call(call, seconds, tag, may_wait)
        if may_wait:
            self._waiting[key] = made
        else:
            self._begin(key, made)

    def _begin(self, key: Hashable, call: _Call) -> None:
        now = time.monotonic()
        self._calls[key] = call._replace(begun=now, until=now + call.seconds + GRACE)
        self._line(key).send(call.call)

    def _begin_some(self) -> float:
        """Of those that wait; returns when others may begin (by time.monotonic)."""
        counts = max(JUST_BEGUN, 2 * self._took)
        since = time.monotonic() - counts
        begun = [call.begun for call in self._calls.values() if call.may_wait and call.begun > since]
        room = max(0, AT_ONCE - len(begun))
        for key in list(self._waiting)[: min(room, TOGETHER)]:
            self._begin(key, self._waiting.pop(key))
        if not self._waiting:
            return math.inf
        return 0.0 if room > TOGETHER else min(begun, default=time.monotonic()) + counts

    def _line(self, key: Hashable) -> Line:
        if key not in self._lines:
            connect = self._connect(key, key in self._hung)
            self._hung.discard(key)
            self._lines[key] = Line(connect, [line.socket for line in self._lines.values()])
            self._selector.register(self._lines[key].socket, selectors.EVENT_READ, key)
            self.opened += 1
        self._idle.pop(key, None)
        return self._lines[key]

    def answers(self, seconds: float) -> Iterator[tuple[Any, dict[str, Any]]]:
        """The tag of each call that has its answer, and the answer, as soon as any has come; none after so many seconds at the latest.

        :raises Orphaned: ansible-playbook is gone
        """
        if os.getppid() != self._parent:
            raise Orphaned
        others = self._begin_some()
        now = time.monotonic()
        until = min([others, now + seconds, now + PARENT_EVERY, *(call.until for call in self._calls.values())])
        for event, _mask in self._selector.select(max(0.0, until - now)):
            yield from self._received(event.data)
        now = time.monotonic()
        for key, call in list(self._calls.items()):
            if now > call.until:
                self.killed += 1
                self._hung.add(key)
                self._drop(key, at_once=True)
                yield call.tag, {HUNG: call.seconds}
        for key in list(self._idle)[: max(0, len(self._idle) - KEPT)]:
            self._drop(key, at_once=False)

    def _received(self, key: Hashable) -> Iterator[tuple[Any, dict[str, Any]]]:
        received = self._lines[key].receive()
        if received is None:
            call = self._calls.get(key)
            self._drop(key, at_once=True)
            if call:
                yield call.tag, {RAISED: "The process that called it has ended."}
            return
        for words in received:
            if "display" in words:
                method, args, options = words["display"]
                getattr(Display(), method)(*args, **options)
            elif "limit" in words:
                seconds = words["limit"]
                self._calls[key] = self._calls[key]._replace(seconds=seconds, until=time.monotonic() + seconds)
            else:
                call = self._calls.pop(key)
                self._took = time.monotonic() - call.begun if call.may_wait else self._took
                self._idle[key] = None
                yield call.tag, words["answer"]

    def _drop(self, key: Hashable, at_once: bool) -> None:
        line = self._lines.pop(key)
        self._calls.pop(key, None)
        self._idle.pop(key, None)
        self._selector.unregister(line.socket)
        if at_once:
            line.kill()
        else:
            line.close()
            self._closing.add(line.pid)
        self._reap()

    def _reap(self) -> None:
        for pid in list(self._closing):
            try:
                ended = os.waitpid(pid, os.WNOHANG)[0]
            except ChildProcessError:
                ended = pid
            if ended:
                self._closing.discard(pid)
