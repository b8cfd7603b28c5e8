# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A tick in which one machine alone is called, as one task: it waits for a change, and what comes is decided about at once.

To be used with ``run_once`` and ``register``: what it returns is the record of the run, for all hosts. In any other tick it returns
the record as it is, and counts as skipped: what a task registers that is left out by ``when`` would stand in the record's place.

Where several machines are called, nobody has all of their answers before the task is over: then the decision is a task of its own.

Private to this collection.
"""

from __future__ import annotations

from typing import Any

from ..plugin_utils import _ticking
from ..plugin_utils._deciding.schema import Record
from ..plugin_utils._filter import plain
from .machine import ActionModule as MachineAction

KEYS = frozenset(Record.__annotations__)


class ActionModule(MachineAction):
    def run(self, tmp=None, task_vars=None):
        # Without what was added to an earlier result of this task
        record: Any = {key: plain(value) for key, value in task_vars["__maintain_record"].items() if key in KEYS}
        host = task_vars["inventory_hostname"]
        if record["finished"] or record["todo"]["alone"] != host:
            return dict(record, changed=False, skipped=True)
        # Facts about it, which the action returns as well, would be taken for facts about all hosts.
        answer = super().run(tmp, task_vars)
        answered = {host: _ticking.checked(record["todo"]["calls"][host], answer)}
        after = _ticking.ticked(record, answered, lambda: self._templar.template(task_vars.get("maintain_notify")))
        return dict(after, changed=False)
