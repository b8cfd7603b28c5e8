# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is reported of the machine's outage: by its mark, whoever has brought it there, and whenever. Pure.

Private to this collection.
"""

from typing import List

from .._core.mark_view import NOBODY, OURS
from . import sentences
from .acts import Say
from .event_news import EventNews
from .here import Here
from .life import Life
from .outage import PREPARED, RECOVERED, Tried
from .recollection import Begun, Recollection
from .wishes import wish


class OutageNews:
    """What there is to say in one tick, and what follows from it for the events of the mark."""

    def __init__(self, here: Here, known: Recollection, says: List[Say]) -> None:
        self._here = here
        self._known = known
        self._says = says
        self._events = EventNews(here, says)

    def take_mark(self) -> None:
        """How far it is."""
        mark, begun = self._here.marked, self._known.begun
        if mark.owner == NOBODY and (begun.name or self._was_recovered_unknown()):
            self._take_end()
        if mark.outage != begun.name:
            self._known.reported.pop("not_recovered", None)
        if mark.owner == OURS:
            self._take_turn()
            self._known.begun = Begun(mark.outage, mark.phase, mark.keys)
            self._take_preparation()
            self._take_recovery()
        elif mark.owner == NOBODY:
            self._known.begun = Begun()

    def _take_preparation(self) -> None:
        here, mark = self._here, self._here.marked
        for life in [life for life in here.open if here.is_marked(life)]:
            if mark.is_failed:
                why = self._why(PREPARED)
                here.lives[life.key] = life = life._replace(failed=life.failed or why or "no reason is known")
                self._events.tell(life, "failed", sentences.failed(life.event, why, is_begun=True))
            elif mark.phase == "prepared" and mark.boot_id == here.facts.moment.boot_id and _can_still_be_met(life):
                words = f"This machine is prepared for {sentences.title(life.event)}."
                # Another event of the same outage may have brought about what had failed for this one.
                here.lives[life.key] = life = life._replace(failed="")
                self._events.tell(life, "prepared", words)

    def _take_turn(self) -> None:
        """Another outage may have taken the recovery's place before that was over."""
        here, begun = self._here, self._known.begun
        if begun.phase != "recovering" or here.marked.outage == begun.name:
            return
        lives = [life for life in here.open if here.is_marked(life)]
        if lives:
            over = [here.lives[key] for key in sorted(begun.keys) if key in here.lives and not here.lives[key].is_open]
            last = max(lives, key=lambda life: life.shown)
            words = sentences.recovery_stopped([life.event for life in over], [life.event for life in lives])
            self._says.append(Say("recovery_stopped", words, last.event, last.notice, last.outcome, here.marked.outage))

    def _take_recovery(self) -> None:
        mark, reported = self._here.marked, self._known.reported
        if mark.is_partially_recovered and reported.get("not_recovered") != mark.failed_words:
            reported["not_recovered"] = mark.failed_words
            self._say("not_recovered", sentences.not_recovered(self._why(RECOVERED)))

    def _was_recovered_unknown(self) -> bool:
        """Whether a person has had the machine recovered before it was known whose mark that was."""
        answer = self._here.facts.answer
        return answer is not None and answer.state == "recovered" and answer.at != self._known.answered

    def _take_end(self) -> None:
        """The mark is gone: by the machine's recovery, or somebody has taken it off."""
        here, answer = self._here, self._here.facts.answer
        if self._known.begun.phase == "recovering" or (answer is not None and answer.state == "recovered"):
            self._say("recovered", "This machine is back in service: all that was done is taken back.")
            return
        self._say("taken_off", "Somebody has taken off this machine's mark: the watcher keeps off its events.")
        for key in self._known.begun.keys.intersection(here.lives):
            here.lives[key] = here.lives[key]._replace(failed="somebody has taken off the mark")

    def _say(self, happened: str, message: str) -> None:
        """Of the outage as a whole: with the event that came last to it."""
        begun = self._known.begun
        lives = [self._here.lives[key] for key in sorted(begun.keys) if key in self._here.lives]
        if not lives:
            self._says.append(Say(happened, message, outage=begun.name))
            return
        last = max(lives, key=lambda life: life.shown)
        self._says.append(Say(happened, message, last.event, last.notice, last.outcome, begun.name))

    def _why(self, to: str) -> str:
        answer = self._here.facts.answer
        return answer.why if answer and answer.to == to and answer.why else self._here.marked.failed_words

    def take_answer(self) -> None:
        """What did not come about is tried again after a while."""
        here, known, answer = self._here, self._known, self._here.facts.answer
        if answer is None or answer.at == known.answered:
            return
        known.answered = answer.at
        if answer.to == PREPARED and answer.state in ("failed", "refused") and here.marked.owner == NOBODY:
            known.tried = known.tried.again(PREPARED, answer.at)
            for life in [life for life in here.open if wish(here, life).prepare]:
                self._events.tell(life, "failed", sentences.failed(life.event, answer.why, is_begun=False))
        elif answer.to == RECOVERED and here.marked.is_partially_recovered:
            known.tried = known.tried.again(RECOVERED, answer.at)
        elif here.marked.phase in ("preparing", "prepared"):
            known.tried = Tried()


def _can_still_be_met(life: Life) -> bool:
    """What had struck before is reported as what it was: it met the machine unprepared."""
    return life.is_coming or life.event.takes_machines_away
