# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the machine has a watcher of its own, by what that says of itself in the folder of the mark.

Private to this collection.
"""

import os
from typing import Any, Dict, Mapping, Optional, Sequence

from .._core.lease import Moment
from .._text import one_line
from .files import StateFile, Unreadable, object_in

NAME = "watcher.json"
MOST_BYTES = 4 * 1024 * 1024
"""It tells of every event of the document, with all of its machines."""

SILENT = 120.0
"""Seconds without a word after which a watcher is taken to be down; it says something every 30."""


def published(folder: str) -> Optional[Dict[str, Any]]:
    """What the watcher of that folder says of itself; None when there was none, or it can't be read."""
    try:
        return StateFile(os.path.join(folder, NAME), most=MOST_BYTES).read()
    except Unreadable:
        return None


def understood(text: str) -> Optional[Dict[str, Any]]:
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
