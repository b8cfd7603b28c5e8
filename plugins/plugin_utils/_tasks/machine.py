# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One call of the task's own machine. Whatever happens to it, the task is ok: that is a part of what it returns.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import machine_call

ARGUMENTS = machine_call.ARGUMENTS
REQUIRED = [["call"]]


def work(
    action: machine_call.MachineCallAction, task_vars: Mapping[str, Any], arguments: Mapping[str, Any]
) -> dict[str, Any]:
    """
    :arg action: of the task
    """
    try:
        return action.machine(arguments, task_vars)
    finally:
        action.let_go()
