# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Step ``iis``: stops sites and application pools when their requests have ended, and starts them again.

Private to this collection.
"""

from typing import Any, List

from .._text import listed
from .step_type import AT_LIMIT, INTERVAL, LIST, Host, Step, StepType, TaskResult, Verdict, Words, at_limit


def _complete(step: Step, host: Host, system: str) -> Words:
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


def _requests(step: Step, direction: str, result: TaskResult) -> Verdict:
    left = int(result["result"]["left"])
    return at_limit(step, left > 0, f"{left} requests are still running", f"{left} requests were still running")


TYPE = StepType(
    name="iis",
    options={
        "sites": dict(LIST, default=[]),
        "app_pools": dict(LIST, default=[]),
        "at_limit": AT_LIMIT,
        "interval": INTERVAL,
    },
    files=("iis/stop.yml", "iis/start.yml"),
    complete=_complete,
    systems=("windows",),
    one_of=("sites", "app_pools"),
    collections=("microsoft.iis",),
    judges={"sites": _has_sites, "app_pools": _has_pools, "requests": _requests},
    repeatable=True,
)
