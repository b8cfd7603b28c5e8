# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who answered, when it was not Azure's metadata service."""

import gzip
import json

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._clock import Deadline
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._imds.conversation import (
    EMPTY,
    ONE,
    URL,
    failure,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import (
    NAME_PATH,
    Always,
    document,
    event,
    get,
    look,
)


def other_services():
    """Answers of somebody else, and what the error must name."""
    html = {"content-type": "text/html; charset=utf-8"}
    return [
        pytest.param(
            (302, b"", {"location": "http://portal.test/login"}),
            "a redirect to http://portal.test/login",
            id="redirect",
        ),
        pytest.param((300,), "but a redirect to nowhere", id="choice"),
        pytest.param((399,), "but a redirect to nowhere", id="unknown redirect"),
        pytest.param((301,), "a redirect to nowhere", id="redirect without a target"),
        pytest.param((200, b"<html>Sign in</html>", html), "a web page", id="HTML"),
        pytest.param(
            (200, b"\n <!DOCTYPE html>", {"server": "Microsoft-IIS/10.0"}),
            "server Microsoft-IIS/10.0",
            id="untyped HTML",
        ),
        pytest.param((404, b"<html>", dict(html, server="nginx")), "server nginx", id="404 of a web server"),
        pytest.param((403, b"", {"metadata-flavor": "Google"}), "Google Cloud", id="Google"),
        pytest.param((404, b"", {"server": "Metadata Server for VM"}), "Google Cloud", id="older Google"),
        pytest.param((404, b"", {"server": "EC2ws"}), "Amazon", id="Amazon"),
        pytest.param((401, b"", {"server": "EC2ws"}), "Amazon", id="Amazon without a token"),
        pytest.param((407,), "but a proxy (HTTP 407)", id="proxy wants a password"),
        pytest.param((511,), "a network that wants a login first (HTTP 511)", id="captive portal"),
        pytest.param((400, b"", {"via": "1.1 x"}), "but a proxy (HTTP 400)", id="400 through a proxy"),
        pytest.param(
            (403, b"denied", {"via": "1.1 proxy (squid)"}), 'but a proxy (HTTP 403): "denied"', id="403 of a proxy"
        ),
        pytest.param((404, b"", {"x-squid-error": "ERR_X 0"}), "but a proxy (HTTP 404)", id="404 of a proxy"),
        pytest.param((503, b"", {"x-cache": "MISS from proxy"}), "but a proxy (HTTP 503)", id="503 of a proxy"),
        pytest.param(
            (200, b'{"status": "ok", "a": 1}', {"content-type": "application/json"}),
            "the keys a, status",
            id="other JSON",
        ),
        pytest.param((200, b'["a"]'), "JSON which is no document", id="a list"),
        pytest.param((200, b'"ok"'), "JSON which is no document", id="a string"),
        pytest.param((405,), "HTTP 405", id="no GET"),
        pytest.param((304,), "HTTP 304", id="304 unasked"),
        pytest.param((204,), "HTTP 204", id="204"),
    ]


@pytest.mark.parametrize("outcome, words", other_services())
def test_another_service_is_named_at_the_first_poll(transport, client, outcome, words):
    transport.expect(look(*outcome))
    error = failure(client.document)
    assert error.failure() == {"kind": "not_azure", "status": outcome[0], "url": URL}
    assert words in error.message
    assert "endpoint" in error.message


@pytest.mark.parametrize("outcome, words", other_services())
def test_another_service_is_named_in_a_wait(transport, client, outcome, words):
    if outcome[0] == 304:
        pytest.skip("here a 304 means: unchanged")
    transport.expect(look(200, EMPTY), look(*outcome))
    known = client.document()
    assert failure(client.changed_document, known, 1.0, Deadline(transport.clock, 60.0)).kind == "not_azure"


@pytest.mark.parametrize("status", [400, 404, 500, 503])
@pytest.mark.parametrize("server", ["Microsoft-HTTPAPI/2.0", "Microsoft-IIS/10.0", "IMDS/150.870.65.523"])
def test_an_error_page_of_windows_may_be_azures(transport, client, status, server):
    # under Azure's service lies Windows' HTTP layer, which says in HTML that the service is down
    transport.expect(look(200, EMPTY))
    client.document()
    transport.expect(
        look(
            status,
            b"<!DOCTYPE HTML><title>Not Found</title>",
            {"server": server, "content-type": "text/html; charset=us-ascii"},
        )
    )
    if status == 400:
        assert failure(client.document).kind == "version_refused"
    else:
        transport.expect(look(200, ONE))
        assert client.document().incarnation == 2


def test_a_5xx_page_may_be_azures(transport, client):
    transport.expect(look(503, b"<html>", {"content-type": "text/html"}), look(200, EMPTY))
    client.document()


def test_a_proxy_that_lets_azure_answer_is_no_other_service(transport, client):
    transport.expect(look(200, EMPTY, {"via": "1.1 x"}))
    client.document()


def test_an_event_without_its_document_is_no_other_service(transport, client):
    for bare in (event(), [event(), event("ID-2")]):
        transport.expect(*[look(200, json.dumps(bare).encode()) for _each in range(6)])
        error = failure(client.document)
        assert error.kind == "malformed"
        assert "It shows an event without the document around it." in error.message
        assert "ID-1" in error.message
        assert "proxy" not in error.message


def test_a_compressed_answer_is_named(transport, client):
    packed = gzip.compress(document(1))
    transport.expect(*[look(200, packed, {"content-encoding": "gzip"}) for _each in range(6)])
    error = failure(client.document)
    assert error.failure() == {"kind": "malformed", "status": 200, "url": URL}
    assert "Content-Encoding: gzip" in error.message
    assert "JSON" not in error.message


def test_a_compressed_name_is_named_too(transport, client):
    packed = gzip.compress(b"web1")
    transport.expect(*[get(NAME_PATH, 200, packed, {"content-encoding": "gzip"}) for _each in range(6)])
    assert "Content-Encoding: gzip" in failure(client.resource_name).message


@pytest.mark.parametrize("encoding", ["gzip", "identity", ""])
def test_a_document_that_can_be_read_is_read_whatever_is_said_of_its_encoding(transport, client, encoding):
    transport.expect(look(200, document(1), {"content-encoding": encoding}))
    assert client.document().incarnation == 1


def test_a_compressed_error_is_not_quoted(transport, client):
    transport.expect(look(403, gzip.compress(b"no"), {"content-encoding": "gzip"}))
    assert "HTTP 403." in failure(client.document).message


EVIL = "\x1b[31m\x1b]0;owned\x07\u202e\x9b2J\r\n"


@pytest.mark.parametrize(
    "outcome",
    [
        (200, EVIL.encode()),
        (200, b"<p>" + EVIL.encode()),
        (200, json.dumps({EVIL: 1}).encode()),
        (200, json.dumps(dict(event(), EventId=EVIL)).encode()),
        (200, EVIL.encode(), {"content-encoding": EVIL}),
        (200, b"<p>", {"server": EVIL}),
        (302, b"", {"location": EVIL}),
        (400, json.dumps({"error": EVIL}).encode()),
        (403, EVIL.encode()),
        (404, EVIL.encode(), {"server": "EC2ws" + EVIL}),
        (429, EVIL.encode(), {"retry-after": EVIL}),
        (500, EVIL.encode()),
    ],
)
def test_nothing_of_the_wire_can_steer_a_terminal(transport, client, outcome):
    calls = [client.document, client.resource_name]
    if outcome[0] != 200:
        calls.append(lambda: client.approve(["A"]))
    for call in calls:
        transport.script = Always(transport.clock, *outcome)
        assert failure(call).message.isprintable()
    transport.script = []
