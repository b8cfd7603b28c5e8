# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Undoes on machines what their marks say, as entry point recover of role drain does, for tasks of role maintain.

Private to this collection.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any, NamedTuple

from .._drain import alone
from .._lines.reach import variables_of
from . import between_entries, handlers
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
    :arg before: what ``returned`` has made of one that goes on after the user's own task files

    :attr own: what Ansible has to know to go through these; empty where all is done
    :attr data: what was to outlive that
    """

    def __init__(self, action: Any, task_vars: Mapping[str, Any], before: Mapping[str, Any] | None = None) -> None:
        self._action, self._task_vars = action, task_vars
        self.data: dict[str, Any] = {}
        self.own: dict[str, dict[str, Any]] = {}
        self._hosts: dict[str, Drained] = {}
        self._run = DrainRun({})
        if before:
            kept = between_entries.kept(task_vars, before)
            self.data = kept.data
            self._hosts = {host: Drained.kept(one) for host, one in kept.data["hosts"].items()}
            self._run = DrainRun(self._hosts, kept.data["records"], kept)

    def begin(self, takes: Mapping[str, Take]) -> None:
        """
        :arg takes: what is undone, by host
        """
        role = OfRoleDrain(self._action)
        self._hosts = {}
        for host, take in takes.items():
            given = role.added(variables_of(self._action, self._task_vars, host))
            given.update(__drain_list="recover", __drain_whose=take.whose, __drain_unmarked=take.unmarked)
            self._hosts[host] = drained(self._action, host, "recover", given)
        self._run = DrainRun(self._hosts)
        self.go_on()

    def go_on(self) -> None:
        plans = {host: one.plan for host, one in self._hosts.items()}
        with lines_to(self._action, self._task_vars, plans) as lines:
            self.own = self._run.go_on(Calls(lines, self._hosts))

    @property
    def became(self) -> dict[str, dict[str, Any]]:
        """What came of each host, for people: whether it is ``ok``, a ``message``, what to ``show``, and whether anything was ``changed``."""
        return {host: _became(record) for host, record in self._run.records.items()}

    def returned(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """What the task returns that goes on after the files.

        :arg data: what has to outlive that
        """
        name, run = f"recover-{secrets.token_hex(4)}", self._run
        data = {**data, "hosts": self._hosts, "records": run.records}
        return between_entries.returned(name, self.own, data, run.answers, run.left)


def _became(record: alone.Record) -> dict[str, Any]:
    result = record["result"]
    changed = any(step["changed"] for step in result["steps"])
    return {"ok": result["ok"], "message": result["message"], "show": record["show"], "changed": changed}


# ---- a task that does nothing else ----


def begun(
    action: Any, task_vars: Mapping[str, Any], takes: Mapping[str, Take], found: Mapping[str, Any]
) -> dict[str, Any]:
    """Undo this, and return what the task returns: ``found``, and as ``undone`` what came of each machine; or that it goes on after the user's own
    task files.
    """
    undoing = Undoing(action, task_vars)
    undoing.begin(takes)
    return _result(action, undoing, found)


def gone_on(action: Any, task_vars: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """The same after the files.

    :arg before: what the task returned
    """
    undoing = Undoing(action, task_vars, before)
    undoing.go_on()
    return _result(action, undoing, undoing.data["found"])


def _result(action: Any, undoing: Undoing, found: Mapping[str, Any]) -> dict[str, Any]:
    if undoing.own:
        return dict(undoing.returned({"found": found}), changed=False)
    became = undoing.became
    done = [host for host, one in became.items() if one["ok"] and one["changed"]]
    topics = handlers.of_hosts(action._task, handlers.RECOVERED, done)
    return dict(found, changed=False, finished=True, undone=became, topics=topics)
