# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What role ``drain`` is asked to do: a user's steps in, one host's plan out.

Private to this collection.

Nothing here changes or asks a machine. A plan holds, in order, what preparing does and what recovering does, with
every option checked and every default filled in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ...module_utils._steps.step_type import (
    COMMON,
    SYSTEMS,
    Host,
    Step,
    StepError,
    StepType,
    at_least_one,
    check_keys,
    is_done_by_machine,
    kind_of,
    positive,
    without_none,
)
from ...module_utils._steps.types import TYPES, VERIFICATION
from ...module_utils._text import did_you_mean, listed, shortened

WINDOWS = "ansible.windows"
"""The collection that every Windows machine needs."""

PINGS = {"linux": "ansible.builtin.ping", "windows": "ansible.windows.win_ping"}


class Plan(TypedDict):
    """One host's steps."""

    steps: list[Step]
    prepare: list[Step]
    recover: list[Step]
    errors: list[str]


NOTHING: Plan = {"steps": [], "prepare": [], "recover": [], "errors": []}


def make_plan(steps: Any, host: Host, verify: Sequence[str] = ()) -> Plan:
    """The steps that apply to one host.

    ``steps`` has all of them, each with its ``key`` and with ``elsewhere``, whether another than the machine itself does
    it. The user's verifications come first, the last one of them before all, since recovering goes back from the end.
    ``prepare`` has the steps that do something, in the user's order; ``recover`` those that undo something, last one
    first, and then the user's verifications. With errors all are empty: nothing is done by halves.
    """
    if not isinstance(steps, (list, tuple)):
        return {**NOTHING, "errors": [f"drain_steps is {kind_of(steps)}, not a list of steps"]}
    planned = []
    errors = []
    for number, raw in enumerate(steps, 1):
        try:
            step = _checked(raw, number, host)
        except StepError as error:
            errors.append(f"drain_steps, {_where(raw, number)}: {error}")
        else:
            if step:
                planned.append(step)
    verifications = []
    for number, path in enumerate(verify, 1):
        try:
            verifications.append(_verification(path, number, host))
        except StepError as error:
            errors.append(f"drain_verify_tasks, file {number}: {error}")
    if errors:
        return {**NOTHING, "errors": errors}
    every = [*reversed(verifications), *planned]
    _tell_apart(every)
    return {
        "steps": every,
        "prepare": [step for step in planned if step["does"]],
        "recover": [step for step in reversed(planned) if step["undoes"]] + verifications,
        "errors": [],
    }


def _checked(raw: Any, number: int, host: Host) -> Step | None:
    """One step with everything filled in; None when it is for other hosts."""
    definition = _type_of(raw)
    spec = {**COMMON, **definition.options}
    check_keys(raw, spec)
    if definition.one_of and not any(raw.get(key) for key in definition.one_of):
        raise StepError(f"one of {' and '.join(definition.one_of)} is needed")
    result = ArgumentSpecValidator(spec).validate(without_none(raw))
    if result.error_messages:
        raise StepError("; ".join(str(message) for message in result.error_messages))
    step = without_none(result.validated_parameters)
    if not _applies(step, host):
        return None
    if host.system not in definition.systems:
        only = definition.systems[0]
        raise StepError(
            f"type {definition.name} is for {only} machines, and {host.name} is a {host.system} machine: "
            f"keep it away with `systems: [{only}]` or `hosts`"
        )
    return _completed(step, definition, number, host)


def _type_of(raw: Any) -> StepType:
    if not isinstance(raw, Mapping):
        raise StepError(f"it is {kind_of(raw)}, not a step with a type")
    name = raw.get("type")
    if name is None:
        raise StepError(f"it has no type; types are {listed(TYPES)}")
    if not isinstance(name, str):
        raise StepError(f"type is {kind_of(name)}, not a word")
    if name not in TYPES:
        raise StepError(f"type {name!r} is unknown{did_you_mean(name, TYPES)}; types are {listed(TYPES)}")
    return TYPES[name]


def _completed(step: Step, definition: StepType, number: int, host: Host) -> Step:
    """The step as a run goes through it: its options, and beside them what follows from them."""
    step["number"] = number
    step["name"] = str(step.get("name") or "")
    timeout: float = step.get("timeout", host.default_timeout)
    undo_timeout: float = step.get("undo_timeout", timeout)
    step["timeout"] = positive(timeout, "timeout")
    step["undo_timeout"] = positive(undo_timeout, "undo_timeout")
    at_least_one(step.get("interval", 1), "interval")
    system = _delegate_system(step, host)
    words = definition.complete(step, host, system)
    step["name"] = step["name"] or shortened(f"{definition.name} {words.subject}", 80)
    step["key"] = shortened(f"{definition.name} {words.subject}", 200)
    step["elsewhere"] = not is_done_by_machine(definition, step, host)
    step["own"] = definition.own
    step["system"] = system
    step["does"] = words.does
    step["undoes"] = words.undoes
    step["collections"] = [*definition.collections, *([WINDOWS] if system == "windows" and step["elsewhere"] else [])]
    step["delegates"] = _delegates(step, host, system)
    step["intervals"] = {direction: definition.interval(step, direction) for direction in ("do", "undo")}
    return step


def _tell_apart(steps: Sequence[Step]) -> None:
    """Give each step a key of its own: those that are alike are numbered."""
    seen: Counter[str] = Counter()
    for step in steps:
        key = step["key"]
        seen[key] += 1
        if seen[key] > 1:
            step["key"] = f"{key} ({seen[key]})"


def _verification(path: Any, number: int, host: Host) -> Step:
    """A file of tasks that is run after the last inverse: a step that only undoes."""
    if not isinstance(path, str):
        raise StepError(f"it is {kind_of(path)}, not a file's name")
    return _completed({"type": VERIFICATION.name, "undo": path}, VERIFICATION, number, host)


def _applies(step: Mapping[str, Any], host: Host) -> bool:
    """Whether a step is for this host; names that the inventory does not have are errors, not silence."""
    wanted: set[str] = set()
    for name in step.get("hosts", []):
        members = host.members(name)
        if members is None:
            raise StepError(f"hosts names {name!r}, which is neither a host nor a group of the inventory")
        wanted.update(members)
    if "hosts" in step and host.name not in wanted:
        return False
    return host.system in step.get("systems", SYSTEMS)


def _delegate_system(step: Mapping[str, Any], host: Host) -> str:
    """The system of the machine that the step runs on."""
    delegate = step.get("delegate_to")
    if not delegate or delegate == host.name:
        return host.system
    if delegate != "localhost" and host.members(delegate) != [delegate]:
        raise StepError(f"delegate_to names {delegate!r}, which is no host of the inventory")
    return host.system_of(delegate)


def _delegates(step: Step, host: Host, system: str) -> list[dict[str, str]]:
    """The other machine that the step runs on, and the module by which it can be seen to be there; the controller is."""
    delegate = step.get("delegate_to")
    if delegate in (None, "", host.name, "localhost"):
        return []
    return [{"host": str(delegate), "ping": PINGS[system]}]


def _where(raw: Any, number: int) -> str:
    """How a step is called before anything of it is known to be right."""
    if isinstance(raw, Mapping) and isinstance(raw.get("type"), str):
        name = raw.get("name")
        label = f"{raw['type']} {name!r}" if isinstance(name, str) and name else raw["type"]
        return f"step {number} ({label})"
    return f"step {number}"
