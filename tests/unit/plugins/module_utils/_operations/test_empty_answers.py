# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Answers without a body: nothing is over, gone or confirmed by them."""

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._operations.approve import approve
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._operations.info import info
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._operations.operation import OperationFailed
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import (
    ENDPOINT,
    document,
    event,
    look,
    own_name,
    sent,
)

ONE = document(2, event())
STARTED = document(3, event(status="Started"))
GONE = document(4)
APPROVAL = {"endpoint": ENDPOINT, "event_ids": ["ID-1"], "wait_timeout": 3.0}


def wait(transport, wait_for, **options):
    looks = 1 if transport.script[0].outcome[1] else 2  # an empty answer is looked at twice before the name is asked
    transport.script.insert(looks, own_name())
    options.update(endpoint=ENDPOINT, wait=True, wait_for=wait_for)
    return info(options, transport, transport.clock)


def refused(call, *args, **options):
    with pytest.raises(OperationFailed) as caught:
        call(*args, **options)
    return caught.value


def empty_from(first, last):
    return [look(200, b"", at=at) for at in range(first, last + 1)]


def test_a_wait_for_an_end_that_sees_only_empty_answers_fails_and_keeps_the_event(transport):
    transport.expect(look(200, STARTED, at=0), *empty_from(1, 4))
    error = refused(wait, transport, "gone", wait_timeout=4.0)
    assert error.kind == "malformed"
    assert [found["id"] for found in error.result["events"]] == ["ID-1"]
    assert error.result["transitions"] == []


@pytest.mark.parametrize("wait_for, more", [("gone", {}), ("started", {"event_ids": ["ID-1"]})])
def test_a_wait_that_begins_with_empty_answers_goes_on(transport, wait_for, more):
    transport.expect(*empty_from(0, 2), look(200, ONE, at=3), look(200, GONE, at=4))
    assert wait(transport, wait_for, **more)["elapsed"] == 4.0


@pytest.mark.parametrize("wait_for", ["gone", "event", "started", "change"])
def test_a_wait_without_any_document_says_so(transport, wait_for):
    transport.expect(*empty_from(0, 4))
    error = refused(wait, transport, wait_for, wait_timeout=4.0)
    assert error.kind == "timeout"
    assert "sent no document within 4 s, only empty answers" in error.message


def test_an_approval_is_not_confirmed_by_empty_answers(transport):
    transport.expect(look(200, ONE), own_name(), sent("ID-1"), *empty_from(1, 3))
    error = refused(approve, APPROVAL, transport, transport.clock)
    assert (error.kind, error.result["approved"], error.result["confirmed"]) == ("malformed", ["ID-1"], [])


def test_a_lost_approval_has_not_arrived_because_an_answer_is_empty(transport):
    transport.expect(look(200, ONE), own_name(), sent("ID-1", outcome=(500,)), *empty_from(1, 3))
    error = refused(approve, APPROVAL, transport, transport.clock)
    assert error.result["approved"] == []
    assert "Whether it arrived can't be seen" in error.message
