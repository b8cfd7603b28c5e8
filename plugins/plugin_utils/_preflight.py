# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a person should know before a run waits: what keeps it from beginning, what will not go as it should, and how it begins, as a table
with a line for each machine and below it the steps. Pure.

Private to this collection.

The run's first tick has asked every machine. What it took in is in the record; what more was asked is in :class:`Asked`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..module_utils._core.mark_view import COPIED, DRAIN, EXPIRED, FOREIGN, NOBODY, UNREADABLE, WATCHER, service_words
from ..module_utils._steps.step_type import named
from ..module_utils._steps.types import is_verified
from ..module_utils._text import listed, one_line
from ._fleet.hosts import contradiction
from ._fleet.machine_state import MachineState
from ._fleet.marks import has_steps, holder_words, lacks_steps, no_steps, watcher_prepares, whose
from ._fleet.reports import by_reason, counted
from ._fleet.scopes import can_look, members, sentinels, wrong_scopes
from ._fleet.state import Record

CLOCKS = 30.0
"""Seconds by which a machine's clock may differ from the controller's."""

SHOWN = 5
"""Steps that are named in a sentence about the one machine that does them."""


class Asked(NamedTuple):
    """What is known of a host beside the record.

    steps: of its plan
    ready: its answer to the request of this name; None where there is none
    """

    steps: Sequence[Mapping[str, Any]]
    ready: Mapping[str, Any] | None


def errors(record: Record, asked: Mapping[str, Asked], is_there: Callable[[str], bool]) -> list[str]:
    """Sentences about what would keep the run from doing its work: it does not begin.

    :arg is_there: whether a collection is installed on the controller
    """
    found = list(_missing_collections(record, asked, is_there))
    without = [host for host in _without_steps(record) if lacks_steps(record.hosts[host])]
    without = [host for host in without if not _is_silent(record.hosts[host])]
    if without:
        found.append(no_steps(without))
    return [*found, "Nothing was changed."] if found else []


def warnings(
    record: Record,
    asked: Mapping[str, Asked],
    balancers: Sequence[Mapping[str, Any]],
    delegates: Sequence[Mapping[str, Any]],
) -> list[str]:
    """Sentences about what will not go as it should, and what to do about it.

    :arg balancers: what each load balancer showed that was asked: a result with ``place``
    :arg delegates: what came of asking each machine that does steps for others: a result with ``host``
    """
    found: list[str] = []
    for find in (_unwatched, _contradictions, _scopes, _marks):
        found += find(record)
    found += _of_answers(asked)
    found += _of_balancers(asked, balancers)
    found += _of_delegates(asked, delegates)
    found += _on_steps(record)
    return found


# ---- steps, and what they need ----


def _is_awaited(machine: MachineState) -> bool:
    """Whether the machine has not answered its first call, which is still under way."""
    return machine.answered is None and not machine.lost and machine.flying is not None


def _is_silent(machine: MachineState) -> bool:
    return bool(machine.lost) or _is_awaited(machine)


def _without_steps(record: Record) -> list[str]:
    return [host for host, machine in record.hosts.items() if not (machine.aside or has_steps(machine))]


def _on_steps(record: Record) -> Iterator[str]:
    """What becomes of machines without steps for which the run begins all the same."""
    hosts = record.hosts
    lost = [host for host in _without_steps(record) if lacks_steps(hosts[host]) and _is_silent(hosts[host])]
    if lost:
        yield (
            f"There are no steps for {listed(lost)}, and it is not known whether a watcher prepares such a machine: its events are not "
            "approved until one does (drain_steps, maintain_require_steps)."
        )
    allowed = [host for host in _without_steps(record) if not hosts[host].given.require_steps]
    if allowed:
        yield (
            f"There are no steps for {listed(allowed)}: such a machine counts as prepared as soon as it is marked (drain_steps)."
        )


def _missing_collections(record: Record, asked: Mapping[str, Asked], is_there: Callable[[str], bool]) -> Iterator[str]:
    needed: dict[str, list[str]] = {}
    for host, machine in record.hosts.items():
        for name in needed_collections(asked[host].steps, not machine.given.is_linux):
            needed.setdefault(name, []).append(host)
    return missing_collections(needed, is_there)


def needed_collections(steps: Sequence[Mapping[str, Any]], is_windows: bool) -> list[str]:
    """The collections whose modules a machine's plan may call."""
    return list(
        dict.fromkeys(
            [*(["ansible.windows"] if is_windows else []), *(name for step in steps for name in step["collections"])]
        )
    )


def missing_collections(needed: Mapping[str, Sequence[str]], is_there: Callable[[str], bool]) -> Iterator[str]:
    """A sentence about each that is not there.

    :arg needed: the hosts that need it, by the collection's name
    """
    for name, hosts in needed.items():
        if not is_there(name):
            yield (
                f"The collection {name}, required by {listed(hosts)}, is not installed on the controller: "
                f"ansible-galaxy collection install {name}."
            )


