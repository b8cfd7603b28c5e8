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
from ...module_utils._core.second_look import SecondLook
from ...module_utils._text import first_line, one_line
from .options import HostOptions, PlanError
from .schema import HostFacts, MachineState, Record

LONGEST_BACK_OFF = 30.0
"""Seconds after which a machine that nothing comes back from is called again at the latest."""


SPOT = ("spot", "low")
"""How a priority begins that Azure may take a machine away for: ``Spot``, ``SpotPlus``, and ``Low``, as Spot was called before."""


def new_machine(facts: HostFacts, options: HostOptions) -> MachineState:
    """A machine of which only the inventory has spoken."""
    name, scope = facts["resource_name"], facts["scope"]
    return {
        "host": facts["host"],
        "is_linux": facts["is_linux"],
        "declared_scope": scope,
        "declared_name": name,
        "endpoint": facts.get("endpoint") or "",
        "group": facts["group"],
        "steps": facts["steps"],
        "require_steps": facts.get("require_steps", False),
        "needs": facts["needs"],
        "undo_needs": facts.get("undo_needs", facts["needs"]),
        "task_seconds": facts.get("task_seconds", 0.0),
        "call_timeout": facts.get("call_timeout", 0.0),
        "options": options,
        "known": False,
        "confirmed": False,
        "asked": None,
        "resource_name": name,
        "scope": scope or facts["host"],
        "placement_group": "",
        "domain": "",
        "split": False,
        "vm_id": "",
        "spot": False,
        "hello_problem": "",
        "aside": "",
        "contradiction": "",
        "number": 0,
        "flying": None,
        "perhaps": [],
        "answered": None,
        "lost": "",
        "left": False,
        "failures": 0,
        "again": 0.0,
        "looked": None,
        "incarnation": None,
        "look_problem": "",
        "shows": [],
        "unreadable": [],
        "mark": None,
        "mark_lost": False,
        "mark_restored": False,
        "mark_at": None,
        "mark_since": None,
        "renewals": 0,
        "uptime": None,
        "boot_id": "",
        "disk": "",
        "quickest": 0.0,
        "hung": 0,
        "heard": None,
        "confirmations": [],
        "recovered_by_force": [],
        "hold": None,
        "watcher": None,
        "begun": None,
        "unbegun": None,
        "second_look": SecondLook()._asdict(),  # type: ignore[typeddict-item]
        "recovering": None,
        "tried": None,
        "tries": 0,
        "undone": None,
        "restarted": None,
        "why": "",
        "boot_before": "",
        "outcomes": {},
        "jobs": {},
        "before": {},
        "steps_done": {},
    }


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
    machine["hung"] = machine["hung"] + 1 if hung else 0
    machine["lost"] = first_line(why, 1000) or "nothing came back, and no reason was given"
    machine["failures"] += 1
    machine["again"] = at + back_off(machine["failures"])


def back_off(failures: int) -> float:
    """Seconds until a machine is called again from which so often in a row nothing came back."""
    return float(min(2.0 ** min(failures - 1, 10), LONGEST_BACK_OFF))


def take_answer(machine: MachineState, answer: Mapping[str, Any], ended: float, at: float) -> None:
    """What any answer says of a machine, whatever it was asked.

    :arg ended: when its call ended: other hosts' part of the tick may have lasted for long after it
    """
    machine["lost"], machine["failures"], machine["hung"], machine["again"] = "", 0, 0, 0.0
    machine["left"] = False
    machine["answered"] = at
    machine["boot_id"] = answer.get("boot_id", "")
    machine["disk"] = answer.get("disk", "")
    machine["uptime"] = answer.get("uptime")
    machine["heard"] = answer.get("heard")
    machine["watcher"] = answer.get("watcher")
    machine["confirmations"] = [event_id.upper() for event_id in answer.get("yes", ())]
    machine["recovered_by_force"] = [event_id.upper() for event_id in answer.get("put_back", ())]
    machine["hold"] = answer.get("hold")
    _take_mark(machine, answer.get("mark"), at)
    machine["mark_at"] = ended - answer.get("age", 0.0)


