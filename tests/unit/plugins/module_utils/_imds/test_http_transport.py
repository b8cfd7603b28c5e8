# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is the own affair of the Transport over http.client; what it shares with the others is in test_transports_real."""

import select
import socket
import threading

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._errors import AnswerTimeout, Unreachable
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._imds.http_transport import HttpTransport
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._imds.loopback import (
    Server,
    answers,
    request_of,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import ScriptedClock

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


def listens(received, *contents):
    def play(server, connection):
        for content in contents:
            received.append(request_of(connection))
            connection.sendall(content)

    return play


def test_a_request_is_sent_as_asked():
    received = []
    with Server(listens(received, OK, OK)) as server:
        transport = HttpTransport()
        transport.get(server.url + "?api-version=1", {"Metadata": "true"}, 5.0)
        transport.post(server.url, {"Content-Type": "application/json"}, b"[]", 5.0)
    first, second = received
    assert first.startswith(b"GET /x?api-version=1 HTTP/1.1\r\n")
    assert b"\r\nMetadata: true\r\n" in first and b"\r\nAccept-Encoding: identity\r\n" in first
    assert second.startswith(b"POST /x HTTP/1.1\r\n") and second.endswith(b"\r\n\r\n[]")


def test_five_requests_a_second_and_no_more():
    clock = ScriptedClock()
    with Server(answers(*[OK] * 11)) as server:
        transport = HttpTransport(clock)
        for _each in range(11):
            transport.get(server.url, {}, 5.0)
        assert clock.sleeps == [1, 1] and server.connections == 1


def test_failed_requests_count_as_well():
    with Server() as server:
        url = server.url
    clock = ScriptedClock()
    transport = HttpTransport(clock)
    for _each in range(6):
        with pytest.raises(Unreachable):
            transport.get(url, {}, 5.0)
    assert clock.sleeps == [1]


def test_another_host_is_another_connection():
    with Server(answers(OK)) as one, Server(answers(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")) as other:
        transport = HttpTransport()
        assert [transport.get(server.url, {}, 5.0).status for server in (one, other)] == [200, 404]


NOT_FOUND = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"


def test_what_nobody_asked_for_is_not_the_next_answer():
    taken = threading.Event()

    def speaks_twice(server, connection):
        request_of(connection)
        connection.sendall(OK)
        taken.wait(5)
        connection.sendall(OK)
        request_of(connection)

    with Server(speaks_twice, answers(NOT_FOUND)) as server:
        transport = HttpTransport()
        assert transport.get(server.url, {}, 5.0).status == 200
        taken.set()
        assert select.select([transport._connection.sock], [], [], 5)[0]  # it takes its time even on loopback
        assert transport.get(server.url, {}, 5.0).status == 404
        assert server.connections == 2


def test_what_comes_along_with_an_answer_is_not_the_next_one():
    # Whether the next one is on the same connection is all the same.
    with Server(answers(OK + OK, NOT_FOUND), answers(NOT_FOUND)) as server:
        transport = HttpTransport()
        assert [transport.get(server.url, {}, 5.0).status for _each in range(2)] == [200, 404]


def test_a_header_that_comes_twice_has_both_values():
    with Server(answers(b"HTTP/1.1 200 OK\r\nX: a\r\nContent-Length: 0\r\nx: b\r\n\r\n")) as server:
        assert HttpTransport().get(server.url, {}, 5.0).headers == {"x": "a, b", "content-length": "0"}


@pytest.mark.parametrize("timeout, words", [(2.0, "within 2 s"), (125.0, "within 10 s")])
def test_a_connection_is_not_waited_for_longer_than_ten_seconds(monkeypatch, timeout, words):
    asked = []

    def connect(_address, seconds, *_source):
        asked.append(seconds)
        raise socket.timeout("timed out")

    monkeypatch.setattr(socket, "create_connection", connect)
    transport = HttpTransport()
    with pytest.raises(AnswerTimeout, match=words):
        transport.get("http://imds.test/x", {}, timeout)
    assert asked == [min(10.0, timeout)]
