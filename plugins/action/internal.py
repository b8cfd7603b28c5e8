# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the roles of this collection have done in Python, most of it for all machines at once. For these roles alone.

What acts for all machines is to be used with ``run_once`` and ``timeout: 0``.
"""

from __future__ import annotations

import os
from typing import Any

from ..plugin_utils._lines.lines import Orphaned
from ..plugin_utils._tasks import (
    approve,
    checking,
    controller_object,
    controller_secrets,
    draining,
    machine,
    machine_call,
    maintaining,
    recover,
    rehearsing,
    restore,
    status,
    tags,
    taking_part,
    undo,
)

WORKS: dict[str, Any] = {
    "approve": approve,
    "check": checking,
    "controller_object": controller_object,
    "controller_secrets": controller_secrets,
    "drain": draining,
    "machine": machine,
    "maintain": maintaining,
    "recover": recover,
    "rehearse": rehearsing,
    "restore": restore,
    "status": status,
    "tags": tags,
    "take_part": taking_part,
    "undo": undo,
}
"""Modules, each with ARGUMENTS and ``work``."""


class ActionModule(machine_call.MachineCallAction):
    _supports_check_mode = True
    _supports_async = False
    _requires_connection = False

    def run(self, tmp=None, task_vars=None):
        task_vars = task_vars or {}
        found = dict(super().run(tmp, task_vars))
        del tmp  # has had no effect for long
        work = WORKS[self._task.args["work"]]
        choice = dict(work=dict(type="str"))
        arguments = self.validate_argument_spec({**choice, **work.ARGUMENTS})[1]
        try:
            return dict(found, **work.work(self, task_vars, arguments))
        except Orphaned:
            os._exit(1)  # with Ansible itself gone, nobody waits for a result, and nothing may be done any more
