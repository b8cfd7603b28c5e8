# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task of role maintain's entry point restore: which machines a run has left out of service, also those that have failed in the play.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .asking import Machines

ARGUMENTS: dict[str, dict[str, Any]] = dict(run=dict(type="str", required=True))
REQUIRED: list[list[str]] = []


def work(action: Any, task_vars: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """As ``hosts`` those that the run has left; and those of which nobody knows."""
    with Machines(action, task_vars, "status", left=True) as machines:
        machines.ask(requests=())
    hosts = [host for host, answer in machines.answers.items() if _is_left(answer, arguments["run"])]
    return dict(changed=False, hosts=hosts)


def _is_left(answer: Mapping[str, Any], run: str) -> bool:
    mark = answer["mark"] or {}
    return bool(answer["lost"]) or "unreadable" in mark or (mark.get("holder") or {}).get("run") == run
