# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""HTTP/1.1 requests out of a stream of bytes. No I/O here."""

import re
from functools import lru_cache
from typing import Dict, List, Optional, Tuple
from urllib.parse import parse_qsl, unquote

_CHUNK_SIZE = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(;.*)?\Z")
_DIGITS = re.compile(r"[0-9]{1,12}\Z")  # a superscript is a digit to Python, too
MAX_HEAD = 16 * 1024
MAX_BODY = 256 * 1024


class Refused(Exception):
    """The bytes are no request that can be answered; the connection ends after this status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


class Request:
    """One request. Header names are in lower case; headers sent twice are joined by a comma."""

    __slots__ = ("method", "path", "query", "headers", "body", "source", "vm", "keep_alive")

    def __init__(self, method: str, target: str, headers: Dict[str, str], keep_alive: bool) -> None:
        self.method = method
        self.path, self.query = _split_target(target)
        self.headers = headers
        self.keep_alive = keep_alive
        self.body = b""
        self.source = ""
        self.vm = ""  # whose own listener it came in by; "": one that is shared


@lru_cache(maxsize=4096)
def _split_target(target: str) -> Tuple[str, Tuple[Tuple[str, str], ...]]:
    path, _mark, query = target.partition("?")
    if path[:7].lower() == "http://":  # as a client sends it to a proxy
        path = "/" + path[7:].partition("/")[2]
    return unquote(path), tuple(parse_qsl(query, keep_blank_values=True))


class RequestParser:
    """Feed it bytes, take requests."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._request: Optional[Request] = None  # whose body is still coming
        self._length = 0
        self._chunks: Optional[bytearray] = None
        self.asks_to_continue = False  # the client waits for "100 Continue"

    def feed(self, data: bytes) -> None:
        """More bytes."""
        self._buffer += data

    @property
    def buffered(self) -> int:
        """How many bytes wait to be looked at."""
        return len(self._buffer)

    def next(self) -> Optional[Request]:
        """The next whole request, None when there is none yet. Raises Refused."""
        request = self._request or self._take_head()
        if request is None:
            return None
        self._request = request
        body = self._take_body() if self._chunks is None else self._take_chunks(self._chunks)
        if body is None:
            return None
        request.body, self._request = body, None
        return request

    def _take_head(self) -> Optional[Request]:
        while self._buffer[:2] == b"\r\n":  # tolerated before a request
            del self._buffer[:2]
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0 or end > MAX_HEAD:
            if len(self._buffer) > MAX_HEAD:
                raise Refused(431, f"the head of the request is larger than {MAX_HEAD} bytes")
            return None
        head = bytes(self._buffer[:end]).decode("latin-1")
        del self._buffer[: end + 4]
        lines = head.split("\r\n")
        words = lines[0].split(" ")
        if len(words) != 3 or words[2] not in ("HTTP/1.1", "HTTP/1.0"):
            raise Refused(400, "the request line is not METHOD TARGET HTTP/1.1")
        headers = _headers(lines[1:])
        connection = headers.get("connection", "").lower()
        keep_alive = "keep-alive" in connection if words[2] == "HTTP/1.0" else "close" not in connection
        self._expect_body(headers)
        return Request(words[0], words[1], headers, keep_alive)

    def _expect_body(self, headers: Dict[str, str]) -> None:
        self._chunks = None
        length = headers.get("content-length")
        coding = headers.get("transfer-encoding", "").lower()
        if coding:
            if coding != "chunked" or length is not None:
                raise Refused(400, "the Transfer-Encoding is not chunked alone")
            self._chunks = bytearray()
        self._length = 0
        if length is not None:
            if not _DIGITS.match(length):
                raise Refused(400, "the Content-Length is no number")
            self._length = int(length)
            if self._length > MAX_BODY:
                raise Refused(413, f"the body is larger than {MAX_BODY} bytes")
        self.asks_to_continue = headers.get("expect", "").lower() == "100-continue"

    def _take_body(self) -> Optional[bytes]:
        if len(self._buffer) < self._length:
            return None
        body = bytes(self._buffer[: self._length])
        del self._buffer[: self._length]
        return body

    def _take_chunks(self, taken: bytearray) -> Optional[bytes]:
        while True:
            end = self._buffer.find(b"\r\n")
            if end < 0:
                if len(self._buffer) > 1024:
                    raise Refused(400, "a chunk of the body has no size")
                return None
            found = _CHUNK_SIZE.match(bytes(self._buffer[:end]))
            if not found:
                raise Refused(400, "a chunk's size is no number")
            size = int(found.group(1), 16)
            if size == 0:
                return bytes(taken) if self._skip_trailers(end) else None
            if len(taken) + size > MAX_BODY:
                raise Refused(413, f"the body is larger than {MAX_BODY} bytes")
            if len(self._buffer) < end + 2 + size + 2:
                return None
            if self._buffer[end + 2 + size : end + 4 + size] != b"\r\n":
                raise Refused(400, "a chunk is longer than its size")
            taken += self._buffer[end + 2 : end + 2 + size]
            del self._buffer[: end + 2 + size + 2]

    def _skip_trailers(self, end: int) -> bool:
        """Skip the headers after the last chunk, which say nothing that matters; False where they have not all come.

        :arg end: of the line with the last chunk's size
        """
        last = self._buffer.find(b"\r\n\r\n", end)
        if last < 0 and len(self._buffer) - end > MAX_HEAD:
            raise Refused(431, f"what follows the body is larger than {MAX_HEAD} bytes")
        if last >= 0:
            del self._buffer[: last + 4]
        return last >= 0


def _headers(lines: List[str]) -> Dict[str, str]:
    headers: Dict[str, str] = {}
    for line in lines:
        name, mark, value = line.partition(":")
        if not mark or not name or name != name.strip():
            raise Refused(400, "a header line is not NAME: VALUE")
        name = name.lower()
        value = value.strip()
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers
