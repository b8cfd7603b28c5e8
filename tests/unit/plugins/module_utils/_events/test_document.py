# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
import json
import sys
import time

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._errors import ScheduledEventsError
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._events import document
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.vectors import body_of, cases


def as_vector(found):
    return json.loads(json.dumps(found._asdict()))


@pytest.mark.parametrize("case", cases("documents.json", lambda case: "document" in case))
def test_document(case):
    found = document.parse_document(body_of(case), case["api_version"])
    wanted = case["document"]
    assert found.incarnation == wanted["incarnation"]
    assert [as_vector(one) for one in found.events] == wanted["events"]
    assert [(one.position, one.key) for one in found.unusable] == [
        (one["position"], one["id"]) for one in wanted["unusable"]
    ]
    for one, vector in zip(found.unusable, wanted["unusable"]):
        assert vector["mentions"] in one.reason


@pytest.mark.parametrize("case", cases("documents.json", lambda case: "error" in case))
def test_malformed_document(case):
    with pytest.raises(document.MalformedDocument) as caught:
        document.parse_document(body_of(case), case["api_version"])
    assert caught.value.kind == case["error"]["kind"]
    assert case["error"]["mentions"] in caught.value.message
    assert isinstance(caught.value, ScheduledEventsError)


def test_the_error_shows_a_short_and_harmless_excerpt():
    with pytest.raises(document.MalformedDocument) as caught:
        document.parse_document(b"<html>\x1b[2J\n\xff" + b"x" * 5000, "2020-07-01")
    message = caught.value.message
    assert message.isprintable() and len(message) < 350
    assert r'"<html>\u001b[2J\n\ufffdxxx' in message
    assert "It has 5012 bytes and begins" in message


def test_a_short_body_is_shown_whole():
    with pytest.raises(document.MalformedDocument) as caught:
        document.parse_document(b"{}", "2020-07-01")
    assert caught.value.message.endswith('begins with "{}".')


def test_nesting_within_reason_is_read():
    body = b'{"DocumentIncarnation":5,"Events":[],"x":' + b"[" * 48 + b"]" * 48 + b"}"
    assert document.parse_document(body, "2020-07-01").incarnation == 5


def test_what_is_unusable_can_be_printed_and_stored():
    numbers = b"1e999,-1e999," + b"9" * 5000
    body = b'{"DocumentIncarnation":5,"Events":[{"EventId":"A","\\ud83d":["\\udc00",' + numbers + b"]}]}"
    raw = document.parse_document(body, "2020-07-01").unusable[0].raw
    largest = sys.float_info.max
    assert raw == {"EventId": "A", "\ufffd": ["\ufffd", largest, -largest, largest]}
    assert json.loads(json.dumps(raw, allow_nan=False, ensure_ascii=False).encode("utf-8").decode("utf-8")) == raw


def test_the_key_of_what_is_unusable():
    body = b'{"DocumentIncarnation":5,"Events":[{"EventId":"ab"},{"Resources":["web1"]},7]}'
    assert [entry.key for entry in document.parse_document(body, "2020-07-01").unusable] == ["AB", "", ""]


@pytest.mark.parametrize(
    "entries, lacking",
    [
        ([], {"A", "B"}),
        ([{"EventId": "a", "Resources": ["web1"]}], {"B"}),
        ([{"EventId": "a"}], {"B"}),
        ([{"EventId": "a"}, {"EventId": "c", "Resources": ["web1"]}], {"B"}),
        ([{"Resources": ["web1"]}], set()),
        ([None], set()),
    ],
)
def test_what_has_left_for_certain(entries, lacking):
    body = json.dumps({"DocumentIncarnation": 5, "Events": entries}).encode("utf-8")
    assert document.parse_document(body, "2020-07-01").lacks(["A", "B"]) == lacking


def test_many_entries_of_one_id_are_joined_quickly():
    entries = [{"EventId": "A", "Resources": [f"web{number}"]} for number in range(30000)]
    body = json.dumps({"DocumentIncarnation": 5, "Events": entries}).encode("utf-8")
    began = time.process_time()
    (event,) = document.parse_document(body, "2020-07-01").events
    assert len(event.resources) == len(event.raw_resources) == 30000
    assert time.process_time() - began < 5  # of CPU; comparing each with each took 16 s


def test_a_member_that_comes_many_times_is_refused_quickly():
    body = (
        b'{"DocumentIncarnation":5,"Events":[{' + b",".join(b'"A%d":1,"a%d":1' % (n, n) for n in range(30000)) + b"}]}"
    )
    began = time.process_time()
    assert document.parse_document(body, "2020-07-01").unusable[0].reason == "it has no EventId"
    assert time.process_time() - began < 5


def test_an_empty_body_is_an_empty_document_without_incarnation():
    assert document.Document() == (None, (), ())
