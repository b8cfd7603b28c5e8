# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the watcher says of an event, for people: what happened, and what to do where somebody has to. Pure.

Private to this collection.
"""

from typing import Sequence

from ..._core.decision import acts
from ..._core.messages import title
from ..._events.event import Event
from ..._events.lifecycle import CANCELLED, COMPLETED
from ..._text import clause, listed, seconds_until
from .decision import EventDecision

_DOES = {
    "ignore": "it is ignored",
    "notify": "it is only reported",
    "prepare": "the machine is prepared, and the event starts by itself",
    "hold": "the machine is prepared, and the event waits for a confirmation",
    "prepare_and_approve": "the machine is prepared, then the event is approved",
    "approve": "the event is approved at once",
}


def shown(event: Event, decision: EventDecision) -> str:
    machines = "this machine" if len(event.resources) == 1 else f"{len(event.resources)} machines"
    if event.has_started:
        return f"{title(event)} of {machines} has started before it was first seen."
    rule = f" (policy: {clause(decision.rule)})" if decision.rule else ""
    words = f"{title(event)} of {machines} may start {seconds_until(decision.left)}: {_DOES.get(decision.action, decision.action)}{rule}"
    if acts(decision.action) and not decision.prepare and not decision.approve:
        return f"{words}; not approved yet: {clause(decision.waits, 1000)}."
    return f"{words}."


def grown(event: Event, names: "frozenset[str]") -> str:
    return (
        f"{title(event)} lists other machines now, too: {listed(sorted(names), 5)}. This watcher does not approve it."
    )


def started(event: Event, approved: bool, after: float) -> str:
    by = "" if approved else ", without an approval by this machine"
    return f"{title(event)} has started, {max(after, 0.0):.0f} s after it was shown{by}."


def over(event: Event, outcome: str) -> str:
    if outcome == COMPLETED:
        return f"{title(event)} is over."
    if outcome == CANCELLED:
        return f"{title(event)} was cancelled."
    return f"{title(event)} has disappeared. Whether it took place or was cancelled is unknown."


def started_unprepared(event: Event) -> str:
    return f"{title(event)} has started, and this machine was not prepared for it. Only completed steps are undone."


def scheduled_again(event: Event) -> str:
    return (
        f"{title(event)} is Scheduled again (not before {event.not_before or 'unknown'}), although it had started: it counts "
        "as started until it has disappeared. Check whether this machine is in service."
    )


def late(event: Event, left: float) -> str:
    return (
        f"This machine is not prepared for {title(event)}, which may start {seconds_until(left)}. Running hooks and steps continue "
        "within their limits, and the event is not approved. Increase watcher_prepare_before, or reduce the limits of its hooks."
    )


def not_approved(event: Event, why: str) -> str:
    return f"{title(event)} could not be approved: {clause(why, 500) or 'no reason is known'}. It is retried."


def failed(event: Event, why: str, is_begun: bool) -> str:
    then = (
        "Completed steps are undone before the event if there is time, otherwise after it"
        if is_begun
        else "The preparation is retried until the event starts"
    )
    return (
        f"This machine could not be prepared for {title(event)}: {clause(why, 1000) or 'no reason is known'}. {then}."
    )


def recovery_interrupted(over: Sequence[Event], coming: Sequence[Event]) -> str:
    """:arg over: what the machine was recovered from; coming: what it has to be prepared for"""
    since = f" from {listed(map(title, over))}" if over else ""
    return f"The recovery{since} was stopped: this machine has to be prepared for {listed(map(title, coming))}."


def recovery_failed(why: str) -> str:
    return (
        f"This machine could not be fully recovered: {clause(why, 1000) or 'no reason is known'}. Steps are retried, and so "
        "are hooks that were not run; a hook that has failed is not. Fix the cause, then run: azure-maintenance recover --force"
    )
