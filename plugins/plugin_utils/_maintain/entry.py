# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the entry of one event says: whether it is open, waits for its approval, can be watched. Pure.

Private to this collection.
"""

from __future__ import annotations

from ...module_utils._events.event import Event, event_from_dict
from ...module_utils._text import listed
from .plan import ACTIONABLE, APPROVING, SECONDS_WITHOUT_NOT_BEFORE
from .schema import Entry


def event_of(entry: Entry) -> Event:
    """The event as it was last seen."""
    return event_from_dict(entry)


def title(entry: Entry) -> str:
    """The event's name in a sentence."""
    return f"{entry['type']} {entry['id']} ({listed(entry['affected'] or entry['resources'])})"


def is_open(entry: Entry) -> bool:
    """Whether the run still watches the event."""
    return entry["gone"] is None and not entry["closed"]


def is_handled(entry: Entry) -> bool:
    """Whether the run watches the event and has something to do about it."""
    return is_open(entry) and entry["verdict"] in ACTIONABLE


def latest_end(entry: Entry, event_timeout: float) -> float:
    """When the watch of an event ends though it is still there."""
    notice = SECONDS_WITHOUT_NOT_BEFORE if entry["notice"] is None else max(entry["notice"], 0.0)
    return entry["planned"] + notice + event_timeout


def is_unwatchable(entry: Entry) -> bool:
    """Nobody is left to see the end of an event that takes the last machine of its scope away."""
    alone = not entry["watchers"] and event_of(entry).takes_machines_away
    return bool(
        alone
        and (entry["approval"]["tried"] or entry["verdict"] not in APPROVING)
        and (entry["prepared"] or entry["verdict"] in ("approve", "watch"))
    )


def is_prepared(entry: Entry) -> bool:
    """Whether every machine that it affects was prepared."""
    return all(host in entry["prepared"] and entry["prepared"][host]["ok"] for host in entry["affected"])


def waits_for_approval(entry: Entry) -> bool:
    """Whether nothing but the approval is left to be done."""
    ready = entry["verdict"] == "approve" or (entry["verdict"] == "prepare_and_approve" and is_prepared(entry))
    approval = entry["approval"]
    return ready and not (entry["hold"] or entry["started"] is not None or approval["sent"] or approval["note"])


def took_away(entry: Entry) -> bool:
    """Whether it deleted its machines, or deallocated them."""
    return event_of(entry).takes_machines_away and entry["outcome"] != "cancelled"
