# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The run's events: what polls make of them is the core's answer, and here the record takes that in. It changes the record, and nothing else.

A ``look`` here is the result of a ``scheduled_events_info`` or ``scheduled_events_approve`` task, which ends with the last of
several polls.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ...module_utils._core import tracked_event as core
from ...module_utils._core.deadlines import starts_by_itself
from ...module_utils._core.decision import Judged
from ...module_utils._core.messages import title
from ...module_utils._core.tracked_event import Change, Poll, TrackedEvent, polled
from ...module_utils._events.event import Event, event_from_dict
from ...module_utils._text import first_line, listed
from .event_state import Approval, EventState, PoliciesDecision
from .reports import happened, report
from .state import Record


def has_failed(look: Mapping[str, Any]) -> bool:
    """Whether a machine could not poll. That a wait ended without a change is no failure, if it had seen a document.

    A task with ``failed_when: false`` has no ``failed`` in its result, and a failure may come with the events last seen.
    """
    if "events" not in look or look.get("unreachable"):
        return True
    kind = (look.get("failure") or {}).get("kind")
    return kind is not None and (kind != "timeout" or look.get("incarnation") is None)


def has_document(look: Mapping[str, Any]) -> bool:
    """Whether it says which events there are: an empty body (no incarnation) says nothing (S2, S13.9)."""
    return not has_failed(look) and look.get("incarnation") is not None


def message_of(look: Mapping[str, Any]) -> str:
    """What the task said, in a line that has room for what happened and what to do; "" when it said nothing."""
    return first_line(look.get("msg"), 1000)


def events_of(look: Mapping[str, Any]) -> list[Event]:
    """The events that the machine was shown."""
    return [event_from_dict(data) for data in look.get("events") or ()]


TAKEN = "no answer from its machines since"
"""Why an event that takes its machines away is not watched any more."""

UNSEEN = "all machines that could see it have left the play"

STAYED = "it stayed longer than this run watched"


class Look(NamedTuple):
    """A look that brought a document, by the controller's time.

    began: when it was called for; since: from when on it has polled without a break; asked: when it asked for that document
    """

    host: str
    result: Mapping[str, Any]
    began: float
    since: float
    asked: float
    got: float

    @property
    def keys(self) -> frozenset[str]:
        return frozenset(event.key for event in events_of(self.result))

    @property
    def poll(self) -> Poll:
        """As the core takes it."""
        events = events_of(self.result)
        notices = {event.key: data["notice"] for event, data in zip(events, self.result["events"], strict=True)}
        return Poll(
            self.host,
            self.asked,
            self.got,
            {event.key: event for event in events},
            {key: float(notice) for key, notice in notices.items() if notice is not None},
            frozenset(unusable["id"] for unusable in self.result.get("unusable_events") or ()),
            since=self.since,
        )


def is_open(entry: EventState) -> bool:
    """Whether the run still watches the event."""
    return entry.gone is None and not entry.closed


def not_before(entry: EventState) -> float:
    """When the event starts by itself, also where it does not say."""
    return starts_by_itself(entry.tracked.deadline, entry.shown)


def names_no_time(entry: EventState) -> bool:
    """Whether nobody knows when it starts, so that no sentence says when."""
    return entry.tracked.deadline is None


def last_seen(entry: EventState) -> float:
    return max((sighting.last for sighting in entry.sightings.values()), default=entry.shown)


def take_looks(record: Record, looks: Iterable[Look]) -> None:
    """Move all events on by the documents that came in one tick."""
    events, looks = record.events, list(looks)
    before = {key: entry.tracked for key, entry in events.items()}
    polls = [look.poll for look in looks]
    after = polled(before, polls, record.at, [key for key, entry in events.items() if entry.approval.maybe])
    for key, tracked in after.items():
        if key not in before:
            events[key] = new_entry(tracked)
        else:
            events[key].tracked = tracked
    for change in core.changes(before, after):
        _take_change(record, change)
    for entry in [events[key] for key in after if any(key in poll.events for poll in polls)]:
        if entry.closed in (TAKEN, UNSEEN):
            entry.closed = ""
        if entry.started is None:
            entry.announced = record.at


def new_entry(tracked: TrackedEvent, words: str = "") -> EventState:
    """
    :arg words: what is said of it as long as nothing is decided
    """
    judged_by = Judged(tracked.event.event_status, tracked.notice)
    return EventState(tracked, tracked.shown, judged_by, decided=PoliciesDecision(words=words))


# ---- what has happened ----


def _take_change(record: Record, change: Change) -> None:
    key, now = change.after.event.key, change.after
    if change.kind == core.SCHEDULED:
        happened(record, "shown", _shown_words(now), key, at=now.shown)
    elif change.kind == core.REAPPEARED:
        _reopen(record, key, change)
    elif change.kind == core.STARTED:
        approval, started = record.events[key].approval, now.started or record.at
        # When that answer came: the look is part of it.
        approved = approval.at if approval.sent and approval.at is not None else started
        happened(record, "started", _started_words(approval, now), key, at=max(started, approved))
    elif change.kind == core.SCHEDULED_AGAIN:
        _note_scheduled_again(record, now)
    elif change.kind == core.ENDED:
        happened(record, "gone", now.outcome, key)


def _shown_words(tracked: TrackedEvent) -> str:
    notice = tracked.notice
    left = "no notice" if notice is None else f"{notice:.0f} s notice" if notice >= 0 else "its time is over"
    return f"not before {tracked.event.not_before or '(no time)'}, {left}"


def _started_words(approval: Approval, tracked: TrackedEvent) -> str:
    after = (tracked.started or 0.0) - tracked.shown
    if after <= 0:
        return "before it was first seen"
    return f"{after:.1f} s after it was shown{_by_whom(approval)}"


def _by_whom(approval: Approval) -> str:
    if approval.sent:
        return ""
    if approval.maybe:
        return " (perhaps by an approval of this run that was not answered)"
    return " (not by an approval of this run)"


def _reopen(record: Record, key: str, change: Change) -> None:
    entry = record.events[key]
    entry.announced = record.at  # who was put back meanwhile is in service: that he was prepared before does not count
    if change.before is None or change.before.started is None or change.after.started is not None:
        entry.unprepared = {host: how for host, how in entry.unprepared.items() if how}
        happened(record, "back", "it was not gone, and is watched again", key)
        return
    # Its maintenance is still to come: what was said of the first one, and its approval, are over.
    entry.unprepared = {}
    entry.approval = Approval()
    happened(record, "back", "it is Scheduled again after it had started, and is handled like a new one", key)


def _note_scheduled_again(record: Record, tracked: TrackedEvent) -> None:
    """An event that goes back to Scheduled without having been gone: Azure says nothing of the kind, so a person has to look."""
    event, entry = tracked.event, record.events[tracked.event.key]
    report(
        record,
        f"event {event.key}: scheduled again",
        f"{title(event)} is Scheduled again (not before {event.not_before or 'unknown'}), though it had started and was not gone: this run "
        f"takes it for started until it is gone. See whether its machines are in service: {listed(entry.affected or entry.event.resources)}.",
    )
