# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Azure as this simulation knows it: one scope, its events and its document, and what the events do to machines."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, NamedTuple

from lives.clock import Clock
from lives.journal import Journal

TAKES_AWAY = ("Terminate", "Preempt")
ADVICE = "SpotRebalanceRecommendation"


class Event:
    """One piece of maintenance, and what will become of it."""

    def __init__(self, identity: str, kind: str, resources: list[str], notice: float, **fate: Any) -> None:
        self.id, self.type, self.resources, self.notice = identity, kind, list(resources), notice
        self.source: str = fate.pop("source", "Platform")
        self.lasts: float = fate.pop("lasts", 20.0)  # from Started until it leaves
        self.delay: float = fate.pop("delay", 0.0)  # other tenants of the host take that long to approve
        self.cancelled_after: float | None = fate.pop("cancelled_after", None)
        self.approved_by_other: float | None = fate.pop("approved_by_other", None)
        self.grows: tuple[float, str] | None = fate.pop("grows", None)
        self.born_started: bool = fate.pop("born_started", False)
        self.down: float = fate.pop("down", 0.0)  # seconds for which its machines are away
        self.still: float = fate.pop("still", 0.0)  # seconds for which its machines stand still
        self.names_a_time: bool = fate.pop("names_a_time", True)
        # From when to when its entry can't be read, and whether it has lost its id as well
        self.damage: list[tuple[float, float, bool]] = fate.pop("damage", [])
        assert not fate, fate
        self.status = ""
        self.not_before = 0.0
        self.shown = 0.0
        self.started: float | None = None
        self.left: float | None = None
        self.approved = self.has_grown = False

    @property
    def is_open(self) -> bool:
        return bool(self.status) and self.left is None

    def is_open_at(self, at: float) -> bool:
        return bool(self.status) and (self.left is None or at < self.left)

    def affects(self, name: str) -> bool:
        return name in self.resources

    @property
    def place(self) -> tuple[float, str]:
        return (self.not_before, self.id)


class Entry(NamedTuple):
    """An event as a document shows it."""

    id: str
    type: str
    status: str
    not_before: float
    resources: tuple[str, ...]
    source: str
    names_a_time: bool
    damage: tuple[tuple[float, float, bool], ...] = ()

    def as_it_is(self, at: float) -> str | None:
        """What can be read of it: None when it is whole, else its id, or ""."""
        found = [lost for begins, ends, lost in self.damage if begins <= at < ends]
        return None if not found else "" if found[0] else self.id


class Scope:
    """Virtual machines that are shown one document."""

    def __init__(self, clock: Clock, journal: Journal, chance: random.Random) -> None:
        self.clock, self.journal, self.chance = clock, journal, chance
        self.incarnation = chance.choice((0, 1, 7, 208))
        self.events: list[Event] = []  # all that ever were
        self.documents: list[tuple[float, int, tuple[Entry, ...]]] = [(-1e9, self.incarnation, ())]  # since when, each
        self.blips: list[tuple[float, float]] = []  # when the document is empty though it should not be
        self.pause: Callable[[str, float], None] = lambda _name, _seconds: None
        self.damage: Callable[[Event], None] = lambda _event: None
        self.strays: list[
            tuple[float, float, str]
        ] = []  # entries that are no events: from when to when, and with which id
        self.surprises: list[Callable[[], None]] = []  # each once, in the very moment in which an event leaves
        self.strike: Callable[[str, float], None] = lambda _name, _down: None

    def document(self, at: float) -> tuple[int, tuple[Entry, ...], tuple[str, ...]]:
        """Incarnation and events of the document as it was at a moment, and the ids of what can't be read in it."""
        _since, incarnation, entries = next(one for one in reversed(self.documents) if one[0] <= at)
        if any(begins <= at < ends for begins, ends in self.blips):
            return incarnation, (), ()
        damaged = [found for found in (entry.as_it_is(at) for entry in entries) if found is not None]
        strays = [identity for begins, ends, identity in self.strays if begins <= at < ends]
        whole = tuple(entry for entry in entries if entry.as_it_is(at) is None) if damaged else entries
        return incarnation, whole, (*damaged, *strays)

    def show(self, event: Event) -> None:
        event.shown, event.not_before = self.clock.now, self.clock.now + event.notice
        self.events.append(event)
        self.damage(event)
        event.status = "Advisory" if event.type == ADVICE else "Scheduled"
        self._changed()
        self.journal.add("shown", event=event.id, type=event.type, resources=list(event.resources), notice=event.notice)
        if event.born_started:
            self._start(event, "by a failure")
            return
        if event.type == ADVICE:
            self.clock.after(event.notice + event.lasts, self._leave, event)
            return
        self.clock.after(event.notice, self._start, event, "by itself")
        if event.cancelled_after is not None:
            self.clock.after(event.cancelled_after, self._cancel, event)
        if event.approved_by_other is not None:
            self.clock.after(event.approved_by_other, self._start, event, "approved by another")
        if event.grows:
            self.clock.after(event.grows[0], self._grow, event, event.grows[1])

    def approve(self, identity: str, by: str) -> bool:
        """Whether it is a valid id; Azure answers 200 to what has started, too."""
        event = next((event for event in self.events if event.id == identity and event.is_open), None)
        self.journal.add("post", event=identity, by=by, status=event.status if event else "")
        if event and event.status == "Scheduled" and not event.approved:
            event.approved = True
            self.clock.after(event.delay, self._start, event, f"approved by {by}")
        return event is not None

    def _changed(self) -> None:
        """There is another document from now on."""
        self.incarnation = 1 if self.chance.random() < 0.05 else self.incarnation + self.chance.choice((1, 1, 2))
        entries = tuple(
            Entry(
                event.id,
                event.type,
                event.status,
                event.not_before,
                tuple(event.resources),
                event.source,
                event.names_a_time,
                tuple(event.damage),
            )
            for event in self.events
            if event.is_open
        )
        self.documents.append((self.clock.now, self.incarnation, entries))

    def _start(self, event: Event, how: str) -> None:
        if event.status != "Scheduled" or not event.is_open:
            return
        event.status, event.started = "Started", self.clock.now
        self._changed()
        self.journal.add("started", event=event.id, how=how)
        if event.still:
            for name in event.resources:
                self.clock.after(0.1, self.pause, name, event.still)
        if event.down:
            for name in event.resources:
                self.clock.after(min(2.0, event.lasts / 2), self.strike, name, event.down)
        self.clock.after(event.lasts, self._leave, event)

    def _cancel(self, event: Event) -> None:
        if event.status == "Scheduled" and not event.approved:
            self._leave(event)

    def _leave(self, event: Event) -> None:
        if event.is_open:
            event.left = self.clock.now
            self._changed()
            if self.surprises:
                self.surprises.pop()()
            self.journal.add("left", event=event.id, started=event.started is not None)

    def _grow(self, event: Event, name: str) -> None:
        if event.is_open and name not in event.resources:
            event.resources.append(name)
            event.has_grown = True
            self._changed()
            self.journal.add("grown", event=event.id, by=name)
