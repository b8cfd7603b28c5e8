# Copyright: (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What role ``drain`` is asked to do: a user's steps in, one host's plan out. Private to the collection.

Nothing here changes or asks a machine. A plan holds, in order, what preparing does and what recovering does, with
every option checked, every default filled in, and the role's task file named that does it.
"""

import difflib
import json
import math
import os
import shlex

from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple
from urllib.parse import urlsplit

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

SYSTEMS = ("linux", "windows")


class StepError(Exception):
    """One thing that is wrong with one step."""


class Host(NamedTuple):
    """What a plan has to know about the host it is for, and about its inventory."""

    name: str
    system: str
    groups: Mapping[str, Sequence[str]]
    system_of: Callable[[str], str]
    find_file: Callable[[str], Optional[str]]
    default_timeout: float = 60.0

    def members(self, name: str) -> Optional[List[str]]:
        """The hosts that a name stands for: a group's, or the host itself; None when the inventory has neither."""
        if name in self.groups:
            return list(self.groups[name])
        return [name] if name in self.groups.get("all", ()) else None


# ---------------------------------------------------------------------------------------------------------------------
# The options of every type, in the words of an Ansible argument spec
# ---------------------------------------------------------------------------------------------------------------------

_LIST = {"type": "list", "elements": "str"}
_AT_LIMIT = {"type": "str", "choices": ["fail", "continue"], "default": "fail"}
_INTERVAL = {"type": "int", "default": 1}

_COMMON = {
    "type": {"type": "str", "required": True},
    "name": {"type": "str"},
    "hosts": _LIST,
    "systems": {"type": "list", "elements": "str", "choices": list(SYSTEMS)},
    "timeout": {"type": "float"},
    "undo_timeout": {"type": "float"},
}

_UNTIL = {
    "type": "dict",
    "options": {
        "url": {"type": "str"},
        "method": {"type": "str", "default": "GET"},
        "status": {"type": "list", "elements": "int", "default": [200]},
        "contains": {"type": "str"},
        "json": {
            "type": "dict",
            "options": {"path": {"type": "str", "required": True}, "equals": {"type": "raw", "required": True}},
        },
        "interval": {"type": "int", "default": 2},
        "request_timeout": {"type": "int", "default": 5},
    },
}

_REQUEST = {
    "type": "dict",
    "options": {
        "url": {"type": "str", "required": True},
        "method": {"type": "str", "default": "POST"},
        "body": {"type": "raw"},
        "status": {"type": "list", "elements": "int", "default": [200, 201, 202, 204]},
        "until": _UNTIL,
    },
}


class _Type(NamedTuple):
    """A type of step: its options, the systems it is for, and the role's task files for both directions."""

    options: Dict[str, Any]
    files: Tuple[str, str]  # doing, undoing; {system} is filled in
    systems: Tuple[str, ...] = SYSTEMS
    one_of: Tuple[str, ...] = ()


