# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Transports that open connections themselves, over real sockets, on this machine only."""

import ssl
import time

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._errors import (
    AnswerTimeout,
    AnswerTooLarge,
    BrokenAnswer,
    Unreachable,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._imds.http_transport import HttpTransport
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._imds.requests_transport import (
    REQUESTS_IMPORT_ERROR,
    RequestsTransport,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._imds.loopback import (
    LONG,
    Server,
    answers,
    resets,
    stalls,
    trickles,
)

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


NO_REQUESTS = pytest.mark.skipif(REQUESTS_IMPORT_ERROR is not None, reason="no requests")


@pytest.fixture(params=[pytest.param(RequestsTransport, marks=NO_REQUESTS), HttpTransport])
def kind(request):
    return request.param


@pytest.fixture
def real(kind):
    """A Transport on a real clock."""
    return kind()


def test_one_connection_for_many_requests(real):
    not_modified = b'HTTP/1.1 304 Not Modified\r\nETag: "1"\r\n\r\n'
    with Server(answers(OK, OK, not_modified, CHUNKED + b"2\r\n{}\r\n0\r\n\r\n", OK)) as server:
        found = [real.get(server.url, {}, LONG) for _each in range(4)]
        found.append(real.post(server.url, {}, b"{}", LONG))
        assert [answer.status for answer in found] == [200, 200, 304, 200, 200]
        assert [answer.body for answer in found] == [b"{}", b"{}", b"", b"{}", b"{}"]
        assert server.connections == 1


def test_a_connection_that_the_server_has_closed_is_made_anew(real):
    closing = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{}"
    with Server(answers(OK), answers(closing), answers(OK)) as server:
        for _each in range(3):
            assert real.get(server.url, {}, LONG).body == b"{}"
            assert server.closed.acquire(timeout=LONG)
        assert server.connections == 3


SLOW = pytest.mark.parametrize(
    "play",
    [
        trickles(HEAD, b"x"),
        trickles(CHUNKED, b"1\r\nx\r\n"),
        trickles(b"HTTP/1.1 200 OK\r\nX: ", b"x"),
        trickles(b"", b"H"),
        trickles(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        stalls(b""),
        stalls(b"HTTP/1.1 200 OK\r\n"),
        stalls(HEAD + b"x"),
        stalls(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nx"),
    ],
    ids=[
        "body",
        "chunks",
        "header",
        "status line",
        "100 Continue",
        "nothing",
        "half a head",
        "half a body",
        "half a body to the end",
    ],
)


@SLOW
def test_nobody_holds_us_beyond_the_timeout(real, play):
    with Server(play) as server:
        assert_held_to_its_time(real, server)


@SLOW
def test_nobody_holds_us_over_tls_either(trusting, play, tls):
    with Server(play, context=tls) as server:
        assert_held_to_its_time(trusting, server)


def assert_held_to_its_time(transport, server):
    started = time.monotonic()
    with pytest.raises(AnswerTimeout):
        transport.get(server.url, {}, 0.4)
    assert 0.3 < time.monotonic() - started < LONG


@pytest.fixture
def tls(authority):
    """How a server speaks TLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(str(authority / "server.pem"), str(authority / "server.key"))
    return context


@pytest.fixture
def trusting(real, authority, monkeypatch):
    """A Transport that takes the server's authority for one of the system's."""
    monkeypatch.setenv("SSL_CERT_FILE", str(authority / "ca.pem"))
    if isinstance(real, RequestsTransport):  # it brings authorities of its own
        real.session.verify = str(authority / "ca.pem")
    return real


def test_many_requests_over_tls(trusting, tls):
    with Server(answers(OK, CHUNKED + b"2\r\n{}\r\n0\r\n\r\n", OK), context=tls) as server:
        assert [trusting.get(server.url, {}, LONG).body for _each in range(3)] == [b"{}"] * 3
        assert server.connections == 1


@pytest.mark.parametrize(
    "play, error",
    [
        (answers(HEAD + b"x"), BrokenAnswer),
        (answers(CHUNKED + b"9\r\nabc"), BrokenAnswer),
        (answers(b"HTTP/1.1 404 Not Found\r\nContent-Length: 9\r\n\r\nabc"), BrokenAnswer),
        (answers(b"SSH-2.0-OpenSSH_9.6\r\n"), BrokenAnswer),
        (answers(b""), Unreachable),
        (resets(b""), Unreachable),
        (resets(HEAD + b"x"), Unreachable),
        (answers(b"HTTP/1.1 200 OK\r\nContent-Length: 5000000\r\n\r\n" + b"x" * 5000000), AnswerTooLarge),
        (answers(b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 5000000), AnswerTooLarge),
        (answers(b"HTTP/1.1 302 Found\r\nLocation: /y\r\n\r\n" + b"x" * 5000000), AnswerTooLarge),
    ],
    ids=[
        "truncated",
        "truncated chunk",
        "truncated error",
        "not HTTP",
        "closed",
        "reset",
        "reset in the body",
        "5 MB",
        "5 MB unannounced",
        "5 MB of redirect",
    ],
)
def test_faults_of_a_real_server(real, play, error):
    with Server(play) as server:
        with pytest.raises(error) as caught:
            real.get(server.url, {}, LONG)
        assert caught.type is error
        assert caught.value.url == server.url


def headed(*headers):
    return b"HTTP/1.1 200 OK\r\n" + b"".join(header + b"\r\n" for header in headers) + b"\r\n"


@pytest.mark.parametrize("method", ["get", "post"])
@pytest.mark.parametrize(
    "answer",
    [
        headed(b"Content-Length: 2", b"Content-Length: 3") + b"{}x",
        headed(b"Content-Length: 3", b"Content-Length: 2") + b"{}x",
        headed(b"Content-Length: 2, 3") + b"{}x",
        headed(b"Content-Length: \xb2") + b"{}",
        headed(b"Content-Length: 1\xb2") + b"{}",
        headed(b"Content-Length: +2") + b"{}",
        headed(b"Content-Length: 0x2") + b"{}",
        headed(b"Content-Length: -1") + b"{}",
        headed(b"Content-Length: " + b"9" * 13) + b"{}",
        headed(b"Content-Length: " + b"9" * 5000) + b"{}",
        headed(b"Transfer-Encoding: gzip, chunked") + b"2\r\n{}\r\n0\r\n\r\n",
        CHUNKED + b"-2\r\n{}\r\n0\r\n\r\n",
        CHUNKED + b"0x2\r\n{}\r\n0\r\n\r\n",
        CHUNKED + b"+2\r\n{}\r\n0\r\n\r\n",
        CHUNKED + b"\xb2\r\n{}\r\n0\r\n\r\n",
        CHUNKED + b"2;" + b"x" * 70000 + b"\r\n{}\r\n0\r\n\r\n",
        CHUNKED + b"9" * 9 + b"\r\n{}\r\n0\r\n\r\n",
    ],
)
def test_an_answer_that_does_not_say_how_long_it_is(real, answer, method):
    with Server(answers(answer)) as server:
        asked = (server.url, {}, LONG) if method == "get" else (server.url, {}, b"{}", LONG)
        with pytest.raises(BrokenAnswer) as caught:
            getattr(real, method)(*asked)
        assert caught.type is BrokenAnswer and caught.value.url == server.url
        assert caught.value.message.isprintable() and len(caught.value.message) < 200


@pytest.mark.parametrize(
    "answer",
    [
        headed(b"Content-Length: 2", b"Content-Length: 2") + b"{}",
        headed(b"Content-Length: 2, 2") + b"{}",
        headed(b"Content-Length: 2 ") + b"{}",
        headed(b"Content-Length:\t2") + b"{}",
        headed(b"Transfer-Encoding: Chunked ") + b"2 ;x=y\r\n{}\r\n0\r\n\r\n",
        headed(b"Transfer-Encoding: chunked") + b"00000002\r\n{}\r\n0\r\nx: y\r\n\r\n",
    ],
)
def test_an_answer_that_says_it_oddly(real, answer):
    with Server(answers(answer)) as server:
        assert real.get(server.url, {}, LONG).body == b"{}"


@pytest.mark.parametrize("status", [b"204 No Content", b"304 Not Modified"])
def test_an_answer_without_a_body_needs_no_chunk(real, status):
    with Server(answers(b"HTTP/1.1 " + status + b"\r\nTransfer-Encoding: chunked\r\n\r\n")) as server:
        assert real.get(server.url, {}, LONG).body == b""


DOCUMENT = b'{"DocumentIncarnation": 2, "Events": []}'
WITH_LENGTH = b"HTTP/1.1 200 OK\r\nServer: IMDS\r\nContent-Length: 40\r\nETag: 1\r\n\r\n" + DOCUMENT
IN_CHUNKS = b"HTTP/1.1 200 OK\r\nServer: IMDS\r\nTransfer-Encoding: chunked\r\n\r\n28\r\n" + DOCUMENT + b"\r\n0\r\n\r\n"
TO_THE_END = b"HTTP/1.1 200 OK\r\nServer: IMDS\r\nConnection: close\r\n\r\n"


@pytest.mark.parametrize(
    "answer, enough",
    [
        (WITH_LENGTH, len(WITH_LENGTH)),
        (IN_CHUNKS, len(IN_CHUNKS) - len(b"\r\n\r\n")),  # all but the end of the last chunk's line
        (TO_THE_END, len(TO_THE_END) + 1),
    ],
    ids=["with a length", "in chunks", "to the end of the connection"],
)
def test_an_answer_that_is_cut_anywhere_is_no_answer(kind, answer, enough):
    # whoever takes the end of the connection for the end of the headers reads "no events"
    cuts = range(len(b"HTTP/1.1 200"), min(enough, len(answer) + 1))
    with Server(*[answers(answer[:cut]) for cut in cuts]) as server:
        for cut in cuts:
            with pytest.raises(BrokenAnswer):
                # each with a Transport of its own, or the limit of five requests a second would hold them up
                pytest.fail(f"cut at {cut}: {kind().get(server.url, {}, LONG)}")


def test_an_answer_without_a_length_is_whole_where_it_ends(real):
    with Server(answers(TO_THE_END + DOCUMENT)) as server:
        assert real.get(server.url, {}, LONG).body == DOCUMENT


def test_an_empty_answer_that_says_so_is_one(real):
    empty = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
    with Server(answers(empty, CHUNKED + b"0\r\n\r\n")) as server:
        assert [real.get(server.url, {}, LONG).body for _each in range(2)] == [b"", b""]


def test_after_a_fault_the_next_request_is_clean(real):
    with Server(answers(HEAD + b"x"), answers(OK)) as server:
        with pytest.raises(BrokenAnswer):
            real.get(server.url, {}, LONG)
        assert real.get(server.url, {}, LONG).body == b"{}"


def test_nobody_listens(real):
    with Server() as server:
        url = server.url
    with pytest.raises(Unreachable) as caught:
        real.get(url, {}, LONG)
    assert "refused" in caught.value.message


@pytest.mark.parametrize("host", ["a..b", "x" * 70, "h\u00e9..b"])
def test_a_host_that_can_not_be(real, host):
    with pytest.raises(Unreachable):
        real.get(f"http://{host}/x", {}, LONG)


def test_a_real_redirect_is_not_followed(real):
    with Server(answers(OK)) as elsewhere:
        redirect = b"HTTP/1.1 302 Found\r\nLocation: " + elsewhere.url.encode() + b"\r\nContent-Length: 0\r\n\r\n"
        with Server(answers(redirect)) as server:
            assert real.get(server.url, {}, LONG).status == 302
        assert elsewhere.connections == 0


def test_a_real_proxy_is_not_contacted(kind, monkeypatch):
    with Server(answers(OK)) as proxy, Server(answers(OK)) as server:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        monkeypatch.delenv("NO_PROXY", raising=False)
        assert kind().get(server.url, {}, LONG).body == b"{}"
        assert proxy.connections == 0
