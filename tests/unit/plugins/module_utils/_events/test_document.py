# Copyright: (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
import json
import sys

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._errors import ScheduledEventsError
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._events import document
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.vectors import body_of, cases

LOOK = 1474309000.0  # 787 s before the not-before below


def event(**members):
    entry = {
        "EventId": "F020BA2E",
        "EventType": "Reboot",
        "EventStatus": "Scheduled",
        "ResourceType": "VirtualMachine",
        "Resources": ["web1"],
        "NotBefore": "Mon, 19 Sep 2016 18:29:47 GMT",
    }
    entry.update(members)
    body = json.dumps({"DocumentIncarnation": 1, "Events": [entry]}).encode("utf-8")
    return document.parse_document(body, members.pop("version", "2020-07-01")).events[0]


def as_vector(found):
    return json.loads(json.dumps(found._asdict()))


@pytest.mark.parametrize("case", cases("documents.json", lambda case: "document" in case))
def test_document(case):
    found = document.parse_document(body_of(case), case["api_version"])
    wanted = case["document"]
    assert found.incarnation == wanted["incarnation"]
    assert [as_vector(one) for one in found.events] == wanted["events"]
    assert [one.position for one in found.unusable] == [one["position"] for one in wanted["unusable"]]
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
    assert raw == {"EventId": "A", "?": ["?", largest, -largest, largest]}
    assert json.loads(json.dumps(raw, allow_nan=False, ensure_ascii=False).encode("utf-8").decode("utf-8")) == raw


def test_the_key_of_what_is_unusable():
    body = b'{"DocumentIncarnation":5,"Events":[{"EventId":"ab"},{"Resources":["web1"]},7]}'
    assert [entry.key for entry in document.parse_document(body, "2020-07-01").unusable] == ["AB", "", ""]


def test_the_key_of_an_event_is_for_comparing_only():
    assert event(EventId="f020-ba").key == "F020-BA"
    assert event(EventId="f020-ba").event_id == "f020-ba"


@pytest.mark.parametrize(
    "name, affected",
    [
        ("web1", True),
        ("WEB1", True),
        ("web10", False),
        ("web", False),
        ("eb1", False),
        ("_web1", False),
        ("web2", True),
        ("", False),
        (None, False),
    ],
)
def test_affects(name, affected):
    assert event(Resources=["Web1", "web2"]).affects(name) is affected


def test_an_empty_body_is_an_empty_document_without_incarnation():
    assert document.Document() == (None, (), ())


@pytest.mark.parametrize("case", cases("dates.json"))
def test_not_before(case):
    assert document.parse_not_before(case["text"]) == case["unix"]


def test_not_before_is_a_float():
    assert isinstance(document.parse_not_before("2016-09-19T18:29:47Z"), float)


def test_a_long_garbled_date_is_refused_quickly():
    assert document.parse_not_before("1" * 200000) is None
    assert document.parse_not_before("Mon, " + " " * 200000 + "x") is None


def test_event_to_dict():
    assert document.event_to_dict(event(DurationInSeconds=9, EventSource="User", Description="Why"), "WEB1", LOOK) == {
        "id": "F020BA2E",
        "type": "Reboot",
        "status": "Scheduled",
        "resource_type": "VirtualMachine",
        "resources": ["web1"],
        "raw_resources": ["web1"],
        "not_before": "Mon, 19 Sep 2016 18:29:47 GMT",
        "not_before_utc": "2016-09-19T18:29:47Z",
        "notice": 787,
        "source": "User",
        "description": "Why",
        "duration": 9,
        "affects_self": True,
    }


def test_event_to_dict_without_a_date():
    found = document.event_to_dict(event(NotBefore=""), "web1", LOOK)
    assert (found["not_before"], found["not_before_utc"], found["notice"], found["duration"]) == ("", None, None, None)


def test_event_to_dict_shows_names_with_and_without_the_prefix():
    body = b'{"DocumentIncarnation":5,"Events":[{"EventId":"A","Resources":["_web1"]}]}'
    found = document.event_to_dict(document.parse_document(body, "2017-03-01").events[0], "web1", LOOK)
    assert (found["resources"], found["raw_resources"], found["affects_self"]) == (["web1"], ["_web1"], True)


@pytest.mark.parametrize("own_name, affects", [("web1", True), ("web10", False), ("", None), (None, None)])
def test_event_to_dict_affects_self(own_name, affects):
    assert document.event_to_dict(event(), own_name, LOOK)["affects_self"] is affects


@pytest.mark.parametrize("now, notice", [(LOOK + 0.5, 786), (LOOK + 787, 0), (LOOK + 787.1, -1), (LOOK + 800, -13)])
def test_notice_is_rounded_down(now, notice):
    found = document.event_to_dict(event(), "web1", now)["notice"]
    assert found == notice and isinstance(found, int)


@pytest.mark.parametrize(
    "text, utc",
    [
        ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z"),
        ("Thu, 01 Jan 1970 00:00:00 GMT", "1970-01-01T00:00:00Z"),
        ("2016-09-19T20:29:47.75+02:00", "2016-09-19T18:29:47Z"),
    ],
)
def test_not_before_utc(text, utc):
    assert document.event_to_dict(event(NotBefore=text), None, LOOK)["not_before_utc"] == utc
