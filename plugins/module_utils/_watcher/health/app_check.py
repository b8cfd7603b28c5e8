# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks the application of this machine whether it answers: one request at a time, however many wait for the outcome.

Private to this collection.
"""

import errno
import os
import socket
from typing import Callable, Dict, List, Optional

from . import protocol
from .addresses import AppUrl
from .server import Poller

_UNDER_WAY = (0, errno.EINPROGRESS, errno.EWOULDBLOCK)  # the last one is Windows' word for it
_ENOUGH = 64  # bytes of an answer, of which only the status counts


class AppCheck:
    """:arg limit: seconds"""

    def __init__(self, url: AppUrl, limit: float, poller: Poller) -> None:
        self._url = url
        self._limit = limit
        self._poller = poller
        self._waiting: List[Callable[[str], None]] = []
        self._try: Optional[_Try] = None

    def ask(self, then: Callable[[str], None]) -> None:
        """Call `then` with why it counts as down, "" when it answers with a status from 200 to 399."""
        self._waiting.append(then)
        if self._try is None:
            self._try = _Try(self._url, self._poller)
            self._try.begin(self._poller.after(self._limit), self._end, self._late)

    def _late(self) -> None:
        self._end(f"it has not answered within {self._limit:g} s")

    def _end(self, problem: str) -> None:
        if self._try:
            self._try.close()
        self._try, waiting, self._waiting = None, self._waiting, []
        for then in waiting:
            then(problem)


class _Try:
    """One request."""

    def __init__(self, url: AppUrl, poller: Poller) -> None:
        host, port = url.address
        self._address = (host, port)
        shown = f"[{host}]" if ":" in host else host
        self._request = (
            f"GET {url.path} HTTP/1.1\r\nHost: {shown}:{port}\r\nUser-Agent: azure-maintenance\r\nConnection: close\r\n\r\n"
        ).encode("ascii")
        self._poller = poller
        self._socket = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
        self._received = b""

    def begin(self, until: float, end: Callable[[str], None], late: Callable[[], None]) -> None:
        """:arg end: called with what is wrong, "" when nothing is"""
        self._until, self._end, self._late = until, end, late
        self._socket.setblocking(False)
        error = self._socket.connect_ex(self._address)
        if error in _UNDER_WAY:
            self._poller.watch(self._socket, self._connected, until, late, writes=True)
        else:
            self._unreachable(error)

    def close(self) -> None:
        self._poller.forget(self._socket)
        self._socket.close()

    def _unreachable(self, error: int) -> None:
        words: Dict[int, str] = vars(socket).get("errorTab", {})  # Windows' own, which os.strerror does not know
        self._end(f"it can't be reached ({words.get(error) or os.strerror(error)})")

    def _connected(self) -> None:
        error = self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if error:
            self._unreachable(error)
            return
        self._poller.watch(self._socket, self._read, self._until, self._late)
        try:
            self._socket.send(self._request)
        except OSError as refused:
            self._unreachable(refused.errno or errno.EIO)

    def _read(self) -> None:
        try:
            found = self._socket.recv(_ENOUGH)
        except BlockingIOError:
            return
        except OSError as broken:
            self._unreachable(broken.errno or errno.EIO)
            return
        self._received += found
        status = protocol.status_of(self._received)
        if status is None and found:
            return
        if not status:
            self._end("it does not answer in HTTP")
        else:
            self._end("" if 200 <= status < 400 else f"it answers with status {status}")
