# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the watcher's metrics say of this very moment, out of the facts of a tick. Pure.

Private to this collection.

Of an event only its type and status are used, and only those that Azure documents: text from the wire is never a label.
"""

from typing import Any, Dict, Mapping, NamedTuple, Optional, Tuple

from ..._core.mark_view import recovery_begun
from ..._events.policy import TYPES
from ..engine.facts import Facts

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
    events = [event for event in facts.look.document.events if name and event.affects(name)] if facts.look else []
    due = [event.not_before_time for event in events if event.is_scheduled and event.not_before_time is not None]
    return Gauges(
        version=version,
        mode=facts.settings.mode,
        imds_up=facts.look is not None and not facts.poll_problem,
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
    return int(facts.moment.wall - (facts.now - facts.look.at)) if facts.look else 0


def _known(names: Mapping[str, str], given: str) -> str:
    return names.get(given.lower(), OTHER)


def counted(events: Tuple[Tuple[str, str], ...]) -> Dict[Tuple[str, str], int]:
    """How many there are of each type and status; 0 for those that there are none of."""
    found = {(kind, status): 0 for kind in (*TYPES, OTHER) for status in (*STATUSES, OTHER)}
    for one in events:
        found[one] += 1
    return found
