# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Events outside of their hours: neither prepared for early nor approved, until the hours of all their machines are open. Pure.

Private to this collection.

What Azure is going to do anyway is prepared for in time, hours or not.
"""

from __future__ import annotations

from typing import NamedTuple

from ...module_utils._core.messages import Reason
from ...module_utils._events.hours import Hours, hours_of, opens
from ...module_utils._text import listed
from .capacity import SLACK, Candidate, Turn
from .life import not_before
from .reports import wall_time
from .schema import EventState, Record

NOT_EARLY = 300.0
"""Seconds before its not-before from which on an event is prepared for outside of its hours, too, unless ``prepare_before`` is less."""


class Closed(NamedTuple):
    """Hours that are not open.

    words: which
    opens: the moment of the run at which they open; None when that is not before the event's not-before
    when: that moment for people
    """

    words: str
    opens: float | None
    when: str


def closed(record: Record, entry: EventState, at: float) -> Closed | None:
    """The hours of an event's machines where they are not all open now; None where nothing has to wait for them, as for what has been
    approved, which may start at any moment."""
    return None if entry["approval"]["sent"] else not_open(record, entry, at)


def not_open(record: Record, entry: EventState, at: float) -> Closed | None:
    """The hours of an event's machines where they are not all open now, whether it has been approved or not."""
    several = _hours(entry)
    wall = wall_time(record, at)
    found = opens(list(several), wall, wall + max(not_before(entry) - at, 0.0)) if several else wall
    if found == wall:
        return None
    words = listed(
        f"{hours.words}{f' for {listed(hosts)}' if len(several) > 1 else ''}" for hours, hosts in several.items()
    )
    if found is None:
        return Closed(words, None, "")
    when = next(iter(several)).moment_words(found)
    return Closed(words, at + found - wall, f"{when}, in {in_words(found - wall)}")


def _hours(entry: EventState) -> dict[Hours, list[str]]:
    """All hours of an event's machines, each with its hosts."""
    found: dict[Hours, list[str]] = {}
    texts: dict[str, Hours] = {}
    for host, rule in entry["hours"].items():
        hours = texts.setdefault(repr(rule), hours_of(rule))
        found.setdefault(hours, []).append(host)
    return found


def within_hours(turn: Turn, candidate: Candidate, shut: Closed, holds: bool, approves: bool) -> Turn:
    """The turn of an event whose hours are not open, as people read it: that it is neither prepared for early nor approved is decided
    with all other reasons.

    :arg holds: whether nothing but its hours is the reason why it is left for later
    :arg approves: whether it is to be approved at all
    """
    if turn.state == "later":
        return turn._replace(state="waits", words=turn.words or _waiting_words(candidate, shut)) if holds else turn
    if not holds_up(turn, approves):
        return turn
    then = f"before {shut.when}" if shut.when else "and starts by itself"
    words = f"its hours ({shut.words}) are not open: it is not approved {then}"
    return turn._replace(words="; ".join(part for part in (turn.words, words) if part))


def _waiting_words(candidate: Candidate, shut: Closed) -> str:
    if shut.when:
        return f"it waits for its hours ({shut.words}): they open {shut.when}"
    how = "it is prepared in time, and starts by itself" if candidate.needs else "it starts by itself"
    return f"its hours ({shut.words}) do not open before its not-before: {how}"


def holds_up(turn: Turn, approves: bool) -> bool:
    """Whether an event has to wait for its hours, which are not open, with its preparation or its approval."""
    return turn.state != "later" and not turn.too_large and (turn.state == "waits" or approves)


def outside_hours(shut: Closed) -> Reason:
    """That its hours are not open, as a reason against its approval."""
    when = shut.when or "at its not-before, as they do not open earlier"
    return Reason("outside_hours", words=shut.words, ends=f"by itself {when}")


def resumes(turn: Turn, candidate: Candidate, shut: Closed, at: float) -> float | None:
    """When an event that only waits for its hours is to be decided on again: they open, or its preparation is due."""
    if turn.state != "waits" or turn.too_large or candidate.left <= candidate.near:
        return None  # in the last case it is the capacity that it waits for
    due = at + candidate.left - max(candidate.needs + SLACK, candidate.near)
    return due if shut.opens is None else min(shut.opens, due)


def in_words(seconds: float) -> str:
    """Such as ``40 s``, ``12 min``, ``3 h 5 min``, ``2 d 3 h``"""
    minutes = int(seconds // 60)
    if minutes < 2:
        return f"{seconds:.0f} s"
    hours, minutes = divmod(minutes, 60)
    if not hours:
        return f"{minutes} min"
    days, hours = divmod(hours, 24)
    parts = [(days, "d"), (hours, "h")] if days else [(hours, "h"), (minutes, "min")]
    return " ".join(f"{number} {unit}" for number, unit in parts if number)
