# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
import builtins
import http.client
import importlib
import socket

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._errors import (
    AnswerTimeout,
    AnswerTooLarge,
    BrokenAnswer,
    ScheduledEventsError,
    Unreachable,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._imds import requests_transport
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._imds.transport import LIMIT
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import (
    ENDPOINT,
    ScriptedAdapter,
    ScriptedClock,
    Trickle,
    get,
    post,
)

requests = pytest.importorskip("requests")
urllib3 = pytest.importorskip("urllib3")

URL = ENDPOINT + "/x"


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


def test_no_credentials_are_taken_from_netrc(session, monkeypatch, tmp_path):
    (tmp_path / ".netrc").write_text("machine imds.test login me password secret\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    transport = session(get("/x", 200))
    transport.get(URL, {}, 10.0)
    assert "Authorization" not in transport.adapter.requests[0].headers


def test_five_requests_a_second_and_no_more(session):
    script = [get("/x", 200, at=at) for at in (0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2)]
    transport = session(*script)
    for _each in script:
        transport.get(URL, {}, 10.0)
    assert transport.clock.sleeps == [1, 1]


def test_a_slow_first_request_may_have_arrived_at_its_end(session):
    # the second that counts is that of the service: connecting takes time, the requests after it take none
    transport = session(get("/x", 200, at=0, takes=0.25), *[get("/x", 200, at=0.25) for _each in range(4)])
    transport.adapter.script.append(get("/x", 200, at=1.25))
    for _each in range(6):
        transport.get(URL, {}, 10.0)


# --- bodies ---


def test_the_largest_body_is_taken(session):
    body = b"x" * LIMIT
    assert session(get("/x", 200, body)).get(URL, {}, 10.0).body == body


def test_a_larger_body_is_not(session):
    with pytest.raises(AnswerTooLarge) as caught:
        session(get("/x", 200, b"x" * (LIMIT + 1))).get(URL, {}, 10.0)
    assert caught.value.failure() == {"kind": "too_large", "status": 200, "url": URL}
    assert "1048576" in caught.value.message


def test_a_body_that_trickles_is_left_at_the_deadline(session):
    transport = session()
    transport.adapter.script = [get("/x", 200, Trickle(transport.clock, [b"x"] * 1000, 3.0))]
    with pytest.raises(AnswerTimeout) as caught:
        transport.get(URL, {}, 10.0)
    assert transport.clock.elapsed == 12.0
    assert caught.value.message == "http://imds.test/x gave no whole answer within 10 s."


def test_an_empty_body_that_nothing_announced_is_broken(session):
    with pytest.raises(BrokenAnswer, match="broke off before its body, or inside its headers"):
        session(get("/x", 200, b"", {})).get(URL, {}, 10.0)


@pytest.mark.parametrize("body", [b"", b"abc"])
def test_a_length_that_is_no_number_is_broken(session, body):
    with pytest.raises(BrokenAnswer, match="Content-Length is 'odd'"):
        session(get("/x", 200, body, {"Content-Length": "odd"})).get(URL, {}, 10.0)


@pytest.mark.parametrize("status", [204, 304, 302, 404, 500])
def test_where_only_the_status_is_read_the_body_may_be_missing(session, status):
    assert session(get("/x", status, b"", {})).get(URL, {}, 10.0).status == status


def test_an_approval_was_taken_whatever_its_answer_says_about_its_body(session):
    """It would be sent again otherwise, as one that was lost."""
    assert session(post("/x", 200, b"", {"Server": "Microsoft-IIS/10.0"})).post(URL, {}, b"{}", 10.0).status == 200


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
        (requests.exceptions.InvalidHeader("\x1b[31mred\r\nline"), Unreachable, "[31mred line"),
        (OSError("\x1b[2Jgone"), Unreachable, "[2Jgone"),
    ],
)
def test_an_error_while_asking(session, error, kind, words):
    with pytest.raises(kind) as caught:
        session(get("/x", error)).get(URL, {}, 30.0)
    assert caught.type is kind
    assert words in caught.value.message
    assert caught.value.message.isprintable()
    assert URL in caught.value.message
    assert caught.value.url == URL


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
