# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps that stop what runs on the machine, and start it again: ``service``; ``iis``, sites and application pools when their requests
have ended; ``failover_cluster``, which suspends a node, drains its roles and resumes it.

Private to this collection.
"""

from typing import Any, Dict, List, Mapping, Optional

from .._text import listed
from .step_type import (
    AT_LIMIT,
    BECOME,
    INTERVAL,
    LIST,
    Host,
    Step,
    StepError,
    StepType,
    TaskResult,
    Verdict,
    Words,
    at_limit,
)


def _complete_service(step: Step, host: Host, system: str) -> Words:
    service: str = step.get("service") or step["name"]
    step["service"] = service
    if step["name"] == service:
        step["name"] = ""
    return Words(service, f"stop the service {service}", f"start the service {service}")


def _ours_of_service(step: Step, initial: Mapping[str, Any]) -> Optional[Step]:
    """A service that did not run stays stopped. On Windows its start mode is the one to give back."""
    modes = {"start_mode": initial["start_mode"]} if initial.get("start_mode") else {}
    return dict(step, **modes) if initial["ran"] else None


START_MODES = ("auto", "delayed")
"""Of a service that Windows starts at boot."""


def initial_state_on_windows(step: Step, ran: bool, start_mode: str) -> Dict[str, Any]:
    """The start mode is noted where the step is to change it."""
    is_changed = ran and step.get("stay_stopped") and start_mode in START_MODES
    return {"ran": ran, "start_mode": start_mode} if is_changed else {"ran": ran}


def _initial_state_of_service(step: Step, result: TaskResult) -> Dict[str, Any]:
    """By what ansible.windows.win_service_info found."""
    if not result["services"]:
        raise StepError(f"this machine has no service {step['service']}")
    services = result["services"]
    ran = any(service["state"] in ("started", "start_pending") for service in services)
    return initial_state_on_windows(step, ran, services[0].get("start_mode") or "")


def _service_holds(step: Step, found: Mapping[str, Any]) -> str:
    return f"service {step['service']} runs again" if found["ran"] else ""


SERVICE = StepType(
    name="service",
    options={
        "service": {"type": "str"},
        "stay_stopped": {"type": "bool", "default": True},
        "become": BECOME,
    },
    complete=_complete_service,
    one_of=("service", "name"),
    before=_ours_of_service,
    initial_state=_initial_state_of_service,
    holds=_service_holds,
    by_itself=True,
    in_background=True,
    repeatable=True,
)


def _complete_iis(step: Step, host: Host, system: str) -> Words:
    kinds = {"sites": "sites", "app_pools": "application pools"}
    what = " and ".join(f"{words} {listed(step[key])}" for key, words in kinds.items() if step[key])
    return Words(what, f"stop {what} once running requests have ended", f"start {what}")


# The module that stops an application pool makes one that is not there: a slip in a name has to be found before.


def _has_sites(step: Step, direction: str, result: TaskResult) -> Verdict:
    return _has(step["sites"], "site", result.get("site"))


def _has_pools(step: Step, direction: str, result: TaskResult) -> Verdict:
    return _has(step["app_pools"], "application pool", result.get("app_pools"))


def _has(names: List[str], kind: str, found: Any) -> Verdict:
    there = [str(item["name"]) for item in found or []]
    missing = [name for name in names if name not in there]
    if not missing:
        return Verdict(True)
    return Verdict(True, f"IIS has no {kind} named {listed(missing)}; it has {listed(there) or 'none'}")


def _ours_of_iis(step: Step, initial: Mapping[str, Any]) -> Optional[Step]:
    """What was stopped before stays stopped. The initial state has the names of those that ran, by kind."""
    names = {kind: [name for name in step[kind] if name in initial[kind]] for kind in ("sites", "app_pools")}
    return dict(step, **names) if any(names.values()) else None


def _initial_state_of_iis(step: Step, result: TaskResult) -> Dict[str, Any]:
    for verdict in (_has_sites(step, "do", result), _has_pools(step, "do", result)):
        if verdict.problem:
            raise StepError(verdict.problem)
    return {kind: _running(step[kind], states) for kind, states in states_of_iis(result).items()}


def states_of_iis(result: TaskResult) -> Dict[str, Dict[str, Any]]:
    """How the sites and the application pools are that a result lists, by their names."""
    return {
        "sites": {site["name"]: site.get("state") for site in result.get("site") or []},
        "app_pools": {
            pool["name"]: (pool.get("attributes") or {}).get("state") for pool in result.get("app_pools") or []
        },
    }


def _running(names: List[str], states: Mapping[str, Any]) -> List[str]:
    return [name for name in names if states[name] not in ("Stopped", "Stopping")]


def _requests(step: Step, direction: str, result: TaskResult) -> Verdict:
    left = int(result["result"]["left"])
    return at_limit(step, left > 0, f"{left} requests are still running", f"{left} requests were still running")


def _iis_holds(step: Step, found: Mapping[str, Any]) -> str:
    running = [*found["sites"], *found["app_pools"]]
    return f"{listed(running)} {'run' if len(running) > 1 else 'runs'} again" if running else ""


IIS = StepType(
    name="iis",
    options={
        "sites": dict(LIST, default=[]),
        "app_pools": dict(LIST, default=[]),
        "at_limit": AT_LIMIT,
        "interval": INTERVAL,
    },
    complete=_complete_iis,
    systems=("windows",),
    one_of=("sites", "app_pools"),
    collections=("microsoft.iis",),
    judges={"sites": _has_sites, "app_pools": _has_pools, "requests": _requests},
    before=_ours_of_iis,
    initial_state=_initial_state_of_iis,
    holds=_iis_holds,
    by_itself=True,
    repeatable=True,
)


def _complete_failover_cluster(step: Step, host: Host, system: str) -> Words:
    node = f"node {step.get('node', 'of this machine')}"
    return Words(node, f"suspend the {node} and drain its roles", f"resume the {node}, fail-back: {step['fail_back']}")


def _ours_of_failover_cluster(step: Step, initial: Mapping[str, Any]) -> Step:
    """Roles that are still on a node move away in any case; one that an administrator had paused stays paused."""
    return dict(step, undoes="") if initial["paused"] else step


def _initial_state_of_failover_cluster(step: Step, result: TaskResult) -> Dict[str, Any]:
    """By one look of the script, which asks the cluster for nothing."""
    seen = result["result"]
    if not seen["state"]:
        raise StepError(f"the state of node {seen['node']} is not known. {seen['problem']}".strip())
    return {"paused": seen["state"] == "Paused"}


def _failover_cluster_holds(step: Step, found: Mapping[str, Any]) -> str:
    return "" if found["paused"] else "the node is not paused any more"


def _followed(step: Step, direction: str, result: TaskResult) -> Verdict:
    seen = result["result"]
    if seen["done"]:
        return Verdict(True)
    state, drain = (seen.get(key) or "unknown" for key in ("state", "drain"))
    has_failed = direction == "do" and drain == "Failed"
    return Verdict(has_failed, f"node {seen['node']} is {state}, its drain is {drain}. {seen['problem']}".strip())


FAILOVER_CLUSTER = StepType(
    name="failover_cluster",
    options={
        "node": {"type": "str"},
        "cluster": {"type": "str"},
        "force_drain": {"type": "bool", "default": False},
        "fail_back": {"type": "str", "choices": ["immediate", "policy", "none"], "default": "immediate"},
        "interval": INTERVAL,
    },
    complete=_complete_failover_cluster,
    systems=("windows",),
    judges={"followed": _followed},
    before=_ours_of_failover_cluster,
    initial_state=_initial_state_of_failover_cluster,
    holds=_failover_cluster_holds,
    asks_slowly=True,
    by_itself=True,
    repeatable=True,
)
