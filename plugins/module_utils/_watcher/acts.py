# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the watcher's handling wants done. Pure.

Private to this collection.
"""

from typing import Any, Dict, NamedTuple, Optional, Tuple

from .._events.event import Event


class Go(NamedTuple):
    """Have the machine program go on towards "prepared" or "recovered"."""

    to: str
    left: float  # seconds that are left for it
    events: Tuple[str, ...]  # ids, as they came
    note: Dict[str, Any]  # kept in the mark
    kind: str = ""  # type of the event, in lower case: by it the hooks are chosen
    at_once: bool = False  # all hooks side by side
    again: bool = False  # the machine was started anew by nobody's event: its steps are done again
    still: bool = False  # begin nothing new


class Approve(NamedTuple):
    """POST these events."""

    events: Tuple[str, ...]  # ids, as they came


class PutAside(NamedTuple):
    """The mark is of another machine, of which this one is a copy: out of the way, unread."""

    why: str


class Say(NamedTuple):
    """What happened, for whoever listens."""

    happened: str
    message: str
    event: Optional[Event] = None
    notice: Optional[float] = None
    outcome: str = ""
    outage: str = ""
    details: Dict[str, Any] = {}
