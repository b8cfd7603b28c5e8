# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Step ``iis``, by Ansible's modules.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....module_utils._steps.step_type import Step, TaskResult
from ..elsewhere import AtHand, outcome
from .scripts import script
from .way import Call, Order, Seen, Way, all_of, went_well

THERE = ("sites", "app_pools")
"""What is asked about a list of what there is."""


def _before(step: Step, call: Call) -> TaskResult:
    """The sites and the application pools that there are; what went wrong with one stays."""
    sites = call(Order("microsoft.iis.website_info", {}))
    if "went_wrong" in sites:
        return sites
    pools = call(Order("microsoft.iis.web_app_pool_info", {}))
    return {**sites, **pools}


def _look(hand: AtHand, job: Any, call: Call) -> Seen:
    return _stop(hand, job, call) if hand["direction"] == "do" else _start(hand, call)


def _stop(hand: AtHand, job: Any, call: Call) -> Seen:
    """First the sites. When their requests have ended, the application pools. The job is where those requests run."""
    step = hand["step"]
    if job is None:
        there = _before(step, call)
        if _lacks(hand, there):
            return Seen(there, THERE)
        stopped = _set("website", step["sites"], "stopped", call)
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
    stopped = _set("web_app_pool", step["app_pools"], "stopped", call)
    return requests if went_well(stopped) else Seen(stopped, job=job)


def _start(hand: AtHand, call: Call) -> Seen:
    step = hand["step"]
    there = _before(step, call)
    if _lacks(hand, there):
        return Seen(there, THERE)
    started = _set("web_app_pool", step["app_pools"], "started", call)
    return Seen(_set("website", step["sites"], "started", call) if went_well(started) else started)


def _lacks(hand: AtHand, there: TaskResult) -> bool:
    """Whether the machine can't be asked, or has not got what the step is about."""
    return outcome(hand, there, THERE)["state"] == "failed"


def _set(kind: str, names: Sequence[str], state: str, call: Call) -> TaskResult:
    return all_of([call(Order(f"microsoft.iis.{kind}", {"name": name, "state": state})) for name in names])


WAY = Way(_look, _before)
