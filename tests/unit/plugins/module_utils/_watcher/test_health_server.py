# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The health endpoint over real sockets on loopback: it is bounded, and answers whoever asks, whatever others do."""

import os
import socket
import struct
import subprocess
import sys

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._clock import Clock
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.health import main
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.health.addresses import listen_address

GET = b"GET /health HTTP/1.1\r\nHost: web1\r\n\r\n"


class Scripted(Clock):
    """Goes on when a test says so."""

    at = 100.0

    def now(self):
        return self.at


class Endpoint:
    """One, whose turns the test takes."""

    def __init__(self, folder, **options):
        self.folder, self.clock = folder, Scripted()
        (folder / "run").mkdir()
        loopback = listen_address("127.0.0.1:1")._replace(port=0)
        given = main.Options(
            http=(loopback,), agent=(loopback,), folder=str(folder), run_folder=str(folder / "run"), **options
        )
        self.listeners = main.listeners_of(given, {})
        self.poller = main.serve(given, self.listeners, self.clock)
        self.http, self.agent = (one.socket.getsockname() for one in self.listeners)

    def turn(self, times=6):
        for _number in range(times):
            self.poller.turn(0.0)

    def client(self, sends=b"", to=None):
        found = socket.create_connection(to or self.http)
        found.settimeout(0.0)
        if sends:
            found.sendall(sends)
        return found

    def after(self, seconds):
        self.clock.at += seconds
        self.turn()

    def asked(self, sends=GET, to=None):
        """What a client gets."""
        with self.client(sends, to) as client:
            self.turn()
            return whole(client)

    def mark(self):
        (self.folder / "mark.json").write_text("{}")

    def close(self):
        for one in self.listeners:
            one.socket.close()


def whole(client):
    """All that has come, with None at its end where the connection is still open."""
    found = []
    while True:
        try:
            part = client.recv(65536)
        except BlockingIOError:
            return found[0] if len(found) == 1 else (b"".join(found) or None)
        except ConnectionError:
            return b"".join(found)
        if not part:
            return b"".join(found)
        found.append(part)


@pytest.fixture(name="endpoint")
def _endpoint(tmp_path):
    made = []

    def make(**options):
        made.append(Endpoint(tmp_path, **options))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_over_a_whole_outage(endpoint):
    one = endpoint()
    assert one.asked().startswith(b"HTTP/1.1 200") and one.asked(b"", one.agent) == b"100%\n"
    one.mark()
    (one.folder / "run" / "out-of-service").write_text("prepared since T\n")
    assert one.asked().startswith(b"HTTP/1.1 503") and one.asked().endswith(b"maintenance: prepared since T\n")
    assert one.asked(b"", one.agent) == b"0%\n"
    (one.folder / "mark.json").unlink()
    assert one.asked().startswith(b"HTTP/1.1 200") and one.asked(b"", one.agent) == b"100%\n"


FIRST_HANDED_OVER = 500  # of the descriptors; those that systemd begins with are pytest's own


@pytest.fixture(name="handed_over")
def _handed_over(monkeypatch):
    """Two sockets as systemd hands them over: descriptors that follow one another, whose family nobody names; the second is of the agent-check."""
    sockets = [_of_ipv6() for _number in range(2)]
    for number, one in enumerate(sockets, FIRST_HANDED_OVER):
        os.dup2(one.fileno(), number)
    monkeypatch.setattr(main, "_FIRST", FIRST_HANDED_OVER)
    yield [one.getsockname() for one in sockets]
    for one in sockets:
        one.close()


def _of_ipv6():
    try:
        one = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
        one.bind(("::1", 0))
    except OSError as error:
        pytest.skip(f"no IPv6 on this machine: {error}")
    one.listen(8)
    return one


def test_sockets_of_ipv6_that_systemd_hands_over(tmp_path, handed_over):
    """This machine is answered, whatever its own address looks like."""
    http, agent = handed_over
    given = main.Options(agent=(listen_address(f"[::1]:{agent[1]}"),), folder=str(tmp_path), run_folder=str(tmp_path))
    listeners = main.listeners_of(given, {"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": "2"})
    poller = main.serve(given, listeners, Scripted())
    assert [one.socket.getsockname()[:2] for one in listeners] == [http[:2], agent[:2]]
    for address, sends, begins in ((http, GET, b"HTTP/1.1 200"), (agent, b"", b"100%")):
        with socket.create_connection(address[:2]) as client:
            client.settimeout(0.0)
            client.sendall(sends)
            for _number in range(6):
                poller.turn(0.0)
            assert whole(client).startswith(begins)
    for one in listeners:
        one.socket.close()


