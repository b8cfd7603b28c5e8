# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a handler gives the HTTP server to send."""

import json
from typing import Any, NamedTuple, Optional, Tuple

JSON = "application/json; charset=utf-8"
TEXT = "text/plain; charset=utf-8"


class Delivery(NamedTuple):
    """How an answer travels, when not simply at once and whole."""

    delay: float = 0  # real seconds before it is sent
    hang: bool = False  # never sent
    reset: bool = False  # the connection is reset instead
    cut: Optional[int] = None  # so many bytes of the body are sent, then the connection ends
    interval: float = 0  # real seconds between two bytes of the body


class Answer(NamedTuple):
    """One HTTP answer."""

    status: int
    body: bytes = b""
    content_type: str = ""
    headers: Tuple[Tuple[str, str], ...] = ()
    delivery: Optional[Delivery] = None


def error(status: int, message: str, **members: Any) -> Answer:
    """An error as IMDS words it."""
    return Answer(status, json.dumps(dict({"error": message}, **members), separators=(",", ":")).encode("utf-8"), JSON)


def throttled(headers: Tuple[Tuple[str, str], ...] = ()) -> Answer:
    """The one error of IMDS that is not JSON."""
    return Answer(429, b"Throttle Result: Too Many Requests", TEXT, headers)
