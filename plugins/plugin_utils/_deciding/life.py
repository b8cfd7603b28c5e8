# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An event's life: shown, started, gone, perhaps back again; by what the machines that were shown it see. It changes the record, and nothing else.

Private to this collection.

Only a machine that was shown an event can say that it is gone: what others don't see they may never have been shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ...module_utils._events.event import Event, event_from_dict
from ...module_utils._events.lifecycle import CANCELLED, COMPLETED, UNKNOWN
from ...module_utils._text import listed
from .approval import no_tries
from .look import events_of, may_hold
from .reports import happened, report
from .schema import Approval, EventState, Record

GONE_APART = 5.0
"""Seconds between the two looks that show that an event is gone. Documents of one scope differed for 1.6 s, and came back
empty for 3 s."""

UNBROKEN = 10.0
"""Seconds without a look after which an event may have started and ended unseen: what was published of real ones stayed
Started for 30 s at least (S9)."""

SECONDS_WITHOUT_NOT_BEFORE = 600.0
"""The notice taken for a Scheduled event that names no time: the shortest of the usual ones (S4.8, Redeploy)."""


MOVED = 5.0
"""Seconds from which on a not-before is another one: whole seconds, and answers that take their time, make less."""

TAKEN = "nothing has been heard of its machines since"
"""Why an event that takes its machines away is not watched any more."""

UNSEEN = "all machines that could see it have left the play"

STAYED = "it stayed longer than this run watched"


class Look(NamedTuple):
    """A look that brought a document, with the controller's time of when it began and when it got that document."""

    host: str
    result: Mapping[str, Any]
    began: float
    got: float

    @property
    def keys(self) -> frozenset[str]:
        return frozenset(event.key for event in events_of(self.result))


def event_of(entry: EventState) -> Event:
    """The event as it was last seen."""
    return event_from_dict(entry)


def is_open(entry: EventState) -> bool:
    """Whether the run still watches the event."""
    return entry["gone"] is None and not entry["closed"]


def not_before(entry: EventState) -> float:
    """When the event starts by itself, also where it does not say."""
    if entry["deadline"] is not None:
        return entry["deadline"]
    return entry["shown"] + SECONDS_WITHOUT_NOT_BEFORE


def take_looks(record: Record, looks: Iterable[Look], at: float) -> None:
    """Move all events on by the documents that came in one tick."""
    looks = list(looks)
    seen: dict[str, list[tuple[Look, Mapping[str, Any]]]] = {}
    for look in looks:
        for data in look.result.get("events") or ():
            seen.setdefault(event_from_dict(data).key, []).append((look, data))
    for key, sightings in seen.items():
        _see(record, key, sightings, at)
    for key, entry in record["events"].items():
        if entry["gone"] is None and key not in seen:
            for look in looks:
                if entry["gone"] is None and look.host in entry["sightings"] and not may_hold(look.result, key):
                    _miss(record, key, entry, look, at)


# ---- seen ----


def _see(record: Record, key: str, sightings: list[tuple[Look, Mapping[str, Any]]], at: float) -> None:
    entry = record["events"].get(key)
    if entry is None:
        first_look, data = sightings[0]
        entry = record["events"][key] = _new_entry(data, first_look.got)
        happened(record, entry["shown"], "shown", _shown_words(data), key)
    elif entry["gone"] is not None:
        _reopen(record, key, entry, sightings, at)
    if entry["closed"] in (TAKEN, UNSEEN):
        entry["closed"] = ""
    for look, data in sightings:
        _take_data(entry, data)
        sighting = entry["sightings"].setdefault(look.host, {"first": look.got, "last": look.got, "absent": None})
        sighting["last"] = max(sighting["last"], look.got)
    for sighting in entry["sightings"].values():
        sighting["absent"] = None
    _note_scheduled_again(record, key, entry, sightings)
    _take_start(record, key, entry, sightings)
    if entry["started"] is None:
        entry["announced"] = at
    _take_not_before(entry, sightings)


def last_seen(entry: EventState) -> float:
    return max((sighting["last"] for sighting in entry["sightings"].values()), default=entry["shown"])


def _new_entry(data: Mapping[str, Any], at: float) -> EventState:
    notice = data.get("notice")
    entry: EventState = {
        "id": data["id"],
        "type": data["type"],
        "status": data["status"],
        "source": data["source"],
        "resource_type": data["resource_type"],
        "resources": [],
        "raw_resources": [],
        "not_before": data["not_before"],
        "description": data["description"],
        "duration": data["duration"],
        "shown": at,
        "shown_notice": None if notice is None else float(notice),
        "sightings": {},
        "lacking": {},
        "deadline": None,
        "deadline_notice": None,
        "announced": at,
        "started": None,
        "blind": 0.0,
        "gone": None,
        "outcome": "",
        "reopened": 0,
        "closed": "",
        "affected": [],
        "unknown": [],
        "nameless": [],
        "ambiguous": [],
        "judged": None if notice is None else float(notice),
        "judged_by": "",
        "actions": {},
        "hours": {},
        "action": "",
        "rule": "",
        "words": "",
        "turn": "",
        "turn_words": "",
        "may_prepare": False,
        "full": False,
        "shut": False,
        "resumes": None,
        "too_large": False,
        "hold": "",
        "waits": "",
        "prepared": {},
        "failed": {},
        "restarted": {},
        "unprepared": {},
        "recovered": {},
        "approval": new_approval(),
    }
    return entry


def new_approval() -> Approval:
    return {"tries": no_tries(), "sent": False, "maybe": False, "by": "", "at": None, "nobody": "", "attempts": []}


