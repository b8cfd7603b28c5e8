# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run of role maintain that is watched while it goes on: what it prints, and the memory and CPU seconds that it takes."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

PLAYBOOK = "cloudops.azure_maintenance.maintain"
CLOCK = os.sysconf("SC_CLK_TCK")


class LongRun:
    """One ansible-playbook, of the version in folder `root` (None: this one).

    waits: whether it has said that it waits
    lines: that it has printed so far; banners: those of them that are headings of tasks
    """

    def __init__(self, fleet, root=None, forks=20, **variables):
        self.waits, self.lines, self.banners, self.ended = False, 0, 0, None
        self._began = time.monotonic()
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
            self.lines += 1
            self.banners += line.startswith("TASK [")
            self.waits = self.waits or "  waits  " in line
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

    @property
    def seconds(self):
        """Since it was started."""
        return time.monotonic() - self._began

    def cpu(self):
        """CPU seconds of all of its processes, and of those that they have waited for."""
        return sum(sum(int(field) for field in fields[11:15]) for fields in self._processes().values()) / CLOCK

    def megabytes(self):
        """Of all of its processes, what several share only once (PSS)."""
        total = 0
        for pid in self._processes():
            try:
                rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
            except OSError:  # it has ended
                continue
            total += sum(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:"))
        return total / 1024

    def _processes(self):
        """It and all that descend from it, as ansible-core 2.19 and later put theirs into sessions of their own: their fields of stat."""
        found = {}
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                found[int(stat.parent.name)] = stat.read_text().rpartition(")")[2].split()
            except OSError:  # it has ended
                continue
        ours = {self._process.pid}
        while more := {pid for pid, fields in found.items() if int(fields[1]) in ours} - ours:
            ours |= more
        return {pid: found[pid] for pid in ours if pid in found}

    def end(self):
        """End it and all of its session that is left."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(self._process.pid, signal.SIGKILL)
        self._reader.join(20)
