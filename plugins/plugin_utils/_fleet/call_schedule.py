# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who polls in the next tick: everybody whom an event concerns, the others in turn, and all on behalf of their scopes. And when a machine may
be called, and how long that call may take: nobody waits long for one that is dead. Pure.

Private to this collection.
"""

from __future__ import annotations

import math
from collections.abc import Collection

from ...module_utils._core.mark_view import COPIED, EXPIRED, OURS, RUN, WATCHER
from .evaluation import is_handled, took_away
from .event_state import EventState
from .event_terms import wanted_from
from .hosts import back_off
from .machine_state import MachineState
from .marks import is_its_watchers, whose
from .run_events import is_open
from .scopes import can_look, members, near, sentinels
from .state import Record

ENOUGH = 2
"""Machines that watch an event beside those that it affects: an approver, and one that takes over."""

BY_TURNS = 20.0
"""Seconds after which another scope is looked at while something is under way: 30 with the tick's own length."""

BY_TURNS_SPOT = 2.0
"""The same where a Preempt may give 30 s."""

ASK_AGAIN = 10.0
"""Seconds after which a machine is asked again who it is, when it could not say."""

ASK_KIND_AGAIN = 60.0
"""The same where only its kind may not be known: whether it is a Spot machine."""

EVERYBODY = 300.0
"""Seconds after which a machine that looks for nobody is called all the same: it may be lost, be marked, see other events."""

UNPROVEN = 60.0
"""The same for a machine of a declared scope of which nothing has shown that it is one: half of the notice of a Terminate."""

UNPROVEN_EACH = 30
"""How many of these are called in that time at most, the longest unasked ones first: a declaration that is right must not cost much."""


def is_under_way(record: Record) -> bool:
    """Whether anything is to be done or watched, so that nobody waits for a change."""
    if any(_moves(entry) or _may_be_over(entry) for entry in record.events.values()):
        return True
    return any(bears_ours(record, machine) for machine in record.hosts.values())


def _moves(entry: EventState) -> bool:
    """Whether something is to be done, but to wait for an event's hours."""
    return is_handled(entry) and entry.turn.resumes is None


def _may_be_over(entry: EventState) -> bool:
    """Whether one look has lacked it: a second one decides."""
    absent = any(sighting.absent is not None for sighting in entry.sightings.values())
    return is_open(entry) and absent


def bears_ours(record: Record, machine: MachineState) -> bool:
    """Whether it has a mark that this run has to take care of, or may have to, or that it waits for."""
    if machine.aside or took_away(record, machine.host):
        return False
    owner = whose(record, machine)
    is_watched = owner == WATCHER and is_its_watchers(machine)  # which recovers it, and the run waits for that
    return owner == OURS or is_watched or is_to_be_learned(machine, owner)


def is_to_be_learned(machine: MachineState, owner: str) -> bool:
    """Whether its mark is that of a run of which it will show whether it is still there, or another VM's, which is moved aside."""
    return owner in (EXPIRED, COPIED) or (owner == RUN and machine.renewals == 0)


def lookers(record: Record) -> set[str]:
    """The machines that look in a tick while something is under way."""
    chosen = {host for host, machine in record.hosts.items() if bears_ours(record, machine)}
    affected = _affected(record)
    for entry in record.events.values():
        if is_handled(entry) or _may_be_over(entry):
            chosen.update(_of_event(record, entry, affected))
    spots = spot_scopes(record)
    for scope, host in sentinels(record, avoid=affected).items():
        last = record.watched.get(scope)
        if last is None or record.at - last >= (BY_TURNS_SPOT if scope in spots else BY_TURNS):
            chosen.add(host)
    return chosen | unseen(record)


def is_to_be_asked(machine: MachineState, at: float) -> bool:
    """Whether it is time to ask a machine (again) who it is."""
    return not machine.is_known and (machine.who.asked is None or at - machine.who.asked >= ask_again(machine))


def ask_again(machine: MachineState) -> float:
    """Seconds from one question who a machine is to the next."""
    return ASK_KIND_AGAIN if machine.who.name and machine.given.scope else ASK_AGAIN


def spot_scopes(record: Record) -> set[str]:
    """The scopes of machines that may be evicted with a notice of 30 s, whoever looks there, as far as is known."""
    return {
        scope
        for scope, hosts in members(record).items()
        if any(record.hosts[host].who.spot and not took_away(record, host) for host in hosts)
    }


