# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The result of a run, as the role hands it on (``maintain_result``). Pure.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...module_utils._events.event import notification
from .life import event_of
from .reports import time_of_day
from .schema import EventState, HostResult, Record
from .timeline import lines

_OF_EVENT = ("affected", "unknown", "action", "actions", "rule", "hold", "outcome")


def result(record: Record) -> dict[str, Any]:
    """What is documented of a run, for people and for whatever comes after it. All times are of the day, in UTC."""
    run = record["run"]
    return {
        "format": 1,
        "run": run["run"],
        "job": run["job"],
        "controller": run["controller"],
        "began": time_of_day(record, record["clock"]["mono"]),
        "ended": time_of_day(record, record["at"]),
        "seconds": round(record["at"] - record["clock"]["mono"], 1),
        "rounds": record["rounds_done"],
        "timeline": lines(record),
        "events": [_event(record, entry) for entry in record["events"].values()],
        "problems": problems_of(record),
        "notes": notes_of(record),
    }


def problems_of(record: Record) -> list[str]:
    """What is left for a person."""
    return [*record["problems"].values(), *_unfinished(record)]


def notes_of(record: Record) -> list[str]:
    """What people may want to know."""
    return list(record["notes"].values())


def _unfinished(record: Record) -> list[str]:
    """A run ends when it has nothing left to do; or when the loops of its task files end, which are many but not endless."""
    if record["finished"]:
        return []
    return [
        f"The run ended after {record['ticks']} ticks although it was not over, as its loops go no further. Run it again: it takes up "
        "what is marked."
    ]


def _event(record: Record, entry: EventState) -> dict[str, Any]:
    data: dict[str, Any] = dict(entry)
    return {
        **notification(event_of(entry), entry["notice"]),
        **{key: data[key] for key in _OF_EVENT},
        **{key: _moment(record, data[key]) for key in ("shown", "started", "gone")},
        "why": entry["words"],
        "seen_by": list(entry["sightings"]),
        "prepared": _of_hosts(record, entry["prepared"]),
        "recovered": _of_hosts(record, entry["recovered"]),
        "failed": "; ".join(f"{host}: {why}" for host, why in entry["failed"].items()),
        "unprepared": {host: how for host, how in entry["unprepared"].items() if how},
        "approval": _approval(record, entry),
    }


def _approval(record: Record, entry: EventState) -> dict[str, Any]:
    approval = entry["approval"]
    over = entry["started"] is not None or entry["gone"] is not None
    return {
        "sent": approval["sent"],
        "by": approval["by"],
        "at": _moment(record, approval["at"]),
        "confirmed": approval["sent"] and over,
        "tries": approval["tries"]["count"],
        "problem": "" if approval["sent"] else approval["tries"]["note"],
        "attempts": [
            {**one, "at": _moment(record, one["at"]), "until": _moment(record, one["until"])}
            for one in approval["attempts"]
        ],
    }


def _of_hosts(record: Record, results: Mapping[str, HostResult]) -> dict[str, dict[str, Any]]:
    return {host: {**one, "at": _moment(record, one["at"])} for host, one in results.items()}


def _moment(record: Record, at: float | None) -> str | None:
    return None if at is None else time_of_day(record, at)
