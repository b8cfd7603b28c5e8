# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands that ask a running emulator, over its control API."""

import argparse
import json
import os
from typing import Any, Callable, Optional

from . import scenario_files
from .cli_serve import CONTROL
from .client import Client, path, query
from .fault_kinds import KINDS
from .lifecycle import ARM, CO_TENANT
from .words import keys, names, without_nothing

Run = Callable[[Any], Optional[int]]


def add(commands: Any) -> None:
    """Add the commands."""
    for what, help_text in (("state", "what it holds"), ("events", "the events it knows")):
        command(commands, what, help_text, _get(what))

    journal = command(commands, "journal", "what happened", _journal)
    journal.add_argument("--since", type=int, default=0, metavar="SEQ", help="only entries after this one")
    journal.add_argument("--kind", default="", help="only these kinds, comma-separated")
    journal.add_argument("--vm", default="", help="only what concerns this VM")
    journal.add_argument("--event-id", default="", help="only what concerns this event")
    journal.add_argument("--limit", type=int, default=10000, help="at most so many")
    journal.add_argument("--wait", type=float, default=0, metavar="SECONDS", help="wait for an entry")
    journal.add_argument("--follow", action="store_true", help="go on")

    load = command(commands, "load", "play a further scenario", _load)
    load.add_argument("name", metavar="NAME_OR_FILE")
    load.add_argument("--resources", metavar="A,B", help="the VMs it is played against")

    inject = command(commands, "inject", "a new event, now; prints its id", _inject)
    inject.add_argument("type", metavar="TYPE")
    inject.add_argument("words", nargs="+", metavar="VM_OR_KEY=VALUE")
    inject.add_argument("--notice", type=float, metavar="SECONDS")
    inject.add_argument("--tail", type=float, metavar="SECONDS")

    for move, help_text in (
        ("start", "start an event"),
        ("approve", "approve an event from outside its VMs"),
        ("complete", "end an event that has started"),
        ("cancel", "cancel an event that has not"),
    ):
        moving = command(commands, move, help_text, _move(move))
        moving.add_argument("id", metavar="ID_OR_NAME")
        if move == "approve":
            moving.add_argument("--as", dest="who", choices=(ARM, CO_TENANT), default=ARM)
    _add_faults(commands)

    clock = command(commands, "clock", "show or move virtual time", _clock)
    clock.add_argument("--speed", type=float)
    clock.add_argument("--advance", type=float, metavar="SECONDS")
    clock.add_argument("--next", action="store_true", help="to the next thing that is due")
    clock.add_argument("--pause", action="store_true")
    command(commands, "reset", "drop events, faults, counts and journal", _reset)
    _add_vms(commands)


def _add_faults(commands: Any) -> None:
    parts = commands.add_parser("fault", help="break answers on purpose").add_subparsers(dest="part", metavar="COMMAND")
    parts.required = True
    add = command(parts, "add", "one more", _add_fault)
    add.add_argument("kind", choices=sorted(KINDS))
    add.add_argument("words", nargs="*", metavar="KEY=VALUE")
    add.add_argument("--vm", metavar="A,B", help="only for these VMs")
    add.add_argument("--method", choices=("GET", "POST"))
    add.add_argument("--count", type=int, help="so many requests")
    command(parts, "list", "those in force", _get("faults"))
    command(parts, "clear", "end one, or all", _clear_faults).add_argument("id", nargs="?")


def _add_vms(commands: Any) -> None:
    parts = commands.add_parser("vm", help="stop a VM, or start it again").add_subparsers(
        dest="part", metavar="COMMAND"
    )
    parts.required = True
    for part, help_text in (("stop", "it runs no more"), ("start", "it runs again")):
        command(parts, part, help_text, _run_vm).add_argument("name", metavar="NAME")


def command(commands: Any, name: str, help_text: str, run: Run) -> argparse.ArgumentParser:
    """Add a command that asks a running emulator."""
    added = commands.add_parser(name, help=help_text)
    added.add_argument(
        "--control", default=os.environ.get("AZURE_EMULATOR_CONTROL", f"http://{CONTROL}"), metavar="URL"
    )
    added.set_defaults(run=run)
    return added


def _show(value: Any) -> None:
    print(json.dumps(value, indent=2, ensure_ascii=False))


def _get(what: str) -> Run:
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


def _move(move: str) -> Run:
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


def _run_vm(options: Any) -> None:
    _show(Client(options.control).ask("POST", path("vms", options.name, options.part), {}))
