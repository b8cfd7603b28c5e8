# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How each type of step is done by Ansible's modules, on Windows machines or where it is delegated to another one. Pure.

Those of the machine program's own are in ``module_utils/_machine/step_runners``; load balancers have orders instead (``orders``).

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...module_utils._steps.commands import CHECK_LASTS
from ...module_utils._steps.http import counted
from ...module_utils._steps.services import states_of_iis
from ...module_utils._steps.step_type import Step, TaskResult
from ...module_utils._text import listed
from .elsewhere import AtHand, has_ended, outcome
from .way import Call, Order, Seen, Way, all_of, followed, options, part_of, script, seconds_of, went_well


def _service_before(step: Step, call: Call) -> TaskResult:
    return call(Order("ansible.windows.win_service_info", {"name": step["service"]}))


def _service(hand: AtHand, job: Any, call: Call) -> Seen:
    step, does = hand["step"], hand["direction"] == "do"
    wanted = {"name": step["service"], "state": "stopped" if does else "started"}
    if step.get("start_mode"):  # else Windows starts it at the event's reboot
        wanted["start_mode"] = "manual" if does else step["start_mode"]
    return followed(hand, job, call, Order("ansible.windows.win_service", wanted, lasts=seconds_of(hand)))


COMMAND_LATER = 30  # seconds: so long after its limit Ansible would end it, which the program `timeout` has done before


def _command(hand: AtHand, job: Any, call: Call) -> Seen:
    return followed(hand, job, call, _command_order(hand))


def _command_order(hand: AtHand) -> Order:
    made_by_it = "creates" if hand["direction"] == "do" else "removes"
    options = {made_by_it: hand["step"].get("creates")}
    return _order_of_command(hand["step"], part_of(hand), seconds_of(hand), options)


def _command_check(step: Step, call: Call) -> TaskResult:
    """Every exit code is an answer."""
    order = _order_of_command(step, step["check"], CHECK_LASTS, {})
    return {**call(order._replace(lasts=0, failure_answers=True)), "changed": False}


def _order_of_command(step: Step, part: Mapping[str, Any], seconds: int, more: Mapping[str, Any]) -> Order:
    common: dict[str, Any] = {"chdir": step.get("chdir"), **more}
    if step["system"] == "windows":
        given = options(argv=part.get("argv"), cmd=part.get("cmd"), **common)
        return Order("ansible.windows.win_command", given, seconds, step["environment"])
    common["argv"] = ["timeout", "-k", "5", str(seconds), *part["argv"]]
    if step["environment"]:  # it may have secrets, and everybody there sees a command line
        common["expand_argument_vars"] = False
    return Order("ansible.builtin.command", options(**common), seconds + COMMAND_LATER, step["environment"])


HTTP_LATER = 5  # seconds: so long after its limit Ansible would end the request, which has given up before


def _http(hand: AtHand, job: Any, call: Call) -> Seen:
    step, part = hand["step"], part_of(hand)
    seen = followed(hand, job, call, _http_request(step, part, seconds_of(hand)))
    if hand["awaited"] or not part.get("until") or "went_wrong" in seen.result or not has_ended(seen.result):
        return seen
    # The job also has how many good answers in a row there have been so far
    came = counted(step, hand["direction"], call(_http_question(step, part["until"])), (job or {}).get("good", 0))
    return Seen(came, ["until"], dict(seen.job, good=came["good"]))


def _http_request(step: Step, part: Mapping[str, Any], seconds: int) -> Order:
    common = dict(
        _http_options(step), url=part["url"], method=part["method"], status_code=part["status"], timeout=seconds
    )
    if step["system"] != "windows":
        given = options(body=part.get("body"), body_format=part["body_format"], headers=part["headers"], **common)
        return Order("ansible.builtin.uri", given, seconds + HTTP_LATER)
    # .NET takes the content type on its own, not among the headers
    types = [value for name, value in part["headers"].items() if name.lower() == "content-type"]
    headers = {name: value for name, value in part["headers"].items() if name.lower() != "content-type"}
    content_type = types[0] if types else None
    given = options(body=part.get("body"), headers=headers, content_type=content_type, **common)
    return Order("ansible.windows.win_uri", given, seconds + HTTP_LATER)


def _http_question(step: Step, until: Mapping[str, Any]) -> Order:
    common = dict(_http_options(step), url=until["url"], method=until["method"], headers=until["headers"])
    given = options(timeout=until["request_timeout"], return_content=True, **common)
    if step["system"] != "windows":
        return Order("ansible.builtin.uri", given, failure_answers=True)
    return Order("ansible.windows.win_uri", dict(given, status_code=until["status"]), failure_answers=True)


def _http_check(step: Step, call: Call) -> TaskResult:
    return {**call(_http_question(step, step["check"])), "changed": False}


def _http_options(step: Step) -> dict[str, Any]:
    return {
        "url_username": step.get("user"),
        "url_password": step.get("password"),
        "force_basic_auth": "user" in step,
        "validate_certs": step["validate_certs"],
        "use_proxy": step["use_proxy"],
        "follow_redirects": "none",
    }


def _connections(hand: AtHand, job: Any, call: Call) -> Seen:
    step = hand["step"]
    if hand["direction"] == "do":
        first_left = hand["left"] if job is None else job
        came = call(script("connections.ps1", Port=int(step["port"]), Exclude=",".join(step["exclude"])))
        return Seen({**came, "looked": first_left - hand["left"]}, ["gone"], first_left)
    options = {
        "port": step["port"],
        "host": step["listen_address"],
        "state": "started",
        "connect_timeout": 1,
        "timeout": 1,
    }
    return Seen(call(Order("ansible.windows.win_wait_for", options, failure_answers=True)), ["listens"])


