# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""HTTP as such: parsing, kept-alive connections, limits."""

import json
import socket

import emulator_harness  # noqa: F401  pylint: disable=unused-import  # it knows where the emulator is
import pytest
from imds_emulator import http_server
from imds_emulator.http_parser import MAX_BODY, MAX_HEAD, Refused, RequestParser

PATH = "/vm/web1/metadata/scheduledevents?api-version=2020-07-01"
GET = f"GET {PATH} HTTP/1.1\r\nHost: x\r\nMetadata: true\r\n\r\n".encode()


def parsed(data, size=None):
    """The requests in some bytes, fed in pieces of some size."""
    parser = RequestParser()
    requests = []
    for begin in range(0, len(data), size or len(data)):
        parser.feed(data[begin : begin + (size or len(data))])
        while True:
            request = parser.next()
            if request is None:
                break
            requests.append(request)
    return requests


@pytest.mark.parametrize("size", [None, 1, 2, 7])
def test_requests_in_pieces(size):
    data = (
        b"POST /a%20b?x=1&y=&x=2 HTTP/1.1\r\nContent-Length: 5\r\nA: 1\r\nB:2 \r\na:  3\r\n\r\nhello\r\n"
        b"POST /c HTTP/1.0\r\nTransfer-Encoding: Chunked\r\n\r\n3;x=y\r\nabc\r\n2 \r\nde\r\n0\r\nSum: 1\r\nB: 2\r\n\r\n"
        b"GET http://169.254.169.254/metadata/versions HTTP/1.1\r\nConnection: close\r\n\r\n"
    )
    one, two, three = parsed(data, size)
    assert (one.method, one.path, one.query, one.body, one.keep_alive) == (
        "POST",
        "/a b",
        (("x", "1"), ("y", ""), ("x", "2")),
        b"hello",
        True,
    )
    assert (one.headers["a"], one.headers["b"]) == ("1, 3", "2")
    assert (two.path, two.body, two.keep_alive) == ("/c", b"abcde", False)
    assert (three.path, three.keep_alive) == ("/metadata/versions", False)


@pytest.mark.parametrize(
    "data, status",
    [
        (b"nonsense\r\n\r\n", 400),
        (b"GET / HTTP/2.0\r\n\r\n", 400),
        (b"GET  / HTTP/1.1\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nno colon\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nA : 1\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nA: 1\r\n folded\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nContent-Length: \xb2\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", 400),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\n", 400),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n+5\r\nabcde\r\n", 400),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0x5\r\nabcde\r\n", 400),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcde\r\n0\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: " + b"x" * MAX_HEAD, 431),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1" * 2000, 400),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nfffffff\r\n", 413),
        (f"POST / HTTP/1.1\r\nContent-Length: {MAX_BODY + 1}\r\n\r\n".encode(), 413),
        (b"GET /" + b"x" * MAX_HEAD, 431),
        (b"GET / HTTP/1.1\r\nA: " + b"x" * MAX_HEAD + b"\r\n\r\n", 431),
    ],
)
def test_what_is_no_request(data, status):
    with pytest.raises(Refused) as caught:
        parsed(data)
    assert caught.value.status == status


