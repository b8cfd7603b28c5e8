# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hooks run for real on this machine, by their hand."""

import math
import os
import time

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.jobs import Jobs
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.step_runner import PENDING, StepRun
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.step_runners import make_runners
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._machine.acting import hook
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._machine.doing import LONG, until

CONTEXT = {
    "happened": "scheduled",
    "machine": {"name": "web_1"},
    "event": {
        "id": "E1",
        "type": "Reboot",
        "resources": ["web_1"],
        "not_before_utc": "2026-01-01T00:15:00Z",
        "duration": -1,
    },
}


class Hooking:
    """Runs one hook; its text is a shell's."""

    def __init__(self, folder, text, phase="prepare", user="", name="10-app", boot_id="this boot"):
        self.folder = folder
        self.direction = "do" if phase == "prepare" else "undo"
        self.path = folder / "files" / name
        self.path.parent.mkdir(exist_ok=True)
        self.path.write_text("#!/bin/sh\n" + text + "\n")
        self.path.chmod(0o755)
        self.step = hook(name, phase, path=str(self.path), context=CONTEXT, user=user)
        self.began = time.monotonic()
        self.start_machine(boot_id)

    def start_machine(self, boot_id):
        """From now on the machine has been started anew."""
        self.boot_id = boot_id
        self.jobs = Jobs(os.path.join(str(self.folder), "state", "jobs"), boot_id, grace=0.5)
        self.hand = make_runners(self.jobs)[self.step["type"]]

    def step_run(self, limit=LONG, budget=math.inf):
        return StepRun(self.step, self.direction, "job", limit, time.monotonic() - self.began, {}, budget)

    def begin(self, **options):
        return self.hand.begin(self.step_run(**options))

    def check(self, **options):
        return self.hand.check(self.step_run(**options))

    def end(self, **options):
        """What came of this try."""

        def over():
            progress = self.check(**options)
            return progress.state != PENDING and progress

        return until(over, "the end of the hook")

    def did(self, **options):
        self.begin(**options)
        return self.end(**options)
