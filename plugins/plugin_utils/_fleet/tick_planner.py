# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who is called next, with which requests, and when something may be due though nobody answers. It changes the record, and nothing else.

Private to this collection.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from ...module_utils._core.mark_view import COPIED, LEASE, OURS
from .approving import approve_request, note_sent, to_approve
from .call_schedule import (
    is_to_be_asked,
    is_under_way,
    lookers,
    may_be_called,
    seconds_limit,
    seconds_until_due,
    spot_scopes,
    unseen,
)
from .evaluation import is_given_up, is_handled
from .machine_state import KEPT, Call, MachineState
from .marks import phase, whose
from .run_events import not_before
from .scopes import can_look, sentinels
from .second_looks import to_look_at, to_see_again
from .state import Record, Todo
from .targets import Target, target

LONGEST_LOOK = 100.0
"""Seconds for which a call may wait. Only its answer shows that the machine has polled meanwhile, and a run may end before it comes."""

LONGEST_LOOK_SPOT = 45.0
"""The same on behalf of a Spot machine, whose notice may be 30 s."""

REST_MOVING = 1.0
"""Seconds between two calls of a machine while machines go through their steps."""

REST_WATCHING = 3.0
"""Seconds between two calls of a machine while events are only watched."""


def todo_of(record: Record) -> Todo:
    """The next calls."""
    if record.leaving:
        return _last_todo(record)
    approve = to_approve(record)
    again = set(to_see_again(record))
    looks = to_look_at(record, again)
    targets = {host: target(record, machine, host in looks) for host, machine in record.hosts.items()}
    for host, machine in record.hosts.items():
        if not targets[host]:
            machine.elsewhere = machine.elsewhere._replace(
                before={}
            )  # what is not asked for now would be too old when it is
    idle = not (approve or any(targets.values()) or is_under_way(record))
    looking = lookers(record)
    again |= {host for host, approves in looks.items() if approves and targets[host]}
    requests = _idle_requests(record) if idle else _requests(record, targets, approve, looking)
    requests = {
        host: requests[host]
        for host, machine in record.hosts.items()
        if host in requests
        and _is_free(machine, bool(targets[host]) or host in approve)
        and may_be_called(machine, record.at)
    }
    again &= requests.keys()
    if again:  # the others would not be free when these have answered
        requests = {
            host: asked for host, asked in requests.items() if host in again or host in approve or targets[host]
        }
    pace = Pace(idle, any(targets.values()), {*approve, *again})
    calls = {}
    # They are sent in this order: many take a while on a busy controller, and an approval is not to wait for them.
    for host, asked in sorted(requests.items(), key=lambda item: item[0] not in approve):
        machine = record.hosts[host]
        calls[host] = _call(record, machine, asked, _due(record, machine, targets[host], asked, pace))
    allowed = [host for host in targets if targets[host] and _tasks_allowed(record, host)]
    return Todo(calls, allowed, idle, _until_due(record, calls))


def sent(record: Record, hosts: Collection[str] | None = None) -> dict[str, Call]:
    """Note that the calls of ``todo`` are being made, or those of these hosts; returns them. An approval may have been accepted from here on,
    whatever comes back.
    """
    calls = record.todo.calls
    made = {host: calls[host] for host in (list(calls) if hosts is None else hosts) if host in calls}
    for host, call in made.items():
        machine = record.hosts[host]
        del record.todo.calls[host]
        machine.flying = call
        if machine.begun is None and any(one["do"] == "go" and one["to"] == "prepared" for one in call["requests"]):
            machine.begun = call["decided"]
        note_sent(record, machine)
    return made


def _last_todo(record: Record) -> Todo:
    """Nobody is to wait for the leases of a run that leaves its marks to whoever comes."""
    calls = {
        host: _call(record, machine, [{"do": "release"}], record.at)
        for host, machine in record.hosts.items()
        if whose(record, machine) == OURS
    }
    return Todo(calls)


def _is_free(machine: MachineState, is_needed: bool) -> bool:
    """Whether no call to it is under way; one that only waits for a change is given up where there is something to do for the machine."""
    call = machine.flying
    return call is None or (is_needed and only_waits(call))


def only_waits(call: Call) -> bool:
    """Whether the call changes nothing, and ends when the machine is shown something new."""
    return any(request.get("wait") for request in call["requests"])


def _begins(machine: MachineState, goal: Target) -> bool:
    """Whether a machine is to turn round, which was decided by what it has just answered."""
    under_way = {"": "", "preparing": "prepared", "recovering": "recovered"}
    return goal.to != under_way.get(phase(machine))


# ---- requests ----


def _requests(
    record: Record,
    targets: Mapping[str, Target | None],
    approve: Mapping[str, list[str]],
    looking: Collection[str],
) -> dict[str, list[dict[str, Any]]]:
    """What is asked while something is under way: whoever does not approve, which ends with a look, looks at once."""
    asked: dict[str, list[dict[str, Any]]] = {}
    for host, machine in record.hosts.items():
        requests = [*_hello(machine, record.at), *_put_aside(record, machine)]
        goal = targets[host]
        if host in approve:
            requests.append(approve_request(record, machine, approve[host]))
        elif goal:
            requests += [_go(machine, goal, record), _look(machine, 0.0)]
        elif host in looking or requests:
            requests.append(_look(machine, 0.0))
        if requests:
            asked[host] = requests
    return asked


