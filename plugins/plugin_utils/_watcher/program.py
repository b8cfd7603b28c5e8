# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How role ``watcher`` calls the program on a machine, which services it has there, and what it takes from an answer. Pure.

Private to this collection.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, TypedDict

from ...module_utils._watcher.host.windows_host import WINDOWS
from .place import PROCESS, Place

_TEXTS = {
    "watcher": (
        "Watcher of Azure's planned maintenance",
        "Takes this virtual machine through Azure's planned maintenance, with hooks and drain steps.",
    ),
    "reports": (
        "Sender of reports of the watcher of Azure's planned maintenance",
        "Sends the watcher's reports, and runs its notify hooks.",
    ),
    "health": (
        "Health endpoint of the watcher of Azure's planned maintenance",
        "Tells load balancers whether this machine is in service, and Prometheus its metrics.",
    ),
}
"""How Windows shows each service, and what it is for."""

Commands = Mapping[str, list[str]]
"""Command lines by their words, and ``program``, what they begin with."""


class Service(TypedDict, total=False):
    """A service on a machine. One that is not enabled is removed where an earlier deployment has installed it."""

    name: str
    enabled: bool
    # On Linux
    unit: str  # path of what systemd starts
    # On Windows
    display_name: str
    description: str
    command: list[str]
    account: str
    restart_always: bool


class Status(TypedDict):
    """What the command ``status`` has answered."""

    polls: bool  # whether the watcher has polled its events
    unanswered: list[str]  # addresses of the health endpoint that give no answer
    health_problem: str  # why it can't see the mark; "" where it can


def commands_of(place: Place, python: str, health: Mapping[str, Any]) -> Commands:
    """The command lines on one machine.

    :arg python: what runs the program
    :arg health: of the settings
    """
    program = [python, "-I", *(["-S"] if place.host.has_drives else []), place.program]
    settings = ["--settings", place.settings]
    status = ["status", "--json"]
    return {
        "program": program,
        "run": [*program, "run", *settings, *(["--run-folder", place.run] if place.manager == PROCESS else [])],
        "send": [*program, "send", *settings],
        # Its process can't read the settings, which hold passwords.
        "health": [
            *(*program, "health", "--folder", place.state, "--run-folder", place.run),
            *_each("--http", health["http"]),
            *_each("--agent", health["agent"]),
            *_each("--source", health["sources"]),
            *_each("--metrics-source", health["metrics_sources"]),
            *(["--app", health["app"], "--app-timeout", str(health["app_timeout"])] if health["app"] else []),
        ],
        "status": [*program, *status, *settings] if place.host.has_drives else [place.command, *status],
        "check": [*program, "check-config", "--offline", "--settings", place.new_settings],
    }


def access_of(place: Place, program: Iterable[str], folders: Iterable[str]) -> list[str]:
    """The command line by which the program makes its folders on a Windows machine, and says what others than SYSTEM and administrators could
    change there.

    :arg folders: those of hooks
    """
    state = [place.data, place.state, place.below(place.state, "spool"), place.run]
    every = [place.programs, *state, place.config, place.secrets, place.hooks, *folders]
    return [*program, "folders", "--state", place.state, *_each("--folder", dict.fromkeys(every))]


def written(place: Place, python: str, hooks: Iterable[str], secrets: Iterable[str]) -> list[str]:
    """What follows there once all but the settings themselves is written, and who could change it is asked, too."""
    return [
        *_each("--file", [python, place.program, place.command, *hooks]),
        *_each("--secret", [place.new_settings, *secrets]),
    ]


def services_of(place: Place, commands: Commands, reports: bool, health: bool) -> dict[str, Service]:
    """The services, by what they are for.

    :arg reports: whether anybody is sent reports, or a notify hook is run
    :arg health: whether the health endpoint has an address
    """
    enabled = {"watcher": True, "reports": reports, "health": health}
    if not place.host.has_drives:
        units = {"watcher": ".service", "reports": "-reports.service", "health": "-health.socket"}
        return {
            key: {
                "name": f"azure-maintenance{unit.removesuffix('.service')}",
                "enabled": enabled[key],
                "unit": f"{place.units}/azure-maintenance{unit}",
            }
            for key, unit in units.items()
        }
    services = {"watcher": WINDOWS.watcher, "reports": WINDOWS.reports, "health": WINDOWS.health}
    return {
        key: {
            "name": service.name,
            "enabled": enabled[key],
            "display_name": _TEXTS[key][0],
            "description": _TEXTS[key][1],
            "command": commands[service.word],
            "account": service.account,
            # The watcher ends as by a crash but where that is of no use, such as with settings that can't be used.
            "restart_always": key != "watcher",
        }
        for key, service in services.items()
    }


def status_of(came: Mapping[str, Any]) -> Status:
    """What comes of the command ``status``, or of an attempt to call it.

    :arg came: what Ansible registered of the command
    """
    try:
        said = json.loads(came.get("stdout") or "")
    except ValueError:
        return {"polls": False, "unanswered": ["status gives no answer"], "health_problem": ""}
    return {
        "polls": came.get("rc", 1) == 0 and bool(said.get("looking")),
        "unanswered": [one["address"] for one in said.get("health") or () if one["is_in_service"] is None],
        "health_problem": said.get("health_problem") or "",
    }


def _each(option: str, values: Iterable[Any]) -> list[str]:
    return [word for value in values for word in (option, str(value))]
