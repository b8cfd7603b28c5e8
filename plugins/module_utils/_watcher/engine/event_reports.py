# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is reported of the machine's events, each happening once in an event's life. Pure.

Private to this collection.
"""

from typing import Any, Dict, FrozenSet, List, Mapping

from ..._core.decision import PREPARING
from ..._core.mark_view import NOBODY, OURS
from ..._core.messages import title
from . import report_texts
from .actions import Say
from .decision import EventDecision, decided, decision_on, is_suppressed
from .machine_event import MachineEvent
from .snapshot import Snapshot


class EventNews:
    """What there is to say in one tick, and what was said of each event until then."""

    def __init__(self, here: Snapshot) -> None:
        self._here = here
        self.says: List[Say] = []
        self.said: Dict[str, FrozenSet[str]] = {key: life.said for key, life in here.lives.items()}

    def tell(self, life: MachineEvent, happened: str, message: str, **more: Any) -> None:
        """Once; not at all of what the policy ignores."""
        here = self._here
        if happened in self.said[life.key]:
            return
        self.said[life.key] |= {happened}
        if here.is_marked(life) or decided(here, life).action != "ignore":
            outage = here.marked.outage if here.is_marked(life) else ""
            self.says.append(Say(happened, message, life.event, life.tracked.notice, outage=outage, **more))

    def take_documents(self) -> None:
        """What the documents show."""
        here = self._here
        for life in here.lives.values():
            said = self.said[life.key]
            if life.is_open and "ended" in said:
                self.said[life.key] = said - {"ended", "reappeared"}
                self.tell(life, "reappeared", f"{title(life.event)} is back: it was not over.")
            if "scheduled" not in said:
                now = decision_on(here, life)
                details = {"do": now.action, "rule": now.rule}
                self.tell(life, "scheduled", report_texts.shown(life.event, now), details=details)
            more = life.tracked.names - life.tracked.first_names
            if more:
                self.tell(life, "changed", report_texts.grown(life.event, more))
            if life.started and "started" not in said:
                after = (life.tracked.started or life.tracked.shown) - life.tracked.shown
                words = report_texts.started(life.event, life.approved, after)
                self.tell(life, "started", words)
                self._take_strike(life)
            if life.tracked.scheduled_again is not None:
                self.tell(life, "scheduled_again", report_texts.scheduled_again(life.event))
            if life.tracked.gone is not None:
                self.tell(
                    life, "ended", report_texts.over(life.event, life.tracked.outcome), outcome=life.tracked.outcome
                )

    def _take_strike(self, life: MachineEvent) -> None:
        """Whether it has struck a machine that should have been prepared for it."""
        marked = self._here.marked
        mine = marked.owner == OURS or (marked.owner == NOBODY and self._here.acts)
        if not mine or marked.phase == "prepared" or decided(self._here, life).action not in PREPARING:
            return
        if life.event.takes_machines_away and not (life.failed or is_suppressed(self._here, life)):
            return  # it is prepared for even now
        self.tell(life, "started_unprepared", report_texts.started_unprepared(life.event))

    def take_decisions(self, decisions: Mapping[str, EventDecision]) -> None:
        """Who should be prepared by now, and is not."""
        for life in self._here.open:
            if life.late:
                self.tell(life, "not_prepared_in_time", report_texts.late(life.event, decisions[life.key].left))

    def take_posts(self) -> None:
        """What came of approvals."""
        for life in self._here.open:
            posted = self._here.facts.posted.get(life.key)
            if posted and posted.accepted:
                self.tell(life, "approved", f"{title(life.event)} is approved.")
            elif posted:
                self.tell(life, "not_approved", report_texts.not_approved(life.event, posted.why))
