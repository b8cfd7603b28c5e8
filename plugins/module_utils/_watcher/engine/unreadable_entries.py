# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Entries of the document that can't be read: what is reported of them, and what they keep the watcher from. Pure.

Private to this collection.
"""

import hashlib
import json
from typing import Dict, List, Mapping, Tuple

from ..._core.messages import title
from ..._events.document import UnusableEvent
from ..._text import clause, listed
from .decision import is_suppressed
from .engine_state import MachineEvent
from .interface import Say
from .snapshot import Snapshot

MOST = 5
"""Entries that are named; of more only the number is."""

_KEPT = 100  # of those that were reported
_ABOUT = "unreadable "


def sentences(here: Snapshot) -> List[str]:
    """How things stand, for people."""
    entries = here.document.unusable if here.document else ()
    more = [f"{len(entries) - MOST} more entries of the document can't be read."] if len(entries) > MOST else []
    kept_out = _kept_out(here)
    return [_sentence(entry) for entry in entries[:MOST]] + more + ([kept_out] if kept_out else [])


def news(here: Snapshot, reported: Mapping[str, str]) -> Tuple[List[Say], Dict[str, str]]:
    """What is new, and what was reported then: each entry once in a start of the machine, though documents may lack it now and then.

    :arg reported: what was so far, by what it is about
    """
    says, known = [], dict(reported)
    for entry in (here.document.unusable if here.document else ())[:MOST]:
        about = _ABOUT + (entry.key or _digest(entry))
        if about not in known:
            known[about] = ""
            details = {"id": entry.key, "position": entry.position, "reason": entry.reason}
            says.append(Say("event_unreadable", _sentence(entry), details=details))
    for about in [about for about in known if about.startswith(_ABOUT)][:-_KEPT]:
        del known[about]
    words = _kept_out(here)
    if words and "kept_out" not in known:
        says.append(Say("recovery_blocked", words, outage=here.marked.outage))
    known.pop("kept_out", None)
    if words:
        known["kept_out"] = words
    return says, known


def _sentence(entry: UnusableEvent) -> str:
    return (
        f"{_title(entry)} can't be read: {clause(entry.reason)}. It may be maintenance of this machine, and nothing is done "
        "about it; no event is approved while it is there. Check in Azure whether it is; if so, prepare the machine by hand."
    )


def _kept_out(here: Snapshot) -> str:
    """Why the machine is not recovered, though no document shows its event any more; "" where that is not so."""
    if not here.document or not here.document.unusable or here.marked.recovery_begun:
        return ""
    shown = {event.key for event in here.document.events}
    keys = {entry.key for entry in here.document.unusable}
    lost = [life for life in here.open if _holds_out(here, life) and life.key not in shown]
    lost = [life for life in lost if "" in keys or life.key in keys]
    if not lost:
        return ""
    entry = next(entry for entry in here.document.unusable if entry.key in ("", *(life.key for life in lost)))
    return (
        f"This machine stays out of service: {listed(title(life.event) for life in lost)} is not in the document any more, "
        f"but {_title(entry, 'e')}, which can't be read, may be it. The machine is recovered once that entry has left, or by: "
        "azure-maintenance recover --force"
    )


def _holds_out(here: Snapshot, life: MachineEvent) -> bool:
    """Whether the machine is out of service for an event, and not recovered before that is over."""
    waits = life.has_struck or not here.marked.is_failed
    return here.is_marked(life) and waits and not is_suppressed(here, life)


def _title(entry: UnusableEvent, begins: str = "E") -> str:
    return f"{begins}ntry {entry.position} of the document ({f'id {entry.key}' if entry.key else 'without an id'})"


def _digest(entry: UnusableEvent) -> str:
    """What tells entries without an id apart."""
    return hashlib.sha256(
        json.dumps([entry.reason, entry.raw], sort_keys=True, default=str).encode("utf-8", "replace")
    ).hexdigest()[:16]
