# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Step ``haproxy``: takes a server out at its load balancers and waits for its sessions; makes it ready again.

Private to this collection.
"""

import re
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from .._text import listed, one_line
from .step_type import (
    AT_LIMIT,
    BECOME,
    INTERVAL,
    LIST,
    MOST,
    Host,
    Step,
    StepError,
    StepType,
    TaskResult,
    Verdict,
    Words,
    at_limit,
    rounds,
)


def _complete(step: Step, host: Host, system: str) -> Words:
    balancers: List[str] = []
    for name in step["load_balancers"]:
        members = host.members(name)
        if members is None:
            raise StepError(f"load_balancers names {name!r}, which is neither a host nor a group of the inventory")
        balancers.extend(member for member in members if member not in balancers)
    if not balancers:
        raise StepError("load_balancers names no host")
    step["load_balancers"] = balancers
    step.setdefault("server", host.name)
    step["state"] = "drain" if step["mode"] == "drain" else "disabled"  # as the module calls it
    # The module takes one backend or all of them: an empty name is "all that have this server".
    step["targets"] = [
        {"load_balancer": balancer, "backend": backend}
        for balancer in balancers
        for backend in step["backends"] or [""]
    ]
    become = {"become": step["become"]} if "become" in step else {}
    step["places"] = [dict(become, load_balancer=balancer, socket=step["socket"]) for balancer in balancers]
    where = f"server {step['server']} on {listed(balancers)}"
    return Words(
        where,
        f"{'drain' if step['mode'] == 'drain' else 'put in maintenance'} {where} and wait for its sessions to end",
        f"make ready {where}{' and wait until it is up' if step['wait_up'] else ''}",
    )


_BACKEND = re.compile(r"[A-Za-z0-9_.:-]+\Z")  # letters that HAProxy allows


def _ours(step: Step, initial: Mapping[str, Any]) -> Optional[Step]:
    """Where the server was in service; where an administrator had taken it out, it stays out.

    The initial state has ``servers``: its status in HAProxy, by ``LOAD BALANCER/BACKEND``. It comes out of the machine's own mark: whom the
    controller calls, and what goes to HAProxy, is not the machine's to say.
    """
    targets = []
    for place, status in initial["servers"].items():
        balancer, _slash, backend = place.partition("/")
        is_named = backend in step["backends"] if step["backends"] else _BACKEND.match(backend)
        if balancer in step["load_balancers"] and is_named and not status.startswith(("MAINT", "DRAIN")):
            was_down = {"was_down": True} if status.startswith("DOWN") else {}
            targets.append({"load_balancer": balancer, "backend": backend, **was_down})
    return dict(step, targets=targets) if targets else None


def _initial_state(step: Step, result: TaskResult) -> Dict[str, Any]:
    return {
        "servers": {
            f"{_balancer(item)}/{server['backend']}": server["status"]
            for item in rounds(result)
            for server in item["servers"]
        }
    }


def _holds(step: Step, found: Mapping[str, Any]) -> str:
    """A server that is DOWN takes no connections, and HAProxy does not say whether it is drained beside that."""
    serving = []
    for target in step["targets"]:
        status = found["servers"].get(f"{target['load_balancer']}/{target['backend']}", "")
        if status.startswith(("UP", "no check")):
            serving.append(
                f"{target['load_balancer']} shows {step['server']} of backend {target['backend']} as {one_line(status, MOST)}"
            )
    return listed(serving)


def _orders(step: Step, direction: str) -> List[Dict[str, Any]]:
    """Setting what is set already changes nothing, and the answer is a poll. The module waits only for one backend after the other,
    and a wait in it that is cut off goes on over there: so it never waits.
    """
    become = {"become": step["become"]} if "become" in step else {}
    return [
        dict(become, place=target["load_balancer"], **target, **_module(step, direction, target["backend"]))
        for target in step["targets"]
    ]


def _module(step: Step, direction: str, backend: str) -> Dict[str, Any]:
    place = {"socket": step["socket"], **({"backend": backend} if backend else {})}
    if direction == "before":
        return {"use": "cloudops.azure_maintenance.haproxy_status", "options": {"server": step["server"], **place}}
    state = step["state"] if direction == "do" else "enabled"
    options = {"host": step["server"], "state": state, "fail_on_not_found": bool(backend), **place}
    return {"use": "community.general.haproxy", "options": options}


def _asks(step: Step, direction: str) -> Sequence[str]:
    if direction == "do":
        return ("out", "sessions")
    return ("known", "up") if step["wait_up"] else ("known",)


# What the module found of the server in each backend is in `state_after`: a list, or nothing where it knows no such server.


_UNKNOWN = "unknown"


def _states(result: TaskResult, key: str) -> List[str]:
    return [str(state.get(key) or _UNKNOWN) for state in result.get("state_after") or []]


def _balancer(result: TaskResult) -> str:
    """Which load balancer a round of a loop over the targets was about."""
    return str((result.get("__drain_target") or {}).get("load_balancer", ""))


def _place(step: Step, result: TaskResult) -> Tuple[str, ...]:
    balancer = _balancer(result)
    return (balancer, f"socket {step['socket']}") if balancer else ()


def _known(step: Step, direction: str, result: TaskResult) -> Verdict:
    """After setting: the load balancers have such a server."""
    for item in rounds(result):
        if not _states(item, "status"):
            return Verdict(True, f"{_balancer(item)}: no backend of HAProxy has a server named {step['server']}")
    return Verdict(True)


def _out(step: Step, direction: str, result: TaskResult) -> Verdict:
    """After setting: the server has left. A socket without the right to set anything says so, and the module does not care."""
    for item in rounds(result):
        statuses = _states(item, "status")
        if any(status.startswith(("UP", "no check", _UNKNOWN)) for status in statuses):
            said = one_line(" ".join(item.get("output") or []), MOST) or "nothing"
            return Verdict(
                True,
                f"{_balancer(item)}: HAProxy shows {step['server']} as {listed(statuses)}; it said: {said}"
                " (the stats socket has to be of level admin)",
            )
    return _known(step, direction, result)


def _sessions(step: Step, direction: str, result: TaskResult) -> Verdict:
    """While the server's sessions end. A poll that failed fails the task by itself."""
    if result.get("failed"):
        return Verdict(True)
    counts = [count for item in rounds(result) for count in _states(item, "scur")]
    server = f"server {step['server']}"
    if _UNKNOWN in counts:
        return at_limit(
            step,
            True,
            f"HAProxy does not show how many sessions {server} has",
            f"the sessions of {server} were not shown",
        )
    left = sum(map(int, counts))
    return at_limit(step, left > 0, f"{server} still has {left} sessions", f"{server} still had {left} sessions")


