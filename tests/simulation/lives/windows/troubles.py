# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What goes wrong with Windows machines, besides what does with all: drawn from a random stream of its own."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import TYPE_CHECKING

from .machine import WindowsMachine

if TYPE_CHECKING:
    from ..fleet import Fleet

CONNECTION = ("cut-before", "cut-after", "no-powershell", "late")
FILES = ("file-busy", "lock-busy", "denied", "disk-full", "cut", "lock")


def draw(fleet: Fleet, chance: random.Random) -> None:
    """Give the Windows machines of a life their nature, and their troubles where not all is to go well."""
    machines = [machine for machine in fleet.machines.values() if isinstance(machine, WindowsMachine)]
    slow = chance.random() < 0.1  # over WinRM, on a small machine with a virus scanner
    for machine in machines:
        machine.takes = chance.uniform(8.0, 13.0) if slow else chance.uniform(1.5, 4.0)
        machine.has_id = chance.random() < 0.7
        machine.dies_with_run = chance.random() < 0.7
        machine.ahead = chance.choice((0.0, 0.0, -3.0, 3.0))
    if not fleet.calm:
        for machine in machines:
            _break(fleet, machine, chance)


def _break(fleet: Fleet, machine: WindowsMachine, chance: random.Random) -> None:
    shown = list(fleet.announced.values())
    if shown and chance.random() < 0.7:
        trouble(fleet, machine, chance, chance.choice(shown), 60.0)
    else:
        trouble(fleet, machine, chance, 5.0, 245.0)


def trouble(fleet: Fleet, machine: WindowsMachine, chance: random.Random, since: float, seconds: float) -> None:
    """What happens to a machine in these seconds."""

    def at() -> float:
        return since + chance.uniform(0, seconds)

    for kind in _kinds(chance):
        begins = at()
        machine.faults.append((begins, begins + chance.choice((2.0, 8.0, 20.0, 60.0)), kind))
    if chance.random() < 0.1:
        fleet.clock.at(at(), _set_clock, machine, chance.choice((-20.0, -3.0, 3.0, 20.0)))
    if chance.random() < 0.1:
        restart = at()
        fleet.clock.at(restart, machine.restart, chance.choice((5.0, 15.0)))
        if chance.random() < 0.5:  # two in two minutes
            fleet.clock.at(restart + chance.uniform(40, 110), machine.restart, chance.choice((5.0, 15.0)))
    if chance.random() < 0.1:
        fleet.clock.at(at(), chance.choice((machine.mark_deleted, machine.recovered_by_hand)))


def _kinds(chance: random.Random) -> Iterable[str]:
    for _turn in range(chance.choice((0, 1, 1, 2))):
        yield chance.choice(CONNECTION if chance.random() < 0.5 else FILES)


def _set_clock(machine: WindowsMachine, seconds: float) -> None:
    machine.ahead += seconds
