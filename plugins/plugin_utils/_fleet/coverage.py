# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run missed of its scopes, for how long no machine polled them, and what their documents hold that can't be taken as it is. It
changes the record, and nothing else.

A time without polls is one problem for all scopes that say the same at the same time. It is kept under the subject that it began with, so
that it is one problem while it grows, and while other scopes join it.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ...module_utils._text import clause, listed
from .evaluation import took_away
from .machine_state import MachineState
from .problems import is_away
from .reports import by_reason, counted, note, report, time_of_day
from .run_events import Look
from .scopes import members
from .state import Gap, GapOfScope, Record
from .tick_planner import only_waits

UNWATCHED = 120.0
"""Seconds for which a scope may not be looked at."""

UNWATCHED_SPOT = 30.0


class Unwatched(NamedTuple):
    """Moments of the run between which nobody looked at a scope."""

    scope: str
    hosts: list[str]
    since: float
    until: float


def take_watch(record: Record, looks: Iterable[Look]) -> list[Unwatched]:
    """Keep when each scope was last looked at; returns what was not looked at for too long."""
    scopes = members(record)
    found = []
    for look in sorted(looks, key=lambda look: look.began):
        scope = record.hosts[look.host].scope
        found.append(_unwatched(record, scope, scopes.get(scope, []), look.began))
        record.watched[scope] = max(record.watched.get(scope, look.got), look.got)
    for scope, hosts in scopes.items():
        record.watched.setdefault(scope, record.clock.mono)
        if all(_is_excused(record, host) for host in hosts):
            record.watched[scope] = max(record.watched[scope], record.at)
        if not any(_is_waiting(record.hosts[host]) for host in hosts):
            found.append(_unwatched(record, scope, hosts, record.at))
    return [one for one in found if _is_too_long(record, one)]


def _is_excused(record: Record, host: str) -> bool:
    """Whether a machine can't poll because of its own event. One that answers can."""
    machine = record.hosts[host]
    return bool(machine.lost) and (is_away(record, machine) or took_away(record, host))


def _is_waiting(machine: MachineState) -> bool:
    """Whether it waits for a change in a call: whether it has polled meanwhile is known when that is answered, or lost."""
    return machine.flying is not None and only_waits(machine.flying)


def _unwatched(record: Record, scope: str, hosts: list[str], until: float) -> Unwatched:
    return Unwatched(scope, hosts, record.watched.get(scope, record.clock.mono), until)


def _is_too_long(record: Record, one: Unwatched) -> bool:
    spot = any(record.hosts[host].who.spot for host in one.hosts)
    return one.until - one.since > (UNWATCHED_SPOT if spot else UNWATCHED)


def note_gaps(record: Record, found: Iterable[Unwatched]) -> None:
    """Say for how long nobody looked at a scope, and why."""
    for scope, hosts, since, until in found:
        why = {host: words for host in hosts if (words := record.hosts[host].lost or record.hosts[host].seen.problem)}
        report(record, *note_gap(record, scope, hosts, since, until, why))


def note_unreadable(record: Record, looks: Mapping[str, Mapping[str, Any]]) -> None:
    """Say which entries of the documents can't be read, once for all machines of a scope."""
    for host, look in looks.items():
        for unusable in look.get("unusable_events") or ():
            subject = f"scope {record.hosts[host].scope}: unreadable {unusable['id'] or unusable['reason']}"
            if subject not in record.lasting:
                report(
                    record,
                    subject,
                    f"{host} is shown an event ({unusable['id'] or 'without an id'}) that can't be read, so nothing "
                    f"was done about it: {clause(unusable['reason'])}. See unusable_events in the result of "
                    "scheduled_events_info there.",
                )


def note_incarnation(record: Record, machine: MachineState, incarnation: int) -> None:
    """An incarnation that went back shows that Azure began to count anew: events may have come and gone unseen."""
    before = machine.seen.incarnation
    if before is not None and incarnation < before:
        note(
            record,
            f"machine {machine.host}: incarnation",
            f"The incarnation that {machine.host} is shown went from {before} back to {incarnation} by {time_of_day(record, record.at)}: "
            "Azure began to count anew.",
        )


_NAMED = 5


def note_gap(
    record: Record, scope: str, hosts: list[str], since: float, until: float, why: Mapping[str, str]
) -> tuple[str, str]:
    """Keep that nobody looked at a scope; returns the problem's subject and sentence.

    :arg since, until: moments of the run
    :arg why: why its machines could not poll, by host; those that do not say so are left out
    """
    reasons = by_reason(why)
    reason = "; ".join(sorted(one.subject for one in reasons))
    subject = (
        _known(record, scope, since)
        or _same(record, scope, since, until, reason)
        or f"scope {scope}: watch from {since:.0f}"
    )
    gap = record.gaps.setdefault(subject, Gap(reason))
    gap.scopes[scope] = GapOfScope(hosts, since, until)
    if reasons and scope == next(iter(gap.scopes)):  # once it is over, they say nothing any more
        gap.by_machine = "; ".join(f"{counted(one.hosts)}: {clause(one.words, 1000)}" for one in reasons)
        gap.shared = "; ".join(clause(one.words, 1000) for one in reasons)
    return subject, _words(record, gap)


def _known(record: Record, scope: str, since: float) -> str:
    """The subject of the gap that this one goes on with; "" for a new one."""
    return next(
        (subject for subject, gap in record.gaps.items() if scope in gap.scopes and gap.scopes[scope].since == since),
        "",
    )


def _same(record: Record, scope: str, since: float, until: float, reason: str) -> str:
    """The subject of the gap of other scopes at the same time for the same reason; "" where there is none."""
    for subject, gap in record.gaps.items():
        scopes = gap.scopes.values()
        overlaps = since <= max(one.until for one in scopes) and until >= min(one.since for one in scopes)
        if overlaps and reason == gap.reason and scope not in gap.scopes:
            return subject
    return ""


def _words(record: Record, gap: Gap) -> str:
    scopes = gap.scopes
    since = min(one.since for one in scopes.values())
    longest = max(one.until - one.since for one in scopes.values())
    when = f"{longest:.0f} s from {time_of_day(record, since)} on"
    if len(scopes) > 1:
        why = f": {gap.shared}" if gap.shared else ""
        return f"No machine polled the events of {len(scopes)} scopes ({listed(scopes, _NAMED)}) for up to {when}{why}."
    scope = next(iter(scopes))
    hosts = scopes[scope].hosts
    who = "" if hosts in ([], [scope]) else f" ({listed(hosts)})"
    why = f": {gap.by_machine}" if gap.by_machine else ""
    return f"No machine polled the events of scope {scope!r}{who} for {when}{why}."
