# Copyright: (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Look, or look until something is the case: what scheduled_events_info does.

Private to this collection.
"""

from typing import Any, Callable, Dict, List, Mapping, NoReturn, Optional, Sequence

from .._clock import Clock, Deadline
from .._errors import ScheduledEventsError
from .._events.document import Document
from .._events.event import Event
from .._events.lifecycle import Transition, transitions
from .._imds.discovery import Found
from .._imds.transport import Transport
from .._text import listed
from .operation import Operation
from .options import info_options


def info(
    options: Mapping[str, Any], transport: Transport, clock: Clock, find: Optional[Callable[[], Found]] = None
) -> Dict[str, Any]:
    """Look, or look until something is the case.

    :arg find: finds endpoints where the option endpoint can't be reached (option discover)
    """
    return Info(info_options(options), transport, clock, find).perform()


class Info(Operation):
    def __init__(self, *args) -> None:
        super().__init__(*args)
        self.placement_group: Optional[str] = None
        self.seen: List[
            Transition
        ] = []  # The events whose end is waited for: one that can't be read any more is not over.
        self._watched = {event_id.upper() for event_id in self.options["event_ids"] or ()}

    def run(self) -> None:
        options = self.options
        deadline = Deadline(self.clock, options["wait_timeout"]) if options["wait"] else None
        self.first_look(deadline)
        self.learn_name(needed=options["affecting"] == "self")
        if options["placement_group"]:
            self.placement_group = self.imds.placement_group()
        if deadline:
            self._wait(deadline)

    def result(self) -> Dict[str, Any]:
        result = super().result()
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
        while not self._is_met(known):
            before = self.document
            if deadline.passed() or not self.change(deadline, self.options["wait_sleep"]):
                self._give_up()
            self.seen.extend(
                transition
                for transition in transitions(before, self.document, now=self.imds.looked_at)
                if self._passes(transition.event, with_status=False)
            )

    def _is_met(self, known: Optional[int]) -> bool:
        wanted = self.options["wait_for"]
        if self.document.incarnation is None:  # an empty answer: nothing has come, gone or changed by that
            return False
        chosen = self._chosen()
        if wanted == "change":
            return self.document.incarnation != known
        if wanted == "event":
            return bool(chosen)
        self._watched.update(event.key for event in chosen)
        unreadable = self._watched.intersection(entry.key for entry in self.document.unusable)
        if wanted == "gone":
            return not chosen and not unreadable
        started = any(event.has_started for event in chosen)
        # A named event that is gone will never start.
        named = self.options["event_ids"] is not None
        return started or (named and not unreadable and not self._named_events())

    def _give_up(self) -> NoReturn:
        options = self.options
        if self.document.incarnation is None:
            raise ScheduledEventsError(
                f"{self.imds.endpoint} sent no document within {options['wait_timeout']:g} s, only empty answers: "
                "whether there are events is unknown.",
                kind="timeout",
                url=self.imds.last_url,
            )
        outcome = {
            "event": "No event came within",
            "started": "No event had started after",
            "gone": "An event was still there after",
            "change": "The document did not change within",
        }[options["wait_for"]]
        filters = ", ".join(
            f"{name}={listed(options[name])}" for name in ("event_ids", "types", "statuses", "sources") if options[name]
        )
        if options["affecting"] == "self":
            filters += f"{', ' if filters else ''}affecting {self.name}"
        document = self.document
        raise ScheduledEventsError(
            "%s %g s at %s%s. The last document (incarnation %s) held %s."
            % (
                outcome,
                options["wait_timeout"],
                self.imds.endpoint,
                " (%s)" % filters if filters else "",
                document.incarnation,
                _described(document),
            ),
            kind="timeout",
            url=self.imds.last_url,
        )

    def _chosen(self) -> List[Event]:
        return [event for event in self.document.events if self._passes(event)]

    def _named_events(self) -> List[Event]:
        return [event for event in self.document.events if _among(event.event_id, self.options["event_ids"])]

    def _passes(self, event: Event, with_status: bool = True) -> bool:
        options = self.options
        return (
            _among(event.event_id, options["event_ids"])
            and _among(event.event_type, options["types"])
            and (not with_status or _among(event.event_status, options["statuses"]))
            and _among(event.source, options["sources"])
            and (options["affecting"] == "any" or event.affects(self.name))
        )

    def _transition_dict(self, transition: Transition) -> Dict[str, Any]:
        event = transition.event
        return {
            "kind": transition.kind,
            "id": event.event_id,
            "type": event.event_type,
            "outcome": transition.outcome,
            "affects_self": event.affects(self.name) if self.name else None,
        }


def _among(text: str, wanted: Optional[Sequence[str]]) -> bool:
    return not wanted or text.lower() in {item.lower() for item in wanted}


def _described(document: Document) -> str:
    described = [
        f"{event.event_type} {event.event_id} {event.event_status} of {listed(event.resources)}"
        for event in document.events
    ]
    described.extend(
        "entry %d, which can't be read: %s" % (entry.position, entry.reason) for entry in document.unusable
    )
    return "; ".join(described) or "no event"
