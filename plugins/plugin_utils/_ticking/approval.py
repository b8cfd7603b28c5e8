# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the playbook ``approve`` knows, as the action ``decide`` keeps it: begun, and moved on by what the machines answered.

Private to this collection.

It is a variable that all hosts of the play have in common.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from ansible.module_utils.parsing.convert_bool import boolean

from ...module_utils._clock import steady
from .._ansible import plain
from .._fleet import confirmation
from .._fleet.confirmation import Approval
from .._fleet.inspection import machines_of

RECORD, ASKED = "__maintain_approval", "__maintain_asked"
_KEYS = frozenset(Approval.__annotations__)


def begun(task_vars: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """It begins.

    :arg given: ``event``, ``allow_unknown``, ``by``, ``check``
    """
    names = [str(name) for name in given["allow_unknown"]]
    machines = machines_of(_asked(task_vars))
    check = boolean(given["check"])
    return dict(confirmation.begun(machines, str(given["event"]), names, str(given["by"]), check), changed=False)


def ticked(task_vars: Mapping[str, Any]) -> dict[str, Any]:
    """After the calls of a stage. Nobody is notified of it."""
    asked = _asked(task_vars)
    answers = {host: given.get("answer") or {} for host, given in asked.items()}
    approval = confirmation.moved_on(_record(task_vars), machines_of(asked), answers, steady())
    return dict(approval, changed=False)


def unchanged(task_vars: Mapping[str, Any]) -> dict[str, Any]:
    """What is known, of a task that has nothing to do."""
    return dict(_record(task_vars), changed=False, skipped=True)


def _record(task_vars: Mapping[str, Any]) -> Approval:
    """Without what Ansible has added to the result of the task that returned it."""
    return cast("Approval", {key: plain(value) for key, value in task_vars[RECORD].items() if key in _KEYS})


def _asked(task_vars: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """What every host of the play answered last; nothing for one that was not even called."""
    hosts = task_vars["ansible_play_hosts_all"]
    return {host: plain(task_vars["hostvars"].raw_get(host).get(ASKED) or {}) for host in hosts}
