# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One answer of the Scheduled Events endpoint, read into one normal form whatever its api-version. Its JSON is somebody else's: it is read so
that nothing in it can do harm, or get lost without a word.

Two things must never happen here: that something which is no document passes for "no events" (machines would be
recovered in the middle of their maintenance), and that one odd event hides the others.

An entry that can't be matched to machines for certain is not used at all: a name that lost a letter would be taken for
another machine's, and an approval holds for the one that nobody polled as well.

Private to this collection.
"""

import collections
import json
import math
import re
import sys
from typing import Any, Dict, FrozenSet, Iterable, List, NamedTuple, Optional, Set, Tuple

from .._errors import ScheduledEventsError
from .._text import one_line
from .event import Event, parse_not_before

# A document is four levels deep. What is deeper than this was made to hurt whoever has to print it.
_MAX_DEPTH = 50

# Longer integers may not fit 64 bits, and Python 3.11 and up refuse to read or print the very long ones.
_MAX_DIGITS = 18

_HALF_A_PAIR = re.compile("[\ud800-\udfff]")


class JsonObject(Dict[str, Any]):
    """An object, which knows what it had more than once: a dictionary keeps the last one only.

    repeated: names in lower case; those that differ in the case of letters alone count as the same
    """

    repeated: FrozenSet[str] = frozenset()


def parse_json(body: bytes) -> Any:
    """The value that the body stands for.

    :raises ValueError: with what is wrong with it, for a person
    """
    try:
        # Names and ids are ASCII. A byte that is no UTF-8 must not hide what stands beside it.
        text = body.decode("utf-8-sig", "replace")
        # strict=False lets raw control characters in strings pass: real descriptions had some.
        value = json.loads(
            text, strict=False, parse_int=_integer, parse_constant=_no_number, object_pairs_hook=_json_object
        )
        return _storable(value)
    except RecursionError:
        problem = "it is nested too deeply"
    except ValueError as exc:
        problem = f"it is not JSON ({exc})"
    raise ValueError(problem)


def kind_of(value: Any) -> str:
    """What a value of JSON is called."""
    if value is None:
        return "null"
    for kind, called in _KINDS:
        if isinstance(value, kind):
            return called
    raise TypeError(type(value))


_KINDS = (
    (bool, "a boolean"),  # before the numbers: Python counts it among them
    (str, "a string"),
    ((int, float), "a number"),
    (list, "a list"),
    (dict, "an object"),
)


def _json_object(pairs: List[Tuple[str, Any]]) -> JsonObject:
    found = JsonObject(pairs)
    counted = collections.Counter(name.lower() for name, _value in pairs)
    if len(counted) < len(pairs):
        found.repeated = frozenset(name for name, count in counted.items() if count > 1)
    return found


def _integer(digits: str) -> float:
    return int(digits) if len(digits) <= _MAX_DIGITS else float(digits)


def _no_number(constant: str) -> None:
    raise ValueError(f"{constant} is not a number")


def _storable(value: Any, depth: int = 0) -> Any:
    """The value, such that it can be written to a file and a module's result without a surprise."""
    if depth > _MAX_DEPTH:
        raise RecursionError()
    if isinstance(value, str):  # half a surrogate pair ("\ud83d") can't be encoded
        return _HALF_A_PAIR.sub("\ufffd", value)
    if isinstance(value, list):
        return [_storable(item, depth + 1) for item in value]
    if isinstance(value, JsonObject):
        found = JsonObject((_storable(name), _storable(item, depth + 1)) for name, item in value.items())
        found.repeated = value.repeated
        return found
    if isinstance(value, float) and math.isinf(value):  # 1e999; JSON has no word for infinity
        return math.copysign(sys.float_info.max, value)
    return value


# The one version that writes a VM's name with a "_" in front.
UNDERSCORE_VERSION = "2017-03-01"

_MEMBERS = (
    "EventId",
    "EventType",
    "EventStatus",
    "EventSource",
    "ResourceType",
    "Resources",
    "NotBefore",
    "Description",
    "DurationInSeconds",
)
_LOST = "\ufffd"  # what stands for bytes that were no text
_LONGEST = 256  # ids have 36 characters, and names of VMs at most 80
_LONGEST_DESCRIPTION = 1000


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


def unusable_reason(entry: Any) -> str:
    """Why the entry can't be used, for a person; "" when it can."""
    if not isinstance(entry, JsonObject):
        return f"it is {kind_of(entry)}, not an object"
    repeated = [name for name in _MEMBERS if name.lower() in entry.repeated]
    if repeated:
        return f"it has more than one {repeated[0]}"
    return _id_problem(entry) or _resources_problem(entry)


def readable_id(entry: Any) -> str:
    """The entry's id, "" where it has none that can be relied on."""
    if not isinstance(entry, JsonObject) or "eventid" in entry.repeated or _id_problem(entry):
        return ""
    event_id: str = entry["EventId"]
    return event_id


def read_event(entry: Dict[str, Any], api_version: str) -> Event:
    """The event that an entry is which can be used."""
    not_before = _word(entry, "NotBefore")
    duration = entry.get("DurationInSeconds")
    description = entry.get("Description")
    return Event(
        event_id=entry["EventId"],
        event_type=_word(entry, "EventType"),
        event_status=_word(entry, "EventStatus"),
        resource_type=_word(entry, "ResourceType"),
        resources=tuple(_without_prefix(name, api_version) for name in entry["Resources"]),
        raw_resources=tuple(entry["Resources"]),
        not_before=not_before,
        not_before_time=parse_not_before(not_before),
        description=one_line(description, _LONGEST_DESCRIPTION) if isinstance(description, str) else "",
        source=_word(entry, "EventSource"),
        duration=duration if isinstance(duration, int) and not isinstance(duration, bool) else None,
    )


def _id_problem(entry: JsonObject) -> str:
    if "EventId" not in entry:
        return "it has no EventId"
    event_id = entry["EventId"]
    if not isinstance(event_id, str):
        return f"its EventId is {kind_of(event_id)}, not a string"
    problem = _damage(event_id)
    return f"its EventId {problem}" if problem else ""


def _resources_problem(entry: JsonObject) -> str:
    if "Resources" not in entry:
        return "it has no Resources"
    resources = entry["Resources"]
    if not isinstance(resources, list):
        return f"its Resources are {kind_of(resources)}, not a list"
    if not resources:
        return "its Resources are an empty list"
    for position, name in enumerate(resources, 1):
        # Leaving the odd one out would mean to approve for a machine that nobody has polled.
        if not isinstance(name, str):
            return f"number {position} of its Resources is {kind_of(name)}, not a name"
        problem = _damage(name if name.strip("_") else "")
        if problem:
            return f"number {position} of its Resources {problem}"
    return ""


def _damage(text: str) -> str:
    """What an id or a name can't have been like when it was sent; "" when nothing speaks against it."""
    if not text.strip():
        return "is blank"
    if _LOST in text:
        return "has bytes in it that are no text"
    if any(char.isspace() or not char.isprintable() for char in text):
        return "has blanks or control characters in it"
    return f"has more than {_LONGEST} characters" if len(text) > _LONGEST else ""


def _word(entry: Dict[str, Any], name: str) -> str:
    """A text without the blanks around it; "" where there is none that can be read."""
    value = entry.get(name)
    word = value.strip() if isinstance(value, str) else ""
    return word if word.isprintable() and _LOST not in word and len(word) <= _LONGEST else ""


def _without_prefix(name: str, api_version: str) -> str:
    return name[1:] if api_version == UNDERSCORE_VERSION and name.startswith("_") else name
