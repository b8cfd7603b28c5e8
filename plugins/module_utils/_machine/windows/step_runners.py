# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a Windows machine does what it does in its own way: ``service`` by the service manager, ``iis`` by IIS's own ``appcmd.exe``, and
``failover_cluster`` by the cluster's own cmdlets, in the script of role ``drain`` that Windows PowerShell runs.

Private to this collection.
"""

import json
import math
import os
import pkgutil
import subprocess
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Type
from xml.etree import ElementTree

from ..._clock import Clock, Deadline
from ..._steps.services import FAILOVER_CLUSTER, IIS, initial_state_on_windows
from ..._steps.step_type import MOST, Step, StepError, Verdict
from ..._text import one_line
from ..job_runner import JobRunner, answer, answer_to, poll_until_done
from ..step_runner import DONE, FAILED, InitialState, RunnerFailed, StepRun
from ..supervisor import Work
from . import platform, services

_NO_WINDOW = 0x8000000


class Answer(NamedTuple):
    code: int
    text: str  # what it wrote, errors among it


def ask(argv: List[str], within: float, environment: Optional[Mapping[str, str]] = None) -> Answer:
    """Run it to its end.

    :arg within: seconds
    :arg environment: variables in addition
    :raises RunnerFailed: when it can't be run, or does not end in time
    """
    name = os.path.basename(argv[0])
    flags = _NO_WINDOW if os.name == "nt" else 0
    try:
        # There is no AnsibleModule here whose run_command could be called.
        process = subprocess.Popen(  # pylint: disable=ansible-bad-function
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=dict(os.environ, **(environment or {})),
            creationflags=flags,
        )
    except OSError as error:
        raise RunnerFailed(f"{argv[0]} can't be run: {one_line(error.strerror or error)}") from error
    with process:
        try:
            said = process.communicate(timeout=within)[0]
        except subprocess.TimeoutExpired as error:
            process.kill()
            raise RunnerFailed(f"{name} did not answer within {within:g} s") from error
    return Answer(process.returncode, platform.text_of(said))


def words_of(answer: Answer) -> str:
    """Its last words, for people."""
    return one_line(answer.text, MOST) or "it said nothing"


APPCMD = [os.path.join(platform.SYSTEM32, "inetsrv", "appcmd.exe")]
WITHIN = 20.0
"""Seconds that it has to answer."""

_KINDS = {"site": "site", "apppool": "application pool"}


class IisRunner(JobRunner):
    """Stops sites, waits for their requests, and stops application pools; and starts both."""

    beyond = 2 * WITHIN

    def before(self, step: Step) -> InitialState:
        try:
            found: InitialState = IIS.initial_state(step, _there())
        except StepError as error:
            raise RunnerFailed(str(error)) from error
        return found

    def work(self, step_run: StepRun) -> Work:
        return lambda: _stop(step_run) if step_run.direction == "do" else _start(step_run)


def _stop(step_run: StepRun) -> Dict[str, Any]:
    step, deadline = step_run.step, Deadline(Clock(), step_run.limit)
    there = _there()
    sites = [site for site in there["site"] if site["name"] in step["sites"]]
    for site in sites:
        if site["state"] != "Stopped":
            _do("stop", "site", site["name"])
    ids = [site["site_id"] for site in sites]

    def poll(left: float) -> Verdict:
        requests = _listed("requests", "REQUEST")
        ours = [one for one in requests if one.get("SITE.ID") in ids or one.get("APPPOOL.NAME") in step["app_pools"]]
        return IIS.judges["requests"](step, "do", {"result": {"left": len(ours)}})

    verdict = poll_until_done(step["interval"], deadline.remaining(), poll)
    if verdict.problem:
        return answer(FAILED, verdict.problem)
    running = [pool["name"] for pool in there["app_pools"] if pool["attributes"]["state"] != "Stopped"]
    for name in step["app_pools"]:
        if name in running:
            _do("stop", "apppool", name)
    return answer(DONE, verdict.note)


def _start(step_run: StepRun) -> Dict[str, Any]:
    step, there = step_run.step, _there()
    states = {pool["name"]: pool["attributes"]["state"] for pool in there["app_pools"]}
    for name in step["app_pools"]:
        if states.get(name) != "Started":
            _do("start", "apppool", name)
    states = {site["name"]: site["state"] for site in there["site"]}
    for name in step["sites"]:
        if states.get(name) != "Started":
            _do("start", "site", name)
    return answer(DONE)


def _there() -> Dict[str, Any]:
    """All sites and application pools, as the modules of microsoft.iis say it."""
    sites = _listed("site", "SITE")
    pools = _listed("apppool", "APPPOOL")
    return {
        "site": [
            {"name": one.get("SITE.NAME"), "site_id": one.get("SITE.ID"), "state": one.get("state")} for one in sites
        ],
        "app_pools": [{"name": one.get("APPPOOL.NAME"), "attributes": {"state": one.get("state")}} for one in pools],
    }


def _listed(what: str, element: str) -> List[Dict[str, str]]:
    """The attributes of each.

    :raises RunnerFailed: when appcmd does not say
    """
    said = ask([*APPCMD, "list", what, "/xml"], WITHIN)
    try:
        root = ElementTree.fromstring(said.text.strip())
        if root.tag != "appcmd":
            raise ValueError(f"its answer begins with {root.tag}")
    except (ElementTree.ParseError, ValueError) as error:
        why = f"exit code {said.code}, {words_of(said)}" if said.code else one_line(error)
        raise RunnerFailed(f"appcmd.exe does not list what IIS has ({what}): {why}") from error
    if said.code and list(root.iter("ERROR")) and not list(root.iter(element)):
        raise RunnerFailed(f"appcmd.exe does not list what IIS has ({what}): {words_of(said)}")
    return [dict(one.attrib) for one in root.iter(element)]


def _do(verb: str, what: str, name: str) -> None:
    said = ask([*APPCMD, verb, what, f"/{what}.name:{name}"], WITHIN)
    if said.code:
        raise RunnerFailed(f"{_KINDS[what]} {name} could not be {_DONE[verb]}: {words_of(said)}")


_DONE = {"stop": "stopped", "start": "started"}


POWERSHELL = [*platform.POWERSHELL, "-Command"]
SCRIPT = "cluster_node.ps1"
_BEGINS = "azure-maintenance:"
_PARAMETERS = "AZURE_MAINTENANCE_PARAMETERS"  # a variable: nothing of the user's becomes text of a script
_START_TAKES = 30.0  # seconds, at most, on a busy machine
_EACH_LASTS = 20.0  # seconds that one call waits; a start of PowerShell takes about two

# As ansible.windows.win_powershell calls it: with $Ansible, to which the script says what it has to say
_FRAME = """$ErrorActionPreference = 'Stop'
$Ansible = @{{ Result = $null; Changed = $false }}
$parameters = @{{}}
(ConvertFrom-Json $env:{variable}).PSObject.Properties | ForEach-Object {{ $parameters[$_.Name] = $_.Value }}
. {{
{script}
}} @parameters
'{begins}' + (ConvertTo-Json -Compress $Ansible.Result)"""


class ClusterRunner(JobRunner):
    """Suspends this machine's node and waits until its roles have moved away; and resumes it."""

    beyond = _START_TAKES

    def before(self, step: Step) -> InitialState:
        if not script():
            raise RunnerFailed("this program lacks its script for failover clusters: install it again")
        seen = asked(step, "do", begins=False, seconds=1)
        try:
            found: InitialState = FAILOVER_CLUSTER.initial_state(step, {"result": seen})
        except StepError as error:
            raise RunnerFailed(str(error)) from error
        return found

    def work(self, step_run: StepRun) -> Work:
        return lambda: answer_to(_followed(step_run))


