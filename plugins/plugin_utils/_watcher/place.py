# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where role ``watcher`` puts things on a machine, and as what the program runs there. Pure.

Private to this collection.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, NamedTuple

from ...module_utils._watcher.host.host import Host
from ...module_utils._watcher.host.linux_host import LINUX
from ...module_utils._watcher.host.windows_host import WINDOWS

SERVICE, PROCESS = "service", "process"


class Place(NamedTuple):
    """Paths on one machine; "" is what its system does not have."""

    system: str  # name of its host
    manager: str  # SERVICE or PROCESS: what the program runs as
    programs: str  # folder of all versions
    program: str  # the version that is installed
    command: str  # what a person calls
    config: str  # folder of settings, hooks and secrets
    settings: str
    new_settings: str  # until they are checked
    hooks: str  # folder
    secrets: str  # folder
    state: str  # folder
    run: str  # folder of what must not outlive a boot
    owner: str = ""  # of all files; "" for whoever Ansible is there
    python: str = ""  # what runs the program; on Windows the plan of the files says it
    units: str = ""  # folder of systemd's units
    is_state_of_systemd: bool = False  # whether systemd makes the folder of the state
    process: str = ""  # file of the number of the process
    background: str = ""  # folder of what Ansible itself knows of that process
    data: str = ""  # folder that is closed to users: of config, run and, by default, state
    log: str = ""

    @property
    def host(self) -> Host:
        """The system, as the watcher's messages speak of it."""
        return WINDOWS if self.system == WINDOWS.name else LINUX

    def below(self, folder: str, name: str) -> str:
        """The path of something in a folder.

        :arg name: may have several parts, separated by /
        """
        return functools.reduce(self.host.joined, name.split("/"), folder)


def place_of(
    system: str, env: Mapping[str, str], folder: str = "", systemd: bool = True, python: str = "", version: str = ""
) -> Place:
    """Where things are on a machine.

    :arg env: of whoever Ansible is there
    :arg folder: of the state, where it is to be another one
    :arg systemd: whether a Linux machine has the program as a service
    :arg python: what runs the program on a Linux machine
    :arg version: of the program
    """
    if system == WINDOWS.name:
        # Only administrators may write below Program Files.
        programs, data = (rf"{env[name]}\AzureMaintenance" for name in ("ProgramFiles", "ProgramData"))
        state = folder or data
        return Place(
            system=system,
            manager=SERVICE,
            command=rf"{programs}\azure-maintenance.cmd",
            state=state,
            run=rf"{data}\run",
            data=data,
            log=rf"{state}\log\azure-maintenance.log",
            **_inside(WINDOWS, programs, rf"{data}\config", version),
        )
    if systemd:
        return Place(
            system=system,
            manager=SERVICE,
            command=LINUX.command,
            state=folder or LINUX.state,
            run=LINUX.run_folder,
            owner="root",
            python=python,
            units="/etc/systemd/system",
            is_state_of_systemd=folder in ("", LINUX.state),
            **_inside(LINUX, "/usr/local/lib/azure-maintenance", "/etc/azure-maintenance", version),
        )
    home = f"{env.get('HOME', '~')}/.ansible/azure-maintenance"
    return Place(
        system=system,
        manager=PROCESS,
        command=f"{home}/bin/azure-maintenance",
        state=folder or f"{home}/state",
        run=f"{home}/run",
        python=python,
        process=f"{home}/process",
        background=f"{home}/async",
        **_inside(LINUX, f"{home}/lib", f"{home}/etc", version),
    )


def _inside(host: Host, programs: str, config: str, version: str) -> dict[str, Any]:
    """What is in these folders, on every system by the same names."""
    return {
        "programs": programs,
        "program": host.joined(programs, f"{version}.pyz"),
        "config": config,
        "settings": host.joined(config, "watcher.json"),
        "new_settings": host.joined(config, "watcher.json.new"),
        "hooks": host.joined(config, "hooks"),
        "secrets": host.joined(config, "secrets"),
    }
