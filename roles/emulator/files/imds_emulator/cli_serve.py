# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The command `serve`, and the options that `run` shares with it."""

import argparse
import contextlib
import os
import sys
from typing import Any, Dict, Iterator, Optional, TextIO

from . import scenario_files
from .problems import InvalidInput
from .scenario import Scenario, together
from .scenario_reader import read_scenario, read_vm
from .service import Options, check, serve
from .words import host_and_port, keys, names, settings

LISTEN, CONTROL = "127.0.0.1:8080", "127.0.0.1:8081"


def add(commands: Any) -> None:
    """Add the command."""
    command = commands.add_parser("serve", help="run the service")
    command.set_defaults(run=_serve)
    command.add_argument("--listen", action="append", metavar="ADDRESS:PORT", help=f"the metadata service ({LISTEN})")
    command.add_argument("--addresses", default="", metavar="FILE", help="write the addresses to it once they answer")
    command.add_argument(
        "--idle", default="0", metavar="SECONDS", help="end when nobody has asked for so long; 0: never"
    )
    command.add_argument(
        "--check", action="store_true", help="only say what is wrong with the scenario and these options, if anything"
    )
    add_shared(command, CONTROL)


def add_shared(command: argparse.ArgumentParser, control: str) -> None:
    """What is played, and how."""
    command.add_argument(
        "--scenario", action="append", metavar="FILE_OR_NAME", help="what to play; may be given several times"
    )
    command.add_argument("--resources", metavar="A,B", help="the VMs that it is played against")
    command.add_argument(
        "--vm", action="append", metavar="NAME[,KEY=VALUE...]", help="a VM; may be given several times"
    )
    command.add_argument(
        "--set",
        action="append",
        default=[],
        dest="settings",
        metavar="NAME=VALUE",
        help="a setting, such as rate_limit=0, whatever the scenario says; may be given several times",
    )
    command.add_argument(
        "--control", default=control, metavar="ADDRESS:PORT", help=f"the control API, or none ({control})"
    )
    command.add_argument("--speed", default="1", metavar="N", help="virtual seconds per second; 0 stands still")
    command.add_argument("--journal", default="", metavar="FILE", help="append the journal to it, JSON lines")
    command.add_argument("--log-requests", action="store_true", help="every request into the journal")
    command.add_argument("--on-change", default="", metavar="COMMAND", help="run it at every change of an event")


def _serve(options: Any) -> None:
    scenario = scenario_of(options)
    if not scenario.vms:
        say("there is no VM yet: give --scenario or --vm, or POST /vms to the control API")
    how = options_of(options)._replace(
        listen=tuple(host_and_port(text, "--listen") for text in options.listen or [LISTEN]),
        addresses=options.addresses,
        idle=_number(options.idle, "--idle"),
    )
    if options.check:
        check(scenario, how)
        return
    with journal_of(options) as journal:
        serve(scenario, how._replace(journal=journal), lambda line: print(line, flush=True))


def scenario_of(options: Any) -> Scenario:
    """All that was given, as one scenario."""
    resources = names(options.resources)
    read = [
        read_scenario(scenario_files.find(name), resources, os.path.basename(name)) for name in options.scenario or []
    ]
    if resources and not any(scenario.resources for scenario in read):
        raise InvalidInput("--resources", "there is no scenario whose resources they could replace")
    vms = tuple(read_vm(_vm(text), f"--vm {text}") for text in options.vm or [])
    return together([Scenario(vms=vms), *read, Scenario(settings=settings(options.settings, "--set"))])


def options_of(options: Any) -> Options:
    """How to serve."""
    return Options(
        listen=(),
        control=None if options.control == "none" else host_and_port(options.control, "--control"),
        speed=_number(options.speed, "--speed"),
        log_requests=options.log_requests,
        on_change=options.on_change,
    )


@contextlib.contextmanager
def journal_of(options: Any) -> Iterator[Optional[TextIO]]:
    """The journal's file, if there is to be one."""
    if not options.journal:
        yield None
        return
    with _append(options.journal) as file:
        yield file


def _append(path: str) -> TextIO:
    try:
        return open(path, "a", encoding="utf-8")
    except OSError as error:
        raise InvalidInput("--journal", f"{path} can't be written: {error.strerror}") from None


def say(text: str) -> None:
    """Something for the person who started it, beside what it is asked for."""
    print(f"imds_emulator: {text}", file=sys.stderr, flush=True)


def _vm(text: str) -> Dict[str, Any]:
    name, _comma, rest = text.partition(",")
    vm = keys([word for word in rest.split(",") if word])
    vm["name"] = name
    return vm


def _number(text: str, option: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1
    if not 0 <= number <= 1e6:
        raise InvalidInput(option, f"{text!r} is no number between 0 and 1000000")
    return number
