# Copyright: (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line."""

import argparse
import contextlib
import json
import os
import re
import sys
from typing import Any, Dict, List, Optional, Tuple

from . import scenario_files
from .client import Client, keys, names, path, query, without_nothing
from .faults import KINDS
from .problems import InvalidInput, Problem
from .scenario import Scenario, read_scenario, read_vm, together
from .service import Options, check, serve
from .world import ARM, CO_TENANT

LISTEN, CONTROL = "127.0.0.1:8080", "127.0.0.1:8081"
ADDRESS = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([^:\[\]]+)):(\d{1,5})")


def main(arguments: Optional[List[str]] = None) -> int:
    """Run a command; 0, or 1 with one line on stderr."""
    options = _options(arguments)
    try:
        options.run(options)
    except Problem as problem:
        print(f"imds_emulator: {problem}", file=sys.stderr)
        return 1
    except (BrokenPipeError, KeyboardInterrupt):
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0


def _options(arguments: Optional[List[str]]) -> Any:
    """The parsed command line. argparse takes no further words after an option; here they may come in any order."""
    parser = _parser()
    options, further = parser.parse_known_args(arguments)
    if further and (not hasattr(options, "words") or any(word.startswith("-") for word in further)):
        parser.error(f"unrecognized arguments: {' '.join(further)}")
    if further:
        options.words = options.words + further
    return options


# -- serve ---------------------------------------------------------------------------------------------------------


def _serve(options: Any) -> None:
    scenario = _scenario(options)
    if not scenario.vms:
        print(
            "imds_emulator: there is no VM yet: give --scenario or --vm, or POST /vms to the control API",
            file=sys.stderr,
        )
    how = Options(
        listen=tuple(_address(text, "--listen") for text in options.listen or [LISTEN]),
        control=None if options.control == "none" else _address(options.control, "--control"),
        speed=_speed(options.speed),
        log_requests=options.log_requests,
        on_change=options.on_change,
        addresses=options.addresses,
    )
    if options.check:
        check(scenario, how)
        return
    with contextlib.ExitStack() as stack:
        journal = stack.enter_context(_append(options.journal)) if options.journal else None
        serve(scenario, how._replace(journal=journal), lambda line: print(line, flush=True))


def _append(name: str) -> Any:
    try:
        return open(name, "a", encoding="utf-8")
    except OSError as error:
        raise InvalidInput("--journal", f"{name} can't be written: {error.strerror}") from None


def _scenario(options: Any) -> Scenario:
    resources = names(options.resources)
    read = [
        read_scenario(scenario_files.find(name), resources, os.path.basename(name)) for name in options.scenario or []
    ]
    if resources and not any(scenario.resources for scenario in read):
        raise InvalidInput("--resources", "there is no scenario whose resources they could replace")
    vms = tuple(read_vm(_vm(text), f"--vm {text}") for text in options.vm or [])
    return together([Scenario(vms=vms)] + read)


def _vm(text: str) -> Dict[str, Any]:
    name, _comma, rest = text.partition(",")
    vm = keys([word for word in rest.split(",") if word])
    vm["name"] = name
    return vm


def _address(text: str, option: str) -> Tuple[str, int]:
    found = ADDRESS.fullmatch(text)
    if not found or int(found.group(3)) > 65535:
        raise InvalidInput(option, f"{text!r} is not ADDRESS:PORT")
    return found.group(1) or found.group(2), int(found.group(3))


def _speed(text: str) -> float:
    try:
        speed = float(text)
    except ValueError:
        speed = -1
    if not 0 <= speed <= 1e6:
        raise InvalidInput("--speed", f"{text!r} is no number between 0 and 1000000")
    return speed


# -- the others ----------------------------------------------------------------------------------------------------


def _show(value: Any) -> None:
    print(json.dumps(value, indent=2, ensure_ascii=False))


def _list_scenarios(options: Any) -> None:
    for name in scenario_files.ships():
        print(f"{name:28} {scenario_files.shipped(name).get('description', '')}")


def _show_scenario(options: Any) -> None:
    _show(scenario_files.find(options.name))


def _get(what: str) -> Any:
    return lambda options: _show(Client(options.control).ask("GET", path(what)))


def _journal(options: Any) -> None:
    client = Client(options.control)
    since = options.since
    while True:
        wait = options.wait or (60 if options.follow else 0)
        asked = query(
            {
                "since": since,
                "kind": options.kind,
                "vm": options.vm,
                "event_id": options.event_id,
                "limit": options.limit,
                "wait": wait,
            }
        )
        answer = client.ask("GET", path("journal") + asked, wait=wait)
        for entry in answer["entries"]:
            print(json.dumps(entry, ensure_ascii=False), flush=True)
        since = answer["next"]
        if not options.follow:
            return


def _load(options: Any) -> None:
    body = scenario_files.find(options.name)
    resources = names(options.resources)
    if resources is not None and isinstance(body, dict):
        body = dict(body, resources=resources)
    _show(Client(options.control).ask("POST", path("scenario"), body))


def _inject(options: Any) -> None:
    body = keys([word for word in options.words if "=" in word])
    body["type"] = options.type
    body["resources"] = [word for word in options.words if "=" not in word]
    body.update(without_nothing(notice=options.notice, tail=options.tail))
    print(Client(options.control).ask("POST", path("events"), body)["id"])


def _move(move: str) -> Any:
    def run(options: Any) -> None:
        body = {"as": options.who} if move == "approve" else {}
        _show(Client(options.control).ask("POST", path("events", options.id, move), body))

    return run


def _add_fault(options: Any) -> None:
    body = keys(options.words)
    body["kind"] = options.kind
    body.update(without_nothing(vm=names(options.vm), method=options.method, count=options.count))
    _show(Client(options.control).ask("POST", path("faults"), body))


