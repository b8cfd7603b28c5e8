# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of a run: one object for each machine, one for each event, one for the run. What follows from them is asked, not kept.

Private to this collection.

Times are the controller's monotonic seconds; ``clock`` ties them to the time of day. Events are known by their key (the id in capitals), hosts
by their name in the inventory. Nothing here says whether a machine is prepared: that is asked of its mark, as it was last seen. Behind each
field stands who writes it. What came from elsewhere, or was decided anew, is put in the place of what was before, and never changed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from .event_state import EventState
from .machine_state import Call, MachineState
from .options import RunOptions, SameOptions

IDLE = "idle"
NEWS = ("tried", "planned", "problem", "solved", "note", IDLE)
"""What of all that happens is said while the run goes on only: its end has it in another form. Of one moment, in this order."""


class Happening(NamedTuple):
    """Something that happened, for people."""

    at: float
    what: str
    text: str
    event: str = ""  # its key
    host: str = ""
    subject: str = ""  # of a problem or a note; the same as long as it is one


@dataclass
class Todo:
    """What is to be called next."""

    calls: dict[str, Call] = field(default_factory=dict)  # by host
    tasks_allowed: list[str] = field(default_factory=list)
    idle: bool = False
    seconds: float = 0.0  # until the first of these calls is due, or something else may be


class GapOfScope(NamedTuple):
    """How long nobody looked at one scope."""

    hosts: list[str]
    since: float
    until: float


@dataclass
class Gap:
    """Scopes at which nobody looked for too long, at the same time and for the same reason."""

    reason: str  # without numbers that differ from machine to machine
    by_machine: str = ""  # for people: who says what
    shared: str = ""  # for people: what they all say
    scopes: dict[str, GapOfScope] = field(default_factory=dict)


class Clock(NamedTuple):
    """One moment by two clocks."""

    mono: float
    wall: float


@dataclass
class Record:
    """A run."""

    run: RunOptions
    same: SameOptions
    clock: Clock  # when it began
    at: float  # when it was last moved on
    hosts: dict[str, MachineState]
    corrected: list[Clock] = field(default_factory=list)  # whenever the time of day was set since
    ticks: int = 0
    events: dict[str, EventState] = field(default_factory=dict)
    watched: dict[str, float] = field(default_factory=dict)  # when a scope was last looked at (coverage.py)
    gaps: dict[str, Gap] = field(default_factory=dict)  # by the subject of the problem (coverage.py)
    lasting: dict[str, str] = field(default_factory=dict)  # problems that no later happening takes back, by subject
    problems: dict[str, str] = field(default_factory=dict)  # these, and what is one now (problems.py)
    since: dict[str, float] = field(default_factory=dict)  # since when each of them has been one, by subject
    notes: dict[str, str] = field(default_factory=dict)
    slow_calls: int = 0  # in a row, of whichever machines (slowness.py)
    happenings: list[Happening] = field(default_factory=list)  # all that a person may hear of, in its order
    busy: bool = False  # termination.py, like what follows
    rounds_done: int = 0
    leaving: bool = False  # it ends after this tick, which lets go of the machines that wait for a confirmation
    finished: bool = False
    todo: Todo = field(default_factory=Todo)  # tick_planner.py
