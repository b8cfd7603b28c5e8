# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task of playbook approve: a confirmation from stage to stage, until a run or a machine approves the event, or it is known what is missing.

Private to this collection.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping
from typing import Any

from ...module_utils._clock import steady
from ...module_utils._text import listed
from .._ansible import say
from .._fleet import confirmation
from .._fleet.confirmation import APPROVE, EVERY, OVER, RECORD, Approval
from .asking import Asking, Machines

ARGUMENTS: dict[str, dict[str, Any]] = dict(
    event=dict(type="str", required=True),
    allow_unknown=dict(type="list", elements="str", required=True),
    # Who confirms it
    person=dict(type="str", required=True),
)


def work(action: Any, task_vars: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """As ``show`` and ``problems``, for people, how it ends; what is shown before that is printed as it comes."""
    changed, by = False, f"{arguments['person']} on {platform.node()}"
    with Machines(action, task_vars, "approve") as machines:
        machines.ask()
        approval = confirmation.begun(
            machines.asked, arguments["event"], arguments["allow_unknown"], by, action._task.check_mode
        )
        while approval["stage"] != OVER:
            _print(approval["show"])
            changed = changed or approval["stage"] in (RECORD, APPROVE)
            approval = _moved_on(machines, approval)
    problems = approval["problems"]
    if machines.wrong and not problems:
        problems = f"The options of {listed(machines.wrong)} can't be used."
    return dict(changed=changed, show=approval["show"], problems=problems)


def _moved_on(machines: Machines, approval: Approval) -> Approval:
    """After the calls of its stage."""

    def again(host: str, answer: Mapping[str, Any], times: int) -> float | None:
        return None if confirmation.is_heard(approval, host, answer, times) else EVERY

    machines.call({host: Asking(**call) for host, call in approval["calls"].items()}, again)
    return confirmation.moved_on(approval, machines.asked, machines.answers, steady())


def _print(show: list[str] | str) -> None:
    if show:
        say([show] if isinstance(show, str) else show)
