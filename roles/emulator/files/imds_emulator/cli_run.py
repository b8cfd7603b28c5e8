# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The command `run`."""

import ipaddress
from typing import Any

from .cli_serve import add_shared, journal_of, options_of, scenario_of
from .commands import AZURE
from .problems import InvalidInput
from .run import run
from .words import names


def add(commands: Any) -> None:
    """Add the command."""
    command = commands.add_parser(
        "run",
        help="run a program that finds the service at Azure's own address",
        usage="imds_emulator run [OPTION ...] -- COMMAND [ARGUMENT ...]",
        description=f"Runs COMMAND once for each VM, in a network namespace in which http://{AZURE} is that VM's metadata "
        "service. The exit status is COMMAND's.",
    )
    command.set_defaults(run=_run)
    command.add_argument("--on", metavar="A,B", help="the VMs that COMMAND is run for (all)")
    command.add_argument(
        "--address",
        action="append",
        metavar="ADDRESS",
        help=f"where the service is, inside; may be given several times ({AZURE})",
    )
    add_shared(command, "none")


def _run(options: Any) -> int:
    if not options.words:
        raise InvalidInput("run", "there is no command: give it behind --, as in: run --scenario reboot -- ./handler")
    addresses = [_address(text) for text in dict.fromkeys(options.address or [AZURE])]
    how = options_of(options)._replace(log_requests=True)
    scenario = scenario_of(options)
    with journal_of(options) as journal:
        return run(scenario, how._replace(journal=journal), options.words, names(options.on) or [], addresses)


def _address(text: str) -> str:
    try:
        return str(ipaddress.IPv4Address(text))
    except ValueError:
        raise InvalidInput("--address", f"{text!r} is no IPv4 address") from None
