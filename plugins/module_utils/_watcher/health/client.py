# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks a health endpoint as a load balancer does, and what keeps it from seeing the mark: for the commands, which show that.

Private to this collection.
"""

import os
import socket
import stat
from typing import List, NamedTuple, Optional, Sequence

from ..._text import listed, one_line
from .addresses import listen_address
from .machine_state import UNCHECKED
from .protocol import METRICS_PATH, status_of

_MOST_BYTES = 4096
_HEALTH, _METRICS = (
    b"GET " + path + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n" for path in (b"/", METRICS_PATH)
)
_ANY = {"0.0.0.0": "127.0.0.1", "::": "::1"}


class Asked(NamedTuple):
    """What an address has answered."""

    address: str
    is_in_service: Optional[bool]  # None: no answer that makes sense
    words: str


def ask(address: str, is_agent: bool, seconds: float) -> Asked:
    """:arg address: as the settings have it"""
    try:
        content = _answer(address, b"" if is_agent else _HEALTH, seconds)
    except OSError as error:
        return Asked(address, None, error.strerror or str(error))
    if is_agent:
        words = content.decode("ascii", "replace").strip()
        return Asked(address, {"100%": True, "0%": False}.get(words), f"weight {words}" if words else "")
    status = {200: True, 503: False}.get(status_of(content) or 0)
    return Asked(address, status, content.partition(b"\r\n\r\n")[2].decode("ascii", "replace").strip())


def health_problem(answers: Sequence[Asked], folder: str) -> str:
    """Why the health endpoint can't see the mark, and so always answers that the machine is in service; "" when it can.

    :arg folder: of the mark
    """
    closed = closed_folders(folder) if answers else []
    if closed:
        return f"its user can't enter {listed(map(one_line, closed))}"
    return next((one_line(one.words) for one in answers if UNCHECKED in one.words), "")  # not said by agent-check


def closed_folders(folder: str) -> List[str]:
    """Those on the way to a folder, and itself, that let an ordinary user not through."""
    found: List[str] = []
    while True:
        try:
            if not os.stat(folder).st_mode & stat.S_IXOTH:
                found.insert(0, folder)
        except OSError:  # it is not there yet
            pass
        if folder == os.path.dirname(folder):
            return found
        folder = os.path.dirname(folder)


def metrics_problem(address: str, seconds: float) -> str:
    """Why metrics are not to be had at an address; "" when they are."""
    try:
        content = _answer(address, _METRICS, seconds)
    except OSError as error:
        return error.strerror or str(error)
    if status_of(content) == 200:
        return ""
    return content.partition(b"\r\n\r\n")[2].decode("ascii", "replace").strip() or "no answer"


def _answer(address: str, request: bytes, seconds: float) -> bytes:
    host, port = listen_address(address)
    with socket.create_connection((_ANY.get(host, host), port), seconds) as connection:
        if request:
            connection.sendall(request)
        return _all_of(connection)


def _all_of(connection: socket.socket) -> bytes:
    content = b""
    while len(content) < _MOST_BYTES:
        part = connection.recv(_MOST_BYTES)
        if not part:
            break
        content += part
    return content
