# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a tick does outside of this process, one part a task: calls to machines that end in their time.

Whatever goes wrong over there, the task is ok: it is a part of what it returns.

Private to this collection.
"""

from __future__ import annotations

from typing import Any

from ..module_utils._clock import steady
from ..plugin_utils._ansible import plain
from ..plugin_utils._drain.calling import SECONDS, CallingAction
from ..plugin_utils._drain.elsewhere import aged
from ..plugin_utils._drain.orders import look
from ..plugin_utils._drain.way import Order
from ..plugin_utils._fleet.call_schedule import STARTS
from ..plugin_utils._forks import load_filters, look_up_sources
from ..plugin_utils._ticking import alone, machine_call

MACHINE = "machine"
DRAIN = "drain"
OTHER = "other"
MODULE = "module"
"""What the machine does; the same in role drain by itself, with the decision after it; what another host does for the machine, in one round of a
loop over its orders; and one module of Ansible's, whatever it is for.

In role drain by itself each host has a record of its own: to be used with ``register``, DRAIN returns it.
"""

ARGUMENTS: dict[str, dict[str, Any]] = dict(
    part=dict(type="str", choices=[MACHINE, DRAIN, OTHER, MODULE], required=True),
    # MACHINE, DRAIN
    **machine_call.ARGUMENTS,
    # OTHER: one order of the machine's, the variable that holds its answer, so that this stands in no task's arguments, and what this
    # run has gone about for the machine. Its steps are those of `plan`.
    round=dict(type="dict"),
    answer=dict(type="str"),
    jobs=dict(type="dict"),
    # MODULE
    use=dict(type="str"),
    arguments=dict(type="dict", default={}),
    seconds=dict(type="float", default=SECONDS),
)
REQUIRED = (
    ("part", MACHINE, ("call",)),
    ("part", DRAIN, ("call",)),
    ("part", OTHER, ("round", "answer", "plan", "jobs")),
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
        if self._task.args.get("part") == DRAIN and not alone.goes_on(task_vars):
            return alone.unchanged(task_vars)
        given = self.validate_argument_spec(ARGUMENTS, required_if=REQUIRED)[1]
        parts = {
            MACHINE: self.machine,
            DRAIN: self._drain,
            OTHER: self._other,
            MODULE: self._module,
        }
        return dict(found, **parts[given["part"]](given, task_vars))

    def _drain(self, given, task_vars):
        came = self.machine(given, task_vars)
        facts = {"ansible_facts": came["ansible_facts"]} if "ansible_facts" in came else {}
        return dict(alone.decided(task_vars, came), **facts)

    def _other(self, given, task_vars):
        answer, steps = plain(task_vars[given["answer"]]), plain(task_vars[given["plan"]])["steps"]
        secret = any(step["key"] == given["round"]["key"] and step.get("no_log") for step in steps)

        # A Windows machine says how long a start of PowerShell took just now
        seconds = max(SECONDS, STARTS * float(answer.get("start") or 0.0))

        def call(order):
            return self.called(order, task_vars, seconds, secret)

        answer = aged(answer, max(0.0, steady() - float(answer["ended"])))
        came = look(given["round"], answer, steps, given["jobs"], call)
        return dict(came, failed=False, ended=steady())

    def _module(self, given, task_vars):
        return self.called(Order(given["use"], given["arguments"]), task_vars, given["seconds"])
