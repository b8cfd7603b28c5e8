# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks a health endpoint as a load balancer does: for the commands, which show what it answers.

Private to this collection.
"""

import socket
from typing import NamedTuple, Optional

from .addresses import listen_address
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
