# Copyright: (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One answer of the Scheduled Events endpoint, read into one normal form whatever its api-version.

Two things must never happen here: that something which is no document passes for "no events" (machines would be
recovered in the middle of their maintenance), and that one odd event hides the others.

Private to this collection.
"""

import json
import math
import sys
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from .._errors import ScheduledEventsError
from .event import Event
from .not_before import parse_not_before

# The one version that writes a VM's name with a "_" in front.
UNDERSCORE_VERSION = "2017-03-01"

# A document is four levels deep. What is deeper than this was made to hurt whoever has to print it.
_MAX_DEPTH = 50

# Longer integers may not fit 64 bits, and Python 3.11 and up refuse to read or print the very long ones.
_MAX_DIGITS = 18


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
        """The id to compare with :attr:`Event.key`; "" when there is none."""
        return _text(self.raw, "EventId").upper() if isinstance(self.raw, dict) else ""


class Document(NamedTuple):
    """One answer. ``Document()`` stands for the empty body that some machines get instead of an empty document."""

    incarnation: Optional[int] = None
    events: Tuple[Event, ...] = ()
    unusable: Tuple[UnusableEvent, ...] = ()


def parse_document(body: bytes, api_version: str) -> Document:
    """Read one answer.

    :raises MalformedDocument: when this is not a document. An absent or null ``Events`` is an error too, not an
        empty list: Azure always sends the list, and "the event has left" is too much to conclude from a gap.
    """
    members = _load(body)
    if not isinstance(members, dict):
        raise _malformed(f"it is {_kind_of(members)}, not an object", body)
    incarnation = members.get("DocumentIncarnation")
    if isinstance(incarnation, bool) or not isinstance(incarnation, int):
        raise _malformed(_wrong_member(members, "DocumentIncarnation", "an integer"), body)
    entries = members.get("Events")
    if not isinstance(entries, list):
        raise _malformed(_wrong_member(members, "Events", "a list"), body)

    events: Dict[str, Event] = {}
    unusable: List[UnusableEvent] = []
    for position, entry in enumerate(entries, 1):
        reason = _unusable_reason(entry)
        if reason:
            unusable.append(UnusableEvent(position, reason, entry))
            continue
        event = _read_event(entry, api_version)
        # An approval holds for the id. Should an id ever come twice, it holds for the machines of both entries.
        events[event.key] = _joined(events[event.key], event) if event.key in events else event
    return Document(incarnation, tuple(events.values()), tuple(unusable))


def _load(body: bytes) -> Any:
    try:
        # Names and ids are ASCII. A byte that is no UTF-8 stands in a description, and must not hide the events.
        text = body.decode("utf-8-sig", "replace")
        # strict=False lets raw control characters in strings pass: real descriptions had some.
        value = json.loads(text, strict=False, parse_int=_integer, parse_constant=_no_number)
        return _printable(value)
    except RecursionError:
        problem = "it is nested too deeply"
    except ValueError as exc:
        problem = f"it is not JSON ({exc})"
    raise _malformed(problem, body)


def _integer(digits: str) -> Any:
    return int(digits) if len(digits) <= _MAX_DIGITS else float(digits)


def _no_number(constant: str) -> None:
    raise ValueError(f"{constant} is not a number")


def _printable(value: Any, depth: int = 0) -> Any:
    """The value, such that it can be written to a file, a terminal and a module's result without a surprise."""
    if depth > _MAX_DEPTH:
        raise RecursionError()
    if isinstance(value, str):  # half a surrogate pair ("\ud83d") can't be encoded
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, list):
        return [_printable(item, depth + 1) for item in value]
    if isinstance(value, dict):
        return {_printable(name): _printable(item, depth + 1) for name, item in value.items()}
    if isinstance(value, float) and math.isinf(value):  # 1e999; JSON has no word for infinity
        return math.copysign(sys.float_info.max, value)
    return value


def _unusable_reason(entry: Any) -> str:
    if not isinstance(entry, dict):
        return f"it is {_kind_of(entry)}, not an object"
    if not _text(entry, "EventId").strip():
        return "it has no EventId"
    resources = entry.get("Resources")
    if not isinstance(resources, list) or not resources:
        return "it has no Resources"
    # Leaving the odd one out would mean to approve for a machine that nobody has looked at.
    if not all(isinstance(name, str) and name.strip().strip("_") for name in resources):
        return "its Resources are not all names"
    return ""


def _read_event(entry: Dict[str, Any], api_version: str) -> Event:
    raw_resources = tuple(entry["Resources"])
    resources = raw_resources
    if api_version == UNDERSCORE_VERSION:
        resources = tuple(name[1:] if name.startswith("_") else name for name in raw_resources)
    not_before = _text(entry, "NotBefore")
    duration = entry.get("DurationInSeconds")
    return Event(
        event_id=entry["EventId"],
        event_type=_text(entry, "EventType"),
        event_status=_text(entry, "EventStatus"),
        resource_type=_text(entry, "ResourceType"),
        resources=resources,
        raw_resources=raw_resources,
        not_before=not_before,
        not_before_time=parse_not_before(not_before),
        description=_text(entry, "Description"),
        source=_text(entry, "EventSource"),
        duration=duration if isinstance(duration, int) and not isinstance(duration, bool) else None,
    )


def _joined(first: Event, second: Event) -> Event:
    new = [index for index, name in enumerate(second.resources) if not first.affects(name)]
    return first._replace(
        resources=first.resources + tuple(second.resources[index] for index in new),
        raw_resources=first.raw_resources + tuple(second.raw_resources[index] for index in new),
    )


def _text(entry: Dict[str, Any], name: str) -> str:
    value = entry.get(name)
    return value if isinstance(value, str) else ""


def _wrong_member(members: Dict[str, Any], name: str, wanted: str) -> str:
    if name not in members:
        return f"it has no {name}"
    return f"its {name} is {_kind_of(members[name])}, not {wanted}"


def _kind_of(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    names = {str: "a string", int: "a number", float: "a number", list: "a list", dict: "an object"}
    return names[type(value)]


def _malformed(problem: str, body: bytes) -> MalformedDocument:
    # json.dumps escapes whatever could play tricks on a terminal or in a log.
    excerpt = json.dumps(body[:80].decode("utf-8", "replace"))
    return MalformedDocument(
        f"The answer is not a Scheduled Events document: {problem}. It has {len(body)} bytes and begins with {excerpt}."
    )
