# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which hosts one task of role drain acts for: the role may be included for some hosts of a play only, for others later, and under a strategy
that lets each host go for itself.

Private to this collection.

So each host says in a task of its own that it takes part. The task that acts for all has run_once, and whatever that returns Ansible registers
for all hosts of the play: who has said so later than that takes part in the next one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...module_utils._clock import steady
from .._ansible import goes_together, strategy_of
from .._drain.alone import unfinished

PART, RUN = "__drain_part", "__drain_run"
"""What a host has registered: that it takes part, and what the task for all has returned last."""

ARGUMENTS: dict[str, dict[str, Any]] = dict(list=dict(type="str", choices=["prepare", "recover"], required=True))


def work(action: Any, _task_vars: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """``at`` which time the host takes part, whether hosts go ``together``, and the ``result`` that holds until there is a better one."""
    together = goes_together(strategy_of(action._task))
    return dict(changed=False, at=steady(), together=together, result=unfinished(arguments["list"]))


def who_takes_part(task_vars: Mapping[str, Any]) -> list[str]:
    """The hosts for which the task acts."""
    if not task_vars[PART]["together"]:
        return [task_vars["inventory_hostname"]]
    # In Ansible's list of those that are still in the play a host is missing whose task file, of a block with rescue, could not be read.
    hosts = task_vars["ansible_play_hosts_all"]
    return [host for host in hosts if _takes_part(task_vars["hostvars"].raw_get(host))]


def _takes_part(variables: Mapping[str, Any]) -> bool:
    at, ended = ((variables.get(name) or {}).get(key) for name, key in ((PART, "at"), (RUN, "ended")))
    return at is not None and (ended is None or float(at) > float(ended))
