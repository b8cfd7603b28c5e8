# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a person hears while a run goes on. All of it stands in the record's list of what happened, in its order: the timeline leaves out what its
end has in another form (``NEWS``). It changes the record, and nothing else.

Private to this collection.
"""

from __future__ import annotations

from typing import NamedTuple

from .event_state import EventState
from .reports import happened, time_of_day
from .result import all_are_blind, decision, heading, line, name_of
from .scopes import sentinels
from .state import IDLE, NEWS, Happening, Record

LASTS = 30.0
"""Seconds after which a problem is said while the run goes on: many are over in the next tick."""

NOBODY_LASTS = 10.0
"""The same where no machine can approve an event that is ready: its notice may be short."""


class Known(NamedTuple):
    """What a person could know before a pass.

    plans: of each event the words and the action that were decided
    problems: that were said, by subject
    lasting, notes: their subjects
    idle: that the run waits for events
    """

    plans: dict[str, tuple[str, str]]
    problems: dict[str, str]
    lasting: frozenset[str]
    notes: frozenset[str]
    idle: bool


def known(record: Record) -> Known:
    return Known(
        {key: (entry.decided.words, entry.decided.action) for key, entry in record.events.items()},
        {subject: words for subject, words in record.problems.items() if _is_said(record, subject)},
        frozenset(record.lasting),
        frozenset(record.notes if record.ticks else ()),
        bool(record.ticks) and record.todo.idle,
    )


def note_news(record: Record, before: Known) -> None:
    """Keep what a pass has decided and found: what has happened and what was tried is kept by then."""
    for key, entry in record.events.items():
        if before.plans.get(key) != (entry.decided.words, entry.decided.action) and entry.gone is None:
            happened(record, "planned", decision(entry), key)
    for subject, words in record.problems.items():
        stays = subject in record.lasting and subject not in before.lasting
        if stays or (subject not in before.problems and _is_said(record, subject)):
            _note(record, subject, "problem", words)
    for subject, words in before.problems.items():
        if subject not in record.problems:
            _note(record, subject, "solved", words)
    for subject, words in record.notes.items():
        if subject not in before.notes:
            _note(record, subject, "note", words)
    if record.todo.idle and not (record.finished or before.idle):
        happened(record, IDLE, _waits(record))


def _note(record: Record, subject: str, what: str, text: str) -> None:
    """A problem that stays is kept at once, any other when it has lasted; and that it is over, if it was said."""
    record.happenings.append(Happening(record.at, what, text, subject=subject))


def _is_said(record: Record, subject: str) -> bool:
    if subject in record.lasting:
        return True
    most = NOBODY_LASTS if _is_unapprovable(record, subject) else LASTS
    lasts = subject in record.since and record.at - record.since[subject] >= most
    return lasts and not _is_under_way(record, subject)


def _is_under_way(record: Record, subject: str) -> bool:
    """Whether it would be a problem if the run ended now, as a machine that is just being recovered. What goes wrong with that
    has happened: it is said as such."""
    _who, _colon, what = subject.rpartition(": ")
    entry = _approval_of(record, subject)
    return what == "left" or bool(entry and not entry.against.hold and not _is_unapprovable(record, subject))


def _is_unapprovable(record: Record, subject: str) -> bool:
    entry = _approval_of(record, subject)
    return bool(entry and entry.approval.nobody)


def _approval_of(record: Record, subject: str) -> EventState | None:
    who, _colon, what = subject.rpartition(": ")
    return record.events.get(who.removeprefix("event ")) if what == "approval" else None


def _waits(record: Record) -> str:
    until = time_of_day(record, record.clock.mono + record.same.wait_timeout)
    who = list(sentinels(record).values())
    shown = ", ".join(who) if len(who) <= 5 else f"{len(who)} machines"
    poll = "polls" if len(who) == 1 else "poll"
    what = "no machine could see its events so far" if all_are_blind(record) else "nothing is under way"
    return f"{what}; {shown} {poll} for new events, until {until}"


# ---- as lines ----


def happenings_since(record: Record, number: int) -> list[Happening]:
    """What happened after so many that are known, in its order; of one moment, what was done comes before what was decided."""
    new = record.happenings[number:]
    return sorted(new, key=lambda one: (one.at, NEWS.index(one.what) + 1 if one.what in NEWS else 0))


def news(record: Record, number: int) -> list[str]:
    """The same as lines. What concerns an event names it at the end of the line, as several may be under way."""
    return [_line(record, one) for one in happenings_since(record, number)]


def _line(record: Record, one: Happening) -> str:
    entry = record.events.get(one.event)
    text = one.text
    if entry and one.what == "shown":
        text = f"{heading(entry)}: {text}"
    elif entry and one.what == "tried":
        text = f"to approve {name_of(entry)}, by {text}"
    elif entry:
        text = f"{text} ({name_of(entry)})"
    return line(record, one.at, "waits" if one.what == IDLE else one.what, text)
