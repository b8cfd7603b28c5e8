# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a Windows machine lacks for its steps, which Ansible's modules carry out: so they are asked, each by a start of PowerShell.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ansible.errors import AnsibleConnectionFailure

from ...module_utils._clock import Deadline
from ...module_utils._steps.step_type import Step, StepError
from ...module_utils._steps.types import type_of
from ...module_utils._text import one_line
from .machine import WindowsMachine, WindowsProblem

IIS = ("microsoft.iis.website_info", "microsoft.iis.web_app_pool_info")
"""The modules by which a step's initial state is read."""

NO_TIME = "no time was left to check it"


class _Looks:
    """Looks at steps. What IIS has is asked for once, for all steps."""

    def __init__(self, machine: WindowsMachine) -> None:
        self._machine = machine
        self._iis: Mapping[str, Any] = {}

    def service(self, step: Step) -> str:
        return "" if self._machine.services(step["service"]) else f"this machine has no service {step['service']}"

    def iis(self, step: Step) -> str:
        self._iis = self._iis or {key: found for module in IIS for key, found in self._machine.all_of(module).items()}
        try:
            type_of(step["type"]).initial_state(step, self._iis)
        except StepError as error:
            return str(error)
        return ""


def lacking(machine: WindowsMachine, steps: Iterable[Step], until: Deadline) -> dict[str, str]:
    """Why steps could not be done, by their keys.

    :arg until: when nothing further is asked about
    """
    looks = _Looks(machine)
    by_type: dict[str, Callable[[Step], str]] = {"service": looks.service, "iis": looks.iis}
    lacks: dict[str, str] = {}
    for step in steps:
        if step["type"] not in by_type:
            continue
        try:
            why = NO_TIME if until.passed() else by_type[step["type"]](step)
        except (WindowsProblem, AnsibleConnectionFailure) as problem:
            why = f"it could not be checked: {one_line(problem, 300)}"
        if why:
            lacks[step["key"]] = why
    return lacks