TYPES = {
    "service": _Type(
        {"service": {"type": "str"}, "become": {"type": "bool"}},
        ("service/{system}.yml", "service/{system}.yml"),
        one_of=("service", "name"),
    ),
    "command": _Type(
        {
            "do": {"type": "raw"},
            "undo": {"type": "raw"},
            "creates": {"type": "str"},
            "chdir": {"type": "str"},
            "environment": {"type": "dict", "default": {}},
            "ok_codes": {"type": "list", "elements": "int", "default": [0]},
            "become": {"type": "bool"},
            "delegate_to": {"type": "str"},
            "no_log": {"type": "bool", "default": False},
        },
        ("command/{system}.yml", "command/{system}.yml"),
        one_of=("do", "undo"),
    ),
    "http": _Type(
        {
            "do": _REQUEST,
            "undo": _REQUEST,
            "headers": {"type": "dict", "default": {}},
            "user": {"type": "str"},
            "password": {"type": "str", "no_log": True},
            "validate_certs": {"type": "bool", "default": True},
            "use_proxy": {"type": "bool", "default": False},
            "delegate_to": {"type": "str"},
            "no_log": {"type": "bool", "default": False},
        },
        ("http/{system}.yml", "http/{system}.yml"),
        one_of=("do", "undo"),
    ),
    "connections": _Type(
        {
            "port": {"type": "int", "required": True},
            "exclude": {"type": "list", "elements": "str", "default": []},
            "at_limit": _AT_LIMIT,
            "interval": _INTERVAL,
            "listen_again": {"type": "bool", "default": False},
            "listen_address": {"type": "str", "default": "127.0.0.1"},
        },
        ("connections/{system}_gone.yml", "connections/{system}_listen.yml"),
    ),
    "haproxy": _Type(
        {
            "load_balancers": dict(_LIST, required=True),
            "server": {"type": "str"},
            "backends": dict(_LIST, default=[]),
            "socket": {"type": "str", "default": "/run/haproxy/admin.sock"},
            "mode": {"type": "str", "choices": ["drain", "maint"], "default": "drain"},
            "at_limit": _AT_LIMIT,
            "interval": _INTERVAL,
            "wait_up": {"type": "bool", "default": True},
            "become": {"type": "bool"},
        },
        ("haproxy/drain.yml", "haproxy/ready.yml"),
    ),
    "iis": _Type(
        {
            "sites": dict(_LIST, default=[]),
            "app_pools": dict(_LIST, default=[]),
            "at_limit": _AT_LIMIT,
            "interval": _INTERVAL,
        },
        ("iis/stop.yml", "iis/start.yml"),
        systems=("windows",),
        one_of=("sites", "app_pools"),
    ),
    "failover_cluster": _Type(
        {
            "node": {"type": "str"},
            "cluster": {"type": "str"},
            "force_drain": {"type": "bool", "default": False},
            "fail_back": {"type": "str", "choices": ["immediate", "policy", "none"], "default": "immediate"},
            "interval": _INTERVAL,
        },
        ("failover_cluster/suspend.yml", "failover_cluster/resume.yml"),
        systems=("windows",),
    ),
    "tasks": _Type(
        {"do": {"type": "str"}, "undo": {"type": "str"}},
        ("tasks/include.yml", "tasks/include.yml"),
        one_of=("do", "undo"),
    ),
}


# ---------------------------------------------------------------------------------------------------------------------
# A host's plan
# ---------------------------------------------------------------------------------------------------------------------


def system_of(variables: Mapping[str, Any]) -> str:
    """Which system a host has, told by how Ansible connects to it: no facts are needed."""
    wanted = str(variables.get("drain_system") or "auto").lower()
    if wanted != "auto":
        return wanted
    connection = str(variables.get("ansible_connection") or "").rsplit(".", 1)[-1]
    shell = str(variables.get("ansible_shell_type") or "").rsplit(".", 1)[-1]
    return "windows" if connection in ("winrm", "psrp") or shell in ("powershell", "cmd") else "linux"


def make_plan(steps: Any, host: Host, verify: Sequence[str] = ()) -> Dict[str, Any]:
    """``{"prepare": [...], "recover": [...], "errors": [...]}``: the steps that apply to one host.

    ``prepare`` has the steps that do something, in the user's order; ``recover`` those that undo something, last one
    first, and then the user's verifications. With errors both are empty: nothing is done by halves.
    """
    if not isinstance(steps, (list, tuple)):
        return {"prepare": [], "recover": [], "errors": [f"drain_steps is {_kind(steps)}, not a list of steps"]}
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


