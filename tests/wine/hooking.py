# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hooks run for real on Windows, by their hand."""

import os
import subprocess
import sys
import time

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.step_runner import (
    ABSENT,
    PENDING,
    StepRun,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.step_runners import make_runners
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.windows import platform
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.windows.jobs import WindowsJobs
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._machine.acting import hook

platform.INTERPRETERS[".py"] = [sys.executable]  # as in program.py
PROGRAM = (sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "program.py"))
LONG = 120.0
"""Seconds in which anything here has happened."""

CONTEXT = {
    "happened": "scheduled",
    "machine": {"name": "web_1"},
    "event": {"id": "E1", "type": "Reboot", "resources": ["web_1"]},
}


def until(condition, what="it", seconds=LONG):
    """Wait until something is the case, and return it.

    :arg what: it, in words; or a function that says them when it did not happen
    """
    end = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        assert time.monotonic() < end, f"{what() if callable(what) else what} did not happen"
        time.sleep(0.05)


def content(path):
    """What a file says, nothing where there is none. One that is being written anew can't be opened for a moment."""
    try:
        return platform.patiently(path.read_text)
    except FileNotFoundError:
        return ""


def jobs_in(folder):
    return WindowsJobs(str(folder / "state" / "jobs"), "this boot", PROGRAM)


class Hooking:
    """Runs one hook."""

    def __init__(self, folder, text, ending=".py", phase="prepare"):
        self.folder = folder
        self.direction = "do" if phase == "prepare" else "undo"
        self.path = folder / f"a hook{ending}"
        self.path.write_text(text)
        self.step = hook("10-app", phase, path=str(self.path), context=CONTEXT)
        self.jobs = jobs_in(folder)
        self.hand = make_runners(self.jobs)[self.step["type"]]
        self.began = time.monotonic()

    def step_run(self, limit=LONG):
        return StepRun(self.step, self.direction, "job", limit, time.monotonic() - self.began, {})

    def begin(self, **options):
        return self.hand.begin(self.step_run(**options))

    def check(self, **options):
        return self.hand.check(self.step_run(**options))

    def end(self, **options):
        def over():
            progress = self.check(**options)
            return progress.state != PENDING and progress

        return until(over, "the end of the hook")

    def did(self, **options):
        """What comes of it, begun as a watcher does it: again while nothing is seen of it, as its keeper may be slow."""

        def over():
            progress = self.begin(**options)
            return progress.state not in (ABSENT, PENDING) and progress

        return until(over, "the end of the hook")

    @property
    def result(self):
        return self.jobs.poll("job").result

    @property
    def keeper(self):
        """The process that keeps it."""
        import json

        return json.loads((self.folder / "state" / "jobs" / "job" / "started").read_text())["pid"]


def kill(pid):
    """End one process at once, and nothing else."""
    subprocess.Popen(["taskkill", "/f", "/pid", str(pid)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).wait()
