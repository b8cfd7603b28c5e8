# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task of playbook status: the events that every machine sees, and its mark.

Private to this collection.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from ...module_utils._text import listed
from .._fleet.status import status_lines, unknown
from .asking import Machines

ARGUMENTS: dict[str, dict[str, Any]] = {}

SHOWN = "The task before says why."


def work(action: Any, task_vars: Mapping[str, Any], _arguments: Mapping[str, Any]) -> dict[str, Any]:
    """``lines`` for people, and as ``problems`` why the playbook fails, "" where it does not."""
    with Machines(action, task_vars, "status") as machines:
        machines.ask(requests=({"do": "hello", "domain": True}, {"do": "look", "wait": 0}))
    problems = [f"The options of {listed(machines.wrong)} can't be used."] if machines.wrong else []
    not_known = unknown(machines.asked)
    if not_known:
        problems.append(f"The state of some machines is not known: {'; '.join(not_known)}.")
    return dict(
        changed=False,
        lines=status_lines(machines.scoped, time.time()),
        problems=" ".join([*problems, SHOWN]) if problems else "",
    )