def test_a_request_in_pieces(endpoint):
    one = endpoint()
    with one.client(GET[:10]) as client:
        one.turn()
        assert whole(client) is None
        client.sendall(GET[10:])
        one.turn()
        assert whole(client).startswith(b"HTTP/1.1 200")


def test_an_agent_check_that_sends_a_text_gets_its_answer_all_the_same(endpoint):
    one = endpoint()
    assert one.asked(b"web1\n" * 1000, one.agent) == b"100%\n"


@pytest.mark.parametrize("is_agent", [True, False])
def test_a_client_that_has_gone_before_it_is_accepted(endpoint, is_agent):
    """As HAProxy, after its `timeout check`, on a machine that is very busy."""
    one = endpoint()
    one.mark()  # an answer that waits for nothing
    client = one.client(b"" if is_agent else GET, one.agent if is_agent else one.http)
    client.setsockopt(
        socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("hh" if os.name == "nt" else "ii", 1, 0)
    )  # a close is a reset
    client.close()
    one.turn()
    assert one.asked(b"", one.agent) == b"0%\n" and one.asked().startswith(b"HTTP/1.1 503")


def test_a_client_that_says_nothing_is_closed_after_its_time(endpoint):
    one = endpoint()
    with one.client(b"GET / HT") as client:
        one.turn()
        one.after(1.9)
        assert whole(client) is None
        one.after(0.2)
        assert whole(client) == b""


def test_two_hundred_slow_clients_keep_nobody_out(endpoint):
    one = endpoint()
    slow = []
    for _number in range(200):
        slow.append(one.client(b"GET / HTTP/1.1\r\n"))
        one.turn(2)
    assert len([None for client in slow if whole(client) is None]) == 8
    assert one.asked().startswith(b"HTTP/1.1 200")
    one.after(2.1)
    assert [client for client in slow if whole(client) is None] == []
    for client in slow:
        client.close()


def test_garbage(endpoint):
    one = endpoint()
    for sent in (os.urandom(500) + b"\r\n\r\n", b"\r\n\r\n", b"\0" * 1024 + b"\r\n\r\n", b"GET\r\n\r\n"):
        assert one.asked(sent)[9:12] in (b"400", b"431")
    assert one.asked().startswith(b"HTTP/1.1 200")


def test_a_megabyte_of_headers_is_refused_and_not_kept(endpoint):
    one = endpoint()
    with one.client(b"GET / HTTP/1.1\r\nX: ") as client:
        left = 1024 * 1024
        while left > 0:
            try:
                left -= client.send(b"x" * min(left, 65536))
            except BlockingIOError:
                one.turn(1)
        one.turn()
        assert whole(client).startswith(b"HTTP/1.1 431")
    assert one.asked().startswith(b"HTTP/1.1 200")


def test_a_client_that_has_gone_before_its_answer(endpoint):
    one = endpoint()
    client = one.client(GET)
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # closing resets it
    client.close()
    one.turn()
    assert one.asked().startswith(b"HTTP/1.1 200")


def test_who_is_not_named_is_not_answered(endpoint, monkeypatch):
    monkeypatch.setattr(f"{main.__package__}.addresses._LOOPBACK", ())
    one = endpoint(sources=("10.0.0.0/8",))
    for to in (one.http, one.agent):
        with socket.socket() as client:
            client.bind(("127.0.0.9", 0))
            client.connect(to)
            client.settimeout(0.0)
            one.turn()
            assert whole(client) == b""
    assert one.asked().startswith(b"HTTP/1.1 200"), "the machine itself, by the address that it asks"


# --- metrics ---

SCRAPE = b"GET /metrics HTTP/1.1\r\nHost: web1\r\n\r\n"


def test_metrics_are_the_file_of_the_watcher(endpoint):
    one = endpoint()
    assert one.asked(SCRAPE).startswith(b"HTTP/1.1 503") and b"no watcher has written" in one.asked(SCRAPE)
    content = b"# TYPE azure_maintenance_degraded gauge\nazure_maintenance_degraded 0\n"
    (one.folder / "run" / "metrics.prom").write_bytes(content)
    head, _blank, body = one.asked(SCRAPE).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200") and body == content
    assert b"Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n" in head
    assert one.asked(SCRAPE.replace(b"/metrics", b"/metrics?name[]=up")).endswith(content)
    assert one.asked(SCRAPE.replace(b"GET", b"HEAD")).endswith(b"\r\n\r\n")
    one.mark()
    assert one.asked(SCRAPE).startswith(b"HTTP/1.1 200"), "a machine that is out of service is scraped all the same"


