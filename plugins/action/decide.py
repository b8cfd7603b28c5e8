# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What comes next in the playbook approve: the record, begun or moved on by a tick.

To be used with ``register`` and ``run_once``: what it returns is the record. Where there is nothing to decide it
returns the record as it is, and counts as skipped: what a task registers that is left out by ``when`` would stand in the record's
place. A decision is no filter: it gives a run its name, and rests until the next tick is due.

Private to this collection.
"""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase

from ..plugin_utils._ticking import approval

RECORDS: dict[str, Any] = {"approve": approval}
"""Who keeps the record."""

ARGUMENTS: dict[str, dict[str, Any]] = dict(
    role=dict(type="str", choices=list(RECORDS), required=True),
    # With what its record begins
    begin=dict(type="dict"),
    # Whether there is something to decide
    due=dict(type="bool", default=True),
)


class ActionModule(ActionBase):
    _supports_check_mode = True
    _requires_connection = False

    def run(self, tmp=None, task_vars=None):
        task_vars = task_vars or {}
        super().run(tmp, task_vars)
        del tmp  # has had no effect for long
        given = self.validate_argument_spec(ARGUMENTS)[1]
        role = RECORDS[given["role"]]
        if given["begin"] is not None:
            return role.begun(task_vars, given["begin"])
        if not given["due"]:
            return role.unchanged(task_vars)
        return role.ticked(task_vars)
