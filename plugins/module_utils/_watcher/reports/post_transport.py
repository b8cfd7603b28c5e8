# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One POST to a URL of the user's, by the standard library: with the system's authorities, within its time, and to nobody else.

Private to this collection.
"""

import base64
import http.client
import socket
import ssl
import threading
from typing import Dict, NamedTuple, Optional, Tuple
from urllib.parse import unquote, urljoin, urlsplit

from ..._clock import Clock, Deadline
from ..._text import digits, one_line

CONNECT = 10.0
WHOLE = 30.0
MOST_BYTES = 4096
"""Of an answer; more is not read."""

_REDIRECTS = 3
_KEEPS_METHOD = (307, 308)


class Posted(NamedTuple):
    """What came of it."""

    status: int  # 0: no answer
    words: str  # for people; nothing of the URL beyond its host is in it
    after: Optional[float] = None  # seconds that the answer asks to be left alone
    date: str = ""  # the answer's own


class Way(NamedTuple):
    """How to get there."""

    proxy: str = ""
    ca_file: str = ""


def post(url: str, body: bytes, headers: Dict[str, str], way: Way, seconds: float = WHOLE) -> Posted:
    """Send it once, following at most a redirect within the same host that keeps the method."""
    deadline = Deadline(Clock(), seconds)
    for _hop in range(_REDIRECTS):
        try:
            found, location = _exchange(url, body, headers, way, deadline)
        except (OSError, http.client.HTTPException, ValueError) as error:
            return Posted(0, _why(error, deadline, seconds))
        if not 300 <= found.status < 400:
            return found
        target = urljoin(url, location)
        if found.status not in _KEEPS_METHOD or _origin(target) != _origin(url):
            return found._replace(words=f"{found.words}, a redirect to {_shown(target)}, which is not followed")
        url = target
    return Posted(found.status, f"more than {_REDIRECTS} redirects")


def reach(url: str, way: Way, seconds: float = CONNECT) -> str:
    """Whether somebody listens there, and is who he should be: "", or why not. Nothing is sent."""
    deadline = Deadline(Clock(), seconds)
    connection = None
    try:
        connection = _connection(url, way, deadline)[0]
        connection.connect()
    except (OSError, http.client.HTTPException, ValueError) as error:
        return _why(error, deadline, seconds)
    finally:
        if connection:
            connection.close()
    return ""


def _exchange(url: str, body: bytes, headers: Dict[str, str], way: Way, deadline: Deadline) -> Tuple[Posted, str]:
    connection, target, more = _connection(url, way, deadline)
    # A time-out of a socket is for each receive anew: who sends a byte now and then would hold us for ever.
    guard = threading.Timer(deadline.remaining(), _cut, [connection])
    guard.daemon = True
    guard.start()
    try:
        connection.connect()
        if deadline.passed():
            raise socket.timeout()
        connection.sock.settimeout(max(0.001, deadline.remaining()))
        connection.request("POST", target, body, {**headers, **more, "Connection": "close"})
        response = connection.getresponse()
        if deadline.passed():  # what was cut inside its headers looks like a whole answer
            raise socket.timeout()
        _read(response)
        found = Posted(
            response.status,
            one_line(f"HTTP {response.status} {response.reason or ''}", 100),
            _seconds(response.getheader("Retry-After")),
            response.getheader("Date") or "",
        )
        return found, response.getheader("Location") or ""
    finally:
        guard.cancel()
        connection.close()


def _read(response: http.client.HTTPResponse) -> None:
    """For those who want to get rid of their body. The status is there already: it says all that counts."""
    try:
        response.read(MOST_BYTES)
    except (OSError, http.client.HTTPException, ValueError):
        pass


def _connection(url: str, way: Way, deadline: Deadline) -> Tuple[http.client.HTTPConnection, str, Dict[str, str]]:
    """The connection to be made, the target of the request on it, and headers for a proxy."""
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    host = parts.hostname or ""
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    seconds = max(0.001, min(CONNECT, deadline.remaining()))
    proxy = urlsplit(way.proxy)
    own = _authorization("Authorization", parts.username, parts.password)
    credentials = _authorization("Proxy-Authorization", proxy.username, proxy.password)
    first = (proxy.hostname or "", proxy.port or 3128) if way.proxy else (host, port)
    if parts.scheme == "https":
        secure = http.client.HTTPSConnection(first[0], first[1], timeout=seconds, context=_context(way.ca_file))
        if way.proxy:
            secure.set_tunnel(host, port, credentials)
        return secure, target, own
    plain = http.client.HTTPConnection(first[0], first[1], timeout=seconds)
    if way.proxy:
        return plain, f"http://{parts.netloc.rpartition('@')[2]}{target}", {**own, **credentials}
    return plain, target, own


def _context(ca_file: str) -> ssl.SSLContext:
    """The system's authorities, and those of the file; host names are checked."""
    context = ssl.create_default_context()
    if hasattr(ssl, "TLSVersion"):
        context.minimum_version = ssl.TLSVersion.TLSv1_2
    else:  # before Python 3.7
        context.options |= ssl.OP_NO_TLSv1 | ssl.OP_NO_TLSv1_1
    if ca_file:
        context.load_verify_locations(ca_file)
    return context


def _cut(connection: http.client.HTTPConnection) -> None:
    try:
        # Not SSLSocket's own method, which would take the cipher away under the one who reads
        socket.socket.shutdown(connection.sock, socket.SHUT_RDWR)
    except (OSError, TypeError):  # not connected yet
        pass


def _authorization(header: str, user: Optional[str], password: Optional[str]) -> Dict[str, str]:
    if not user:
        return {}
    credentials = f"{unquote(user)}:{unquote(password or '')}".encode()
    return {header: f"Basic {base64.b64encode(credentials).decode('ascii')}"}


def _origin(url: str) -> Tuple[str, str, Optional[int]]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port


def _shown(url: str) -> str:
    parts = urlsplit(url)
    return one_line(f"{parts.scheme}://{parts.hostname or ''}", 200)


def _seconds(text: Optional[str]) -> Optional[float]:
    """Of Retry-After, where that is a number."""
    seconds = digits((text or "").strip())
    return None if seconds is None else float(seconds)


def _why(error: Exception, deadline: Deadline, seconds: float) -> str:
    """Never the words of an error of http.client's: some hold the URL."""
    if isinstance(error, socket.gaierror):
        return f"its name does not resolve: {one_line(error.strerror, 100)}"
    if deadline.passed():
        return f"no whole answer within {seconds:g} s"
    if isinstance(error, (ssl.CertificateError, ssl.SSLError)):
        reason = getattr(error, "verify_message", "") or getattr(error, "reason", "") or error
        return f"TLS failed: {one_line(reason, 200)}"
    if isinstance(error, socket.timeout):
        return f"no connection within {CONNECT:g} s"
    if isinstance(error, OSError) and not isinstance(error, http.client.HTTPException):
        return f"no connection, or it was cut: {one_line(error.strerror or error, 100)}"
    if isinstance(error, http.client.RemoteDisconnected):
        return "the connection was closed without an answer"
    return f"what answered is not HTTP ({type(error).__name__})"
