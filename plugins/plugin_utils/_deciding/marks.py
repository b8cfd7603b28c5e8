# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Marks as the controller sees them: whose one is, whether its holder still lives, what a machine is prepared for. Pure.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...module_utils._core import mark_view as core
from ...module_utils._steps.sequence import BEGUN, DONE
from ...module_utils._text import clause, one_line
from .asked import since_words
from .schema import MachineState, Record
from .services import is_made_for

NOBODY = "nobody"
OURS = core.OURS
WATCHER = core.WATCHER
DRAIN = "drain"  # role drain alone: only its own recovery takes it back
RUN = "run"  # another run, which lives as far as is known
LEFT = "left"  # a run that has not renewed its lease
UNREADABLE = "unreadable"  # or of a newer format
FOREIGN = "foreign"  # made for another metadata service: a rehearsal's, or in a rehearsal a real one


def whose(record: Record, machine: MachineState, at: float) -> str:
    """Whose the machine's mark is, as it was last seen."""
    mark = machine["mark"]
    if mark is None:
        return NOBODY
    if "unreadable" in mark:
        return UNREADABLE
    holder = mark["holder"]
    if holder["kind"] == "drain":
        return DRAIN
    if holder["run"] == record["run"]["run"]:
        return OURS
    if not is_made_for(mark, machine["endpoint"]):
        return FOREIGN
    if holder["kind"] == "watcher":
        return WATCHER  # alive or not: what it leaves is nobody else's
    return LEFT if is_expired(machine, at) else RUN


def is_expired(machine: MachineState, at: float) -> bool:
    """Whether the lease of the machine's mark is over: by the machine's uptime, or else by how long it has not been renewed."""
    lease = (machine["mark"] or {})["lease"]
    if machine["boot_id"] and machine["boot_id"] != lease["boot_id"]:
        return True
    if machine["uptime"] is not None and machine["mark_at"] is not None:
        return bool(machine["uptime"] + at - machine["mark_at"] >= lease["until"])
    return bool(at - (machine["mark_since"] or at) >= lease["until"] - lease["uptime"])


def mark_keys(machine: MachineState) -> list[str]:
    """The keys of the events in its mark."""
    return [str(event_id).upper() for event_id in (machine["mark"] or {}).get("events") or ()]


def phase(machine: MachineState) -> str:
    """The phase of its mark; "" where it has none that can be read."""
    return str((machine["mark"] or {}).get("phase") or "")


def is_prepared(record: Record, machine: MachineState, key: str, at: float) -> bool:
    """Whether its mark says now that it is prepared for an event, by this run or by its own watcher.

    What it said before another event of it was approved, or seen to start, counts no more: that may have rebooted it.
    """
    said = machine["mark_at"]
    age = None if said is None or _was_affected_since(record, machine, key, said) else at - said
    return _is_prepared(record, machine, key, at, age)


def _was_affected_since(record: Record, machine: MachineState, key: str, at: float) -> bool:
    others = [
        entry for other, entry in record["events"].items() if other != key and machine["host"] in entry["affected"]
    ]
    moments = [
        moment for entry in others for moment in (entry["started"], entry["approval"]["at"]) if moment is not None
    ]
    return any(moment >= at for moment in moments)


def was_prepared(record: Record, machine: MachineState, key: str, at: float) -> bool:
    """Whether it said so when the machine last answered, however long ago that was."""
    return _is_prepared(record, machine, key, at, 0.0)


def _is_prepared(record: Record, machine: MachineState, key: str, at: float, age: float | None) -> bool:
    owner, watcher = whose(record, machine, at), machine["watcher"]
    left_out = owner == WATCHER and bool(watcher and watcher["lacks"])
    view = core.mark_view(machine["mark"], owner)
    return core.is_prepared_for(view, key, machine["boot_id"], age, machine["start"], left_out)


def has_restarted(machine: MachineState) -> bool:
    """Whether the machine was started anew since the steps of its mark were begun, whatever the reason was."""
    mark = machine["mark"]
    if not mark or "unreadable" in mark:
        return False
    return bool(machine["boot_id"]) and machine["boot_id"] != core.prepared_under(mark)


def is_all_done(machine: MachineState) -> bool:
    """Whether nothing but its mark keeps the machine from being prepared: its steps have been done, as far as others have just said."""
    outcomes = machine["outcomes"]

    def is_done(entry: Mapping[str, Any]) -> bool:
        came = outcomes.get(entry["key"]) or {}
        is_over = entry["state"] == BEGUN and came.get("state") == "done"
        return entry["state"] == DONE or is_over or not entry["words"]

    steps = (machine["mark"] or {}).get("steps") or []
    return phase(machine) == "preparing" and bool(steps) and all(is_done(entry) for entry in steps)


def holder_words(machine: MachineState) -> str:
    """Whose the mark is, and since when, for people."""
    mark = machine["mark"] or {}
    if "unreadable" in mark:
        return f"a mark that can't be read ({clause(mark['unreadable'])})"
    holder = mark["holder"]
    job = f" (job {one_line(holder['job'])})" if holder.get("job") else ""
    where = f" of {one_line(holder['controller'])}" if holder.get("controller") else ""
    whose = " ".join(word for word in (holder["kind"] or "run", one_line(holder["run"])) if word)
    return f"{whose}{job}{where}{since_words(mark)}"