def _shown_words(data: Mapping[str, Any]) -> str:
    notice = data.get("notice")
    left = "no notice" if notice is None else f"{notice:.0f} s notice" if notice >= 0 else "its time is over"
    return f"not before {data['not_before'] or '(no time)'}, {left}"


def _take_data(entry: EventState, data: Mapping[str, Any]) -> None:
    """What the document says now; but a resource that was once named is kept until the event is gone."""
    known = {name.lower() for name in entry["resources"]}
    entry["resources"] += [name for name in data["resources"] if name.lower() not in known]
    entry["raw_resources"] = list(dict.fromkeys([*entry["raw_resources"], *data["raw_resources"]]))
    for name in ("type", "source", "description", "duration", "resource_type"):
        entry[name] = data[name] or entry[name]
    if entry["started"] is None:
        entry["status"] = data["status"]
        entry["not_before"] = data["not_before"] or entry["not_before"]


def _take_start(record: Record, key: str, entry: EventState, sightings: list[tuple[Look, Mapping[str, Any]]]) -> None:
    started = [(look, data) for look, data in sightings if event_from_dict(data).has_started]
    if not started or entry["started"] is not None:
        return
    look, data = started[0]
    entry["started"], entry["status"], entry["deadline"] = look.got, data["status"], None
    after = look.got - entry["shown"]
    if after <= 0:
        words = "before it was first seen"
    else:
        words = f"{after:.1f} s after it was shown{_by_whom(entry)}"
    approved = (
        entry["approval"]["at"] if entry["approval"]["sent"] else None
    )  # when that answer came: the look is part of it
    happened(record, max(look.got, approved or look.got), "started", words, key)


def _by_whom(entry: EventState) -> str:
    approval = entry["approval"]
    if approval["sent"]:
        return ""
    if approval["maybe"]:
        return " (perhaps by an approval of this run whose answer was lost)"
    return " (not by an approval of this run)"


def _take_not_before(entry: EventState, sightings: list[tuple[Look, Mapping[str, Any]]]) -> None:
    """The notice ages by the controller's clock, and is taken anew at each look. Of several looks the earliest time counts."""
    if entry["started"] is not None:
        return
    deadlines = [(look.got + data["notice"], look.got) for look, data in sightings if data.get("notice") is not None]
    if not deadlines:
        return
    deadline, got = min(deadlines)
    if entry["deadline"] is None or abs(deadline - entry["deadline"]) > MOVED:
        entry["deadline_notice"] = deadline - got
    entry["deadline"] = deadline


# ---- not seen ----


def _miss(record: Record, key: str, entry: EventState, look: Look, at: float) -> None:
    """Two looks of one machine, some seconds apart, that lack what it was shown show that it is gone."""
    sighting = entry["sightings"][look.host]
    if all(other["absent"] is None for other in entry["sightings"].values()):
        entry["blind"] = max(look.began - last_seen(entry), 0.0)
    if sighting["absent"] is None:
        sighting["absent"] = look.got
    elif look.began - sighting["absent"] >= GONE_APART or look.got - sighting["absent"] >= GONE_APART:
        # The first look that lacked it may have been wrong: then it could have started until now.
        entry["blind"] = max(entry["blind"], look.began - sighting["absent"])
        entry["gone"] = at
        entry["outcome"] = outcome(entry, at)
        happened(record, at, "gone", entry["outcome"], key)


def outcome(entry: EventState, at: float) -> str:
    """How an event ended. Only one that could not have started meanwhile was cancelled.

    An approved one could at any time, any other from its not-before on; and all may have where nobody looked for a while.
    """
    if entry["started"] is not None:
        return COMPLETED
    approval = entry["approval"]
    absent = [other["absent"] for other in entry["sightings"].values() if other["absent"] is not None]
    could_not_start = (
        event_of(entry).is_scheduled
        and not (approval["sent"] or approval["maybe"])
        and entry["deadline"] is not None
        and min(absent, default=at) < entry["deadline"]
        and entry["blind"] <= UNBROKEN
    )
    return CANCELLED if could_not_start else UNKNOWN


def _reopen(
    record: Record, key: str, entry: EventState, sightings: list[tuple[Look, Mapping[str, Any]]], at: float
) -> None:
    entry["gone"], entry["outcome"] = None, ""
    entry["reopened"] += 1
    entry["announced"] = at  # who was put back meanwhile is in service: that he was prepared before does not count
    if entry["started"] is None or any(event_from_dict(data).has_started for _look, data in sightings):
        entry["unprepared"] = {host: how for host, how in entry["unprepared"].items() if how}
        happened(record, at, "back", "it was not gone, and is watched again", key)
        return
    # Its maintenance is still to come: what was said of the first one, and its approval, are over.
    entry["started"] = None
    entry["unprepared"] = {}
    entry["approval"] = new_approval()
    happened(record, at, "back", "it is Scheduled again after it had started, and is handled like a new one", key)


def _note_scheduled_again(
    record: Record, key: str, entry: EventState, sightings: list[tuple[Look, Mapping[str, Any]]]
) -> None:
    """An event that goes back to Scheduled without having been gone: Azure says nothing of the kind, so a person has to look."""
    if entry["started"] is None:
        return
    for look, data in sightings:
        # Documents of one scope differ for a moment.
        if look.began >= entry["started"] + UNBROKEN and event_from_dict(data).is_scheduled:
            report(
                record,
                f"event {key}: scheduled again",
                f"{data['type'] or 'Event'} {data['id']} is Scheduled again by the document of {look.host} (not before "
                f"{data['not_before'] or 'unknown'}), though it had started and was not gone: this run takes it for started until it "
                f"is gone. See whether its machines are in service: {listed(entry['affected'] or entry['resources'])}.",
            )