def test_metrics_that_do_not_fit_into_a_socket_at_once_come_whole(endpoint):
    one = endpoint()
    content = b"# some\n" * 9000
    (one.folder / "run" / "metrics.prom").write_bytes(content)
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        client.connect(one.http)
        client.settimeout(0.0)
        client.sendall(SCRAPE)
        got = b""
        for _number in range(2000):
            one.turn(1)
            got += whole(client) or b""
        assert got.endswith(content)


def test_each_source_gets_what_it_is_named_for_and_nothing_else(endpoint, monkeypatch):
    monkeypatch.setattr(f"{main.__package__}.addresses._LOOPBACK", ())
    one = endpoint(sources=("127.0.0.8",), metrics_sources=("127.0.0.9",))
    (one.folder / "run" / "metrics.prom").write_bytes(b"")

    def asked(host, sends, to=None):
        with socket.socket() as client:
            client.bind((host, 0))
            client.connect(to or one.http)
            client.settimeout(0.0)
            client.sendall(sends)
            one.turn()
            return whole(client)[9:12] if to is None else whole(client)

    assert (asked("127.0.0.8", GET), asked("127.0.0.8", SCRAPE)) == (b"200", b"403")
    assert (asked("127.0.0.9", GET), asked("127.0.0.9", SCRAPE)) == (b"403", b"200")
    assert (asked("127.0.0.8", b"", one.agent), asked("127.0.0.9", b"", one.agent)) == (b"100%\n", b"")
    assert asked("127.0.0.7", SCRAPE) == b""
    assert one.asked(SCRAPE)[9:12] == one.asked()[9:12] == b"200", "the machine itself"


def listening():
    one = socket.socket()
    one.bind(("127.0.0.1", 0))
    one.listen(5)
    return one


# --- with an application ---


@pytest.fixture(name="app")
def _app():
    """The socket of one that has not accepted yet."""
    with listening() as one:
        yield one


def url_of(app):
    return main.app_url(f"http://127.0.0.1:{app.getsockname()[1]}/ready")


def replies(app, content):
    connection, _peer = app.accept()
    with connection:
        asked = connection.recv(1000)
        connection.sendall(content)
    return asked


@pytest.mark.parametrize(
    ("content", "status", "words"),
    [
        (b"HTTP/1.1 200 OK\r\n\r\n", b"200", b"in service"),
        (b"HTTP/1.0 302 Found\r\n\r\n", b"200", b"in service"),
        (b"HTTP/1.1 500 Oops\r\n\r\n", b"503", b"the application is down: it answers with status 500"),
        (b"SSH-2.0-OpenSSH\r\n", b"503", b"the application is down: it does not answer in HTTP"),
        (b"", b"503", b"the application is down: it does not answer in HTTP"),
    ],
)
def test_the_application_has_to_answer_too(endpoint, app, content, status, words):
    one = endpoint(app=url_of(app), app_timeout=1.0)
    with one.client(GET) as first, one.client(GET) as second, one.client(b"", one.agent) as agent:
        one.turn()
        assert [whole(first), whole(second), whole(agent)] == [None] * 3
        asked = replies(app, content)  # once for all of them
        one.turn()
        assert asked.startswith(b"GET /ready HTTP/1.1\r\nHost: 127.0.0.1:")
        for client in (first, second):
            got = whole(client)
            assert got[9:12] == status and got.endswith(b"\r\n\r\n" + words + b"\n")
        assert whole(agent) == (b"100%\n" if status == b"200" else b"0%\n")


def test_an_application_that_hangs_is_down_after_its_own_time(endpoint, app):
    one = endpoint(app=url_of(app), app_timeout=5.0)
    with one.client(GET) as client:
        one.turn()
        one.after(4.9)
        assert whole(client) is None
        one.after(0.2)
        assert whole(client).endswith(b"the application is down: it has not answered within 5 s\n")


def test_an_application_that_can_not_be_reached_is_down(endpoint, app):
    url = url_of(app)
    app.close()
    assert endpoint(app=url).asked().endswith(b"it can't be reached (Connection refused)\n")


