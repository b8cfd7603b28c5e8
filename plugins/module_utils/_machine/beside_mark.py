# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What others have left in files beside a machine's mark. A person: confirmations of events, events despite which the machine was recovered,
and that no event is to be approved; its watcher goes by them, and every run. The watcher: that there is one, and what it says of itself.

Private to this collection.
"""

import os
from typing import Any, Dict, Iterable, Mapping, Optional, Sequence

from .._clock import Moment
from .._text import one_line
from .files import FORMAT, StateFile, Unreadable, object_in

SUPPRESSED, HOLD = "put_back.json", "hold.json"

KEPT = 30 * 86400.0
"""Seconds for which an event is kept: failures of hardware are predicted a week ahead, and no id comes twice."""

UNKNOWN_HOLD: Dict[str, Any] = {"reason": "There is a hold that can't be read", "by": "", "until": None, "vm_id": ""}


def confirmation_file(event: str) -> str:
    """A file's name for an event, whose id may be any text."""
    import hashlib  # which a call that only looks does without

    return hashlib.sha256(event.upper().encode("utf-8", "surrogatepass")).hexdigest()[:32] + ".json"


def confirmation_note(event: str, by: str, at: str) -> Dict[str, str]:
    """What is in it, as JSON."""
    return {"event": event, "by": by, "at": at}


def confirmed_event(content: bytes) -> str:
    """The event that a file confirms; "" when that can't be read."""
    try:
        return one_line(object_in(content, None).get("event", ""))
    except Unreadable:
        return ""


def suppressed(folder: str) -> Dict[str, float]:
    """The events despite which the machine was recovered, by key, and when; none where that can't be read: a machine that is
    prepared once too often is the smaller evil."""
    return suppressed_of(StateFile(os.path.join(folder, SUPPRESSED)))


def suppressed_of(file: StateFile) -> Dict[str, float]:
    """The same of a file that is at hand."""
    try:
        return _events_in(file.read() or {"events": {}})
    except Unreadable:
        return {}


def suppressed_in(content: bytes) -> Dict[str, float]:
    """The same of a file's content."""
    try:
        return _events_in(object_in(content))
    except Unreadable:
        return {}


def _events_in(given: Mapping[str, Any]) -> Dict[str, float]:
    try:
        return {str(key): float(at) for key, at in given["events"].items()}
    except (KeyError, TypeError, ValueError, AttributeError):
        return {}


def with_events(known: Mapping[str, float], events: Iterable[str], wall: float) -> Dict[str, Any]:
    """What is to be written when a person has done it once more."""
    kept = {key: at for key, at in known.items() if wall - at < KEPT}
    kept.update((event.upper(), wall) for event in events)
    return {"format": FORMAT, "events": kept}


def hold(folder: str) -> Optional[Dict[str, Any]]:
    """The hold, whether it still lasts or not; one that can't be read is one all the same."""
    return hold_of(StateFile(os.path.join(folder, HOLD)))


def hold_of(file: StateFile) -> Optional[Dict[str, Any]]:
    """The same of a file that is at hand."""
    try:
        given = file.read()
    except Unreadable:
        return dict(UNKNOWN_HOLD)
    return None if given is None else _hold(given)


def hold_in(content: bytes) -> Dict[str, Any]:
    """The same of a file's content."""
    try:
        return _hold(object_in(content))
    except Unreadable:
        return dict(UNKNOWN_HOLD)


def _hold(given: Mapping[str, Any]) -> Dict[str, Any]:
    until = given.get("until")
    if until is not None and (isinstance(until, bool) or not isinstance(until, (int, float))):
        return dict(UNKNOWN_HOLD)
    return dict({key: one_line(given.get(key), 500) for key in ("reason", "by", "vm_id")}, until=until)


def lasting_hold(folder: str, wall: float) -> Optional[Dict[str, Any]]:
    """The hold, where it has not come to its end."""
    return lasting(hold(folder), wall)


def lasting(found: Optional[Dict[str, Any]], wall: float) -> Optional[Dict[str, Any]]:
    """A hold, where it has not come to its end."""
    return found if found and (found["until"] is None or wall < found["until"]) else None


WATCHER_FILE = "watcher.json"
MOST_BYTES_OF_WATCHER = 4 * 1024 * 1024
"""It tells of every event of the document, with all of its machines."""

SILENT = 120.0
"""Seconds without a word after which a watcher is taken to be down; it says something every 30."""


def published(folder: str) -> Optional[Dict[str, Any]]:
    """What the watcher of that folder says of itself; None when there was none, or it can't be read."""
    try:
        return StateFile(os.path.join(folder, WATCHER_FILE), most=MOST_BYTES_OF_WATCHER).read()
    except Unreadable:
        return None


def watcher_in(text: str) -> Optional[Dict[str, Any]]:
    """What a watcher has written of itself; None when it can't be read."""
    try:
        return object_in(text.encode("utf-8", "surrogatepass"))
    except Unreadable:
        return None


def watched(
    found: Optional[Mapping[str, Any]], moment: Moment, steps: Sequence[Mapping[str, Any]]
) -> Optional[Dict[str, Any]]:
    """What whoever comes from outside has to know of it; None where there is no watcher.

    :arg found: what it says of itself
    :arg steps: as the inventory has them for this machine
    :return: ``mode``, ``version``, the ``endpoint`` that it polls, whether it is ``alive``, ``lacks``: the inventory's steps
        that it does not have, in words; ``prepares``: whether it has steps or hooks to prepare the machine by; and, where there is
        such an event, ``waits``: why it does not approve it, and what ends that, by the event's key
    """
    if found is None:
        return None
    said = found.get("uptime")
    age = moment.uptime - said if isinstance(said, (int, float)) else float("inf")
    known = {step.get("key") for step in found.get("steps") or () if isinstance(step, dict)}
    metadata = found.get("metadata")
    return {
        "mode": str(found.get("mode")),
        "version": str(found.get("version")),
        "endpoint": str(metadata.get("endpoint") or "") if isinstance(metadata, dict) else "",
        "alive": found.get("boot_id") == moment.boot_id and age <= SILENT,
        "lacks": [str(step["does"] or step["key"]) for step in steps if step["key"] not in known],
        "prepares": any(isinstance(step, dict) and step.get("does") for step in found.get("steps") or ())
        or any(str(key).startswith("prepare.d/") for key in found.get("hooks") or ()),
        **_waits(found.get("shown")),
    }


def _waits(shown: Any) -> Dict[str, Any]:
    waits = {
        str(event.get("id")).upper(): [one_line(event["waits"], 500), one_line(event.get("ends_by"), 500)]
        for event in (shown if isinstance(shown, list) else ())
        if isinstance(event, dict) and event.get("waits")
    }
    return {"waits": waits} if waits else {}
