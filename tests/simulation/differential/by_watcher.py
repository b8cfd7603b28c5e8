# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A script as the machine's own watcher lives it."""

from __future__ import annotations

import random
from typing import Any, NamedTuple

from lives.azure import Azure, Event, Scope
from lives.clock import Clock
from lives.journal import Journal
from watcher.collection import parts
from watcher.machine import WALL, Machine, Settings
from watcher.program import Piece

from .ending import live
from .milestones import Lived, MarkAt
from .script import Script, Span

NAME = "vm0"
EVERY = 2.0  # seconds between two polls while something is shown: a run has no more


class Entry(NamedTuple):
    """An event as the watcher's machine reads it."""

    id: str
    type: str
    status: str
    not_before: float | None
    resources: tuple[str, ...]
    source: str
    duration: int


class Document:
    """The run's Azure, as the watcher's machine asks it."""

    def __init__(self, azure: Azure, scope: Scope, script: Script) -> None:
        self.azure, self.scope, self.script = azure, scope, script

    def document(self, _at: float) -> tuple[int, tuple[Entry, ...], tuple[str, ...]]:
        """Incarnation, events, and the ids of the entries that can't be read."""
        incarnation, entries = self.azure.document(self.scope, NAME, False)
        if self._within(self.script.empty):
            return incarnation, (), ()
        if entries and self._within(self.script.damaged):
            return incarnation, tuple(map(_entry, entries[1:])), ("",)
        return incarnation, tuple(map(_entry, entries)), ()

    def _within(self, spans: tuple[Span, ...]) -> bool:
        return any(begins <= self.azure.clock.now < ends for begins, ends in spans)

    def approve(self, identity: str, by: str) -> bool:
        return self.azure.approve(self.scope, identity, by, "watcher")


def _entry(shown: dict[str, Any]) -> Entry:
    return Entry(
        shown["EventId"],
        shown["EventType"],
        shown["EventStatus"],
        shown["NotBefore"],
        tuple(shown["Resources"]),
        shown["EventSource"],
        shown["DurationInSeconds"],
    )


class Watched(Machine):
    """The watcher's machine, to which the run's Azure can do what it does to its own."""

    host = NAME

    @property
    def gone(self) -> bool:
        return self.taken

    @property
    def is_up(self) -> bool:
        return self.up

    def taken_away(self) -> None:
        if self.up:
            self.lose_power(1e9)
        self.taken = True

    def reboot(self, seconds: float) -> None:
        if self.up:
            self.lose_power(seconds)

    def freeze(self, seconds: float) -> None:
        if seconds:
            self.stand_still(seconds, True, 0.5)

    def _event(self, entry: Any) -> Any:
        when = entry.not_before
        named = ("", None) if when is None else ("x", WALL + when)
        return parts().event.Event(
            *(entry.id, entry.type, entry.status, "VirtualMachine", entry.resources, entry.resources),
            *named,
            *("", entry.source, entry.duration),
        )


def lived(script: Script) -> Lived:
    """What a watcher decided in it."""
    clock = Clock()
    journal = Journal(clock)
    azure = Azure(clock, journal, random.Random(1))
    scope = azure.scope("scope")
    facts = parts().interface
    pieces = [_piece(number, one) for number, one in enumerate(script.work)]
    plain = Settings("prepare_and_approve", "manage", "own", script.prepare_before, 0.0, script.limits, script.limits)
    machine = Watched(NAME, Document(azure, scope, script), clock, journal, random.Random(1), plain, pieces, EVERY)  # type: ignore[arg-type]
    policy = parts().policy.parse_policy([dict(rule) for rule in script.policy])
    machine.product_settings = facts.Settings(
        "manage", "own", policy, script.prepare_before, script.limits, script.limits, 0.0
    )
    machine.spells_oddly = True  # so that each entry is read by the machine, with its duration
    machine.settles = 3.0
    machine.windows["blind"] = list(script.blind)
    azure.machines[NAME] = machine
    if script.restarts is not None:
        machine.troubles.append(("prepared", script.restarts, machine.lose_power_now, (10.0,)))
    events = {}
    for one in script.events:
        event = events[one.id] = Event(one.id, one.kind, [NAME], one.notice, **one.fate)
        clock.at(one.at, azure.announce, scope, event)
    for at, identity in script.confirmed:
        clock.at(at, machine.yes.add, identity)
    machine.start_watcher()
    live(clock, script, events.values(), lambda: machine.gone or machine.mark is None)
    said = [line for line in journal.of("say") if line["happened"] == "ended"]
    outcomes = {line["event"]: line["outcome"] for line in said}
    return Lived("watcher", journal, events, list(_marks(journal)), outcomes, machine.taken)


def _piece(number: int, one: Any) -> Piece:
    does = [(1e6 if one.do > one.limit else one.do, 1 if one.fails else 0)]
    piece = Piece(f"service {number}", "step", does, [(one.undo, 1)] * one.undo_fails + [(one.undo, 0)])
    piece.limit = one.limit
    return piece


def _marks(journal: Journal) -> Any:
    for line in journal.of("mark", "unmarked"):
        gone = line["what"] == "unmarked"
        yield MarkAt(line["at"], "" if gone else line["phase"], () if gone else tuple(line["events"]))
