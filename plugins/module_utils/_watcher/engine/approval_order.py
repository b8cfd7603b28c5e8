# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Turns by the document: all machines of a scope read the same one, and so agree on whose turn it is to be out voluntarily. Pure.

Private to this collection.

A watcher sees no recoveries and no other scopes: after another machine's event has left it waits a while.
"""

from typing import FrozenSet, List, Optional, Tuple

from ..._core.messages import Reason, title_of
from ..._events.document import Document
from ..._events.event import Event


def of_others(document: Document, name: str) -> List[Event]:
    """The events that list another machine than this one, advice aside, which comes to nothing."""
    return [
        event
        for event in document.events
        if not event.is_advice and any(resource.lower() != name.lower() for resource in event.resources)
    ]


def keys_of_others(document: Document, name: str) -> FrozenSet[str]:
    """Their keys, and those of what can't be read: it may be another machine's."""
    return frozenset([event.key for event in of_others(document, name)] + [entry.key for entry in document.unusable])


def not_its_turn(event: Event, document: Document, name: str, quiet: float, after: float) -> Optional[Reason]:
    """Why it is not the event's turn; None when it is.

    :arg name: of this machine
    :arg quiet: seconds for which nothing of another machine's has left the document
    :arg after: seconds that have to pass after that
    """
    others = [other for other in of_others(document, name) if other.key != event.key]
    struck = [other for other in others if other.has_started]
    if struck:
        return Reason("under_way", title_of(struck[0]))
    before = [other for other in others if other.is_scheduled and _place(other) < _place(event)]
    if before:
        return Reason("comes_first", title_of(min(before, key=_place)))
    if document.unusable:
        return Reason("unreadable_entry")
    if quiet < after:
        return Reason("cooldown", f"{after:.0f} s", f"{quiet:.0f} s", f"by itself in {after - quiet:.0f} s")
    return None


def _place(event: Event) -> Tuple[float, str]:
    return (float("inf") if event.not_before_time is None else event.not_before_time, event.key)
