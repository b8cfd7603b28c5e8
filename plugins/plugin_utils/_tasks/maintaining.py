# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task of role maintain: a run from the first call of a machine to the last recovery.

Private to this collection.

Where the user's own task files are due, the task returns ``own``, and is to be gone through once more after them; else ``finished``, with what
is to be shown.
"""

from __future__ import annotations

import platform
import time
import traceback
from collections.abc import Mapping
from typing import Any

from ansible.errors import AnsibleActionFail

from ...module_utils._clock import iso_utc
from ...module_utils._errors import ScheduledEventsError
from ...module_utils._text import listed
from .._ansible import say
from .._fleet.plain import from_plain, to_plain
from .._fleet.recap import became
from .._fleet.result import shown
from .._fleet.state import Record
from .._notify import notifications
from .._variables import refused
from . import beginning, between_entries, fleet_run, given, handlers, of_event, run

ARGUMENTS: dict[str, dict[str, Any]] = dict(
    # Its job in AWX
    job=dict(type="str", default=""),
    # What the task returned before, of a run that goes on
    before=dict(type="dict"),
)


def work(action: Any, task_vars: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """
    :arg action: of the task
    """
    task = _Task(action, task_vars)
    if arguments["before"] is not None:
        return task.goes_on(arguments["before"])
    return task.begins(arguments["job"])


class _Task:
    def __init__(self, action: Any, task_vars: Mapping[str, Any]) -> None:
        self._action, self._task_vars = action, task_vars
        self._notified = 0  # of how much of what happened the play's handlers were notified

    def _notify(self) -> Any:
        return self._action._templar.template(self._task_vars.get("maintain_notify"))

    def begins(self, job: str) -> dict[str, Any]:
        if late := given.late_report(self._task_vars):
            raise AnsibleActionFail(late)
        every = self._task_vars["ansible_play_hosts_all"]
        inventory = given.Given(self._action, self._task_vars)
        members = every
        if resources := str(self._task_vars.get(of_event.VARIABLE) or ""):
            members = inventory.concerned(every, resources)
            if not members:
                return _for_nobody(of_event.names(resources), job)
        hosts, wrong = inventory.hosts(members)
        unknown = given.unknown(self._action, self._task_vars, every)
        wrong = [*refused(unknown), *given.play_problems(self._action, self._task_vars), *wrong]
        if wrong:
            raise AnsibleActionFail(" ".join([*wrong, "Nothing was changed."]))
        try:
            record = run.begun([host.facts for host in hosts.values()], job, self._action._task.check_mode)
        except ScheduledEventsError as error:
            raise AnsibleActionFail(error.message) from error
        fleet = self._fleet(hosts, (), record, {})
        with fleet.lines() as lines:
            calls = fleet.calls(lines)
            findings = beginning.preflight(fleet, calls, unknown)
            return self._until_own(fleet, calls, findings)

    def goes_on(self, before: Any) -> dict[str, Any]:
        kept = between_entries.kept(self._task_vars, before)
        record, self._notified = from_plain(Record, kept.data["record"]), kept.data["notified"]
        # It was right when the run began
        hosts, _wrong = given.Given(self._action, self._task_vars).hosts(record.hosts)
        fleet = self._fleet(hosts, kept.left, record, kept.answers)
        with fleet.lines() as lines:
            return self._until_own(fleet, fleet.calls(lines), kept.data["preflight"], kept.left, kept.failures)

    def _fleet(self, hosts: Any, left: Any, record: Any, answers: Any) -> fleet_run.FleetRun:
        return fleet_run.FleetRun(self._action, self._task_vars, hosts, left, record, answers, self._notify)

    def _until_own(
        self, fleet: fleet_run.FleetRun, calls: Any, findings: list[str], left: Any = (), failures: Any = None
    ) -> dict[str, Any]:
        name = fleet.record.run.name
        try:
            own = fleet.go_on(calls, failures)
        except Exception as error:
            # Whoever recovers the machines after a failure goes by the run's name and the timeline
            words = f"The run could not be decided on ({type(error).__name__}: {error})."
            say(shown(fleet.record, "end"))
            return dict(run=name, failed=True, msg=words, exception=traceback.format_exc())
        if own:
            data = {"record": to_plain(fleet.record), "preflight": findings, "notified": len(fleet.record.happenings)}
            found = between_entries.returned(name, own, data, fleet.answers, left)
        else:
            found = dict(self._over(fleet.record, findings), finished=True)
        return dict(
            found, run=name, changed=False, topics=handlers.of_run(self._action._task, fleet.record, self._notified)
        )

    def _over(self, record: Any, findings: list[str]) -> dict[str, Any]:
        notified: list[Any] = []
        if self._task_vars.get("maintain_notify"):
            notes, notified = notifications.end(record, self._notify)
            more = {f"notifications: {number}": words for number, words in enumerate(notes)}
            record.notes.update(more)
        result = dict(shown(record, "result"), preflight=findings, notifications=notified)
        said = shown(record, "end")
        say(said)
        # To hand the result to the job costs a task otherwise
        stats = (
            {} if record.run.check else {"ansible_stats": {"data": {"azure_maintenance": result}, "per_host": False}}
        )
        # One that has left the play is asked nothing more.
        present = {host: one for host, one in became(record).items() if host in self._task_vars["ansible_play_hosts"]}
        return dict(stats, result=result, said=said, became=present)


def _for_nobody(resources: list[str], job: str) -> dict[str, Any]:
    """Of a run that has no machine: a subscription of Azure has others', too."""
    words = f"Nothing to do: no host of this play is {listed(resources)} in Azure, by azure_maintenance_resource_name or by its own name."
    say([words])
    now = iso_utc(time.time())
    result: dict[str, Any] = dict(
        format=1,
        run="",
        job=job,
        controller=platform.node(),
        began=now,
        ended=now,
        seconds=0.0,
        rounds=0,
        timeline=[],
        events=[],
        problems=[],
        notes=[words],
        preflight=[],
        notifications=[],
    )
    return dict(finished=True, changed=False, result=result, said=[words], became={}, topics={})
