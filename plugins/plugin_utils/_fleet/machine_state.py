# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of a machine in a run. See state.py.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypedDict

from ...module_utils._core.second_look import SecondLook
from .options import Host, HostOptions


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
