# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Does a scenario fit the VMs that are there? Nothing is changed here; each problem names its place."""

from typing import Container, Dict, Iterable, List, NamedTuple, Sequence, Tuple

from .fields import at
from .problems import InvalidInput
from .scenario import EventSpec, Scenario

Known = Dict[str, Tuple[str, str]]  # lower-case name of a VM -> its name, its scope


class Placed(NamedTuple):
    """An event whose resources were found to be VMs of one scope."""

    spec: EventSpec
    scope: str
    resources: Tuple[str, ...]


def with_new_vms(known: Known, addresses: Dict[str, str], scenario: Scenario) -> Known:
    """The VMs that are there and those that the scenario brings.

    :arg addresses: address -> name of the VM that has it
    """
    found, taken = dict(known), dict(addresses)
    for spec in scenario.vms:
        if spec.name.lower() in found:
            raise InvalidInput(at(spec.place, "name"), f"there is already a VM {found[spec.name.lower()][0]!r}")
        found[spec.name.lower()] = (spec.name, spec.scope)
        for address in spec.addresses:
            if address in taken:
                raise InvalidInput(at(spec.place, "address"), f"{address} is already the address of {taken[address]!r}")
            taken[address] = spec.name
    return found


def place(spec: EventSpec, vms: Known) -> Placed:
    """Find the VMs that an event affects."""
    names: List[str] = []
    scopes: List[str] = []
    for position, resource in enumerate(spec.resources):
        where = at(at(spec.place, "resources"), position)
        if resource.lower() not in vms:
            raise InvalidInput(where, f"{resource!r} is no VM here")
        name, scope = vms[resource.lower()]
        if scopes and scope != scopes[0]:
            raise InvalidInput(
                where,
                f"{name!r} is in scope {scope!r}, but {names[0]!r} in {scopes[0]!r}: an event stays in one scope",
            )
        names.append(name)
        scopes.append(scope)
    return Placed(spec, scopes[0], tuple(names))


def check_scopes(scenario: Scenario, vms: Known) -> None:
    """Each scope that is described has a VM."""
    used = {scope for _name, scope in vms.values()}
    for name in scenario.scopes:
        if name not in used:
            raise InvalidInput(
                at("scopes", name), f"no VM is in it; scopes in use: {', '.join(sorted(used)) or 'none'}"
            )


def check_ids(placed: Sequence[Placed], existing: Iterable[str]) -> None:
    """No id is given twice."""
    taken = set(existing)
    for one in placed:
        if one.spec.id in taken:
            raise InvalidInput(at(one.spec.place, "id"), f"there is already an event {one.spec.id}")
        if one.spec.id:
            taken.add(one.spec.id)


def check_vm_names(names: Iterable[str], where: str, known: Container[str]) -> None:
    """All of them are VMs."""
    for name in names:
        if name.lower() not in known:
            raise InvalidInput(where, f"{name!r} is no VM here")
