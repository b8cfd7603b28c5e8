# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Transport over `requests`.

Private to this collection.
"""

import functools
import http.client
import traceback
from typing import Any, Dict, Iterator, List, Optional, Type

from .._clock import Clock, Deadline
from .._errors import AnswerTimeout, ScheduledEventsError, TransportError
from .http_transport import CONNECT_TIMEOUT, http_error, read_body, response_class
from .transport import Answer, BadFraming, RateLimit, Transport, too_slow, whole

try:
    import requests
    from requests import Session
    from requests.adapters import HTTPAdapter
    from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
    from urllib3.exceptions import HTTPError, ReadTimeoutError

    REQUESTS_IMPORT_ERROR: Optional[str] = None
except ImportError:
    # The file must import without requests, so that the module can say what is missing.
    REQUESTS_IMPORT_ERROR = traceback.format_exc()
    requests = None  # type: ignore[assignment]
    HTTPAdapter = HTTPConnectionPool = HTTPSConnectionPool = Session = object  # type: ignore[assignment,misc]
    HTTPError = ReadTimeoutError = OSError  # type: ignore[assignment,misc]


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
                # As it came over the wire: `requests` would unpack it, and urllib3 refuses what was packed many times.
                response.raw.CONTENT_DECODERS = ()
                read = functools.partial(response.raw.read, decode_content=False)
                content = read_body(read, response.status_code, deadline, url, timeout)
            finally:
                response.close()  # a connection whose body was read to the end stays open all the same
            found = {name.lower(): value for name, value in response.headers.items()}
            return whole(Answer(response.status_code, found, content), url, posted=method == "POST")
        except (
            BadFraming,
            requests.RequestException,
            HTTPError,
            http.client.HTTPException,
            OSError,
            ValueError,
        ) as error:
            raise _translated(error, url, timeout) from error
        finally:
            self._rate.ended()


def _translated(error: BaseException, url: str, timeout: float) -> TransportError:
    """What `requests`, urllib3, http.client or the socket said, as one of our four errors."""
    causes = list(_causes(error))
    for cause in causes:
        # not urllib3's own time-outs: there, a refused connection counts as one before 2.0
        if isinstance(cause, (requests.Timeout, ReadTimeoutError)):
            if isinstance(error, requests.ConnectTimeout):
                return AnswerTimeout(f"No connection to {url} within {min(CONNECT_TIMEOUT, timeout):g} s.", url=url)
            return too_slow(url, timeout)
    # requests' own exceptions are OSErrors, too
    return http_error(
        error, (cause for cause in causes if not isinstance(cause, requests.RequestException)), url, timeout
    )


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
    in the headers as in the body.
    """

    def __init__(self) -> None:
        self.deadline: Optional[Deadline] = None
        super().__init__()

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs)
        answers = response_class(lambda: self.deadline)
        self.poolmanager.pool_classes_by_scheme = {
            "http": _pool_of(HTTPConnectionPool, answers),
            "https": _pool_of(HTTPSConnectionPool, answers),
        }


def _pool_of(pool: Any, answers: Type[http.client.HTTPResponse]) -> Any:
    """A pool of urllib3's whose connections read their answers by our class."""
    connection = type("Connection", (pool.ConnectionCls,), {"response_class": answers})
    return type("Pool", (pool,), {"ConnectionCls": connection})
