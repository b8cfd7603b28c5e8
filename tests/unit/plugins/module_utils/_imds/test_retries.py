# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._clock import Deadline
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._errors import AnswerTooLarge, Unreachable
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._events.document import Document
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._imds.endpoint import DEFAULT_ENDPOINT
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._imds.retries import (
    ADVICE,
    ELSEWHERE,
    RETRY_FOR,
    advice,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._imds.conversation import (
    EMPTY,
    ONE,
    URL,
    failure,
    transient,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import events_path, look


@pytest.mark.parametrize("outcome, kind", transient())
def test_what_may_pass_is_tried_again(transport, client, outcome, kind):
    transport.expect(look(200, EMPTY), look(*outcome), look(200, ONE))
    client.document()
    assert client.document().incarnation == 2
    assert (client.polls, client.failures) == (3, 1)
    assert transport.clock.sleeps == [2.0 if kind == "throttled" else 1.0]


@pytest.mark.parametrize("outcome, kind", transient())
def test_what_does_not_pass_is_given_up(transport, client, outcome, kind):
    transport.expect(look(200, EMPTY))
    client.document()
    transport.expect(*[look(*outcome) for _each in range(60)])
    error = failure(client.document)
    asked = 60 - len(transport.script)
    del transport.script[:]
    assert error.kind == kind
    assert error.url == URL
    assert asked > 1
    assert f"Asked {asked} times in {transport.clock.elapsed:.0f} s." in error.message
    assert transport.clock.elapsed == RETRY_FOR[kind]
    assert advice(error) in error.message


@pytest.mark.parametrize("outcome, kind", transient())
def test_in_a_wait_the_deadline_ends_the_retries(transport, client, outcome, kind):
    transport.expect(look(200, EMPTY))
    client.document()
    transport.expect(*[look(*outcome) for _each in range(60)])
    assert failure(client.document, Deadline(transport.clock, 4.5)).kind == kind
    assert transport.clock.elapsed == 4.5
    del transport.script[:]


@pytest.mark.parametrize(
    "endpoint, advised", [(DEFAULT_ENDPOINT, ADVICE["unreachable"]), ("http://127.0.0.1:8080/vm/web1", ELSEWHERE)]
)
def test_where_nobody_listens_the_advice_is_about_who_should(endpoint, advised):
    assert advice(Unreachable("Connection refused.", url=endpoint + events_path())) == advised


def test_pauses_grow(transport, client):
    transport.expect(
        look(503, at=0),
        look(503, at=1),
        look(503, at=3),
        look(503, at=7),
        look(503, at=15),
        look(503, at=23),
        look(200, EMPTY, at=30),
    )
    client.document()


@pytest.mark.parametrize("status, kind", [(400, "version_refused"), (401, "denied"), (403, "denied")])
def test_what_will_not_pass_is_not_tried_again(transport, client, status, kind):
    transport.expect(look(200, EMPTY), look(status, b'{"error": "Bad\\u0007 request.\\n See aka.ms"}'))
    client.document()
    error = failure(client.document)
    assert error.failure() == {"kind": kind, "status": status, "url": URL}
    assert ': "Bad request. See aka.ms"' in error.message
    assert ADVICE[kind] in error.message
    assert "Asked" not in error.message


def test_what_is_too_large_is_not_tried_again(transport, client):
    transport.expect(look(AnswerTooLarge("Too large.", url=URL)))
    error = failure(client.document)
    assert error.kind == "too_large"
    assert "The events are unknown" in error.message


@pytest.mark.parametrize("seconds", [None, 60.0])
def test_the_caller_may_not_want_some_failures_tried_again(transport, client, seconds):
    transport.expect(look(500), look(Unreachable("No.")))
    deadline = seconds and Deadline(transport.clock, seconds)
    assert failure(client.document, deadline, ("unreachable",)).kind == "unreachable"


@pytest.mark.parametrize(
    "text, pause",
    [
        ("7", 7),
        (" 7 ", 7),
        ("Thu, 01 Jan 2026 00:00:09 GMT", 9),
        ("Wed, 31 Dec 2025 23:00:00 GMT", 2),
        ("0", 2),
        ("1", 1),
        ("soon", 2),
        ("-5", 2),
        ("", 2),
        ("Thu, 99 Foo 2026", 2),
        ("1" * 30, 2),
        ("\xb2", 2),
        ("Mon, \xb2 Sep 99999 99:99:99", 2),
    ],
)
def test_retry_after_is_honoured(transport, client, text, pause):
    transport.expect(look(429, b"", {"retry-after": text}), look(200, EMPTY, at=pause))
    client.document()


def test_a_retry_after_up_to_the_deadline_is_honoured(transport, client):
    transport.expect(look(429, b"", {"retry-after": "20"}), look(200, EMPTY, at=20))
    client.document(Deadline(transport.clock, 20.0))


@pytest.mark.parametrize("deadline", [None, 20.0])
def test_a_retry_after_beyond_the_deadline_ends_it_at_once(transport, client, deadline):
    transport.expect(look(429, b"Throttle Result: Too Many Requests", {"retry-after": "31"}))
    error = failure(client.document, deadline and Deadline(transport.clock, deadline))
    assert (error.kind, transport.clock.elapsed) == ("throttled", 0)
    assert "31 s" in error.message
    assert "Too Many Requests" in error.message


@pytest.mark.parametrize("first", [b"", b"\r\n "])
def test_an_empty_answer_is_asked_for_again(transport, client, first):
    transport.expect(look(200, first), look(200, ONE, at=1))
    assert client.document().incarnation == 2
    assert client.warnings == []


def test_two_empty_answers_are_no_events_to_whom_no_document_was_shown(transport, client):
    transport.expect(look(200, b""), look(200, b"\n", at=1), look(200, b""), look(200, ONE))
    assert client.document() == Document(None, (), ())
    assert len(client.warnings) == 1 and URL in client.warnings[0]
    assert client.document() == Document()  # believed once, it is not doubted again
    assert client.document().incarnation == 2
    assert len(client.warnings) == 1


def test_no_number_of_empty_answers_replaces_a_document(transport, client):
    transport.expect(look(200, ONE), *[look(200, b"", at=at) for at in range(6)])
    client.document()
    error = failure(client.document)
    assert error.failure() == {"kind": "malformed", "status": 200, "url": URL}
    assert "an empty body" in error.message
    assert "Asked 6 times in 5 s." in error.message
    assert "does not mean that there are none" in error.message
    assert client.warnings == []
    # what was known counts for the next poll
    transport.expect(look(200, ONE))
    assert client.document().incarnation == 2
