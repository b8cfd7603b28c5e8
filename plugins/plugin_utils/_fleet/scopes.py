# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Scopes: which machines are shown the same document, and which of them looks on behalf of the others. It changes the record, and nothing else.

Private to this collection.

A scope is declared, or the placement group, or learned: machines that were ever shown the same event are one. Where that turns
out to be wrong, every machine looks for itself from then on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from ...module_utils._core.tracked_event import GONE_APART
from ...module_utils._text import listed
from .event_state import EventState
from .machine_state import MachineState
from .reports import happened, note, report
from .run_events import is_open
from .state import Record


def members(record: Record) -> dict[str, list[str]]:
    """The hosts of every scope, in the order of the inventory."""
    grouped: dict[str, list[str]] = {}
    for host, machine in record.hosts.items():
        if not machine.aside:
            grouped.setdefault(machine.scope, []).append(host)
    return grouped


def near(record: Record, entry: EventState) -> list[str]:
    """The hosts of the scopes in which an event was shown."""
    shown_in = {record.hosts[host].scope for host in entry.sightings}
    return [host for host, machine in record.hosts.items() if machine.scope in shown_in and not machine.aside]


def can_look(machine: MachineState) -> bool:
    """Whether a machine can poll on behalf of others, as far as is known."""
    return not (machine.lost or machine.seen.problem or machine.aside) and machine.answered is not None


def sentinels(record: Record, avoid: Collection[str] = ()) -> dict[str, str]:
    """The machine that looks on behalf of each scope: one that can.

    :arg avoid: hosts that are only taken where there is nobody else: an event affects them
    """
    chosen = {}
    lacking = _lacking(record)
    for scope, hosts in members(record).items():
        machines = [record.hosts[host] for host in hosts]
        machines.sort(key=lambda one: (not can_look(one), one.host in avoid, one.host in lacking))
        chosen[scope] = machines[0].host
    return chosen


def _lacking(record: Record) -> set[str]:
    """The machines that were not shown an open event of their scope: they could never say that it has started, or is over."""
    return {
        host
        for entry in record.events.values()
        if is_open(entry)
        for host in near(record, entry)
        if host not in entry.sightings
    }


def join(record: Record) -> None:
    """Machines that were ever shown the same event are one scope."""
    for entry in record.events.values():
        if entry.tracked.is_recalled:
            continue
        machines = [record.hosts[host] for host in entry.sightings if not record.hosts[host].split]
        names = list(dict.fromkeys(machine.scope for machine in machines))
        if len(names) > 1:
            _note_joined(record, entry, names)
        for machine in record.hosts.values():
            if machine.scope in names[1:]:
                machine.scope = names[0]


def _note_joined(record: Record, entry: EventState, names: Collection[str]) -> None:
    """Warn where scopes that were said to be several are one: one of them may be misspelt."""
    hosts = [host for host, machine in record.hosts.items() if machine.scope in names]
    said = sorted({name for host in hosts if (name := said_scope(record.hosts[host]))})
    if len(said) < 2:
        return
    theirs = "; ".join(
        f"{name!r} is {listed(host for host in hosts if said_scope(record.hosts[host]) == name)}" for name in said
    )
    note(
        record,
        f"scopes: {listed(said)}",
        f"WARNING: The scopes {listed(map(repr, said))} were shown the same event, {entry.event.event_type} {entry.event.event_id}, so Azure takes them for "
        f"one ({theirs}). From then on they are one scope, and capacity counts for each and for all of them together. See that "
        "azure_maintenance_scope is spelt alike.",
    )


def said_scope(machine: MachineState) -> str:
    """The scope that the inventory or the metadata service names; "" where neither does."""
    group = machine.who.placement_group
    return machine.given.scope or (f"placement group {group}" if group else "")


def joined_groups(record: Record) -> dict[str, str]:
    """By host, the name of what events have made one of several scopes that were said: capacity counts there as well."""
    found = {}
    for hosts in members(record).values():
        machines = [record.hosts[host] for host in hosts if not record.hosts[host].given.group]
        said = sorted({name for machine in machines if (name := said_scope(machine))})
        if len(said) > 1:
            found.update({machine.host: f"{' and '.join(said)}, one scope by an event" for machine in machines})
    return found


class Split(NamedTuple):
    """A scope that turned out to be none: a machine lacks for longer than a moment what others of it are shown."""

    scope: str
    hosts: list[str]  # that were one until now
    declared: bool
    event: str  # its id, as Azure writes it
    seen_by: list[str]
    lacked_by: str


LATELY = 5.0
"""Seconds within which two machines must have been polled for their documents to be compared: each is polled every 3 s, and a call takes a while."""


