# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task of role maintain's entry point restore: what a run has left out of service is undone, also on machines that have failed in the play.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .asking import Machines
from .undoing import Take, begun

ARGUMENTS: dict[str, dict[str, Any]] = dict(run=dict(type="str", required=True))


def work(action: Any, task_vars: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    run = arguments["run"]
    # Ansible does not count a machine as one of the play that has failed there, also where an `always` goes on for it.
    with Machines(action, task_vars, "status", present=task_vars["ansible_play_hosts_all"]) as machines:
        machines.ask(requests=())
    left = [host for host in machines.hosts if _is_left(machines.answers[host], run)]
    return begun(action, task_vars, dict.fromkeys(left, Take(run)), {})


def _is_left(answer: Mapping[str, Any], run: str) -> bool:
    """Whether the run has left it out of service, or nobody knows that."""
    mark = answer["mark"] or {}
    return bool(answer["lost"]) or "unreadable" in mark or (mark.get("holder") or {}).get("run") == run
