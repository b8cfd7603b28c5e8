# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the watcher's metrics say: of this very moment, out of the facts of a tick; and what is counted: how its outages ended, how long they
took, and hooks that failed. Pure.

Private to this collection.

Of an event only its type and status are used, and only those that Azure documents: text from the wire is never a label. Counting goes by the
reports, and by the mark. The counts belong to one process: whoever reads them knows that a counter may begin anew.
"""

from typing import Any, Dict, FrozenSet, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from ..._core.mark_view import MarkView, recovery_begun
from ..._events.policy import TYPES
from ..._steps.sequence import FAILED, NOT_TAKEN_BACK
from ..engine.interface import Facts, Say
from ..settings.hooks import HOOKS

RECOVERED, PREPARE_FAILED, UNPREPARED = "recovered", "prepare_failed", "unprepared"
INTERRUPTED, MARK_REMOVED = "interrupted", "mark_removed"
OUTCOMES = (RECOVERED, PREPARE_FAILED, UNPREPARED, INTERRUPTED, MARK_REMOVED)
"""How an outage may end. Each outage is counted once, with the worst that can be said of it: that an event started before the machine was
prepared, in that moment; that another event came before the machine was recovered, which began another outage."""

BOUNDS = (60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400)
"""Seconds: upper bounds of the buckets of outages."""

_ENDS = {"recovered": RECOVERED, "recovery_interrupted": INTERRUPTED, "mark_removed": MARK_REMOVED}


class Current(NamedTuple):
    """The outage that goes on."""

    name: str = ""  # "" while there is none
    since: float = 0.0  # Unix time
    worst: str = ""  # PREPARE_FAILED or UNPREPARED, where that can be said of it already
    failed: FrozenSet[str] = frozenset()  # keys and states of the hooks that were counted as failed


def _failed_hooks(steps: Sequence[Mapping[str, Any]]) -> FrozenSet[str]:
    found = [step for step in steps if step["type"] in HOOKS and step["state"] in (FAILED, NOT_TAKEN_BACK)]
    return frozenset(f"{step['key']} {step['state']}" for step in found)


class Counters:
    """The counts of one watcher.

    outages: by outcome; buckets: outages by the bound that they did not exceed, the others at the end; seconds: of all of them
    """

    def __init__(self) -> None:
        self.outages: Dict[str, int] = dict.fromkeys(OUTCOMES, 0)
        self.buckets: List[int] = [0] * (len(BOUNDS) + 1)
        self.seconds = 0
        self.hook_failures = 0
        self._current = Current()

    def take_report(self, say: Say, wall: float) -> None:
        """Something was reported.

        :arg wall: Unix time
        """
        current = self._current
        of_current = bool(current.name) and say.outage == current.name
        if say.happened == "started_unprepared":
            if of_current and current.worst == UNPREPARED:
                return  # by an earlier event of the same outage
            self.outages[UNPREPARED] += 1
            if of_current:
                self._current = current._replace(worst=UNPREPARED)
        elif say.happened in ("prepare_failed", "prepared"):
            if of_current and current.worst != UNPREPARED:
                self._current = current._replace(worst=PREPARE_FAILED if say.happened == "prepare_failed" else "")
        elif say.happened in _ENDS:
            self._end(_ENDS[say.happened], wall)

    def _end(self, outcome: str, wall: float) -> None:
        current = self._current
        if not current.name:  # it was counted, or this watcher has never seen it
            return
        if outcome == RECOVERED and current.worst:
            outcome = current.worst
        if current.worst != UNPREPARED:
            self.outages[outcome] += 1
        seconds = max(0, int(wall - current.since))
        self.buckets[next((n for n, bound in enumerate(BOUNDS) if seconds <= bound), len(BOUNDS))] += 1
        self.seconds += seconds
        self._current = Current()

    def follow(self, mark: MarkView, since: float, steps: Sequence[Mapping[str, Any]]) -> None:
        """Take up the watcher's own mark as it is now.

        :arg since: Unix time at which it was made
        :arg steps: as the mark has them
        """
        if mark.outage != self._current.name:
            self._current = Current(mark.outage, since)
        failed = _failed_hooks(steps)
        self.hook_failures += len(failed - self._current.failed)
        self._current = self._current._replace(failed=failed, since=since)

    def take_up(self, mark: MarkView, note: Mapping[str, Any], steps: Sequence[Mapping[str, Any]]) -> None:
        """An outage that goes on when the watcher is started: what another process has counted of it counts no more.

        :arg note: of the mark, which has what was reported
        """
        said = {happened for each in (note.get("said") or {}).values() for happened in each}
        failed = PREPARE_FAILED if "prepare_failed" in said and "prepared" not in said else ""
        worst = UNPREPARED if "started_unprepared" in said else failed
        self._current = Current(mark.outage, 0.0, worst, _failed_hooks(steps))


OTHER = "other"
STATUSES = ("Scheduled", "Started")
IN_SERVICE, UNREADABLE = "in_service", "unreadable"
PHASES = (
    IN_SERVICE,
    "preparing",
    "prepared",
    "prepare_failed",
    "recovering",
    "partially_recovered",
    UNREADABLE,
)
_TYPES = {name.lower(): name for name in TYPES}
_STATUSES = {name.lower(): name for name in STATUSES}


class Gauges(NamedTuple):
    """What matters at once when it changes."""

    version: str
    mode: str
    imds_up: bool
    phase: str
    events: Tuple[Tuple[str, str], ...]  # type and status of each event of this machine, sorted
    not_before: float  # Unix time, of the first of these that is Scheduled; 0 where none is
    approvals_held: bool
    degraded: bool


def gauges_of(facts: Facts, version: str) -> Gauges:
    """:arg version: of the collection"""
    name = facts.identity.name if facts.identity else ""
    events = [event for event in facts.polled.document.events if name and event.affects(name)] if facts.polled else []
    due = [event.not_before_time for event in events if event.is_scheduled and event.not_before_time is not None]
    return Gauges(
        version=version,
        mode=facts.settings.mode,
        imds_up=facts.polled is not None and not facts.poll_problem,
        phase=phase_of(facts.mark, facts.unreadable),
        events=tuple(
            sorted((_known(_TYPES, event.event_type), _known(_STATUSES, event.event_status)) for event in events)
        ),
        not_before=min(due, default=0.0),
        approvals_held=bool(facts.hold and facts.hold.lasts(facts.moment.wall)),
        degraded=bool(facts.degraded or facts.unreadable),
    )


def phase_of(mark: Optional[Mapping[str, Any]], unreadable: str) -> str:
    """One of the phases above.

    :arg unreadable: why the mark that is there can't be read
    """
    if unreadable:
        return UNREADABLE
    if mark is None:
        return IN_SERVICE
    if mark["phase"] == "half":
        return "partially_recovered" if recovery_begun(mark) else "prepare_failed"
    return str(mark["phase"])


def last_poll(facts: Facts) -> int:
    """Unix time of the last document, in whole seconds; 0 before the first one."""
    return int(facts.moment.wall - (facts.now - facts.polled.at)) if facts.polled else 0


def _known(names: Mapping[str, str], given: str) -> str:
    return names.get(given.lower(), OTHER)


def counted(events: Tuple[Tuple[str, str], ...]) -> Dict[Tuple[str, str], int]:
    """How many there are of each type and status; 0 for those that there are none of."""
    found = {(kind, status): 0 for kind in (*TYPES, OTHER) for status in (*STATUSES, OTHER)}
    for one in events:
        found[one] += 1
    return found
