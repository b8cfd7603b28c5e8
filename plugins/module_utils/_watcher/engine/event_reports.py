# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is reported of the machine's events, each happening once in an event's life; and of its outage, by its mark, whoever has brought it
there, and whenever. Pure.

Private to this collection.
"""

from typing import Any, Dict, FrozenSet, List, Mapping, Sequence

from ..._core.decision import PREPARING, acts
from ..._core.mark_view import NOBODY, OURS
from ..._core.messages import title
from ..._core.transitions import PREPARED, RECOVERED
from ..._events.event import Event
from ..._events.lifecycle import CANCELLED, COMPLETED
from ..._text import clause, listed, seconds_until, shown
from .decision import EventDecision, decided, decision_on, is_suppressed
from .engine_state import Begun, MachineEvent
from .interface import Say
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
                self.tell(life, "scheduled", scheduled_text(life.event, now), details=details)
            more = life.tracked.names - life.tracked.first_names
            if more:
                self.tell(life, "changed", changed_text(life.event, more))
            if life.started and "started" not in said:
                self.tell(life, "started", started_text(life))
                self._take_strike(life)
            if life.tracked.scheduled_again is not None:
                self.tell(life, "scheduled_again", scheduled_again_text(life.event))
            if life.tracked.gone is not None:
                self.tell(life, "ended", ended_text(life.event, life.tracked.outcome), outcome=life.tracked.outcome)

    def _take_strike(self, life: MachineEvent) -> None:
        """Whether it has struck a machine that should have been prepared for it."""
        marked = self._here.marked
        mine = marked.owner == OURS or (marked.owner == NOBODY and self._here.acts)
        # A Freeze reboots nobody: where the machine was rebooted since its steps were done, they do not count for it
        is_undone = life.event.leaves_machines_running and marked.boot_id != self._here.facts.moment.boot_id
        if (
            not mine
            or (marked.phase == "prepared" and not is_undone)
            or decided(self._here, life).action not in PREPARING
        ):
            return
        if life.event.takes_machines_away and not (life.failed or is_suppressed(self._here, life)):
            return  # it is prepared for even now
        self.tell(life, "started_unprepared", started_unprepared_text(life.event))

    def take_decisions(self, decisions: Mapping[str, EventDecision]) -> None:
        """Who should be prepared by now, and is not."""
        for life in self._here.open:
            if life.late:
                self.tell(life, "not_prepared_in_time", late_text(life.event, decisions[life.key].left))

    def take_posts(self) -> None:
        """What came of approvals."""
        for life in self._here.open:
            posted = self._here.facts.posted.get(life.key)
            if posted and posted.accepted:
                self.tell(life, "approved", f"{title(life.event)} is approved.")
            elif posted:
                self.tell(life, "not_approved", not_approved_text(life.event, posted.why))


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
                    life, "prepare_failed", prepare_failed_text(life.event, why(here, PREPARED), is_begun=True)
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
            words = recovery_interrupted_text([life.event for life in over], [life.event for life in lives])
            outage = here.marked.outage
            self._events.says.append(
                Say("recovery_interrupted", words, last.event, last.tracked.notice, last.tracked.outcome, outage)
            )

    def _take_recovery(self, reported: Dict[str, str]) -> None:
        mark = self._here.marked
        if mark.is_partially_recovered and reported.get(_RECOVERY_FAILED) != mark.failed_words:
            reported[_RECOVERY_FAILED] = mark.failed_words
            words = recovery_failed_text(why(self._here, RECOVERED))
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
        """What was put back by somebody; what did not even begin, and is tried again after a while."""
        answer = self._progress.answer
        if answer and answer.back:
            self._say(self._progress.begun, "in_service", in_service_text(answer.back))
        if answer is None or not could_not_begin(self._here, answer):
            return
        for life in [life for life in self._here.open if decisions[life.key].prepare]:
            self._events.tell(life, "prepare_failed", prepare_failed_text(life.event, answer.why, is_begun=False))


# ---- in which words: what happened, and what to do where somebody has to ----

_DOES = {
    "ignore": "it is ignored",
    "notify": "it is only reported",
    "prepare": "the machine is prepared, and the event starts by itself",
    "hold": "the machine is prepared, and the event waits for a confirmation",
    "prepare_and_approve": "the machine is prepared, then the event is approved",
    "approve": "the event is approved at once",
}


_CAME_STARTED = "was already Started when this watcher process first saw it"
"""True as well after the reboot that the watcher approved: of an event without a mark nothing outlives that."""


def scheduled_text(event: Event, decision: EventDecision) -> str:
    machines = "this machine" if len(event.resources) == 1 else f"{len(event.resources)} machines"
    if event.has_started:
        return f"{title(event)} of {machines} {_CAME_STARTED}."
    rule = f" (policy: {clause(decision.rule)})" if decision.rule else ""
    does = _DOES.get(decision.action, decision.action)
    if event.is_advice and decision.action == "prepare":
        does = "the machine is prepared, until the advice has disappeared"
    words = f"{title(event)} of {machines} {_when(event, decision.left)}: {does}{rule}"
    if acts(decision.action) and not decision.prepare and not decision.approve:
        return f"{words}; not approved yet: {clause(decision.waits, 1000)}."
    return f"{words}."


def _when(event: Event, left: float) -> str:
    if event.is_advice:
        return "is advice" + (f" for {event.not_before}" if event.not_before else ", and names no time")
    if not event.is_scheduled:
        return f"has the status {shown(event.event_status)}"
    return (
        "may start at any moment, as it names no time"
        if event.not_before_time is None
        else f"may start {seconds_until(left)}"
    )


def changed_text(event: Event, names: "frozenset[str]") -> str:
    return (
        f"{title(event)} lists other machines now, too: {listed(sorted(names), 5)}. This watcher does not approve it."
    )


def started_text(life: MachineEvent) -> str:
    if life.has_come_started:
        return f"{title(life.event)} {_CAME_STARTED}."
    tracked = life.tracked
    after = "" if life.from_mark else f", {(tracked.started or 0.0) - tracked.shown:.0f} s after it was shown"
    by = "" if life.approved else ", without an approval by this machine"
    return f"{title(life.event)} has started{after}{by}."


def ended_text(event: Event, outcome: str) -> str:
    if outcome == COMPLETED:
        return f"{title(event)} is over."
    if outcome == CANCELLED:
        return f"{title(event)} was cancelled."
    return f"{title(event)} has disappeared. Whether it took place or was cancelled is unknown."


def started_unprepared_text(event: Event) -> str:
    return f"{title(event)} has started, and this machine was not prepared for it. Only completed steps are undone."


def scheduled_again_text(event: Event) -> str:
    return (
        f"{title(event)} is Scheduled again (not before {event.not_before or 'unknown'}), although it had started: it counts "
        "as started until it has disappeared. Check whether this machine is in service."
    )


def late_text(event: Event, left: float) -> str:
    return (
        f"This machine is not prepared for {title(event)}, which {_when(event, left)}. Running hooks and steps continue "
        "within their limits, and the event is not approved. Increase azure_maintenance_prepare_before, or reduce the limits of its hooks."
    )


def not_approved_text(event: Event, reason: str) -> str:
    return f"{title(event)} could not be approved: {clause(reason, 500) or 'no reason is known'}. It is retried."


def prepare_failed_text(event: Event, reason: str, is_begun: bool) -> str:
    then = (
        "Completed steps are undone before the event if there is time, otherwise after it"
        if is_begun
        else "The preparation is retried until the event starts"
    )
    return f"This machine could not be prepared for {title(event)}: {clause(reason, 1000) or 'no reason is known'}. {then}."


def in_service_text(back: Sequence[str]) -> str:
    return f"Somebody else put back what this machine is out of service by: {listed(back)}. It is done again."


def recovery_interrupted_text(over: Sequence[Event], coming: Sequence[Event]) -> str:
    """:arg over: what the machine was recovered from; coming: what it has to be prepared for"""
    since = f" from {listed(map(title, over))}" if over else ""
    return f"The recovery{since} was stopped: this machine has to be prepared for {listed(map(title, coming))}."


def recovery_failed_text(reason: str) -> str:
    return (
        f"This machine could not be fully recovered: {clause(reason, 1000) or 'no reason is known'}. Steps are retried, and so "
        "are hooks that were not run; a hook that has failed is not. Fix the cause, then run: azure-maintenance recover --force"
    )
