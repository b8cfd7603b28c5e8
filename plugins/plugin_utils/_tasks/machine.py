# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One call of the task's own machine. Whatever happens to it, the task is ok: that is a part of what it returns.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ...module_utils._clock import steady
from ...module_utils._machine.program import lost
from .._drain.calling import SECONDS
from .._lines.line import Limit
from .._lines.lines import HUNG, Lines
from . import machine_call
from .calls import LONG, why_none
from .machine_line import end_lasting

ARGUMENTS = {**machine_call.ARGUMENTS, "call": dict(machine_call.ARGUMENTS["call"], required=True)}


class _OwnLine(NamedTuple):
    """Over the task's own connection, which its process has not used."""

    action: machine_call.MachineCallAction
    task_vars: Mapping[str, Any]
    arguments: Mapping[str, Any]

    def call(self, call: dict[str, Any], limit: Limit) -> dict[str, Any]:
        if call["only_ends_lasting"]:
            end_lasting(self.action._connection)
            return {}
        with self.action.alone():
            return self.action.machine(self.arguments, self.task_vars, limit)

    def close(self) -> None:
        self.action.let_go()
        self.action.cleanup()
        self.action._connection.close()


def work(
    action: machine_call.MachineCallAction, task_vars: Mapping[str, Any], arguments: Mapping[str, Any]
) -> dict[str, Any]:
    """
    :arg action: of the task
    """
    with Lines(lambda _key, _hung: lambda: _OwnLine(action, task_vars, arguments)) as lines:
        came = _came(lines)
        if HUNG in came:
            _came(lines, only_ends_lasting=True)
    why = why_none(came)
    return dict(lost(why), changed=False, ended=steady(), heard=None) if why else came


def _came(lines: Lines, only_ends_lasting: bool = False) -> dict[str, Any]:
    lines.call("", {"only_ends_lasting": only_ends_lasting}, SECONDS, None)
    while True:
        for _tag, came in lines.answers(LONG):
            return came
