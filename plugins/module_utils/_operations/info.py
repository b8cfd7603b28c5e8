# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Poll, or poll until a condition is met: what scheduled_events_info does.

Private to this collection.
"""

from typing import Any, Callable, Dict, List, Mapping, NoReturn, Optional

from .._clock import Clock, Deadline
from .._errors import ScheduledEventsError
from .._events.document import Document
from .._events.event import Event, among
from .._events.lifecycle import Transition, remembered, transitions
from .._imds.endpoint import Found
from .._imds.transport import Transport
from .._text import listed
from .operation import MOST_WARNINGS, Operation
from .options import info_options, waits_for_none

_MOST_DESCRIBED = 20


def info(
    options: Mapping[str, Any], transport: Transport, clock: Clock, find: Optional[Callable[[], Found]] = None
) -> Dict[str, Any]:
    """Poll, or poll until a condition is met.

    :arg find: finds endpoints where the option endpoint can't be reached (option discover)
    """
    return Info(info_options(options), transport, clock, find).perform()


class Info(Operation):
    def __init__(
        self, options: Dict[str, Any], transport: Transport, clock: Clock, find: Optional[Callable[[], Found]]
    ) -> None:
        super().__init__(options, transport, clock, find)
        self.placement_group: Optional[str] = None
        self.seen: List[Transition] = []
        self._named = {event_id.upper() for event_id in options["event_ids"] or ()}

    def run(self) -> None:
        options = self.options
        if waits_for_none(options):
            return
        deadline = Deadline(self.clock, options["wait_timeout"]) if options["wait"] else None
        self.first_poll(deadline)
        self.learn_name(needed=options["affecting"] == "self")
        if options["placement_group"]:
            self.placement_group = self.imds.placement_group()
        if deadline:
            self._wait(deadline)

    def result(self) -> Dict[str, Any]:
        result = super().result()
        result["warnings"] += self._doubt_warnings()
        result.update(
            events=self.event_dicts(self._chosen()),
            placement_group=self.placement_group,
            transitions=[self._transition_dict(transition) for transition in self.seen],
        )
        return result

    def _wait(self, deadline: Deadline) -> None:
        known = self.options["since_incarnation"]
        if known is None:
            known = self.document.incarnation
        before = self.document
        while not self._is_met(known):
            if deadline.passed() or not self.change(deadline, self.options["wait_sleep"]):
                self._give_up()
            self.seen.extend(
                transition
                for transition in transitions(before, self.document, now=self.imds.looked_at)
                if self._passes(transition.event, with_status=False, in_doubt=True)
            )
            before = remembered(before, self.document)

    def _is_met(self, known: Optional[int]) -> bool:
        wanted = self.options["wait_for"]
        if self.document.incarnation is None:  # an empty answer: nothing has come, gone or changed by that
            return False
        if wanted == "change":
            return self.document.incarnation != known
        if wanted == "event":
            return bool(self._chosen())
        if wanted == "gone":
            return not self._may_be_left()
        # A named event that is gone will never start.
        gone = self.document.lacks(self._named)
        return any(event.has_started for event in self._chosen()) or (bool(gone) and gone == self._named)

    def _may_be_left(self) -> bool:
        """Whether an event is left that is waited for, or one that may be."""
        return any(self._passes(event, in_doubt=True) for event in self.document.events) or any(
            not self._named or not entry.key or entry.key in self._named for entry in self.document.unusable
        )

    def _give_up(self) -> NoReturn:
        options = self.options
        if self.document.incarnation is None:
            raise ScheduledEventsError(
                f"{self.imds.endpoint} sent no document within {options['wait_timeout']:g} s, only empty answers: "
                "whether there are events is unknown.",
                kind="timeout",
                url=self.document_url,
            )
        outcome = {
            "event": "No event came within",
            "started": "No event had started after",
            "gone": "An event was still there after",
            "change": "The document did not change within",
        }[options["wait_for"]]
        filters = [
            f"{name}={listed(options[name])}" for name in ("event_ids", "types", "statuses", "sources") if options[name]
        ]
        if options["affecting"] == "self":
            filters.append(f"affecting {self.name}")
        raise ScheduledEventsError(
            f"{outcome} {options['wait_timeout']:g} s at "
            f"{self.imds.endpoint}{f' ({listed(filters)})' if filters else ''}. "
            f"The last document (incarnation {self.document.incarnation}) held {_described(self.document)}.",
            kind="timeout",
            url=self.document_url,
        )

    def _chosen(self) -> List[Event]:
        return [event for event in self.document.events if self._passes(event)]

    def _passes(self, event: Event, with_status: bool = True, in_doubt: bool = False) -> bool:
        """Whether the filters let the event through.

        :arg in_doubt: what to say when something that a filter uses can't be read
        """
        options = self.options
        return (
            (not self._named or event.key in self._named)
            and all(
                not text and in_doubt or among(text, options[name])
                for name, text in _filtered_texts(event).items()
                if options[name] and (with_status or name != "statuses")
            )
            and (options["affecting"] == "any" or event.affects(self.name))
        )

    def _doubt_warnings(self) -> List[str]:
        """One for each event that the filters leave out because they can't tell, and not too many."""
        in_doubt = [
            event for event in self.document.events if self._passes(event, in_doubt=True) and not self._passes(event)
        ]
        warnings = []
        for event in in_doubt[:MOST_WARNINGS]:
            names = [name for name, text in _filtered_texts(event).items() if self.options[name] and not text]
            warnings.append(
                f"Event {event.event_id} of {listed(event.resources)} was left out, because the document does not "
                f"say what the option {' or '.join(names)} asks for."
            )
        if len(in_doubt) > MOST_WARNINGS:
            warnings.append(f"{len(in_doubt) - MOST_WARNINGS} more events were left out for the same reason.")
        return warnings

    def _transition_dict(self, transition: Transition) -> Dict[str, Any]:
        event = transition.event
        return {
            "kind": transition.kind,
            "id": event.event_id,
            "type": event.event_type,
            "outcome": transition.outcome,
            "affects_self": event.affects(self.name) if self.name else None,
        }


def _filtered_texts(event: Event) -> Dict[str, str]:
    """What the options that are filters use; "" where it can't be read, or this api-version lacks it."""
    return {"types": event.event_type, "statuses": event.event_status, "sources": event.source}


def _described(document: Document) -> str:
    described = [
        f"{event.event_type or 'An event of unknown type'} {event.event_id} "
        f"{event.event_status or 'of unknown status'} of {listed(event.resources)}"
        for event in document.events
    ]
    described.extend(f"entry {entry.position}, which can't be read: {entry.reason}" for entry in document.unusable)
    return (
        "; ".join(described[:_MOST_DESCRIBED])
        + (f"; and {len(described) - _MOST_DESCRIBED} more" if len(described) > _MOST_DESCRIBED else "")
        or "no event"
    )
