# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What there is to see of a watcher from outside: its process, what it says of itself, the mark, the hold, reports that wait.

Private to this collection.
"""

import datetime
import os
from typing import Any, Dict, List, NamedTuple, Optional

from .._text import one_line
from .reports.report_queue import FOLDER, waiting, words_of_last
from .settings.destinations import NOTIFY, DestinationError, destinations_of, spool_names
from .surroundings import Read, Surroundings

SILENT = 30.0
"""Seconds after which a watcher that has not said anything hangs: it says something every five."""


class Waits(NamedTuple):
    """A destination of reports."""

    words: str
    number: int  # of reports
    since: Optional[float]  # Unix time of the oldest
    last_at: str
    last: str  # what came of the last try


class View(NamedTuple):
    """All of it, at one moment."""

    wall: float
    published: Optional[Dict[str, Any]]
    is_running: bool
    silent: Optional[float]  # seconds since it last said something
    mark: Read
    hold: Read
    waits: List[Waits]
    orders: int  # that wait to be taken

    @property
    def is_looking(self) -> bool:
        return self.is_running and bool((self.published or {}).get("looking"))


def view_of(here: Surroundings) -> View:
    from .._machine.operator_files import HOLD
    from .service.command_queue import FOLDER as ORDERS
    from .surroundings import read_json

    wall = here.clock.wall()
    published = here.published()
    silent = None
    if published:
        said = unix_time(published.get("at"))
        silent = None if said is None else wall - said
    try:
        orders = len([name for name in os.listdir(os.path.join(here.folder, ORDERS)) if not name.startswith(".")])
    except OSError:
        orders = 0
    return View(
        wall,
        published,
        lives(published),
        silent,
        here.mark(),
        read_json(os.path.join(here.folder, HOLD)),
        _waits(here),
        orders,
    )


def lives(published: Optional[Dict[str, Any]], proc: str = "/proc") -> bool:
    """Whether the process that published this is there, and not another one with its number."""
    pid = (published or {}).get("pid")
    program = (published or {}).get("program")
    if not isinstance(pid, int) or isinstance(pid, bool) or not isinstance(program, str):
        return False
    try:
        with open(os.path.join(proc, str(pid), "cmdline"), "rb") as file:
            return os.fsencode(program) in file.read().split(b"\0")
    except OSError:
        return False


def unix_time(text: Any) -> Optional[float]:
    """Of ISO 8601 as this collection writes it."""
    try:
        moment = datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, TypeError):
        return None
    return (moment - datetime.datetime(1970, 1, 1)).total_seconds()


def _waits(here: Surroundings) -> List[Waits]:
    spool = os.path.join(here.folder, FOLDER)
    try:
        names = spool_names(destinations_of(here.setting("reports", [])), os.path.isdir(os.path.join(spool, NOTIFY)))
    except DestinationError as error:
        return [Waits(one_line(error), 0, None, "", "")]
    found = []
    for key, words in names.items():
        there = waiting(os.path.join(spool, key))
        at, last = words_of_last(os.path.join(spool, key))
        found.append(Waits(words, len(there), there[0].since if there else None, one_line(at, 30), one_line(last)))
    return found
