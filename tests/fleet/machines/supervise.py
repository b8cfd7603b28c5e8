# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The process that keeps one machine running: `python3 -m machines.supervise NAME`.

It starts systemd-nspawn, and starts it again when the machine rebooted (exit status 133) or was reset from outside
(killed). A machine that powered itself off (status 0) stays off, and so does one whose file `wanted` says "off".
"""

import os
import subprocess
import sys

from . import cgroups, network
from .machine import Machine
from .settings import by_name

REBOOTED = 133


def command(machine: Machine) -> list:
    name = machine.spec.name
    return [
        "systemd-nspawn",
        "--quiet",
        "--register=no",
        "--keep-unit",
        f"--network-namespace-path={network.path(network.of_machine(name))}",
        "-D",
        str(machine.root),
        f"--machine={name}",
        "--boot",
        "--console=pipe",
    ]


def supervise(machine: Machine) -> None:
    cgroups.add(machine.spec.name, os.getpid())
    with open(machine.console, "ab", buffering=0) as console:
        while machine.is_wanted():
            console.write(b"\n--- power on ---\n")
            ended = subprocess.run(
                command(machine), stdin=subprocess.DEVNULL, stdout=console, stderr=console, check=False
            )
            console.write(f"\n--- systemd-nspawn ended with {ended.returncode} ---\n".encode())
            if ended.returncode == 0:
                break


if __name__ == "__main__":
    supervise(Machine(by_name()[sys.argv[1]]))
