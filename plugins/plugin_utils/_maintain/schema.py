# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of a run as a playbook holds it: plain dictionaries, lists, texts and numbers, under these keys.

Private to this collection.

Times are the controller's monotonic seconds; ``clock`` ties them to the time of day.
"""

from __future__ import annotations

from typing import Any, TypedDict


class Options(TypedDict):
    """What the user wants of the run."""

    policy: list[dict[str, Any]]
    margin: float  # seconds between the end of a preparation and not-before
    allow_unknown: bool
    prepare_within: float  # seconds
    event_timeout: float  # seconds after its not-before for which an event is watched
    on_failure: str  # revert or hold
    rounds: int  # 0: as many as come
    wait_timeout: float  # seconds for which new events are awaited
    slice: float  # seconds for which a task looks where there are several scopes


class Clock(TypedDict):
    """One moment by two clocks."""

    mono: float
    wall: float


class MachineData(TypedDict):
    """A :class:`.machines.Machine`."""

    host: str
    resource_name: str
    scope: str
    is_linux: bool
    problem: str


class HostState(TypedDict):
    """How a machine stands, as far as the run knows."""

    state: str  # one of STATES


class Preparation(TypedDict):
    """How the preparation of one machine went."""

    ok: bool
    at: float
    seconds: float
    message: str


class Recovery(TypedDict):
    """How one machine was brought back."""

    ok: bool
    at: float
    seconds: float
    reverted: bool  # its preparation was undone before its event came
    rebooted: bool | None  # None: nobody knows
    message: str


class Approval(TypedDict):
    """What became of the approval of one event."""

    sent: bool
    by: str
    at: float | None
    confirmed: bool
    tried: list[str]  # hosts
    problem: str  # why the last one that tried could not
    note: str  # why none is needed


class PlannedDict(TypedDict):
    """The plan of one event: the event's own keys, and what is to be done."""

    id: str
    type: str
    status: str
    source: str
    resource_type: str
    resources: list[str]
    raw_resources: list[str]
    not_before: str
    description: str
    duration: int | None
    verdict: str  # one of VERDICTS
    action: str
    rule: str
    why: str
    hold: str
    affected: list[str]
    unknown: list[str]
    unreachable: list[str]
    seen_by: list[str]
    watchers: list[str]
    approvers: list[str]
    notice: float | None
    budget: float


class Entry(PlannedDict):
    """One event in the record: its plan, and what happened since."""

    shown: float
    planned: float
    started: float | None
    gone: float | None
    outcome: str  # once it is gone
    unseen: bool  # the last look of its scope failed
    closed: bool  # the run does not watch it any more
    undo: bool  # its preparation is undone
    failed: str  # why it was not handled to its end
    prepared: dict[str, Preparation]  # by host
    recovered: dict[str, Recovery]  # by host
    approval: Approval


class PrepareWork(TypedDict):
    """What one machine is prepared for, and until when."""

    deadline: float
    ids: list[str]


class ApproveWork(TypedDict):
    """What one machine approves, and how."""

    ids: list[str]
    prepared_resources: list[str]
    allow_unknown: list[str]
    wait: bool


class Todo(TypedDict):
    """Who does what next, by host."""

    prepare: dict[str, PrepareWork]
    approve: dict[str, ApproveWork]
    revert: list[str]
    recover: list[str]
    watch: list[str]
    self_watch: list[str]  # of those who watch: who watches an event that affects it
    look: list[str]
    look_seconds: float
    outstanding: list[str]  # keys of events
    act: bool  # whether anybody has to do more than look
    participants: list[str]  # who does anything at all


class Nesting(TypedDict):
    """How often task files included one another: see nesting.py."""

    looks: int
    passes: int
    look_again: bool
    pass_again: bool


class Record(TypedDict):
    """A run."""

    machines: list[MachineData]
    names: dict[str, str]  # in Azure, by host
    options: Options
    clock: Clock
    at: float  # when the record was last moved on
    disagreements: list[str]  # sentences
    events: dict[str, Entry]  # by the key of the event
    hosts: dict[str, HostState]
    lost: list[str]  # hosts that are not asked again
    failures: dict[str, int]  # looks in a row that failed, by host
    problems: dict[str, str]  # sentences, by what they are about: see problems.py
    busy: bool
    rounds_done: int
    finished: bool
    todo: Todo
    nesting: Nesting


IN_SERVICE, PREPARED, HALF_PREPARED, AFFECTED, NOT_RECOVERED = (
    "in_service",
    "prepared",
    "half_prepared",  # its preparation failed, and could not be undone
    "affected",  # an event came before it was prepared
    "not_recovered",
)
