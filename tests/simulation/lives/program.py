# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The collection's machine program on a simulated Linux machine: on the virtual clock, over a store in memory."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from . import collection
from .aside import Meanwhile, aside
from .clock import Life
from .service import WALL
from .store import Store
from .transport import Transport

if TYPE_CHECKING:
    from .machine import Machine

beside_mark = collection.part("module_utils._machine.beside_mark")
clock = collection.part("module_utils._clock")
program = collection.part("module_utils._machine.program")
step_runner = collection.part("module_utils._machine.step_runner")


def performed(machine: Machine, asked: dict[str, Any], run: str) -> Life:
    """The answer to one call.

    :arg run: whose call it is
    """

    def moment() -> Any:
        return clock.Moment(WALL + machine.clock.now, machine.uptime, machine.boot_id)

    def perform(meanwhile: Meanwhile) -> Any:
        runner = Runner(machine, run)
        parts = program.Parts(
            store=Store(machine, run, meanwhile),
            clock=Clock(machine, meanwhile),
            moment=moment,
            transport=lambda timed: Transport(machine, run, timed, meanwhile),
            runner_of=lambda step: None if step["elsewhere"] else runner,
            watched=lambda steps: beside_mark.watched(machine.watcher and machine.watcher.published, moment(), steps),
        )
        return program.perform(asked, parts)

    return aside(perform)


class Clock(clock.Clock):
    """Nobody waits by it but one call."""

    def __init__(self, machine: Machine, meanwhile: Meanwhile) -> None:
        self._machine, self._meanwhile = machine, meanwhile

    def now(self) -> float:
        return self._machine.clock.now

    def wall(self) -> float:
        return WALL + self._machine.clock.now

    def sleep(self, seconds: float) -> None:
        if seconds > 0:
            self._meanwhile(self._slept(seconds))

    def _slept(self, seconds: float) -> Life:
        yield seconds
        yield from self._machine.frozen()


class Runner(step_runner.StepRunner):
    """Does the machine's own steps.

    :arg run: whose call it is
    """

    def __init__(self, machine: Machine, run: str) -> None:
        self._steps, self._run = {step.key: step for step in machine.steps}, run

    def before(self, step: Any) -> dict[str, Any]:
        return {"ran": self._steps[step["key"]].running}

    def begin(self, asked: Any) -> Any:
        step = self._steps[asked.step["key"]]
        if step.job is None or step.name != asked.job:
            step.name = asked.job
            step.begin(asked.direction, asked.limit, self._run)
        return self.check(asked)

    def check(self, asked: Any) -> Any:
        step = self._steps[asked.step["key"]]
        if step.job is None or step.name != asked.job:
            return step_runner.Progress(step_runner.ABSENT)
        if step.was_cut_off and asked.direction == "do" and asked.elapsed == math.inf:
            return step_runner.Progress(step_runner.CUT_OFF, "a start of the machine has ended it")
        return step_runner.Progress(step.outcome(asked.direction), "as it was drawn")

    def stop(self, asked: Any) -> Any:
        self._steps[asked.step["key"]].cut_off()
        return self.check(asked)
