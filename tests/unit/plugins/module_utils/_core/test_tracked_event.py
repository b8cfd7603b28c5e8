# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What polls make of an event, by one observer and by several."""

import json

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._core import tracked_event as core
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._core.tracked_event import Poll, polled
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._events.event import Event

BASE = Event(
    "E1", "Reboot", "Scheduled", "VirtualMachine", ("vm1",), ("vm1",), "2026-01-01T00:15:00Z", 1767226500.0, "", "", 9
)
STARTED = BASE._replace(event_status="Started", not_before="", not_before_time=None)


def poll(got, *events, observer="web1", not_before=None, asked=None, **more):
    """:arg not_before: by the clock of the test; None: the document names none"""
    notices = {} if not_before is None else {event.key: not_before - got for event in events or [BASE]}
    return Poll(observer, got if asked is None else asked, got, {event.key: event for event in events}, notices, **more)


class Watch:
    """Polls, one after the other or several in a tick."""

    def __init__(self, *polls, known=None):
        self.known = dict(known or {})
        self.approved = ()
        for one in polls:
            self.tick(one)

    def tick(self, *polls, at=None):
        self.known = polled(self.known, polls, max(one.got for one in polls) if at is None else at, self.approved)
        return self

    @property
    def event(self):
        return self.known["E1"]

    @property
    def ended(self):
        return (self.event.gone, self.event.outcome)


