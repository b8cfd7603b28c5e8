# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One event's life, as looks show it."""

import json

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._core.lease import Moment
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher import life
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.recollection import (
    Begun,
    Recollection,
    unpacked,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.stories import event

EVENT = event({"id": "E1", "in": 900})
STARTED = event({"id": "E1", "status": "Started"})
BEGIN = EVENT.not_before_time - 900


def shown():
    return life.shown(EVENT, 100.0, BEGIN)


def missed_twice(one, wall=BEGIN + 60, gap=1.0, apart=5.0):
    one = life.missed(one, 160.0, 160.0, wall, gap)
    return life.missed(one, 160.0 + apart, 160.0 + apart, wall + apart, 1.0)


def test_its_notice_is_that_of_the_first_look():
    assert shown().notice == 900
    assert life.shown(STARTED, 100.0, BEGIN).notice is None


def test_one_look_or_two_that_are_close_end_nothing():
    assert life.missed(shown(), 160.0, 160.0, BEGIN, 1.0).is_open
    assert missed_twice(shown(), apart=4.9).is_open
    assert not missed_twice(shown()).is_open


def test_a_look_that_has_it_in_between_begins_anew():
    one = life.seen(life.missed(shown(), 160.0, 160.0, BEGIN, 1.0), EVENT, 162.0)
    assert life.missed(one, 166.0, 166.0, BEGIN, 1.0).is_open


def test_two_looks_with_nobody_looking_in_between_end_nothing():
    one = life.missed(shown(), 160.0, 160.0, BEGIN, 1.0)
    one = life.missed(one, 190.0, 190.0, BEGIN, 30.0)
    assert one.is_open
    assert life.missed(one, 194.9, 194.9, BEGIN, 1.0).is_open
    assert not life.missed(one, 195.0, 195.0, BEGIN, 1.0).is_open


def test_where_looks_are_always_rare_a_third_one_ends_it():
    one = life.missed(shown(), 160.0, 160.0, BEGIN, 60.0)
    one = life.missed(one, 220.0, 220.0, BEGIN, 60.0)
    assert one.is_open and not life.missed(one, 280.0, 280.0, BEGIN, 60.0).is_open


@pytest.mark.parametrize(
    "changes, wall, gap, outcome",
    [
        ({}, BEGIN + 60, 1.0, "cancelled"),
        ({}, BEGIN + 60, 10.0, "cancelled"),
        ({}, BEGIN + 60, 10.1, "unknown"),
        ({}, BEGIN + 900, 1.0, "unknown"),
        ({"approved": True}, BEGIN + 60, 1.0, "unknown"),
        ({"started": True}, BEGIN + 60, 100.0, "completed"),
        ({"event": event({"id": "E1"})}, BEGIN + 60, 1.0, "unknown"),
    ],
)
def test_cancelled_is_only_what_was_watched_all_the_time_and_could_not_start(changes, wall, gap, outcome):
    assert missed_twice(shown()._replace(**changes), wall, gap).outcome == outcome


def test_what_starts_keeps_the_time_that_it_had():
    one = life.seen(shown(), STARTED, 200.0)
    assert (one.started, one.event.not_before_time, one.has_struck) == (True, EVENT.not_before_time, True)


def test_a_machine_that_was_once_listed_counts():
    grown = life.seen(shown(), event({"id": "E1", "in": 900, "on": ["vm1", "VM2"]}), 101.0)
    assert life.seen(grown, EVENT, 102.0).names == {"vm1", "vm2"}


def test_a_mark_tells_of_an_event_that_nobody_saw():
    note = {"started": ["e1"], "approved": ["E2"], "notices": {"E1": 900.0}, "said": {"E1": ["shown"]}}
    one = life.recalled("E1", "Reboot", "vm1", note, 5.0)
    assert (one.started, one.approved, one.notice, one.said) == (True, False, 900.0, {"shown"})
    two = life.recalled("E2", "Reboot", "vm1", note, 5.0)
    assert (two.started, two.approved, two.notice) == (False, True, None)
    assert missed_twice(two._replace(approved=False)).outcome == "unknown"


def recollection():
    known = Recollection()
    known.lives = {"E1": shown()._replace(said=frozenset(["shown"]), asked=150.0)}
    known.looked, known.quiet_since, known.others = 160.0, 40.0, frozenset(["E9"])
    known.begun, known.reported = Begun("o1", "prepared", frozenset(["E1"])), {"blind": "no route"}
    return known


def test_a_recollection_comes_through_json_and_another_process_s_clock():
    kept = json.loads(json.dumps(recollection().packed(Moment(BEGIN, 1000.0, "boot"), 170.0)))
    known = unpacked(kept, Moment(BEGIN + 3, 1003.0, "boot"), 20.0)
    assert known.lives["E1"] == shown()._replace(said=frozenset(["shown"]), shown=-53.0, seen=-53.0, asked=-3.0)
    assert (known.looked, known.quiet_since, known.others) == (7.0, -113.0, {"E9"})
    assert (known.begun, known.reported) == (Begun("o1", "prepared", frozenset(["E1"])), {"blind": "no route"})


@pytest.mark.parametrize(
    "damage", [{"boot_id": "another"}, {"format": 2}, {"lives": [{}]}, {"now": "x"}, {"reported": 7}]
)
def test_of_another_start_or_damaged_it_is_none(damage):
    kept = dict(recollection().packed(Moment(BEGIN, 1000.0, "boot"), 170.0), **damage)
    assert unpacked(kept, Moment(BEGIN, 1000.0, "boot"), 170.0) is None


def test_nothing_is_no_recollection():
    assert unpacked({}, Moment(BEGIN, 1000.0, "boot"), 170.0) is None