def _take_mark(machine: MachineState, mark: dict[str, Any] | None, at: float) -> None:
    before = machine["mark"]
    if _holder(mark) != _holder(before):
        machine["mark_since"], machine["renewals"] = at, 0
    elif mark and mark.get("lease") != (before or {}).get("lease"):
        machine["mark_since"] = at
        # One that was over may have been renewed by the last word of a run that is dead: the next renewal shows whether it lives.
        machine["renewals"] = 0 if _was_over(before, mark) else machine["renewals"] + 1
    machine["mark"] = mark
    if mark and "number" in mark:
        # A call whose number is no higher would be refused.
        machine["number"] = max(machine["number"], mark["number"])
        machine["boot_before"] = mark["boot_id"]


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
    machine["asked"] = at
    machine["hello_problem"] = first_line(answer.get("problem"), 1000)
    machine["vm_id"] = answer.get("vm_id") or machine["vm_id"]
    machine["spot"] = machine["spot"] or answer.get("priority", "").lower().startswith(SPOT)
    name = answer.get("resource_name", "")
    if name:
        machine["contradiction"] = _contradiction(machine, name)
        machine["resource_name"], machine["confirmed"] = name, True
    machine["domain"] = domain_of(answer) or machine["domain"]
    group = answer.get("placement_group", "")
    machine["placement_group"] = group or machine["placement_group"]
    if group and not machine["declared_scope"] and not machine["split"] and machine["scope"] == machine["host"]:
        # Azure itself calls a placement group a scope; what the inventory declares wins (S4.17).
        machine["scope"] = f"placement group {group}"
    machine["known"] = machine["confirmed"] and not machine["hello_problem"]


def domain_of(hello: Mapping[str, Any]) -> str:
    """Where in Azure's region a machine is, as far as what fails together goes."""
    if hello.get("zone"):
        return f"zone {one_line(hello['zone'], 20)}"
    return f"fault domain {one_line(hello['fault_domain'], 20)}" if hello.get("fault_domain") else ""


def _contradiction(machine: MachineState, name: str) -> str:
    declared = machine["declared_name"]
    if not declared or declared.lower() == name.lower():
        return ""
    return (
        f"{machine['host']} is the VM {one_line(name)!r} by its own metadata service, but {declared!r} by the inventory. "
        "Correct azure_maintenance_resource_name; until then no event is approved that affects it."
    )


def set_claimants_aside(record: Record) -> None:
    """Hosts that say they are one VM: one may be in the inventory twice, or lie. Whom the inventory names as that VM takes part, and the others do
    not; where it names none of them, or several, a person has to say which it is."""
    claims: dict[tuple[str, str], list[MachineState]] = {}
    for machine in record["hosts"].values():
        name = machine["resource_name"] if machine["confirmed"] else ""
        for claim in (("name", name.lower()), ("vmId", machine["vm_id"].lower())):
            if claim[1]:
                claims.setdefault(claim, []).append(machine)
    for claimants in claims.values():
        for one, other in combinations(claimants, 2):
            if _say_they_are_one(one, other):
                _set_aside(one, other)


def _is_named(machine: MachineState) -> bool:
    """Whether the inventory, too, says that the host is the VM that it says it is."""
    return machine["resource_name"].lower() == (machine["declared_name"] or machine["host"]).lower()


def _say_they_are_one(one: MachineState, other: MachineState) -> bool:
    """Whether one of them has to be wrong. Within one scope of Azure's no two VMs have the same name."""
    same_name = one["resource_name"].lower() == other["resource_name"].lower() != ""
    if one["vm_id"] and one["vm_id"].lower() == other["vm_id"].lower():
        are_two_by_inventory = _is_named(one) and _is_named(other)  # whatever one of them says
        return same_name or not are_two_by_inventory
    both_shown = one["scope"] == other["scope"] or bool(set(one["shows"]).intersection(other["shows"]))
    return same_name and both_shown and one["confirmed"] and other["confirmed"]


def _set_aside(one: MachineState, other: MachineState) -> None:
    for machine, rival in ((one, other), (other, one)):
        if machine["aside"] or (_is_named(machine) and not _is_named(rival)):
            continue
        name = one_line(rival["resource_name"] or machine["resource_name"])
        if _is_named(rival) and not _is_named(machine):
            then = f"{rival['host']} alone. Remove it, if it is there twice; else find out why it says so."
        else:
            which = "both" if _is_named(machine) else "neither"
            then = (
                f"{which}. Set azure_maintenance_resource_name for the one that it is, and remove or correct the other."
            )
        machine["aside"] = (
            f"{machine['host']} takes no part: it says that it is the same VM as {rival['host']} ({name!r}), and the inventory names {then}"
        )
