# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One module of Ansible's, as a call that ends in its time. Whatever goes wrong, the task is ok: it is in what it returns.

Private to this collection.
"""

from __future__ import annotations

from typing import Any

from ..plugin_utils._drain.calling import SECONDS, CallingAction
from ..plugin_utils._drain.steps.way import Order

ARGUMENTS: dict[str, dict[str, Any]] = dict(
    use=dict(type="str", required=True),
    options=dict(type="dict"),
    seconds=dict(type="float", default=SECONDS),
)


class ActionModule(CallingAction):
    def run(self, tmp=None, task_vars=None):
        super().run(tmp, task_vars)
        del tmp  # has had no effect for long
        given = self.validate_argument_spec(ARGUMENTS)[1]
        return self.called(Order(given["use"], given["options"] or {}), task_vars, given["seconds"])
