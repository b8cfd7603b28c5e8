# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The watcher as it is installed, on a folder that stands for a machine."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import uuid

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.platform import native
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.emulated import World

BUILDER = pathlib.Path(__file__).resolve().parents[5] / "roles" / "watcher" / "files" / "build_zipapp.py"


def build(path):
    """Write the program there, as the role builds it."""
    # By another Python, where the tests run on one that is too old for the controller
    subprocess.run([sys.executable if sys.version_info >= (3, 10) else "python3", str(BUILDER), str(path)], check=True)
    return str(path)


class Machine:
    """Settings, hooks, state, and the emulator that is its metadata service."""

    def __init__(self, folder, program, *words):
        self.folder, self.program = folder, program
        self.journal, self.processes = folder / "journal", []
        self.state, self.boot_id = folder / "state", str(uuid.uuid4())
        for each in ("prepare.d", "recover.d"):
            (folder / "hooks" / each).mkdir(parents=True)
        self.world = World(folder / "emulator", *words)
        self.settings = folder / "watcher.json"
        self.write()

    def write(self, **keys):
        whole = {"format": 1, "folder": str(self.folder / "state"), "hooks_folder": str(self.folder / "hooks")}
        whole.update(endpoint=self.world.endpoint, boot_timeout=0)
        self.settings.write_text(json.dumps(dict(whole, **keys)))
        self.settings.chmod(0o600)

    def hook(self, phase, name, script="true"):
        path = self.folder / "hooks" / f"{phase}.d" / name
        path.write_text(f"#!/bin/sh\necho {phase} {name} $AZURE_MAINTENANCE_ID >> {self.journal}\n{script}\n")
        path.chmod(0o755)
        return path

    def start(self, program="", inside=(), **environment):
        """:arg inside: a command that runs the watcher's"""
        command = [*inside, sys.executable, "-I", "-B", program or self.program, "watch"]
        command += ["--settings", str(self.settings), "--run-folder", str(self.folder / "run")]
        variables = dict(os.environ, AZURE_MAINTENANCE_BOOT_ID=self.boot_id, **environment)
        with (self.folder / "log").open("ab") as log:
            self.processes.append(subprocess.Popen(command, stdout=log, stderr=log, env=variables))
        return self.processes[-1]

    def stop(self):
        """The service is ended in order."""
        self.processes[-1].send_signal(signal.SIGTERM)
        assert self.processes[-1].wait(60) == 0

    def cut_power(self):
        """Everything that runs on it ends at once; what is started then runs in another boot."""
        self.processes[-1].kill()
        self.processes[-1].wait()
        for name in ("started", "work"):  # who watches a job, then what it watches
            for path in (self.state / "jobs").glob(f"*/{name}"):
                found = json.loads(path.read_text())
                if found["pid"] and found["start"] == native.start_of(found["pid"]):
                    with contextlib.suppress(ProcessLookupError):
                        (os.killpg if name == "work" else os.kill)(found["pid"], signal.SIGKILL)
        shutil.rmtree(str(self.folder / "run"))
        self.boot_id = str(uuid.uuid4())

    def event(self, **keys):
        return self.world.event(**dict({"type": "Reboot", "notice": 250, "tail": 1}, **keys))

    def cancel(self, event):
        self.world.move(event, "cancel")

    def lines(self):
        """What hooks have written: phase, name and event."""
        return self.journal.read_text().splitlines() if self.journal.exists() else []

    def hooks(self):
        return [line.rsplit(" ", 1)[0] for line in self.lines()]

    def log(self):
        """Of all its starts; nothing before the first."""
        log = self.folder / "log"
        return log.read_text() if log.exists() else ""

    def published(self):
        try:
            return json.loads((self.state / "watcher.json").read_text())
        except (OSError, ValueError):
            return {}

    def is_prepared_for(self, event):
        """By its mark, which what it publishes lags behind."""
        try:
            mark = json.loads((self.state / "mark.json").read_text())
        except OSError:
            return False
        return mark["phase"] == "prepared" and event in mark["events"]

    def is_watching(self):
        return self.published().get("looking") and self.published().get("name") == "web1"

    def does(self, what):
        return self.published().get("doing") == what

    def happened(self):
        """What was reported."""
        try:
            return [json.loads(line)["happened"] for line in (self.state / "history.jsonl").read_text().splitlines()]
        except OSError:
            return []

    def end(self):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()
        self.world.stop()
