# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Step ``command`` of a Windows machine, or delegated to another one, by Ansible's modules.

Private to this collection.
"""

from __future__ import annotations

from typing import Any

from ..elsewhere import AtHand
from .job import followed
from .way import Call, Order, Seen, Way, options, part_of, seconds_of

LATER = 30  # seconds: so long after its limit Ansible would end it, which the program `timeout` has done before


def _look(hand: AtHand, job: Any, call: Call) -> Seen:
    return followed(hand, job, call, _order(hand))


def _order(hand: AtHand) -> Order:
    step, part, seconds = hand["step"], part_of(hand), seconds_of(hand)
    made_by_it = "creates" if hand["direction"] == "do" else "removes"
    common = {"chdir": step.get("chdir"), made_by_it: step.get("creates")}
    if step["system"] == "windows":
        given = options(argv=part.get("argv"), cmd=part.get("cmd"), **common)
        return Order("ansible.windows.win_command", given, seconds, step["environment"])
    argv = ["timeout", "-k", "5", str(seconds), *part["argv"]]
    return Order("ansible.builtin.command", options(argv=argv, **common), seconds + LATER, step["environment"])


WAY = Way(_look)
