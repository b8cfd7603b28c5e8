# Copyright: (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
import builtins
import contextlib
import http.client
import importlib
import io
import socket
import struct
import threading
import time

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._errors import (
    AnswerTimeout,
    AnswerTooLarge,
    BrokenAnswer,
    ScheduledEventsError,
    Unreachable,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._imds import requests_transport
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import (
    ENDPOINT,
    ScriptedAdapter,
    ScriptedClock,
    ScriptedTransport,
    Trickle,
    get,
    post,
)

requests = pytest.importorskip("requests")
urllib3 = pytest.importorskip("urllib3")

URL = ENDPOINT + "/x"


# --- looking until something changes, as every Transport does it ---


def until_changed(transport, limit, interval=1.0, known=b"A"):
    return transport.get_until_changed(URL, {"H": "v"}, 10.0, known, interval, limit)


def test_looks_until_the_body_differs(transport):
    transport.expect(
        get("/x", 200, b"A", at=0, headers={"H": "v"}, timeout=10.0),
        get("/x", 304, at=1),
        get("/x", 200, b"B", at=2, headers={"H": "v"}, timeout=10.0),
    )
    assert until_changed(transport, 60) == ((200, {}, b"B"), 3)


@pytest.mark.parametrize("status", [302, 404, 410, 429, 500])
def test_looks_until_the_status_is_another(transport, status):
    transport.expect(get("/x", 200, b"A"), get("/x", status, b"A"))
    answer, looks = until_changed(transport, 60)
    assert (answer.status, looks) == (status, 2)


def test_gives_the_last_answer_when_the_time_is_over(transport):
    transport.expect(get("/x", 200, b"A", at=0), get("/x", 200, b"A", at=1), get("/x", 304, b"", {"etag": "1"}, at=1.5))
    assert until_changed(transport, 1.5) == ((304, {"etag": "1"}, b""), 3)


def test_looks_once_without_time(transport):
    transport.expect(get("/x", 200, b"A"))
    assert until_changed(transport, 0) == ((200, {}, b"A"), 1)


def test_an_error_tells_how_many_looks_there_were(transport):
    transport.expect(get("/x", 200, b"A"), get("/x", 200, b"A"), get("/x", Unreachable("cut")))
    with pytest.raises(Unreachable) as caught:
        until_changed(transport, 60)
    assert caught.value.looks == 3


def test_a_transport_has_a_clock_of_its_own_unless_told():
    assert requests_transport.Transport().clock.now() > 0
    for call in (lambda bare: bare.get("u", {}, 1.0), lambda bare: bare.post("u", {}, b"", 1.0)):
        with pytest.raises(NotImplementedError):
            call(requests_transport.Transport())


# --- what is asked of requests ---


@pytest.fixture
def session():
    """Function that makes a RequestsTransport with a script under it; all of it must be played."""
    adapters = []

    def make(*script):
        clock = ScriptedClock()
        made = requests_transport.RequestsTransport(clock)
        adapters.append(ScriptedAdapter(clock, *script))
        made.session.mount("http://", adapters[0])
        made.adapter = adapters[0]
        return made

    yield make
    assert not adapters[0].script


def test_a_get_is_sent_as_told_and_bounded(session):
    transport = session(
        get(
            "/x",
            200,
            b"body",
            {"ETag": '"1"', "Content-Length": "4"},
            timeout=(10.0, 125.0),
            headers={"Metadata": "true", "Accept-Encoding": "identity"},
        )
    )
    assert transport.get(URL, {"Metadata": "true"}, 125.0) == (200, {"etag": '"1"', "content-length": "4"}, b"body")


def test_a_short_timeout_is_for_the_connection_too(session):
    session(get("/x", 200, timeout=(2.0, 2.0))).get(URL, {}, 2.0)


def test_a_post_is_sent_as_told(session):
    transport = session(post("/x", 200, body={"a": 1}, headers={"Content-Type": "application/json"}))
    assert transport.post(URL, {"Content-Type": "application/json"}, b'{"a": 1}', 10.0).status == 200


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"])
def test_no_proxy_is_taken_from_the_environment(session, monkeypatch, name):
    monkeypatch.setenv(name, "http://proxy.test:3128")
    session(get("/x", 200)).get(URL, {}, 10.0)  # the adapter asserts that it got no proxy


def test_no_credentials_are_taken_from_netrc(session, monkeypatch, tmp_path):
    (tmp_path / ".netrc").write_text("machine imds.test login me password secret\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    transport = session(get("/x", 200))
    transport.get(URL, {}, 10.0)
    assert "Authorization" not in transport.adapter.requests[0].headers


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_not_followed(session, status):
    transport = session(get("/x", status, b"", {"Location": "http://elsewhere.test/"}))
    assert transport.get(URL, {}, 10.0) == (status, {"location": "http://elsewhere.test/"}, b"")


def test_errors_are_answers(session):
    assert session(get("/x", 500, b"oh")).get(URL, {}, 10.0) == (500, {}, b"oh")


def test_five_requests_a_second_and_no_more(session):
    script = [get("/x", 200, at=at) for at in (0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2)]
    transport = session(*script)
    for _each in script:
        transport.get(URL, {}, 10.0)
    assert transport.clock.sleeps == [1, 1]


def test_posts_count_as_well(session):
    transport = session(*[post("/x", 200, at=at) for at in (0, 0, 0, 0, 0, 1)])
    for _each in range(6):
        transport.post(URL, {}, b"", 10.0)


def test_slow_requests_need_no_pause(session):
    transport = session(*[get("/x", 200, takes=0.2) for _each in range(7)])
    for _each in range(7):
        transport.get(URL, {}, 10.0)
    assert sum(transport.clock.sleeps) == pytest.approx(0)


# --- bodies ---


def test_the_largest_body_is_taken(session):
    body = b"x" * requests_transport.LIMIT
    assert session(get("/x", 200, body)).get(URL, {}, 10.0).body == body


def test_a_larger_body_is_not(session):
    with pytest.raises(AnswerTooLarge) as caught:
        session(get("/x", 200, b"x" * (requests_transport.LIMIT + 1))).get(URL, {}, 10.0)
    assert caught.value.failure() == {"kind": "too_large", "status": 200, "url": URL}
    assert "1048576" in caught.value.message


def test_a_body_that_never_ends_is_left(session):
    body = Trickle(None, [], 0)
    body.read = lambda size=-1: b"x" * size
    with pytest.raises(AnswerTooLarge):
        session(get("/x", 200, body)).get(URL, {}, 10.0)


def test_a_body_that_trickles_is_left_at_the_deadline(session):
    transport = session()
    transport.adapter.script = [get("/x", 200, Trickle(transport.clock, [b"x"] * 1000, 3.0))]
    with pytest.raises(AnswerTimeout) as caught:
        transport.get(URL, {}, 10.0)
    assert transport.clock.elapsed == 12.0
    assert caught.value.message == "http://imds.test/x gave no whole answer within 10 s."


@pytest.mark.parametrize("status", [200, 404])
def test_a_body_that_ends_early_is_broken(session, status):
    # a BytesIO that ends early is what urllib3 before 2.0 shows of a cut connection; later ones complain themselves
    with pytest.raises(BrokenAnswer) as caught:
        session(get("/x", status, b"abc", {"Content-Length": "5"})).get(URL, {}, 10.0)
    assert caught.value.kind == "malformed"
    assert URL in caught.value.message


@pytest.mark.parametrize("headers", [{}, {"Content-Length": "odd"}, {"Content-Length": "3"}])
def test_a_body_that_ends_as_announced_is_whole(session, headers):
    assert session(get("/x", 200, b"abc", headers)).get(URL, {}, 10.0).body == b"abc"


def test_a_304_has_no_body_whatever_it_announces(session):
    assert session(get("/x", 304, b"", {"Content-Length": "99"})).get(URL, {}, 10.0).status == 304


# --- errors of the libraries ---


def caused(error, cause):
    error.__context__ = cause
    return error


POOL = "pool"
REFUSED = ConnectionRefusedError(111, "Connection refused")
RESET = ConnectionResetError(104, "Connection reset by peer")
NEW = caused(urllib3.exceptions.NewConnectionError(POOL, "Failed to establish"), REFUSED)


@pytest.mark.parametrize(
    "error, kind, words",
    [
        (requests.ConnectionError(urllib3.exceptions.MaxRetryError(POOL, "/", NEW)), Unreachable, "Connection refused"),
        (
            requests.ConnectTimeout(
                urllib3.exceptions.MaxRetryError(POOL, "/", urllib3.exceptions.ConnectTimeoutError())
            ),
            AnswerTimeout,
            "No connection to http://imds.test/x within 10 s",
        ),
        (requests.ReadTimeout(urllib3.exceptions.ReadTimeoutError(POOL, "/", "late")), AnswerTimeout, "within 30 s"),
        (
            requests.ConnectionError(urllib3.exceptions.ProtocolError("aborted", RESET)),
            Unreachable,
            "Connection reset by peer",
        ),
        (
            requests.ConnectionError(
                urllib3.exceptions.ProtocolError("aborted", http.client.RemoteDisconnected("closed without"))
            ),
            Unreachable,
            "closed without",
        ),
        (
            requests.ConnectionError(urllib3.exceptions.ProtocolError("aborted", http.client.BadStatusLine("SSH-2.0"))),
            BrokenAnswer,
            "not HTTP",
        ),
        (requests.exceptions.InvalidURL("bad label"), Unreachable, "bad label"),
        (socket.gaierror(-2, "Name or service not known"), Unreachable, "Name or service not known"),
        (http.client.LineTooLong("header line"), BrokenAnswer, "LineTooLong"),
    ],
)
def test_an_error_while_asking(session, error, kind, words):
    with pytest.raises(kind) as caught:
        session(get("/x", error)).get(URL, {}, 30.0)
    assert caught.type is kind
    assert words in caught.value.message
    assert URL in caught.value.message
    assert caught.value.url == URL


@pytest.mark.parametrize(
    "error, kind",
    [
        (urllib3.exceptions.ReadTimeoutError(POOL, None, "Read timed out."), AnswerTimeout),
        (socket.timeout("timed out"), AnswerTimeout),
        (urllib3.exceptions.ProtocolError("Connection broken", http.client.IncompleteRead(b"")), BrokenAnswer),
        (urllib3.exceptions.ProtocolError("Connection broken", RESET), Unreachable),
        (RESET, Unreachable),
    ],
)
def test_an_error_while_reading(session, error, kind):
    body = io.BytesIO(b"")

    def read(size=-1):
        raise error

    body.read = read
    with pytest.raises(kind) as caught:
        session(get("/x", 200, body)).get(URL, {}, 30.0)
    assert caught.type is kind


def test_an_error_of_an_earlier_exchange_does_not_count(session):
    transport = session(get("/x", requests.ReadTimeout()), get("/x", requests.ConnectionError(REFUSED)))
    with pytest.raises(Unreachable):
        try:
            transport.get(URL, {}, 10.0)
        except ScheduledEventsError:
            transport.get(URL, {}, 10.0)


def test_the_file_imports_without_requests(monkeypatch):
    real = builtins.__import__

    def refuse(name, *args, **kwargs):
        if name.split(".")[0] in ("requests", "urllib3"):
            raise ImportError("no " + name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    spec = importlib.util.spec_from_file_location(requests_transport.__name__ + "_bare", requests_transport.__file__)
    bare = importlib.util.module_from_spec(spec)
    bare.__package__ = requests_transport.__package__
    spec.loader.exec_module(bare)
    assert "no requests" in bare.REQUESTS_IMPORT_ERROR
    assert requests_transport.REQUESTS_IMPORT_ERROR is None


# --- over real sockets, on this machine only ---


class Server:
    """A listener on loopback that plays one function per connection, and counts connections."""

    def __init__(self, *plays):
        self.listener = socket.socket()
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(5)
        self.url = "http://127.0.0.1:%d/x" % self.listener.getsockname()[1]
        self.connections = 0
        self.closed = threading.Semaphore(0)  # once for each connection that was played to its end
        self.stop = threading.Event()
        self.threads = [threading.Thread(target=self._serve, args=(plays,), daemon=True)]

    def _serve(self, plays):
        for play in plays:
            with contextlib.suppress(OSError):
                connection = self.listener.accept()[0]
                self.connections += 1
                connection.settimeout(5)
                with contextlib.closing(connection), contextlib.suppress(OSError):
                    play(self, connection)
            self.closed.release()

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *exc_info):
        self.stop.set()
        # wakes up an accept() that nobody came for
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for thread in self.threads:
            thread.join(5)


def request_of(connection):
    received = b""
    while b"\r\n\r\n" not in received:
        piece = connection.recv(4096)
        if not piece:
            raise OSError("closed")
        received += piece
    return received


def answers(*contents):
    """Answer each request on the connection with the next of these bytes, then close."""

    def play(server, connection):
        for content in contents:
            request_of(connection)
            connection.sendall(content)

    return play


def trickles(start, forever):
    def play(server, connection):
        request_of(connection)
        connection.sendall(start)
        while not server.stop.wait(0.05):
            connection.sendall(forever)

    return play


def stalls(start):
    def play(server, connection):
        request_of(connection)
        connection.sendall(start)
        server.stop.wait(5)

    return play


def resets(start):
    def play(server, connection):
        request_of(connection)
        connection.sendall(start)
        time.sleep(0.05)  # so that the start is read before the reset takes it away
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    return play


OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.fixture
def real():
    """A RequestsTransport on a real clock."""
    return requests_transport.RequestsTransport()


def test_one_connection_for_many_requests(real):
    not_modified = b'HTTP/1.1 304 Not Modified\r\nETag: "1"\r\n\r\n'
    with Server(answers(OK, OK, not_modified, CHUNKED + b"2\r\n{}\r\n0\r\n\r\n", OK)) as server:
        found = [real.get(server.url, {}, 5.0) for _each in range(4)]
        found.append(real.post(server.url, {}, b"{}", 5.0))
        assert [answer.status for answer in found] == [200, 200, 304, 200, 200]
        assert [answer.body for answer in found] == [b"{}", b"{}", b"", b"{}", b"{}"]
        assert server.connections == 1


def test_a_connection_that_the_server_has_closed_is_made_anew(real):
    closing = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{}"
    with Server(answers(OK), answers(closing), answers(OK)) as server:
        for _each in range(3):
            assert real.get(server.url, {}, 5.0).body == b"{}"
            assert server.closed.acquire(timeout=5)
        assert server.connections == 3


@pytest.mark.parametrize(
    "play",
    [
        trickles(HEAD, b"x"),
        trickles(CHUNKED, b"1\r\nx\r\n"),
        trickles(b"HTTP/1.1 200 OK\r\nX: ", b"x"),
        trickles(b"", b"H"),
        stalls(b""),
        stalls(b"HTTP/1.1 200 OK\r\n"),
        stalls(HEAD + b"x"),
        stalls(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nx"),
    ],
    ids=["body", "chunks", "header", "status line", "nothing", "half a head", "half a body", "half a body to the end"],
)
def test_nobody_holds_us_beyond_the_timeout(real, play):
    with Server(play) as server:
        started = time.monotonic()
        with pytest.raises(AnswerTimeout):
            real.get(server.url, {}, 0.4)
        assert 0.3 < time.monotonic() - started < 4.0


@pytest.mark.parametrize(
    "play, kind",
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
def test_faults_of_a_real_server(real, play, kind):
    with Server(play) as server:
        with pytest.raises(kind) as caught:
            real.get(server.url, {}, 5.0)
        assert caught.type is kind
        assert caught.value.url == server.url


def test_after_a_fault_the_next_request_is_clean(real):
    with Server(answers(HEAD + b"x"), answers(OK)) as server:
        with pytest.raises(BrokenAnswer):
            real.get(server.url, {}, 5.0)
        assert real.get(server.url, {}, 5.0).body == b"{}"


def test_nobody_listens(real):
    with Server() as server:
        url = server.url
    with pytest.raises(Unreachable) as caught:
        real.get(url, {}, 5.0)
    assert "refused" in caught.value.message


@pytest.mark.parametrize("host", ["a..b", "x" * 70, "h\u00e9..b"])
def test_a_host_that_can_not_be(real, host):
    with pytest.raises(Unreachable):
        real.get(f"http://{host}/x", {}, 5.0)


def test_a_real_redirect_is_not_followed(real):
    with Server(answers(OK)) as elsewhere:
        redirect = b"HTTP/1.1 302 Found\r\nLocation: " + elsewhere.url.encode() + b"\r\nContent-Length: 0\r\n\r\n"
        with Server(answers(redirect)) as server:
            assert real.get(server.url, {}, 5.0).status == 302
        assert elsewhere.connections == 0


def test_a_real_proxy_is_not_contacted(monkeypatch):
    with Server(answers(OK)) as proxy, Server(answers(OK)) as server:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        monkeypatch.delenv("NO_PROXY", raising=False)
        assert requests_transport.RequestsTransport().get(server.url, {}, 5.0).body == b"{}"
        assert proxy.connections == 0


def test_a_scripted_transport_complains():
    # the tests above and in other files rest on it
    transport = ScriptedTransport(get("/x", 200))
    with pytest.raises(AssertionError):
        transport.get(ENDPOINT + "/y", {}, 1.0)
    with pytest.raises(AssertionError):
        transport.get(URL, {}, 1.0)
    with pytest.raises(AssertionError):
        ScriptedTransport(get("/x", 200)).finish()
