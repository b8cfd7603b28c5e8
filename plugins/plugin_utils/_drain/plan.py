# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What role ``drain`` is asked to do: a user's steps in, one host's plan out.

Nothing here changes or asks a machine. A plan holds, in order, what preparing does and what recovering does, with
every option checked, every default filled in, and the role's task file named that does it.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ...module_utils._text import did_you_mean, shortened
from .checks import Host, StepError, check_keys, kind_of, positive, task_file, without_none
from .details import FINISH
from .types import COMMON, SYSTEMS, TYPES


def system_of(variables: Mapping[str, Any]) -> str:
    """Which system a host has, told by how Ansible connects to it: no facts are needed."""
    wanted = str(variables.get("drain_system") or "auto").lower()
    if wanted != "auto":
        return wanted
    connection = str(variables.get("ansible_connection") or "").rsplit(".", 1)[-1]
    shell = str(variables.get("ansible_shell_type") or "").rsplit(".", 1)[-1]
    return "windows" if connection in ("winrm", "psrp") or shell in ("powershell", "cmd") else "linux"


def make_plan(steps: Any, host: Host, verify: Sequence[str] = ()) -> dict[str, Any]:
    """``{"prepare": [...], "recover": [...], "errors": [...]}``: the steps that apply to one host.

    ``prepare`` has the steps that do something, in the user's order; ``recover`` those that undo something, last one
    first, and then the user's verifications. With errors both are empty: nothing is done by halves.
    """
    if not isinstance(steps, (list, tuple)):
        return {"prepare": [], "recover": [], "errors": [f"drain_steps is {kind_of(steps)}, not a list of steps"]}
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
    checks = []
    for number, path in enumerate(verify, 1):
        try:
            checks.append(_verification(path, number, host))
        except StepError as error:
            errors.append(f"drain_verify_tasks, file {number}: {error}")
    if errors:
        return {"prepare": [], "recover": [], "errors": errors}
    return {
        "prepare": [step for step in planned if step["does"]],
        "recover": [step for step in reversed(planned) if step["undoes"]] + checks,
        "errors": [],
    }


def _checked(raw: Any, number: int, host: Host) -> dict[str, Any] | None:
    """One step with everything filled in; None when it is for other hosts."""
    if not isinstance(raw, Mapping):
        raise StepError(f"it is {kind_of(raw)}, not a step with a type")
    kind = raw.get("type")
    if kind is None:
        raise StepError(f"it has no type; types are {', '.join(TYPES)}")
    if not isinstance(kind, str):
        raise StepError(f"type is {kind_of(kind)}, not a word")
    if kind not in TYPES:
        raise StepError(f"type {kind!r} is unknown{did_you_mean(kind, TYPES)}; types are {', '.join(TYPES)}")
    definition = TYPES[kind]
    spec = dict(COMMON, **definition.options)
    check_keys(raw, spec, "")
    if definition.one_of and not any(raw.get(key) for key in definition.one_of):
        raise StepError(f"one of {' and '.join(definition.one_of)} is needed")
    result = ArgumentSpecValidator(spec).validate(without_none(raw))
    if result.error_messages:
        raise StepError("; ".join(str(message) for message in result.error_messages))
    step = without_none(result.validated_parameters)
    if not _applies(step, host):
        return None
    if host.system not in definition.systems:
        raise StepError(
            "type {0} is for {1} machines, and {2} is a {3} machine: keep it away with `systems: [{1}]` or `hosts`".format(
                kind, definition.systems[0], host.name, host.system
            )
        )
    step["number"] = number
    step["name"] = str(step.get("name") or "")
    step["timeout"] = positive(step.get("timeout", host.default_timeout), "timeout")
    step["undo_timeout"] = positive(step.get("undo_timeout", step["timeout"]), "undo_timeout")
    if step.get("interval", 1) < 1:
        raise StepError(f"interval is {step['interval']}; it is a number of seconds, at least 1")
    system = _delegate_system(step, host)
    FINISH[kind](step, system, host)
    step["name"] = step["name"] or shortened(f"{kind} {step.pop('subject')}", 80)
    step.pop("subject", None)
    step["files"] = {
        "do": "steps/" + definition.files[0].format(system=system),
        "undo": "steps/" + definition.files[1].format(system=system),
    }
    step["shown"] = {
        "do": _shown(step, step["does"], step["timeout"], f"then undone by: {step['undoes'] or 'nothing'}"),
        "undo": _shown(step, step["undoes"], step["undo_timeout"]),
    }
    return step


def _shown(step: Mapping[str, Any], words: str, timeout: float, more: str = "") -> str:
    """The step's line in the plan that check mode shows."""
    limit = f"at most {timeout:g} s"
    return f"{step['number']}. {step['name']}: {words} ({'; '.join(part for part in (limit, more) if part)})"


def _applies(step: Mapping[str, Any], host: Host) -> bool:
    """Whether a step is for this host; names that the inventory does not have are errors, not silence."""
    wanted: set = set()
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


def _verification(path: Any, number: int, host: Host) -> dict[str, Any]:
    """A file of tasks that is run after the last inverse: a step that only undoes."""
    if not isinstance(path, str):
        raise StepError(f"it is {kind_of(path)}, not a file's name")
    step: dict[str, Any] = {
        "type": "verify",
        "number": number,
        "name": shortened(f"verify {os.path.basename(path)}", 80),
        "undo": task_file(path, "", host),
        "does": "",
        "undoes": f"run the tasks of {path}",
        "timeout": host.default_timeout,
        "undo_timeout": host.default_timeout,
        "files": {"do": "steps/tasks/include.yml", "undo": "steps/tasks/include.yml"},
    }
    step["shown"] = {"do": "", "undo": _shown(step, step["undoes"], host.default_timeout)}
    return step


def _where(raw: Any, number: int) -> str:
    """How a step is called before anything of it is known to be right."""
    if isinstance(raw, Mapping) and isinstance(raw.get("type"), str):
        name = raw.get("name")
        label = f"{raw['type']} {name!r}" if isinstance(name, str) and name else raw["type"]
        return f"step {number} ({label})"
    return f"step {number}"
