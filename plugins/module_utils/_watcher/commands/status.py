# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``azure-maintenance status``: what is going on here, for somebody who was just woken up.

Private to this collection.

Its view has what there is to see of a watcher from outside: its process, what it says of itself, the mark, the hold, reports that wait.
"""

import argparse
import os
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple

from ..._clock import unix_time
from ..._core.second_look import not_verified
from ..._machine.platform import native
from ..._steps.sequence import BEGUN, DONE, FAILED, NOT_TAKEN_BACK, TAKEN_BACK, TAKING_BACK, WAITING
from ..._text import clause, duration, listed, one_line
from ..health.client import Asked, ask, health_problem
from ..host.this_host import HOST
from ..reports.last_try import LastTry, read_last_try, what_to_do
from ..reports.report_queue import FOLDER, waiting
from ..settings.destinations import NOTIFY, spool_names
from ..settings.options import MANAGE, OPTIONS
from .cli import FINE, NOT_ROOT, WRONG, CliContext, Read, Subcommand

STALE = 120.0
"""Seconds after which a watcher that runs should have written its metrics again: it does every half minute."""


class MetricsView(NamedTuple):
    """The file of metrics, as it is."""

    path: str
    age: Optional[float] = None  # seconds since it was written; None where it can't be seen
    problem: str = ""  # why it can't be; "" when it can

    @property
    def is_stale(self) -> bool:
        return self.age is not None and self.age > STALE


def metrics_view(published: Optional[Dict[str, Any]], wall: float) -> Optional[MetricsView]:
    """None where no watcher has said where it writes them.

    :arg published: what it last said of itself
    :arg wall: Unix time
    """
    path = (published or {}).get("metrics")
    if not isinstance(path, str):
        return None
    try:
        return MetricsView(path, wall - os.stat(path).st_mtime)
    except FileNotFoundError:
        return MetricsView(path, problem="not there")
    except OSError as error:
        return MetricsView(path, problem=str(error.strerror))


SILENT = 30.0
"""Seconds after which a watcher that has not said anything hangs: it says something every five."""


class DestinationView(NamedTuple):
    """A destination of reports."""

    words: str
    number: int  # of reports
    since: Optional[float]  # Unix time of the oldest
    last: LastTry


class StatusView(NamedTuple):
    """All of it, at one moment."""

    wall: float
    published: Optional[Dict[str, Any]]
    is_running: bool
    silent: Optional[float]  # seconds since it last said something
    mark: Read
    hold: Read
    waits: List[DestinationView]
    orders: int  # that wait to be taken
    health: List[Asked] = []  # what each address of the health endpoint answers
    metrics: Optional[MetricsView] = None

    @property
    def is_looking(self) -> bool:
        return self.is_running and bool((self.published or {}).get("looking"))


def view_of(here: CliContext) -> StatusView:
    from ..._machine.beside_mark import HOLD
    from ..._machine.files import FORMAT
    from ..service.command_queue import FOLDER as ORDERS
    from .cli import read_json

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
    return StatusView(
        wall,
        published,
        lives(published),
        silent,
        here.mark(),
        read_json(os.path.join(here.folder, HOLD), FORMAT),
        _waits(here),
        orders,
        _health(here),
        metrics_view(published, wall),
    )


def lives(published: Optional[Dict[str, Any]]) -> bool:
    """Whether the process that published this is there, and not another one with its number."""
    pid, start = (published or {}).get("pid"), (published or {}).get("start")
    if not isinstance(pid, int) or isinstance(pid, bool):
        return False
    return start is not None and native.start_of(pid) == start


def _waits(here: CliContext) -> List[DestinationView]:
    spool = os.path.join(here.folder, FOLDER)
    names = spool_names(here.configuration.reports, os.path.isdir(os.path.join(spool, NOTIFY)))
    found = []
    for key, words in names.items():
        there = waiting(os.path.join(spool, key))
        since = there[0].since if there else None
        found.append(DestinationView(words, len(there), since, read_last_try(os.path.join(spool, key))))
    return found


HEALTH_WITHIN = 2.0
"""Seconds for an address to answer, beside what it gives the application."""


def _health(here: CliContext) -> List[Asked]:
    wanted = here.configuration.health
    seconds = HEALTH_WITHIN + (wanted.app_timeout if wanted.app else 0.0)
    found = [ask(address, False, seconds) for address in wanted.http]
    return found + [ask(address, True, seconds) for address in wanted.agent]


Entry = Tuple[str, str]

_STATES = {
    FAILED: "FAILED",
    NOT_TAKEN_BACK: "NOT UNDONE",
    BEGUN: "under way",
    TAKING_BACK: "being undone",
    DONE: "done",
    TAKEN_BACK: "undone",
    WAITING: "not started",
}
"""How steps are in words, the worst first."""


def status_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def run_status(options: argparse.Namespace, here: CliContext) -> int:
    if not here.sees_state():
        here.complain(f"Only {HOST.admin} sees what is in {here.folder}: {HOST.run_as_admin}.")
        return NOT_ROOT
    view = view_of(here)
    if options.json:
        here.dump(as_json(view, here))
    else:
        for label, words in entries(view, here):
            here.entry(label, words)
    return FINE if view.is_looking else WRONG


def as_json(view: StatusView, here: CliContext) -> Dict[str, Any]:
    return {
        "format": 1,
        "version": here.version,
        "folder": here.folder,
        "running": view.is_running,
        "looking": view.is_looking,
        "watcher": view.published,
        "mark": view.mark.value,
        "mark_problem": view.mark.problem,
        "hold": view.hold.value,
        "hold_problem": view.hold.problem,
        "orders_waiting": view.orders,
        "reports": [_destination_as_json(one) for one in view.waits],
        "health": [dict(one._asdict()) for one in view.health],
        "health_problem": health_problem(view.health, here.folder),
        "metrics": dict(view.metrics._asdict()) if view.metrics else None,
    }


def _destination_as_json(one: DestinationView) -> Dict[str, Any]:
    last = one.last
    return {
        "words": one.words,
        "number": one.number,
        "since": one.since,
        "last": last.words,
        "last_at": last.at,
        "refused": last.status,
        "refused_at": last.refused_at,
        "is_refused": last.is_refused,
        "given_up": last.given_up,
        "given_up_last": last.given_up_last,
    }


def entries(view: StatusView, here: CliContext) -> List[Entry]:
    """Labels and words, in the order in which somebody wants to know them."""
    published = view.published or {}
    found = [("Watcher", _service(view, here))]
    if published:
        found += _acting(published)
    found += _machine(view)
    found += [("Health" if number == 0 else "", _answers(one)) for number, one in enumerate(view.health)]
    found += [("Metrics", _metrics(view.metrics))] if view.metrics else []
    found += [("Hold", _hold(view))]
    found += _events(published, view.wall)
    found += [("Problem" if number == 0 else "", one_line(words, 1000)) for number, words in enumerate(_problems(view))]
    found += [("Reports" if number == 0 else "", words) for number, words in enumerate(_reports(view))]
    return found


def _service(view: StatusView, here: CliContext) -> str:
    published = view.published
    if not published:
        return f"NO STATUS in {here.folder}: the watcher never ran here, or ended before it could write one. See {HOST.status()}"
    version = one_line(published.get("version"), 40)
    ago = f", and last reported {duration(view.silent)} ago" if view.silent is not None else ""
    if not view.is_running:
        return f"NOT RUNNING (it was version {version}{ago}). Start it: {HOST.start()}"
    since = _since(published.get("since"), view.wall)
    if view.silent is not None and view.silent > SILENT:
        return f"HANGS, or the system time was changed: version {version}, running {since}{ago}. See {HOST.log()}"
    looks = "polls its events" if view.is_looking else "CAN'T POLL its events"
    return f"running {since}, version {version}, {looks}"


def _acting(published: Mapping[str, Any]) -> List[Entry]:
    name = one_line(published.get("name")) or "(Azure's name for it is not known yet)"
    mode, approve = published.get("mode"), published.get("approve")
    does = OPTIONS["mode"].in_words.get(str(mode), "does nothing that this version knows")
    if mode == MANAGE:
        does += f", and {OPTIONS['approve'].in_words.get(str(approve), 'approves nothing')}"
    return [("Machine", f"{name}; the watcher {does}")]


def _machine(view: StatusView) -> List[Entry]:
    if view.mark.problem:
        advice = "To undo all steps and run all recovery hooks: azure-maintenance recover --force"
        return [("State", f"ITS MARK CAN'T BE READ: {clause(view.mark.problem, 1000)}. {advice}")]
    mark = view.mark.value
    if not mark:
        return [("State", "in service: no mark")]
    holder = mark["holder"]
    whose = (
        "the watcher"
        if holder["kind"] == "watcher"
        else f"{one_line(holder['kind']) or 'run'} {one_line(holder['run'])}"
    )
    events = listed(one_line(event) for event in mark["events"]) or "no event"
    found = [("State", f"{mark['phase'].upper()} by {whose} {_since(mark['since'], view.wall)}, for {events}")]
    for state, words in _STATES.items():
        steps = [_step(step) for step in mark["steps"] if step["state"] == state]
        found += [("", f"{words}: {listed(steps)}")] if steps else []
    unverified = not_verified(mark)
    found += [("", f"not verified: {listed(map(one_line, unverified))}")] if unverified else []
    return found


def _step(step: Mapping[str, Any]) -> str:
    note = one_line(step["note"]) if step["state"] in (FAILED, NOT_TAKEN_BACK) else ""
    return f"{one_line(step['key'])} ({note})" if note else one_line(step["key"])


def _answers(one: Asked) -> str:
    words = one_line(one.words)
    return f"{one.address} DOES NOT ANSWER: {words}" if one.is_in_service is None else f"{one.address} answers: {words}"


def _metrics(view: MetricsView) -> str:
    if view.age is None:
        return f"{view.path} CAN'T BE SEEN: {view.problem}"
    return f"{view.path}, {'NOT WRITTEN FOR' if view.is_stale else 'written'} {duration(view.age)}{'' if view.is_stale else ' ago'}"


def _hold(view: StatusView) -> str:
    if view.hold.problem:
        return f"CAN'T BE READ, so nothing is approved: {view.hold.problem}. Remove it: azure-maintenance release"
    hold = view.hold.value
    if hold is None:
        return "none"
    until = hold.get("until")
    if isinstance(until, (int, float)) and until <= view.wall:
        return f"expired {duration(view.wall - until)} ago"
    ends = f"for another {duration(until - view.wall)}" if isinstance(until, (int, float)) else "until it is released"
    return (
        f"APPROVALS ARE ON HOLD {ends}, by {one_line(hold.get('by')) or 'unknown'}: {one_line(hold.get('reason'), 500)}"
    )


def _events(published: Mapping[str, Any], wall: float) -> List[Entry]:
    if not published.get("looked_at"):
        return [("Events", "not known")]
    shown = [event for event in _list(published.get("shown")) if isinstance(event, dict)]
    name, suppressed = one_line(published.get("name")), _list(published.get("put_back"))
    words = [line for event in shown for line in _event(event, name, event.get("id") in suppressed, wall)]
    unreadable = len(_list(published.get("unreadable")))
    if unreadable:
        words.append(f"{unreadable} that CAN'T BE READ, see below")
    if not words:
        words = [f"none in the document (polled {one_line(published['looked_at'], 30)})"]
    return [("Events" if number == 0 else "", line) for number, line in enumerate(words)]


def _event(event: Mapping[str, Any], name: str, is_suppressed: bool, wall: float) -> List[str]:
    """What it is; of one of this machine's also what speaks against its approval."""
    status, waits = one_line(event.get("status"), 40), one_line(event.get("waits"), 500)
    resources = [one_line(resource) for resource in _list(event.get("resources"))]
    of = listed("this machine" if resource.lower() == name.lower() else resource for resource in resources)
    at = unix_time(event.get("not_before"))
    words = " ".join([one_line(event.get("type"), 40), one_line(event.get("id")), status, f"of {of}" if of else ""])
    if at is not None:
        words += f", not before {one_line(event['not_before'], 30)} ({_distance(at - wall)})"
    if is_suppressed:
        words += "; the machine was recovered by force despite it"
    if not waits or status.lower() == "started":
        return [one_line(words, 1000)]
    ends = one_line(event.get("ends_by"), 500)
    return [one_line(words, 1000), f"not approved: {waits}"] + ([f"what ends it: {ends}"] if ends else [])


