# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is reported of the machine's outage: by its mark, whoever has brought it there, and whenever. Pure.

Private to this collection.
"""

from typing import Dict, Mapping

from ..._core.mark_view import OURS
from ..._core.messages import title
from ..._core.transitions import PREPARED, RECOVERED
from . import report_texts
from .actions import Say
from .decision import EventDecision
from .engine_state import Begun
from .event_reports import EventNews
from .progress import MARK_REMOVED, Progress, can_be_met, could_not_begin, why
from .snapshot import Snapshot

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
            last = max(lives, key=lambda life: life.tracked.shown)
            words = report_texts.recovery_interrupted([life.event for life in over], [life.event for life in lives])
            outage = here.marked.outage
            self._events.says.append(
                Say("recovery_interrupted", words, last.event, last.tracked.notice, last.tracked.outcome, outage)
            )

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
            self._say(before, "recovered", "This machine is recovered: all completed steps are undone.")

    def _say(self, outage: Begun, happened: str, message: str) -> None:
        """Of the outage as a whole: with the event that came last to it."""
        lives = [self._here.lives[key] for key in sorted(outage.keys) if key in self._here.lives]
        if not lives:
            self._events.says.append(Say(happened, message, outage=outage.name))
            return
        last = max(lives, key=lambda life: life.tracked.shown)
        self._events.says.append(
            Say(happened, message, last.event, last.tracked.notice, last.tracked.outcome, outage.name)
        )

    def take_answer(self, decisions: Mapping[str, EventDecision]) -> None:
        """What did not even begin: it is tried again after a while."""
        answer = self._progress.answer
        if answer is None or not could_not_begin(self._here, answer):
            return
        for life in [life for life in self._here.open if decisions[life.key].prepare]:
            self._events.tell(life, "prepare_failed", report_texts.failed(life.event, answer.why, is_begun=False))