def _of_answers(asked: Mapping[str, Asked]) -> Iterator[str]:
    """What machines said of themselves, the same about several of them once."""
    said: dict[str, list[str]] = {}
    for host, one in asked.items():
        ready = one.ready or {}
        names = {step["key"]: named(step) for step in one.steps}
        for key, why in (ready.get("lacks") or {}).items():
            said.setdefault(f"{names[key]} would fail: {one_line(why, 500)}", []).append(host)
        if ready.get("mark"):
            said.setdefault(f"no mark can be written, so it would not be prepared: {ready['mark']}", []).append(host)
        ahead = float(ready.get("ahead") or 0.0)
        if abs(ahead) > CLOCKS:
            where = "ahead of" if ahead > 0 else "behind"
            said.setdefault(
                f"its clock is {abs(ahead):.0f} s {where} the controller's: correct one of them. Where the metadata service does not say its own time, "
                "not-before is reckoned by it",
                [],
            ).append(host)
    for sentence, hosts in said.items():
        yield f"{listed(hosts)}: {sentence.rstrip('.')}."


def _of_balancers(asked: Mapping[str, Asked], balancers: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    shown = {_place(one["place"]): one for one in balancers}
    for one in shown.values():
        if "servers" not in one:
            why = one_line(one.get("msg"), 500).rstrip(".") or "it gave no answer"
            yield f"{one['place']['load_balancer']}: HAProxy could not be asked: {why}."
    for host, known in asked.items():
        for step in known.steps:
            for place in step.get("places") or ():
                servers = shown.get(_place(place), {}).get("servers")
                lacking = _lacking(step, servers) if servers is not None else ""
                if lacking:
                    yield (
                        f"{host}: {named(step)} would fail: {place['load_balancer']} has no server "
                        f"{step['server']}{lacking}."
                    )


def _of_delegates(asked: Mapping[str, Asked], delegates: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for one in delegates:
        if "ping" in one:
            continue
        why = one_line(one.get("msg"), 500).rstrip(".") or "it gave no answer"
        steps = [
            f"{named(step)} of {host}"
            for host, known in asked.items()
            for step in known.steps
            if any(delegate["host"] == one["host"] for delegate in step.get("delegates") or ())
        ]
        more = f" and {len(steps) - SHOWN} more" if len(steps) > SHOWN else ""
        yield f"{one['host']}, which has to do {listed(steps[:SHOWN])}{more}, could not be reached: {why}."


def _place(place: Mapping[str, Any]) -> tuple[str, str]:
    return (place["load_balancer"], place["socket"])


def _lacking(step: Mapping[str, Any], servers: Iterable[Mapping[str, Any]]) -> str:
    """Where a load balancer lacks the server of a step: " in any backend", say; "" where it has it."""
    there = {str(server["backend"]) for server in servers if server["server"] == step["server"]}
    wanted = step["backends"]
    if not wanted:
        return "" if there else " in any backend"
    missing = [backend for backend in wanted if backend not in there]
    return f" in backend {listed(missing)}" if missing else ""


# ---- who watches whom ----


def _unwatched(record: Record) -> Iterator[str]:
    chosen = sentinels(record)
    said: dict[tuple[str, str], dict[str, str]] = {}
    for scope, hosts in members(record).items():
        watched = can_look(record.hosts[chosen[scope]])
        for host in hosts:
            machine = record.hosts[host]
            why = machine.lost or machine.seen.problem
            if why or _is_awaited(machine):
                why = why or "it has not answered yet, and is still waited for"
                what = "can't see its scheduled events" if machine.seen.problem else "could not be asked"
                then = f"{chosen[scope]} polls for it" if watched else "no machine polls for it"
                said.setdefault((what, then), {})[host] = one_line(why, 500).rstrip(".")
            elif not machine.name:
                why = machine.who.problem or "its metadata service did not say"
                yield f"Which events affect {host} is not known ({one_line(why, 500).rstrip('.')}): set azure_maintenance_resource_name."
    for (what, then), reasons in said.items():
        for one in by_reason(reasons):
            several = len(one.hosts) > 1
            what = what.replace("its", "their") if several else what
            then = then.replace("for it", "for them") if several else then
            yield f"{counted(one.hosts)} {what}, {then}: {one.words}."


def _contradictions(record: Record) -> Iterator[str]:
    for machine in record.hosts.values():
        yield from (sentence for sentence in (machine.aside, contradiction(machine)) if sentence)


def _scopes(record: Record) -> Iterator[str]:
    return wrong_scopes(record)


def _marks(record: Record) -> Iterator[str]:
    for host, machine in record.hosts.items():
        owner = whose(record, machine)
        if owner == NOBODY:
            continue
        said = f"{host} {'has ' if owner == UNREADABLE else 'is marked by '}{holder_words(machine).rstrip('.')}"
        if owner == EXPIRED:
            yield (
                f"{said}, whose lease has expired: a run takes the machine over, and recovers it when its maintenance is over."
            )
        elif owner == UNREADABLE:
            yield f"{said}: it is left unchanged. Check its folder of marks (azure_maintenance_folder)."
        elif owner == DRAIN:
            yield (
                f"{said}: a run leaves it alone. Recover it by role drain's entry point recover, or by the playbook recover with "
                "recover_take."
            )
        elif owner == COPIED:
            yield f"{said}, the VM that it was copied from: a run moves the mark aside, and undoes nothing."
        elif owner == FOREIGN:
            yield (
                f"{said}, made for {service_words(machine.mark or {})}: a run leaves it alone. After an interrupted rehearsal, the "
                "playbook rehearse recovers the machine with -e rehearse_state=absent."
            )
        elif owner == WATCHER:
            yield f"{said}: its watcher recovers it, a run leaves it alone (azure-maintenance status, on the machine)."
        else:
            yield (
                f"{said}, which counts as alive: a run leaves it alone. If that run no longer exists, the machine is taken over when its lease "
                "expires; the playbook status shows when."
            )


# ---- the table ----

OWN = "HOST"
"""What stands for the machine's own name in steps of several machines."""


def table(record: Record, asked: Mapping[str, Asked]) -> list[str]:
    """A line for each machine: its name in Azure, who polls its events, how many there are, its steps, its mark."""
    chosen = sentinels(record)
    rows = [
        (
            host,
            one_line(machine.name) or "(name not known)",
            _watch(record, machine, chosen),
            _events(machine),
            _count(len(asked[host].steps), "step") or ("its watcher's" if watcher_prepares(machine) else "NO STEPS"),
            _mark(record, machine),
        )
        for host, machine in record.hosts.items()
    ]
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    lines = ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return [*lines, *_steps(asked)]


def _watch(record: Record, machine: MachineState, chosen: Mapping[str, str]) -> str:
    if machine.aside:
        return "TAKES NO PART"
    host, scope = machine.host, machine.scope
    sentinel = chosen[scope]
    blind = "NOT REACHED, " if _is_silent(machine) else "BLIND, " if machine.seen.problem else ""
    if not can_look(record.hosts[sentinel]):
        return f"{blind}watched by nobody"
    if sentinel != host:
        return f"{blind}watched by {sentinel}"
    return f"watches scope {one_line(scope, 60)}" if len(members(record)[scope]) > 1 else "watches itself"


def _events(machine: MachineState) -> str:
    if machine.seen.at is None:
        return "events not known"
    return _count(len(machine.seen.shows), "event") or "no event"


def _mark(record: Record, machine: MachineState) -> str:
    if machine.answered is None:
        return "mark not known"
    return {NOBODY: "no mark", UNREADABLE: "MARK NOT READABLE"}.get(whose(record, machine), "HAS A MARK")


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}" if number else ""


def _steps(asked: Mapping[str, Asked]) -> list[str]:
    """The steps in their words, and those that are not verified."""
    return [
        *(f"steps of {hosts}: {'; then '.join(words)}" for hosts, words in _alike(asked, _words)),
        *(
            f"not verified before an approval, {hosts}: {listed(names)}"
            for hosts, names in _alike(asked, _not_verified)
        ),
    ]


def _alike(
    asked: Mapping[str, Asked], words_of: Callable[[Asked], tuple[str, ...]]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Machines and their words, once for several machines where they differ only by the machine's own name; nothing of one without words."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for host, one in asked.items():
        own = re.compile(rf"(?<![\w.-]){re.escape(host)}(?![\w.-])")
        alike.setdefault(tuple(own.sub(OWN, words) for words in words_of(one)), []).append(host)
    for words, hosts in alike.items():
        if words:
            yield listed(hosts), words if len(hosts) > 1 else words_of(asked[hosts[0]])


def _words(one: Asked) -> tuple[str, ...]:
    """What it does in order; what is only done afterwards comes last."""
    doing: Sequence[str] = [one_line(step["does"], 300) for step in one.steps if step["does"]]
    after = [f"afterwards {one_line(step['undoes'], 300)}" for step in one.steps if step["undoes"] and not step["does"]]
    return (*doing, *after)


def _not_verified(one: Asked) -> tuple[str, ...]:
    """What is done to take it out of service, and nobody looks at once more before an approval."""
    return tuple(one_line(named(step), 300) for step in one.steps if step["does"] and not is_verified(step))
