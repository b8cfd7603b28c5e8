# Copyright: (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the entry of one event tells in the record of a run: whether it is open, waits for its approval, can be watched. Pure.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .plan import SECONDS_WITHOUT_NOT_BEFORE

APPROVING = ("approve", "prepare_and_approve")
PREPARING = ("prepare", "prepare_and_approve")

LEAVES_NOTHING_BEHIND = ("terminate", "preempt")
"""Types after which the machine is deleted or deallocated (S4.12, S4.13)."""


def is_open(entry: Mapping[str, Any]) -> bool:
    """Whether the run still watches the event."""
    return entry["gone"] is None and not entry["closed"]


def title(entry: Mapping[str, Any]) -> str:
    """The event's name in a sentence."""
    return f"{entry['type']} {entry['id']} ({', '.join(entry['affected'] or entry['resources'])})"


def latest_end(entry: Mapping[str, Any], event_timeout: float) -> float:
    """When the watch of an event ends though it is still there."""
    notice = SECONDS_WITHOUT_NOT_BEFORE if entry["notice"] is None else max(entry["notice"], 0.0)
    return entry["planned"] + notice + event_timeout


def is_unwatchable(entry: Mapping[str, Any]) -> bool:
    """Nobody is left to see the end of an event that takes the last machine of its scope away."""
    alone = not entry["watchers"] and entry["type"].lower() in LEAVES_NOTHING_BEHIND
    return bool(
        alone
        and (entry["approval"]["tried"] or entry["verdict"] not in APPROVING)
        and (entry["prepared"] or entry["verdict"] in ("approve", "watch"))
    )


def is_prepared(entry: Mapping[str, Any]) -> bool:
    """Whether every machine that it hits was prepared."""
    return all(entry["prepared"].get(host, {}).get("ok") for host in entry["affected"])


def waits_for_approval(entry: Mapping[str, Any]) -> bool:
    """Whether nothing but the approval is left to be done."""
    ready = entry["verdict"] == "approve" or entry["verdict"] == "prepare_and_approve" and is_prepared(entry)
    approval = entry["approval"]
    return bool(
        ready and not entry["hold"] and entry["started"] is None and not approval["sent"] and "note" not in approval
    )


def took_away(entry: Mapping[str, Any]) -> bool:
    """Whether it deleted its machines, or deallocated them."""
    return entry["type"].lower() in LEAVES_NOTHING_BEHIND and entry["outcome"] != "cancelled"
