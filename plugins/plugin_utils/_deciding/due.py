# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""By when a run's machines have to be prepared: the core's answer, asked of the record. Pure.

Private to this collection.
"""

from __future__ import annotations

from ...module_utils._core import deadlines
from ...module_utils._core.deadlines import LATER, Terms
from ...module_utils._core.tracked_event import TrackedEvent
from ...module_utils._events.event import Event
from .capacity import SLACK
from .marks import mark_keys
from .schema import EventState, MachineState, Record

PER_STEP = 4.0
"""Seconds from one step to the next: a tick, where they are not all done in one call."""

PER_STEP_WINDOWS = 10.0

SHARE_OF_NOTICE_FOR_MARGIN = 0.25
"""Of the notice, that a margin takes at most: a run decides once a tick, and that has to fit into a Preempt's 30 s (S4.13)."""


def tracked(entry: EventState) -> TrackedEvent:
    """An event as far as deadlines ask: all of it, for each question of each machine, would be half of a tick's time."""
    event = Event(entry["id"], entry["type"], entry["status"], "", (), (), "", None, "", "", None)
    return TrackedEvent(
        event,
        entry["shown"],
        entry["notice"],
        frozenset(),
        {},
        entry["deadline"],
        entry["deadline_notice"],
        entry["started"],
        gone=entry["gone"],
    )


def terms(machine: MachineState) -> Terms:
    """What a machine needs to be prepared and recovered."""
    options = machine["options"]
    return Terms(
        margin=options["margin"],
        share=SHARE_OF_NOTICE_FOR_MARGIN,
        prepare_before=options["prepare_before"],
        limits=seconds_needed(machine),
        undo_limits=machine["undo_needs"],
        slack=SLACK,
    )


def seconds_needed(machine: MachineState) -> float:
    """How long its preparation may take."""
    return machine["needs"] + machine["steps"] * (PER_STEP if machine["is_linux"] else PER_STEP_WINDOWS)


def preparation_end(entry: EventState, machine: MachineState) -> float:
    """When a machine has to be prepared: at not-before, less its margin, a share of the notice that this not-before came with."""
    return deadlines.prepared_by(tracked(entry), terms(machine))


def wanted_from(entry: EventState, machine: MachineState) -> float:
    """When the machine begins to be prepared for an event that is not approved."""
    return deadlines.wanted_from(tracked(entry), terms(machine))


def is_last_call(entry: EventState) -> bool:
    """Whether it has started, and takes its machines away: what is not done now will never be."""
    return deadlines.is_last_call(tracked(entry))


def must_prepare(entry: EventState, machine: MachineState, at: float) -> bool:
    """Whether the time that is left has come to where the machine has to be prepared."""
    return entry["turn"] == "due" or deadlines.urgency(tracked(entry), terms(machine), at) != LATER


def may_come_now(entry: EventState, machine: MachineState, key: str, at: float) -> bool:
    """Whether the machine is prepared for it though its time has come: nobody knows when it starts."""
    return deadlines.may_come_now(tracked(entry), begun(machine, key), at)


def begun(machine: MachineState, key: str) -> float | None:
    """When its preparation for an event was begun; None where it was not."""
    return machine["begun"] if key in mark_keys(machine) else None


def is_late(record: Record, entry: EventState, machine: MachineState) -> bool:
    """Whether the machine became prepared, be it for another event, when it should have been already: by whomever, such an event is not
    approved."""
    marked = [record["events"][key] for key in mark_keys(machine) if key in record["events"]]
    results = [one["prepared"].get(machine["host"]) for one in (entry, *marked)]
    moments = [result["at"] for result in results if result and result["ok"]]
    return bool(moments) and min(moments) > preparation_end(entry, machine)
