# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What role ``watcher`` is asked to do: its variables in, the files of one machine out. Pure but for the user's own files.

Private to this collection.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypedDict

from ...module_utils._events.policy import policy_warnings
from ...module_utils._steps.step_type import Step
from ...module_utils._steps.types import type_of, types_of_machine
from ...module_utils._text import sentence, shown
from ...module_utils._watcher.host.host import Host
from ...module_utils._watcher.settings.destinations import Destination
from ...module_utils._watcher.settings.options import FORMAT, MANAGE, OPTIONS, Option
from ...module_utils._watcher.settings.refused import Refused, object_of
from ...module_utils._watcher.settings.refused import named as named_option
from ...module_utils._watcher.settings.settings import configured
from ...module_utils._watcher.settings.values import NAMES_OF_MACHINES, refused_name
from .._drain.plan import Plan
from .._variables import Unknown, named, refused
from .hooks import HookFile, folders_of, hook_files, longest
from .place import Place
from .program import Commands, access_of, commands_of, written
from .windows_python import NONE, WindowsPython, python_of

LONG = 600.0  # seconds: more is warned of, as Azure announces a redeploy ten minutes ahead
OWN_LABELS = NAMES_OF_MACHINES
"""What the role itself says of each machine; a machine that shares no scope and has no group has the first one only."""
_REPORT_KEYS = ("url", "secret", "proxy", "ca_file")


class Secret(TypedDict):
    """A file that only root reads."""

    name: str
    path: str  # on the machine
    content: str


class Files(TypedDict):
    """All that one machine gets."""

    settings: dict[str, Any]
    hooks: list[HookFile]
    folders: list[str]  # of hooks
    secrets: list[Secret]
    users: list[str]  # whom the machine must have
    python: WindowsPython  # where that of a Windows machine comes from
    interpreter: str  # what runs the program
    commands: Commands
    access: list[str]  # on Windows: a command line, see access_of
    written: list[str]  # what follows there
    has_reports: bool  # whether anybody is sent reports, or a notify hook is installed
    has_health: bool  # whether the health endpoint has an address
    errors: list[str]
    warnings: list[str]


class Problems(TypedDict):
    """What is wrong with the variables."""

    errors: list[str]
    warnings: list[str]


def files_of(
    options: Mapping[str, Any],
    place: Place,
    steps: Plan,
    find_file: Callable[[str], str | None],
    unknown: Sequence[Unknown] = (),
) -> Files | Problems:
    """The files of a machine; where there are errors, these alone.

    :arg options: the variables of the role, without ``watcher_``
    :arg place: where they are on the machine
    :arg steps: of this host, as filter drain_steps returns them
    :arg unknown: variables of the host that look like this collection's and are none
    """
    host = place.host
    names = misspelt(unknown)
    plain = {name: _typed(option, options[name]) for name, option in OPTIONS.items() if _is_handed_on(option, options)}
    hooks, of_hooks = hook_files(options["hooks"], find_file, place)
    python, of_python = python_of(options, find_file, place.programs) if host.has_drives else (NONE, [])
    reports, secrets, of_reports = _reports(options["reports"], place)
    labels, of_labels, nameless = _labels(options)
    own = own_steps(steps["steps"], host, str(options["inventory_hostname"])) if options["mode"] == MANAGE else []
    of_steps = refused_steps(own)
    settings = {
        "format": FORMAT,
        **plain,
        "steps": [] if of_steps else own,
        "hooks": {
            hook["key"]: {
                "limit": plain["hook_limit"] if hook["limit"] is None else hook["limit"],
                "user": hook["user"],
            }
            for hook in hooks
        },
        "reports": [] if of_reports else reports,
        "labels": {} if of_labels else labels,
        "health": options["health"],
        "folder": place.state,
        "hooks_folder": place.hooks,
    }
    # What the program would refuse, by the very check that it makes, with the variables' names
    found, wrong = configured(settings, host)
    of_program = [
        f"{_variable(named_option(one.path))} {one.words}"
        for one in wrong
        if one.path[0] != "hooks" or "hook_limit" not in [other.path[0] for other in wrong]
    ]
    errors = [*names["errors"], *of_program, *of_hooks, *of_python, *of_reports, *of_labels, *of_steps]
    if errors:
        return {"errors": errors, "warnings": []}
    settings["health"] = {
        key: list(value) if isinstance(value, tuple) else value for key, value in found.health._asdict().items()
    }
    warnings = [
        *names["warnings"],
        *nameless,
        *policy_warnings(options["policy"]),
        *_long(hooks, own, plain["hook_limit"]),
    ]
    interpreter = place.python
    if host.has_drives:
        interpreter = python["executable"] or host.joined(python["folder"], "python.exe")
    commands, folders = commands_of(place, interpreter, settings["health"]), folders_of(hooks, place)
    return {
        "settings": settings,
        "hooks": hooks,
        "folders": folders,
        "secrets": secrets,
        "users": sorted({hook["user"] for hook in hooks if hook["user"]}),
        "python": python,
        "interpreter": interpreter,
        "commands": commands,
        "access": access_of(place, commands["program"], folders) if host.has_drives else [],
        "written": written(
            place, interpreter, [hook["path"] for hook in hooks], [secret["path"] for secret in secrets]
        ),
        "has_reports": bool(reports) or any(hook["phase"] == "notify" for hook in hooks),
        "has_health": bool(settings["health"]["http"] or settings["health"]["agent"]),
        "errors": [],
        "warnings": warnings,
    }


