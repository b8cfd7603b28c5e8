# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Step ``failover_cluster`` on the machine itself, by the cluster's own cmdlets: the script of role ``drain``, run by Windows PowerShell.

Private to this collection.
"""

import json
import math
import os
import pkgutil
from typing import Any, Dict, List

from ..._clock import Clock, Deadline
from ..._steps.failover_cluster import TYPE
from ..._steps.step_type import Step, Verdict
from ..job_runner import JobRunner, answer_to
from ..step_runner import RunnerFailed, StepRun
from ..supervisor import Work
from . import programs

POWERSHELL = [
    os.path.join(
        os.environ.get("SYSTEMROOT", r"C:\Windows"), "System32", "WindowsPowerShell", "v1.0", "powershell.exe"
    ),
    *("-NoLogo", "-NoProfile", "-NonInteractive", "-ExecutionPolicy", "Bypass", "-Command"),
]
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

    def before(self, step: Step) -> Dict[str, Any]:
        if not script():
            raise RunnerFailed("this program lacks its script for failover clusters: install it again")
        return {}

    def work(self, step_run: StepRun) -> Work:
        return lambda: answer_to(_followed(step_run))


def _followed(step_run: StepRun) -> Verdict:
    deadline = Deadline(Clock(), step_run.limit)
    begins = True
    while True:
        lasts = max(1, math.floor(min(_EACH_LASTS, deadline.remaining())))
        seen = asked(step_run.step, step_run.direction, begins, lasts)
        begins = begins and not seen.get("asked")
        verdict = TYPE.judges["followed"](step_run.step, step_run.direction, {"result": seen})
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
    said = programs.ask([*POWERSHELL, text], seconds + _START_TAKES, {_PARAMETERS: json.dumps(parameters)})
    lines: List[str] = [line for line in said.text.splitlines() if line.startswith(_BEGINS)]
    try:
        found = json.loads(lines[-1][len(_BEGINS) :])
        return {key: found[key] for key in ("node", "state", "drain", "done", "asked", "problem")}
    except (IndexError, ValueError, KeyError, TypeError) as error:
        raise RunnerFailed(
            f"Windows PowerShell did not run the cluster's cmdlets (exit code {said.code}): {programs.words_of(said)}. Where a policy "
            "of the domain lets it run no scripts, or restricts its language, this step can't be done"
        ) from error


def script() -> str:
    """The script of role drain; "" where it is not there."""
    try:
        found = pkgutil.get_data(__package__, SCRIPT)
    except OSError:
        found = None
    return (found or b"").decode("ascii").replace("\r\n", "\n")
