# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Azure as this simulation knows it: scopes, their events and documents, and what the events do to machines.

It knows nothing of the collection: what it does and is sent goes into the journal.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from .clock import Clock, Signal
from .journal import Journal

GONE_FOR_GOOD = ("Terminate", "Preempt")


class Event:
    """One piece of maintenance, and what will become of it."""

    def __init__(self, identity: str, kind: str, resources: list[str], notice: float, **fate: Any) -> None:
        self.id, self.type, self.resources, self.notice = identity, kind, list(resources), notice
        self.source: str = fate.pop("source", "Platform")
        self.duration: int = fate.pop("duration", -1)
        self.lasts: float = fate.pop("lasts", 20.0)  # from Started until it leaves
        self.delay: float = fate.pop("delay", 0.0)  # other tenants of the host take that long to approve
        self.cancelled_after: float | None = fate.pop("cancelled_after", None)
        self.grows: tuple[float, str] | None = fate.pop("grows", None)  # when, and by which resource
        self.down: float = fate.pop("down", 0.0)  # seconds for which its machines are away
        self.approved_by_other: float | None = fate.pop("approved_by_other", None)
        self.timeless: bool = fate.pop("timeless", False)  # its document names no not-before
        self.returns: float | None = fate.pop(
            "returns", None
        )  # seconds after which it is Scheduled again, once it was over
        self.moves: tuple[float, float] | None = fate.pop("moves", None)  # when, and how many seconds are left then
        self.overdue: float = fate.pop("overdue", 0.0)  # seconds for which it is Scheduled though its time has come
        self.moved: float | None = None
        self.returned: float | None = None
        assert not fate, fate
        self.status = ""
        self.not_before = 0.0
        self.shown = 0.0
        self.started: float | None = None
        self.left: float | None = None
        self.outcome = ""
        self.approved = False
        self.is_odd = (
            self.returns is not None or self.moves is not None
        )  # it has two lives: only rules about single moments can judge it

    @property
    def open(self) -> bool:
        return bool(self.status) and self.left is None

    def affects(self, name: str) -> bool:
        return any(name.lower() == resource.lower() for resource in self.resources)


class Scope:
    """Virtual machines that are shown one document; with `each_its_own` each only sees the events that affect it."""

    def __init__(self, name: str, azure: Azure, each_its_own: bool = False) -> None:
        self.name, self.azure, self.each_its_own = name, azure, each_its_own
        self.incarnation = azure.chance.choice((0, 1, 7, 208))
        self.events: list[Event] = []
        self.changed = Signal()
        # What was shown before, and since when not any more: some machine may be shown it a little longer.
        self.earlier: tuple[float, int, list[dict[str, Any]]] = (-1e9, self.incarnation, [])

    def entries(self) -> list[dict[str, Any]]:
        return [
            {
                "EventId": event.id,
                "EventType": event.type,
                "EventStatus": event.status,
                "ResourceType": "VirtualMachine",
                "Resources": list(event.resources),
                "NotBefore": event.not_before if event.status == "Scheduled" and not event.timeless else None,
                "EventSource": event.source,
                "DurationInSeconds": event.duration,
            }
            for event in self.events
        ]

    def change(self, what: Callable[[], None]) -> None:
        self.earlier = (self.azure.clock.now, self.incarnation, self.entries())
        what()
        self.incarnation += 1
        # Begun anew, as after a day without a request; but what is not the same never has the same number.
        if self.azure.chance.random() < 0.03 and self.earlier[1] != 1:
            self.incarnation = 1
        self.changed.fire()


