# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Carries out the orders of people. What handling has to know of them stands in the hold, in a confirmation of an event, or in ``recovery``.

Private to this collection.
"""

from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence

from ..._clock import iso_utc
from ..._core.mark_view import COPIED, OURS, UNIDENTIFIED, mark_view
from ..._core.tracked_event import UNBROKEN
from ..._events.event import Event
from ..._machine.mark import Mark, NotWritten
from ..._steps.step_type import Step
from ..._text import listed, one_line
from ..engine.interface import Hold, Identity, PollResult
from ..engine.snapshot import RUN, asker
from ..engine.transitions import named
from ..reports.systemd_transport import NOTICE
from ..settings.hooks import steps_of
from ..settings.options import NEVER, OBSERVE
from .command_queue import Command
from .wiring import Components

KEPT = 20  # outcomes
_ANY = "any"  # stands for every type of event that has no steps of its own


class NotDone(Exception):
    """Why an order was not carried out, in a sentence."""


class CommandHandler:
    """The orders of one watcher.

    :arg parts: what the watcher works with
    :arg check: checks everything again that is checked now and then; returns what is wrong
    :arg steps: those of this machine by type of event, as they are now
    recovery: the order to recover the machine that is being carried out
    outcomes: what came of the last orders, for whoever gave them
    """

    def __init__(
        self,
        parts: Components,
        check: Callable[[], List[str]],
        steps: Callable[[], Mapping[str, Sequence[Step]]] = dict,
    ) -> None:
        self.recovery: Optional[Command] = None
        self.outcomes: List[Dict[str, Any]] = []
        self._orders = parts.orders
        self._hold = parts.hold
        self._suppressed = parts.suppressed
        self._program = parts.program
        self._clock = parts.clock
        self._settings = parts.settings
        self._system = parts.system
        self._log = parts.log
        self._check = check
        self._steps = steps
        self._despite: List[str] = []  # events, of the recovery that is being carried out

    def take(self, polled: Optional[PollResult], identity: Optional[Identity], open_events: Sequence[str]) -> List[str]:
        """Carry out those that wait; returns a sentence about each.

        :arg open_events: keys of this machine's events that are not over for certain, as handling saw it last
        """
        said = []
        for order in self._orders.take():
            done = False
            try:
                if order.problem:
                    raise NotDone(order.problem)
                outcome, done = self._carried_out(order, polled, identity, open_events), True
            except NotDone as error:
                outcome = str(error)
            except (OSError, NotWritten) as error:
                outcome = f"It could not be carried out: {one_line(error, 300)}"
            if outcome:
                said.append(self._noted(order, outcome, done))
        return said

    def recovered(self, outcome: str, done: bool) -> str:
        """The order to recover has been carried out, or can't be; returns a sentence about it."""
        order, self.recovery = self.recovery, None
        if done and self._despite:
            outcome += (
                f" It stays in service for {listed(self._despite)}; azure-maintenance approve ID has it prepared again."
            )
        return self._noted(order, outcome, done) if order else ""

    def take_from(self) -> str:
        """The run whose mark the order takes from it; "" for none."""
        mark = self._program.mark()[0]
        force = self.recovery is not None and self.recovery.force
        return mark["holder"]["run"] if force and mark and mark["holder"]["run"] != RUN else ""

    def _carried_out(
        self, order: Command, polled: Optional[PollResult], identity: Optional[Identity], open_events: Sequence[str]
    ) -> str:
        """What came of it; "" while it is being carried out."""
        if order.order == "hold":
            self._hold.put(
                Hold(order.reason, order.by, order.until, identity.vm_id if identity else ""), self._clock.wall()
            )
            until = f" until {iso_utc(order.until)}" if order.until is not None else ""
            return f"Approvals are on hold{until or ' until released (azure-maintenance release)'}."
        if order.order == "release":
            was_held = self._hold.read() is not None
            self._hold.remove()
            return "Approvals are no longer on hold." if was_held else "Approvals were not on hold."
        if order.order == "approve":
            return self._confirm(order, polled, identity)
        if order.order == "recover":
            self._recover(order, polled, identity, open_events)
            self.recovery = order
            return ""
        problems = self._check()
        if problems:
            raise NotDone(" ".join(problems))
        return "Nothing is wrong."

    def _confirm(self, order: Command, polled: Optional[PollResult], identity: Optional[Identity]) -> str:
        events = polled.document.events if polled else ()
        found = [event for event in events if event.key == order.event.upper()]
        if not found:
            there = ", ".join(event.event_id for event in events) or "none"
            raise NotDone(f"The document has no event {order.event}. Its events: {there}.")
        self._program.confirm_event(found[0].event_id, order.by)
        said, hold = f"The confirmation of {found[0].event_id} is noted", self._hold.read()
        never = self._never(found[0], identity)
        if never:
            return f"{said}. The watcher itself does not approve it, as {never}; a run of maintain does, which uses this confirmation."
        if hold and hold.lasts(self._clock.wall()):
            return f"{said}, but approvals are on hold: it is approved after azure-maintenance release, or when the hold ends."
        return f"{said}; it is approved as soon as this machine is prepared and no other event comes first."

    def _never(self, event: Event, identity: Optional[Identity]) -> str:
        """Why it is not the watcher's to approve, whatever a person says; "" where it is."""
        settings = self._settings.current.settings
        if settings.mode == OBSERVE:
            return "it only reports (watcher_mode)"
        if settings.approve == NEVER:
            return "it never approves (watcher_approve)"
        if identity and any(name.lower() != identity.name.lower() for name in event.resources):
            return "other machines are affected, too"
        return ""

    def _recover(
        self, order: Command, polled: Optional[PollResult], identity: Optional[Identity], open_events: Sequence[str]
    ) -> None:
        """:raises NotDone: when the machine can't be recovered, or must not be unless it is forced"""
        mark, unreadable = self._program.mark()
        if unreadable and not order.force:
            raise NotDone(
                f"The mark can't be read, so it is not known what was done to the machine: {unreadable}. To undo all steps and run all "
                "recover hooks, run: azure-maintenance recover --force"
            )
        if unreadable:
            mark = self._all_done(polled, identity)
        if not mark:
            raise NotDone("The machine is not marked: there is nothing to undo.")
        self._despite = []
        if order.force:
            self._suppress(mark, polled)
            return
        view = mark_view(mark, "", asker(identity, self._settings.current.endpoint), self._system.moment())
        if view.owner not in (OURS, UNIDENTIFIED, COPIED):
            raise NotDone(f"The machine is owned by {view.owner_words}; to take it over, add --force.")
        if not (polled and identity) or self._clock.now() - polled.asked > UNBROKEN:
            raise NotDone(
                "It is not known now which events affect this machine; to recover it all the same, add --force."
            )
        shown = [event.event_id for event in polled.document.events if event.affects(identity.name)]
        # One document that lacks an event does not end it.
        not_over = [*shown, *open_events]
        if not_over:
            raise NotDone(f"The event {not_over[0]} is not over; to recover the machine now, add --force.")

    def _all_done(self, polled: Optional[PollResult], identity: Optional[Identity]) -> Optional[Mark]:
        """The mark in the place of one that can't be read: all steps, those for every type of event, count as done."""
        steps = self._steps()
        kinds = {kind or _ANY: kind or _ANY for kind in steps}
        events = polled.document.events if polled and identity else ()
        shown = [event.event_id for event in events if identity and event.affects(identity.name)]
        note = {"outage": named(self._system.moment()), "types": kinds}
        kept = self._program.count_all_as_done(
            steps_of(steps, tuple(kinds)), shown, note, identity, self._settings.current.endpoint
        )
        self._log.say(f"The mark that can't be read is kept as {kept}. All steps count as done.", NOTICE)
        return self._program.mark()[0]

    def _suppress(self, mark: Mark, polled: Optional[PollResult]) -> None:
        """The machine is not prepared again for the events despite which it is recovered; noted before anything is undone."""
        self._suppressed.add(mark["events"], self._clock.wall())
        for event in mark["events"]:
            self._program.withdraw_confirmation(event)
        there = {event.key for event in polled.document.events} if polled else set()
        self._despite = [event for event in mark["events"] if event.upper() in there]

    def _noted(self, order: Command, outcome: str, done: bool) -> str:
        entry: Dict[str, Any] = {"name": order.name, "order": order.order, "outcome": outcome, "done": done}
        self.outcomes = [*self.outcomes, dict(entry, at=iso_utc(self._clock.wall()))][-KEPT:]
        by = f" of {order.by}" if order.by else ""
        return f"Command {order.order}{by}: {outcome}" if order.order else outcome
