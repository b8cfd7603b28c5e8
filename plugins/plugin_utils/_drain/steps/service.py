# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Step ``service`` of a Windows machine, by Ansible's modules.

Private to this collection.
"""

from __future__ import annotations

from typing import Any

from ....module_utils._steps.step_type import Step, TaskResult
from ..elsewhere import AtHand
from .job import followed
from .way import Call, Order, Seen, Way, seconds_of


def _before(step: Step, call: Call) -> TaskResult:
    return call(Order("ansible.windows.win_service_info", {"name": step["service"]}))


def _look(hand: AtHand, job: Any, call: Call) -> Seen:
    state = "stopped" if hand["direction"] == "do" else "started"
    wanted = {"name": hand["step"]["service"], "state": state}
    return followed(hand, job, call, Order("ansible.windows.win_service", wanted, lasts=seconds_of(hand)))


WAY = Way(_look, _before)
