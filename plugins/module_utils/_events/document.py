# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One answer of the Scheduled Events endpoint, read into one normal form whatever its api-version.

Two things must never happen here: that something which is no document passes for "no events" (machines would be
recovered in the middle of their maintenance), and that one odd event hides the others.

Private to this collection.
"""

import json
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Set, Tuple

from .._errors import ScheduledEventsError
from .event import Event
from .json_body import JsonObject, kind_of, parse_json
from .reading import read_event, readable_id, unusable_reason


class MalformedDocument(ScheduledEventsError):
    """An answer that came whole, and is no document all the same."""

    default_kind = "malformed"


class UnusableEvent(NamedTuple):
    """Something in Events that can be neither matched to a machine nor approved.

    position: its place in Events, counted from 1
    reason: what is wrong with it, for a person
    raw: what stood there
    """

    position: int
    reason: str
    raw: Any

    @property
    def key(self) -> str:
        """The id to compare with :attr:`Event.key`; "" when there is none: then it may be any event."""
        return readable_id(self.raw).upper()


class Document(NamedTuple):
    """One answer. ``Document()`` stands for the empty body that some machines get instead of an empty document."""

    incarnation: Optional[int] = None
    events: Tuple[Event, ...] = ()
    unusable: Tuple[UnusableEvent, ...] = ()

    def lacks(self, keys: Iterable[str]) -> Set[str]:
        """Those of the events that have left for certain.

        One that can't be read any more has not: to take it for gone would recover a machine too early. An entry
        that has lost its id may be any of them.

        :arg keys: of events, see :attr:`Event.key`
        """
        unreadable = {entry.key for entry in self.unusable}
        if "" in unreadable:
            return set()
        return set(keys).difference(unreadable, (event.key for event in self.events))


def parse_document(body: bytes, api_version: str) -> Document:
    """Read one answer.

    :raises MalformedDocument: when this is not a document. An absent or null ``Events`` is an error too, not an
        empty list: Azure always sends the list, and "the event has left" is too much to conclude from a gap.
    """
    incarnation, entries = _members(body)
    alike: Dict[str, List[Event]] = {}
    unusable: List[UnusableEvent] = []
    for position, entry in enumerate(entries, 1):
        reason = unusable_reason(entry)
        if reason:
            unusable.append(UnusableEvent(position, reason, entry))
            continue
        event = read_event(entry, api_version)
        alike.setdefault(event.key, []).append(event)
    return Document(incarnation, tuple(_joined(events) for events in alike.values()), tuple(unusable))


def _members(body: bytes) -> Tuple[int, List[Any]]:
    """The document's incarnation, and the entries of its Events."""
    try:
        members = parse_json(body)
    except ValueError as error:
        raise _malformed(str(error), body) from error
    if not isinstance(members, JsonObject):
        raise _malformed(f"it is {kind_of(members)}, not an object", body)
    for name in ("DocumentIncarnation", "Events"):
        if name.lower() in members.repeated:
            raise _malformed(f"it has more than one {name}", body)
    incarnation = members.get("DocumentIncarnation")
    if isinstance(incarnation, bool) or not isinstance(incarnation, int):
        raise _malformed(_wrong_member(members, "DocumentIncarnation", "an integer"), body)
    entries = members.get("Events")
    if not isinstance(entries, list):
        raise _malformed(_wrong_member(members, "Events", "a list"), body)
    return incarnation, entries


def _joined(events: List[Event]) -> Event:
    """Entries of one id as one event: an approval holds for the id, and so for the machines of all of them."""
    if len(events) == 1:
        return events[0]
    names: Dict[str, Tuple[str, str]] = {}
    for event in events:
        for name, raw_name in zip(event.resources, event.raw_resources):
            names.setdefault(name.lower(), (name, raw_name))
    return events[0]._replace(
        resources=tuple(name for name, _raw_name in names.values()),
        raw_resources=tuple(raw_name for _name, raw_name in names.values()),
    )


def _wrong_member(members: Dict[str, Any], name: str, wanted: str) -> str:
    if name not in members:
        return f"it has no {name}"
    return f"its {name} is {kind_of(members[name])}, not {wanted}"


def _malformed(problem: str, body: bytes) -> MalformedDocument:
    # json.dumps escapes whatever could play tricks on a terminal or in a log.
    excerpt = json.dumps(body[:80].decode("utf-8", "replace"))
    return MalformedDocument(
        f"The answer is not a Scheduled Events document: {problem}. It has {len(body)} bytes and begins with {excerpt}."
    )
