# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""HTTP as far as a health check and a scrape of metrics need it, and HAProxy's agent-check. Pure.

Private to this collection.

Every path but that of the metrics is answered alike: a load balancer asks whichever its administrator has set.
"""

import re
from typing import NamedTuple, Optional

from .machine_state import Answer

MOST_BYTES = 1024
"""Of a request with all its headers."""

_END = re.compile(rb"\r?\n\r?\n")
METRICS_PATH = b"/metrics"
_FIRST_LINE = re.compile(rb"([A-Z]+) ([!-~]+) HTTP/1\.[01]\r?\n")
_METHODS = (b"GET", b"HEAD", b"OPTIONS")  # HAProxy sends OPTIONS unless it is configured otherwise
_REASONS = {
    200: "OK",
    400: "Bad Request",
    403: "Forbidden",
    405: "Method Not Allowed",
    431: "Request Header Fields Too Large",
    503: "Service Unavailable",
}


class Request(NamedTuple):
    """One that has come whole, or can't become one any more."""

    refusal: int = 0  # the status that it is refused with; 0 when it is to be answered
    wants_body: bool = True
    is_for_metrics: bool = False


def request_of(received: bytes) -> Optional[Request]:
    """None while more of it has to come.

    :arg received: so far
    """
    if not _END.search(received):
        return Request(refusal=431) if len(received) > MOST_BYTES else None
    found = _FIRST_LINE.match(received)
    if not found:
        return Request(refusal=400)
    if found.group(1) not in _METHODS:
        return Request(refusal=405)
    path = found.group(2).partition(b"?")[0]
    return Request(wants_body=found.group(1) != b"HEAD", is_for_metrics=path == METRICS_PATH)


def refused(status: int) -> bytes:
    return _response(status, _text(_REASONS[status]), wants_body=True)


def response(answer: Answer, wants_body: bool) -> bytes:
    return _response(200 if answer.is_in_service else 503, _text(answer.words), wants_body)


def metrics_response(content: Optional[bytes], wants_body: bool) -> bytes:
    """Whoever scrapes counts the machine as down when there is nothing to be had.

    :arg content: None where no watcher has written any since the boot
    """
    if content is None:
        return _response(503, _text("no watcher has written its metrics since the boot"), wants_body)
    return _response(200, content, wants_body, "text/plain; version=0.0.4; charset=utf-8")


def agent_line(answer: Answer) -> bytes:
    """A weight, never a state: `ready` would end an administrator's maintenance of the server."""
    return b"100%\n" if answer.is_in_service else b"0%\n"


def _text(words: str) -> bytes:
    return words.encode("utf-8") + b"\n"


def _response(status: int, body: bytes, wants_body: bool, kind: str = "text/plain; charset=utf-8") -> bytes:
    head = (
        f"HTTP/1.1 {status} {_REASONS[status]}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
        "Cache-Control: no-store\r\nConnection: close\r\n\r\n"
    )
    return head.encode("ascii") + (body if wants_body else b"")


def status_of(received: bytes) -> Optional[int]:
    """The status of another program's answer; None while it has not come, 0 when it is no answer in HTTP."""
    found = re.match(rb"HTTP/1\.[0-9] ([1-9][0-9][0-9])", received)
    if found:
        return int(found.group(1))
    return 0 if len(received) >= len(b"HTTP/1.1 200") else None
