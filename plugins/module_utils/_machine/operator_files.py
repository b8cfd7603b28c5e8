# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a person has said on the machine itself, in files beside its mark: confirmations of events, events despite which
the machine was recovered, and that no event is to be approved. Its watcher goes by them, and every run.

Private to this collection.
"""

import hashlib
import os
from typing import Any, Dict, Iterable, Mapping, Optional

from .._text import one_line
from .files import FORMAT, StateFile, Unreadable, object_in

SUPPRESSED, HOLD = "put_back.json", "hold.json"

KEPT = 30 * 86400.0
"""Seconds for which an event is kept: failures of hardware are predicted a week ahead, and no id comes twice."""

UNKNOWN_HOLD: Dict[str, Any] = {"reason": "There is a hold that can't be read", "by": "", "until": None, "vm_id": ""}


def confirmation_file(event: str) -> str:
    """A file's name for an event, whose id may be any text."""
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
