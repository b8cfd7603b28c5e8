# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is reported of the machine's events, each happening once in an event's life; and of its outage, by its mark, whoever has brought it
there, and whenever. Pure.

Private to this collection.
"""

from typing import Any, Dict, FrozenSet, List, Mapping

from ..._core.decision import PREPARING
from ..._core.mark_view import NOBODY, OURS
from ..._core.messages import title
from ..._core.transitions import PREPARED, RECOVERED
from . import report_texts
from .actions import Say
from .decision import EventDecision, decided, decision_on, is_put_back
from .engine_state import Begun
from .machine_event import MachineEvent
from .progress import MARK_REMOVED, Progress, can_be_met, could_not_begin, why
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
            self.says.append(Say(happened, message, life.event, life.notice, outage=outage, **more))

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
            more = life.names - life.first_names
            if more:
                self.tell(life, "changed", report_texts.grown(life.event, more))
            if life.started and "started" not in said:
                after = (life.tracked.started or life.shown) - life.shown
                words = report_texts.started(life.event, life.approved, after)
                self.tell(life, "started", words)
                self._take_strike(life)
            if life.tracked.scheduled_again is not None:
                self.tell(life, "scheduled_again", report_texts.scheduled_again(life.event))
            if life.gone is not None:
                self.tell(life, "ended", report_texts.over(life.event, life.outcome), outcome=life.outcome)

    def _take_strike(self, life: MachineEvent) -> None:
        """Whether it has struck a machine that should have been prepared for it."""
        marked = self._here.marked
        mine = marked.owner == OURS or (marked.owner == NOBODY and self._here.acts)
        if not mine or marked.phase == "prepared" or decided(self._here, life).action not in PREPARING:
            return
        if life.event.takes_machines_away and not (life.failed or is_put_back(self._here, life)):
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


_RECOVERY_FAILED = "recovery_failed"


class OutageNews:
    """What there is to say in one tick.

    :arg events: where it is put, and what was said of each event
    """

    def __init__(self, here: Snapshot, progress: Progress, events: EventNews) -> None:
        self._here = here
        self._progress = progress
        self._events = events

    def take_mark(self, reported: Mapping[str, str]) -> Dict[str, str]:
        """How far it is.

        :arg reported: what was reported of the machine so far, by what it is about
        :returns: the same, with what is reported now
        """
        now, progress = dict(reported), self._progress
        if progress.ended:
            self._take_end()
        if self._here.marked.outage != progress.before.name:
            now.pop(_RECOVERY_FAILED, None)
        if self._here.marked.owner == OURS:
            self._take_turn()
            self._take_preparation()
            self._take_recovery(now)
        return now

    def _take_preparation(self) -> None:
        here = self._here
        for life in [life for life in here.open if here.is_marked(life)]:
            if here.marked.is_failed:
                self._events.tell(
                    life, "prepare_failed", report_texts.failed(life.event, why(here, PREPARED), is_begun=True)
                )
            elif can_be_met(here, life):
                self._events.tell(life, "prepared", f"This machine is prepared for {title(life.event)}.")

    def _take_turn(self) -> None:
        """Another outage may have taken the recovery's place before that was over."""
        here, before = self._here, self._progress.before
        if before.phase != "recovering" or here.marked.outage == before.name:
            return
        lives = [life for life in here.open if here.is_marked(life)]
        if lives:
            over = [here.lives[key] for key in sorted(before.keys) if key in here.lives and not here.lives[key].is_open]
            last = max(lives, key=lambda life: life.shown)
            words = report_texts.recovery_interrupted([life.event for life in over], [life.event for life in lives])
            outage = here.marked.outage
            self._events.says.append(Say("recovery_interrupted", words, last.event, last.notice, last.outcome, outage))

    def _take_recovery(self, reported: Dict[str, str]) -> None:
        mark = self._here.marked
        if mark.is_partially_recovered and reported.get(_RECOVERY_FAILED) != mark.failed_words:
            reported[_RECOVERY_FAILED] = mark.failed_words
            words = report_texts.recovery_failed(why(self._here, RECOVERED))
            self._say(self._progress.begun, _RECOVERY_FAILED, words)

    def _take_end(self) -> None:
        """The mark is gone: by the machine's recovery, or somebody has taken it off."""
        before = self._progress.before
        if self._progress.ended == MARK_REMOVED:
            self._say(
                before, "mark_removed", "Somebody removed this machine's mark: the watcher leaves its events alone."
            )
        else:
            self._say(before, "recovered", "This machine is back in service: all that was done is undone.")

    def _say(self, outage: Begun, happened: str, message: str) -> None:
        """Of the outage as a whole: with the event that came last to it."""
        lives = [self._here.lives[key] for key in sorted(outage.keys) if key in self._here.lives]
        if not lives:
            self._events.says.append(Say(happened, message, outage=outage.name))
            return
        last = max(lives, key=lambda life: life.shown)
        self._events.says.append(Say(happened, message, last.event, last.notice, last.outcome, outage.name))

    def take_answer(self, decisions: Mapping[str, EventDecision]) -> None:
        """What did not even begin: it is tried again after a while."""
        answer = self._progress.answer
        if answer is None or not could_not_begin(self._here, answer):
            return
        for life in [life for life in self._here.open if decisions[life.key].prepare]:
            self._events.tell(life, "prepare_failed", report_texts.failed(life.event, answer.why, is_begun=False))
