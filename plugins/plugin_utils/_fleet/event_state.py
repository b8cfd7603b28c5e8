# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of an event in a run. See state.py.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ...module_utils._core.decision import Judged
from ...module_utils._core.messages import Reason
from ...module_utils._core.tracked_event import Sighting, TrackedEvent
from ...module_utils._events.event import Event
from ...module_utils._events.hours import Hours
from .machine_state import StepResult


class Whom(NamedTuple):
    """Whom an event affects.

    affected: hosts
    unknown: resources that are no machine of the run
    nameless: hosts that may be among these, as nobody knows their names
    ambiguous: sentences about resources that are several hosts
    """

    affected: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    nameless: tuple[str, ...] = ()
    ambiguous: tuple[str, ...] = ()


class PoliciesDecision(NamedTuple):
    """What the policies of an event's machines say.

    actions: what is done on each machine, by host
    hours: when that may be done early, by host, where that is not always
    start_now: where it is prepared for as soon as it is shown, by host
    action: the strictest of them, which the approval goes by
    rule: the name of the rule that decides on the first machine whose action that is
    words: all of it, for people
    """

    actions: Mapping[str, str] = {}
    hours: Mapping[str, Hours] = {}
    start_now: tuple[str, ...] = ()
    action: str = ""
    rule: str = ""
    words: str = ""


class Against(NamedTuple):
    """What stands against the approval of an event now.

    approves: the policies want it approved, or a person does
    wanted: it may be prepared for, or approved, as far as capacity goes
    only_hours: it may not, and nothing but its hours is the reason
    hold: why it is not approved though the policy wants it
    waits: what its approval waits for
    reasons: all of both
    """

    approves: bool = False
    wanted: bool = False
    only_hours: bool = False
    hold: str = ""
    waits: str = ""
    reasons: tuple[Reason, ...] = ()


class EventTurn(NamedTuple):
    """Whether it is the event's turn.

    state: "turn", "waits", "due", "later"; "" when nothing is to be prepared or approved
    words: for people
    may_prepare: its machines may be prepared
    full: its capacity groups have no room for all of its machines
    capacity: why capacity forbids to approve it
    shut: its hours are not open, and it is held up by that
    resumes: while it only waits for its hours: when they open, or its preparation is due
    too_large: for the capacity of a group, so that it is never approved early
    """

    state: str = ""
    words: str = ""
    may_prepare: bool = False
    full: bool = False
    capacity: str = ""
    shut: bool = False
    resumes: float | None = None
    too_large: bool = False


class HostResult(NamedTuple):
    """How the preparation or the recovery of one machine ended.

    reverted: a recovery: its preparation was undone before its event came
    rebooted: a recovery; None: nobody knows
    """

    ok: bool
    at: float
    seconds: float
    message: str
    steps: dict[str, StepResult]  # by key
    reverted: bool = False
    rebooted: bool | None = None


@dataclass
class Attempt:
    """All approvals that one machine has sent and that had the same answer."""

    by: str  # host
    at: float  # the first
    until: float  # the last
    times: int
    answer: str


class ApprovalTries(NamedTuple):
    """What was tried to approve an event.

    by: whose turn it is, or was last; "" before the first try
    since: since when it is its turn
    last: when it tried last
    tried: who has had its turn since everybody had
    times: how often it was tried
    accepted: who got the answer 200; "" while nobody has
    note: what came of the last try
    """

    by: str = ""
    since: float = 0.0
    last: float = 0.0
    tried: tuple[str, ...] = ()
    times: int = 0
    accepted: str = ""
    note: str = ""


@dataclass
class Approval:
    """What became of the approval of one event."""

    tries: ApprovalTries = ApprovalTries()
    sent: bool = False  # Azure has accepted it
    maybe: bool = False  # Azure may have got it: it was sent, and no answer said that it was refused
    by: str = ""
    at: float | None = None
    nobody: str = ""  # why no machine can send it, though the event is ready; "" when one can
    attempts: list[Attempt] = field(default_factory=list)


@dataclass
class EventState:
    """One event: as it was last seen, and what happened since."""

    tracked: TrackedEvent  # what polls make of it (run_events.py)
    announced: float  # the last tick that showed it before it had started (run_events.py)
    judged: Judged  # by which status and notice the policies have decided (evaluation.py)
    lacking: dict[str, float] = field(default_factory=dict)  # since when others of its scope lack it (scopes.py)
    closed: str = (
        ""  # why the run does not watch it any more, though it may still be there (termination.py, recalled.py)
    )
    # what is to be done
    whom: Whom = Whom()  # evaluation.py
    judged_by: str = ""  # by what else the policies have decided (evaluation.py)
    decided: PoliciesDecision = PoliciesDecision()  # evaluation.py
    against: Against = Against()  # approval_reasons.py
    turn: EventTurn = EventTurn()  # evaluation.py
    # what was done: for people, as the barrier goes by the marks (outages.py)
    prepared: dict[str, HostResult] = field(default_factory=dict)  # by host
    failed: dict[str, str] = field(default_factory=dict)  # by host: why it could not be prepared
    restarted: dict[str, float] = field(default_factory=dict)  # by host: since when what was done counts no more
    unprepared: dict[str, str] = field(default_factory=dict)  # by host: how it was found in service (reached.py)
    recovered: dict[str, HostResult] = field(default_factory=dict)  # by host
    approval: Approval = field(default_factory=Approval)  # approving.py

    @property
    def event(self) -> Event:
        """As it was last seen."""
        return self.tracked.event

    @property
    def key(self) -> str:
        return self.event.key

    @property
    def affected(self) -> tuple[str, ...]:
        return self.whom.affected

    @property
    def sightings(self) -> Mapping[str, Sighting]:
        """By host."""
        return self.tracked.sightings

    @property
    def shown(self) -> float:
        return self.tracked.shown

    @property
    def started(self) -> float | None:
        return self.tracked.started

    @property
    def gone(self) -> float | None:
        return self.tracked.gone
