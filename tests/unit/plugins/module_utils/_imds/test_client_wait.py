# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waiting for a change."""

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._clock import Deadline
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._errors import Unreachable
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._events.document import Document
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._imds.client import Client
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._imds.conversation import (
    EMPTY,
    METADATA,
    ONE,
    failure,
    transient,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import (
    ENDPOINT,
    WALL,
    document,
    event,
    look,
)


def changed(client, transport, known, seconds=60.0, interval=1.0):
    return client.changed_document(known, interval, Deadline(transport.clock, seconds))


def test_waits_until_the_document_changes(transport, client):
    transport.expect(
        look(200, EMPTY, at=0), look(200, EMPTY, at=1, timeout=10.0, headers=METADATA), look(200, ONE, at=2)
    )
    known = client.document()
    assert changed(client, transport, known).incarnation == 2
    assert (client.polls, client.looked_at) == (3, WALL + 2)
    assert transport.known == [(EMPTY, 1.0, 59.0)]  # one call for the whole wait


def test_gives_the_known_document_at_the_deadline(transport, client):
    transport.expect(*[look(200, EMPTY, at=at) for at in (0, 1, 2, 2.5)])
    known = client.document()
    assert changed(client, transport, known, 2.5) is known
    assert (client.polls, client.looked_at) == (4, WALL + 2.5)


def test_polls_once_more_when_there_is_no_time(transport, client):
    transport.expect(look(200, EMPTY), look(200, ONE))
    assert changed(client, transport, client.document(), 0).incarnation == 2
    assert transport.clock.elapsed == 0


def test_etags_spare_the_body(transport, client):
    with_tag = dict(METADATA, **{"If-None-Match": '"1"'})
    transport.expect(
        look(200, EMPTY, {"etag": '"1"'}, headers=METADATA),
        look(304, headers=with_tag),
        look(200, ONE, {"etag": '"2"'}, headers=with_tag),
        look(304, headers=dict(METADATA, **{"If-None-Match": '"2"'})),
        look(200, EMPTY, headers=dict(METADATA, **{"If-None-Match": '"2"'})),
        look(200, EMPTY, headers=METADATA),
    )
    one = changed(client, transport, client.document())
    assert one.incarnation == 2
    empty = changed(client, transport, one)
    assert empty.incarnation == 1
    assert changed(client, transport, empty, 1.0) is empty


def test_a_304_at_the_deadline_is_the_known_document(transport, client):
    transport.expect(look(200, EMPTY, {"etag": '"1"'}), look(304, at=1))
    known = client.document()
    assert changed(client, transport, known, 1.0) is known
    assert client.looked_at == WALL + 1


def test_other_bytes_of_the_same_document_are_no_change(transport, client):
    transport.expect(
        look(200, EMPTY), look(200, b" " + EMPTY, at=1), look(200, b" " + EMPTY, at=2), look(200, ONE, at=3)
    )
    assert changed(client, transport, client.document()).incarnation == 2


def test_a_change_without_another_incarnation_is_a_change(transport, client):
    transport.expect(look(200, document(2, event())), look(200, document(2, event(status="Started"))))
    assert changed(client, transport, client.document()).events[0].event_status == "Started"


def test_a_document_from_before_this_conversation(transport, client):
    transport.expect(look(200, ONE))
    assert changed(client, transport, Document(1, (), ())).incarnation == 2
    transport.expect(look(200, ONE), look(200, EMPTY, at=1))
    assert changed(Client(transport, ENDPOINT), transport, client._document).incarnation == 1


@pytest.mark.parametrize("outcome, kind", transient())
def test_a_wait_survives_what_passes(transport, client, outcome, kind):
    pause = 2 if kind == "throttled" else 1
    transport.expect(
        look(200, EMPTY, at=0), look(*outcome, at=1), look(200, EMPTY, at=1 + pause), look(200, ONE, at=2 + pause)
    )
    assert changed(client, transport, client.document()).incarnation == 2
    assert (client.polls, client.failures) == (4, 1)


@pytest.mark.parametrize("outcome, kind", transient())
def test_a_wait_that_ends_in_a_failure_has_failed(transport, client, outcome, kind):
    transport.expect(look(200, EMPTY), *[look(*outcome) for _each in range(10)])
    assert failure(changed, client, transport, client.document(), 6.0).kind == kind
    assert transport.clock.elapsed == 6.0
    del transport.script[:]


def test_late_and_cut_answers_do_not_slow_a_wait_down(transport, client):
    transport.expect(look(200, EMPTY, at=0), *[look(Unreachable("cut"), at=at) for at in range(1, 20)])
    transport.expect(look(200, ONE, at=20))
    changed(client, transport, client.document())


def test_a_long_interval_is_kept_after_failures(transport, client):
    transport.expect(look(200, EMPTY, at=0), look(503, at=5), look(200, EMPTY, at=10), look(200, ONE, at=15))
    changed(client, transport, client.document(), interval=5.0)


def test_failures_count_from_the_last_success(transport, client):
    transport.expect(
        look(200, EMPTY, at=0),
        look(503, at=1),
        look(503, at=2),
        look(200, EMPTY, at=4),
        look(503, at=5),
        look(200, ONE, at=6),
    )
    changed(client, transport, client.document())


def test_an_error_tells_of_the_last_failures_only(transport, client):
    transport.expect(look(200, EMPTY, at=0), look(503, at=1), *[look(200, EMPTY, at=at) for at in range(2, 9)])
    transport.expect(look(503, at=9), look(503, at=10))
    error = failure(changed, client, transport, client.document(), 10.0)
    assert "Asked 2 times in 1 s." in error.message


def test_polls_of_a_call_that_failed_count(transport, client):
    transport.expect(look(200, EMPTY), look(200, EMPTY), look(200, EMPTY), look(Unreachable("cut")), look(200, ONE))
    changed(client, transport, client.document())
    assert (client.polls, client.failures, client.last_failure) == (5, 1, "cut")


def test_empty_answers_do_not_end_a_wait(transport, client):
    # a hiccup of the service would look like the end of every event
    transport.expect(look(200, ONE, at=0), *[look(200, b"", at=at) for at in (1, 2, 3)])
    transport.expect(look(200, ONE, at=4), look(200, EMPTY, at=5))
    assert changed(client, transport, client.document()).incarnation == 1
    assert (client.failures, client.warnings) == (3, [])
    assert "an empty body" in client.last_failure


def test_a_wait_that_ends_in_empty_answers_has_failed(transport, client):
    transport.expect(look(200, ONE, at=0), look(200, b"", at=1), look(200, b" ", at=2), look(200, b"", at=2.5))
    known = client.document()
    error = failure(changed, client, transport, known, 2.5)
    assert (error.kind, error.status) == ("malformed", 200)


def test_empty_answers_after_a_document_without_events_change_nothing(transport, client):
    transport.expect(look(200, EMPTY, at=0), look(200, b"", at=1), look(200, b"", at=2), look(200, ONE, at=3))
    known = client.document()
    assert changed(client, transport, known, 2.0) is known
    assert (client.failures, len(client.warnings), client.looked_at) == (0, 1, WALL + 2)
    assert changed(client, transport, known).incarnation == 2


def test_empty_answers_do_not_replace_a_document_from_before_this_conversation(transport, client):
    transport.expect(look(200, b"", at=0), look(200, b"", at=1), look(200, ONE, at=2))
    assert changed(client, transport, Document(1, (), ())).incarnation == 2


def test_where_answers_have_always_been_empty_a_document_is_a_change(transport, client):
    transport.expect(look(200, b"", at=0), look(200, b"", at=1), look(200, b"\n", at=2), look(200, ONE, at=3))
    known = client.document()
    assert known.incarnation is None
    assert changed(client, transport, known).incarnation == 2
    assert client.failures == 0


@pytest.mark.parametrize("tag", ['"1"\x00', '"\u2028"', '"a"\r\n "b"', '"' + "x" * 300 + '"'])
def test_an_etag_that_can_not_be_sent_back_is_left_out(transport, client, tag):
    transport.expect(look(200, EMPTY, {"etag": tag}), look(200, ONE, headers=METADATA))
    assert changed(client, transport, client.document()).incarnation == 2
