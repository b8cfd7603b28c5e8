# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One drain step of a machine as it really is: whether its service runs, and what works at it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from .clock import Clock
from .journal import Journal

CUT_OFF = "cut off"  # how what was ended before its time has ended


class Step:
    """A service that is taken out and put back, by its machine or elsewhere."""

    def __init__(self, clock: Clock, journal: Journal, host: str, key: str, **nature: Any) -> None:
        self.clock, self.journal, self.host, self.key = clock, journal, host, key
        self.elsewhere: bool = nature.pop("elsewhere", False)
        self.running: bool = nature.pop("running", True)
        self.do_seconds: float = nature.pop("do_seconds", 1.0)
        self.undo_seconds: float = nature.pop("undo_seconds", 1.0)
        self.do_fails: str = nature.pop("do_fails", "")  # "" never, "unchanged", "changed": what it leaves
        self.undo_fails: int = nature.pop("undo_fails", 0)  # how many times
        self.undo_failed = bool(self.undo_fails)
        self.limit: float = nature.pop("limit", 60.0)
        assert not nature, nature
        self.originally = self.running
        self.at_boot = False  # whether its machine's start starts it
        self.job: tuple[str, float, str] | None = None  # direction, when it ends, how
        self.name = ""  # of what the machine program has begun last
        self.doing_until = 0.0  # what others were asked to do goes on, whatever they are asked next
        self.ended: list[tuple[str, float, str]] = []  # what somebody has ended before its time
        self.chance = random.Random(key)

    def begin(self, direction: str, seconds: float, run: str) -> None:
        """Begin to do or undo it; what it comes to is known at its end."""
        took = self.do_seconds if direction == "do" else self.undo_seconds
        how = "done"
        if direction == "do" and self.do_fails:
            how = f"failed {self.do_fails}"
        elif direction == "undo" and self.undo_fails:
            self.undo_fails -= 1
            how = "failed unchanged"
        if took > seconds:
            took, how = max(seconds, 0.0), "failed unchanged"  # cut off by its limit
        self.journal.add("piece", host=self.host, key=self.key, direction=direction, run=run)
        job = self.job = (direction, self.clock.now + took, how)
        if direction == "do" and how != "failed unchanged":
            self.doing_until = self.clock.now + took
        self.clock.after(took, self._end, job, run)

    def _end(self, job: tuple[str, float, str], run: str) -> None:
        if self.job is not job and not (self.elsewhere and job not in self.ended):
            return  # it was interrupted
        direction, _when, how = job
        if how in ("done", "failed changed"):
            running = direction == "undo"
            if running != self.running:
                self.running = running
                self.journal.add("back" if running else "out", host=self.host, key=self.key, run=run)

    def boot(self) -> None:
        """Its machine has been started."""
        if self.at_boot and self.originally and not self.running:
            self.running = True
            self.journal.add("back", host=self.host, key=self.key, run="the boot")

    def put_back(self) -> None:
        """By somebody who knows nothing of the maintenance, such as configuration management, or a load balancer's reload."""
        if self.originally and not self.running:
            self.running = True
            self.journal.add("back", host=self.host, key=self.key, run="somebody")

    def cut_off(self) -> None:
        if self.job and self.clock.now < self.job[1]:
            self.ended.append(self.job)
            self.doing_until = 0.0
            self.job = (self.job[0], self.clock.now, CUT_OFF)

    @property
    def is_left_out(self) -> bool:
        """Whether it is out, or is about to be, though it ran before."""
        return self.originally and (not self.running or self.doing_until > self.clock.now)

    @property
    def was_cut_off(self) -> bool:
        return self.job is not None and self.job[2] == CUT_OFF

    def outcome(self, direction: str) -> str:
        """pending, done or failed; "" where nothing of the kind was begun."""
        if self.job is None or self.job[0] != direction:
            return ""
        if self.clock.now < self.job[1]:
            return "pending"
        return "done" if self.job[2] == "done" else "failed"


def all_out(steps: Sequence[Step]) -> bool:
    return not any(step.running for step in steps)
