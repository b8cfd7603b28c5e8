# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of a run as a playbook holds it: plain dictionaries, lists, texts and numbers, under these keys.

Private to this collection.

Times are the controller's monotonic seconds; ``clock`` ties them to the time of day. Events are known by their key (the id
in capitals), hosts by their name in the inventory. Nothing here says whether a machine is prepared: that is asked of its mark,
as it was last seen.
"""

from __future__ import annotations

from typing import Any, TypedDict

from .options import HostOptions, SameOptions

# ---- what a run is begun with ----


class LongTasks(TypedDict, total=False):
    """What may be left out."""

    endpoint: str  # of the metadata service; "" for Azure's own
    task_seconds: float  # the longest limit of the user's own task files; 0 where a host has none
    require_steps: bool  # whether a machine without steps can't be prepared
    call_timeout: float  # seconds of a call, where the inventory says it; else 0
    undo_needs: (
        float  # seconds: the limits of all that undoes its steps together; as many as needs where a host has none
    )


class HostFacts(LongTasks):
    """What the role says of one host at the beginning."""

    host: str
    is_linux: bool
    scope: str  # declared, or ""
    resource_name: str  # declared, or ""
    group: str  # capacity group, or ""
    steps: int
    needs: float  # seconds: the limits of all its steps together
    options: HostOptions
    same: SameOptions


class RunOptions(TypedDict):
    """Who runs."""

    run: str
    job: str
    controller: str
    check: bool


# ---- machines ----


class MachineState(TypedDict):
    """A machine: what was said of it, and how it was last seen."""

    host: str
    is_linux: bool
    declared_scope: str
    declared_name: str
    endpoint: str
    group: str
    steps: int
    require_steps: bool  # no step is no preparation
    needs: float
    undo_needs: float
    task_seconds: float
    call_timeout: float
    options: HostOptions
    # who it is
    known: bool  # it has said who it is, or nothing is left to ask for
    asked: float | None  # when it last answered that question
    resource_name: str  # "" as long as nobody knows it
    confirmed: bool  # its own metadata service has said so, not only the inventory
    scope: str
    placement_group: str
    domain: str  # its zone, else its fault domain, for people; "" where its metadata service says neither
    split: bool  # its scope turned out to be none: it looks for itself
    vm_id: str
    spot: bool
    hello_problem: str
    aside: str  # why it takes no part: it is the same machine as another host
    contradiction: str  # its name is another one than the inventory says
    # how it is reached
    number: int  # of the last call
    flying: Call | None  # the call that was sent and has not been answered
    perhaps: list[str]  # keys of the events that may have been approved since it was sent, and only by it
    answered: float | None
    lost: str  # why the last call brought nothing back
    left: bool  # it has left the play, and no task reaches it any more
    failures: int  # calls in a row that brought nothing back
    again: float  # not called before
    # what it was seen with
    looked: float | None  # when it last had a document
    incarnation: int | None
    look_problem: str  # why its last look brought no document; "" when it did
    shows: list[str]  # keys of the events of its last document
    unreadable: list[str]  # keys of what its last document has and that can't be read; "" of what may be any event
    mark: dict[str, Any] | None
    mark_lost: bool  # it is gone since a reboot: this is what the record knows of it
    mark_restored: bool  # it was, in this outage: what the machine's own steps did is gone, whatever the mark says
    mark_at: float | None  # when the machine said so, or that there is none
    mark_since: float | None  # since when it has been seen with this lease
    renewals: int  # how often its holder has renewed it since it was first seen
    uptime: float | None
    boot_id: str
    disk: str  # what tells the disk that its mark is on from another one; "" where that is not known
    heard: dict[str, Any] | None  # its uptime when its last answer came, as the action that called it has noted it
    confirmations: list[str]  # keys of the events that a person has confirmed
    recovered_by_force: list[str]  # keys of the events despite which a person has recovered it
    hold: dict[str, Any] | None  # a person's word there that nothing is to be approved
    watcher: Watcher | None  # its own, as it was last heard of
    # what is under way
    begun: float | None  # since when a preparation may be under way: it was asked for, or found
    unbegun: float | None  # when its preparation last could not begin
    recovering: float | None  # since when it could be recovered
    tried: float | None  # when its recovery last failed
    tries: int  # how often it has failed since it could be recovered
    undone: float | None  # when it was last seen to be put back, or without the mark that it had
    quickest: float  # seconds that the shortest call took that only looked; 0 before the first
    hung: int  # calls in a row that lasted until their limit
    restarted: float | None  # when it was last seen that a start of it has undone what was done
    second_look: SecondLookState  # at what was done, once it is prepared
    why: str  # what its last answer to go said
    boot_before: str  # boot id with its first mark
    outcomes: dict[str, Any]  # of steps elsewhere, to be handed on with the next go
    before: dict[str, Any]
    jobs: dict[str, Any]  # what others have gone about for it, by attempt, and what the next look at it has to know
    steps_done: dict[str, dict[str, StepResult]]  # of this outage: by "do" and "undo", and by key


# ---- events ----


class Watcher(TypedDict):
    """What the machine's own watcher says of itself."""

    mode: str  # manage or observe
    version: str
    endpoint: str  # of the metadata service that it looks at; "" where that is not known
    alive: bool  # it was heard of lately
    lacks: list[str]  # the inventory's steps that it does not have, in words
    prepares: bool  # it has steps or hooks to prepare the machine by