IIS_THERE = ("sites", "app_pools")
"""What is asked about a list of what there is."""


def _iis_before(step: Step, call: Call) -> TaskResult:
    """The sites and the application pools that there are; what went wrong with one stays."""
    sites = call(Order("microsoft.iis.website_info", {}))
    if "went_wrong" in sites:
        return sites
    pools = call(Order("microsoft.iis.web_app_pool_info", {}))
    return {**sites, **pools}


def _iis(hand: AtHand, job: Any, call: Call) -> Seen:
    return _iis_stop(hand, job, call) if hand["direction"] == "do" else _iis_start(hand, call)


def _iis_stop(hand: AtHand, job: Any, call: Call) -> Seen:
    """First the sites. When their requests have ended, the application pools. The job is where those requests run."""
    step = hand["step"]
    if job is None:
        there = _iis_before(step, call)
        if _iis_lacks(hand, there):
            return Seen(there, IIS_THERE)
        stopped = _iis_set("website", step["sites"], "stopped", call)
        if not went_well(stopped):
            return Seen(stopped)
        job = [
            {"pool": site.get("application_pool"), "id": site.get("site_id")}
            for site in there.get("site") or []
            if site["name"] in step["sites"]
        ]
    running = call(
        script(
            "iis_requests.ps1",
            Pools="\n".join(step["app_pools"]),
            SitePools="\n".join(str(site["pool"]) for site in job),
            SiteIds="\n".join(str(site["id"]) for site in job),
        )
    )
    requests = Seen(running, ["requests"], job)
    if outcome(hand, requests.result, requests.about)["state"] != "done":
        return requests
    stopped = _iis_set("web_app_pool", step["app_pools"], "stopped", call)
    return requests if went_well(stopped) else Seen(stopped, job=job)


def _iis_start(hand: AtHand, call: Call) -> Seen:
    step = hand["step"]
    there = _iis_before(step, call)
    if _iis_lacks(hand, there):
        return Seen(there, IIS_THERE)
    started = _iis_set("web_app_pool", step["app_pools"], "started", call)
    return Seen(_iis_set("website", step["sites"], "started", call) if went_well(started) else started)


def _iis_lacks(hand: AtHand, there: TaskResult) -> bool:
    """Whether the machine can't be asked, or has not got what the step is about."""
    return outcome(hand, there, IIS_THERE)["state"] == "failed"


def _iis_set(kind: str, names: Sequence[str], state: str, call: Call) -> TaskResult:
    """These modules return nothing but whether they have changed something: where one has not, IIS is asked."""
    done = [call(Order(f"microsoft.iis.{kind}", {"name": name, "state": state})) for name in names]
    result = all_of(done)
    if not went_well(result) or all(one.get("changed") for one in done):
        return result
    there = call(Order(f"microsoft.iis.{kind}_info", {}))
    if "went_wrong" in there:
        return there
    states = states_of_iis(there)[_IIS_KINDS[kind]]
    others = [f"{name} as {states.get(name)}" for name in names if states.get(name) not in _IIS_STATES[state]]
    words = f"microsoft.iis.{kind} changed nothing, and IIS shows {listed(others)}, not as {state}"
    return {"went_wrong": {"failed": True, "msg": words}} if others else result


_IIS_KINDS = {"website": "sites", "web_app_pool": "app_pools"}
_IIS_STATES = {"started": ("Started", "Starting"), "stopped": ("Stopped", "Stopping")}


FAILOVER_CLUSTER_ASKED = "asked"
"""The job: the cluster is asked once to suspend or resume the node."""


def _failover_cluster_before(step: Step, call: Call) -> TaskResult:
    return call(_cluster_node(step, "do", begins=False))


def _failover_cluster(hand: AtHand, job: Any, call: Call) -> Seen:
    came = call(_cluster_node(hand["step"], hand["direction"], begins=job is None))
    asked = (came.get("result") or {}).get("asked")
    return Seen(came, ["followed"], FAILOVER_CLUSTER_ASKED if asked else job)


def _cluster_node(step: Step, direction: str, begins: bool) -> Order:
    return script(
        "cluster_node.ps1",
        Action="suspend" if direction == "do" else "resume",
        Node=step.get("node", ""),
        Cluster=step.get("cluster", ""),
        ForceDrain=step["force_drain"],
        FailBack=step["fail_back"],
        Begins=begins,
    )


WAYS: dict[str, Way] = {
    "service": Way(_service, _service_before),
    "command": Way(_command, _command_check),
    "http": Way(_http, _http_check),
    "connections": Way(_connections),
    "iis": Way(_iis, _iis_before),
    "failover_cluster": Way(_failover_cluster, _failover_cluster_before),
}
"""By the type's name."""

PROOFS = {
    "ansible.builtin.command": "rc",
    "ansible.builtin.uri": "status",
    "ansible.windows.win_command": "rc",
    "ansible.windows.win_powershell": "result",
    "ansible.windows.win_service": "state",
    "ansible.windows.win_service_info": "services",
    "ansible.windows.win_uri": "status_code",
    "microsoft.iis.web_app_pool_info": "app_pools",
    "microsoft.iis.website_info": "site",
}
"""The field that a module returns when it has done its work; those that change IIS return none, and load balancers are judged by their type."""
