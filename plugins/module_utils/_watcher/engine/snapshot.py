# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One tick's facts beside what the watcher knows from earlier ones. Pure.

Private to this collection.
"""

from typing import Any, Dict, List, NamedTuple, Optional

from ..._core import deadlines
from ..._core.deadlines import Terms
from ..._core.mark_view import OURS, MarkView
from ..._core.tracked_event import UNBROKEN
from ..._events.document import Document
from ..settings.options import MANAGE
from . import clocks
from .facts import Facts
from .machine_event import MachineEvent
from .own_mark import note_of


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

    def left(self, life: MachineEvent) -> float:
        """Seconds until an event may start by itself."""
        return deadlines.left(life.tracked, self.now)

    @property
    def terms(self) -> Terms:
        return clocks.terms(self.facts.settings)

    def is_marked(self, life: MachineEvent) -> bool:
        """Whether our mark stands for the event."""
        return self.marked.owner == OURS and life.key in self.marked.keys

    @property
    def open(self) -> List[MachineEvent]:
        return [life for life in self.lives.values() if life.is_open]
