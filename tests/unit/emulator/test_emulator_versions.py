# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What each api-version shows."""

import json

import pytest
from emulator_harness import EVENTS, LATEST

ID = "0B7D7A24-9C1A-4B8E-8E5C-0B8C2A8F0C11"
FIRST = ["EventId", "EventStatus", "EventType", "ResourceType", "Resources", "NotBefore"]
MEMBERS = {
    "2017-03-01": FIRST,
    "2017-08-01": FIRST,
    "2017-11-01": FIRST,
    "2019-01-01": FIRST,
    "2019-04-01": FIRST + ["Description"],
    "2019-08-01": FIRST + ["Description", "EventSource"],
    "2020-07-01": FIRST + ["Description", "EventSource", "DurationInSeconds"],
    "2024-07-09": FIRST + ["Description", "EventSource", "DurationInSeconds"],
}
TYPES = {
    "2017-03-01": {"Freeze", "Reboot", "Redeploy"},
    "2017-08-01": {"Freeze", "Reboot", "Redeploy"},
    "2017-11-01": {"Freeze", "Reboot", "Redeploy", "Preempt"},
    "2019-01-01": {"Freeze", "Reboot", "Redeploy", "Preempt", "Terminate"},
    "2019-04-01": {"Freeze", "Reboot", "Redeploy", "Preempt", "Terminate"},
    "2019-08-01": {"Freeze", "Reboot", "Redeploy", "Preempt", "Terminate"},
    "2020-07-01": {"Freeze", "Reboot", "Redeploy", "Preempt", "Terminate", "Hibernate"},
    "2024-07-09": {"Freeze", "Reboot", "Redeploy", "Preempt", "Terminate", "Hibernate", "SpotRebalanceRecommendation"},
}


@pytest.fixture
def all_versions(start):
    return start(settings={"preview_version": True})


@pytest.mark.parametrize("version", sorted(MEMBERS))
def test_members_and_their_order(all_versions, version):
    all_versions.inject("Reboot", ["web1", "web2"])
    (event,) = all_versions.events(version=version)
    assert list(event) == MEMBERS[version]


@pytest.mark.parametrize("version", sorted(TYPES))
def test_event_types(all_versions, version):
    for event_type in TYPES["2024-07-09"]:
        all_versions.inject(event_type, tail=3600, notice=3600)
    assert {event["EventType"] for event in all_versions.events(version=version)} == TYPES[version]


def test_a_document_to_the_byte(emulator):
    emulator.inject("Freeze", ["web2"], id=ID, duration=6)
    assert emulator.look().body == (
        b'{"DocumentIncarnation":2,"Events":[{"EventId":"0B7D7A24-9C1A-4B8E-8E5C-0B8C2A8F0C11","EventStatus":"Scheduled",'
        b'"EventType":"Freeze","ResourceType":"VirtualMachine","Resources":["web2"],"NotBefore":"Mon, 02 Mar 2026 08:15:00 GMT",'
        b'"Description":"Host server is undergoing maintenance.","EventSource":"Platform","DurationInSeconds":6}]}'
    )


def test_an_empty_document(emulator):
    assert emulator.look().body == b'{"DocumentIncarnation":1,"Events":[]}'


@pytest.mark.parametrize("version", sorted(MEMBERS))
def test_only_the_first_version_puts_an_underscore_before_names(all_versions, version):
    all_versions.inject("Reboot", ["web1", "web2"])
    expected = ["_web1", "_web2"] if version == "2017-03-01" else ["web1", "web2"]
    assert all_versions.events(version=version)[0]["Resources"] == expected


@pytest.mark.parametrize("version", sorted(MEMBERS))
def test_only_the_first_version_does_without_the_header(all_versions, version):
    reply = all_versions.ask(EVENTS + "?api-version=" + version, headers={})
    assert reply.status == (200 if version == "2017-03-01" else 400)


def test_a_change_that_an_old_version_does_not_show_still_counts(emulator):
    emulator.inject("Terminate")
    assert emulator.document(version="2017-08-01") == {"DocumentIncarnation": 2, "Events": []}


def test_iso_dates_on_demand(start):
    emulator = start(settings={"not_before_format": "iso8601"})
    emulator.inject("Reboot")
    assert emulator.events()[0]["NotBefore"] == "2026-03-02T08:15:00Z"


def test_dates_are_whole_seconds_never_later_than_the_start(emulator):
    emulator.advance(0.9)
    emulator.inject("Reboot", notice=10)
    assert emulator.events()[0]["NotBefore"] == "Mon, 02 Mar 2026 08:00:10 GMT"


def test_ids_are_upper_case_and_stay(emulator):
    event_id = emulator.inject("Reboot", id=ID.lower())
    assert event_id == ID
    other = emulator.inject("Freeze")
    assert other == other.upper()
    emulator.control("POST", "/events/" + other + "/start")
    assert [event["EventId"] for event in emulator.events()] == [ID, other]


@pytest.mark.parametrize(
    "version, status",
    [
        ("2020-07-02", 400),
        ("2021-02-01", 400),
        ("latest", 400),
        ("", 400),
        ("2024-07-09", 404),
        (None, 400),
    ],
)
def test_versions_that_are_not_served(emulator, version, status):
    reply = emulator.ask(EVENTS + ("" if version is None else "?api-version=" + version))
    assert reply.status == status
    assert reply.headers["content-type"].startswith("application/json")
    if status == 400:
        assert json.loads(reply.body.decode()) == {
            "error": "Bad request. api-version is invalid or was not specified in the request. For more information refer to aka.ms/azureimds",
            "newest-versions": ["2025-04-07", "2024-07-17", "2024-03-15"],
        }


def test_unknown_dates_may_be_404(start):
    emulator = start(settings={"unknown_version_status": 404})
    assert emulator.ask(EVENTS + "?api-version=2020-07-02").status == 404
    assert emulator.ask(EVENTS + "?api-version=nonsense").status == 400


def test_get_and_post_may_use_different_versions(emulator):
    event_id = emulator.inject("Preempt")
    assert emulator.events(version=LATEST)
    assert emulator.approve(event_id, version="2019-08-01").status == 200
    assert emulator.statuses() == ["Started"]