def _idle_requests(record: Record) -> dict[str, list[dict[str, Any]]]:
    """A sentinel of each scope waits for a change; who has not been seen for long looks at once."""
    chosen = [record.hosts[host] for host in sentinels(record).values()]
    wait, spots = _wait(record), spot_scopes(record)
    asked: dict[str, list[dict[str, Any]]] = {}
    for machine in chosen:
        waits = can_look(machine) and machine.seen.incarnation is not None
        longest = LONGEST_LOOK_SPOT if machine.scope in spots else LONGEST_LOOK
        asked[machine.host] = [_look(machine, min(wait, longest) if waits else 0.0)]
    for host in unseen(record):
        machine = record.hosts[host]
        asked[host] = [*_hello(machine, record.at), _look(machine, 0.0)]
    return asked


def _hello(machine: MachineState, at: float) -> list[dict[str, Any]]:
    hello = {"do": "hello", **({"domain": True} if machine.options.max_domains else {})}
    return [hello] if is_to_be_asked(machine, at) else []


def _put_aside(record: Record, machine: MachineState) -> list[dict[str, Any]]:
    """Of the mark of the VM of which a machine is a copy nothing was done there."""
    is_copied = whose(record, machine) == COPIED and not record.run.check
    return [{"do": "put_aside", "vm_id": machine.who.vm_id}] if is_copied else []


def _wait(record: Record) -> float:
    """For how many seconds a call waits."""
    return max(min(LONGEST_LOOK, seconds_until_due(record, record.at)), 1.0)


def _look(machine: MachineState, wait: float) -> dict[str, Any]:
    return {"do": "look", "wait": wait, "since": machine.seen.incarnation if wait else None}


def _go(machine: MachineState, goal: Target, record: Record) -> dict[str, Any]:
    return {
        "do": "go",
        "to": goal.to,
        "events": goal.events,
        "left": round(goal.left, 1),
        "lease": _lease(record),
        # The first call shows that there is a mark, and the next one, which follows at once, waits for what comes of its steps. A Windows
        # machine has none of its own.
        "stay": machine.given.is_linux and machine.mark is not None,
        "before": dict(machine.elsewhere.before),
        "outcomes": dict(machine.elsewhere.outcomes),
        "take": goal.take,
        "unmarked": False,
        "no_new_steps": goal.no_new_steps,
        "redo_after_reboot": goal.redo_after_reboot,
        "replace_outage": goal.replace_outage,
        "looks": goal.looks or not goal.no_new_steps,
        "only_marked": goal.looks,
        **({"restore": machine.mark} if machine.lost_mark == KEPT else {}),
    }


def _lease(record: Record) -> float:
    """Seconds for which a mark holds without being renewed: no tick begins while the user's own task files run."""
    return LEASE + max(machine.given.task_seconds for machine in record.hosts.values())


def _call(record: Record, machine: MachineState, requests: list[dict[str, Any]], due: float) -> Call:
    machine.number += 1
    wait = max((float(request.get("wait") or 0.0) for request in requests), default=0.0)
    return {
        "requests": requests,
        "run": record.run.name,
        "number": machine.number,
        "seconds": wait + seconds_limit(machine),
        "resource_name": machine.name,
        "vm_id": machine.who.vm_id,
        "heard": machine.said.heard,
        "decided": record.at,
        "due": due,
    }


# ---- the rest ----


def _tasks_allowed(record: Record, host: str) -> bool:
    """Whether the user's own task files may run for a machine: nothing else may become due meanwhile.

    Of two events that stand in each other's way the earlier one goes first.
    """
    seconds = record.hosts[host].given.task_seconds or record.hosts[host].given.needs
    coming = [entry for entry in record.events.values() if is_handled(entry) and entry.started is None]
    own = [not_before(entry) for entry in coming if host in entry.affected and not is_given_up(entry)]
    first = min(own, default=math.inf)
    return not any(
        host not in entry.affected and record.at <= not_before(entry) <= min(record.at + seconds, first)
        for entry in coming
        if not is_given_up(entry)
    )


class Pace(NamedTuple):
    """What the calls of a pass have in common.

    moves: machines go through their steps
    now: hosts that are called at once, whenever they were called last
    """

    idle: bool
    moves: bool
    now: Collection[str]


def _due(
    record: Record,
    machine: MachineState,
    goal: Target | None,
    requests: Collection[Mapping[str, Any]],
    pace: Pace,
) -> float:
    """When a machine is called: it has a rest between two calls, but where it begins something, or the call itself waits."""
    if machine.answered is None or machine.host in pace.now or any(one.get("wait") for one in requests):
        return record.at
    if goal and (machine.mark is None or _begins(machine, goal)):
        return record.at
    return max(record.at, machine.answered + _rest(record, machine, goal, pace))


def _rest(record: Record, machine: MachineState, goal: Target | None, pace: Pace) -> float:
    """Seconds between two calls of a machine."""
    if goal:
        came = [one.get("state") for one in machine.elsewhere.outcomes.values()]
        # What others have done is noted at once, and a call of a Linux machine lasts as long as its own steps do.
        is_news = "pending" not in came and bool(came or machine.elsewhere.before)
        return 0.0 if is_news or (machine.given.is_linux and not came) else REST_MOVING
    return REST_MOVING if pace.idle or pace.moves else REST_WATCHING


def _until_due(record: Record, calls: Mapping[str, Call]) -> float:
    """Seconds until the first of the calls; where there are none, after which something may be due though no machine answers."""
    if calls:
        return max(0.0, min(call["due"] for call in calls.values()) - record.at)
    again = [machine.again - record.at for machine in record.hosts.values() if not machine.aside]
    due = [seconds for seconds in again if seconds > 0]
    return round(max(min([*due, REST_WATCHING]), 0.1), 1)
