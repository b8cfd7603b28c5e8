# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What handlers did, out of the journal's entries: their approvals of each event, and how often they asked.

A POST is counted once for each event that it names. It is

- repeated, when an earlier one for the same event was executed and its sender got the answer: a lost one may be sent again;
- late, when the event had started, or was gone;
- foreign, when the id belongs to no event here, or to one of another scope.
"""

from collections import deque
from datetime import datetime, timezone
from typing import Any, Deque, Dict, Iterable, List, NamedTuple, Optional, Sequence

Entry = Dict[str, Any]

AGREED = ("approved", "already", "started", "advice")  # results of a POST that named an event which the VM could see
UNNEEDED = ("no_notice", "automatic", "disabled")  # causes of a start that gave nobody time to approve


class EventReport:
    """One event, and the POSTs that named it."""

    def __init__(self, shown: Entry) -> None:
        self.id: str = shown["event_id"]
        self.name: str = shown["name"]
        self.type: str = shown["event_type"]
        self.scope: str = shown["scope"]
        self.resources: List[str] = shown["resources"]
        self.is_advice = shown["kind"] == "advisory"
        self.times: Dict[str, Entry] = {}  # kind of entry -> the first of it
        self.approved_by: List[str] = []
        self.cause = self.outcome = ""
        self.posts: Dict[str, int] = {}  # by VM
        self.repeated = self.late = 0
        self.answered = False  # a POST for it was executed, and its sender knows

    def after(self, kind: str) -> Optional[Dict[str, float]]:
        """Seconds from when it was shown, by the watch and in virtual time."""
        first, then = self.times.get("scheduled"), self.times.get(kind)
        if first is None or then is None:
            return None
        virtual = _seconds(then["virtual"]) - _seconds(first["virtual"])
        return {"wall": round(then["wall"] - first["wall"], 3), "virtual": round(virtual, 3)}

    @property
    def awaits_approval(self) -> bool:
        """Was there something to approve?"""
        return not self.is_advice and self.cause not in UNNEEDED and self.outcome != "cancelled"

    def as_json(self) -> Dict[str, Any]:
        """For programs."""
        return {
            "id": self.id,
            "name": self.name,
            "type": self.type,
            "scope": self.scope,
            "resources": self.resources,
            "cause": self.cause,
            "outcome": self.outcome,
            "approved_by": self.approved_by,
            "shown_to_approved": self.after("approved"),
            "shown_to_started": self.after("started"),
            "posts": {"total": sum(self.posts.values()), "by_vm": self.posts},
            "repeated": self.repeated,
            "late": self.late,
        }


class Foreign(NamedTuple):
    """A POST for an event that its sender has no business with."""

    vm: str
    event_id: str
    reason: str


class Asker:
    """How often a VM asked, and the most within any second."""

    def __init__(self) -> None:
        self.requests = self.throttled = self.peak = 0
        self._recent: Deque[float] = deque()

    def add(self, entry: Entry) -> None:
        """One request, in the order of time."""
        self.requests += 1
        self.throttled += entry["status"] == 429
        self._recent.append(entry["wall"])
        while entry["wall"] - self._recent[0] >= 1:
            self._recent.popleft()
        self.peak = max(self.peak, len(self._recent))

    def as_json(self) -> Dict[str, int]:
        """For programs."""
        return {"requests": self.requests, "peak_per_second": self.peak, "throttled": self.throttled}


class Report:
    """All of it."""

    def __init__(self) -> None:
        self.events: Dict[str, EventReport] = {}
        self.foreign: List[Foreign] = []
        self.malformed = 0  # POSTs that could not be read
        self.requests_logged = False
        self.askers: Dict[str, Asker] = {}
        self.forgotten = 0  # entries that the emulator no longer has

    def as_json(self) -> Dict[str, Any]:
        """For programs."""
        return {
            "events": [event.as_json() for event in self.events.values()],
            "foreign": [one._asdict() for one in self.foreign],
            "malformed": self.malformed,
            "requests": {vm: asker.as_json() for vm, asker in self.askers.items()} if self.requests_logged else None,
            "forgotten": self.forgotten,
        }


def last_start(entries: Sequence[Entry]) -> Sequence[Entry]:
    """Those of the emulator's last start: a file may have been appended to by several, each of which counts from 1."""
    starts = [position for position, entry in enumerate(entries) if entry["seq"] == 1]
    return entries[starts[-1] :] if starts else entries


def make_report(entries: Iterable[Entry]) -> Report:
    """The report on entries of one start, in their order."""
    report = Report()
    previous = 0
    for entry in entries:
        report.forgotten += entry["seq"] - previous - 1
        previous = entry["seq"]
        kind = entry["kind"]
        report.requests_logged = report.requests_logged or kind in ("request", "requests_logged")
        if kind == "request":
            report.askers.setdefault(entry["vm"], Asker()).add(entry)
        elif kind == "post":
            _take_post(report, entry)
        elif kind in ("scheduled", "advisory", "approved", "started", "gone"):
            _take_change(report, entry)
    return report


def _take_change(report: Report, entry: Entry) -> None:
    event = report.events.setdefault(entry["event_id"], EventReport(entry))
    event.times.setdefault(entry["kind"], entry)
    event.cause = entry.get("cause", event.cause)
    event.outcome = entry.get("outcome", event.outcome)
    if entry["kind"] == "approved":
        event.approved_by.append(entry["by"])


def _take_post(report: Report, entry: Entry) -> None:
    if not entry["requests"]:
        report.malformed += 1
    for request in entry["requests"]:
        event = report.events.get(request["event_id"].upper())
        if event is None or event.scope != entry["scope"]:
            reason = f"it is one of scope {event.scope}" if event else "no event has this id"
            report.foreign.append(Foreign(entry["vm"], request["event_id"], reason))
            continue
        event.posts[entry["vm"]] = event.posts.get(entry["vm"], 0) + 1
        event.repeated += event.answered
        event.late += request["result"] == "started" or "gone" in event.times
        event.answered = event.answered or (request["result"] in AGREED and entry["status"] == 200)


def _seconds(text: str) -> float:
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=timezone.utc).timestamp()
