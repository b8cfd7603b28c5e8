# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Transport over the standard library, for machines that have nothing but Python. And what http.client reads of an answer, for
this one and for that over `requests`: within the time limit, framed by one reader.

Private to this collection.
"""

import http.client
import io
import select
import socket
from typing import Any, Callable, Dict, Iterable, Optional, Tuple, Type
from urllib.parse import urlsplit

from .._clock import Clock, Deadline
from .._errors import AnswerTimeout, BrokenAnswer, TransportError, Unreachable
from .._text import clause
from .transport import (
    LIMIT,
    Answer,
    BadFraming,
    RateLimit,
    Transport,
    chunk_size,
    framing_of,
    too_large,
    too_slow,
    whole,
)

CONNECT_TIMEOUT = 10.0  # the service is on the same host: it is the answer that may take minutes, not the connection
CHUNK = 16 * 1024

_LONGEST_LINE = 65536  # bytes; of a chunk's size and what may stand behind it

DeadlineNow = Callable[[], Optional[Deadline]]


class HttpTransport(Transport):
    """The Transport of the machine program: one connection of ``http.client``, kept open from request to request.

    :arg rate: what it shares with others that ask the same service; None where it is alone
    :arg approval_rate: the same for approvals, where these have a limit of their own
    """

    def __init__(
        self,
        clock: Optional[Clock] = None,
        rate: Optional[RateLimit] = None,
        approval_rate: Optional[RateLimit] = None,
    ) -> None:
        super().__init__(clock)
        self._rate = rate or RateLimit(self.clock)
        self._approval_rate = approval_rate or self._rate
        self._deadline: Optional[Deadline] = None
        self._origin: Tuple[str, str] = ("", "")
        self._connection = http.client.HTTPConnection("unused")

    def get(self, url: str, headers: Dict[str, str], timeout: float) -> Answer:
        return self._exchange("GET", url, headers, None, timeout)

    def post(self, url: str, headers: Dict[str, str], body: bytes, timeout: float) -> Answer:
        return self._exchange("POST", url, headers, body, timeout)

    def close(self) -> None:
        self._connection.close()

    def _exchange(
        self, method: str, url: str, headers: Dict[str, str], body: Optional[bytes], timeout: float
    ) -> Answer:
        rate = self._approval_rate if method == "POST" else self._rate
        rate.wait()
        deadline = self._deadline = Deadline(self.clock, timeout)
        done = False
        try:
            parts = urlsplit(url)
            connection = self._connected_to((parts.scheme, parts.netloc), deadline, url, timeout)
            target = (parts.path or "/") + ("?" + parts.query if parts.query else "")
            connection.request(method, target, body, headers)
            response = connection.getresponse()
            content = read_body(response.read, response.status, deadline, url, timeout)
            answer = whole(
                Answer(response.status, _joined(response.getheaders()), content), url, posted=method == "POST"
            )
            done = True
            return answer
        except (BadFraming, http.client.HTTPException, OSError, ValueError) as error:
            raise http_error(error, (error,), url, timeout) from error
        finally:
            if not done:  # what is left of this answer must not be taken for the next one
                self._connection.close()
            rate.ended()

    def _connected_to(
        self, origin: Tuple[str, str], deadline: Deadline, url: str, timeout: float
    ) -> http.client.HTTPConnection:
        """The connection that is open to this scheme and host, or a new one."""
        if origin != self._origin or self._connection.sock is None or _has_ended(self._connection.sock):
            self._connection.close()
            kind = http.client.HTTPSConnection if origin[0] == "https" else http.client.HTTPConnection
            self._connection = kind(origin[1], timeout=min(CONNECT_TIMEOUT, timeout))
            self._connection.response_class = response_class(lambda: self._deadline)
            self._origin = origin
            try:
                self._connection.connect()
            except socket.timeout as error:
                raise AnswerTimeout(
                    f"No connection to {url} within {min(CONNECT_TIMEOUT, timeout):g} s.", url=url
                ) from error
        self._connection.sock.settimeout(max(0.001, deadline.remaining()))
        return self._connection


def _has_ended(idle: socket.socket) -> bool:
    """Whether the server has closed a connection on which nothing is under way (or says what nobody has asked for)."""
    return bool(select.select([idle], [], [], 0)[0])


def read_body(read: Callable[[int], bytes], status: int, deadline: Deadline, url: str, timeout: float) -> bytes:
    """The body of an answer, in pieces, so that neither its size nor its slowness can hold us."""
    content = b""
    while True:
        chunk = read(CHUNK)
        if not chunk:
            return content
        content += chunk
        if len(content) > LIMIT:
            raise too_large(url, status)
        if deadline.passed():
            raise too_slow(url, timeout)


def _joined(headers: Iterable[Tuple[str, str]]) -> Dict[str, str]:
    """Names in lower case; what comes twice is one, as a list."""
    joined: Dict[str, str] = {}
    for name, value in headers:
        name = name.lower()
        joined[name] = f"{joined[name]}, {value}" if name in joined else value
    return joined


def http_error(error: BaseException, causes: Iterable[BaseException], url: str, timeout: float) -> TransportError:
    """What http.client or the socket said, as one of our four errors: the first cause that tells.

    :arg error: what was raised; where no cause says anything, it is given as it is
    """
    causes = list(causes)
    for cause in causes:
        if isinstance(cause, socket.timeout):
            return too_slow(url, timeout)
    for cause in causes:
        if isinstance(cause, BadFraming):
            return BrokenAnswer(f"The answer of {url} can't be read: {cause}.", url=url)
    for cause in causes:
        if isinstance(cause, OSError):
            return Unreachable(
                f"No connection to {url}, or it was cut: {clause(cause.strerror or cause) or type(cause).__name__}.",
                url=url,
            )
    for cause in causes:
        if isinstance(cause, http.client.IncompleteRead):
            return BrokenAnswer(f"The answer of {url} broke off.", url=url)
        if isinstance(cause, http.client.HTTPException) and not isinstance(cause, http.client.InvalidURL):
            return BrokenAnswer(f"What {url} sent is not HTTP ({type(cause).__name__}).", url=url)
    return Unreachable(f"{url} can't be asked: {clause(error) or type(error).__name__}.", url=url)


class _Response(http.client.HTTPResponse):
    """An answer that neither slowness nor odd lengths make endless."""

    deadline: DeadlineNow

    def __init__(self, sock: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        self.fp = io.BufferedReader(_BoundedReads(self.fp.detach(), sock, type(self).deadline))

    def begin(self) -> None:
        if self.headers is not None:
            return
        head: Any = _Head(self.fp)
        whole, self.fp = self.fp, head
        super().begin()
        self.fp = whole
        framing = framing_of(_values(self.headers, "Content-Length"), _values(self.headers, "Transfer-Encoding"))
        has_body = self.status not in (204, 304) and self.status >= 200
        self.chunked = framing.chunked and has_body
        self.chunk_left = None
        self.length = None if self.chunked else (framing.length if has_body else 0)

    def _read_next_chunk_size(self) -> int:
        # http.client takes negative sizes. This is the one place where it reads them, in every Python.
        line = self.fp.readline(_LONGEST_LINE + 1)
        if len(line) > _LONGEST_LINE:
            raise BadFraming("the line of a chunk's size never ends")
        return chunk_size(line)


class _Head:
    """The lines of an answer up to its body: http.client takes the end of the connection for their end, and part of a line for one."""

    def __init__(self, lines: Any) -> None:
        self._lines = lines
        self._is_begun = False
        self.close, self.flush = lines.close, lines.flush

    def readline(self, size: int) -> bytes:
        line: bytes = self._lines.readline(size)
        if not line.endswith(b"\n") and len(line) < size and (line or self._is_begun):
            raise BadFraming("it broke off inside its headers")
        self._is_begun = line not in (b"\r\n", b"\n")  # after "100 Continue" another head begins
        return line


def response_class(deadline: DeadlineNow) -> Type[http.client.HTTPResponse]:
    """The class of the answers on a connection.

    :arg deadline: of the exchange that is under way at the time of a receive
    """

    class Response(_Response):
        pass

    Response.deadline = staticmethod(deadline)
    return Response


class _BoundedReads(io.RawIOBase):
    """What comes over a connection, each receive no longer than the exchange it belongs to.

    A socket's own time-out is for one receive: who sends one byte a second holds it for ever, in the headers as in the
    body.
    """

    def __init__(self, raw: io.RawIOBase, sock: socket.socket, deadline: DeadlineNow) -> None:
        super().__init__()
        self._raw = raw
        self._sock = sock
        self._deadline = deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> Optional[int]:
        deadline = self._deadline()
        remaining = deadline.remaining() if deadline else 0.0
        if remaining <= 0:
            raise socket.timeout("the deadline of the exchange has passed")
        self._sock.settimeout(remaining)
        return self._raw.readinto(buffer)

    def close(self) -> None:
        try:
            self._raw.close()
        finally:
            super().close()


def _values(headers: Any, name: str) -> str:
    return ", ".join(headers.get_all(name) or ())
