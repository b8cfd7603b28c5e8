# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Step ``service``: stops a service, and starts it again.

Private to this collection.
"""

from .step_type import BECOME, Host, Step, StepType, Words


def _complete(step: Step, host: Host, system: str) -> Words:
    service: str = step.get("service") or step["name"]
    step["service"] = service
    if step["name"] == service:
        step["name"] = ""
    return Words(service, f"stop the service {service}", f"start the service {service}")


TYPE = StepType(
    name="service",
    options={"service": {"type": "str"}, "become": BECOME},
    files=("service/{system}.yml", "service/{system}.yml"),
    complete=_complete,
    one_of=("service", "name"),
)
