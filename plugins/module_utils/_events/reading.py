# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One entry of a document's Events: what keeps it from being used, and the event that it is.

An entry that can't be matched to machines for certain is not used at all: a name that lost a letter would be taken for
another machine's, and an approval holds for the one that nobody looked at as well.

Private to this collection.
"""

from typing import Any, Dict

from .._text import one_line
from .event import Event
from .json_body import JsonObject, kind_of
from .not_before import parse_not_before

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
        # Leaving the odd one out would mean to approve for a machine that nobody has looked at.
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
