# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The state machine of an event, from before it is shown until it is gone.

    Pending -> Scheduled -> Started -> Gone (completed)     approved, or not-before has come
               Scheduled -> Gone (cancelled)
    Pending -> Started -> Gone                              hardware failure, automatic approval
    Pending -> Advisory -> Gone                             advice: acknowledging it does nothing

Every visible change is one new incarnation of its scope's document, in the same instant.
"""

from typing import Any, Callable, List, Sequence

from . import event_types
from .documents import not_before_text
from .journal import Journal
from .model import ADVISORY, GONE, PENDING, SCHEDULED, STARTED, Event, Moment, Scope
from .problems import WrongMoment
from .scenario import NEVER, Settings
from .timeline import Timeline

ARM, CO_TENANT = "arm", "co_tenant"  # approvers that are no VM, and can be asked to approve
ALL_DOWN = "all_instances_down"  # Azure itself, for a scope in which nothing runs (S4.16)

Listener = Callable[[str, Event], None]  # gets the change, and the event


class Lifecycle:
    """Moves events on."""

    def __init__(self, timeline: Timeline, journal: Journal, settings: Callable[[], Settings]) -> None:
        self._timeline = timeline
        self._journal = journal
        self._settings = settings
        self.listeners: List[Listener] = []

    def expect(self, event: Event) -> None:
        """Show the event when its time has come."""
        if event.spec.at:
            self._later(event, event.spec.at, lambda: self._show(event))
        else:
            self._show(event)

    @staticmethod
    def call_off(event: Event) -> None:
        """Nothing more becomes of the event by itself."""
        for due in event.due:
            due.call_off()
        del event.due[:]

    # -- by itself -------------------------------------------------------------------------------------------------

    def _later(self, event: Event, seconds: float, action: Callable[[], None]) -> None:
        event.due.append(self._timeline.after(seconds, action))

    def _moment(self) -> Moment:
        return (self._timeline.now(), self._timeline.clock.wall())

    def _note(self, kind: str, event: Event, **members: Any) -> None:
        self._journal.add(
            kind,
            scope=event.scope.name,
            event_id=event.id,
            name=event.name,
            event_type=event.type,
            resources=list(event.resources),
            incarnation=event.scope.incarnation,
            **members,
        )

    def _announce(self, change: str, event: Event) -> None:
        for listener in self.listeners:
            listener(change, event)

    def _show(self, event: Event) -> None:
        scope = event.scope
        if event.is_advice:
            self._advise(event)
        elif event.spec.no_notice:
            self._start([event], "no_notice")
        elif event.source == "User" and event.type in scope.spec.automatically_approve:
            self._start([event], "automatic")
        elif not scope.enabled:
            self._start([event], "disabled")  # nobody listens: Azure waits for nobody
        else:
            self._schedule(event)

    def _date(self, event: Event) -> None:
        """Set its not-before, and the date that clients are shown, which stays."""
        clock = self._timeline.clock
        event.not_before = event.not_before_shown = self._timeline.now() + event.spec.notice
        if self._settings().not_before_clock == "wall":
            ahead = event.not_before - clock.now()
            event.not_before_shown = clock.wall() + (ahead / clock.speed if clock.speed else ahead)

    def _schedule(self, event: Event) -> None:
        self._date(event)
        self._appear(event, SCHEDULED)
        self._later(event, event.spec.notice, lambda: self._start([event], "not_before"))
        if event.spec.cancel_after is not None:
            self._later(event, event.spec.cancel_after, lambda: self._leave(event, "cancelled"))
        form = self._settings().not_before_format
        self._note("scheduled", event, not_before=not_before_text(event.not_before_shown, form))
        self._announce("scheduled", event)
        self.approve_if_all_are_down(event.scope)

    def _advise(self, event: Event) -> None:
        if event.spec.not_before == "date":
            self._date(event)
        event.hides_not_before = event.spec.not_before == "absent"
        self._appear(event, ADVISORY)
        self._end_later(event)
        self._note("advisory", event)
        self._announce("advisory", event)

    def _appear(self, event: Event, status: str) -> None:
        event.status = status
        event.times["scheduled"] = self._moment()
        event.scope.events.append(event)
        event.scope.changed()

    def _end_later(self, event: Event) -> None:
        if event.spec.tail != NEVER:
            self._later(event, event.spec.tail, lambda: self._leave(event, "completed"))

    def _start(self, events: Sequence[Event], cause: str) -> None:
        """Events of one scope start together, in one new incarnation."""
        for event in events:
            self.call_off(event)
            if event.status == PENDING:
                event.scope.events.append(event)
            event.status = STARTED
            event.not_before_shown = None
            event.times["started"] = self._moment()
            self._end_later(event)
        events[0].scope.changed()
        for event in events:
            self._note("started", event, cause=cause)
            self._announce("started", event)
        if cause == "not_before":
            self._release(events[0].scope)

    def _leave(self, event: Event, outcome: str) -> None:
        self.call_off(event)
        shown = event in event.scope.events
        event.status, event.outcome = GONE, outcome
        event.times["gone"] = self._moment()
        if shown:
            event.scope.events.remove(event)
            event.scope.changed()
        self._note("gone", event, outcome=outcome)
        self._announce("gone", event)
        for follower in event.followers:
            if follower.status == PENDING:
                self.expect(follower)
        self._release(event.scope)

    # -- approval --------------------------------------------------------------------------------------------------

    def approve(self, event: Event, by: str) -> str:
        """Somebody agrees that it may start. Returns approved, already, started or advice."""
        if event.status == ADVISORY:
            return "advice"
        if event.status == STARTED:
            return "started"
        if event.approved:
            return "already"
        event.approved = True
        event.approvals.append((by, self._moment()))
        self._note("approved", event, by=by)
        if not event.co_tenants_approved and event.co_tenant_delay != NEVER:
            self._later(event, event.co_tenant_delay, lambda: self._co_tenants_approve(event))
        self._release(event.scope)
        return "approved"

    def approve_if_all_are_down(self, scope: Scope) -> None:
        """Where no VM of a scope runs, nobody is left who could approve, and nothing that could suffer."""
        if scope.spec.approve_when_all_down and scope.is_down:
            for event in [event for event in scope.events if event.status == SCHEDULED]:
                self.approve(event, ALL_DOWN)

    def _co_tenants_approve(self, event: Event) -> None:
        """The others on the host agree."""
        if event.status != SCHEDULED or CO_TENANT in [by for by, _moment in event.approvals]:
            return
        event.co_tenants_approved = True
        event.approvals.append((CO_TENANT, self._moment()))
        self._note("approved", event, by=CO_TENANT)
        self._release(event.scope)

    def _release(self, scope: Scope) -> None:
        """Start, together, what everybody has agreed to. A Terminate waits for those that come before it or with it."""
        scheduled = [event for event in scope.events if event.status == SCHEDULED]
        deletes = [event for event in scheduled if event.type == event_types.TERMINATE]
        holding = [_due(event) for event in deletes if not _agreed(event)]
        ready = [
            event
            for event in scheduled
            if _agreed(event) and not (event in deletes and any(held <= _due(event) for held in holding))
        ]
        if ready:
            self._start(ready, "approved")

    # -- by hand ---------------------------------------------------------------------------------------------------

    def start(self, event: Event) -> None:
        """Now, approved or not."""
        self._must_be(event, "started", PENDING, SCHEDULED)
        self._start([event], "control")

    def complete(self, event: Event) -> None:
        """It is over."""
        self._must_be(event, "completed", STARTED, ADVISORY)
        self._leave(event, "completed")

    def cancel(self, event: Event) -> None:
        """It will not happen."""
        self._must_be(event, "cancelled", PENDING, SCHEDULED, ADVISORY)
        self._leave(event, "cancelled")

    def approve_from_outside(self, event: Event, who: str) -> None:
        """By an ARM call, or by the other tenants of the host."""
        self._must_be(event, "approved", SCHEDULED, STARTED, ADVISORY)
        if who == CO_TENANT:
            self._co_tenants_approve(event)
        else:
            self.approve(event, who)

    @staticmethod
    def _must_be(event: Event, done: str, *statuses: str) -> None:
        if event.status not in statuses:
            raise WrongMoment(f"event {event.id} is {event.status}: only {' or '.join(statuses)} can be {done}")


def _agreed(event: Event) -> bool:
    return event.approved and event.co_tenants_approved


def _due(event: Event) -> float:
    return event.not_before or 0.0
