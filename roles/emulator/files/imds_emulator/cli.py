# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line: all commands, and how they end."""

import argparse
import contextlib
import os
import sys
from typing import List, Optional

from . import cli_control, cli_files, cli_report, cli_run, cli_serve
from .commands import NOT_STARTED
from .problems import Problem


def main(arguments: Optional[List[str]] = None) -> int:
    """Run a command. Returns its exit status: 1, with one line on stderr, when it could not be done."""
    options = _options(sys.argv[1:] if arguments is None else arguments)
    failed = NOT_STARTED if options.command == "run" else 1  # the other statuses are those of run's own command
    try:
        return options.run(options) or 0
    except Problem as problem:
        print(f"imds_emulator: {problem}", file=sys.stderr)
    except (BrokenPipeError, KeyboardInterrupt):
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return failed


def _options(arguments: List[str]) -> argparse.Namespace:
    """The parsed command line. argparse takes no further words after an option; here they may come in any order."""
    parser = _parser()
    words: List[str] = []
    if arguments[:1] == ["run"] and "--" in arguments:
        at = arguments.index("--")
        arguments, words = arguments[:at], arguments[at + 1 :]
    options, further = parser.parse_known_args(arguments)
    if further and (not hasattr(options, "words") or any(word.startswith("-") for word in further)):
        parser.error(f"unrecognized arguments: {' '.join(further)}")
    if further:
        options.words = options.words + further
    if options.command == "run":
        options.words = words
    return options


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="imds_emulator", description="An Azure IMDS that plays Scheduled Events.")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    commands.required = True
    cli_serve.add(commands)
    cli_run.add(commands)
    cli_files.add(commands)
    cli_report.add(commands)
    cli_control.add(commands)
    return parser
