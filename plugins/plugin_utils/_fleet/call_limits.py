# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a machine may be called, and how long that call may take: nobody waits long for one that is slow, or dead. Pure.

Private to this collection.
"""

from __future__ import annotations

import math

from .capacity import SLACK
from .evaluation import is_given_up, is_handled, needs_preparation, took_away
from .event_terms import preparation_end, seconds_needed
from .hosts import back_off
from .marks import mark_keys, phase
from .poll_schedule import bears_ours, spot_scopes
from .run_events import is_open
from .schema import MachineState, Record

LIMIT = 10.0
"""Seconds for a call that does not wait."""

LIMIT_WINDOWS = 60.0
"""The same for a Windows machine, for up to two starts of PowerShell: over WinRM, on a small VM with a virus scanner, each takes long."""

LIMIT_WINDOWS_SHARED = 20.0
"""The same while others have work and wait for it. Where that was too short, the next one has more."""

HELD_UP = 120.0
"""Seconds for which one that may be dead waits for a call until another one that may be has been silent: then it is called all the same."""

STARTS = 3.0
"""So many times what the last start of PowerShell took may a call take: two starts, and some more."""

LIMIT_LOST = 6.0
"""Seconds for a call to a machine from which nothing came back before: whoever is ready waits for it."""

WINDOWS_EVERY = 3
"""Windows machines are called on every third tick: a call costs them seconds."""

WINDOWS_AFTER = 12.0
"""Seconds after which they are called all the same, where ticks are slow because somebody hangs."""

WINDOWS_AFTER_SPOT = 5.0
"""The same for those of a scope that has a Spot machine."""


def may_be_called(record: Record, host: str, at_once: bool, at: float) -> bool:
    machine = record["hosts"][host]
    if machine["aside"] or at < machine["again"]:
        return False
    if machine["is_linux"]:
        return True
    after = WINDOWS_AFTER_SPOT if machine["scope"] in spot_scopes(record) else WINDOWS_AFTER
    turn = record["ticks"] % WINDOWS_EVERY == 0 or at - record["windows"] >= after
    # For a slow one, and one that may be dead, the others wait at most half of the time.
    takes = STARTS * machine["start"]
    if takes > LIMIT_WINDOWS_SHARED and machine["answered"] is not None:
        turn = at - machine["answered"] >= takes
    if machine["failures"] and _concerned(record, at) - {host}:
        # All that may be dead are called at one time: by turns they would hold the others up all the time.
        lost = max(
            one["again"] - back_off(one["failures"])
            for one in record["hosts"].values()
            if one["failures"] and not one["is_linux"]
        )
        if at - machine["again"] < HELD_UP and at - lost < min(
            _longest(machine), _shared(machine, machine["failures"] - 1)
        ):
            return False
    return at_once or turn or not _linux_under_way(record, at)


def _linux_under_way(record: Record, at: float) -> bool:
    """Whether a Linux machine would have to wait for Windows ones."""
    return any(record["hosts"][host]["is_linux"] for host in _concerned(record, at))


def _concerned(record: Record, at: float) -> set[str]:
    """The hosts that have something under way, or see an event that others are prepared for."""
    concerned = {host for entry in record["events"].values() if is_handled(entry) for host in entry["sightings"]}
    concerned |= {host for entry in record["events"].values() if is_handled(entry) for host in entry["affected"]}
    concerned |= {host for host, machine in record["hosts"].items() if bears_ours(record, machine, at)}
    return concerned


def seconds_limit(record: Record, machine: MachineState, at: float) -> float:
    """Seconds that a call may take beside what it waits."""
    if machine["is_linux"]:
        limit = machine["call_timeout"] or LIMIT
        return min(limit, LIMIT_LOST) if machine["failures"] else limit
    if not _concerned(record, at) - {machine["host"]}:
        return _longest(machine)
    limit = min(_longest(machine), _shared(machine, machine["failures"]))
    if took_away(record, machine["host"]):
        return LIMIT_WINDOWS_SHARED
    return min(limit, max(LIMIT_WINDOWS_SHARED, _spare(record, machine, at))) if machine["failures"] else limit


def _spare(record: Record, machine: MachineState, at: float) -> float:
    """Seconds before the preparation of another machine has to begin: a call from which perhaps nothing comes back must end before."""
    return min(
        (
            preparation_end(entry, other) - seconds_needed(other) - SLACK - at
            for key, entry in record["events"].items()
            if is_open(entry) and entry["started"] is None and not is_given_up(entry)
            for other in (record["hosts"][host] for host in entry["affected"])
            if other is not machine and not other["lost"] and needs_preparation(entry, other["host"])
            if not (phase(other) == "prepared" and key in mark_keys(other))
        ),
        default=math.inf,
    )


def _longest(machine: MachineState) -> float:
    return machine["call_timeout"] or LIMIT_WINDOWS


def _shared(machine: MachineState, failures: int) -> float:
    """Seconds that a Windows machine seems to need after so many calls that had to be ended."""
    return float(max(LIMIT_WINDOWS_SHARED, STARTS * machine["start"]) * 2.0 ** min(failures, 10))
