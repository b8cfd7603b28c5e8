# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a Windows machine lacks for its steps, as far as is looked at: services.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Iterable

from ansible.errors import AnsibleConnectionFailure

from ...module_utils._clock import Deadline
from ...module_utils._steps.step_type import Step
from ...module_utils._text import one_line
from .machine import WindowsMachine, WindowsProblem


def lacking(machine: WindowsMachine, steps: Iterable[Step], until: Deadline) -> dict[str, str]:
    """Why steps could not be done, by their keys.

    :arg until: when no further service is asked about: each takes a start of PowerShell
    """
    lacks: dict[str, str] = {}
    for step in steps:
        if step["type"] != "service":
            continue
        if until.passed():
            lacks[step["key"]] = "no time was left to look at it"
            continue
        try:
            if not machine.has_service(step["service"]):
                lacks[step["key"]] = f"this machine has no service {step['service']}"
        except (WindowsProblem, AnsibleConnectionFailure) as problem:
            lacks[step["key"]] = f"it could not be looked at: {one_line(problem, 300)}"
    return lacks
