# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a machine saw when it looked: whether it could, and whether that says which events there are. Pure.

Private to this collection.

A ``look`` here is the result of a ``scheduled_events_info`` or ``scheduled_events_approve`` task, which ends with the last of
its looks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...module_utils._events.event import Event, event_from_dict
from ...module_utils._text import first_line


def has_failed(look: Mapping[str, Any]) -> bool:
    """Whether a machine could not look. That a wait ended without a change is no failure, if it had seen a document.

    A task with ``failed_when: false`` has no ``failed`` in its result, and a failure may come with the events last seen.
    """
    if "events" not in look or look.get("unreachable"):
        return True
    kind = (look.get("failure") or {}).get("kind")
    return kind is not None and (kind != "timeout" or look.get("incarnation") is None)


def has_document(look: Mapping[str, Any]) -> bool:
    """Whether it says which events there are: an empty body (no incarnation) says nothing (S2, S13.9)."""
    return not has_failed(look) and look.get("incarnation") is not None


def message_of(look: Mapping[str, Any]) -> str:
    """What the task said, in a line that has room for what happened and what to do; "" when it said nothing."""
    return first_line(look.get("msg"), 1000)


def events_of(look: Mapping[str, Any]) -> list[Event]:
    """The events that the machine was shown."""
    return [event_from_dict(data) for data in look.get("events") or ()]


def may_hold(look: Mapping[str, Any], key: str) -> bool:
    """Whether a document has the event as an entry that can't be read any more: then it is still there."""
    return any(unusable["id"] in ("", key) for unusable in look.get("unusable_events") or ())
