# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What people have the service do: ``azure-maintenance hold``, ``release`` and ``approve``, each left as a file for the service, and
waited for until it was taken. ``recover`` gives its command in the same way.

Private to this collection.
"""

import argparse
import os
import re
from typing import Any, Dict, Optional

from ..._clock import Deadline
from ..._text import one_line
from ..host.this_host import HOST
from .cli import FINE, NO_ANSWER, NOT_ROOT, WRONG, CliContext, Subcommand, no_arguments

WITHIN = 10.0
"""Seconds in which the service takes a command: it checks for one every five seconds, more often while an event is open."""

_LOOK_EVERY = 0.1


def give(here: CliContext, order: str, what: str, stays: bool = False, **more: Any) -> int:
    """Give an order, and say what came of it.

    :arg what: for people: ``hold approvals``
    :arg stays: whether it waits for a service that does not run; else it is undone, as it would come as a surprise later
    :return: the exit code
    """
    from ..service.command_queue import FOLDER, place

    if here.must_be_root(what):
        return NOT_ROOT
    if not os.path.isdir(here.folder):
        here.complain(f"There is no {here.folder}: no watcher has ever run here. {_start()}")
        return NO_ANSWER
    try:
        name = place(here.folder, order, by=here.caller(), **more)
    except OSError as error:
        here.complain(f"The command can't be left in {here.folder}: {error.strerror or error}.")
        return WRONG
    return _outcome(here, name, os.path.join(here.folder, FOLDER, name), stays)


def _outcome(here: CliContext, name: str, path: str, stays: bool) -> int:
    deadline = Deadline(here.clock, WITHIN)
    while True:
        last = deadline.passed()
        found = _answer(here.published(), name)
        if found is not None:
            here.tell(one_line(found.get("outcome"), 1000))
            return FINE if found.get("done", True) else WRONG
        if last:
            break
        here.clock.sleep(_LOOK_EVERY)
    if not os.path.exists(path):
        here.tell("The service has received the command and is working on it. See azure-maintenance status.")
        return FINE
    if stays:
        here.complain(
            f"The service has not received the command within {WITHIN:g} s. It receives it as soon as it runs. {_start()}"
        )
        return NO_ANSWER
    try:
        os.unlink(path)
    except FileNotFoundError:
        here.tell("The service has received the command just now. See azure-maintenance status.")
        return FINE
    except OSError as error:
        here.complain(f"The command could not be withdrawn: {error.strerror}; remove {path}")
    here.complain(f"The service has not received the command within {WITHIN:g} s, and nothing was done. {_start()}")
    return NO_ANSWER


def _start() -> str:
    return f"See {HOST.status()}; start it with {HOST.start()}."


def _answer(published: Optional[Dict[str, Any]], name: str) -> Optional[Dict[str, Any]]:
    orders = (published or {}).get("orders")
    for entry in orders if isinstance(orders, list) else ():
        if isinstance(entry, dict) and entry.get("name") == name:
            return entry
    return None


_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_LONGEST = 366 * 86400.0


def hold_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--reason", required=True, help="the reason, which status shows")
    parser.add_argument(
        "--for", dest="seconds", type=seconds, metavar="TIME", help="how long: 30m, 8h, 2d (default: until released)"
    )


def run_hold(options: argparse.Namespace, here: CliContext) -> int:
    until = None if options.seconds is None else here.clock.wall() + options.seconds
    return give(here, "hold", "hold approvals", stays=True, reason=one_line(options.reason, 500), until=until)


def seconds(text: str) -> float:
    """``90``, ``90s``, ``30m``, ``8h`` or ``2d`` as seconds."""
    match = re.match(r"(\d{1,9}(?:\.\d+)?)\s*([smhd]?)\Z", text.strip())
    found = float(match.group(1)) * _UNITS[match.group(2)] if match else 0.0
    if not 0 < found <= _LONGEST:
        raise argparse.ArgumentTypeError(f"{one_line(text, 40)!r} is no time such as 30m, 8h or 2d, up to a year")
    return found


def run_release(options: argparse.Namespace, here: CliContext) -> int:
    return give(here, "release", "release approvals", stays=True)


def approve_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("event", metavar="ID", help="the event's id, as azure-maintenance status shows it")


def run_approve(options: argparse.Namespace, here: CliContext) -> int:
    return give(here, "approve", "approve an event", event=options.event)


SUBCOMMANDS = {
    "hold": Subcommand(hold_arguments, run_hold),
    "release": Subcommand(no_arguments, run_release),
    "approve": Subcommand(approve_arguments, run_approve),
}
