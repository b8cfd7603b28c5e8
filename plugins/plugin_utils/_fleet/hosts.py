# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The machines of a run: how each begins, what an answer says of it, when one that was lost is called again. It changes the record, and nothing else.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Any

from ...module_utils._clock import Moment
from ...module_utils._core.mark_view import is_expired
from ...module_utils._text import first_line, one_line
from .machine_state import Identity, InVain, MachineState, Said
from .options import Host, HostFacts, PlanError
from .state import Record

LONGEST_BACK_OFF = 30.0
"""Seconds after which a machine that nothing comes back from is called again at the latest."""


SPOT = ("spot", "low")
"""How a priority begins that Azure may take a machine away for: ``Spot``, ``SpotPlus``, and ``Low``, as Spot was called before."""


def new_machine(given: Host) -> MachineState:
    """A machine of which only the inventory has spoken."""
    return MachineState(given, Identity(), scope=given.scope or given.host)


def refuse_same(facts: Iterable[HostFacts]) -> None:
    """Stop where the inventory itself says that two hosts are one machine.

    :raises PlanError: naming both
    """
    hosts: dict[tuple[str, str], str] = {}
    for fact in facts:
        key = (fact["scope"], fact["resource_name"].lower())
        if not all(key):
            continue
        if key in hosts:
            raise PlanError(
                f"The inventory hosts {hosts[key]} and {fact['host']} (scope {fact['scope']!r}) are both the VM "
                f"{fact['resource_name']!r}. Remove one of them, or correct azure_maintenance_resource_name."
            )
        hosts[key] = fact["host"]


# ---- answers ----


def count_lost(machine: MachineState, why: str, at: float, hung: bool) -> None:
    """Nothing came back from the machine: it is called again after 1, 2, 4 ... 30 s.

    :arg hung: whether the call lasted until its limit
    """
    machine.lost = first_line(why, 1000) or "nothing came back, and no reason was given"
    machine.in_vain = InVain(machine.in_vain.failures + 1, machine.in_vain.hung + 1 if hung else 0)
    machine.again = at + back_off(machine.in_vain.failures)


def back_off(failures: int) -> float:
    """Seconds until a machine is called again from which so often in a row nothing came back."""
    return float(min(2.0 ** min(failures - 1, 10), LONGEST_BACK_OFF))


def take_answer(machine: MachineState, answer: Mapping[str, Any], ended: float, at: float) -> None:
    """What any answer says of a machine, whatever it was asked.

    :arg ended: when its call ended: other hosts' part of the tick may have lasted for long after it
    """
    machine.lost, machine.left, machine.in_vain, machine.again = "", False, InVain(), 0.0
    machine.answered = at
    _note_lease(machine, answer.get("mark"), at)
    machine.said = Said(
        at=ended - answer.get("age", 0.0),
        mark=answer.get("mark"),
        uptime=answer.get("uptime"),
        boot_id=answer.get("boot_id", ""),
        disk=answer.get("disk", ""),
        heard=answer.get("heard"),
        confirmations=_keys(answer.get("yes", ())),
        recovered_by_force=_keys(answer.get("put_back", ())),
        hold=answer.get("hold"),
        watcher=answer.get("watcher"),
    )


def _keys(ids: Iterable[str]) -> tuple[str, ...]:
    return tuple(event_id.upper() for event_id in ids)


def _note_lease(machine: MachineState, mark: Mapping[str, Any] | None, at: float) -> None:
    """Whether its mark is another one than before, or has been renewed."""
    before = machine.mark
    if _holder(mark) != _holder(before):
        machine.mark_since, machine.renewals = at, 0
    elif mark and mark.get("lease") != (before or {}).get("lease"):
        machine.mark_since = at
        # One that was over may have been renewed by the last word of a run that is dead: the next renewal shows whether it lives.
        machine.renewals = 0 if _was_over(before, mark) else machine.renewals + 1
    if mark and "number" in mark:
        # A call whose number is no higher would be refused.
        machine.number = max(machine.number, mark["number"])


