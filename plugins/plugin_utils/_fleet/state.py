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

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypedDict

from ...module_utils._core.decision import Judged
from ...module_utils._core.messages import Reason
from ...module_utils._core.second_look import SecondLook
from ...module_utils._core.tracked_event import Sighting, TrackedEvent
from ...module_utils._events.event import Event
from ...module_utils._events.hours import Hours
from .options import Host, HostOptions, RunOptions, SameOptions

# ---- a machine ----


class Identity(NamedTuple):
    """Who a machine is, by its own metadata service.

    asked: when it last answered that question
    name: in Azure; "" as long as it has not said it
    domain: its zone, else its fault domain, for people; "" where the service says neither
    spot: it may be evicted
    problem: what it could not learn
    """

    asked: float | None = None
    name: str = ""
    vm_id: str = ""
    placement_group: str = ""
    domain: str = ""
    spot: bool = False
    problem: str = ""


class Seen(NamedTuple):
    """What a machine was shown last.

    at: when it last had a document
    problem: why its last look brought none; "" when it did
    shows: keys of the events of that document
    unreadable: keys of what it has and that can't be read; "" of what may be any event
    """

    at: float | None = None
    problem: str = ""
    incarnation: int | None = None
    shows: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()


class Watcher(TypedDict):
    """What the machine's own watcher says of itself."""

    mode: str  # manage or observe
    version: str
    endpoint: str  # of the metadata service that it looks at; "" where that is not known
    alive: bool  # it was heard of lately
    lacks: list[str]  # the inventory's steps that it does not have, in words
    prepares: bool  # it has steps or hooks to prepare the machine by


class Said(NamedTuple):
    """What a machine said with its last answer, whatever it was asked.

    at: when it said so; None before the first
    mark: as it gives it, or that it has none
    uptime: in seconds, where it says it
    disk: what tells the disk that its mark is on from another one; "" where that is not known
    heard: its uptime when the answer came, as the action that called it has noted it
    confirmations: keys of the events that a person has confirmed
    recovered_by_force: keys of the events despite which a person has recovered it
    hold: a person's word that nothing is to be approved
    watcher: its own, as it was last heard of
    """

    at: float | None = None
    mark: dict[str, Any] | None = None
    uptime: float | None = None
    boot_id: str = ""
    disk: str = ""
    heard: dict[str, Any] | None = None
    confirmations: tuple[str, ...] = ()
    recovered_by_force: tuple[str, ...] = ()
    hold: dict[str, Any] | None = None
    watcher: Watcher | None = None


class StepResult(NamedTuple):
    """How far one step of a machine got, as its mark has it."""

    state: str
    seconds: float
    note: str


class InVain(NamedTuple):
    """Calls in a row.

    failures: that brought nothing back
    hung: that lasted until their limit
    """

    failures: int = 0
    hung: int = 0


class RecoveryTries(NamedTuple):
    """Recoveries that failed since the machine could be recovered; at: the last."""

    at: float | None = None
    times: int = 0


class Elsewhere(NamedTuple):
    """What others have done for a machine; its next call hands it on.

    outcomes: of steps, by key
    before: what they were asked for the initial state, by step
    jobs: what they have gone about, by attempt: what the next look at that has to know
    """

    outcomes: Mapping[str, Any] = {}
    before: Mapping[str, Any] = {}
    jobs: Mapping[str, Any] = {}


KEPT, PUT_BACK = "kept", "put back"


@dataclass
class MachineState:
    """A machine: what was said of it, and how it was last seen."""

    given: Host  # by the inventory
    # who it is
    who: Identity  # hosts.py
    scope: str  # declared, its placement group, or learned (hosts.py, scopes.py)
    split: bool = False  # its scope turned out to be none: it looks for itself (scopes.py)
    aside: str = ""  # why it takes no part: it is the same machine as another host (hosts.py)
    # how it is reached: tick_planner.py sends, hosts.py takes the answer
    number: int = 0  # of the last call
    flying: Call | None = None  # the call that was sent and has not been answered
    perhaps: list[str] = field(default_factory=list)  # events that only this call may have approved (approving.py)
    answered: float | None = None
    lost: str = ""  # why the last call brought nothing back
    left: bool = False  # it has left the play, and no task reaches it any more
    in_vain: InVain = InVain()
    again: float = 0.0  # not called before
    quickest: float = 0.0  # seconds that the shortest call took that only looked; 0 before the first (slowness.py)
    # what it was seen with
    seen: Seen = Seen()  # answers.py
    said: Said = Said()  # hosts.py
    mark_since: float | None = None  # since when it has been seen with this lease (hosts.py)
    renewals: int = 0  # how often its holder has renewed its mark since that was first seen (hosts.py)
    lost_mark: str = ""  # KEPT: it is gone since a reboot, and `said` has what was known of it; PUT_BACK: it was, in this outage (lost_marks.py)
    # what is under way: outages.py
    begun: float | None = None  # since when a preparation may be under way: it was asked for, or found
    unbegun: float | None = None  # when its preparation last could not begin
    recovering: float | None = None  # since when it could be recovered
    tries: RecoveryTries = RecoveryTries()
    undone: float | None = None  # when it was last seen to be put back, or without the mark that it had
    restarted: float | None = None  # when it was last seen that a start of it has undone what was done
    second_look: SecondLook = SecondLook()  # at what was done, once it is prepared
    why: str = ""  # what its last answer to go said
    elsewhere: Elsewhere = Elsewhere()  # answers.py
    steps_done: dict[str, dict[str, StepResult]] = field(default_factory=dict)  # of this outage, by "do" and "undo"

    @property
    def host(self) -> str:
        return self.given.host

    @property
    def options(self) -> HostOptions:
        return self.given.options

    @property
    def name(self) -> str:
        """In Azure; "" as long as nobody knows it."""
        return self.who.name or self.given.resource_name

    @property
    def is_known(self) -> bool:
        """Whether it has said who it is, and nothing is left to ask for."""
        return bool(self.who.name) and not self.who.problem

    @property
    def mark(self) -> dict[str, Any] | None:
        return self.said.mark


# ---- an event ----


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


# ---- the run ----


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


class Call(TypedDict):
    """One call of the machine program, as it is sent."""

    requests: list[dict[str, Any]]
    run: str
    number: int
    seconds: float
    resource_name: str  # "" where its metadata service is to be asked
    vm_id: str  # as that has said it; it stands in the mark
    heard: dict[str, Any] | None  # from which it follows until when it may begin anything
    decided: float
    due: float  # not sent before


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
