# Copyright: (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a handler gives the HTTP server to send."""

from typing import NamedTuple, Optional, Tuple


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
