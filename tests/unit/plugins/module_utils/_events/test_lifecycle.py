# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
import json

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._events import lifecycle
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._events.document import (
    Document,
    parse_document,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.vectors import cases


def document(members, api_version="2020-07-01"):
    return parse_document(json.dumps(members).encode("utf-8"), api_version)


@pytest.mark.parametrize("case", cases("transitions.json"))
def test_transitions(case):
    versions = case.get("api_versions", ["2020-07-01", "2020-07-01"])
    before, after = document(case["before"], versions[0]), document(case["after"], versions[1])
    found = lifecycle.transitions(before, after, case["approved"], case["now"])
    assert [
        {
            "kind": one.kind,
            "id": one.event.event_id,
            "outcome": one.outcome,
            "previous_status": one.previous.event_status if one.previous else None,
        }
        for one in found
    ] == case["transitions"]


@pytest.mark.parametrize("approved", [["F00D"], ("f00d",), {"F00d": 1}])
def test_the_outcome_of_one_event(approved):
    members = {
        "EventId": "f00D",
        "EventStatus": "Scheduled",
        "Resources": ["web1"],
        "NotBefore": "2016-09-19T18:29:47Z",
    }
    event = document({"DocumentIncarnation": 1, "Events": [members]}).events[0]
    assert lifecycle.outcome(event, (), 1474309786.0) == "cancelled"
    assert lifecycle.outcome(event, approved, 1474309786.0) == "unknown"


def test_an_event_that_could_not_be_read_for_a_while_is_remembered():
    entry = {"EventId": "A", "EventStatus": "Scheduled", "Resources": ["web1"]}
    before = document({"DocumentIncarnation": 1, "Events": [entry, dict(entry, EventId="B")]})
    for unreadable in (dict(entry, Resources=None), None):
        after = document({"DocumentIncarnation": 2, "Events": [unreadable, dict(entry, EventId="B")]})
        known = lifecycle.remembered(before, after)
        assert [event.key for event in known.events] == ["B", "A"]
        assert lifecycle.remembered(known, after) == known
        back = document({"DocumentIncarnation": 3, "Events": [entry, dict(entry, EventId="B")]})
        assert lifecycle.transitions(known, back) == ()
        gone = document({"DocumentIncarnation": 3, "Events": [dict(entry, EventId="B")]})
        assert [(one.kind, one.event.key) for one in lifecycle.transitions(known, gone)] == [("gone", "A")]
        assert lifecycle.remembered(known, gone) == gone


def test_the_event_is_the_latest_and_the_previous_one_the_earlier():
    entry = {"EventId": "A", "EventStatus": "Scheduled", "Resources": ["web1"]}
    before = document({"DocumentIncarnation": 1, "Events": [entry]})
    after = document({"DocumentIncarnation": 2, "Events": [dict(entry, EventStatus="Started")]})
    assert lifecycle.transitions(before, after) == (
        lifecycle.Transition("started", after.events[0], before.events[0], ""),
    )
    assert lifecycle.transitions(before, Document(3)) == (
        lifecycle.Transition("gone", before.events[0], before.events[0], "unknown"),
    )
    assert lifecycle.transitions(Document(), before) == (lifecycle.Transition("shown", before.events[0], None, ""),)