def _up(step: Step, direction: str, result: TaskResult) -> Verdict:
    """While the server comes up. One that just left maintenance is "UP 1/3" until a check has passed. Where it was down before, it may be so after."""
    if result.get("failed"):
        return Verdict(True)
    note = ""
    for item in rounds(result):
        statuses = _states(item, "status")
        shows = f"{_balancer(item)}: HAProxy shows {step['server']} as {listed(statuses)}"
        if all(status in ("UP", "no check") for status in statuses):
            continue
        if not (item.get("__drain_target") or {}).get("was_down"):
            return Verdict(False, f"{shows}, not as UP")
        note = f"{shows}, as it was down before"
    return Verdict(True, "", note)


TYPE = StepType(
    name="haproxy",
    options={
        "load_balancers": dict(LIST, required=True),
        "server": {"type": "str"},
        "backends": dict(LIST, default=[]),
        "socket": {"type": "str", "default": "/run/haproxy/admin.sock"},
        "mode": {"type": "str", "choices": ["drain", "maint"], "default": "drain"},
        "at_limit": AT_LIMIT,
        "interval": INTERVAL,
        "wait_up": {"type": "bool", "default": True},
        "become": BECOME,
    },
    complete=_complete,
    judges={"known": _known, "out": _out, "sessions": _sessions, "up": _up},
    place=_place,
    collections=("community.general",),
    before=_ours,
    repeatable=True,
    initial_state=_initial_state,
    holds=_holds,
    orders=_orders,
    asks=_asks,
)
