# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a watcher does with its hooks, and nothing else of it: the main program of a zip with the collection's module_utils.

    python3 -I PYZ job FOLDER           as systemd starts it, for one job
    python3 -I PYZ prepared|recovered [going_down] [KEY=VALUE of the request, in JSON]

The second one goes on tick by tick, and prints the last answer.
"""

import json
import os
import signal
import sys
import time

from azure_maintenance._clock import Clock
from azure_maintenance._machine import systemd_jobs
from azure_maintenance._machine.program import Parts, perform
from azure_maintenance._machine.step_runners import make_runners
from azure_maintenance._machine.store import FOLDER, FolderStore
from azure_maintenance._machine.system import System, moment_of
from azure_maintenance._machine.systemd_jobs import asked, jobs_of
from azure_maintenance._watcher.settings.hooks import Hooks, with_context
from azure_maintenance._watcher.settings.values import HookOptions

HOOKS = "/etc/azure-maintenance/hooks"
CONTEXT = {"happened": "scheduled", "machine": {"name": "Lone-VM"}, "event": {"id": "EVENT-ID", "type": "Reboot"}}
ANSWER = "/var/tmp/answer.json"
TICK = 0.1


def main():
    if sys.argv[1] == "job":
        return systemd_jobs.main(sys.argv[2:])
    wishes = dict(text.split("=", 1) for text in sys.argv[2:] if "=" in text)
    ask = dict({name: json.loads(value) for name, value in wishes.items()}, do="go", to=sys.argv[1])
    once = "going_down" in sys.argv
    if once:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        open(ANSWER + ".waits", "w").close()
        while asked(["systemctl", "is-system-running"]).output.strip() != "stopping":
            time.sleep(TICK)
    clock, system = Clock(), System()
    options = json.loads(wishes.get("hooks", "{}"))
    hooks = Hooks(HOOKS, {key: HookOptions(**one) for key, one in options.items()})
    found = [hooks.found(phase, "Reboot") for phase in ("prepare", "recover")]
    steps = [step for one in found for step in with_context(one.steps, CONTEXT)]
    store = FolderStore(FOLDER, clock)
    program = [sys.executable, "-I", os.path.abspath(sys.argv[0])]
    hands = make_runners(jobs_of(store.jobs, system.boot_id(), program))
    while True:
        mark = store.read() or {"number": 0}
        holder = {"kind": "watcher", "run": "watcher", "job": "", "controller": "Lone-VM"}
        options = {"run": "watcher", "number": mark["number"] + 1, "holder": holder}
        answer = perform(
            {"options": options, "steps": steps, "requests": [dict({"left": 600.0, "events": ["EVENT-ID"]}, **ask)]},
            Parts(
                store=store,
                clock=clock,
                moment=lambda: moment_of(system, clock),
                transport=lambda clock: None,
                runner_of=lambda step: hands[step["type"]],
            ),
        )["answers"][0]
        if once or answer["state"] not in ("preparing", "recovering"):
            break
        time.sleep(TICK)
    with open(ANSWER + ".new", "w") as file:
        json.dump(answer, file)
        file.flush()
        os.fsync(file.fileno())
    os.rename(ANSWER + ".new", ANSWER)
    print(json.dumps(answer))
    return 0


if __name__ == "__main__":
    sys.exit(main())
