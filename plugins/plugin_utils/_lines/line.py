# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A line: one process that holds the connection to one machine open, and carries out one call after the other. It ends with the process that
made it, whatever ends that.

Private to this collection.

Calls and answers are JSON, a line each, over a pair of sockets. Nothing else goes over them but how long a part of a call may take, and what is
to be displayed: the process that made the line displays it, as a process that is killed while it holds Ansible's queue would stop the whole run.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import resource
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn, Protocol

from ansible.utils.display import Display

from .. import _bounds

Limit = Callable[[float], None]
"""Says that what begins now may take so many seconds: after them the line is killed."""


class Caller(Protocol):
    """What carries out calls, in the line's process."""

    def call(self, call: dict[str, Any], limit: Limit) -> dict[str, Any]:
        """What came of a call; whatever it raises is that call's answer."""

    def close(self) -> None:
        """Nobody calls any more."""


Connect = Callable[[], Caller]
"""Makes it, for the line's first call and in the line's own process."""

RAISED = "_raised"
"""The key of an answer that is none: why the call was not carried out."""

MEASURED = 0.2
"""Seconds from one look at the memory of a call to the next."""

CLOSING = 3.0
"""Seconds that a line has at its end to close its connection."""


class Line:
    """The end of a line at which the calls are made.

    :arg others: the sockets of other lines, which this one's process closes: they end when their last copy is closed
    """

    def __init__(self, connect: Connect, others: Iterable[socket.socket]) -> None:
        self.socket, far_end = socket.socketpair()
        self._unread = b""
        sys.stdout.flush()  # or both processes would print what is in its buffer
        self.pid = os.fork()
        if not self.pid:
            _run(far_end, connect, [*others, self.socket])
        with contextlib.suppress(OSError):  # the process does the same: whoever is first
            os.setpgid(self.pid, self.pid)
        far_end.close()

    def send(self, call: dict[str, Any]) -> None:
        """One call. The answer to the one before has been read."""
        with contextlib.suppress(OSError):  # it has ended: receive() says so
            self.socket.sendall(_packed(call))

    def receive(self) -> list[dict[str, Any]] | None:
        """What has come, at least a part of it; None when the process has ended."""
        try:
            more = self.socket.recv(1 << 20)
        except OSError:
            more = b""
        if not more:
            return None
        *lines, self._unread = (self._unread + more).split(b"\n")
        return [json.loads(line) for line in lines]

    def close(self) -> None:
        """Let the process end by itself; it has to be waited for."""
        self.socket.close()

    def kill(self) -> None:
        """End the process and all that it has started, which are stopped first, so that none starts another."""
        for number in (signal.SIGSTOP, signal.SIGKILL):
            with contextlib.suppress(OSError):
                os.killpg(self.pid, number)
        with contextlib.suppress(OSError):
            os.waitpid(self.pid, 0)
        self.socket.close()


def _packed(words: dict[str, Any]) -> bytes:
    # Texts out of a vault and dates of YAML are no JSON.
    return json.dumps(words, default=str).encode() + b"\n"


# ---- in the line's process ----


def _run(far_end: socket.socket, connect: Connect, others: Iterable[socket.socket]) -> NoReturn:
    try:
        for one in others:
            one.close()
        _FarEnd(far_end).serve(connect)
    finally:  # no handler of the process that was forked may run here
        _end_all()


class _FarEnd:
    def __init__(self, far_end: socket.socket) -> None:
        self._socket, self._is_calling = far_end, False
        self._sending = threading.Lock()
        os.setpgid(0, 0)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever made the line decides
        signal.signal(signal.SIGTERM, _end_all)
        # In the middle of a call: what it has started would go on, and nobody would hear of it.
        signal.signal(signal.SIGIO, self._notice_end)
        signal.signal(signal.SIGALRM, _end_all)
        fcntl.fcntl(far_end, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(far_end, fcntl.F_SETFL, fcntl.fcntl(far_end, fcntl.F_GETFL) | os.O_ASYNC)
        Display()._final_q = self

    def send_display(self, method: str, *args: Any, **options: Any) -> None:
        """As Ansible's own queue has it: called for all that is displayed here."""
        self._send({"display": [method, args, options]})

    def serve(self, connect: Connect) -> None:
        caller: Caller | None = None
        for line in self._socket.makefile("rb"):
            self._is_calling = True
            try:
                with self._bounded():
                    caller = caller or connect()
                    answer = caller.call(json.loads(line), self._limit)
            except Exception as error:
                answer = {RAISED: f"{type(error).__name__}: {error}"}
            self._send({"answer": answer})
            self._is_calling = False
        if caller:
            signal.setitimer(signal.ITIMER_REAL, CLOSING)
            with contextlib.suppress(Exception):
                caller.close()

    def _limit(self, seconds: float) -> None:
        self._send({"limit": seconds})

    def _send(self, words: dict[str, Any]) -> None:
        packed = _packed(words)
        if len(packed) > _bounds.RESULT:
            why = _bounds.too_large(_bounds.RESULT)
            packed = _packed({"answer": {RAISED: why}} if "answer" in words else {"display": ["warning", [why], {}]})
        with self._sending:
            self._socket.sendall(packed)

    @contextlib.contextmanager
    def _bounded(self) -> Iterator[None]:
        """Ansible's connections keep whatever a machine sends until it ends: a call for which this process grows too large ends with it."""
        over, most = threading.Event(), _memory() + _bounds.MEMORY

        def measure() -> None:
            while not over.wait(MEASURED):
                if _memory() > most:
                    self._send({"answer": {RAISED: _bounds.too_large(_bounds.MEMORY >> 20, "MB")}})
                    os.killpg(0, signal.SIGKILL)

        threading.Thread(target=measure, daemon=True).start()
        try:
            yield
        finally:
            over.set()

    def _notice_end(self, _number: int, _frame: Any) -> None:
        with contextlib.suppress(BlockingIOError):
            if self._is_calling and not self._socket.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT):
                _end_all()


def _memory() -> int:
    """Bytes that this process has had in memory at most."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _end_all(*_: Any) -> NoReturn:
    """This process, and all that it has started."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    with contextlib.suppress(OSError):
        os.killpg(0, signal.SIGKILL)
    os._exit(1)
