# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the controller is too slow for its machines, which a person can only see from what a run says. It changes the record, and nothing else.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ...module_utils._core.messages import title
from .machine_state import Call, MachineState
from .reports import happened, has_happened
from .run_events import Look, not_before
from .state import Record

SLOW = 5.0
"""Seconds that a call has to take to count as slow, and so many times the shortest one to the machine."""

IN_A_ROW = 5
"""Slow calls after which it is said."""

WHAT = "slow"


def duration(call: Call, ended: float) -> float:
    """Seconds that a call took.

    :arg ended: when its answer came
    """
    return ended - max(call["decided"], call["due"])


def note_duration(record: Record, machine: MachineState, call: Call, ended: float) -> None:
    """How long a call took that only looked once."""
    if any(request["do"] != "look" or request.get("wait") for request in call["requests"]):
        return
    took = duration(call, ended)
    machine.quickest = quickest = min(took, machine.quickest or took)
    record.slow_calls = record.slow_calls + 1 if took > max(SLOW, SLOW * quickest) else 0
    if record.slow_calls == IN_A_ROW and not has_happened(record, WHAT, "", ""):
        words = f"The last {IN_A_ROW} calls of machines were slow, the one of {machine.host} took {took:.1f} s, and {quickest:.1f} s before"
        happened(record, WHAT, f"{words}: this controller is busy. Events are handled all the same, later", at=ended)


def note_late(record: Record, looks: Iterable[Look], known: Collection[str]) -> None:
    """That most of an event's notice had gone by when it was seen for the first time.

    :arg known: the keys of the events that were seen before
    """
    for look in looks:
        scope = record.hosts[look.host].scope
        polled = look.asked if look.since < look.asked else record.watched.get(scope)
        if polled is None:
            continue
        for key in look.keys.difference(known):
            left = not_before(record.events[key]) - record.at
            if SLOW < left < record.at - polled and not has_happened(record, WHAT, key, ""):
                since = f"{record.at - polled:.0f} s after the poll before"
                words = (
                    f"{title(record.events[key].event)} was first seen {since}, with {left:.0f} s of its notice left"
                )
                happened(record, WHAT, f"{words}: this controller or its machines are busy", key)
