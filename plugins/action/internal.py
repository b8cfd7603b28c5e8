# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run of role maintain, in one task: from the first call of a machine to the last recovery. For the roles of this collection alone.

To be used with ``run_once``, ``register`` and ``timeout: 0``. Where the user's own task files are due, the task returns ``own``, and is to be
gone through once more after them; else ``finished``, with what is to be shown.
"""

from __future__ import annotations

import os
import traceback
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from ..module_utils._errors import ScheduledEventsError
from ..plugin_utils._fleet.result import shown
from ..plugin_utils._lines.lines import Orphaned
from ..plugin_utils._notify import notifications
from ..plugin_utils._ticking import beginning, fleet_run, given, run

ARGUMENTS: dict[str, dict[str, Any]] = dict(
    # The hosts that the run answers for, and its job in AWX
    members=dict(type="list", elements="str"),
    job=dict(type="str", default=""),
    # What the task returned before, of a run that goes on
    before=dict(type="dict"),
)
REQUIRED = [["members", "before"]]


class ActionModule(ActionBase):
    _supports_check_mode = True
    _supports_async = False
    _requires_connection = False

    def run(self, tmp=None, task_vars=None):
        task_vars = task_vars or {}
        super().run(tmp, task_vars)
        del tmp  # has had no effect for long
        arguments = self.validate_argument_spec(ARGUMENTS, required_one_of=REQUIRED)[1]
        try:
            if arguments["before"] is not None:
                return self._goes_on(task_vars, arguments["before"])
            return self._begins(task_vars, arguments["members"], arguments["job"])
        except Orphaned:
            os._exit(1)  # with Ansible itself gone, nobody waits for a result, and nothing may be done any more

    def _notify(self, task_vars: Any) -> Any:
        return self._templar.template(task_vars.get("maintain_notify"))

    def _begins(self, task_vars: Any, members: list[str], job: str) -> dict[str, Any]:
        hosts, wrong = given.Given(self, task_vars).hosts(members)
        wrong = [*given.play_problems(self, task_vars, members), *wrong]
        if wrong:
            raise AnsibleActionFail(" ".join([*wrong, "Nothing was changed."]))
        try:
            record = run.begun([host.facts for host in hosts.values()], job, self._task.check_mode)
        except ScheduledEventsError as error:
            raise AnsibleActionFail(error.message) from error
        fleet = self._fleet(task_vars, hosts, record, {})
        with fleet.lines() as lines:
            calls = fleet.calls(lines)
            findings = beginning.preflight(self, task_vars, fleet, calls)
            return self._until_own(task_vars, fleet, calls, findings)

    def _goes_on(self, task_vars: Any, before: Any) -> dict[str, Any]:
        kept = fleet_run.kept(before["state"])
        hosts, _wrong = given.Given(self, task_vars).hosts(kept["record"]["hosts"])  # it was right when the run began
        fleet = self._fleet(task_vars, hosts, kept["record"], kept["answers"])
        with fleet.lines() as lines:
            return self._until_own(task_vars, fleet, fleet.calls(lines), kept["preflight"])

    def _fleet(self, task_vars: Any, hosts: Any, record: Any, answers: Any) -> fleet_run.FleetRun:
        return fleet_run.FleetRun(self, task_vars, hosts, record, answers, lambda: self._notify(task_vars))

    def _until_own(self, task_vars: Any, fleet: fleet_run.FleetRun, calls: Any, findings: list[str]) -> dict[str, Any]:
        name = fleet.record["run"]["run"]
        try:
            due = fleet.go_on(calls)
        except Exception as error:
            # Whoever recovers the machines after a failure goes by the run's name and the timeline
            words = f"The run could not be decided on ({type(error).__name__}: {error})."
            said = shown(fleet.record, "end")
            return dict(run=name, failed=True, msg=words, said=said, exception=traceback.format_exc())
        if due:
            path = fleet_run.state_path(name)
            fleet_run.keep(path, fleet, {"preflight": findings})
            return dict(run=name, changed=False, finished=False, state=path, own=self._own(fleet, due))
        return dict(self._over(task_vars, fleet.record, findings), run=name, changed=False, finished=True)

    def _own(self, fleet: fleet_run.FleetRun, due: list[str]) -> dict[str, Any]:
        """What has to be known to go through the user's own task files, by host."""
        return {
            host: {
                "answer": fleet.answers[host].came,
                "rounds": fleet.answers[host].rounds,
                "jobs": fleet.record["hosts"][host]["jobs"],
            }
            for host in due
        }

    def _over(self, task_vars: Any, record: Any, findings: list[str]) -> dict[str, Any]:
        notified: list[Any] = []
        if task_vars.get("maintain_notify"):
            notes, notified = notifications.end(record, lambda: self._notify(task_vars))
            more = {f"notifications: {number}": words for number, words in enumerate(notes)}
            record = dict(record, notes={**record["notes"], **more})
        result = dict(shown(record, "result"), preflight=findings, notifications=notified)
        return dict(result=result, said=shown(record, "end"), became=beginning.became(record))
