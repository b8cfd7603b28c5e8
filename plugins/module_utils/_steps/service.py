# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Step ``service``: stops a service, and starts it again.

Private to this collection.
"""

from typing import Any, Dict, Mapping, Optional

from .step_type import BECOME, Host, Step, StepError, StepType, TaskResult, Words


def _complete(step: Step, host: Host, system: str) -> Words:
    service: str = step.get("service") or step["name"]
    step["service"] = service
    if step["name"] == service:
        step["name"] = ""
    return Words(service, f"stop the service {service}", f"start the service {service}")


def _ours(step: Step, initial: Mapping[str, Any]) -> Optional[Step]:
    """A service that did not run stays stopped."""
    return step if initial["ran"] else None


def _initial_state(step: Step, result: TaskResult) -> Dict[str, Any]:
    """By what ansible.windows.win_service_info found."""
    if not result["services"]:
        raise StepError(f"this machine has no service {step['service']}")
    states = [service["state"] for service in result["services"]]
    return {"ran": any(state in ("started", "start_pending") for state in states)}


TYPE = StepType(
    name="service",
    options={"service": {"type": "str"}, "become": BECOME},
    complete=_complete,
    one_of=("service", "name"),
    before=_ours,
    initial_state=_initial_state,
    by_itself=True,
    in_background=True,
    repeatable=True,
)
