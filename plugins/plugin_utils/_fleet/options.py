# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What templates say of a run and its machines, as what it is; what each option may be, and which must be equal. Pure.

Private to this collection.

What concerns the whole run must be equal for all of its machines, and what concerns a capacity group within that. All else is
each machine's own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypedDict

from ...module_utils._errors import ScheduledEventsError
from ...module_utils._events.policy import parse_policy, policy_warnings
from ...module_utils._text import did_you_mean, listed, shown
from .capacity import read_max_unavailable


class PlanError(ScheduledEventsError):
    """Machines contradict each other: nothing is started, and a person has to say what is meant."""


@dataclass(frozen=True)
class HostOptions:
    """What holds for one machine, checked. ``parse_policy(policy)`` does not fail."""

    policy: list[dict[str, Any]]
    margin: float  # seconds between the end of a preparation and not-before
    allow_unknown: bool
    prepare_before: float  # seconds before its not-before from which on an event is prepared for that is not approved
    on_failure: str  # revert or hold
    recover_timeout: float  # seconds
    max_unavailable: str  # "2" or "50%": see capacity.py
    max_domains: int  # in how many zones or fault domains machines may be out voluntarily; 0: in all
    settle: float  # seconds that it has to be back in service before another one of its group is taken out voluntarily
    hold: str  # wait or leave


@dataclass(frozen=True)
class SameOptions:
    """What is equal for all machines of a run, checked."""

    rounds: int  # 0: as many as come
    wait_timeout: float  # seconds for which new events are awaited
    event_timeout: float  # seconds after its start, or its not-before, for which an event is watched


@dataclass(frozen=True)
class Host:
    """What the inventory says of one machine."""

    host: str
    is_linux: bool
    scope: str  # declared, or ""
    resource_name: str  # declared, or ""
    group: str  # capacity group, or ""
    endpoint: str  # of the metadata service; "" for Azure's own
    steps: int
    require_steps: bool  # without steps it can't be prepared
    needs: float  # seconds: the limits of all its steps together
    undo_needs: float  # seconds: the limits of all that undoes its steps together
    task_seconds: float  # the longest limit of the user's own task files; 0 where it has none
    call_timeout: float  # seconds of a call, where the inventory says it; else 0
    options: HostOptions


@dataclass(frozen=True)
class RunOptions:
    """Who runs."""

    name: str
    job: str  # in AWX
    controller: str
    check: bool


class MoreFacts(TypedDict, total=False):
    """What may be left out."""

    endpoint: str
    task_seconds: float
    require_steps: bool
    call_timeout: float
    undo_needs: float  # as many as needs where a host has none


class HostFacts(MoreFacts):
    """What the role says of one host at the beginning, as :class:`Host` has it; numbers and truth values may be texts."""

    host: str
    is_linux: bool
    scope: str
    resource_name: str
    group: str
    steps: int
    needs: float
    options: Mapping[str, Any]
    same: Mapping[str, Any]


def run_options(given: Mapping[str, Any]) -> RunOptions:
    """
    :arg given: ``run``, its name, ``job``, ``controller`` and ``check``, which may be a text
    """
    found = typed(given)
    return RunOptions(found["run"], found["job"], found["controller"], found["check"])


def host_of(facts: HostFacts, options: HostOptions) -> Host:
    """
    :arg facts: in their types
    """
    return Host(
        host=facts["host"],
        is_linux=facts["is_linux"],
        scope=facts["scope"],
        resource_name=facts["resource_name"],
        group=facts["group"],
        endpoint=facts.get("endpoint") or "",
        steps=facts["steps"],
        require_steps=facts.get("require_steps", False),
        needs=facts["needs"],
        undo_needs=facts.get("undo_needs", facts["needs"]),
        task_seconds=facts.get("task_seconds", 0.0),
        call_timeout=facts.get("call_timeout", 0.0),
        options=options,
    )


def variable_of(option: str) -> str:
    """By which the user says it: some hold for the watcher, too."""
    return f"azure_maintenance_{option}" if option in ("policy", "prepare_before") else f"maintain_{option}"


def typed(facts: Mapping[str, Any]) -> dict[str, Any]:
    """What the role says of a host or of a run, in its types: before ansible-core 2.19 a template makes texts of numbers and truth values."""
    return {name: _TYPES.get(name, lambda value: value)(value) for name, value in facts.items()}


class Checked(NamedTuple):
    """The options of a run: of each machine by host, of all, and sentences about what is odd, though no error."""

    hosts: dict[str, HostOptions]
    same: SameOptions
    warnings: list[str]


