# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything that can go wrong at the other end of a request, once: a server that does it, what a Transport must make of
it, and what look.ps1 says of it.

The answers of look.ps1 marked with RECORDED hold what a prototype of it saw under PowerShell 7.6; the others are derived
from the documentation of .NET and of .NET Framework (Windows PowerShell 5.1), and were never seen on a real Windows.
"""

import base64
import contextlib
import socket
import struct
import threading
import time

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._errors import (
    AnswerTimeout,
    AnswerTooLarge,
    BrokenAnswer,
    Unreachable,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._imds.loopback import request_of

DOCUMENT = b'{"DocumentIncarnation": 2, "Events": []}'
TIMEOUT = 0.6  # seconds for one exchange, in these tests, where its end is what they are about
LONG = 60  # and where it is not


def answered(status, body=b"", **headers):
    """What look.ps1 says of an answer; one without a body and without headers says that it is empty."""
    if not body and not headers:
        headers = {"content_length": "0"}
    return {
        "status": status,
        "headers": {name.replace("_", "-"): value for name, value in headers.items()},
        "body": base64.b64encode(body).decode("ascii"),
        "polls": 1,
    }


def failed(failure, message="?", part="head"):
    return {"failure": failure, "message": message, "part": part, "polls": 1}


def says(text):
    return lambda connection: connection.sendall(text)


def head(status, length, more=b""):
    return b"HTTP/1.1 %s\r\nContent-Length: %d\r\n%sConnection: close\r\n\r\n" % (status, length, more)


def hangs(connection):
    connection.settimeout(2 * LONG)
    connection.recv(1)  # until the other side hangs up


def resets(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def resets_in_the_body(connection):
    connection.sendall(head(b"200 OK", 100) + b"{")
    time.sleep(0.1)
    resets(connection)


def trickles(connection):
    connection.sendall(head(b"200 OK", 100))
    for _dummy in range(1000):
        connection.sendall(b" ")
        time.sleep(TIMEOUT / 5)


def stalls(connection):
    connection.sendall(head(b"200 OK", 100) + b"{")
    hangs(connection)


def floods(connection):
    connection.sendall(head(b"200 OK", 5000000) + b" " * 5000000)


REFUSED, UNKNOWN = "nobody listens", "no such name"

# name of the fault: (what the server does, the error or the status that comes of it, what look.ps1 says of it)
FAULTS = {
    "connection refused": (
        REFUSED,
        Unreachable,
        [
            failed("UnknownError", "Connection refused [::ffff:127.0.0.1]:1 (127.0.0.1:1)"),  # RECORDED
            failed("ConnectionRefused", "Connection refused"),
            failed("ConnectionRefused", "No connection could be made because the target machine actively refused it"),
        ],
    ),
    "name unknown": (
        UNKNOWN,
        Unreachable,
        [
            failed("HostNotFound", "No such host is known."),
            failed("NameResolutionFailure", "The remote name could not be resolved"),
        ],
    ),
    "no answer": (
        hangs,
        AnswerTimeout,
        [
            failed("Timeout", "The operation has timed out."),  # RECORDED
            failed("TimedOut", "A connection attempt failed because the connected party did not properly respond"),
        ],
    ),
    "reset": (
        resets,
        Unreachable,
        [
            failed("ConnectionReset", "Connection reset by peer"),
            failed("ReceiveFailure", "The underlying connection was closed"),
        ],
    ),
    "closed without an answer": (
        lambda connection: None,
        Unreachable,
        [
            failed("UnknownError", "The response ended prematurely"),  # RECORDED
            failed("ResponseEnded", "The response ended prematurely. (ResponseEnded)"),
            failed("ConnectionClosed", "The underlying connection was closed"),
            failed("KeepAliveFailure", "A connection that was expected to be kept alive was closed by the server."),
        ],
    ),
    "not HTTP": (
        says(b"SSH-2.0-OpenSSH_9.2\r\n"),
        BrokenAnswer,
        [
            failed("UnknownError", "Received an invalid status line: 'SSH-2.0-OpenSSH_9.2'."),  # RECORDED
            failed("InvalidResponse", "Received an invalid status line: 'SSH-2.0-OpenSSH_9.2'."),
            failed("ServerProtocolViolation", "The server committed a protocol violation."),
        ],
    ),
    "body cut short": (
        says(head(b"200 OK", 100) + b"{"),
        BrokenAnswer,
        [
            failed(
                "ResponseEnded", "The response ended prematurely, with at least 99 additional bytes expected.", "body"
            ),
            failed("Unknown", "The response ended prematurely.", "body"),
            failed("ConnectionClosed", "The connection was closed unexpectedly.", "body"),
            answered(200, b"{", content_length="100"),
        ],
    ),
    "head cut short": (
        says(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Le"),
        BrokenAnswer,
        [],  # see ON_WINDOWS
    ),
    "status line cut short": (says(b"HTTP/1.1 200"), BrokenAnswer, []),
    "a control character in a header": (
        says(head(b"200 OK", len(DOCUMENT), b"X-Of: a\x01b\r\n") + DOCUMENT),
        BrokenAnswer,
        [
            failed("InvalidResponse", "a control character in a header", "whole"),
            failed("ServerProtocolViolation", "The server committed a protocol violation."),
        ],
    ),
    "a blank in a header, in other characters": (
        says(head(b"200 OK", len(DOCUMENT), b'X-Of: a\tb\x00c\r\n d\r\nETag: "2"\r\n') + DOCUMENT),
        200,
        [],
    ),
    "no length, and cut before the body": (
        says(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"),
        BrokenAnswer,
        [answered(200, connection="close")],
    ),
    "an empty body that says so": (says(head(b"200 OK", 0)), 200, [answered(200, content_length="0")]),
    "an empty body in chunks": (
        says(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        200,
        [answered(200, transfer_encoding="chunked")],
    ),
    "chunk cut short": (
        says(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\n{"),
        BrokenAnswer,
        [failed("ResponseEnded", "The response ended prematurely.", "body")],
    ),
    "reset in the body": (
        resets_in_the_body,
        Unreachable,
        [failed("ConnectionReset", "Connection reset by peer", "body")],
    ),
    "trickling body": (trickles, AnswerTimeout, [failed("Timeout", "no end of the body")]),
    "stalled body": (stalls, AnswerTimeout, [failed("Timeout", "no end of the body")]),
    "5 MB body": (floods, AnswerTooLarge, [failed("TooLarge", "more than 1048576 bytes")]),  # RECORDED
    "302": (says(head(b"302 Found", 0, b"Location: http://127.0.0.1:1/\r\n")), 302, [answered(302)]),
    "304": (says(b'HTTP/1.1 304 Not Modified\r\nETag: "2"\r\nConnection: close\r\n\r\n'), 304, [answered(304)]),
    "400": (says(head(b"400 Bad Request", 2) + b"{}"), 400, [answered(400, b"{}")]),
    "404": (says(head(b"404 Not Found", 0)), 404, [answered(404)]),
    "410": (says(head(b"410 Gone", 0)), 410, [answered(410)]),
    "429": (says(head(b"429 Too Many Requests", 0, b"Retry-After: 7\r\n")), 429, [answered(429, retry_after="7")]),
    "500": (says(head(b"500 Internal Server Error", 3) + b"oh!"), 500, [answered(500, b"oh!")]),
    "nothing wrong": (
        says(head(b"200 OK", len(DOCUMENT), b'ETag: "2"\r\n') + DOCUMENT),
        200,
        [answered(200, DOCUMENT, etag='"2"', content_type="application/json; charset=utf-8")],
    ),  # RECORDED
}

# What .NET can't tell from a connection that was closed without an answer. It is an error all the same.
ON_WINDOWS = {
    name: (
        Unreachable,
        [
            failed("UnknownError", "The response ended prematurely"),
            failed("ResponseEnded", "The response ended prematurely. (ResponseEnded)"),
            failed("ConnectionClosed", "The underlying connection was closed: The connection was closed unexpectedly."),
        ],
    )
    for name in ("status line cut short", "head cut short")
}


def on_windows(fault):
    """The error or the status that comes of the fault there, and what look.ps1 says of it."""
    return ON_WINDOWS.get(fault, FAULTS[fault][1:])


@contextlib.contextmanager
def serving(behaviour):
    """The address of a server on loopback that does this to every connection, once it has read the request."""
    if behaviour == UNKNOWN:
        yield "http://name.invalid"  # reserved: it never resolves
        return
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    if behaviour == REFUSED:
        listener.close()
        yield address
        return
    listener.listen()

    def serve(connection):
        with contextlib.suppress(OSError), connection:
            request_of(connection)
            behaviour(connection)

    def accept():
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield address
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
