# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run of role maintain that is watched while it goes on: its ticks, and the memory and CPU seconds that it takes."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import NamedTuple

PLAYBOOK = "cloudops.azure_maintenance.maintain"
DECIDES = "Tick | Decide"
CLOCK = os.sysconf("SC_CLK_TCK")


class Tick(NamedTuple):
    """The moment in which a tick is decided: seconds, the main process's memory, the CPU seconds of all so far."""

    at: float
    megabytes: float
    cpu: float


class LongRun:
    """One ansible-playbook, of the version in folder `root` (None: this one).

    ticks: those so far; none of a version that has no ticks
    """

    def __init__(self, fleet, root=None, forks=20, **variables):
        self.ticks, self.ended = [], None
        environment = dict(os.environ, ANSIBLE_LOCALHOST_WARNING="false", ANSIBLE_DISPLAY_SKIPPED_HOSTS="false")
        environment.update(PYTHONUNBUFFERED="1", ANSIBLE_NOCOLOR="1")
        if root:
            environment["ANSIBLE_COLLECTIONS_PATH"] = f"{root}:{environment.get('ANSIBLE_COLLECTIONS_PATH', '')}"
        command = [str(Path(sys.executable).with_name("ansible-playbook")), PLAYBOOK, "--forks", str(forks)]
        command += ["-i", str(fleet.folder / "inventory.json"), "-e", json.dumps(variables)]
        self._last = []
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment,
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self._process.stdout:
            self._last = [*self._last[-40:], line]
            if DECIDES in line:
                self.ticks.append(Tick(time.monotonic(), self._resident(), self.cpu()))
        self._process.wait()
        self.ended = time.monotonic()

    def until(self, condition, seconds):
        """Wait for something to be so. The run must not end before, unless that is it."""
        deadline = time.monotonic() + seconds
        while not condition():
            if self.ended and not condition():
                raise SystemExit("the run ended early:\n" + "".join(self._last))
            if time.monotonic() > deadline:
                raise SystemExit(f"not so within {seconds} s; the run says:\n" + "".join(self._last))
            time.sleep(0.05)

    def cpu(self):
        """CPU seconds of all processes of its session, and of those that they have waited for."""
        total = 0
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rpartition(")")[2].split()
            except OSError:  # it has ended
                continue
            if int(fields[3]) == self._process.pid:
                total += sum(int(field) for field in fields[11:15])
        return total / CLOCK

    def end(self):
        """End it and all of its session that is left."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(self._process.pid, signal.SIGKILL)
        self._reader.join(20)

    def _resident(self):
        for line in Path(f"/proc/{self._process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
        return 0.0