def _distance(left: float) -> str:
    return f"in {duration(left)}" if left >= 0.5 else f"{duration(-left)} ago"


def _list(given: Any) -> List[Any]:
    return given if isinstance(given, list) else []


def _problems(view: StatusView) -> List[str]:
    given = (view.published or {}).get("problems")
    found = [str(words) for words in given] if isinstance(given, list) and view.is_running else []
    if view.orders:
        found.append(f"{view.orders} command{'' if view.orders == 1 else 's'} not received yet")
    return found


def _reports(view: StatusView) -> List[str]:
    found = []
    for one in view.waits:
        last = one.last
        came = f"; last: {last.words} ({last.at})" if last.words else ""
        if one.number:
            age = f", the oldest for {duration(view.wall - one.since)}" if one.since is not None else ""
            found.append(f"{one.words}: {one.number} WAIT{age}{came}")
        else:
            found.append(f"{one.words}: nothing waits{came}")
        if last.status:
            advice = f". {what_to_do(last.status)}" if last.is_refused else ""
            found.append(f"{one.words}: last refused with HTTP {last.status} ({last.refused_at}){advice}")
        if last.given_up:
            found.append(f"{one.words}: {last.given_up} GIVEN UP so far, the last one {last.given_up_last}")
    return found


def _since(text: Any, wall: float) -> str:
    at = unix_time(text)
    return f"since {one_line(text, 30)}" + ("" if at is None else f" ({duration(wall - at)})")


SUBCOMMANDS = {
    "status": Subcommand(status_arguments, run_status),
}
