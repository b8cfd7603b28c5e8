# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fleet by hand: `python3 -m machines --help`, in tests/fleet, as root."""

import argparse
import subprocess
import sys

from . import host, network, settings
from .controller import Controller
from .emulator import CONTROL, Emulator
from .fleet import Fleet, locked


def main() -> int:
    parser = argparse.ArgumentParser(prog="python3 -m machines", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("up", help="start all machines and the emulator, and leave them running")
    commands.add_parser("down", help="end all machines, and what a killed run left")
    commands.add_parser("status", help="which machines are on")
    shell = commands.add_parser("ssh", help="log in to a machine, or run a command there")
    shell.add_argument("machine", choices=sorted(settings.by_name()))
    shell.add_argument("words", nargs=argparse.REMAINDER)
    run = commands.add_parser(
        "run", help="run a command where the controller is, in a folder with inventory and ansible.cfg"
    )
    run.add_argument("words", nargs=argparse.REMAINDER)
    for word, what in (
        ("reboot", "reboot a machine in order"),
        ("reset", "reset a machine, unannounced"),
        ("off", "power a machine off"),
        ("on", "power it on"),
        ("unplug", "pull a machine's network cable"),
        ("plug", "put it back"),
    ):
        commands.add_parser(word, help=what).add_argument("machine", choices=sorted(settings.by_name()))
    arguments = parser.parse_args()

    reason = host.why_not()
    if reason:
        parser.error(reason)
    try:
        return _do(Fleet(), arguments)
    except host.FleetError as error:
        print(error, file=sys.stderr)
        return 1


def _do(fleet: Fleet, arguments: argparse.Namespace) -> int:
    if arguments.command == "up":
        with locked():
            fleet.up()
            Controller(fleet).prepare()
            with network.entered(settings.CONTROLLER):
                Emulator().start()
    elif arguments.command == "down":
        with locked():
            fleet.down()
    elif arguments.command == "status":
        for name, machine in fleet.machines.items():
            print(f"{name:8} {machine.spec.address:12} {machine.boot_id() or 'off'}")
    elif arguments.command in ("ssh", "run"):
        words = arguments.words
        if arguments.command == "ssh":
            words = ["ssh", "-F", str(fleet.ssh_config), arguments.machine, *words]
        controller = Controller(fleet)
        return subprocess.call(
            [*network.inside(settings.CONTROLLER), *words],
            cwd=controller.folder,
            env=dict(controller.environment(), AZURE_EMULATOR_CONTROL=CONTROL),
        )
    else:
        machine = fleet[arguments.machine]
        {
            "reboot": machine.reboot,
            "reset": machine.reset,
            "off": machine.power_off,
            "on": machine.power_on,
            "unplug": lambda: network.set_cable(machine.spec.name, False),
            "plug": lambda: network.set_cable(machine.spec.name, True),
        }[arguments.command]()
    return 0


if __name__ == "__main__":
    sys.exit(main())
