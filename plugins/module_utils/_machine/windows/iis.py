# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Step ``iis`` on the machine itself, by IIS's own ``appcmd.exe``.

Private to this collection.
"""

import os
from typing import Any, Dict, List
from xml.etree import ElementTree

from ..._clock import Clock, Deadline
from ..._steps.checks import StepError
from ..._steps.iis import TYPE
from ..._steps.step_type import Step, Verdict
from ..._text import one_line
from ..job_runner import JobRunner, answer, poll_until_done
from ..step_runner import DONE, FAILED, InitialState, RunnerFailed, StepRun
from ..supervisor import Work
from . import programs

APPCMD = [os.path.join(os.environ.get("SYSTEMROOT", r"C:\Windows"), "System32", "inetsrv", "appcmd.exe")]
WITHIN = 20.0
"""Seconds that it has to answer."""

_KINDS = {"site": "site", "apppool": "application pool"}


class IisRunner(JobRunner):
    """Stops sites, waits for their requests, and stops application pools; and starts both."""

    beyond = 2 * WITHIN

    def before(self, step: Step) -> InitialState:
        try:
            found: InitialState = TYPE.initial_state(step, _there())
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
        return TYPE.judges["requests"](step, "do", {"result": {"left": len(ours)}})

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
    said = programs.ask([*APPCMD, "list", what, "/xml"], WITHIN)
    try:
        root = ElementTree.fromstring(said.text.strip())
        if root.tag != "appcmd":
            raise ValueError(f"its answer begins with {root.tag}")
    except (ElementTree.ParseError, ValueError) as error:
        why = f"exit code {said.code}, {programs.words_of(said)}" if said.code else one_line(error)
        raise RunnerFailed(f"appcmd.exe does not list what IIS has ({what}): {why}") from error
    if said.code and list(root.iter("ERROR")) and not list(root.iter(element)):
        raise RunnerFailed(f"appcmd.exe does not list what IIS has ({what}): {programs.words_of(said)}")
    return [dict(one.attrib) for one in root.iter(element)]


def _do(verb: str, what: str, name: str) -> None:
    said = programs.ask([*APPCMD, verb, what, f"/{what}.name:{name}"], WITHIN)
    if said.code:
        raise RunnerFailed(f"{_KINDS[what]} {name} could not be {_DONE[verb]}: {programs.words_of(said)}")


_DONE = {"stop": "stopped", "start": "started"}
