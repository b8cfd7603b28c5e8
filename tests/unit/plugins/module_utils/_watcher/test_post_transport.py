# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One POST over loopback: signed bytes arrive as they are, within the time, to nobody else; TLS by a made-up authority."""

import socket
import ssl
import threading
import time

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.reports import post_transport
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.reports.post_transport import (
    Way,
    post,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.receiver import Receiver

BODY = b'{"a": "b"}'
HEADERS = {"Content-Type": "application/json", "X-Id": "1"}


def send(url, way=None, seconds=60.0):
    return post(url, BODY, HEADERS, way or Way(), seconds)


def test_it_arrives_as_it_is():
    with Receiver() as receiver:
        found = send(receiver.url + "?a=1")
    assert (found.status, found.words) == (200, "HTTP 200 OK")
    headers, body, path = receiver.requests[0]
    assert (body, path) == (BODY, "/hook?a=1")
    assert {name: headers[name] for name in ("Content-Type", "X-Id", "Connection")} == dict(HEADERS, Connection="close")
    assert headers["Host"] == f"127.0.0.1:{receiver.port}"
    assert "Authorization" not in headers
    assert found.date.endswith("GMT")


def test_a_user_in_the_url():
    with Receiver() as receiver:
        send(receiver.url.replace("//", "//me:p%40ss@"))
    assert receiver.requests[0][0]["Authorization"] == "Basic bWU6cEBzcw=="


@pytest.mark.parametrize("status", [201, 204, 400, 404, 429, 500, 503])
def test_any_answer_is_one(status):
    with Receiver((status, {"Retry-After": "17"})) as receiver:
        found = send(receiver.url)
    assert (found.status, found.after) == (status, 17.0)


@pytest.mark.parametrize("after", ["Fri, 31 Dec 1999 23:59:59 GMT", "-1", "x", "9" * 30, "\u00b2"])
def test_a_pause_that_is_no_number_is_none(after):
    with Receiver((503, {"Retry-After": after})) as receiver:
        assert send(receiver.url).after is None


def test_a_redirect_within_the_host_is_followed():
    with Receiver((307, {"Location": "/elsewhere"}), (308, {"Location": "x"})) as receiver:
        assert send(receiver.url).status == 200
    assert [request[1:] for request in receiver.requests] == [(BODY, "/hook"), (BODY, "/elsewhere"), (BODY, "/x")]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_other_host_gets_it(status):
    with Receiver() as other, Receiver((status, {"Location": other.url + "?token=T0KEN"})) as receiver:
        found = send(receiver.url)
    assert other.requests == []
    assert found.status == status
    assert found.words.endswith("a redirect to http://127.0.0.1, which is not followed")


def test_a_redirect_that_makes_a_get_of_it_is_not_followed():
    with Receiver((302, {"Location": "/x"})) as receiver:
        assert "is not followed" in send(receiver.url).words
    assert len(receiver.requests) == 1


def test_redirects_without_end():
    with Receiver(otherwise=(307, {"Location": "/hook"})) as receiver:
        assert send(receiver.url).words == "more than 3 redirects"
    assert len(receiver.requests) == 3


def hangs(handler):
    time.sleep(200)


def trickles(handler):
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
    for number in range(2000):
        handler.wfile.write(b"X-%d: y\r\n" % number)
        time.sleep(0.1)


def never_ends(handler):
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
    for _number in range(2000):
        handler.wfile.write(b"y")
        time.sleep(0.1)


@pytest.mark.parametrize("play", [hangs, trickles])
def test_who_does_not_answer_in_time(play):
    with Receiver(play) as receiver:
        began = time.monotonic()
        found = send(receiver.url, seconds=0.5)
    assert found == (0, "no whole answer within 0.5 s", None, "")
    assert time.monotonic() - began < 100


def test_the_status_counts_however_long_the_body_is():
    with Receiver(never_ends) as receiver:
        began = time.monotonic()
        assert send(receiver.url, seconds=1.0).status == 200
    assert time.monotonic() - began < 100


def test_nobody_listens():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert send(f"http://127.0.0.1:{port}/T0KEN").words == "no connection, or it was cut: Connection refused"


def test_the_name_does_not_resolve():
    found = send("http://nobody.invalid/T0KEN")
    assert found.status == 0 and found.words.startswith("its name does not resolve: ")


@pytest.mark.parametrize(
    "play, words",
    [
        (lambda handler: None, "the connection was closed without an answer"),
        (lambda handler: handler.wfile.write(b"SSH-2.0-x\r\n\r\n"), "what answered is not HTTP (BadStatusLine)"),
        (
            lambda handler: handler.wfile.write(b"HTTP/1.1 200 OK\r\nX: " + b"y" * 70000),
            "what answered is not HTTP (LineTooLong)",
        ),
    ],
)
def test_what_answers_is_odd(play, words):
    with Receiver(play) as receiver:
        found = send(receiver.url)
    assert found.status == 0
    assert found.words in (words, "no connection, or it was cut: Connection reset by peer")


def test_the_environments_proxy_is_not_used(monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    with Receiver() as receiver:
        assert send(receiver.url).status == 200


class Proxy(Receiver):
    """Answers by itself what is sent through it."""


def test_the_users_proxy_is():
    with Proxy() as proxy:
        found = send("http://app.invalid:8080/x?y=1", Way(proxy=f"http://me:pw@127.0.0.1:{proxy.port}"))
    assert found.status == 200
    headers, body, path = proxy.requests[0]
    assert (path, body) == ("http://app.invalid:8080/x?y=1", BODY)
    assert headers["Host"] == "app.invalid:8080"
    assert headers["Proxy-Authorization"] == "Basic bWU6cHc="


def tunnel(port, asked):
    """A proxy for one connection: CONNECT, then bytes to and fro."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(1)

    def pump(source, sink):
        try:
            while True:
                piece = source.recv(65536)
                if not piece:
                    break
                sink.sendall(piece)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def serve():
        client = listener.accept()[0]
        head = b""
        while b"\r\n\r\n" not in head:
            head += client.recv(4096)
        asked.append(head.split(b"\r\n")[0].decode("ascii"))
        server = socket.create_connection(("127.0.0.1", port))
        client.sendall(b"HTTP/1.1 200 fine\r\n\r\n")
        back = threading.Thread(target=pump, args=(server, client), daemon=True)
        back.start()
        pump(client, server)
        back.join(5)
        listener.close()

    threading.Thread(target=serve, daemon=True).start()
    return f"http://127.0.0.1:{listener.getsockname()[1]}"


@pytest.fixture
def secure(authority):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if hasattr(ssl, "PROTOCOL_TLS_SERVER") else ssl.PROTOCOL_TLS)
    context.load_cert_chain(str(authority / "server.pem"), str(authority / "server.key"))
    with Receiver(context=context) as receiver:
        yield receiver


def test_tls_with_an_authority_of_the_users(authority, secure):
    found = send(f"https://localhost:{secure.port}/x", Way(ca_file=str(authority / "ca.pem")))
    assert (found.status, secure.requests[0][1]) == (200, BODY)


def test_tls_with_the_systems_authorities(authority, secure, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(authority / "ca.pem"))  # where OpenSSL looks for the system's
    assert send(f"https://localhost:{secure.port}/x").status == 200


def test_tls_with_an_authority_that_nobody_knows(secure):
    found = send(f"https://localhost:{secure.port}/x")
    assert found.status == 0 and found.words.startswith("TLS failed: ")
    assert secure.requests == []


def test_tls_with_the_name_of_another(authority, secure):
    found = send(f"https://127.0.0.1:{secure.port}/x", Way(ca_file=str(authority / "ca.pem")))
    assert found.status == 0 and found.words.startswith("TLS failed: ")
    assert secure.requests == []


def test_tls_through_a_proxy(authority, secure):
    asked = []
    proxy = tunnel(secure.port, asked)
    found = send(f"https://localhost:{secure.port}/x", Way(proxy, str(authority / "ca.pem")))
    assert found.status == 200
    assert asked[0].startswith(f"CONNECT localhost:{secure.port} HTTP/1.")


def test_tls_where_none_is_spoken(authority):
    with Receiver() as plain:
        found = send(f"https://localhost:{plain.port}/x", Way(ca_file=str(authority / "ca.pem")))
    assert found.status == 0


def test_a_server_that_never_shakes_hands(authority, monkeypatch):
    monkeypatch.setattr(post_transport, "CONNECT", 0.5)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(1)
        began = time.monotonic()
        found = send(f"https://127.0.0.1:{silent.getsockname()[1]}/x", seconds=0.6)
    assert found.status == 0 and time.monotonic() - began < 100


def test_a_missing_file_of_authorities(secure):
    found = send(f"https://localhost:{secure.port}/x", Way(ca_file="/nowhere/ca.pem"))
    assert found.words == "no connection, or it was cut: No such file or directory"