def test_while_the_machine_is_out_the_application_is_not_asked(endpoint, app):
    one = endpoint(app=url_of(app))
    one.mark()
    assert one.asked().startswith(b"HTTP/1.1 503")
    app.settimeout(0.0)
    with pytest.raises(BlockingIOError):
        app.accept()


def test_a_machine_that_is_taken_out_while_the_application_answers_is_out(endpoint, app):
    one = endpoint(app=url_of(app))
    with one.client(GET) as client:
        one.turn()
        one.mark()
        replies(app, b"HTTP/1.1 200 OK\r\n\r\n")
        one.turn()
        assert whole(client).startswith(b"HTTP/1.1 503")


def test_a_client_that_is_gone_before_the_application_answers(endpoint, app):
    one = endpoint(app=url_of(app))
    one.client(GET).close()
    one.turn()
    replies(app, b"HTTP/1.1 200 OK\r\n\r\n")
    one.turn()
    with one.client(GET) as client:
        one.turn()
        replies(app, b"HTTP/1.1 200 OK\r\n\r\n")
        one.turn()
        assert whole(client).startswith(b"HTTP/1.1 200")


# --- as a process ---


@pytest.mark.parametrize(
    "arguments",
    [
        ["--http"],
        ["--htp", "127.0.0.1:1"],
        ["--http", "x"],
        ["--source", "x", "--http", "127.0.0.1:1"],
        ["--app-timeout", "x"],
        [],
    ],
)
def test_wrong_options_end_it(arguments, capsys, monkeypatch):
    monkeypatch.setattr(main, "listeners_of", lambda options, environment: [] if not options.http else [None])
    assert main.main(arguments) == 2
    assert capsys.readouterr().err.startswith("azure-maintenance health: ")


def test_it_imports_little():
    """Its memory is what it imports: neither http nor ssl, nor what the watcher needs."""
    said = subprocess.check_output(
        [sys.executable, "-B", "-c", f"import sys\nimport {main.__package__}.main\nprint(*sys.modules)"],
        env=dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)),
    )
    dear = {
        "argparse",
        "asyncio",
        "email",
        "http.client",
        "ipaddress",
        "json",
        "ssl",
        "subprocess",
        "threading",
        "urllib.request",
    }
    assert dear.intersection(said.decode().split()) == set()


class Sleeping(Scripted):
    """Goes on by itself where nothing is waited for."""

    def sleep(self, seconds):
        self.at += seconds


def test_sockets_of_its_own_come_as_soon_as_they_can_be_had(tmp_path, monkeypatch):
    """As on Windows, where nobody holds them for it: one that somebody else has keeps no other from being answered."""
    monkeypatch.setattr(main, "LONGEST_TURN", 0.0)
    (tmp_path / "mark.json").write_text("{}")
    logged, clock = [], Sleeping()
    with listening() as other, listening() as free:
        taken, port = (one.getsockname()[1] for one in (other, free))
        free.close()
        given = [listen_address(f"127.0.0.1:{number}") for number in (taken, port)]
        own = main.OwnSockets(main.Options(http=tuple(given), folder=str(tmp_path)), clock, logged.append)
        own.turn()
        with socket.create_connection(("127.0.0.1", port)) as client:
            client.sendall(GET)
            client.settimeout(0.0)
            for _number in range(6):
                own.turn()
            assert whole(client).startswith(b"HTTP/1.1 503")
        (words,) = logged
        assert words.startswith(f"port {taken} of 127.0.0.1 can't be had: ") and "every second" in words
    own.turn()
    assert logged[1:] == [f"port {taken} of 127.0.0.1 is answered now"]
    with socket.create_connection(("127.0.0.1", taken)) as client:
        client.sendall(GET)
        client.settimeout(0.0)
        for _number in range(6):
            own.turn()
        assert whole(client).startswith(b"HTTP/1.1 503")


def test_without_any_socket_a_turn_ends_after_its_time(tmp_path):
    clock = Sleeping()
    with listening() as other:
        address = listen_address(f"127.0.0.1:{other.getsockname()[1]}")
        own = main.OwnSockets(main.Options(http=(address,), folder=str(tmp_path)), clock, lambda words: None)
        own.turn()
    assert clock.at == 100.0 + main.LONGEST_TURN
    with pytest.raises(ValueError, match="there is no socket"):
        main.OwnSockets(main.Options(), clock, lambda words: None)