class Azure:
    def __init__(self, clock: Clock, journal: Journal, chance: random.Random) -> None:
        self.clock, self.journal, self.chance = clock, journal, chance
        self.scopes: dict[str, Scope] = {}
        self.machines: dict[str, Any] = {}  # by resource name in lower case: what events are done to

    def scope(self, name: str, each_its_own: bool = False) -> Scope:
        self.scopes[name] = Scope(name, self, each_its_own)
        return self.scopes[name]

    # ---- what machines ask ----

    def document(self, scope: Scope, resource_name: str, stale: bool) -> tuple[int, list[dict[str, Any]]]:
        incarnation, entries = scope.incarnation, scope.entries()
        if stale:
            _until, incarnation, entries = scope.earlier
        if scope.each_its_own:
            own = resource_name.lower()
            entries = [entry for entry in entries if own in [name.lower() for name in entry["Resources"]]]
        return incarnation, entries

    def approve(self, scope: Scope, identity: str, by: str, run: str) -> bool:
        """Whether it was a valid id; Azure answers 200 to what has started, too."""
        for event in scope.events:
            if event.id == identity:
                self.journal.add(
                    "post",
                    event=event.id,
                    by=by,
                    run=run,
                    status=event.status,
                    resources=list(event.resources),
                    machines=self._standing(event),
                )
                if event.status == "Scheduled" and not event.approved:
                    event.approved = True
                    self.clock.after(event.delay, self._start, scope, event, "approved")
                return True
        self.journal.add("post", event=identity, by=by, run=run, status="", resources=[], machines={})
        return False

    def _standing(self, event: Event) -> dict[str, tuple[bool, str]]:
        """Of each machine of the event whether it is out of service, and whose mark says that it is prepared for it."""
        found = {}
        for machine in self.machines.values():
            mark = machine.mark or {}
            if event.affects(machine.name):
                ready = mark.get("phase") == "prepared" and event.id in mark["events"]
                found[machine.host] = (machine.is_out or machine.gone, mark["holder"]["run"] if ready else "")
        return found

    # ---- what becomes of events ----

    def announce(self, scope: Scope, event: Event) -> None:
        event.shown = self.clock.now
        event.not_before = self.clock.now + event.notice
        event.status = "Scheduled" if event.notice > 0 or event.overdue else "Started"
        scope.change(lambda: scope.events.append(event))
        self.journal.add(
            "shown",
            event=event.id,
            type=event.type,
            source=event.source,
            duration=event.duration,
            resources=list(event.resources),
            notice=event.notice,
            scope=scope.name,
        )
        if event.grows:
            self.clock.after(event.grows[0], self._grow, scope, event, event.grows[1])
        if event.status == "Started":
            self._begin(scope, event, "without notice")
            return
        if event.type == "SpotRebalanceRecommendation":
            self.clock.after(event.lasts, self._leave, scope, event, "withdrawn")
            return
        self.clock.at(event.not_before + event.overdue, self._start, scope, event, "not-before")
        if event.moves:
            self.clock.after(event.moves[0], self._move, scope, event, event.moves[1])
        if event.cancelled_after is not None:
            self.clock.after(event.cancelled_after, self._cancel, scope, event)
        if event.approved_by_other is not None:
            self.clock.after(event.approved_by_other, self._start, scope, event, "another service")

    def _grow(self, scope: Scope, event: Event, name: str) -> None:
        if event.open and name not in event.resources:
            scope.change(lambda: event.resources.append(name))
            self.journal.add("grown", event=event.id, resource=name, status=event.status)
            if event.started is not None:
                self._strike(event, name)

    def _move(self, scope: Scope, event: Event, left: float) -> None:
        if event.status == "Scheduled" and event.open and not event.approved:
            event.moved = self.clock.now
            scope.change(lambda: setattr(event, "not_before", self.clock.now + left))
            self.journal.add("moved", event=event.id, left=left)
            self.clock.at(event.not_before, self._start, scope, event, "not-before")

    def _start(self, scope: Scope, event: Event, cause: str) -> None:
        if cause == "not-before" and self.clock.now < event.not_before:
            return  # it was put off
        if event.status == "Scheduled" and event.open:
            scope.change(lambda: setattr(event, "status", "Started"))
            self._begin(scope, event, cause)

    def _begin(self, scope: Scope, event: Event, cause: str) -> None:
        event.started = self.clock.now
        self.journal.add("started", event=event.id, cause=cause)
        for name in event.resources:
            self._strike(event, name)
        self.clock.after(event.lasts, self._leave, scope, event, "completed")

    def _strike(self, event: Event, name: str) -> None:
        machine = self.machines.get(name.lower())
        if machine is None or machine.gone:
            return
        self.journal.add(
            "strike", event=event.id, host=machine.host, out=machine.is_out, up=machine.is_up, type=event.type
        )
        if event.type in GONE_FOR_GOOD:
            machine.taken_away()
        elif event.type in ("Reboot", "Redeploy"):
            machine.reboot(event.down)
        else:
            machine.freeze(event.down)

    def _cancel(self, scope: Scope, event: Event) -> None:
        if event.status == "Scheduled" and not event.approved:
            self._leave(scope, event, "cancelled")

    def _leave(self, scope: Scope, event: Event, outcome: str) -> None:
        if event.open:
            event.left, event.outcome = self.clock.now, outcome
            scope.change(lambda: scope.events.remove(event))
            self.journal.add("left", event=event.id, outcome=outcome)
            if event.returns is not None and outcome == "completed":
                self.clock.after(event.returns, self._return, scope, event)

    def _return(self, scope: Scope, event: Event) -> None:
        event.started = event.left = event.returns = None
        event.returned = self.clock.now
        event.approved, event.status, event.not_before = False, "Scheduled", self.clock.now + event.notice
        scope.change(lambda: scope.events.append(event))
        self.journal.add("shown-again", event=event.id, notice=event.notice)
        self.clock.at(event.not_before, self._start, scope, event, "not-before")