class SecondLookState(TypedDict):
    """:class:`..module_utils._core.second_look.SecondLook` as plain data."""

    at: float | None
    found: str
    why: str


class Sighting(TypedDict):
    """When a machine was shown an event: :class:`..module_utils._core.tracked_event.Sighting` as plain data."""

    first: float
    last: float
    polled: float
    absent: float | None
    doubted: bool


class StepResult(TypedDict):
    """How far one step of a machine got."""

    state: str  # as its mark has it
    seconds: float
    note: str


class HostResult(TypedDict):
    """How the preparation or the recovery of one machine ended."""

    ok: bool
    at: float
    seconds: float
    message: str
    reverted: bool  # a recovery: its preparation was undone before its event came
    rebooted: bool | None  # a recovery; None: nobody knows
    steps: dict[str, StepResult]  # by key


class Attempt(TypedDict):
    """All approvals that one machine has sent and that had the same answer."""

    by: str  # host
    at: float  # the first
    until: float  # the last
    times: int
    answer: str


class Tries(TypedDict):
    """What was tried to approve an event."""

    by: str  # whose turn it is, or was last; "" before the first try
    since: float  # since when it is its turn (monotonic)
    last: float  # when it tried last
    tried: list[str]  # who has had its turn since everybody had
    count: int
    accepted: str  # who got the answer 200; "" while nobody has
    note: str  # what came of the last try


class Approval(TypedDict):
    """What became of the approval of one event."""

    tries: Tries
    sent: bool  # Azure has accepted it
    maybe: bool  # Azure may have got it: it was sent, and no answer said that it was refused
    by: str
    at: float | None
    nobody: str  # why no machine can send it, though the event is ready; "" when one can
    attempts: list[Attempt]


