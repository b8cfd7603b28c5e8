# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is reported of the machine's events, each happening once in an event's life. Pure.

Private to this collection.
"""

from typing import Any, List, Mapping

from .._core.mark_view import NOBODY, OURS
from . import sentences
from .acts import Say
from .here import Here
from .life import Life
from .wishes import PREPARING, Wish, decided, is_put_back, wish

FORGET = 300.0
"""Seconds for which an event that is gone is remembered: it may come back."""


class EventNews:
    """What there is to say in one tick; that it was said is noted with the event.

    :arg says: where it is put
    """

    def __init__(self, here: Here, says: List[Say]) -> None:
        self._here = here
        self._says = says

    def tell(self, life: Life, happened: str, message: str, **more: Any) -> Life:
        """Once; not at all of what the policy ignores."""
        if happened in life.said:
            return life
        here = self._here
        here.lives[life.key] = life = life._replace(said=life.said | {happened})
        if here.is_marked(life) or decided(here, life).action != "ignore":
            outage = here.marked.outage if here.is_marked(life) else ""
            self._says.append(Say(happened, message, life.event, life.notice, outage=outage, **more))
        return life

    def take_documents(self) -> None:
        """What the documents show."""
        here = self._here
        for life in list(here.lives.values()):
            if life.is_open and "over" in life.said:
                life = life._replace(said=life.said - {"over", "back"})
                life = self.tell(life, "back", f"{sentences.title(life.event)} is back: it was not over.")
            if "shown" not in life.said:
                now = wish(here, life)
                details = {"do": now.action, "rule": now.rule}
                life = self.tell(life, "shown", sentences.shown(life.event, now), details=details)
            more = life.names - life.first_names
            if more:
                life = self.tell(life, "grown", sentences.grown(life.event, more))
            if life.started and "started" not in life.said:
                words = sentences.started(life.event, life.approved, life.seen - life.shown)
                life = self.tell(life, "started", words)
                life = self._take_strike(life)
            if life.gone is not None:
                life = self.tell(life, "over", sentences.over(life.event, life.outcome), outcome=life.outcome)
                if here.now - (life.gone or 0.0) > FORGET and not here.is_marked(life):
                    del here.lives[life.key]

    def _take_strike(self, life: Life) -> Life:
        """Whether it has struck a machine that should have been prepared for it."""
        marked = self._here.marked
        mine = marked.owner == OURS or (marked.owner == NOBODY and self._here.acts)
        if not mine or marked.phase == "prepared" or decided(self._here, life).action not in PREPARING:
            return life
        if life.event.takes_machines_away and not (life.failed or is_put_back(self._here, life)):
            return life  # it is prepared for even now
        return self.tell(life, "hit_unprepared", sentences.hit_unprepared(life.event))

    def take_wishes(self, wishes: Mapping[str, Wish]) -> None:
        """Who should be prepared by now, and is not."""
        for key, found in wishes.items():
            life = self._here.lives[key]
            awaited = found.prepare and not life.started and life.event.is_scheduled
            ready = self._here.marked.phase == "prepared" and self._here.is_marked(life)
            if awaited and not ready and found.left <= found.margin:
                self._here.lives[key] = life = life._replace(late=True)
                self.tell(life, "late", sentences.late(life.event, found.left))

    def take_posts(self) -> None:
        """What came of approvals."""
        for life in self._here.open:
            posted = self._here.facts.posted.get(life.key)
            if posted and posted.accepted:
                self.tell(life, "approved", f"{sentences.title(life.event)} is approved.")
            elif posted:
                self.tell(life, "not_approved", sentences.not_approved(life.event, posted.why))