def misspelt(unknown: Sequence[Unknown]) -> Problems:
    """What is said of variables that look like this collection's and are none."""
    return {"errors": [words.rstrip(".") for words in refused(unknown)], "warnings": named(unknown)}


def variables() -> dict[str, str]:
    """The variables that say options, by these."""
    return {name: option.variable for name, option in OPTIONS.items() if option.variable}


def _is_handed_on(option: Option, options: Mapping[str, Any]) -> bool:
    """Whether the program gets the value of the variable as it is. One that the inventory need not say is empty."""
    return bool(option.variable) and not option.is_made and not (option.may_be_unsaid and options[option.name] == "")


def _typed(option: Option, value: Any) -> Any:
    """A value as the program's file holds it: templates make text of numbers. What is none stays, and is refused."""
    if option.kind.type in ("int", "float") and not isinstance(value, bool):
        try:
            number = float(value)
        except (TypeError, ValueError):
            return value
        return int(number) if option.kind.type == "int" and math.isfinite(number) else number
    if option.kind.type == "str" and not isinstance(value, (dict, list)):
        return str(value)
    return value


def _variable(name: str) -> str:
    option = OPTIONS.get(name.partition("[")[0].partition(".")[0])
    return option.variable + name[len(option.name) :] if option and option.variable else f"watcher_{name}"


def _reports(reports: Any, place: Place) -> tuple[Any, list[Secret], list[str]]:
    """Where reports go, as the program has it: what the user says as a secret is a file there. The files of these, and what is wrong so far: the
    rest is for the program's own check. Nothing of a URL but its host is said: it may be a secret.
    """
    if not isinstance(reports, (list, tuple)):
        return reports, [], []
    found: list[Any] = []
    secrets: list[Secret] = []
    errors = []
    for number, raw in enumerate(reports):
        if not isinstance(raw, Mapping):
            found.append(raw)
            continue
        try:
            one = object_of(dict(raw), _REPORT_KEYS)
            if "secret" in one and not one["secret"]:
                words = "is empty: see where it comes from, or leave it out, and reports are not signed"
                raise Refused(words, ("secret",))
        except Refused as error:
            errors.append(f"watcher_{named_option(('reports', number, *error.path))} {error.words}")
            continue
        if "secret" in one:
            name = f"report-{Destination(str(one.get('url'))).key}"
            path = place.below(place.secrets, name)
            secrets.append({"name": name, "path": path, "content": str(one.pop("secret"))})
            one["secret_file"] = path
        found.append({key: value for key, value in one.items() if value})
    return found, secrets, errors


