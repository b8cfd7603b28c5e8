# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a tick has brought, as lines for whoever watches the run. Pure.

Private to this collection.
"""

from __future__ import annotations

from .approving import ACCEPTED
from .reports import time_of_day
from .result import decision, heading, line
from .schema import EventState, Happening, Record
from .scopes import sentinels

LASTS = 30.0
"""Seconds after which a problem is said while the run goes on: many are over in the next tick."""

NOBODY_LASTS = 10.0
"""The same where no machine can approve an event that is ready: its notice may be short."""


def news(before: Record, after: Record) -> list[str]:
    """What is new since the tick before, in the order in which it happened.

    What concerns an event names it at the end of the line, as several may be under way.
    """
    lines = [_line(after, one) for one in new_happenings(before, after)]
    if after["todo"]["idle"] and not after["finished"] and not (before["ticks"] and before["todo"]["idle"]):
        lines.append(_waits(after))
    return lines


def new_happenings(before: Record, after: Record) -> list[Happening]:
    """The same as data: what happened, what was tried, decided, and found to be a problem."""
    found = after["happenings"][len(before["happenings"]) :]
    found = [*found, *_tried(before, after), *_decided(before, after), *_problems(before, after)]
    return sorted(found, key=lambda one: one["at"])


def _line(record: Record, one: Happening) -> str:
    entry = record["events"].get(one["event"])
    text = one["text"]
    if entry and one["what"] == "shown":
        text = f"{heading(entry)}: {text}"
    elif entry and one["what"] == "tried":
        text = f"to approve {_name(entry)}, by {text}"
    elif entry:
        text = f"{text} ({_name(entry)})"
    return line(record, one["at"], one["what"], text)


def _new(at: float, what: str, text: str, event: str = "", host: str = "") -> Happening:
    return {"at": at, "what": what, "text": text, "event": event, "host": host}


def _about(subject: str, after: Record, what: str, text: str) -> Happening:
    return {"at": after["at"], "what": what, "text": text, "event": "", "host": "", "subject": subject}


def _decided(before: Record, after: Record) -> list[Happening]:
    """What is to be done about an event, when it is shown and whenever that changes."""
    found = []
    for key, entry in after["events"].items():
        earlier = before["events"].get(key)
        same = earlier and (earlier["words"], earlier["action"]) == (entry["words"], entry["action"])
        if not same and entry["gone"] is None:
            # after what has happened in the same tick
            found.append(_new(after["at"], "planned", decision(entry), key))
    return found


def _tried(before: Record, after: Record) -> list[Happening]:
    """Approvals that were not accepted: an accepted one has happened."""
    found = []
    for key, entry in after["events"].items():
        known = len(before["events"][key]["approval"]["attempts"]) if key in before["events"] else 0
        for one in entry["approval"]["attempts"][known:]:
            if one["answer"] != ACCEPTED:
                found.append(_new(one["at"], "tried", f"{one['by']}: {one['answer']}", key, one["by"]))
    return found


def _problems(before: Record, after: Record) -> list[Happening]:
    """A problem that stays at once, any other when it has lasted; and that it is over, if it was said."""
    found = []
    for subject, words in after["problems"].items():
        stays = subject in after["lasting"] and subject not in before["lasting"]
        if stays or (not _is_said(before, subject) and _is_said(after, subject)):
            found.append(_about(subject, after, "problem", words))
    for subject, words in before["problems"].items():
        if _is_said(before, subject) and subject not in after["problems"]:
            found.append(_about(subject, after, "solved", words))
    for subject, words in after["notes"].items():
        if subject not in before["notes"] or not before["ticks"]:
            found.append(_about(subject, after, "note", words))
    return found


def _is_said(record: Record, subject: str) -> bool:
    if subject in record["lasting"]:
        return True
    most = NOBODY_LASTS if _is_unapprovable(record, subject) else LASTS
    lasts = subject in record["since"] and record["at"] - record["since"][subject] >= most
    return lasts and not _is_under_way(record, subject)


def _is_under_way(record: Record, subject: str) -> bool:
    """Whether it would be a problem if the run ended now, as a machine that is just being recovered. What goes wrong with that
    has happened: it is said as such."""
    _who, _colon, what = subject.rpartition(": ")
    entry = _approval_of(record, subject)
    return what == "left" or bool(entry and not entry["hold"] and not _is_unapprovable(record, subject))


def _is_unapprovable(record: Record, subject: str) -> bool:
    entry = _approval_of(record, subject)
    return bool(entry and entry["approval"]["nobody"])


def _approval_of(record: Record, subject: str) -> EventState | None:
    who, _colon, what = subject.rpartition(": ")
    return record["events"].get(who.removeprefix("event ")) if what == "approval" else None


def _waits(record: Record) -> str:
    until = time_of_day(record, record["clock"]["mono"] + record["same"]["wait_timeout"])
    who = list(sentinels(record).values())
    shown = ", ".join(who) if len(who) <= 5 else f"{len(who)} machines"
    return line(record, record["at"], "waits", f"nothing is under way; {shown} poll for new events, until {until}")


def _name(entry: EventState) -> str:
    return f"{entry['type'] or 'event'} {entry['id']}"
