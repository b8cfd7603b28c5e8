# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a tick does outside of this process, one part a task: calls to machines that end in their time.

Whatever goes wrong over there, the task is ok: it is a part of what it returns.

Private to this collection.
"""

from __future__ import annotations

from typing import Any

from ..plugin_utils._drain.calling import SECONDS, CallingAction
from ..plugin_utils._drain.way import Order
from ..plugin_utils._forks import load_filters, look_up_sources
from ..plugin_utils._ticking import machine_call

MACHINE = "machine"
MODULE = "module"
"""What the machine does; and one module of Ansible's, whatever it is for."""

ARGUMENTS: dict[str, dict[str, Any]] = dict(
    part=dict(type="str", choices=[MACHINE, MODULE], required=True),
    # MACHINE
    **machine_call.ARGUMENTS,
    # MODULE
    use=dict(type="str"),
    arguments=dict(type="dict", default={}),
    seconds=dict(type="float", default=SECONDS),
)
REQUIRED = (
    ("part", MACHINE, ("call",)),
    ("part", MODULE, ("use",)),
)

load_filters()
look_up_sources()


class ActionModule(machine_call.MachineCallAction, CallingAction):
    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp=None, task_vars=None):
        task_vars = task_vars or {}
        found = super().run(tmp, task_vars)
        del tmp  # has had no effect for long
        given = self.validate_argument_spec(ARGUMENTS, required_if=REQUIRED)[1]
        if given["part"] == MACHINE:
            return dict(found, **self.machine(given, task_vars))
        return dict(found, **self.called(Order(given["use"], given["arguments"]), task_vars, given["seconds"]))
