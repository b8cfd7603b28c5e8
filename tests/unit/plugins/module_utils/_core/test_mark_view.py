# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose a machine is, how far it is, and whether it is prepared for an event: by its mark."""

from types import MappingProxyType

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._clock import Moment
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._core.mark_view import (
    OURS,
    WATCHER,
    Asker,
    MarkView,
    is_prepared_for,
    mark_view,
    prepared_under,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.vectors import cases, shown_of

LEASE = {"uptime": 0.0, "boot_id": "boot-1", "until": 120.0}
MARK = MappingProxyType(
    {
        "holder": {"kind": "run", "run": "r0", "job": "12", "controller": "ctl1"},
        "since": "2026-01-01T00:00:00Z",
        "vm_id": "vm-a",
        "endpoint": "",
        "lease": LEASE,
        "phase": "prepared",
        "events": ["a-1", "B-2"],
        "boot_id": "boot-1",
        "steps": [],
    }
)
NOW = Moment(0.0, 10.0, "boot-1")
ASKER = Asker("r1", "vm-a")


def seen(mark=MARK, unreadable="", asker=ASKER, **changes):
    return mark_view(mark and dict(mark, **changes), unreadable, asker, NOW)


# ---- whose it is, and how far ----


@pytest.mark.parametrize("case", cases("marks.json"))
def test_vectors(case):
    asker, moment = Asker(**case["asker"]), Moment(0.0, case["moment"]["uptime"], case["moment"]["boot_id"])
    view = mark_view(case["mark"], case.get("unreadable", ""), asker, moment)
    assert shown_of(view, case["expect"]) == case["expect"]


def test_who_holds_it_is_said_with_what_finds_him():
    assert seen().owner_words == "run r0 (job 12) on ctl1, since 2026-01-01T00:00:00Z"
    assert seen(vm_id="vm-b").owner_words == "VM vm-b"
    assert seen(None, "it is no JSON").owner_words == "it is no JSON"
    assert seen(None).owner_words == ""
    watchers = {"kind": "watcher", "run": "watcher", "job": "", "controller": ""}
    assert "of this machine or of the one" in seen(holder=watchers, asker=Asker("watcher", None)).owner_words


def test_what_failed_is_said_of_each_step():
    steps = [
        {"key": "1", "words": "stop nginx", "unwords": "start nginx", "state": "failed", "note": "it did not stop"},
        {"key": "2", "words": "", "unwords": "run hook 20-x", "state": "not_taken_back", "note": "exit status 1"},
        {"key": "3", "words": "drain", "unwords": "", "state": "done", "note": "fine"},
    ]
    assert seen(steps=steps).failed_words == "stop nginx: it did not stop; run hook 20-x: exit status 1"


def test_the_ids_are_kept_as_they_came():
    assert list(seen().ids.items()) == [("A-1", "a-1"), ("B-2", "B-2")]


@pytest.mark.parametrize("note, outage", [({"outage": "20260101T000000Z"}, "20260101T000000Z"), ({}, ""), ("?", "")])
def test_the_outage_has_the_name_that_its_watcher_gave_it(note, outage):
    assert seen(note=note).outage == outage
    assert seen().outage == ""


# ---- whether it is prepared ----


def prepared(owner=OURS, key="A-1", boot_id="boot-1", age=0.0, left_out=False, **changes):
    view = seen(**changes)._replace(owner=owner)
    return is_prepared_for(view, key, boot_id, age, left_out)


def test_by_this_run_or_by_its_own_watcher():
    assert prepared() and prepared(owner=WATCHER)
    others = ("nobody", "run", "expired", "drain", "foreign", "copied", "unidentified", "unreadable")
    assert not any(prepared(owner=other) for other in others)


@pytest.mark.parametrize("phase", ["preparing", "recovering", "half"])
def test_only_when_the_mark_says_so(phase):
    assert not prepared(phase=phase)


def test_for_an_event_of_the_mark():
    assert prepared(key="B-2") and not prepared(key="C-3")


@pytest.mark.parametrize("unreadable", ["", "it is no JSON"])
def test_no_mark_or_one_that_can_not_be_read(unreadable):
    assert not is_prepared_for(seen(None, unreadable)._replace(owner=OURS), "A-1", "", 0.0)
    assert not is_prepared_for(MarkView(OURS), "A-1", "", 0.0)


def test_under_the_start_of_the_machine_under_which_its_steps_were_done():
    assert not prepared(boot_id="boot-2"), "whatever made it start has started its services"
    assert prepared(boot_id="boot-2", again="boot-2")
    assert not prepared(boot_id="boot-1", again="boot-2")
    assert (prepared_under(MARK), prepared_under(dict(MARK, again="boot-2"))) == ("boot-1", "boot-2")


def test_with_no_step_left_out():
    assert not prepared(left_out=True)


@pytest.mark.parametrize("age, wanted", [(10.0, True), (10.1, False), (None, False)])
def test_by_an_answer_that_is_young_enough(age, wanted):
    assert prepared(age=age) is wanted