def _was_over(before: Mapping[str, Any] | None, mark: Mapping[str, Any]) -> bool:
    """Whether a lease had expired when it was renewed."""
    if not before or not before.get("lease") or not mark.get("lease"):
        return False
    new = mark["lease"]
    return is_expired(before["lease"], Moment(0.0, new["uptime"], new["boot_id"]))


def _holder(mark: Mapping[str, Any] | None) -> Any:
    return ((mark.get("holder") or {}).get("run"), mark.get("since")) if mark else None


# ---- who it is ----


def take_hello(machine: MachineState, answer: Mapping[str, Any], at: float) -> None:
    """Who the machine says it is. What it could not learn it is asked again."""
    known, group = machine.who, answer.get("placement_group", "")
    machine.who = Identity(
        asked=at,
        name=answer.get("resource_name", "") or known.name,
        vm_id=answer.get("vm_id") or known.vm_id,
        placement_group=group or known.placement_group,
        domain=domain_of(answer) or known.domain,
        spot=known.spot or answer.get("priority", "").lower().startswith(SPOT),
        problem=first_line(answer.get("problem"), 1000),
    )
    if group and not machine.given.scope and not machine.split and machine.scope == machine.host:
        # Azure itself calls a placement group a scope; what the inventory declares wins (S4.17).
        machine.scope = f"placement group {group}"


def domain_of(hello: Mapping[str, Any]) -> str:
    """Where in Azure's region a machine is, as far as what fails together goes."""
    if hello.get("zone"):
        return f"zone {one_line(hello['zone'], 20)}"
    return f"fault domain {one_line(hello['fault_domain'], 20)}" if hello.get("fault_domain") else ""


def contradiction(machine: MachineState) -> str:
    """That its name is another one than the inventory says; "" where it is not."""
    declared, name = machine.given.resource_name, machine.who.name
    if not (declared and name) or declared.lower() == name.lower():
        return ""
    return (
        f"{machine.host} is the VM {one_line(name)!r} by its own metadata service, but {declared!r} by the inventory. "
        "Correct azure_maintenance_resource_name; until then no event is approved that affects it."
    )


def set_claimants_aside(record: Record) -> None:
    """Hosts that say they are one VM: one may be in the inventory twice, or lie. Whom the inventory names as that VM takes part, and the others do
    not; where it names none of them, or several, a person has to say which it is."""
    claims: dict[tuple[str, str], list[MachineState]] = {}
    for machine in record.hosts.values():
        for claim in (("name", machine.who.name.lower()), ("vmId", machine.who.vm_id.lower())):
            if claim[1]:
                claims.setdefault(claim, []).append(machine)
    for claimants in claims.values():
        for one, other in combinations(claimants, 2):
            if _say_they_are_one(one, other):
                _set_aside(one, other)


def _is_named(machine: MachineState) -> bool:
    """Whether the inventory, too, says that the host is the VM that it says it is."""
    return machine.name.lower() == (machine.given.resource_name or machine.host).lower()


def _say_they_are_one(one: MachineState, other: MachineState) -> bool:
    """Whether one of them has to be wrong. Within one scope of Azure's no two VMs have the same name."""
    same_name = one.name.lower() == other.name.lower() != ""
    if one.who.vm_id and one.who.vm_id.lower() == other.who.vm_id.lower():
        are_two_by_inventory = _is_named(one) and _is_named(other)  # whatever one of them says
        return same_name or not are_two_by_inventory
    both_shown = one.scope == other.scope or bool(set(one.seen.shows).intersection(other.seen.shows))
    return same_name and both_shown and bool(one.who.name and other.who.name)


def _set_aside(one: MachineState, other: MachineState) -> None:
    for machine, rival in ((one, other), (other, one)):
        if machine.aside or (_is_named(machine) and not _is_named(rival)):
            continue
        name = one_line(rival.name or machine.name)
        if _is_named(rival) and not _is_named(machine):
            then = f"{rival.host} alone. Remove it, if it is there twice; else find out why it says so."
        else:
            which = "both" if _is_named(machine) else "neither"
            then = (
                f"{which}. Set azure_maintenance_resource_name for the one that it is, and remove or correct the other."
            )
        machine.aside = f"{machine.host} takes no part: it says that it is the same VM as {rival.host} ({name!r}), and the inventory names {then}"
