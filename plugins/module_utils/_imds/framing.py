# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long an answer's body is, by its headers: one reader for every Transport.

Private to this collection.

HTTP libraries differ in what they make of two lengths, or of one that is no number: one reads to the end of the connection, another
takes the first. Where two readers may disagree, no answer is safe, so none is taken.
"""

import re
from typing import NamedTuple, Optional

from .._text import digits, shown

_CHUNK_SIZE = re.compile(rb"[0-9A-Fa-f]{1,8}\Z")


class BadFraming(Exception):
    """Headers, or a chunk, that do not say how long the body is. The message is half a sentence."""


class Framing(NamedTuple):
    """How the body ends."""

    length: Optional[int]  # bytes; None where nothing announces them
    chunked: bool


def framing_of(content_length: str, transfer_encoding: str) -> Framing:
    """What the two headers say.

    :arg content_length: its value, "" without one; what comes several times is joined by commas
    :raises BadFraming: when they say two things, or nothing that can be understood
    """
    lengths = {_length(part) for part in content_length.split(",")} if content_length.strip(" \t") else set()
    if len(lengths) > 1:
        raise BadFraming(f"it announces two lengths, {shown(content_length)}")
    coding = transfer_encoding.strip(" \t").lower()
    if coding not in ("", "identity", "chunked"):
        raise BadFraming(f"its Transfer-Encoding is {shown(transfer_encoding)}, which nobody asked for")
    return Framing(next(iter(lengths), None), coding == "chunked")


def _length(text: str) -> int:
    length = digits(text.strip(" \t"))
    if length is None:
        raise BadFraming(f"its Content-Length is {shown(text)}")
    return length


def chunk_size(line: bytes) -> int:
    """The bytes of the next chunk.

    :arg line: the line before it, with its end
    :raises BadFraming: when it is no size, or the connection ended within it
    """
    if not line.endswith(b"\n"):
        raise BadFraming("it broke off between two chunks")
    size = line.partition(b";")[0].strip(b" \t\r\n")
    if not _CHUNK_SIZE.match(size):
        raise BadFraming(f"the size of a chunk is {shown(size)}")
    return int(size, 16)
