# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps done for real on this machine, by its hands."""

import json
import os
import time

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._clock import Clock
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.jobs import RUNNING, Jobs
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.platform import native
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.step_runner import PENDING, StepRun
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.step_runners import make_runners
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._steps.steps import completed
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import ScriptedClock

LONG = 120
"""Seconds in which anything here has happened, also on a machine that is very busy."""


def until(condition, what="it"):
    """Wait until something is the case, and return it."""
    end = time.monotonic() + LONG
    while True:
        found = condition()
        if found:
            return found
        assert time.monotonic() < end, f"{what} did not happen"
        time.sleep(0.01)


def is_gone(pid):
    """Whether a process has ended."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
            return stat.read().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


def content(path):
    try:
        return path.read_text()
    except OSError:
        return ""


def jobs_in(folder, boot_id="this boot", grace=0.5):
    return Jobs(os.path.join(str(folder), "jobs"), boot_id, grace=grace)


def ended(jobs, name):
    """What is seen of a job when it has ended."""

    def over():
        seen = jobs.poll(name)
        return seen if seen.state != RUNNING else None

    return until(over, f"the end of job {name}")


def shell(script, *arguments):
    return lambda: native.become(["sh", "-c", script, "sh"] + [str(argument) for argument in arguments])


def started(tmp_path, name="job"):
    with open(str(tmp_path / "jobs" / name / "started"), encoding="ascii") as file:
        return json.load(file)


class LimitClock(Clock):
    """A keeper's clock: the limit of its job, LONG seconds, has come when a file is there, and not before.

    The keeper sees that when its job writes something.
    """

    def __init__(self, path):
        self._path = str(path)

    def now(self):
        return super().now() + LONG * os.path.exists(self._path)


class StandingClock(Clock):
    """A keeper's clock on which no job is ever at its limit."""

    def now(self):
        return 5000.0


class JobClock(ScriptedClock):
    """The clock of a job's work, which runs in a process of its own: time passes while it rests, and each rest is a line."""

    def __init__(self, path):
        super().__init__()
        self._path = str(path)

    def sleep(self, seconds):
        super().sleep(seconds)
        with open(self._path, "a", encoding="ascii") as file:
            file.write(f"{seconds:g}\n")
        time.sleep(0.01)


class Doing:
    """Does steps of one type."""

    def __init__(self, kind, folder, user=""):
        self.kind = kind
        self.jobs = jobs_in(folder)
        self.hand = make_runners(self.jobs, user)[kind]
        self._made = 0

    def step(self, **options):
        made, _words = completed(self.kind, **options)
        return dict(made, timeout=LONG, undo_timeout=LONG)

    def step_run(self, step, direction="do", limit=LONG):
        self._made += 1
        return StepRun(step, direction, f"job{self._made}", limit, 0.0, {})

    def begun(self, direction="do", limit=LONG, **options):
        """A step_run that was begun."""
        step_run = self.step_run(self.step(**options), direction, limit)
        self.hand.begin(step_run)
        return step_run

    def did(self, direction="do", limit=LONG, **options):
        """What came of a step in the end."""
        step_run = self.step_run(self.step(**options), direction, limit)
        progress = self.hand.begin(step_run)
        return progress if progress.state != PENDING else self.end_of(step_run)

    def end_of(self, step_run):
        def over():
            progress = self.hand.check(step_run)
            return progress.state != PENDING and progress

        return until(over, "the end of the step")
