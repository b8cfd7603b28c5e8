# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._errors import Unreachable
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._operations.operating import (
    EMPTY,
    MIXED,
    URL,
    failed,
    ids,
    run_info,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import (
    ENDPOINT,
    GROUP_PATH,
    NAME_PATH,
    document,
    event,
    events_path,
    get,
    look,
    own_name,
)


def test_a_look(transport):
    transport.expect(look(200, document(7, event(), {"EventId": "ID-2"}), takes=0.25), own_name(takes=0.125))
    result = run_info(transport)
    assert result == {
        "changed": False,
        "incarnation": 7,
        "resource_name": "web1",
        "placement_group": None,
        "api_version": "2020-07-01",
        "endpoint": ENDPOINT,
        "elapsed": 0.375,
        "polls": 1,
        "looked_at": "2026-01-01T00:00:00Z",
        "transitions": [],
        "warnings": [
            "Entry 2 of the document (event ID-2) can't be read: it has no Resources. It may be maintenance of this "
            "machine."
        ],
        "unusable_events": [
            {"position": 2, "id": "ID-2", "reason": "it has no Resources", "raw": '{"EventId": "ID-2"}'}
        ],
        "events": [
            {
                "id": "ID-1",
                "type": "Reboot",
                "status": "Scheduled",
                "resource_type": "VirtualMachine",
                "resources": ["web1"],
                "raw_resources": ["web1"],
                "not_before": "Thu, 01 Jan 2026 00:15:00 GMT",
                "not_before_utc": "2026-01-01T00:15:00Z",
                "notice": 899,
                "source": "Platform",
                "description": "",
                "duration": -1,
                "affects_self": True,
            }
        ],
    }


@pytest.mark.parametrize(
    "options, found",
    [
        ({}, ["ID-1", "ID-2", "ID-3"]),
        ({"event_ids": ["id-3", " ID-1 "]}, ["ID-1", "ID-3"]),
        ({"event_ids": ["ID"]}, []),
        ({"types": ["freeze", "Redeploy"]}, ["ID-2", "ID-3"]),
        ({"types": []}, ["ID-1", "ID-2", "ID-3"]),
        ({"statuses": ["STARTED"]}, ["ID-2"]),
        ({"sources": ["platform"]}, ["ID-1"]),
        ({"sources": ["USER"]}, ["ID-2"]),
        ({"affecting": "self"}, ["ID-1", "ID-2"]),
        ({"affecting": "self", "types": ["Reboot"], "statuses": ["Scheduled"]}, ["ID-1"]),
        ({"types": ["Reboot"], "statuses": ["Started"]}, []),
    ],
)
def test_filters(transport, options, found):
    transport.expect(look(200, MIXED), own_name())
    assert ids(run_info(transport, **options)["events"]) == found


def test_a_given_name_is_compared_with_the_machines_own(transport):
    transport.expect(look(200, MIXED), own_name(b"Web10"))
    result = run_info(transport, resource_name=" web10 ", affecting="self")
    assert (ids(result["events"]), result["resource_name"]) == (["ID-3"], "Web10")
    assert result["warnings"] == []


@pytest.mark.parametrize("options", [{}, {"affecting": "self"}, {"wait": True}])
def test_a_name_of_another_machine_stops(transport, options):
    transport.expect(look(200, MIXED), own_name(b"web2"))
    error = failed(run_info, transport, resource_name="web1", **options)
    assert error.failure() == {"kind": "invalid", "status": None, "url": ENDPOINT + NAME_PATH}
    assert "resource_name says that this machine is web1" in error.message
    assert "metadata service says that it is web2" in error.message
    assert error.result["resource_name"] is None
    assert {each["affects_self"] for each in error.result["events"]} <= {None}


@pytest.mark.parametrize("outcome", [(404,), (200, b""), (500,), (403,), (429,), (Unreachable("Cut."),)])
def test_a_name_that_can_not_be_checked_does_not_hinder_looking(transport, outcome):
    transport.expect(look(200, MIXED), get(NAME_PATH, *outcome))
    result = run_info(transport, resource_name="web10", affecting="self")
    assert (ids(result["events"]), result["resource_name"]) == (["ID-3"], "web10")
    assert transport.clock.elapsed == 0
    assert len(result["warnings"]) == 1 and "could not be checked" in result["warnings"][0]


@pytest.mark.parametrize("outcome", [(404,), (200, b""), (500,), (403,)])
def test_without_a_name_there_is_a_warning(transport, outcome):
    transport.expect(look(200, MIXED), get(NAME_PATH, *outcome))
    result = run_info(transport)
    assert result["resource_name"] is None
    assert [each["affects_self"] for each in result["events"]] == [None, None, None]
    assert len(result["warnings"]) == 1 and NAME_PATH in result["warnings"][0]


def test_without_a_name_nobody_can_tell_what_affects_it(transport):
    transport.expect(look(200, MIXED), get(NAME_PATH, 200, b""))
    error = failed(run_info, transport, affecting="self")
    assert error.failure() == {"kind": "malformed", "status": 200, "url": ENDPOINT + NAME_PATH}
    assert error.result["incarnation"] == 9


@pytest.mark.parametrize(
    "options, member, word",
    [
        ({"types": ["Reboot"]}, {"EventType": None}, "types"),
        ({"types": ["Reboot"]}, {"EventType": 7}, "types"),
        ({"types": ["Reboot"]}, {"EventType": "Reb\0oot"}, "types"),
        ({"sources": ["User"]}, {"EventSource": None}, "sources"),
        ({"statuses": ["Scheduled"], "sources": ["Platform"]}, {"EventStatus": ""}, "statuses"),
        ({"types": ["Reboot"], "sources": ["User"]}, {"EventType": "", "EventSource": ""}, "types or sources"),
    ],
)
def test_an_event_that_a_filter_can_not_judge_is_left_out_with_a_warning(transport, options, member, word):
    transport.expect(look(200, document(1, event(**member))), own_name())
    result = run_info(transport, **options)
    assert result["events"] == []
    (warning,) = result["warnings"]
    assert "ID-1 of web1 was left out" in warning and f"the option {word} asks for" in warning


def test_a_filter_that_looks_at_something_else_leaves_nothing_out(transport):
    transport.expect(look(200, document(1, event(EventType=None))), own_name())
    result = run_info(transport, sources=["Platform"])
    assert (ids(result["events"]), result["warnings"]) == (["ID-1"], [])


def test_one_filter_that_says_no_needs_no_warning_about_another(transport):
    transport.expect(look(200, document(1, event(EventType=None))), own_name())
    result = run_info(transport, types=["Reboot"], sources=["User"])
    assert (result["events"], result["warnings"]) == ([], [])


def test_blanks_around_what_a_filter_looks_at_do_not_matter(transport):
    transport.expect(look(200, document(1, event(EventType="Reboot ", EventSource=" Platform"))), own_name())
    assert ids(run_info(transport, types=["Reboot"], sources=["Platform"])["events"]) == ["ID-1"]


def test_each_entry_that_can_not_be_read_is_a_warning(transport):
    transport.expect(look(200, document(1, None, {"EventId": "ID-2"})), own_name())
    assert run_info(transport, affecting="self")["warnings"] == [
        "Entry 1 of the document can't be read: it is null, not an object. It may be maintenance of this machine.",
        (
            "Entry 2 of the document (event ID-2) can't be read: it has no Resources. It may be maintenance of this "
            "machine."
        ),
    ]


def test_warnings_are_not_without_end(transport):
    unreadable = [None] * 12
    in_doubt = [event(f"ID-{number}", EventType=None) for number in range(13)]
    transport.expect(look(200, document(1, *(unreadable + in_doubt))), own_name())
    warnings = run_info(transport, types=["Reboot"])["warnings"]
    assert len(warnings) == 22
    assert warnings[10] == "2 more entries of the document can't be read."
    assert warnings[21] == "3 more events were left out for the same reason."


@pytest.mark.parametrize(
    "entry", [{"__ansible_type": "x"}, {"EventId": "\x1b[2J"}, {"EventId": "\ud83d", "x": ["\u202e"]}]
)
def test_what_can_not_be_read_is_returned_as_harmless_text(transport, entry):
    transport.expect(look(200, document(1, entry)), own_name())
    (unusable,) = run_info(transport)["unusable_events"]
    assert isinstance(unusable["raw"], str) and unusable["raw"].isprintable() and unusable["raw"].encode("ascii")
    assert next(iter(entry)) in unusable["raw"]


def test_what_can_not_be_read_is_returned_in_part_when_it_is_long(transport):
    transport.expect(look(200, document(1, {"EventId": "x" * 50000})), own_name())
    assert len(run_info(transport)["unusable_events"][0]["raw"]) == 2000


def test_everything_that_is_returned_can_be_printed(transport):
    evil = "\x1b]0;owned\x07\u202e"
    members = ("EventType", "EventStatus", "EventSource", "ResourceType", "NotBefore", "Description")
    entries = [event(**{name: evil}) for name in members]
    entries += [event("ID-2", **{name: evil}) for name in ("EventId", "Resources")] + [evil, {evil: evil}]
    transport.expect(look(200, document(1, *entries)), own_name())
    assert printable(run_info(transport))


def printable(value):
    if isinstance(value, dict):
        return all(printable(item) for pair in value.items() for item in pair)
    if isinstance(value, list):
        return all(printable(item) for item in value)
    return not isinstance(value, str) or value.isprintable()


def test_the_placement_group(transport):
    transport.expect(look(200, EMPTY), own_name(), get(GROUP_PATH, 200, b"5f1c"))
    assert run_info(transport, placement_group=True)["placement_group"] == "5f1c"


def test_options_reach_the_client(transport):
    transport.expect(get(events_path("2019-08-01"), 200, EMPTY, timeout=20.0), own_name(timeout=5.0))
    result = run_info(transport, api_version="2019-08-01", timeout=5.0, first_timeout=20.0)
    assert result["api_version"] == "2019-08-01"


def test_failures_on_the_way_are_reported(transport):
    transport.expect(look(503), look(200, EMPTY), own_name())
    result = run_info(transport)
    assert (result["polls"], result["elapsed"]) == (2, 1.0)
    assert len(result["warnings"]) == 1 and "HTTP 503" in result["warnings"][0]


def test_a_version_that_is_not_served_is_reported(transport):
    transport.expect(look(400), get(events_path("2019-08-01"), 200, EMPTY), own_name())
    assert "2019-08-01" in run_info(transport)["warnings"][0]


def test_a_failure_has_all_returns(transport):
    transport.expect(look(403))
    error = failed(run_info, transport)
    assert error.failure() == {"kind": "denied", "status": 403, "url": URL}
    assert error.result == {
        "changed": False,
        "incarnation": None,
        "events": [],
        "unusable_events": [],
        "resource_name": None,
        "placement_group": None,
        "api_version": "",
        "endpoint": ENDPOINT,
        "elapsed": 0.0,
        "polls": 1,
        "looked_at": None,
        "transitions": [],
        "warnings": [],
    }
