# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The record as lines for a person. Pure.

Private to this collection.
"""

from __future__ import annotations

from ...module_utils._core.decision import acts
from ...module_utils._text import listed, one_line
from .approving import ACCEPTED
from .life import is_open, not_before
from .reports import time_of_day
from .schema import Attempt, EventState, Happening, Record

ACTION_WORDS = {
    "approve": "approve at once",
    "prepare_and_approve": "prepare, then approve",
    "hold": "prepare, then wait for a person",
    "prepare": "prepare, do not approve",
    "notify": "only show",
    "ignore": "ignore",
    "": "leave alone",
}


MOST = 2000
"""Characters of a line, which may hold what came from anywhere: it is printed on terminals."""


def lines(record: Record) -> list[str]:
    """Every event of the run, oldest first: what happened when, to which machine; then what concerns no event."""
    said: list[str] = []
    for key, entry in sorted(record["events"].items(), key=lambda item: item[1]["shown"]):
        said.append(heading(entry))
        said.extend(_lines(record, [one for one in record["happenings"] if one["event"] == key], entry))
    others = [one for one in record["happenings"] if not one["event"]]
    if others:
        said.append("Besides")
        said.extend(_lines(record, others))
    return said or [_nothing(record, "No event was shown.")]


def end_lines(record: Record, notes: list[str], problems: list[str]) -> list[str]:
    """What is said at the end: the timeline, in check mode the plan, what people may want to know, what is left for them."""
    said = plan_lines(record) if record["run"]["check"] else lines(record)
    for title, sentences in (("Notes", notes), ("Left for a person", problems)):
        said += [title, *(f"  {one_line(one, MOST)}" for one in sentences)] if sentences else []
    return said


def plan_lines(record: Record) -> list[str]:
    """What the run is about to do, before it does it."""
    said = [f"{heading(entry)}: {decision(entry)}" for entry in record["events"].values() if is_open(entry)]
    return said or [_nothing(record, "No event is shown: there is nothing to do.")]


def _nothing(record: Record, words: str) -> str:
    """What is said where no event was seen, which is another thing where nobody could see any."""
    blind = all(
        machine["looked"] is None and (machine["look_problem"] or machine["lost"])
        for machine in record["hosts"].values()
    )
    return "No machine could see its events: whether there are any is not known." if blind else words


def _lines(record: Record, happenings: list[Happening], entry: EventState | None = None) -> list[str]:
    found = [(one["at"], one["what"], one["text"]) for one in happenings]
    if entry:
        found.append((entry["shown"], "planned", decision(entry)))
        found += [
            (one["at"], "tried", _tried_words(one))
            for one in entry["approval"]["attempts"]
            if one["answer"] != ACCEPTED
        ]
    found.sort(key=lambda one: (one[0], one[1] == "planned"))
    return [f"  {line(record, at, what, text)}" for at, what, text in found]


def _tried_words(attempt: Attempt) -> str:
    """An approval that was not accepted, as far as anybody knows."""
    times = f" ({attempt['times']} times)" if attempt["times"] > 1 else ""
    return f"to approve it, by {attempt['by']}: {attempt['answer']}{times}"


def line(record: Record, at: float, what: str, text: str) -> str:
    """What happened when."""
    return f"{time_of_day(record, at)}  {what:<9}  {one_line(text, MOST)}".rstrip()


def heading(entry: EventState) -> str:
    """An event, and whom it affects."""
    machines = listed(entry["affected"]) or "none of ours"
    source = entry["source"] or "source unknown"
    words = f"{entry['type'] or 'An event'} {entry['id']} ({source}) affects {listed(entry['resources'])} ({machines})"
    return one_line(words, MOST)


def decision(entry: EventState) -> str:
    """What is to be done about an event, and why."""
    parts = [entry["words"] or ACTION_WORDS[entry["action"]]]
    if any(map(acts, entry["actions"].values())) and entry["started"] is None:
        notice = not_before(entry) - entry["shown"]
        parts.append(f"{notice:.0f} s after it was shown at the latest" if notice > 0 else "its time is over")
        parts += [words for words in (entry["turn_words"], entry["hold"] and f"not approved: {entry['hold']}") if words]
    return "; ".join(parts)
