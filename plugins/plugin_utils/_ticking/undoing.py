# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Undoes on machines what their marks say, as entry point recover of role drain does, for tasks of role maintain.

Private to this collection.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from .._drain import alone
from .._lines.reach import variables_of
from . import between_entries
from .calls import Calls
from .drain_options import drained
from .drain_run import Drained, DrainRun
from .given import OfRoleDrain
from .machine_line import lines_to


class Take(NamedTuple):
    """What of a machine is undone.

    :attr whose: the run whose mark is taken, or "any" that nobody goes on with
    :attr unmarked: whether all steps are undone, as there is no mark to go by
    """

    whose: str
    unmarked: bool = False


class Undoing:
    """
    :arg present: the hosts through whose own task files Ansible can go
    :arg before: what ``returned`` has made of one that goes on after them

    :attr own: what Ansible has to know to go through the user's own task files; empty where all is done
    :attr kept: the data that was to outlive the return
    """

    def __init__(
        self,
        action: Any,
        task_vars: Mapping[str, Any],
        present: Collection[str],
        before: Mapping[str, Any] | None = None,
    ) -> None:
        self._action, self._task_vars = action, task_vars
        self._failures = between_entries.failures(task_vars, before) if before else {}
        self.kept: dict[str, Any] = between_entries.kept(before) if before else {}
        self._present = self.kept.get("present", present)
        self.takes = {host: Take(*take) for host, take in self.kept.get("takes", {}).items()}
        self._run: DrainRun | None = None
        self.own: dict[str, dict[str, Any]] = {}

    def go_on(self, takes: Mapping[str, Take] | None = None) -> None:
        """
        :arg takes: what is undone; None to go on with what is under way
        """
        records, answers, failures = self.kept.get("records"), self.kept.get("answers"), self._failures
        if takes is not None:
            self.takes, records, answers, failures = dict(takes), None, None, {}
        hosts = self._drained()
        self._run = DrainRun(hosts, self._present, records, answers)
        with lines_to(self._action, self._task_vars, {host: one.plan for host, one in hosts.items()}) as lines:
            self.own = self._run.go_on(Calls(lines, hosts), failures)

    @property
    def records(self) -> Mapping[str, alone.Record]:
        """Of each host: its ``result``, and as ``show`` what is to be shown."""
        return self._run.records if self._run else {}

    def returned(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """What the task returns that goes on after the files.

        :arg data: what has to outlive that
        """
        data = {**data, "takes": self.takes, "records": self.records}
        answers = self._run.answers if self._run else {}
        return between_entries.returned(f"recover-{secrets.token_hex(4)}", self.own, data, answers)

    def _drained(self) -> dict[str, Drained]:
        role = OfRoleDrain(self._action)
        found = {}
        for host, take in self.takes.items():
            given = role.added(variables_of(self._action, self._task_vars, host))
            given.update(
                __drain_list="recover", __drain_whose=take.whose, __drain_unmarked=take.unmarked, drain_fail=False
            )
            found[host] = drained(self._action, host, "recover", given)
        return found


def became(record: alone.Record) -> dict[str, Any]:
    """What is said of a machine at the end."""
    result = record["result"]
    return {
        "ok": result["ok"],
        "message": result["message"],
        "show": record["show"],
        "changed": any(step["changed"] for step in result["steps"]),
    }


# ---- a task that does nothing else ----


def begun(
    action: Any,
    task_vars: Mapping[str, Any],
    present: Collection[str],
    takes: Mapping[str, Take],
    found: Mapping[str, Any],
) -> dict[str, Any]:
    """Undo this, and return what the task returns: ``found``, and as ``undone`` what came of each machine; or that it goes on after the user's own
    task files.
    """
    undoing = Undoing(action, task_vars, present)
    undoing.go_on(takes)
    return _result(undoing, {"present": list(present), "found": dict(found)})


def gone_on(action: Any, task_vars: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """The same after the files.

    :arg before: what the task returned
    """
    undoing = Undoing(action, task_vars, (), before)
    undoing.go_on()
    return _result(undoing, {name: undoing.kept[name] for name in ("present", "found")})


def _result(undoing: Undoing, data: Mapping[str, Any]) -> dict[str, Any]:
    if undoing.own:
        return dict(undoing.returned(data), changed=False)
    undone = {host: became(record) for host, record in undoing.records.items()}
    return dict(data["found"], changed=False, finished=True, undone=undone)
