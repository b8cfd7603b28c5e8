# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Windows machine beside others of its set: what is different there, as far as its watcher's decisions can differ by that.

Not told apart are rights (a recover hook that is not trusted is unfit on both systems), paths, and users, whom a hook can't have there.
"""

from __future__ import annotations

import random
from typing import Any

from .machine import Machine
from .program import Mark, Program

SHARES = (0.3, 0.5, 0.5, 1.0)
"""Of the machines of a mixed set that run Windows; one of them does."""

RESTARTS = (5.0, 30.0, 60.0)
"""Seconds after which the service manager starts a watcher that has crashed, each time since the start of Windows; the last for all later
times. systemd takes two seconds, and has no limit."""

STARTING = (1.0, 4.0)  # seconds that it then takes to begin
LAZY = 5.0  # seconds after which the removal of a file is on the disk: only what is written is written through


class WindowsProgram(Program):
    """A mark that was just removed may be there again after a power cut."""

    removed: tuple[float, Mark] | None = None

    def remove_mark(self) -> None:
        if self.mark is not None:
            self.removed = self.machine.clock.now, self.mark
        super().remove_mark()

    def power_lost(self) -> None:
        super().power_lost()
        removed, self.removed = self.removed, None
        if removed is None or self.mark is not None or self.machine.going_down:
            return
        at, mark = removed
        if self.machine.clock.now - at < LAZY and self.machine.oddities.random() < 0.7:
            self.mark = mark
            self.machine.note(
                "mark",
                phase=mark["phase"],
                events=[event.upper() for event in mark["events"]],
                outage=mark["note"]["outage"],
            )


class WindowsMachine(Machine):
    """:arg oddities: dice of its own"""

    system = "Windows"
    program_type = WindowsProgram
    crashes = 0

    def __init__(self, *arguments: Any, oddities: random.Random) -> None:
        self.oddities = oddities
        super().__init__(*arguments)
        for piece in self.program.pieces.values():
            # A node of a cluster that is paused stays so; sites and services start with Windows.
            piece.lasts = piece.kind == "step" and oddities.random() < 0.3

    def get_in_the_way(self, last: float) -> None:
        """Others have the mark's file open for longer than is waited for them: scanners for viruses, backups. And the power is cut just
        after a recovery."""
        if self.oddities.random() < 0.2:
            after = self.oddities.uniform(0.0, LAZY)
            self.troubles.append(("gone", after, self.lose_power_now, (self.oddities.uniform(5.0, 30.0),)))
        for _each in range(self.oddities.choice((0, 0, 0, 1, 2))):
            begins = self.oddities.uniform(0.0, last)
            self.windows["unwritable"].append((begins, begins + self.oddities.uniform(1.0, 6.0)))

    def restarts_after(self) -> float:
        self.crashes += 1
        return RESTARTS[min(self.crashes, len(RESTARTS)) - 1] + self.oddities.uniform(*STARTING)

    def start_watcher(self, forgets: bool = False) -> None:
        if not self.going_down:
            super().start_watcher(forgets)

    def shut_down(self, takes: float, down: float) -> None:
        """The service manager ends the watcher before all else, at once: it decides nothing while the system goes down."""
        if self.up:
            super().shut_down(takes, down)
            self.watcher, self.dies_in = None, None

    def lose_power(self, down: float) -> None:
        self.crashes = 0
        super().lose_power(down)