def shown_lately(record: Record) -> dict[str, tuple[str, ...]]:
    """What each machine was shown that was polled lately: the keys of the events, by host."""
    return {
        host: machine.seen.shows
        for host, machine in record.hosts.items()
        if machine.seen.at is not None and record.at - machine.seen.at <= LATELY
    }


def take_differences(record: Record, shown: Mapping[str, Collection[str]]) -> list[Split]:
    """See where a machine's documents lack, for longer than a moment, an event that others of its scope are shown: all of that scope
    look for themselves from then on.

    :arg shown: the keys of the events in the documents that came lately, by host
    """
    found = []
    for key, entry in record.events.items():
        if entry.gone is not None:
            continue
        seen_by = [host for host, keys in shown.items() if key in keys]
        entry.lacking = {host: since for host, since in entry.lacking.items() if host not in seen_by}
        if not seen_by:
            continue
        scopes = {record.hosts[host].scope for host in entry.sightings}
        last_seen = max(record.hosts[host].seen.at or 0.0 for host in seen_by)
        for host, keys in shown.items():
            looked = record.hosts[host].seen.at or 0.0
            # A document that is older than the event says nothing of it, and the same one says nothing more as time goes by.
            if key not in keys and record.hosts[host].scope in scopes and looked > entry.shown:
                since = entry.lacking.setdefault(host, looked)
                if min(looked, last_seen) - since >= GONE_APART and _is_divided(record, entry, host):
                    found.append(_split(record, entry, host, _seen_by(record, key)))
    return found


def _seen_by(record: Record, key: str) -> list[str]:
    """The machines whose latest document has the event."""
    return [host for host, machine in record.hosts.items() if key in machine.seen.shows]


def _is_divided(record: Record, entry: EventState, host: str) -> bool:
    """Whether machines that are taken for one scope with this one were shown the event."""
    scope = record.hosts[host].scope
    others = [other for other in entry.sightings if record.hosts[other].scope == scope]
    return bool(others) and not record.hosts[host].split


def _split(record: Record, entry: EventState, host: str, seen_by: list[str]) -> Split:
    scope = record.hosts[host].scope
    hosts = members(record)[scope]
    declared = any(record.hosts[other].given.scope for other in hosts)
    for other in hosts:
        machine = record.hosts[other]
        record.watched.setdefault(other, record.watched.get(scope, record.at))
        machine.split, machine.scope = True, other
    return Split(scope, hosts, declared, entry.event.event_id, seen_by, host)


def note_splits(record: Record, splits: Iterable[Split]) -> None:
    """Say which scopes are none."""
    for split in splits:
        words = (
            f"The machines of scope {split.scope!r} are shown different documents, so they are not one scope: {listed(split.seen_by)} "
            f"{'see' if len(split.seen_by) > 1 else 'sees'} event {split.event}, and {split.lacked_by} does not."
        )
        if split.declared:
            words += (
                f" Correct azure_maintenance_scope of {listed(split.hosts)} (a machine without it is a scope of its own). They were "
                "watched one by one from then on."
            )
            report(record, f"scope {split.scope}: differs", words)
        else:
            note(record, f"scope {split.scope}: differs", f"{words} They were watched one by one from then on.")
        happened(record, "differs", words)


# ---- what contradicts them ----


def wrong_scopes(record: Record) -> Iterator[str]:
    """Sentences about scopes that can't be what the inventory says, by what the metadata services say."""
    placed: dict[str, set[str]] = {}
    for scope, hosts in members(record).items():
        machines = [record.hosts[host] for host in hosts]
        declared = any(machine.given.scope for machine in machines)
        groups = {machine.who.placement_group for machine in machines if machine.who.placement_group}
        for group in groups if declared else ():
            placed.setdefault(group, set()).add(scope)
        shows = {tuple(machine.seen.shows) for machine in machines if machine.seen.at is not None}
        if len(shows) > 1 or len(groups) > 1:
            yield (
                f"The machines of scope {scope!r} ({listed(hosts)}) "
                f"{'are shown different events' if len(shows) > 1 else 'are in several placement groups'}, so they may not be one scope: "
                "see azure_maintenance_scope."
            )
        zones = {machine.host: machine.who.domain for machine in machines if machine.who.domain.startswith("zone ")}
        if declared and not groups and len(set(zones.values())) > 1:
            where = listed(f"{host} in {zone}" for host, zone in zones.items())
            yield (
                f"The machines of scope {scope!r} are in several zones ({where}), which those of an availability set never are: see "
                "azure_maintenance_scope."
            )
    for group, scopes in placed.items():
        if len(scopes) > 1:
            yield (
                f"The placement group {group} is one scope to Azure, and azure_maintenance_scope makes it {listed(sorted(scopes))}: "
                "each is polled separately. Check whether that is intended."
            )
