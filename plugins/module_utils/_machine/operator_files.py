# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a person has said on the machine itself, in files beside its mark: confirmations of events, events in spite of which he has put
it back into service, and that no event is to be approved. Its watcher goes by them, and whoever comes from outside.

Private to this collection.
"""

import hashlib
import json
import os
from typing import Any, Dict, Iterable, Mapping, Optional

from .._text import one_line

PUT_BACK, HOLD = "put_back.json", "hold.json"
FORMAT = 1

KEPT = 30 * 86400.0
"""Seconds for which an event is kept: failures of hardware are predicted a week ahead, and no id comes twice."""

UNKNOWN_HOLD: Dict[str, Any] = {"reason": "There is a hold that can't be read", "by": "", "until": None, "vm_id": ""}
_ERRORS = (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError)


def confirmation_file(event: str) -> str:
    """A file's name for an event, whose id may be any text."""
    return hashlib.sha256(event.upper().encode("utf-8", "surrogatepass")).hexdigest()[:32] + ".json"


def confirmation_note(event: str, by: str, at: str) -> Dict[str, str]:
    """What is in it, as JSON."""
    return {"event": event, "by": by, "at": at}


def confirmed_event(content: bytes) -> str:
    """The event that a file says yes to; "" when that can't be read."""
    try:
        return one_line(json.loads(content.decode("utf-8"))["event"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""


def put_back(folder: str) -> Dict[str, float]:
    """The events in spite of which the machine was put back, by key, and when; none where that can't be read: a machine that is
    prepared once too often is the smaller evil."""
    try:
        with open(os.path.join(folder, PUT_BACK), "rb") as file:
            return put_back_in(file.read(65536))
    except OSError:
        return {}


def put_back_in(content: bytes) -> Dict[str, float]:
    """The same of a file's content."""
    try:
        given: Dict[str, Any] = json.loads(content.decode("utf-8"))
        if given["format"] != FORMAT:
            return {}
        return {str(key): float(at) for key, at in given["events"].items()}
    except _ERRORS:
        return {}


def with_events(known: Mapping[str, float], events: Iterable[str], wall: float) -> Dict[str, Any]:
    """What is to be written when a person has done it once more."""
    kept = {key: at for key, at in known.items() if wall - at < KEPT}
    kept.update((event.upper(), wall) for event in events)
    return {"format": FORMAT, "events": kept}


def hold(folder: str) -> Optional[Dict[str, Any]]:
    """The hold, whether it still lasts or not; one that can't be read is one all the same."""
    try:
        with open(os.path.join(folder, HOLD), "rb") as file:
            return hold_in(file.read(65536))
    except FileNotFoundError:
        return None
    except OSError:
        return dict(UNKNOWN_HOLD)


def hold_in(content: bytes) -> Dict[str, Any]:
    """The hold that a file holds."""
    try:
        given: Dict[str, Any] = json.loads(content.decode("utf-8"))
        until = given.get("until")
        if given.get("format") != FORMAT:  # one of a newer version may mean more than that
            return dict(UNKNOWN_HOLD)
        if until is not None and (isinstance(until, bool) or not isinstance(until, (int, float))):
            return dict(UNKNOWN_HOLD)
        return dict({key: one_line(given.get(key), 500) for key in ("reason", "by", "vm_id")}, until=until)
    except _ERRORS:
        return dict(UNKNOWN_HOLD)


def lasting_hold(folder: str, wall: float) -> Optional[Dict[str, Any]]:
    """The hold, where it has not come to its end."""
    return lasting(hold(folder), wall)


def lasting(found: Optional[Dict[str, Any]], wall: float) -> Optional[Dict[str, Any]]:
    """A hold, where it has not come to its end."""
    return found if found and (found["until"] is None or wall < found["until"]) else None
