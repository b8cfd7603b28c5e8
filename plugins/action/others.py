# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What others do for a machine in one tick: a round of its loop for each of its orders. All of it is one task of the tick.

Whatever goes wrong, the task is ok: it is a part of what the round returns.

Private to this collection.
"""

from __future__ import annotations

from typing import Any

from ..module_utils._clock import steady
from ..plugin_utils._deciding.calls import STARTS
from ..plugin_utils._drain.calling import SECONDS, CallingAction
from ..plugin_utils._drain.elsewhere import aged
from ..plugin_utils._drain.round import look
from ..plugin_utils._filter import plain

ARGUMENTS: dict[str, dict[str, Any]] = dict(
    round=dict(type="dict", required=True),
    # The variables that hold the machine's answer, and its plan: so what is in there stands in no task's arguments
    answer=dict(type="str", required=True),
    plan=dict(type="str", required=True),
    # What this run has gone about for the machine
    jobs=dict(type="dict", required=True),
)


class ActionModule(CallingAction):
    def run(self, tmp=None, task_vars=None):
        super().run(tmp, task_vars)
        del tmp  # has had no effect for long
        given = self.validate_argument_spec(ARGUMENTS)[1]
        answer, steps = plain(task_vars[given["answer"]]), plain(task_vars[given["plan"]])["steps"]
        secret = any(step["key"] == given["round"]["key"] and step.get("no_log") for step in steps)

        # A Windows machine says how long a start of PowerShell took just now
        seconds = max(SECONDS, STARTS * float(answer.get("start") or 0.0))

        def call(order):
            return self.called(order, task_vars, seconds, secret)

        answer = aged(answer, max(0.0, steady() - float(answer["ended"])))
        came = look(given["round"], answer, steps, given["jobs"], call)
        return dict(came, failed=False, ended=steady())