class EventState(TypedDict):
    """One event: as it was last seen, and what happened since."""

    # what polls make of it: module_utils/_core/tracked_event.py packs and unpacks this
    id: str
    type: str
    status: str
    source: str
    resource_type: str
    resources: list[str]  # all that it ever named
    raw_resources: list[str]
    not_before: str
    not_before_utc: str | None
    description: str
    duration: int | None
    shown: float
    notice: float | None  # that it was first shown with
    first_names: list[str]
    sightings: dict[str, Sighting]  # by host
    deadline: float | None  # its not-before; None when it names none
    deadline_notice: float | None  # the notice that this not-before was first shown with
    started: float | None
    blind: float  # the longest time without a look since it was last shown
    gone: float | None
    outcome: str  # once it is gone
    reappeared: int  # how often it was gone and came back
    scheduled_again: float | None  # when it was first seen Scheduled since it has started, without having been gone
    # what else the run knows of its life
    lacking: dict[str, float]  # since when documents of others of its scope have lacked it, by host
    announced: float  # the last tick that showed it before it had started
    closed: str  # why the run does not watch it any more, though it may still be there
    # whom it affects, and what is to be done
    affected: list[str]  # hosts
    unknown: list[str]  # resources that are no machine of the run
    nameless: list[str]  # hosts that may be among these, as nobody knows their names
    ambiguous: list[str]  # sentences about resources that are several hosts
    judged: float | None  # the notice by which the policies have decided
    judged_status: str  # the status by which they have
    judged_by: str  # what else they have decided by
    actions: dict[str, str]  # of the policies, by affected host
    start_now: list[str]  # affected hosts whose policy prepares for it as soon as it is shown
    hours: dict[str, Any]  # of the policies, by affected host: when that may be done early; no key for always
    action: str  # of all of them the strictest
    rule: str
    words: str  # why
    approves: bool  # the policies want it approved, or a person does
    wanted: bool  # it may be prepared for, or approved, as far as capacity goes
    only_hours: bool  # it may not, and nothing but its hours is the reason
    turn: str  # "turn", "waits", "due", "later"; "" when nothing is to be prepared or approved
    turn_words: str
    may_prepare: bool
    full: bool  # its capacity groups have no room for all of its machines
    capacity: str  # why capacity forbids to approve it
    shut: bool  # its hours are not open, and it is held up by that
    resumes: float | None  # while it only waits for its hours: when they open, or its preparation is due
    too_large: bool
    hold: str  # why it is not approved though the policy wants it
    waits: str  # what its approval waits for
    reasons: list[dict[str, str]]  # the same one by one, with what ends each
    # what was done: for people, as the barrier goes by the marks
    prepared: dict[str, HostResult]  # by host
    failed: dict[str, str]  # by host: why it could not be prepared
    restarted: dict[str, float]  # by host: since when what was done counts no more, as the machine was rebooted
    unprepared: dict[str, str]  # by host: how it was found when the event reached it in service
    recovered: dict[str, HostResult]
    approval: Approval


# ---- the rest ----


class Subject(TypedDict, total=False):
    """What may be left out."""

    subject: str  # of a problem or a note; the same as long as it is one


class Happening(Subject):
    """Something that happened, for people."""

    at: float
    what: str
    text: str
    event: str  # its key, or ""
    host: str  # or ""


class Call(TypedDict):
    """One call of the machine program."""

    requests: list[dict[str, Any]]
    run: str
    number: int
    seconds: float
    resource_name: str  # "" where its metadata service is to be asked
    vm_id: str  # as that has said it; it stands in the mark
    heard: dict[str, Any] | None  # from which it follows until when it may begin anything
    decided: float
    due: float  # not sent before


class Todo(TypedDict):
    """What is to be called next."""

    calls: dict[str, Call]  # by host
    tasks_allowed: list[str]
    idle: bool
    seconds: float  # until the first of these calls is due, or something else may be


class GapOfScope(TypedDict):
    """How long nobody looked at one scope."""

    hosts: list[str]
    since: float
    until: float


class Gap(TypedDict):
    """Scopes at which nobody looked for too long, at the same time and for the same reason."""

    reason: str  # without numbers that differ from machine to machine
    by_machine: str  # for people: who says what
    shared: str  # for people: what they all say
    scopes: dict[str, GapOfScope]


class Clock(TypedDict):
    """One moment by two clocks."""

    mono: float
    wall: float


class Record(TypedDict):
    """A run."""

    run: RunOptions
    same: SameOptions
    clock: Clock
    corrected: list[Clock]  # since then, whenever the time of day was another one than that moment makes it
    at: float  # when the record was last moved on
    ticks: int
    hosts: dict[str, MachineState]
    events: dict[str, EventState]
    watched: dict[str, float]  # when a scope was last looked at
    gaps: dict[str, Gap]  # by the subject of the problem
    lasting: dict[str, str]  # problems that no later happening takes back, by subject
    problems: dict[str, str]  # these, and what is one now
    since: dict[str, float]  # since when each of them has been one, by subject
    notes: dict[str, str]
    slow_calls: int  # in a row, of whichever machines
    happenings: list[Happening]
    busy: bool
    rounds_done: int
    leaving: bool  # it ends after this tick, which lets go of the machines that wait for a confirmation
    finished: bool
    todo: Todo
