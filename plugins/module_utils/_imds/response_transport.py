# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What http.client reads of an answer, for the Transports over it and over `requests`: within the time limit, framed by one reader.

Private to this collection.
"""

import http.client
import io
import socket
from typing import Any, Callable, Optional, Type

from .._clock import Deadline
from .framing import BadFraming, chunk_size, framing_of

_LONGEST_LINE = 65536  # bytes; of a chunk's size and what may stand behind it

DeadlineNow = Callable[[], Optional[Deadline]]


class _Response(http.client.HTTPResponse):
    """An answer that neither slowness nor odd lengths make endless."""

    deadline: DeadlineNow

    def __init__(self, sock: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        self.fp = io.BufferedReader(_BoundedReads(self.fp.detach(), sock, type(self).deadline))

    def begin(self) -> None:
        if self.headers is not None:
            return
        super().begin()
        framing = framing_of(_joined(self.headers, "Content-Length"), _joined(self.headers, "Transfer-Encoding"))
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


def _joined(headers: Any, name: str) -> str:
    return ", ".join(headers.get_all(name) or ())