def _checked(raw: Any, number: int, host: Host) -> Optional[Dict[str, Any]]:
    """One step with everything filled in; None when it is for other hosts."""
    if not isinstance(raw, Mapping):
        raise StepError(f"it is {_kind(raw)}, not a step with a type")
    kind = raw.get("type")
    if kind is None:
        raise StepError("it has no type; types are {0}".format(", ".join(TYPES)))
    if not isinstance(kind, str):
        raise StepError(f"type is {_kind(kind)}, not a word")
    if kind not in TYPES:
        raise StepError("type {0!r} is unknown{1}; types are {2}".format(kind, _meant(kind, TYPES), ", ".join(TYPES)))
    definition = TYPES[kind]
    spec = dict(_COMMON, **definition.options)
    _check_keys(raw, spec, "")
    if definition.one_of and not any(raw.get(key) for key in definition.one_of):
        raise StepError("one of {0} is needed".format(" and ".join(definition.one_of)))
    result = ArgumentSpecValidator(spec).validate(_without_none(raw))
    if result.error_messages:
        raise StepError("; ".join(str(message) for message in result.error_messages))
    step = _without_none(result.validated_parameters)
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
    step["timeout"] = _positive(step.get("timeout", host.default_timeout), "timeout")
    step["undo_timeout"] = _positive(step.get("undo_timeout", step["timeout"]), "undo_timeout")
    if step.get("interval", 1) < 1:
        raise StepError("interval is {0}; it is a number of seconds, at least 1".format(step["interval"]))
    system = _delegate_system(step, host)
    _FINISH[kind](step, system, host)
    step["name"] = step["name"] or _short("{0} {1}".format(kind, step.pop("subject")))
    step.pop("subject", None)
    step["files"] = {
        "do": "steps/" + definition.files[0].format(system=system),
        "undo": "steps/" + definition.files[1].format(system=system),
    }
    step["shown"] = {
        "do": _shown(step, step["does"], step["timeout"], "then undone by: {0}".format(step["undoes"] or "nothing")),
        "undo": _shown(step, step["undoes"], step["undo_timeout"]),
    }
    return step


def _shown(step: Mapping[str, Any], words: str, timeout: float, more: str = "") -> str:
    """The step's line in the plan that check mode shows."""
    limit = f"at most {timeout:g} s"
    return "{0}. {1}: {2} ({3})".format(
        step["number"], step["name"], words, "; ".join(part for part in (limit, more) if part)
    )


def _applies(step: Mapping[str, Any], host: Host) -> bool:
    """Whether a step is for this host; names that the inventory does not have are errors, not silence."""
    wanted = set()  # type: set
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


# ---------------------------------------------------------------------------------------------------------------------
# What is special about each type: further checks, and the words for what it does and undoes
# ---------------------------------------------------------------------------------------------------------------------


def _finish_service(step: Dict[str, Any], system: str, host: Host) -> None:
    step.setdefault("service", step["name"])
    step["subject"] = step["service"]
    if step["name"] == step["service"]:
        step["name"] = ""
    step["does"] = "stop the service {0}".format(step["service"])
    step["undoes"] = "start the service {0}".format(step["service"])


def _finish_command(step: Dict[str, Any], system: str, host: Host) -> None:
    step["does"] = step["undoes"] = ""
    for direction, words in (("do", "does"), ("undo", "undoes")):
        if not step.get(direction):
            continue
        step[direction] = _command(step[direction], direction, system)
        step[words] = "run {0}".format(_command_text(step[direction], step["no_log"]))
    step["environment"] = {str(key): str(value) for key, value in step["environment"].items()}
    step["subject"] = (step["does"] or step["undoes"])[len("run ") :]


def _command(value: Any, key: str, system: str) -> Dict[str, Any]:
    """A command as the modules want it: ``{"argv": [...]}``; a Windows command line stays as it is: ``{"cmd": "..."}``"""
    if isinstance(value, str):
        if system == "windows":
            return {"cmd": value}
        try:
            argv = shlex.split(value)
        except ValueError as error:
            raise StepError(f"{key} can't be split into arguments: {error}") from error
    elif isinstance(value, (list, tuple)) and not any(isinstance(part, (list, tuple, Mapping)) for part in value):
        argv = [str(part) for part in value]
    else:
        raise StepError(f"{key} is {_kind(value)}, not a command line or a list of arguments")
    if not argv or not argv[0]:
        raise StepError(f"{key} names no program")
    return {"argv": argv}


def _command_text(command: Mapping[str, Any], no_log: bool) -> str:
    if no_log:
        return command["argv"][0] if "argv" in command else "a command"
    return command["cmd"] if "cmd" in command else " ".join(shlex.quote(part) for part in command["argv"])


