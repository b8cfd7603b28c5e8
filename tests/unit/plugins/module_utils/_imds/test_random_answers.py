# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ten thousand answers of random bytes, to the client on both Transports: a document or a documented failure, in time, and the same.

The bytes wait in a pair of sockets before they are asked for, so that an answer costs no connection and no thread.
"""

import logging
import random
import socket
import time

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._clock import Clock
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._errors import KINDS, ScheduledEventsError
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._imds import http_transport, requests_transport
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._imds.client import Client
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._imds.transport import RateLimit
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import ScriptedClock

pytest.importorskip("requests")
connection = pytest.importorskip("urllib3.connection")

ANSWERS = 10000
SILENT_EVERY = 100  # one of so many stays open after its bytes
TIMEOUT, LONG = 0.02, 60.0

DOCUMENT = (
    b'{"DocumentIncarnation": 2, "Events": [{"EventId": "A", "EventStatus": "Scheduled", "EventType": "Reboot",'
    b' "ResourceType": "VirtualMachine", "Resources": ["web1"], "NotBefore": "Mon, 19 Sep 2022 18:29:47 GMT"}]}'
)
STATUS = [b"200 OK", b"200", b"204 x", b"304 x", b"400 x", b"404 x", b"410 x", b"429 x", b"500 x", b"302 x", b"100 x"]
STATUS += [b"103 x", b"999 x", b"-200 x", b"\xb2\xb3\xb9 x", b"", b"2000 x"]
VERSIONS = [b"HTTP/1.1"] * 8 + [b"HTTP/1.0", b"HTTP/0.9", b"HTTP/2", b"SSH-2.0", b"HTTP/1.\xb2", b""]
NAMES = [
    b"Content-Length",
    b"content-length",
    b"Transfer-Encoding",
    b"Retry-After",
    b"Date",
    b"ETag",
    b"Connection",
    b"Server",
]
NAMES += [b"Content-Type", b"Content-Encoding", b"Location", b"", b" x", b"X\xb2"]
NUMBERS = [
    b"0",
    b"2",
    b"%d" % len(DOCUMENT),
    b"-1",
    b"+2",
    b"0x2",
    b"1_0",
    b"\xb2",
    b"9" * 12,
    b"9" * 13,
    b"9" * 5000,
    b"2, 3",
]
VALUES = [
    *NUMBERS,
    b"chunked",
    b"gzip, chunked",
    b"close",
    b"keep-alive",
    b"text/html",
    b"Mon, 19 Sep 2022 18:29:47 GMT",
]
VALUES += [b"", b" ", b"\x00", b"\x1b[31m", b"Mon, \xb2 Sep 99999 99:99:99", b'"1"', b"x" * 70000]
SIZES = [
    b"2",
    b"%x" % len(DOCUMENT),
    b"0",
    b"-2",
    b"+2",
    b"0x2",
    b"1_0",
    b"\xb2",
    b"9" * 8,
    b"9" * 5000,
    b"",
    b"2;x=y",
    b"FFFFFFFF",
]
BODIES = [
    DOCUMENT,
    b"{}",
    b"",
    b"\xff\xfe",
    b"[" * 5000,
    DOCUMENT[:40],
    b"<html>",
    b'{"error": "Bad request"}',
    b"x" * 70000,
]


def random_answer(number):
    """Pieces of answers, right and wrong ones, and then some bytes of them changed, cut or sent twice."""
    chance = random.Random(number)
    head = chance.choice(VERSIONS) + b" " + chance.choice(STATUS if chance.random() < 0.5 else STATUS[:1])
    lines = [
        chance.choice(NAMES) + b":" + chance.choice([b"", b" "]) + chance.choice(VALUES)
        for _each in range(chance.randrange(4))
    ]
    content = chance.choice(BODIES)
    framing = chance.randrange(4)
    if framing == 0:
        lines.append(b"Content-Length: %d" % len(content))
    elif framing == 1:
        lines.append(b"Transfer-Encoding: chunked")
        size = chance.choice([b"%x" % len(content), chance.choice(SIZES)])
        content = size + b"\r\n" + content + b"\r\n" + chance.choice(SIZES) + b"\r\n\r\n"
    answer = bytearray(b"\r\n".join([head, *lines, b"", content]))
    for _each in range(chance.choice([0, 0, 1, 2, 5])):
        at = chance.randrange(len(answer) + 1)
        wrong = chance.randrange(4)
        if wrong == 0:
            answer[at : at + 1] = bytes([chance.randrange(256)])
        elif wrong == 1:
            del answer[at : at + chance.choice([1, 10, 100000])]
        elif wrong == 2:
            answer[at:at] = answer[: chance.randrange(200)]
        else:
            answer[at:at] = bytes(chance.randrange(256) for _byte in range(chance.randrange(20)))
    return bytes(answer)


class Line:
    """Where the connections of a client lead to: each gets the same bytes, and then the end or silence."""

    def __init__(self, content, is_silent):
        self._content = content
        self._is_silent = is_silent
        self._ends = []

    def connect(self, *_args):
        near, far = socket.socketpair()
        far.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        far.sendall(self._content)
        if not self._is_silent:
            far.shutdown(socket.SHUT_WR)
        self._ends += [near, far]
        return near

    def close(self):
        for end in self._ends:  # the near one, too: who has read an answer to its end keeps the connection
            end.close()


class Unlimited(RateLimit):
    def wait(self):
        pass


def over_http_client(line, monkeypatch):
    def connect(self):
        self.sock = line.connect()
        self.sock.settimeout(self.timeout)

    monkeypatch.setattr(http_transport.http.client.HTTPConnection, "connect", connect)
    return http_transport.HttpTransport(rate=Unlimited(Clock()))


def over_requests(line, monkeypatch):
    monkeypatch.setattr(connection.HTTPConnection, "_new_conn", line.connect)
    monkeypatch.setattr(connection.HTTPConnection, "connect", lambda self: setattr(self, "sock", self._new_conn()))
    transport = requests_transport.RequestsTransport()
    transport._rate = Unlimited(Clock())
    return transport


def outcome(transport, line, timeout):
    """What the client makes of it: a document, or the kind of its failure."""
    client = Client(transport, "http://imds.test", timeout=timeout, first_timeout=timeout, clock=ScriptedClock())
    try:
        return client.poll_once()
    except ScheduledEventsError as error:
        assert error.kind in KINDS and error.kind != "invalid"
        assert error.message.isprintable() and len(error.message) < 2000
        return error.kind
    finally:
        transport.close()
        line.close()


@pytest.mark.parametrize("thousand", range(ANSWERS // 1000))
def test_random_answers(thousand, monkeypatch):
    monkeypatch.setattr(logging.getLogger("urllib3"), "disabled", True)  # nobody would read what it says of each
    monkeypatch.setattr(logging.getLogger("urllib3.connection"), "disabled", True)
    seen = set()
    for number in range(1000 * thousand, 1000 * thousand + 1000):
        content, is_silent = random_answer(number), number % SILENT_EVERY == 0
        timeout = TIMEOUT if is_silent else LONG
        found = []
        for over in (over_http_client, over_requests):
            line = Line(content, is_silent)
            with monkeypatch.context() as patched:
                started = time.monotonic()
                try:
                    found.append(outcome(over(line, patched), line, timeout))
                except Exception as error:
                    raise AssertionError(f"answer {number}, {content[:300]!r}: {error!r}") from error
                assert time.monotonic() - started < LONG, f"answer {number}"
        if not is_silent:
            assert found[0] == found[1], f"answer {number}: {content[:300]!r}"
        seen.update(each if isinstance(each, str) else "document" for each in found)
    assert {"document", "malformed", "unreachable", "not_azure", "throttled"} <= seen