def _clear_faults(options: Any) -> None:
    Client(options.control).ask("DELETE", path("faults", options.id) if options.id else path("faults"))


def _clock(options: Any) -> None:
    body = without_nothing(
        speed=options.speed, advance=options.advance, next=options.next or None, pause=options.pause or None
    )
    _show(Client(options.control).ask("POST" if body else "GET", path("clock"), body or None))


def _reset(options: Any) -> None:
    Client(options.control).ask("POST", path("reset"), {})


# -- the options ---------------------------------------------------------------------------------------------------


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="imds_emulator", description="An Azure IMDS that plays Scheduled Events.")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    commands.required = True
    _add_serve(commands)
    _add_scenario(commands)
    for what, told in (("state", "what it holds"), ("events", "the events it knows")):
        _command(commands, what, told, _get(what))

    journal = _command(commands, "journal", "what happened", _journal)
    journal.add_argument("--since", type=int, default=0, metavar="SEQ", help="only entries after this one")
    journal.add_argument("--kind", default="", help="only these kinds, comma-separated")
    journal.add_argument("--vm", default="", help="only what concerns this VM")
    journal.add_argument("--event-id", default="", help="only what concerns this event")
    journal.add_argument("--limit", type=int, default=10000, help="at most so many")
    journal.add_argument("--wait", type=float, default=0, metavar="SECONDS", help="wait for an entry")
    journal.add_argument("--follow", action="store_true", help="go on")

    load = _command(commands, "load", "play a further scenario", _load)
    load.add_argument("name", metavar="NAME_OR_FILE")
    load.add_argument("--resources", metavar="A,B", help="the VMs it is played against")

    inject = _command(commands, "inject", "a new event, now; prints its id", _inject)
    inject.add_argument("type", metavar="TYPE")
    inject.add_argument("words", nargs="+", metavar="VM_OR_KEY=VALUE")
    inject.add_argument("--notice", type=float, metavar="SECONDS")
    inject.add_argument("--tail", type=float, metavar="SECONDS")

    for move, told in (
        ("start", "start an event"),
        ("approve", "approve an event from outside its VMs"),
        ("complete", "end an event that has started"),
        ("cancel", "cancel an event that has not"),
    ):
        command = _command(commands, move, told, _move(move))
        command.add_argument("id", metavar="ID_OR_NAME")
        if move == "approve":
            command.add_argument("--as", dest="who", choices=(ARM, CO_TENANT), default=ARM)
    _add_faults(commands)

    clock = _command(commands, "clock", "look at or move virtual time", _clock)
    clock.add_argument("--speed", type=float)
    clock.add_argument("--advance", type=float, metavar="SECONDS")
    clock.add_argument("--next", action="store_true", help="to the next thing that is due")
    clock.add_argument("--pause", action="store_true")
    _command(commands, "reset", "drop events, faults, counts and journal", _reset)
    return parser


def _add_serve(commands: Any) -> None:
    command = commands.add_parser("serve", help="run the service")
    command.set_defaults(run=_serve)
    command.add_argument(
        "--scenario", action="append", metavar="FILE_OR_NAME", help="what to play; may be given several times"
    )
    command.add_argument("--resources", metavar="A,B", help="the VMs that it is played against")
    command.add_argument(
        "--vm", action="append", metavar="NAME[,KEY=VALUE...]", help="a VM; may be given several times"
    )
    command.add_argument("--listen", action="append", metavar="ADDRESS:PORT", help=f"the metadata service ({LISTEN})")
    command.add_argument(
        "--control", default=CONTROL, metavar="ADDRESS:PORT", help=f"the control API ({CONTROL}), or none"
    )
    command.add_argument("--speed", default="1", metavar="N", help="virtual seconds per second; 0 stands still")
    command.add_argument("--journal", default="", metavar="FILE", help="append the journal to it, JSON lines")
    command.add_argument("--log-requests", action="store_true", help="every request into the journal")
    command.add_argument("--on-change", default="", metavar="COMMAND", help="run it at every change of an event")
    command.add_argument("--addresses", default="", metavar="FILE", help="write the addresses to it once they answer")
    command.add_argument(
        "--check", action="store_true", help="only say what is wrong with the scenario and these options, if anything"
    )


def _add_scenario(commands: Any) -> None:
    parts = commands.add_parser("scenario", help="the scenarios that come with it").add_subparsers(
        dest="part", metavar="COMMAND"
    )
    parts.required = True
    parts.add_parser("list", help="their names").set_defaults(run=_list_scenarios)
    show = parts.add_parser("show", help="one of them, as JSON")
    show.add_argument("name", metavar="NAME_OR_FILE")
    show.set_defaults(run=_show_scenario)


def _add_faults(commands: Any) -> None:
    parts = commands.add_parser("fault", help="break answers on purpose").add_subparsers(dest="part", metavar="COMMAND")
    parts.required = True
    add = _command(parts, "add", "one more", _add_fault)
    add.add_argument("kind", choices=sorted(KINDS))
    add.add_argument("words", nargs="*", metavar="KEY=VALUE")
    add.add_argument("--vm", metavar="A,B", help="only for these VMs")
    add.add_argument("--method", choices=("GET", "POST"))
    add.add_argument("--count", type=int, help="so many requests")
    _command(parts, "list", "those in force", _get("faults"))
    _command(parts, "clear", "end one, or all", _clear_faults).add_argument("id", nargs="?")


def _command(commands: Any, name: str, told: str, run: Any) -> argparse.ArgumentParser:
    command = commands.add_parser(name, help=told)
    command.add_argument(
        "--control", default=os.environ.get("AZURE_EMULATOR_CONTROL", f"http://{CONTROL}"), metavar="URL"
    )
    command.set_defaults(run=run)
    return command