def read_answer(connection):
    """Head and body of one answer."""
    received = b""
    while b"\r\n\r\n" not in received:
        received += connection.recv(65536)
    head, _blank, body = received.partition(b"\r\n\r\n")
    length = [line for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
    needed = int(length[0].split(b":")[1]) if length else 0
    while len(body) < needed:
        body += connection.recv(65536)
    return head, body


@pytest.fixture
def connection(emulator):
    with socket.create_connection(emulator.metadata, 10) as opened:
        yield opened


def test_connections_are_kept(connection):
    for _number in range(3):
        connection.sendall(GET)
        head, body = read_answer(connection)
        assert head.startswith(b"HTTP/1.1 200 OK\r\n") and body == b'{"DocumentIncarnation":1,"Events":[]}'


@pytest.mark.parametrize(
    "request_bytes", [GET.replace(b"Host: x", b"Connection: close"), GET.replace(b"HTTP/1.1", b"HTTP/1.0")]
)
def test_or_closed_on_demand(connection, request_bytes):
    connection.sendall(request_bytes)
    head, _body = read_answer(connection)
    assert b"Connection: close" in head
    assert connection.recv(1) == b""


def test_pipelined_requests_are_answered_in_order(connection, emulator):
    emulator.fault("delay", delay=0.05, count=1)
    connection.sendall(GET + GET.replace(b"2020-07-01", b"nonsense") + GET.replace(b"GET", b"HEAD"))
    received = b""
    while received.count(b"HTTP/1.1") < 3:
        received += connection.recv(65536)
    statuses = [part[:3] for part in received.split(b"HTTP/1.1 ")[1:]]
    assert statuses == [b"200", b"400", b"405"]
    assert received.endswith(b"\r\n\r\n")  # a HEAD has no body


def test_a_client_that_waits_to_continue(connection, emulator):
    body = b'{"StartRequests": []}'
    head = f"POST {PATH} HTTP/1.1\r\nMetadata: true\r\nExpect: 100-continue\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    connection.sendall(head)
    assert connection.recv(65536) == b"HTTP/1.1 100 Continue\r\n\r\n"
    connection.sendall(body)
    assert read_answer(connection)[0].startswith(b"HTTP/1.1 400 ")


def test_chunked_approvals(connection, emulator):
    body = json.dumps({"StartRequests": [{"EventId": emulator.inject("Reboot")}]}).encode()
    connection.sendall(
        f"POST {PATH} HTTP/1.1\r\nMetadata: true\r\nTransfer-Encoding: chunked\r\n\r\n{len(body):x}\r\n".encode()
        + body
        + b"\r\n0\r\n\r\n"
    )
    assert read_answer(connection)[0].startswith(b"HTTP/1.1 200 ")
    assert emulator.statuses() == ["Started"]


def test_what_is_no_request_is_refused_and_the_service_goes_on(connection, emulator):
    connection.sendall(b"\x16\x03\x01 TLS\r\n\r\n")
    head, _body = read_answer(connection)
    assert head.startswith(b"HTTP/1.1 400 ") and b"Connection: close" in head
    assert emulator.look().status == 200


@pytest.mark.parametrize(
    "data, status",
    [
        (b"nonsense\r\n\r\n", 400),
        (f"POST {PATH} HTTP/1.1\r\nContent-Length: {MAX_BODY + 1}\r\n\r\n".encode(), 413),
        (b"GET /" + b"x" * (MAX_HEAD + 10), 431),
    ],
)
def test_what_is_no_request_is_refused_in_json_as_all_else(connection, data, status):
    connection.sendall(data)
    head, body = read_answer(connection)
    assert head.startswith(f"HTTP/1.1 {status} ".encode())
    assert b"Content-Type: application/json; charset=utf-8" in head
    assert list(json.loads(body.decode())) == ["error"]


def test_a_client_that_sends_far_ahead_is_not_read(connection, emulator):
    emulator.fault("hang", count=1)
    connection.sendall(GET)
    connection.settimeout(0.5)
    with pytest.raises(socket.timeout):
        for _number in range(200):
            connection.sendall(b"x" * 1000000)
    assert emulator.look().status == 200


def test_a_fault_of_its_own_is_a_500_and_the_service_goes_on(emulator, monkeypatch, capfd):
    monkeypatch.setattr(emulator.service.world.enabling, "asked", lambda scope: 1 / 0)
    assert emulator.look().status == 500
    monkeypatch.undo()
    assert emulator.look().status == 200
    assert "ZeroDivisionError" in capfd.readouterr().err


def test_idle_connections_are_closed(loop, emulator):
    import asyncio

    async def serve():
        server = http_server.HttpServer(loop, emulator.service._metadata.handler, "x", idle=0.05)
        return server, await server.listen("127.0.0.1", 0)

    server, port = asyncio.run_coroutine_threadsafe(serve(), loop).result(10)
    with socket.create_connection(("127.0.0.1", port), 10) as idle:
        idle.sendall(GET[:10])  # half a request doesn't help
        assert idle.recv(1) == b""
    loop.call_soon_threadsafe(server.close)
