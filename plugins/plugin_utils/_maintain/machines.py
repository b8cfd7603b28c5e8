# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The machines that a run answers for: who they are, who shares a scope, who looks on behalf of all. Pure.

Private to this collection.

A *machine* is a host that the run answers for. Machines of one *scope* are shown the same document, so one of them,
the *sentinel*, is looked at on behalf of all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ...module_utils._errors import ScheduledEventsError
from .look import events_of, has_document, has_failed, message_of


class PlanError(ScheduledEventsError):
    """The machines contradict each other: nothing is planned, and a person has to say what is meant."""


class Machine(NamedTuple):
    """One host that the run answers for, as it was found at the beginning."""

    host: str
    resource_name: str
    scope: str
    is_linux: bool
    problem: str  # why it could not be asked; "" when it could

    @property
    def reachable(self) -> bool:
        return not self.problem


def identify(found: Iterable[Mapping[str, Any]]) -> tuple[Machine, ...]:
    """Turn what every host answered about itself into machines.

    :arg found: mappings with ``host``, ``is_linux``, ``scope`` and ``resource_name`` (what the inventory says, or ""),
        and ``look``, the result of a ``scheduled_events_info`` task, failed or not
    :raises PlanError: two hosts of one scope are the same VM
    """
    machines = tuple(_machine(item) for item in found)
    names: dict[tuple[str, str], str] = {}
    for machine in machines:
        if not machine.resource_name:
            continue
        key = (machine.scope, machine.resource_name.lower())
        if key in names:
            raise PlanError(
                f"The inventory hosts {names[key]} and {machine.host} (scope {machine.scope!r}) are both the VM "
                f"{machine.resource_name!r}. Remove one of them, or correct azure_maintenance_resource_name."
            )
        names[key] = machine.host
    return machines


def _machine(item: Mapping[str, Any]) -> Machine:
    look = item.get("look") or {}
    declared_scope = item.get("scope") or ""
    placement_group = look.get("placement_group") or ""
    # Azure itself calls a placement group a scope, but in scale sets with a single fault domain a machine only sees the events
    # that affect it (S4.17), and nobody but the user knows that: what the inventory declares wins.
    scope = declared_scope or (f"placement group {placement_group}" if placement_group else item["host"])
    return Machine(
        host=item["host"],
        # From ansible-core 2.19 on a template keeps the number that somebody wrote for a name.
        resource_name=str(look.get("resource_name") or item.get("resource_name") or ""),
        scope=str(scope),
        # Before ansible-core 2.19 a template makes "False" of false.
        is_linux=str(item.get("is_linux", True)).lower() == "true",
        problem=_problem(look),
    )


def _problem(look: Mapping[str, Any]) -> str:
    """Why a machine could not be asked; "" when it could."""
    if look.get("unreachable"):
        return f"Ansible does not reach it: {message_of(look)}"
    # Nor is a machine known whose look ended before it had said in which placement group it is.
    if has_failed(look) or look.get("failure"):
        return message_of(look) or ("it could not be asked" if look else "it was not asked")
    return ""


def scopes(machines: Iterable[Machine]) -> dict[str, tuple[Machine, ...]]:
    """The machines of every scope, in inventory order."""
    grouped: dict[str, list[Machine]] = {}
    for machine in machines:
        grouped.setdefault(machine.scope, []).append(machine)
    return {name: tuple(members) for name, members in grouped.items()}


def sentinels(machines: Iterable[Machine], lost: Sequence[str] = ()) -> dict[str, str]:
    """The machine that looks on behalf of each scope; a scope in which nobody can is absent.

    Linux machines are preferred: a look costs them less than a PowerShell start.

    :arg lost: hosts that failed as sentinels in this run
    """
    chosen: dict[str, str] = {}
    for name, members in scopes(machines).items():
        able = [machine for machine in members if machine.reachable and machine.host not in lost]
        if able:
            chosen[name] = linux_first(able)[0].host
    return chosen


def linux_first(machines: Sequence[Machine]) -> list[Machine]:
    return sorted(machines, key=lambda machine: not machine.is_linux)


def disagreements(machines: Sequence[Machine], looks: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Sentences about scopes whose machines were shown different events.

    A change between two looks can cause one, so the caller looks again before it believes it.
    """
    sentences = []
    for name, members in scopes(machines).items():
        seen = [
            (machine.host, _keys(looks[machine.host]))
            for machine in members
            if machine.reachable and machine.host in looks and has_document(looks[machine.host])
        ]
        different = [host for host, keys in seen if keys != seen[0][1]]
        if different:
            documents = "; ".join(f"{host} sees {', '.join(sorted(keys)) or 'no event'}" for host, keys in seen)
            sentences.append(
                f"The machines of scope {name!r} are shown different documents, so they are not one scope: "
                f"{documents}. "
                f"Correct azure_maintenance_scope of {', '.join([seen[0][0], *different])} (a machine without it is a "
                "scope of its own)."
            )
    return sentences


def _keys(look: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(event.key for event in events_of(look))
