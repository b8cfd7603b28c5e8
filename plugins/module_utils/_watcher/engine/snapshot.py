# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One tick's facts beside what the watcher knows from earlier ones: whose the mark is, what time it is for Azure, how much of it is left, and
whether the machine stood still. Pure.

Private to this collection.

The machine's clock on the wall may be wrong or be set at any moment, so times of day are taken from the service's own answers,
and aged between two of them by the clock that nobody sets. Beside what every mark has, the watcher's has a note: all that has to outlive
the watcher, and the machine's restart.
"""

from typing import Any, Dict, List, Mapping, NamedTuple, Optional

from ..._clock import Moment
from ..._core import deadlines
from ..._core.deadlines import Terms
from ..._core.mark_view import OURS, Asker, MarkView, mark_view
from ..._core.second_look import SecondLook
from ..._core.tracked_event import UNBROKEN
from ..._core.transitions import PREPARED
from ..._events.document import Document
from ..settings.options import MANAGE, Settings
from .engine_state import MachineEvent
from .interface import Facts, Identity, PollResult

MARGIN = 30.0
"""Seconds before not-before at which a machine has to be prepared, or it is late."""

SHARE_OF_NOTICE = 0.1
"""Of the notice, that the margin takes at most: a watcher decides at once."""

PAUSE = 2.0
"""Seconds between both clocks from which on they are reported."""


class Reckoning(NamedTuple):
    """A moment by both clocks."""

    at: float  # the clock that nobody sets
    wall: float  # Unix time

    def wall_at(self, at: float) -> float:
        """The Unix time at another moment of the clock that nobody sets."""
        return self.wall + at - self.at


def reckoned(polled: PollResult, moment: Moment, now: float) -> Reckoning:
    """The moment of a poll: what the answer says itself, else the machine's clock."""
    return Reckoning(polled.at, polled.date if polled.date is not None else moment.wall - (now - polled.at))


def terms(settings: Settings) -> Terms:
    """What this machine needs before and after an event."""
    return Terms(MARGIN, SHARE_OF_NOTICE, settings.prepare_before, settings.limits, settings.undo_limits)


def pause(before: Reckoning, after: Reckoning) -> float:
    """Seconds by which the clock on the wall ran ahead of the other; 0 where it is too little to be reported."""
    gap = after.wall - before.wall_at(after.at)
    return gap if abs(gap) > PAUSE else 0.0


RUN = "watcher"


def asker(identity: Optional[Identity], endpoint: str) -> Asker:
    """The watcher of a machine, as which it asks whose a mark is.

    :arg endpoint: the configured one: where its metadata service was found elsewhere, it is the same
    """
    return Asker(RUN, identity.vm_id if identity else None, endpoint)


def own_mark(facts: Facts) -> MarkView:
    """The mark of a tick's facts. Of one that is not the watcher's only whose it is counts here."""
    found = mark_view(facts.mark, facts.unreadable, asker(facts.identity, facts.endpoint), facts.moment)
    return found if found.owner == OURS else MarkView(found.owner, owner_words=found.owner_words)


def note_of(mark: Optional[Mapping[str, Any]]) -> Dict[str, Any]:
    """The watcher's note of a mark, which an earlier version may have written, or a hand."""
    note = (mark or {}).get("note")
    return dict(note) if isinstance(note, dict) else {}


class Snapshot(NamedTuple):
    """What everything is decided by."""

    facts: Facts
    wall: float  # Unix time, as Azure tells it
    marked: MarkView
    lives: Dict[str, MachineEvent]  # this machine's events, by key
    document: Optional[Document]  # the last one that is one
    polled_at: Optional[float]  # when it came
    asked: Optional[float]  # when it was asked for
    quiet: float  # seconds for which nothing of another machine's has left the document
    others_left: bool  # whether something of another machine's did before that; False where nobody had polled

    @property
    def now(self) -> float:
        return self.facts.now

    @property
    def name(self) -> str:
        return self.facts.identity.name if self.facts.identity else ""

    @property
    def vm_id(self) -> str:
        return self.facts.identity.vm_id if self.facts.identity else ""

    @property
    def note(self) -> Dict[str, Any]:
        """Of the watcher's own mark; empty where it has none."""
        return note_of(self.facts.mark) if self.marked.owner == OURS else {}

    def notes(self, name: str, key: str) -> bool:
        """Whether a list of ids in the note has an event."""
        return key in {event_id.upper() for event_id in self.note.get(name) or ()}

    @property
    def is_fresh(self) -> bool:
        """Whether the document is young enough to go by it where that can't be undone."""
        return self.asked is not None and self.now - self.asked <= UNBROKEN

    @property
    def may_act(self) -> bool:
        """Whether anything may be written, begun or sent at all."""
        facts = self.facts
        return not (facts.going_down or facts.degraded or facts.unreadable or facts.identity is None)

    @property
    def acts(self) -> bool:
        """Whether the watcher is to prepare its machine, or only to report."""
        return self.facts.settings.mode == MANAGE

    @property
    def second_look(self) -> SecondLook:
        """The last one at what was done to this machine, where it is prepared."""
        answer = self.facts.answer
        return (
            answer.second_look if answer and answer.to == PREPARED and self.marked.phase == "prepared" else SecondLook()
        )

    def left(self, life: MachineEvent) -> float:
        """Seconds until an event may start by itself."""
        return deadlines.left(life.tracked, self.now)

    @property
    def terms(self) -> Terms:
        return terms(self.facts.settings)

    def is_marked(self, life: MachineEvent) -> bool:
        """Whether our mark stands for the event."""
        return self.marked.owner == OURS and life.key in self.marked.keys

    @property
    def open(self) -> List[MachineEvent]:
        return [life for life in self.lives.values() if life.is_open]
