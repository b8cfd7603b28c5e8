# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What happened on one machine, as JSON: one form for the history, hooks, URLs and the journal. Pure.

Private to this collection.

``docs/watcher_report.schema.json`` says the same for those who receive it. Text comes from the wire, from hooks and from
people: what is in a report can be printed, is no larger than whoever receives it can bear, and is JSON in every language.
"""

import hashlib
import json
import math
from typing import Any, Dict, Mapping, NamedTuple, Optional

from ..._clock import Moment, iso_utc
from ..._events.event import notification
from ..._text import one_line, shortened
from ..engine.interface import Identity, Say
from .systemd_transport import ERROR, INFO, WARNING

Report = Dict[str, Any]

FORMAT = 1
MOST_BYTES = 128 * 1024
LONGEST = 1000  # characters of a text
MOST_ITEMS = 1000  # a scale set has at most so many machines
DEEPEST = 6
_FEW = 20
_LARGEST = 10**15  # a larger whole number is another one in JavaScript

KINDS = {
    "scheduled": INFO,
    "reappeared": WARNING,
    "changed": WARNING,
    "prepared": INFO,
    "prepare_failed": ERROR,
    "not_prepared_in_time": ERROR,
    "in_service": INFO,
    "skipped": WARNING,
    "approved": INFO,
    "not_approved": WARNING,
    "started": INFO,
    "started_unprepared": ERROR,
    "scheduled_again": WARNING,
    "ended": INFO,
    "recovered": INFO,
    "recovery_interrupted": INFO,
    "recovery_failed": ERROR,
    "mark_removed": WARNING,
    "clone_detected": WARNING,
    "approvals_held": WARNING,
    "approvals_released": INFO,
    "imds_unreachable": WARNING,
    "imds_reachable": INFO,
    "degraded": ERROR,
    "healthy": INFO,
    "clock_jumped": WARNING,
    "internal_error": ERROR,
    "event_unreadable": WARNING,
    "recovery_blocked": WARNING,
    "reports_dropped": WARNING,
    "test": INFO,
}
"""What a report may say, and how urgent it is, as syslog counts. More may come; what each means stands in the schema."""


class Machine(NamedTuple):
    """What is known of the machine without asking Azure."""

    hostname: str
    version: str  # of the collection
    watcher: str = "linux"
    labels: Mapping[str, str] = {}  # the user's, from the settings


def report_of(say: Say, identity: Optional[Identity], moment: Moment, machine: Machine) -> Report:
    """The report of something that happened just now.

    Its id follows from the machine, the moment and what is said: whoever says the same once more in the same moment says
    nothing new.
    """
    found = {
        "format": FORMAT,
        "id": "",
        "at": iso_utc(moment.wall),
        "machine": {
            "name": one_line(identity.name) if identity else "",
            "vm_id": one_line(identity.vm_id) if identity else "",
            "hostname": one_line(machine.hostname),
        },
        "labels": dict(machine.labels),
        "happened": one_line(say.happened, 40),
        "outage": one_line(say.outage),
        "outcome": one_line(say.outcome, 40),
        "event": None if say.event is None else bounded(notification(say.event, say.notice)),
        "message": one_line(say.message, LONGEST),
        "details": bounded(dict(say.details)),
        "version": one_line(machine.version, 40),
        "watcher": machine.watcher,
    }
    found["id"] = _id_of(found, moment)
    return _small_enough(found)


def line_of(report: Report) -> bytes:
    """The report as one line, in the bytes that are kept, sent and signed."""
    return json.dumps(report, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii") + b"\n"


def priority(report: Report) -> int:
    """How urgent it is, as syslog counts."""
    return KINDS.get(report["happened"], INFO)


def journal_fields(report: Report) -> Dict[str, str]:
    """What journald keeps beside the message, to look for: ``journalctl AZURE_MAINTENANCE_HAPPENED=prepare_failed``."""
    event = report["event"] or {}
    return {
        "report": report["id"],
        **{name: report[name] for name in ("happened", "outage", "outcome")},
        **{name: event.get(name, "") for name in ("id", "type")},
        "name": report["machine"]["name"],
    }


def bounded(value: Any, depth: int = 0) -> Any:
    """The value as JSON that can be printed: no control characters, no endless texts and lists, no numbers that JSON lacks."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return printable(value, LONGEST)
    if isinstance(value, int):
        return value if abs(value) < _LARGEST else float(min(max(value, -(10**300)), 10**300))
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if depth >= DEEPEST:
        return "..."
    if isinstance(value, dict):
        items = list(value.items())[:MOST_ITEMS]
        return {printable(str(key), 200): bounded(item, depth + 1) for key, item in items}
    if isinstance(value, (list, tuple, set, frozenset)):
        members = sorted(value, key=str) if isinstance(value, (set, frozenset)) else list(value)
        return [bounded(item, depth + 1) for item in members[:MOST_ITEMS]]
    return printable(str(value), LONGEST)


def printable(text: str, limit: int) -> str:
    """The text with a blank for each character that can't be printed. Unlike a line for people it keeps runs of blanks, as it
    may be an id or a name, which must stay what it is."""
    return shortened("".join(char if char.isprintable() else " " for char in text[: limit + 1]), limit)


def _id_of(report: Report, moment: Moment) -> str:
    said = [moment.boot_id, moment.uptime, report]
    digest = hashlib.sha256(json.dumps(said, sort_keys=True).encode("ascii")).hexdigest()
    # The form of a UUID of version 8, "made as whoever makes it likes" (RFC 9562)
    return "-".join((digest[:8], digest[8:12], "8" + digest[13:16], "a" + digest[17:20], digest[20:32]))


def _small_enough(report: Report) -> Report:
    """What is least missed goes first, until it is no larger than whoever receives it can bear."""
    if _fits(report):
        return report
    report = dict(report, details={"left_out": "there was too much to report"})
    if _fits(report) or not report["event"]:
        return report
    event = report["event"]
    report["details"]["resources"] = len(event["resources"])
    for most in (_FEW, 0):
        few = {key: event[key][:most] for key in ("resources", "raw_resources")}
        report = dict(report, event=dict(event, **few))
        if _fits(report):
            break
    return report


def _fits(report: Report) -> bool:
    return len(line_of(report)) <= MOST_BYTES
