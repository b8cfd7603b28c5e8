# Copyright: (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Transport over ``requests``.

Private to this collection.
"""

import collections
import http.client
import socket
import traceback
from typing import Deque, Dict, Iterator, Optional

from .._clock import Clock, Deadline
from .._errors import AnswerTimeout, AnswerTooLarge, BrokenAnswer, ScheduledEventsError, TransportError, Unreachable
from .transport import LIMIT, REQUESTS_PER_SECOND, Answer, Transport

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
    requests = None
    HTTPAdapter = HTTPConnection = HTTPConnectionPool = Session = object
    HTTPError = ReadTimeoutError = OSError

CONNECT_TIMEOUT = 10.0  # the service is on the same host: it is the answer that may take minutes, not the connection
PIECE = 16 * 1024


class RequestsTransport(Transport):
    """The Transport of a machine that asks for itself: one kept-alive session of ``requests``."""

    def __init__(self, clock: Optional[Clock] = None) -> None:
        super().__init__(clock)
        self._times: Deque[float] = collections.deque(maxlen=REQUESTS_PER_SECOND)
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
        self._keep_the_rate()
        deadline = self._adapter.deadline = Deadline(self.clock, timeout)
        try:
            response = self.session.request(
                method,
                url,
                headers=headers,
                data=body,
                timeout=(min(CONNECT_TIMEOUT, timeout), timeout),
                proxies={"http": None, "https": None},
                allow_redirects=False,
                stream=True,
            )
            try:
                content = _read(response, deadline, url, timeout)
            finally:
                response.close()  # a connection whose body was read to the end stays open all the same
        except (requests.RequestException, HTTPError, http.client.HTTPException, OSError, ValueError) as error:
            raise _translated(error, url, timeout) from error
        return Answer(response.status_code, {name.lower(): value for name, value in response.headers.items()}, content)

    def _keep_the_rate(self) -> None:
        if len(self._times) == REQUESTS_PER_SECOND:
            self.clock.sleep(max(0.0, self._times[0] + 1.0 - self.clock.now()))
        self._times.append(self.clock.now())


def _read(response, deadline: Deadline, url: str, timeout: float) -> bytes:
    """The body, in pieces, so that neither its size nor its slowness can hold us."""
    announced = response.headers.get("Content-Length", "")
    content = b""
    while True:
        piece = response.raw.read(PIECE, decode_content=False)
        if not piece:
            break
        content += piece
        if len(content) > LIMIT:
            raise AnswerTooLarge(
                "%s sent more than %d bytes: no document is that long." % (url, LIMIT),
                status=response.status_code,
                url=url,
            )
        if deadline.passed():
            raise _too_slow(url, timeout)
    if announced.isdigit() and len(content) < int(announced) and response.status_code not in (204, 304):
        # urllib3 before 2.0 lets a body end early
        raise BrokenAnswer(
            f"The answer of {url} broke off after {len(content)} of {announced} bytes.",
            status=response.status_code,
            url=url,
        )
    return content


def _too_slow(url: str, timeout: float) -> AnswerTimeout:
    return AnswerTimeout(f"{url} gave no whole answer within {timeout:g} s.", url=url)


def _translated(error: BaseException, url: str, timeout: float) -> TransportError:
    """What `requests`, urllib3, http.client or the socket said, as one of our four errors."""
    causes = list(_causes(error))
    for cause in causes:
        # not urllib3's own time-outs: there, a refused connection counts as one before 2.0
        if isinstance(cause, (requests.Timeout, ReadTimeoutError, socket.timeout)):
            if isinstance(error, requests.ConnectTimeout):
                return AnswerTimeout(f"No connection to {url} within {min(CONNECT_TIMEOUT, timeout):g} s.", url=url)
            return _too_slow(url, timeout)
    for cause in causes:
        # requests' own exceptions are OSErrors, too
        if isinstance(cause, OSError) and not isinstance(cause, requests.RequestException):
            return Unreachable(f"No connection to {url}, or it was cut: {cause.strerror or cause}.", url=url)
    for cause in causes:
        if isinstance(cause, http.client.IncompleteRead):
            return BrokenAnswer(f"The answer of {url} broke off.", url=url)
        if isinstance(cause, http.client.HTTPException):
            return BrokenAnswer(f"What {url} sent is not HTTP ({type(cause).__name__}).", url=url)
    return Unreachable(f"{url} can't be asked: {error}.", url=url)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error and whatever it wraps: libraries hide the cause in `args`, in `reason` or in the chain."""
    found = [error]
    seen = []
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
    """A session to which a redirect is an answer: told only not to follow it, `requests` still reads all of its body."""

    def get_redirect_target(self, resp) -> None:
        return None


class _Adapter(HTTPAdapter):
    """Connections on which every receive obeys the deadline of the exchange it belongs to.

    The read time-out of `requests` is for one receive: who sends one byte a second holds it for ever,
    in the headers as in the body. An https endpoint (Azure has none) is held to it between pieces of the body only.
    """

    def __init__(self) -> None:
        self.deadline: Optional[Deadline] = None
        super().__init__()

    def init_poolmanager(self, *args, **kwargs) -> None:
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

    @classmethod
    def taking_over(cls, plain: socket.socket, adapter: _Adapter) -> "_Socket":
        timeout = plain.gettimeout()
        taken = cls(plain.family, plain.type, plain.proto, plain.detach())
        taken.settimeout(timeout)
        taken.adapter = adapter
        return taken

    def recv_into(self, *args, **kwargs) -> int:
        remaining = self.adapter.deadline.remaining()
        if remaining <= 0:
            raise socket.timeout("the deadline of the exchange has passed")
        self.settimeout(remaining)
        return super().recv_into(*args, **kwargs)
