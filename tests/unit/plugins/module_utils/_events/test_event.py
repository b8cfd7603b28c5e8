# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
import json

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._events.document import parse_document
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._events.event import (
    event_from_dict,
    event_to_dict,
)

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
    return parse_document(body, members.pop("version", "2020-07-01")).events[0]


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


@pytest.mark.parametrize(
    "members, wanted",
    [
        ({"EventStatus": "Scheduled"}, {"is_scheduled"}),
        ({"EventStatus": "SCHEDULED"}, {"is_scheduled"}),
        ({"EventStatus": "started"}, {"has_started"}),
        ({"EventStatus": "Unheard of"}, set()),
        ({"EventStatus": "", "EventType": "terminate"}, {"is_terminate", "may_terminate", "takes_machines_away"}),
        ({"EventStatus": "", "EventType": None}, {"may_terminate"}),
        ({"EventStatus": "", "EventType": "PREEMPT"}, {"takes_machines_away"}),
        ({"EventStatus": "", "EventType": "spotrebalancerecommendation"}, {"is_advice"}),
        ({"EventStatus": "advisory"}, {"is_advice"}),
    ],
)
def test_what_an_event_is_whatever_the_case_of_its_letters(members, wanted):
    found = event(**members)
    names = ("is_scheduled", "has_started", "is_advice", "is_terminate", "may_terminate", "takes_machines_away")
    assert {name for name in names if getattr(found, name)} == wanted


def test_event_to_dict():
    assert event_to_dict(event(DurationInSeconds=9, EventSource="User", Description="Why"), "WEB1", LOOK) == {
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
    found = event_to_dict(event(NotBefore=""), "web1", LOOK)
    assert (found["not_before"], found["not_before_utc"], found["notice"], found["duration"]) == ("", None, None, None)


def test_event_to_dict_shows_names_with_and_without_the_prefix():
    body = b'{"DocumentIncarnation":5,"Events":[{"EventId":"A","Resources":["_web1"]}]}'
    found = event_to_dict(parse_document(body, "2017-03-01").events[0], "web1", LOOK)
    assert (found["resources"], found["raw_resources"], found["affects_self"]) == (["web1"], ["_web1"], True)


@pytest.mark.parametrize("own_name, affects", [("web1", True), ("web10", False), ("", None), (None, None)])
def test_event_to_dict_affects_self(own_name, affects):
    assert event_to_dict(event(), own_name, LOOK)["affects_self"] is affects


@pytest.mark.parametrize("now, notice", [(LOOK + 0.5, 786), (LOOK + 787, 0), (LOOK + 787.1, -1), (LOOK + 800, -13)])
def test_notice_is_rounded_down(now, notice):
    found = event_to_dict(event(), "web1", now)["notice"]
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
    assert event_to_dict(event(NotBefore=text), None, LOOK)["not_before_utc"] == utc


def test_event_from_dict_is_the_inverse():
    given = event(NotBefore="2016-09-19T18:29:47Z", DurationInSeconds=9, Description="Why", EventSource="User")
    assert event_from_dict(event_to_dict(given, "web1", LOOK)) == given


def test_the_key_of_an_event_is_for_comparing_only():
    assert event(EventId="f020-ba").key == "F020-BA"
    assert event(EventId="f020-ba").event_id == "f020-ba"
