# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What Azure does to machines when an event starts. The emulator runs it at every change (`--on-change`):

echo EVENT | AZURE_EMULATOR_CHANGE=started python3 -m machines.hypervisor

"""

import json
import os
import sys
import time
from typing import Any

from . import settings
from .machine import Machine

_LONGEST_FREEZE = 5.0  # seconds; at a raised speed nobody waits for more


def react(change: str, event: dict[str, Any]) -> None:
    if change != "started":
        return
    wanted = {resource.lower() for resource in event["resources"]}
    machines = [Machine(spec) for spec in settings.MACHINES if spec.resource.lower() in wanted]
    kind = event["type"]
    if kind == "Freeze":
        for machine in machines:
            machine.freeze(True)
        time.sleep(min(max(event["duration"], 1), _LONGEST_FREEZE))
        for machine in machines:
            machine.freeze(False)
    elif kind in ("Preempt", "Terminate"):
        for machine in machines:
            machine.pull_plug()
    elif kind == "Reboot" and event["source"] == "User":
        for machine in machines:
            machine.reboot()
    elif kind in ("Reboot", "Redeploy"):
        for machine in machines:
            machine.reset()


if __name__ == "__main__":
    react(os.environ["AZURE_EMULATOR_CHANGE"], json.load(sys.stdin))