def _labels(options: Mapping[str, Any]) -> tuple[dict[str, Any], list[str], list[str]]:
    """The labels of all reports, what is wrong, and what is only said; the program's own check sees to names and lengths.

    A scope or group that chooses no machines is refused: it is a name that somebody gave. A host's name may be an address, and stays what it is.
    Without the label a receiver starts no job for it, and says so.
    """
    users = options["labels"]
    if not isinstance(users, Mapping):
        return {}, [f"watcher_labels is {shown(users)}, not a dictionary, such as {{ring: canary}}"], []
    errors = [
        f"watcher_labels.{key}: the role sets this one, choose another name" for key in OWN_LABELS if key in users
    ]
    own = {key: str(options[key]) for key in OWN_LABELS}
    errors += [
        f"azure_maintenance_{key} {refused_name(own[key])}. Name it otherwise on all of its machines"
        for key in ("scope", "capacity_group")
        if own[key] and refused_name(own[key])
    ]
    own["capacity_group"] = own["capacity_group"] or own["scope"]  # as `maintain` has it
    warnings = []
    if refused_name(own["inventory_hostname"]):
        warnings.append(
            "Reports have no label inventory_hostname, and rulebooks start no run for this machine alone: the host's name "
            f"{refused_name(own.pop('inventory_hostname'))}."
        )
    # YAML makes a number of a label such as 7.
    said = {
        str(key): str(value) if isinstance(value, int) and not isinstance(value, bool) else value
        for key, value in users.items()
    }
    return {**said, **{key: value for key, value in own.items() if value}}, errors, warnings


def _long(hooks: Sequence[HookFile], steps: Sequence[Mapping[str, Any]], default: float) -> list[str]:
    """What is said of limits that add up to more than Azure's notice is."""
    found = []
    for phase, timeout, words, why in (
        ("prepare", "timeout", "does", "Azure announces a redeploy ten minutes ahead, an eviction 30 seconds"),
        ("recover", "undo_timeout", "undoes", "As long as it takes, the machine is out of service"),
    ):
        seconds = longest(hooks, phase, default) + sum(step[timeout] for step in steps if step[words])
        if seconds > LONG:
            found.append(
                sentence(
                    f"to {phase} this machine may take {seconds:g} s, as the limits of its hooks and steps add up. "
                    f"{why}: lower watcher_hook_limit, the limit of a hook, or the timeout of a step."
                )
            )
    return found


_BY_MAINTAIN = "or leave such machines to the playbook maintain, with watcher_mode: observe"
_WAYS_OUT = {
    "haproxy": "have the machine do it with a step of type http or command, or with a hook that speaks to the load balancer",
    "tasks": "write it as a step of type command, or as a hook",
    "verify": "write it as a hook of phase recover, which fails when the machine is not well",
}


def own_steps(steps: Iterable[Step], host: Host, name: str) -> list[Step]:
    """The steps as the machine goes through them. Those of a Windows machine, which runs of `maintain` do from the controller, are its own here.

    :arg name: of the machine in the inventory
    """

    alone = types_of_machine("windows" if host.has_drives else "linux")

    def own(step: Step) -> Step:
        is_own = step["type"] in alone and step.get("delegate_to") in (None, "", name)
        return dict(step, elsewhere=False, collections=[]) if host.has_drives and is_own else step

    return [own(step) for step in steps]


def refused_steps(steps: Iterable[Step]) -> list[str]:
    """A sentence for each step that the watcher can't do, with the way out."""
    return [sentence for step in steps for sentence in [_refusal(step)] if sentence]


def _refusal(step: Step) -> str:
    kind = step["type"]
    where = f"drain_verify_tasks, file {step['number']}" if kind == "verify" else f"drain_steps, step {step['number']}"
    label = f"{where} ({step['name']})"
    if not type_of(kind).by_itself:
        way_out = _WAYS_OUT.get(kind, "write it as a hook")
        return f"{label}: the watcher is alone on its machine and can't run it: {way_out}; {_BY_MAINTAIN}"
    if step["elsewhere"]:
        return (
            f"{label}: {step.get('delegate_to') or 'another machine'} is to do it (delegate_to), and the watcher reaches no other "
            f"machine: leave delegate_to out, or write it as a hook; {_BY_MAINTAIN}"
        )
    if any("cmd" in (step.get(direction) or {}) for direction in ("do", "undo", "check")):
        return (
            f"{label}: on Windows the watcher splits no command line: give the program and its arguments as a list, such as "
            "[C:\\app\\drain.exe, /quiet]"
        )
    if step.get("become") is False:
        return (
            f"{label}: it has become: false, and the watcher knows no user of Ansible's: leave become out, which is root, "
            "or write it as a hook with a user"
        )
    return ""
