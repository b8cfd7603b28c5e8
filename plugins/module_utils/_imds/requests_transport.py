# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Transport over `requests`.

Private to this collection.
"""

import http.client
import socket
import traceback
from typing import Any, Dict, Iterator, List, Optional

from .._clock import Clock, Deadline
from .._errors import AnswerTimeout, BrokenAnswer, ScheduledEventsError, TransportError, Unreachable
from .._text import one_line
from .transport import LIMIT, Answer, RateLimit, Transport, too_large, too_slow, whole

try:
    import requests
    from requests import Session
    from requests.adapters import HTTPAdapter
    from urllib3.connection import HTTPConnection
    from urllib3.connectionpool import HTTPConnectionPool
    from urllib3.exceptions import HTTPError, ReadTimeoutError

    REQUESTS_IMPORT_ERROR: Optional[str] = None
except ImportError:
    # The file must import without requests, so that the module can say what is missing.
    REQUESTS_IMPORT_ERROR = traceback.format_exc()
    requests = None  # type: ignore[assignment]
    HTTPAdapter = HTTPConnection = HTTPConnectionPool = Session = object  # type: ignore[assignment,misc]
    HTTPError = ReadTimeoutError = OSError  # type: ignore[assignment,misc]

CONNECT_TIMEOUT = 10.0  # the service is on the same host: it is the answer that may take minutes, not the connection
PIECE = 16 * 1024


class RequestsTransport(Transport):
    """The Transport of a machine that asks for itself: one kept-alive session of ``requests``."""

    def __init__(self, clock: Optional[Clock] = None) -> None:
        super().__init__(clock)
        self._rate = RateLimit(self.clock)
        self._adapter = _Adapter()
        self.session = _Session()
        self.session.trust_env = False  # no proxy, no .netrc from the environment
        self.session.headers["Accept-Encoding"] = "identity"
        for scheme in ("http://", "https://"):
            self.session.mount(scheme, self._adapter)

    def get(self, url: str, headers: Dict[str, str], timeout: float) -> Answer:
        return self._exchange("GET", url, headers, None, timeout)

    def post(self, url: str, headers: Dict[str, str], body: bytes, timeout: float) -> Answer:
        return self._exchange("POST", url, headers, body, timeout)

    def _exchange(
        self, method: str, url: str, headers: Dict[str, str], body: Optional[bytes], timeout: float
    ) -> Answer:
        self._rate.wait()
        deadline = self._adapter.deadline = Deadline(self.clock, timeout)
        try:
            response = self.session.request(
                method,
                url,
                headers=headers,
                data=body,
                timeout=(min(CONNECT_TIMEOUT, timeout), timeout),
                allow_redirects=False,
                stream=True,
            )
            try:
                content = _read(response, deadline, url, timeout)
            finally:
                response.close()  # a connection whose body was read to the end stays open all the same
        except (requests.RequestException, HTTPError, http.client.HTTPException, OSError, ValueError) as error:
            raise _translated(error, url, timeout) from error
        finally:
            self._rate.ended()
        headers = {name.lower(): value for name, value in response.headers.items()}
        return whole(Answer(response.status_code, headers, content), url, posted=method == "POST")


def _read(response: "requests.Response", deadline: Deadline, url: str, timeout: float) -> bytes:
    """The body, in pieces, so that neither its size nor its slowness can hold us."""
    content = b""
    while True:
        piece: bytes = response.raw.read(PIECE, decode_content=False)
        if not piece:
            return content
        content += piece
        if len(content) > LIMIT:
            raise too_large(url, response.status_code)
        if deadline.passed():
            raise too_slow(url, timeout)


def _translated(error: BaseException, url: str, timeout: float) -> TransportError:
    """What `requests`, urllib3, http.client or the socket said, as one of our four errors."""
    causes = list(_causes(error))
    for cause in causes:
        # not urllib3's own time-outs: there, a refused connection counts as one before 2.0
        if isinstance(cause, (requests.Timeout, ReadTimeoutError, socket.timeout)):
            if isinstance(error, requests.ConnectTimeout):
                return AnswerTimeout(f"No connection to {url} within {min(CONNECT_TIMEOUT, timeout):g} s.", url=url)
            return too_slow(url, timeout)
    for cause in causes:
        # requests' own exceptions are OSErrors, too
        if isinstance(cause, OSError) and not isinstance(cause, requests.RequestException):
            return Unreachable(f"No connection to {url}, or it was cut: {one_line(cause.strerror or cause)}.", url=url)
    for cause in causes:
        if isinstance(cause, http.client.IncompleteRead):
            return BrokenAnswer(f"The answer of {url} broke off.", url=url)
        if isinstance(cause, http.client.HTTPException):
            return BrokenAnswer(f"What {url} sent is not HTTP ({type(cause).__name__}).", url=url)
    return Unreachable(f"{url} can't be asked: {one_line(error)}.", url=url)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error and whatever it wraps: libraries hide the cause in `args`, in `reason` or in the chain."""
    found = [error]
    seen: List[BaseException] = []
    while found:
        cause = found.pop(0)
        if any(cause is other for other in seen):
            continue
        seen.append(cause)
        yield cause
        candidates = list(cause.args) + [getattr(cause, "reason", None), cause.__cause__, cause.__context__]
        # One of our own errors in the chain belongs to an earlier exchange.
        found.extend(
            candidate
            for candidate in candidates
            if isinstance(candidate, BaseException) and not isinstance(candidate, ScheduledEventsError)
        )


class _Session(Session):
    """A session to which a redirect is an answer: asked only not to follow it, `requests` still reads all of its body."""

    def get_redirect_target(self, resp: "requests.Response") -> None:
        return None


class _Adapter(HTTPAdapter):
    """Connections on which every receive obeys the deadline of the exchange it belongs to.

    The read time-out of `requests` is for one receive: who sends one byte a second holds it for ever,
    in the headers as in the body. An https endpoint (Azure has none) is held to it between pieces of the body only.
    """

    def __init__(self) -> None:
        self.deadline: Optional[Deadline] = None
        super().__init__()

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        adapter = self
        super().init_poolmanager(*args, **kwargs)

        class Connection(HTTPConnection):
            def connect(self) -> None:
                super().connect()
                self.sock = _Socket.taking_over(self.sock, adapter)

        class Pool(HTTPConnectionPool):
            ConnectionCls = Connection

        self.poolmanager.pool_classes_by_scheme = dict(self.poolmanager.pool_classes_by_scheme, http=Pool)


class _Socket(socket.socket):
    """A socket whose receives end at the adapter's deadline."""

    adapter: "_Adapter"

    @classmethod
    def taking_over(cls, plain: socket.socket, adapter: _Adapter) -> "_Socket":
        timeout = plain.gettimeout()
        taken = cls(plain.family, plain.type, plain.proto, plain.detach())
        taken.settimeout(timeout)
        taken.adapter = adapter
        return taken

    def recv_into(self, *args: Any, **kwargs: Any) -> int:
        deadline = self.adapter.deadline
        remaining = deadline.remaining() if deadline else 0.0
        if remaining <= 0:
            raise socket.timeout("the deadline of the exchange has passed")
        self.settimeout(remaining)
        return super().recv_into(*args, **kwargs)
