# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What steps ask of the network: one HTTP request, whether a port takes connections, which addresses a host has.

Private to this collection.
"""

import base64
import socket
import ssl
import urllib.error
import urllib.request
from http.client import HTTPException, InvalidURL
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple
from urllib.parse import unquote, urlsplit, urlunsplit

from .._clock import Clock, Deadline
from .._text import one_line

MOST_BYTES = 1024 * 1024
"""What is read of an answer."""


class Wire(NamedTuple):
    """How a step talks to its application."""

    user: Optional[str]
    password: Optional[str]
    validate_certs: bool
    use_proxy: bool


class _AsItCame(urllib.request.HTTPErrorProcessor):
    """Any answer is an answer: none is an error, and no redirect is followed."""

    def http_response(self, request: urllib.request.Request, response: Any) -> Any:
        return response

    https_response = http_response


def ask(
    wire: Wire, method: str, url: str, headers: Mapping[str, str], body: Optional[bytes], seconds: float
) -> Dict[str, Any]:
    """Send it once.

    :return: ``status`` (-1 where there was no answer), ``content`` and ``msg``, which says what was wrong
    """
    handlers = [_AsItCame(), urllib.request.HTTPSHandler(context=_context(wire.validate_certs))]
    if not wire.use_proxy:
        handlers.append(urllib.request.ProxyHandler({}))
    try:
        address, user, password = _without_credentials(url)
        if wire.user is not None:
            user, password = wire.user, wire.password
        request = urllib.request.Request(address, data=body, headers=dict(headers), method=method)
        if user is not None:
            credentials = f"{user}:{password or ''}".encode()
            request.add_unredirected_header("Authorization", f"Basic {base64.b64encode(credentials).decode('ascii')}")
        opener = urllib.request.build_opener(*handlers)
        opener.addheaders = [("User-Agent", "cloudops.azure_maintenance")]
        with opener.open(request, timeout=seconds) as response:
            content = _read(response, Deadline(Clock(), seconds))
            return {
                "status": response.status,
                "content": content.decode(response.headers.get_content_charset() or "utf-8", "replace"),
                "msg": f"HTTP Error {response.status}: {one_line(response.reason)}",
            }
    except (OSError, HTTPException, ValueError, LookupError) as error:
        return {"status": -1, "content": "", "msg": f"Request failed: {_why(error)}"}


def _why(error: Exception) -> str:
    """Python's words, but where they quote what was to be sent: that may hold a password."""
    if isinstance(error, (ValueError, InvalidURL)) and not isinstance(error, (OSError, ssl.CertificateError)):
        return "its address or one of its headers holds what HTTP does not allow there, such as the end of a line"
    return one_line(getattr(error, "reason", None) or error) or type(error).__name__


def _without_credentials(url: str) -> Tuple[str, Optional[str], Optional[str]]:
    """A URL, and the user and the password that it may carry."""
    parts = urlsplit(url)
    user, password = (unquote(text) if text is not None else None for text in (parts.username, parts.password))
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2])), user, password


def _context(validate_certs: bool) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if not validate_certs:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _read(response: Any, deadline: Deadline) -> bytes:
    content = b""
    while len(content) < MOST_BYTES and not deadline.passed():
        chunk = response.read1(65536) if hasattr(response, "read1") else response.read(65536)
        if not chunk:
            break
        content += chunk
    return content


def accepts(address: str, port: int, seconds: float) -> bool:
    """Whether something takes a connection there."""
    try:
        socket.create_connection((address, port), timeout=seconds).close()
    except OSError:
        return False
    return True


def addresses_of(host: str) -> List[str]:
    """The addresses of a host, which may be an address itself.

    :raises OSError: when it is not known
    """
    try:
        found = socket.getaddrinfo(host, None, proto=socket.IPPROTO_TCP)
    except (OSError, UnicodeError) as error:
        raise OSError(f"host {host} of exclude is not known: {error}") from error
    return [str(place[4][0]).partition("%")[0] for place in found]
