# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One event of this machine, and what the watcher knows of it; tests/unit/.../_core has what polls make of an event."""

import json

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._clock import Moment
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._core.tracked_event import (
    Poll,
    Sighting,
    polled,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.engine import engine_state as life
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.engine.engine_state import (
    Begun,
    Recollection,
    unpacked,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.stories import event

EVENT = event({"id": "E1", "in": 900})
BEGIN = EVENT.not_before_time - 900


def shown():
    return life.begun(polled({}, [poll(100.0, EVENT)], 100.0)["E1"])


def poll(at, *events):
    return Poll(life.HERE, at, at, {one.key: one for one in events}, {one.key: 1000.0 - at for one in events})


def after(one, *polls):
    for document in polls:
        one = life.followed(one, polled({one.key: one.tracked}, [document], document.got)[one.key])
    return one


def test_its_notice_is_that_of_the_first_look():
    assert (shown().tracked.notice, shown().judged.notice) == (900, 900)


def test_what_was_done_about_it_is_kept_though_it_was_not_there_for_a_while():
    one = shown()._replace(
        approved=True, asked=150.0, failed="it broke", said=frozenset(["scheduled", "prepare_failed"])
    )
    gone = after(one, poll(101.0), poll(106.0))
    assert not gone.is_open and gone.is_lacking
    back = after(gone, poll(110.0, EVENT))
    assert back.is_open and not back.is_lacking
    assert back._replace(tracked=one.tracked) == one


# Row 7
def test_nothing_was_done_about_what_is_scheduled_again_after_it_had_started_and_was_gone():
    said = frozenset(["scheduled", "prepared", "started", "approved", "ended", "started_unprepared"])
    one = shown()._replace(approved=True, asked=150.0, late=True, failed="it broke", said=said)
    struck = after(one, poll(104.0, event({"id": "E1", "status": "Started"})))
    assert struck.has_struck and struck.approved
    anew = after(struck, poll(110.0), poll(116.0), poll(120.0, EVENT))
    assert anew.is_coming and (anew.approved, anew.asked, anew.late, anew.failed) == (False, None, False, "")
    assert (anew.said, anew.judged.notice) == ({"scheduled", "approved", "ended"}, 880)


def test_a_mark_tells_of_an_event_that_nobody_saw():
    note = {"started": ["e1"], "approved": ["E2"], "notices": {"E1": 900.0}, "said": {"E1": ["scheduled"]}}
    one = life.recalled("E1", "Reboot", "vm1", note, 5.0)
    assert (one.started, one.approved, one.tracked.notice, one.said) == (True, False, 900.0, {"scheduled"})
    two = life.recalled("E2", "Reboot", "vm1", note, 5.0)
    assert (two.started, two.approved, two.tracked.notice) == (False, True, None)
    assert after(two._replace(approved=False), poll(160.0), poll(165.0)).tracked.outcome == "unknown"
    over = life.recalled("E1", "Reboot", "vm1", dict(note, over={"e1": "completed"}), 5.0)
    assert (over.is_open, over.tracked.outcome) == (False, "completed")


def recollection():
    known = Recollection()
    known.lives = {"E1": shown()._replace(said=frozenset(["scheduled"]), asked=150.0)}
    known.polled_at, known.quiet_since, known.others = 160.0, 40.0, frozenset(["E9"])
    known.date = BEGIN + 60
    known.begun, known.reported = Begun("o1", "prepared", frozenset(["E1"])), {"imds_unreachable": "no route"}
    return known


def test_a_recollection_comes_through_json_and_another_process_s_clock():
    kept = json.loads(json.dumps(recollection().packed(Moment(BEGIN, 1000.0, "boot"), 170.0)))
    known = unpacked(kept, Moment(BEGIN + 3, 1003.0, "boot"), 20.0)
    tracked = shown().tracked._replace(
        shown=-53.0, deadline=847.0, sightings={life.HERE: Sighting(-53.0, -53.0, -53.0)}
    )
    assert known.lives["E1"] == shown()._replace(tracked=tracked, said=frozenset(["scheduled"]), asked=-3.0)
    assert (known.polled_at, known.quiet_since, known.others) == (7.0, -113.0, {"E9"})
    assert known.date == BEGIN + 60
    assert (known.begun, known.reported) == (
        Begun("o1", "prepared", frozenset(["E1"])),
        {"imds_unreachable": "no route"},
    )


@pytest.mark.parametrize(
    "damage", [{"boot_id": "another"}, {"format": 1}, {"lives": [{}]}, {"now": "x"}, {"reported": 7}]
)
def test_of_another_start_or_damaged_it_is_none(damage):
    kept = dict(recollection().packed(Moment(BEGIN, 1000.0, "boot"), 170.0), **damage)
    assert unpacked(kept, Moment(BEGIN, 1000.0, "boot"), 170.0) is None


def test_nothing_is_no_recollection():
    assert unpacked({}, Moment(BEGIN, 1000.0, "boot"), 170.0) is None
