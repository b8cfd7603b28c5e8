# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A tick in which one machine alone is called, as one task: it waits for a change, and what comes is decided about at once.

To be used with ``run_once`` and ``register``: what it returns is the record of the run, for all hosts. In any other tick it returns
the record as it is, as a task that is left out by ``when`` would register that in its place.

Where several machines are called, nobody has all of their answers before the task is over: then the decision is a task of its own.

Private to this collection.
"""

from __future__ import annotations

from typing import Any

from ..plugin_utils import _ticking
from ..plugin_utils._filter import plain
from .machine import ActionModule as MachineAction


class ActionModule(MachineAction):
    def run(self, tmp=None, task_vars=None):
        record: Any = plain((task_vars or {})["__maintain_record"])
        host = task_vars["inventory_hostname"]
        if record["todo"]["alone"] == host and not record["finished"]:
            # Facts about it, which an action may return, would be taken for facts about all hosts.
            answer = super().run(tmp, task_vars)
            record = _ticking.ticked(record, {host: _ticking.checked(record["todo"]["calls"][host], answer)})
        return dict(record, changed=False)
