# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is special about each type of step: further checks, and the words for what it does and undoes."""

import json
import os
import shlex
from collections.abc import Mapping
from typing import Any

from .checks import Host, StepError, bare_url, check_url, kind_of, task_file, without_none


def _finish_service(step: dict[str, Any], system: str, host: Host) -> None:
    step.setdefault("service", step["name"])
    step["subject"] = step["service"]
    if step["name"] == step["service"]:
        step["name"] = ""
    step["does"] = f"stop the service {step['service']}"
    step["undoes"] = f"start the service {step['service']}"


def _finish_command(step: dict[str, Any], system: str, host: Host) -> None:
    step["does"] = step["undoes"] = ""
    for direction, words in (("do", "does"), ("undo", "undoes")):
        if not step.get(direction):
            continue
        step[direction] = _command(step[direction], direction, system)
        step[words] = f"run {_command_text(step[direction], step['no_log'])}"
    step["environment"] = {str(key): str(value) for key, value in step["environment"].items()}
    step["subject"] = (step["does"] or step["undoes"])[len("run ") :]


def _command(value: Any, key: str, system: str) -> dict[str, Any]:
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
        raise StepError(f"{key} is {kind_of(value)}, not a command line or a list of arguments")
    if not argv or not argv[0]:
        raise StepError(f"{key} names no program")
    return {"argv": argv}


def _command_text(command: Mapping[str, Any], no_log: bool) -> str:
    if no_log:
        return command["argv"][0] if "argv" in command else "a command"
    return command["cmd"] if "cmd" in command else " ".join(shlex.quote(part) for part in command["argv"])


def _finish_http(step: dict[str, Any], system: str, host: Host) -> None:
    step["does"] = step["undoes"] = ""
    headers = {str(key): str(value) for key, value in step.pop("headers").items()}
    for direction, words in (("do", "does"), ("undo", "undoes")):
        request = step.get(direction)
        if not request:
            continue
        request = step[direction] = without_none(request)
        check_url(request["url"], direction + ".url")
        request["method"] = request["method"].upper()
        request["headers"] = dict(headers)
        # Before ansible-core 2.19 a text that is JSON turns into what it stands for on its way to the module, which
        # writes it down again when it is told that it is JSON.
        is_json = "body" in request and _is_json_container(request["body"])
        request["body_format"] = "json" if is_json else "raw"
        if is_json and not any(name.lower() == "content-type" for name in headers):
            request["headers"]["Content-Type"] = "application/json"
        step[words] = f"{request['method']} {bare_url(request['url'])}"
        step.setdefault("subject", step[words])
        if request.get("until"):
            request["until"] = until = without_none(request["until"])
            until.setdefault("url", request["url"])
            check_url(until["url"], direction + ".until.url")
            until["method"] = until["method"].upper()
            until["headers"] = headers
            for key in ("interval", "request_timeout"):
                if until[key] < 1:
                    raise StepError(f"{direction}.until.{key} is {until[key]}; it is a number of seconds, at least 1")
            step[words] += f" and wait until {bare_url(until['url'])} says so"


def _is_json_container(body: Any) -> bool:
    if not isinstance(body, str):
        return isinstance(body, (Mapping, list))
    try:
        return isinstance(json.loads(body), (dict, list))
    except ValueError:
        return False


def _finish_connections(step: dict[str, Any], system: str, host: Host) -> None:
    if not 1 <= step["port"] <= 65535:
        raise StepError(f"port {step['port']} is not between 1 and 65535")
    step["subject"] = f"of port {step['port']}"
    step["does"] = f"wait until port {step['port']} has no established connection"
    step["undoes"] = f"wait until port {step['port']} listens again" if step["listen_again"] else ""


def _finish_haproxy(step: dict[str, Any], system: str, host: Host) -> None:
    balancers: list[str] = []
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
    where = f"server {step['server']} on {', '.join(balancers)}"
    step["subject"] = where
    step["does"] = (
        f"{'drain' if step['mode'] == 'drain' else 'put in maintenance'} {where} and wait for its sessions to end"
    )
    step["undoes"] = f"make ready {where}{' and wait until it is up' if step['wait_up'] else ''}"


def _finish_iis(step: dict[str, Any], system: str, host: Host) -> None:
    parts = []
    for key, words in (("sites", "sites"), ("app_pools", "application pools")):
        if step[key]:
            parts.append(f"{words} {', '.join(step[key])}")
    step["subject"] = step["does"] = " and ".join(parts)
    step["undoes"] = "start " + step["does"]
    step["does"] = f"stop {step['does']} once running requests have ended"


def _finish_failover_cluster(step: dict[str, Any], system: str, host: Host) -> None:
    step["subject"] = f"node {step.get('node', 'of this machine')}"
    step["does"] = f"suspend the {step['subject']} and drain its roles"
    step["undoes"] = f"resume the {step['subject']}, fail-back: {step['fail_back']}"


def _finish_tasks(step: dict[str, Any], system: str, host: Host) -> None:
    step["does"] = step["undoes"] = ""
    for direction, words in (("do", "does"), ("undo", "undoes")):
        if step.get(direction):
            step[words] = f"run the tasks of {step[direction]}"
            step[direction] = task_file(step[direction], direction, host)
    step["subject"] = os.path.basename(step.get("do") or step["undo"])


FINISH = {  # type -> what completes a checked step of it, in place
    "service": _finish_service,
    "command": _finish_command,
    "http": _finish_http,
    "connections": _finish_connections,
    "haproxy": _finish_haproxy,
    "iis": _finish_iis,
    "failover_cluster": _finish_failover_cluster,
    "tasks": _finish_tasks,
}
