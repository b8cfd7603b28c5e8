# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What became of each machine, for Ansible's recap. Pure.

Private to this collection.
"""

from __future__ import annotations

from typing import TypedDict

from ...module_utils._core.mark_view import RUN, WATCHER
from ...module_utils._text import listed
from .event_state import EventState
from .machine_state import MachineState
from .marks import holder_words, is_its_watchers, watcher_prepares, whose
from .result import name_of
from .state import Record


class Became(TypedDict):
    """What became of a machine, and as what it counts; as ok where it is neither."""

    words: list[str]
    changed: bool
    failed: bool


def became(record: Record) -> dict[str, Became]:
    """Of each machine that an event named, or that is a problem itself, by host."""
    found: dict[str, Became] = {}
    for host, machine in record.hosts.items():
        entries = [entry for entry in record.events.values() if host in entry.affected]
        problems = {
            subject: words for subject, words in record.problems.items() if subject.startswith(f"machine {host}: ")
        }
        handled = handled_by(record, machine)
        if entries or problems:
            said = [f"{name_of(entry)}: {_words(entry, host)}" for entry in entries]
            # Why it stays out of service is among these.
            unsaid = [words for subject, words in problems.items() if not (entries and subject.endswith(": left"))]
            found[host] = {
                "words": [*said, *([f"handled by {handled}"] if handled else []), *unsaid],
                "changed": not handled and any(_done(entry, host) for entry in entries),
                "failed": bool(problems) or any(_wrong(entry, host) for entry in entries),
            }
    return found


def handled_by(record: Record, machine: MachineState) -> str:
    """Who else takes care of the machine: its own watcher, or a run that lives; "" where nobody does."""
    owner = whose(record, machine)
    if owner == RUN or (owner == WATCHER and is_its_watchers(machine)):
        return holder_words(machine)
    return "its watcher" if watcher_prepares(machine) else ""


def _words(entry: EventState, host: str) -> str:
    return _wrong(entry, host) or listed(_done(entry, host)) or "nothing was done"


def _done(entry: EventState, host: str) -> list[str]:
    done = {"prepared": entry.prepared.get(host), "recovered": entry.recovered.get(host)}
    return [what for what, result in done.items() if result and result.ok]


def _wrong(entry: EventState, host: str) -> str:
    recovered = entry.recovered.get(host)
    stuck = f"not recovered: {recovered.message}" if recovered and not recovered.ok else ""
    return entry.failed.get(host) or entry.unprepared.get(host) or stuck
