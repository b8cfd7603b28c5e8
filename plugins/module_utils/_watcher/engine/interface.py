# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the watcher's engine is given in a tick, and what it wants done. What is not in the facts, it does not know. Pure.

Private to this collection.
"""

from typing import Any, Dict, FrozenSet, List, Mapping, NamedTuple, Optional, Tuple

from ..._clock import Moment
from ..._core.second_look import SecondLook
from ..._events.document import Document
from ..._events.event import Event
from ..._machine.mark import Mark
from ..._steps.step_type import Step
from ..settings.options import Settings


class Identity(NamedTuple):
    """Who the machine is, as its metadata service says."""

    name: str  # compute/name; events list it
    vm_id: str  # compute/vmId; a copy of the machine has another one


class PollResult(NamedTuple):
    """The last document that came."""

    document: Document
    at: float  # when it came, by the clock that nobody sets
    date: Optional[float]  # Unix time of the answer's Date header
    number: int  # counts up with every answer
    asked: float  # when it was asked for: the document may be that old


class Answer(NamedTuple):
    """What the machine program said to the last ``Go``."""

    to: str  # prepared or recovered
    state: str  # preparing, prepared, failed, recovering, recovered, half, refused
    why: str
    steps: List[Dict[str, Any]]  # as the mark has them
    at: float
    second_look: SecondLook = SecondLook()  # at what was done, where it is prepared
    back: Tuple[str, ...] = ()  # what somebody had put back, as clauses: it is done again


class Posted(NamedTuple):
    """What came of the last approval of an event that was sent."""

    at: float
    accepted: bool
    why: str


class Hold(NamedTuple):
    """No approvals early until it is released."""

    reason: str
    by: str
    until: Optional[float]  # Unix time; None until somebody releases it
    vm_id: str = ""  # of the machine on which it was laid down

    def lasts(self, wall: float) -> bool:
        """Whether it has not come to its end by that time."""
        return self.until is None or wall < self.until


class Facts(NamedTuple):
    """The world as one tick sees it."""

    now: float  # the clock that nobody sets
    moment: Moment  # the machine's own: wall, time since the boot, boot id
    settings: Settings
    identity: Optional[Identity]  # None until the service has said it
    polled: Optional[PollResult]  # None until the first document
    poll_problem: str  # why the last poll failed; "" when it did not
    mark: Optional[Mark]
    unreadable: str  # why the mark that is there can't be read
    answer: Optional[Answer]
    posted: Dict[str, Posted]  # by the event's key
    hold: Optional[Hold]
    confirmed: FrozenSet[str]  # keys of the events that a person has confirmed
    steps: Dict[
        str, Tuple[Step, ...]
    ]  # by type of event, in lower case: hooks and drain steps; under "" those of any other
    going_down: bool  # the system is being shut down
    settled: bool  # the jobs of its boot are over, or have been waited for long enough
    degraded: str  # why the state can't be written; "" when it can
    lacking: Mapping[
        str, str
    ] = {}  # by type, as in steps: which prepare hook is not run, though it is there or should be
    recovery_lacks: Mapping[str, str] = {}  # the same of recover hooks
    endpoint: str = ""  # of the metadata service, as it is configured; "" for Azure's own
    suppressed: FrozenSet[str] = frozenset()  # keys of the events despite which a person has recovered the machine


class Go(NamedTuple):
    """Have the machine program go on towards "prepared" or "recovered"."""

    to: str
    left: float  # seconds that are left for it
    events: Tuple[str, ...]  # ids, as they came
    note: Dict[str, Any]  # kept in the mark
    kinds: Tuple[
        str, ...
    ] = ()  # types of its events, in lower case: by them the steps are chosen, see ``plan.steps_of``
    parallel: bool = False  # all hooks side by side
    redo_after_reboot: bool = False  # the machine was rebooted by nobody's event: its steps are done again
    no_new_steps: bool = False  # only what runs goes on
    replace_outage: bool = False  # it is another outage: what the one before has under way in being undone is stopped
    looks: bool = False  # what was done is looked at once more, though nothing new is begun


class Approve(NamedTuple):
    """POST these events."""

    events: Tuple[str, ...]  # ids, as they came
    own: Tuple[str, ...] = ()  # those for which the machine has to be prepared


class PutAside(NamedTuple):
    """It is of another machine, of which this one is a copy: out of the way, unread."""

    why: str
    what: str = "mark"  # or hold


class Remember(NamedTuple):
    """Keep this where it outlives the watcher and not the machine's next start (/run): the next ``Engine`` is made with it.

    What is lost of it costs a wait, says something twice, or has a recovery that nobody remembers reported as somebody else's.
    """

    what: Dict[str, Any]


class Say(NamedTuple):
    """What happened, for whoever listens."""

    happened: str
    message: str
    event: Optional[Event] = None
    notice: Optional[float] = None
    outcome: str = ""
    outage: str = ""
    details: Dict[str, Any] = {}