def _followed(step_run: StepRun) -> Verdict:
    deadline = Deadline(Clock(), step_run.limit)
    begins = True
    while True:
        lasts = max(1, math.floor(min(_EACH_LASTS, deadline.remaining())))
        seen = asked(step_run.step, step_run.direction, begins, lasts)
        begins = begins and not seen.get("asked")
        verdict = FAILOVER_CLUSTER.judges["followed"](step_run.step, step_run.direction, {"result": seen})
        if verdict.done:
            return verdict
        if deadline.remaining() <= step_run.step["interval"]:
            return Verdict(False, verdict.problem or "the cluster has not said that it is done")


def asked(step: Step, direction: str, begins: bool, seconds: int) -> Dict[str, Any]:
    """One call of the script.

    :raises RunnerFailed: when it did not run to its end
    """
    parameters = {
        "Action": "suspend" if direction == "do" else "resume",
        "Node": step.get("node") or "",
        "Cluster": step.get("cluster") or "",
        "ForceDrain": bool(step["force_drain"]),
        "FailBack": step["fail_back"],
        "Begins": begins,
        "Interval": max(1, int(step["interval"])),
        "Limit": seconds,
    }
    text = _FRAME.format(variable=_PARAMETERS, script=script(), begins=_BEGINS)
    said = ask([*POWERSHELL, text], seconds + _START_TAKES, {_PARAMETERS: json.dumps(parameters)})
    lines: List[str] = [line for line in said.text.splitlines() if line.startswith(_BEGINS)]
    try:
        found = json.loads(lines[-1][len(_BEGINS) :])
        return {key: found[key] for key in ("node", "state", "drain", "done", "asked", "problem")}
    except (IndexError, ValueError, KeyError, TypeError) as error:
        raise RunnerFailed(
            f"Windows PowerShell did not run the cluster's cmdlets (exit code {said.code}): {words_of(said)}. Where a policy "
            "of the domain lets it run no scripts, or restricts its language, this step can't be done"
        ) from error


def script() -> str:
    """The script of role drain; "" where it is not there."""
    try:
        found = pkgutil.get_data(__package__, SCRIPT)
    except OSError:
        found = None
    return (found or b"").decode("ascii").replace("\r\n", "\n")


class ServiceRunner(JobRunner):
    """Stops a service and keeps it from starting at a boot, and starts it again."""

    def before(self, step: Step) -> InitialState:
        service = step["service"]
        try:
            state = services.state_of(service)
            start_mode = services.start_mode_of(service) if state is not None else ""
        except OSError as error:
            words = one_line(error.strerror or error)
            raise RunnerFailed(f"Windows could not say how service {service} is: {words}") from error
        if state is None:
            raise RunnerFailed(f"this machine has no service {service}")
        return initial_state_on_windows(step, state in (services.RUNNING, services.START_PENDING), start_mode)

    def work(self, step_run: StepRun) -> Work:
        is_done, service = step_run.direction == "do", step_run.step["service"]
        start_mode = step_run.initial.get("start_mode")

        def run() -> Dict[str, Any]:
            try:
                if start_mode:
                    services.set_start_mode(service, "manual" if is_done else start_mode)
                (services.stop if is_done else services.start)(service)
            except FileNotFoundError:
                return answer(FAILED, f"this machine has no service {service}")
            except OSError as error:
                return answer(FAILED, one_line(error.strerror or error))
            return answer(DONE)

        return run


KINDS: Dict[str, Type[JobRunner]] = {
    "service": ServiceRunner,
    "iis": IisRunner,
    "failover_cluster": ClusterRunner,
}