def watched(until, not_before=2000.0, begin=90.0):
    """An event that is shown every 5 s until then."""
    return Watch(
        *(poll(begin + 5.0 * number, BASE, not_before=not_before) for number in range(int(until - begin) // 5 + 1))
    )


# ---- shown ----


def test_it_is_tracked_from_the_first_document_that_shows_it():
    event = Watch(poll(100, BASE, not_before=900)).event
    assert (event.shown, event.notice, event.deadline, event.deadline_notice) == (100, 800, 900, 800)
    assert (event.first_names, event.started, event.gone, event.blind) == ({"vm1"}, None, None, 0.0)
    assert event.sightings == {"web1": core.Sighting(100, 100, 100)}


def test_the_caller_says_which_events_concern_him():
    assert polled({}, [poll(100, BASE)], 100, concerns=lambda event: event.affects("vm2")) == {}
    assert set(polled({}, [poll(100, BASE)], 100, concerns=lambda event: event.affects("VM1"))) == {"E1"}


def test_of_several_not_befores_in_one_tick_the_earliest_counts():
    two = [poll(100, BASE, not_before=900), poll(101, BASE, observer="web2", not_before=895)]
    assert Watch().tick(*two).event.deadline == 895


def test_the_same_document_may_be_taken_twice():
    """A watcher does so when its name becomes known."""
    before = watched(100)
    once = before.tick(poll(105))
    assert polled(once.known, [poll(105)], 105) == once.known


# Row 4
def test_a_not_before_that_is_left_out_is_kept():
    blank = BASE._replace(not_before="", not_before_time=None)
    event = Watch(poll(100, BASE, not_before=2000), poll(105, blank)).event
    assert (event.deadline, event.event.not_before) == (2000, BASE.not_before)


# Rows 5 and 6
@pytest.mark.parametrize(
    "field, damaged, kept",
    [
        ("event_type", "", "Reboot"),
        ("resource_type", "", "VirtualMachine"),
        ("duration", None, 9),
        ("duration", 0, 0),
        ("duration", -1, -1),
        ("event_status", "", ""),
    ],
)
def test_what_a_document_has_damaged_is_kept_and_what_it_says_counts(field, damaged, kept):
    event = Watch(poll(100, BASE), poll(105, BASE._replace(**{field: damaged}))).event
    assert getattr(event.event, field) == kept


def test_a_machine_that_was_once_listed_counts():
    grown = BASE._replace(resources=("vm1", "VM2"), raw_resources=("vm1", "_VM2"))
    event = Watch(poll(100, BASE), poll(105, grown), poll(110, BASE)).event
    assert (event.names, event.first_names) == ({"vm1", "vm2"}, {"vm1"})
    assert event.event.raw_resources == ("vm1", "_VM2")


def test_a_not_before_that_moves_brings_a_notice_of_its_own():
    watch = Watch(poll(100, BASE, not_before=1000), poll(200, BASE, not_before=1004))
    assert (watch.event.deadline, watch.event.deadline_notice) == (1004, 900)
    watch.tick(poll(300, BASE, not_before=340))
    assert (watch.event.deadline, watch.event.deadline_notice, watch.event.notice) == (340, 40, 900)


def test_a_not_before_that_has_come_closer_while_the_clock_stood_still_is_the_same_one():
    watch = Watch(poll(100, BASE, not_before=300), poll(110, BASE, not_before=260, unwatched=40))
    assert (watch.event.deadline, watch.event.deadline_notice) == (260, 200)


# ---- started ----


def test_it_has_started_when_anybody_is_shown_that_it_has():
    watch = Watch(poll(100, BASE, not_before=900)).tick(poll(105, BASE), poll(106, STARTED, observer="web2"))
    assert (watch.event.started, watch.event.event.event_status, watch.event.deadline) == (106, "Started", 900)
    assert watch.tick(poll(107, BASE)).event.started == 106, "documents differ for a moment"


# Row 7
def test_what_had_started_and_comes_back_scheduled_is_another_piece_of_maintenance():
    watch = Watch(poll(100, BASE, not_before=130), poll(105, STARTED), poll(110), poll(116))
    assert watch.ended == (116, "completed")
    watch.tick(poll(120, BASE, not_before=920))
    assert (watch.event.started, watch.event.event.event_status, watch.event.reappeared) == (None, "Scheduled", 1)
    assert (watch.event.deadline, watch.event.deadline_notice) == (920, 800)
    watch.tick(poll(125), poll(131))
    assert watch.tick(poll(140, STARTED)).event.started == 140


# Row 7
def test_what_had_started_and_is_scheduled_again_without_having_been_gone_is_noted_once():
    watch = Watch(poll(100, BASE), poll(105, STARTED), poll(114.9, BASE))
    assert watch.event.scheduled_again is None, "documents may differ for a moment"
    known = watch.known
    watch.tick(poll(115, BASE))
    assert (watch.event.scheduled_again, watch.event.started, watch.event.event.event_status) == (115, 105, "Started")
    assert [change.kind for change in core.changes(known, watch.known)] == ["scheduled_again"]
    known = watch.known
    assert [change.kind for change in core.changes(known, watch.tick(poll(120, BASE)).known)] == []
    assert core.unpacked(core.packed(watch.event), shift=10.0).scheduled_again == 125
    assert watch.tick(poll(125)).tick(poll(131)).tick(poll(135, STARTED)).event.scheduled_again is None


def test_what_had_started_and_comes_back_started_is_the_same():
    watch = Watch(poll(100, STARTED), poll(105), poll(111), poll(120, STARTED))
    assert (watch.event.started, watch.event.reappeared, watch.ended) == (100, 1, (None, ""))


# ---- gone ----


def test_one_poll_or_two_that_are_close_end_nothing():
    assert watched(100).tick(poll(101)).event.gone is None
    assert watched(100).tick(poll(101)).tick(poll(105.9)).event.gone is None
    assert watched(100).tick(poll(101)).tick(poll(106), at=108).ended == (108, "cancelled"), "the tick's time"


def test_a_poll_that_shows_it_in_between_begins_anew():
    watch = watched(100).tick(poll(101)).tick(poll(103, BASE)).tick(poll(107))
    assert watch.event.gone is None and watch.tick(poll(112)).event.gone == 112


# Row 2
def test_a_document_may_be_as_old_as_its_request():
    watch = watched(100).tick(poll(100.5))
    assert watch.tick(poll(106, asked=101)).event.gone is None
    assert watch.tick(poll(106.5, asked=106)).event.gone == 106.5


def test_who_was_never_shown_it_does_not_count():
    watch = watched(100)
    for got in (101, 107, 113):
        watch.tick(poll(got, observer="web2"))
    assert watch.event.gone is None and list(watch.event.sightings) == ["web1"]


def test_who_is_shown_it_keeps_it_there_for_all():
    watch = watched(100).tick(poll(101)).tick(poll(106), poll(106.5, BASE, observer="web2"))
    assert watch.event.gone is None
    assert watch.tick(poll(108)).event.gone is None, "it was counted anew"


# Row 3
def test_two_polls_with_nobody_polling_in_between_end_nothing():
    watch = watched(100).tick(poll(101)).tick(poll(130))
    assert watch.event.gone is None
    assert watch.tick(poll(134.9)).event.gone is None
    assert watch.tick(poll(135)).event.gone == 135


def test_where_polls_are_always_rare_a_third_one_ends_it():
    watch = watched(100).tick(poll(160)).tick(poll(220))
    assert watch.event.gone is None and watch.tick(poll(280)).ended == (280, "unknown")


def test_a_gap_counts_for_every_observer():
    watch = watched(100).tick(poll(101, BASE, observer="web2")).tick(poll(103))
    watch.tick(poll(130, observer="web2"))
    assert watch.tick(poll(131)).event.gone is None, "nobody had polled since 103"
    assert watch.tick(poll(136)).event.gone == 136


def test_a_series_that_nothing_interrupts_is_no_gap():
    watch = watched(100).tick(poll(160, since=101, asked=159.9)).tick(poll(165, asked=165))
    assert watch.ended == (165, "cancelled")


# ---- how it ended ----


# Row 1
def test_what_may_have_started_between_the_two_polls_was_not_cancelled():
    assert watched(995, not_before=1000).tick(poll(996)).tick(poll(1002)).ended == (1002, "unknown")
    assert watched(985, not_before=1000).tick(poll(990)).tick(poll(999)).ended == (999, "cancelled")


@pytest.mark.parametrize("silent, outcome", [(10.0, "cancelled"), (10.1, "unknown")])
def test_cancelled_is_only_what_was_watched_all_the_time(silent, outcome):
    watch = watched(100).tick(poll(100 + silent)).tick(poll(107 + silent)).tick(poll(112 + silent))
    assert watch.event.outcome == outcome


def test_what_may_have_been_approved_was_not_cancelled():
    watch = watched(100)
    watch.approved = ["E1"]
    assert watch.tick(poll(101)).tick(poll(106)).event.outcome == "unknown"


def test_what_names_no_time_was_not_cancelled():
    watch = Watch(poll(100, BASE))
    assert watch.tick(poll(101)).tick(poll(106)).event.outcome == "unknown"


# Row 9
@pytest.mark.parametrize("key", ["", "E1"])
def test_an_entry_that_can_not_be_read_is_no_watch(key):
    watch = watched(100)
    for got in range(105, 165, 5):
        watch.tick(poll(got, unreadable=frozenset([key])))
    assert watch.event.gone is None
    assert watch.tick(poll(165)).tick(poll(171)).ended == (171, "unknown")


def test_an_entry_of_another_event_that_can_not_be_read_is_none_of_it():
    other = frozenset(["E9"])
    assert watched(100).tick(poll(101, unreadable=other)).tick(poll(106, unreadable=other)).event.gone == 106


def test_who_stood_still_has_not_watched_though_his_clock_did_not_feel_it():
    watch = watched(100).tick(poll(101, unwatched=40.0)).tick(poll(106))
    assert watch.event.outcome == "unknown"
    watch = watched(100).tick(poll(101, unreadable=frozenset([""]), unwatched=6.0))
    watch.tick(poll(102, unreadable=frozenset([""]), unwatched=6.0))
    assert watch.tick(poll(103)).tick(poll(108)).event.outcome == "unknown", "these add up"


def test_who_stood_still_has_less_time_left_though_no_document_shows_it():
    watch = watched(100, not_before=200).tick(poll(101, not_before=105))
    assert (watch.event.deadline, watch.event.deadline_notice) == (105, 110)
    assert watch.tick(poll(106)).event.outcome == "unknown"


def test_to_be_shown_it_again_ends_every_doubt():
    watch = watched(100).tick(poll(130)).tick(poll(131, BASE, not_before=2000))
    assert (watch.event.blind, watch.event.gone) == (0.0, None)
    assert watch.tick(poll(135)).tick(poll(140)).event.outcome == "cancelled"


# Row 10
def test_it_is_remembered_however_long_it_was_gone():
    watch = watched(100).tick(poll(101)).tick(poll(106)).tick(poll(5000))
    assert watch.ended == (106, "cancelled")
    watch.tick(poll(5005, BASE, not_before=6000))
    assert (watch.event.reappeared, watch.event.shown, watch.ended) == (1, 90, (None, ""))


# ---- recalled ----


def recalled(started=False, outcome=""):
    event = BASE._replace(event_type="", event_status="Started" if started else "Scheduled")
    return {"E1": core.recalled(event, "web1", 900.0, started, outcome, 100.0)}


# Row 8
def test_of_what_only_a_mark_tells_nobody_knows_whether_it_was_cancelled():
    watch = Watch(known=recalled())
    assert watch.event.is_recalled
    assert watch.tick(poll(105)).event.gone is None, "two polls, as for any event"
    assert watch.tick(poll(110)).ended == (110, "unknown")


def test_what_a_mark_tells_of_may_have_started_or_be_over():
    watch = Watch(known=recalled(started=True))
    assert (watch.event.started, watch.tick(poll(105)).tick(poll(110)).event.outcome) == (100, "completed")
    assert Watch(known=recalled(outcome="completed")).ended == (100, "completed")


def test_what_a_mark_told_of_is_an_event_as_any_once_it_is_shown():
    watch = Watch(known=recalled()).tick(poll(105, BASE._replace(resources=("vm1", "vm2")), not_before=900))
    assert not watch.event.is_recalled
    assert (watch.event.event.event_type, watch.event.first_names) == ("Reboot", {"vm1", "vm2"})
    assert watch.tick(poll(110)).tick(poll(115)).event.outcome == "cancelled"


# ---- what has changed ----


def kinds(before, *polls):
    after = polled(before, polls, max(one.got for one in polls))
    return [(change.kind, change.after.event.key) for change in core.changes(before, after)]


def test_changes_from_one_tick_to_the_next():
    other = STARTED._replace(event_id="E2")
    assert kinds({}, poll(100, BASE, other)) == [("scheduled", "E1"), ("scheduled", "E2"), ("started", "E2")]
    known = Watch(poll(100, BASE)).known
    assert kinds(known, poll(101, BASE)) == []
    assert kinds(known, poll(101, BASE._replace(resources=("VM2",)))) == [("changed", "E1")]
    assert kinds(known, poll(101, BASE._replace(event_type="Redeploy"))) == [("changed", "E1")]
    gone = Watch(poll(105), known=known).known
    assert kinds(gone, poll(110)) == [("ended", "E1")]
    assert kinds(Watch(poll(110), known=gone).known, poll(115, STARTED)) == [("reappeared", "E1"), ("started", "E1")]


# ---- kept ----


def test_it_comes_through_json_and_another_clock():
    watch = watched(100, not_before=1000.0).tick(poll(101)).tick(poll(130, STARTED)).tick(poll(140, observer="web2"))
    event = watch.event
    assert core.unpacked(json.loads(json.dumps(core.packed(event)))) == event
    later = core.unpacked(dict(core.packed(event), anything="else"), shift=10.0)
    assert (later.shown, later.deadline, later.started, later.gone) == (100, 1010, 140, None)
    assert later.sightings["web1"] == core.Sighting(100, 140, 140)
    assert (later.deadline_notice, later.notice) == (event.deadline_notice, event.notice)


def test_nothing_is_no_event():
    with pytest.raises(KeyError):
        core.unpacked({})
