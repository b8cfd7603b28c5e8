# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The record as lines for a person. Pure.

Private to this collection.
"""

from __future__ import annotations

from ...module_utils._text import listed
from .life import is_open, not_before
from .policies import APPROVING, PREPARING
from .reports import time_of_day
from .schema import EventState, Happening, Record

ACTION_WORDS = {
    "approve": "approve at once",
    "prepare_and_approve": "prepare, then approve",
    "hold": "prepare, then wait for a person",
    "prepare": "prepare, do not approve",
    "notify": "only show",
    "ignore": "ignore",
    "": "leave alone",
}


def lines(record: Record) -> list[str]:
    """Every event of the run, oldest first: what happened when, to which machine; then what concerns no event."""
    said: list[str] = []
    for key, entry in sorted(record["events"].items(), key=lambda item: item[1]["shown"]):
        said.append(_title(entry))
        said.extend(_lines(record, [one for one in record["happenings"] if one["event"] == key], entry))
    others = [one for one in record["happenings"] if not one["event"]]
    if others:
        said.append("Besides")
        said.extend(_lines(record, others))
    return said or ["No event was shown."]


def plan_lines(record: Record) -> list[str]:
    """What the run is about to do, before it does it."""
    said = [f"{_title(entry)}: {_decision(entry)}" for entry in record["events"].values() if is_open(entry)]
    return said or ["No event is shown: there is nothing to do."]


def _lines(record: Record, happenings: list[Happening], entry: EventState | None = None) -> list[str]:
    found = [(one["at"], one["what"], one["text"]) for one in happenings]
    if entry:
        found.append((entry["shown"], "planned", _decision(entry)))
    found.sort(key=lambda one: (one[0], one[1] == "planned"))
    return [f"  {time_of_day(record, at)}  {what:<9}  {text}".rstrip() for at, what, text in found]


def _title(entry: EventState) -> str:
    machines = listed(entry["affected"]) or "none of ours"
    source = entry["source"] or "source unknown"
    return f"{entry['type'] or 'An event'} {entry['id']} ({source}) affects {listed(entry['resources'])} ({machines})"


def _decision(entry: EventState) -> str:
    parts = [entry["words"] or ACTION_WORDS[entry["action"]]]
    kinds = set(entry["actions"].values())
    if kinds.intersection((*PREPARING, *APPROVING)) and entry["started"] is None:
        notice = not_before(entry) - entry["shown"]
        parts.append(f"{notice:.0f} s after it was shown at the latest" if notice > 0 else "its time is over")
        parts += [words for words in (entry["turn_words"], entry["hold"] and f"not approved: {entry['hold']}") if words]
    return "; ".join(parts)
