# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The command ``azure-maintenance``: which sub-commands it has, and what comes before and after each of them.

Private to this collection.
"""

import argparse
import importlib
import os
import sys
from typing import Dict, List, Mapping, Optional, TextIO, Tuple

from ..._clock import Clock
from ..host.this_host import HOST
from .cli_context import CODES, FINE, WRONG_USAGE, CliContext, Subcommand

COMMANDS: Dict[str, Tuple[str, str]] = {
    "status": ("status", "what the watcher does, what it holds, and what waits"),
    "history": ("reports", "what has happened on this machine"),
    "hold": ("command_client", "hold early approvals until they are released"),
    "release": ("command_client", "allow early approvals again"),
    "approve": ("command_client", "confirm an event that is not approved automatically"),
    "recover": ("recover", "recover the machine now"),
    "hooks": ("doctor", "which hooks are run, and why others are not"),
    "doctor": ("doctor", "look at all that the watcher needs, with what to do"),
    "check-config": ("doctor", "check the settings, with the line to correct"),
    "report": ("report_test", "send a test report to every receiver now, and say what each answered"),
    "send": ("reports", "send the reports that wait, for ever (what the unit of reports runs)"),
    "version": ("cli", "the version of this program"),
}
"""The file that has each sub-command, and what it is for."""


def main(version: str, arguments: List[str], environment: Optional[Mapping[str, str]] = None) -> int:
    """Carry out a command; returns the exit code.

    :arg version: of the collection
    :arg environment: of the process
    """
    environment = os.environ if environment is None else environment
    try:
        options = _parser(arguments, environment).parse_args(arguments)
    except SystemExit as end:  # --help, or wrong usage, which argparse has explained
        return end.code if isinstance(end.code, int) else WRONG_USAGE
    here = CliContext(options.settings, version, environment, Clock(), _careful(sys.stdout), _careful(sys.stderr))
    try:
        code: int = _subcommand(options.command).run(options, here)
        here.out.flush()
        return code
    except BrokenPipeError:  # "| head" has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130


def _parser(arguments: List[str], environment: Mapping[str, str]) -> argparse.ArgumentParser:
    """Of the sub-commands only the one that is called is loaded: the daemon of reports lives long, and needs little."""
    parser = argparse.ArgumentParser(
        prog="azure-maintenance",
        description="The watcher of this machine's planned maintenance in Azure.",
        epilog="Exit codes: " + "; ".join(f"{code} {meaning}" for code, meaning in CODES.items()) + ".",
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    commands.required = True
    for name, (_file, words) in COMMANDS.items():
        one = commands.add_parser(name, help=words, description=f"{words[0].upper()}{words[1:]}.")
        one.add_argument(
            "--settings",
            metavar="FILE",
            default=environment.get("AZURE_MAINTENANCE_SETTINGS") or HOST.settings,
            help="the watcher's settings (%(default)s)",
        )
        if name in arguments:
            _subcommand(name).arguments(one)
    return parser


def _subcommand(name: str) -> Subcommand:
    file = importlib.import_module(f".{COMMANDS[name][0]}", __package__)
    found: Subcommand = file.SUBCOMMANDS[name]
    return found


def _careful(stream: TextIO) -> TextIO:
    """A terminal in the locale C has no letters beyond ASCII: they are shown as escapes, and are no error."""
    encoding = stream.encoding or "ascii"
    return open(stream.fileno(), "w", 1, encoding=encoding, errors="backslashreplace", closefd=False)


def version_arguments(parser: argparse.ArgumentParser) -> None:
    """None."""


def run_version(options: argparse.Namespace, here: CliContext) -> int:
    here.say(here.version)
    return FINE


SUBCOMMANDS = {
    "version": Subcommand(version_arguments, run_version),
}
