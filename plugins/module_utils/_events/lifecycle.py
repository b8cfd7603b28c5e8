# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What happened between two documents.

A document never says that an event is over, it only ceases to hold it. And its incarnation is a label, not a
clock: Azure starts it anew at times. So documents are compared event by event, and nothing else is trusted.

Private to this collection.
"""

from typing import Collection, List, NamedTuple, Optional, Tuple

from .document import Document
from .event import Event

SHOWN, STARTED, CHANGED, GONE = "shown", "started", "changed", "gone"
COMPLETED, CANCELLED, UNKNOWN = "completed", "cancelled", "unknown"


class Transition(NamedTuple):
    """One thing that happened to one event.

    kind: SHOWN, STARTED, CHANGED or GONE
    event: as it was last seen
    previous: as the earlier document had it; None when that did not hold it
    outcome: of an event that is GONE: COMPLETED, CANCELLED or UNKNOWN; else ""
    """

    kind: str
    event: Event
    previous: Optional[Event]
    outcome: str = ""


def transitions(
    before: Document, after: Document, approved: Collection[str] = (), now: Optional[float] = None
) -> Tuple[Transition, ...]:
    """What happened to which event, in the order of the documents: first what ended, then what goes on or is new.

    approved: ids of the events that could start at any time: approved from here, or, where nobody polled for a
        while, perhaps by somebody else
    now: Unix time of the later document
    """
    known = {event.key: event for event in before.events}
    gone = after.lacks(known)
    found = [
        Transition(GONE, event, event, outcome(event, approved, now)) for event in before.events if event.key in gone
    ]
    for event in after.events:
        found.extend(_changes(known.get(event.key), event))
    return tuple(found)


def remembered(before: Document, after: Document) -> Document:
    """The later document, and in it also those events of the earlier one that it may still hold, though unreadable.

    Compared with the next document, it shows how these went on.
    """
    left = after.lacks(event.key for event in before.events).union(event.key for event in after.events)
    return after._replace(events=after.events + tuple(event for event in before.events if event.key not in left))


def _changes(previous: Optional[Event], event: Event) -> List[Transition]:
    found = []
    starts = event.has_started and not (previous and previous.has_started)
    if previous is None:
        found.append(Transition(SHOWN, event, None))
    elif _facts(previous, starts) != _facts(event, starts):
        found.append(Transition(CHANGED, event, previous))
    if starts:
        found.append(Transition(STARTED, event, previous))
    return found


def outcome(event: Event, approved: Collection[str], now: Optional[float]) -> str:
    """How an event ended that was last seen like this.

    Only an event that could not have started in the meantime was cancelled. An approved one could at any time,
    any other one from its not-before on. ``approved`` and ``now`` are those of :func:`transitions`.
    """
    if event.has_started:
        return COMPLETED
    could_not_start = (
        event.is_scheduled
        and event.key not in {event_id.upper() for event_id in approved}
        and now is not None
        and event.not_before_time is not None
        and now < event.not_before_time
    )
    return CANCELLED if could_not_start else UNKNOWN


def _facts(event: Event, starts: bool) -> Event:
    """What must differ for an event to have changed: not the spelling of names, nor what every start brings."""
    facts = event._replace(
        event_id=event.key, raw_resources=(), resources=tuple(sorted(name.lower() for name in event.resources))
    )
    return facts._replace(event_status="", not_before="", not_before_time=None) if starts else facts