def unseen(record: Record) -> set[str]:
    """Machines that have not said who they are, have been lost, or were not called for long."""
    return _doubted(record) | {
        host
        for host, machine in record.hosts.items()
        if not machine.aside
        and (
            is_to_be_asked(machine, record.at)
            or machine.lost
            or machine.answered is None
            or record.at - machine.answered >= (BY_TURNS if _is_held_up(record, machine) else EVERYBODY)
        )
    }


def _doubted(record: Record) -> set[str]:
    """The unproven machines whose time has come."""
    seconds = {one.host: record.at - (one.seen.at or 0.0) for one in _unproven(record)}
    just_asked = sum(ago < 0.75 * UNPROVEN for ago in seconds.values())
    due = [host for host, ago in seconds.items() if ago >= 0.75 * UNPROVEN]
    return set(due[: max(0, UNPROVEN_EACH - just_asked)])


def _unproven(record: Record) -> list[MachineState]:
    """Machines of declared scopes that may be shown other documents than their sentinel, the longest unasked first. A placement
    group that they share, or an event that another of the scope was shown as well, proves the scope."""
    found = []
    for hosts in members(record).values():
        machines = [record.hosts[host] for host in hosts]
        groups = {machine.who.placement_group for machine in machines}
        if (
            len(machines) < 2
            or not any(machine.given.scope for machine in machines)
            or (len(groups) == 1 and all(groups))
        ):
            continue
        shared = [seen for entry in record.events.values() if len(seen := set(entry.sightings).intersection(hosts)) > 1]
        found += [machine for machine in machines if not any(machine.host in seen for seen in shared)]
    return sorted((one for one in found if can_look(one)), key=lambda one: one.seen.at or 0.0)


def _is_held_up(record: Record, machine: MachineState) -> bool:
    """Whether an event waits for what only the machine shows: that its hold is released, or its document can be read again."""
    host, held = machine.host, bool(machine.said.hold)
    return bool(held or machine.seen.unreadable) and any(
        is_open(entry) and entry.started is None and entry.against.hold and (not held or host in entry.affected)
        for entry in record.events.values()
    )


def _affected(record: Record) -> set[str]:
    return {host for entry in record.events.values() if is_handled(entry) for host in entry.affected}


def _of_event(record: Record, entry: EventState, affected: Collection[str]) -> set[str]:
    """Those it affects, and a few others that are shown it, or may be: rather machines that no event affects."""
    machines = [record.hosts[host] for host in near(record, entry) if host not in entry.affected]
    machines = [one for one in machines if not one.lost and one.host not in entry.lacking]
    machines.sort(key=lambda one: (one.host in affected, entry.key not in one.seen.shows))
    lacking = list(entry.lacking)[:1]  # it may be late, or show that the scope is none
    return {*entry.affected, *(one.host for one in machines[:ENOUGH]), *lacking}


# ---- while nothing is under way ----


def seconds_until_due(record: Record, at: float) -> float:
    """Seconds until something is due though no document changes; infinite when nothing will be."""
    due = [record.clock.mono + record.same.wait_timeout - at]
    for entry in record.events.values():
        if is_open(entry) and entry.turn.state == "later":
            due += [wanted_from(entry, record.hosts[host]) - at for host in entry.affected]
        elif entry.turn.resumes is not None:
            due.append(entry.turn.resumes - at)
    due += [UNPROVEN] if _unproven(record) else []
    for machine in record.hosts.values():
        if machine.lost and not (machine.aside or machine.left):
            due.append(machine.again - at if machine.again > at else back_off(machine.in_vain.failures + 1))
        elif _is_held_up(record, machine):
            due.append((machine.answered or at) + BY_TURNS - at)
        elif not machine.is_known:
            due.append((machine.who.asked or at) + ask_again(machine) - at)
    return min((seconds for seconds in due if seconds > 0), default=math.inf)


# ---- when a machine may be called, and how long that may take ----

LIMIT = 10.0
"""Seconds for a call, beside those for which it waits."""

START = 10.0
"""Seconds more for a Windows machine: its PowerShell stays, but may have to be started first, which takes 1 to 3 s, and 14 s where the machine
is very busy."""

DOUBLINGS = 2
"""How often a call has twice the time of one that lasted until its limit: machine or controller may only be slow."""


def may_be_called(machine: MachineState, at: float) -> bool:
    """Whether it is time for a call to a machine."""
    return not machine.aside and at >= machine.again


def seconds_limit(machine: MachineState) -> float:
    """Seconds that a call may take beside what it waits."""
    times = 2.0 ** min(machine.in_vain.hung, DOUBLINGS)
    if machine.given.call_timeout:
        return machine.given.call_timeout * times
    return LIMIT * times + (0.0 if machine.given.is_linux else START)