def _finish_http(step: Dict[str, Any], system: str, host: Host) -> None:
    step["does"] = step["undoes"] = ""
    headers = {str(key): str(value) for key, value in step.pop("headers").items()}
    for direction, words in (("do", "does"), ("undo", "undoes")):
        request = step.get(direction)
        if not request:
            continue
        request = step[direction] = _without_none(request)
        _check_url(request["url"], direction + ".url")
        request["method"] = request["method"].upper()
        request["headers"] = dict(headers)
        # Before ansible-core 2.19 a text that is JSON turns into what it stands for on its way to the module, which
        # writes it down again when it is told that it is JSON.
        is_json = "body" in request and _is_json_container(request["body"])
        request["body_format"] = "json" if is_json else "raw"
        if is_json and not any(name.lower() == "content-type" for name in headers):
            request["headers"]["Content-Type"] = "application/json"
        step[words] = "{0} {1}".format(request["method"], _bare_url(request["url"]))
        step.setdefault("subject", step[words])
        if request.get("until"):
            request["until"] = until = _without_none(request["until"])
            until.setdefault("url", request["url"])
            _check_url(until["url"], direction + ".until.url")
            until["method"] = until["method"].upper()
            until["headers"] = headers
            for key in ("interval", "request_timeout"):
                if until[key] < 1:
                    raise StepError(f"{direction}.until.{key} is {until[key]}; it is a number of seconds, at least 1")
            step[words] += " and wait until {0} says so".format(_bare_url(until["url"]))


def _finish_connections(step: Dict[str, Any], system: str, host: Host) -> None:
    if not 1 <= step["port"] <= 65535:
        raise StepError("port {0} is not between 1 and 65535".format(step["port"]))
    step["subject"] = "of port {0}".format(step["port"])
    step["does"] = "wait until port {0} has no established connection".format(step["port"])
    step["undoes"] = "wait until port {0} listens again".format(step["port"]) if step["listen_again"] else ""


def _finish_haproxy(step: Dict[str, Any], system: str, host: Host) -> None:
    balancers = []  # type: List[str]
    for name in step["load_balancers"]:
        members = host.members(name)
        if members is None:
            raise StepError(f"load_balancers names {name!r}, which is neither a host nor a group of the inventory")
        balancers.extend(member for member in members if member not in balancers)
    if not balancers:
        raise StepError("load_balancers names no host")
    step["load_balancers"] = balancers
    step.setdefault("server", host.name)
    # The module takes one backend or all of them: an empty name is "all that have this server".
    step["targets"] = [
        {"load_balancer": balancer, "backend": backend}
        for balancer in balancers
        for backend in step["backends"] or [""]
    ]
    where = "server {0} on {1}".format(step["server"], ", ".join(balancers))
    step["subject"] = where
    step["does"] = "{0} {1} and wait for its sessions to end".format(
        "drain" if step["mode"] == "drain" else "put in maintenance", where
    )
    step["undoes"] = "make ready {0}{1}".format(where, " and wait until it is up" if step["wait_up"] else "")


def _finish_iis(step: Dict[str, Any], system: str, host: Host) -> None:
    parts = []
    for key, words in (("sites", "sites"), ("app_pools", "application pools")):
        if step[key]:
            parts.append("{0} {1}".format(words, ", ".join(step[key])))
    step["subject"] = step["does"] = " and ".join(parts)
    step["undoes"] = "start " + step["does"]
    step["does"] = "stop {0} once running requests have ended".format(step["does"])


def _finish_failover_cluster(step: Dict[str, Any], system: str, host: Host) -> None:
    step["subject"] = "node {0}".format(step.get("node", "of this machine"))
    step["does"] = "suspend the {0} and drain its roles".format(step["subject"])
    step["undoes"] = "resume the {0}, fail-back: {1}".format(step["subject"], step["fail_back"])


def _finish_tasks(step: Dict[str, Any], system: str, host: Host) -> None:
    step["does"] = step["undoes"] = ""
    for direction, words in (("do", "does"), ("undo", "undoes")):
        if step.get(direction):
            step[words] = f"run the tasks of {step[direction]}"
            step[direction] = _task_file(step[direction], direction, host)
    step["subject"] = os.path.basename(step.get("do") or step["undo"])


def _verification(path: Any, number: int, host: Host) -> Dict[str, Any]:
    """A file of tasks that is run after the last inverse: a step that only undoes."""
    if not isinstance(path, str):
        raise StepError(f"it is {_kind(path)}, not a file's name")
    step = {
        "type": "verify",
        "number": number,
        "name": _short(f"verify {os.path.basename(path)}"),
        "undo": _task_file(path, "", host),
        "does": "",
        "undoes": f"run the tasks of {path}",
        "timeout": host.default_timeout,
        "undo_timeout": host.default_timeout,
        "files": {"do": "steps/tasks/include.yml", "undo": "steps/tasks/include.yml"},
    }  # type: Dict[str, Any]
    step["shown"] = {"do": "", "undo": _shown(step, step["undoes"], host.default_timeout)}
    return step