def checked_options(facts: Sequence[Mapping[str, Any]]) -> Checked:
    """Check the options of all machines.

    :arg facts: for each machine a mapping with ``host``, ``group`` (of capacity, or ""), ``scope`` (declared, or ""), ``options``
        and ``same``; numbers and truth values may be texts here, too
    :raises PlanError: an option is out of range, or differs between machines for which it must be equal
    """
    if not facts:
        raise PlanError("The run has no machine. Name hosts that the inventory has.")
    problems: dict[str, list[str]] = {}
    own = {item["host"]: _read(item["host"], item["options"], _OWN, problems) for item in facts}
    same = {item["host"]: _read(item["host"], item["same"], _SAME, problems) for item in facts}
    _raise(f"{problem} ({listed(affected)})." for problem, affected in problems.items())
    _raise(_differing(same, "in a run", "Set it once for all of them, or run one job for each value."))
    grouped: dict[str, dict[str, dict[str, Any]]] = {}
    for item in facts:
        group = item.get("group") or item.get("scope")
        if group:
            grouped.setdefault(str(group), {})[item["host"]] = {
                name: own[item["host"]][name] for name in ("max_unavailable", "max_domains")
            }
    for group, members in grouped.items():
        _raise(_differing(members, f"in the capacity group {group!r}", "Set it once for the group."))
    warnings: dict[str, list[str]] = {}
    for host, options in own.items():
        for warning in policy_warnings(options["policy"]):
            warnings.setdefault(warning, []).append(host)
    return Checked(
        {host: HostOptions(**options) for host, options in own.items()},
        SameOptions(**next(iter(same.values()))),
        [f"{warning} ({listed(affected)})" for warning, affected in warnings.items()],
    )


def _read(
    host: str,
    given: Mapping[str, Any],
    readers: Mapping[str, Callable[[Any], Any]],
    problems: dict[str, list[str]],
) -> dict[str, Any]:
    """One machine's options in their types; what is wrong goes to the problems, by sentence."""
    checked: dict[str, Any] = {}
    for name, read in readers.items():
        try:
            checked[name] = read(given[name])
        except ScheduledEventsError as error:  # of a policy, which says where and what
            problems.setdefault(f"{variable_of(name)}: {error}".rstrip("."), []).append(host)
        except ValueError as error:
            problem = f"{variable_of(name)} is {shown(given[name])}, but must be {error}"
            problems.setdefault(problem, []).append(host)
    return checked


def _differing(options: Mapping[str, Mapping[str, Any]], where: str, what_next: str) -> Iterable[str]:
    """Sentences about options that are not equal, with the hosts of each value."""
    for name in next(iter(options.values()), {}):
        values: dict[str, list[str]] = {}
        for host, own in options.items():
            values.setdefault(f"{own[name]:g}" if isinstance(own[name], float) else str(own[name]), []).append(host)
        if len(values) > 1:
            found = "; ".join(f"{value} on {listed(hosts)}" for value, hosts in values.items())
            yield f"{variable_of(name)} must be equal {where}: it is {found}. {what_next}"


def _raise(sentences: Iterable[str]) -> None:
    found = list(sentences)
    if found:
        raise PlanError(f"{' '.join(found)} Nothing was changed.")


# ---- reading one option ----


def _number(least: float, whole: bool = False, above: bool = False) -> Callable[[Any], Any]:
    wanted = (
        f"a {'whole number' if whole else 'number of seconds'}, {f'above {least:g}' if above else f'{least:g} or more'}"
    )

    def read(value: Any) -> Any:
        try:
            number = math.nan if isinstance(value, bool) else float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not math.isfinite(number) or number < least or (above and number == least) or (whole and number % 1):
            raise ValueError(wanted)
        return int(number) if whole else number

    return read


def _one_of(*choices: str) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        if value not in choices:
            raise ValueError(f"one of {', '.join(choices)}{did_you_mean(value, choices)}")
        return value

    return read


def _truth(value: Any) -> bool:
    # Its type was checked by the role's argument specification; a template makes a text of it before ansible-core 2.19.
    return str(value).strip().lower() in ("true", "yes", "on", "1")


def _policy(value: Any) -> list[dict[str, Any]]:
    parse_policy(value)
    return [dict(rule) for rule in value]


_TYPES: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("host", "scope", "resource_name", "group", "run", "job", "controller"), str),
    **dict.fromkeys(("needs", "undo_needs", "task_seconds", "call_timeout"), float),
    **dict.fromkeys(("is_linux", "require_steps", "check"), _truth),
    "steps": int,
}
_OWN: dict[str, Callable[[Any], Any]] = {
    "policy": _policy,
    "margin": _number(0),
    "allow_unknown": _truth,
    "prepare_before": _number(0),
    "on_failure": _one_of("revert", "hold"),
    "recover_timeout": _number(1),
    "max_unavailable": read_max_unavailable,
    "max_domains": _number(0, whole=True),
    "settle": _number(0),
    "hold": _one_of("wait", "leave"),
}
_SAME: dict[str, Callable[[Any], Any]] = {
    "rounds": _number(0, whole=True),
    "wait_timeout": _number(0),
    "event_timeout": _number(0, above=True),
}
