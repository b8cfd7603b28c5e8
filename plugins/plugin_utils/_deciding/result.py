# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The result of a run, as the role hands it on (``maintain_result``). Pure.

Private to this collection.
"""

from __future__ import annotations

from typing import Any

from .schema import EventState, Record
from .timeline import lines

_OF_EVENT = (
    *("id", "type", "status", "source", "resource_type", "resources", "raw_resources", "not_before", "description"),
    *("duration", "affected", "unknown", "action", "actions", "rule", "hold", "shown", "started", "gone", "outcome"),
    *("prepared", "recovered"),
)


def result(record: Record) -> dict[str, Any]:
    """What is documented of a run: the timeline, the events, what is left for a person, and how often it went through."""
    return {
        "timeline": lines(record),
        "events": [_event(entry) for entry in record["events"].values()],
        "problems": [*record["problems"].values(), *_unfinished(record)],
        "notes": list(record["notes"].values()),
        "rounds": record["rounds_done"],
    }


def _unfinished(record: Record) -> list[str]:
    """A run ends when it has nothing left to do; or when the loops of its task files end, which are many but not endless."""
    if record["finished"]:
        return []
    return [
        f"The run ended after {record['ticks']} ticks although it was not over, as its loops go no further. Run it again: it takes up "
        "what bears a mark."
    ]


def _event(entry: EventState) -> dict[str, Any]:
    data: dict[str, Any] = dict(entry)
    approval = entry["approval"]
    over = entry["started"] is not None or entry["gone"] is not None
    return {
        **{key: data[key] for key in _OF_EVENT},
        "notice": entry["shown_notice"],
        "why": entry["words"],
        "seen_by": list(entry["sightings"]),
        "failed": "; ".join(f"{host}: {why}" for host, why in entry["failed"].items()),
        "unprepared": {host: how for host, how in entry["unprepared"].items() if how},
        "approval": {
            "sent": approval["sent"],
            "by": approval["by"],
            "at": approval["at"],
            "confirmed": approval["sent"] and over,
            "tries": approval["tries"]["count"],
            "problem": "" if approval["sent"] else approval["tries"]["note"],
        },
    }