_FINISH = {
    "service": _finish_service,
    "command": _finish_command,
    "http": _finish_http,
    "connections": _finish_connections,
    "haproxy": _finish_haproxy,
    "iis": _finish_iis,
    "failover_cluster": _finish_failover_cluster,
    "tasks": _finish_tasks,
}


# ---------------------------------------------------------------------------------------------------------------------
# Small things
# ---------------------------------------------------------------------------------------------------------------------


def _check_keys(given: Mapping[str, Any], spec: Mapping[str, Any], inside: str) -> None:
    """Unknown keys, and containers where a text or a number belongs (Ansible's validator would make texts of them)."""
    for key, value in given.items():
        if key not in spec:
            raise StepError(
                "key {0!r} is unknown{1}; it takes {2}".format(
                    inside + str(key), _meant(str(key), spec), ", ".join(sorted(spec))
                )
            )
        option = spec[key]
        if value is None:
            continue
        if option.get("type") in ("str", "int", "float", "bool") and isinstance(value, (Mapping, list, tuple)):
            raise StepError("{0} is {1}, where {2} belongs".format(inside + key, _kind(value), _WORDS[option["type"]]))
        if option.get("type") == "dict":
            if not isinstance(value, Mapping):
                raise StepError(f"{inside + key} is {_kind(value)}, where a dictionary belongs")
            if "options" in option:
                _check_keys(value, option["options"], inside + key + ".")
        if option.get("type") == "list" and (
            isinstance(value, Mapping)
            or isinstance(value, (list, tuple))
            and any(isinstance(item, (Mapping, list)) for item in value)
        ):
            raise StepError("{0} is not a list of {1}s".format(inside + key, _WORDS[option["elements"]][2:]))


_WORDS = {"str": "a text", "int": "a number", "float": "a number", "bool": "true or false"}


def _task_file(path: str, key: str, host: Host) -> str:
    found = host.find_file(path)
    if not found:
        raise StepError("{0} is not there: {1}".format("the file of " + key if key else "the file", path))
    return found


def _check_url(url: str, key: str) -> None:
    try:
        parts = urlsplit(url)
        fine = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number, brackets without an address
        fine = False
    if not fine:
        raise StepError(f"{key} is {_bare_url(url)!r}, which is no http or https URL")


def _is_json_container(body: Any) -> bool:
    if not isinstance(body, str):
        return isinstance(body, (Mapping, list))
    try:
        return isinstance(json.loads(body), (dict, list))
    except ValueError:
        return False


def _bare_url(url: str) -> str:
    """A URL as it may be shown: without the password or the query that it may carry."""
    scheme, separator, rest = url.split("?", 1)[0].partition("://")
    authority, slash, path = rest.partition("/")
    return scheme + separator + authority.rpartition("@")[2] + slash + path


def _positive(value: float, key: str) -> float:
    if not math.isfinite(value) or value <= 0:
        raise StepError(f"{key} is {value}; it is a number of seconds, more than 0")
    return float(value)


def _without_none(mapping: Mapping[str, Any]) -> Dict[str, Any]:
    return {key: value for key, value in mapping.items() if value is not None}


def _short(text: str, most: int = 80) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."


def _kind(value: Any) -> str:
    if value is None:
        return "empty"
    if isinstance(value, Mapping):
        return "a dictionary"
    if isinstance(value, (list, tuple)):
        return "a list"
    if isinstance(value, bool):
        return "true or false"
    return "a text" if isinstance(value, str) else "a number"


def _meant(word: str, words: Any) -> str:
    close = difflib.get_close_matches(word, list(words), 1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def _where(raw: Any, number: int) -> str:
    """How a step is called before anything of it is known to be right."""
    if isinstance(raw, Mapping) and isinstance(raw.get("type"), str):
        name = raw.get("name")
        label = "{0} {1!r}".format(raw["type"], name) if isinstance(name, str) and name else raw["type"]
        return f"step {number} ({label})"
    return f"step {number}"
