# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A control group for each machine.

Two reasons. systemd-nspawn with --keep-unit puts a machine's units below the group it was started in: without one each,
the machines would share groups, and systemd in one would wait for the processes of another. And a group remembers its
processes whoever their parent is: that is how exactly our processes are ended, even those of a run that was killed.
"""

import os
import pathlib
import signal
import time
from collections.abc import Iterator

from . import settings
from .host import FleetError

ROOT = pathlib.Path("/sys/fs/cgroup")


def _hierarchies() -> list[pathlib.Path]:
    """The hierarchies that systemd keeps its units in: one on cgroup v2, two on the older layouts."""
    if (ROOT / "cgroup.controllers").exists():
        return [ROOT]
    return [path for path in (ROOT / "systemd", ROOT / "unified") if (path / "cgroup.procs").exists()]


def add(name: str, pid: int) -> None:
    """Move a process into the group of this name; what it starts from now on is born there."""
    for hierarchy in _hierarchies():
        group = hierarchy / (settings.PREFIX + name)
        group.mkdir(exist_ok=True)
        (group / "cgroup.procs").write_text(str(pid), encoding="ascii")


def freeze(name: str, frozen: bool) -> None:
    for hierarchy in _hierarchies():
        switch = hierarchy / (settings.PREFIX + name) / "cgroup.freeze"
        if switch.exists():
            switch.write_text("1" if frozen else "0", encoding="ascii")
            return
    raise FleetError("no cgroup v2 on this box: its machines can't be frozen")


def names() -> list[str]:
    found = {path.name for hierarchy in _hierarchies() for path in hierarchy.glob(settings.PREFIX + "*")}
    return sorted(name[len(settings.PREFIX) :] for name in found)


def members(name: str) -> list[int]:
    """The processes in the group and below it. Each hierarchy has all of them, and to read one is half the work: tests ask every few milliseconds."""
    pids = set()
    for group in _groups(name, _hierarchies()[:1]):
        try:
            pids.update(int(word) for word in (group / "cgroup.procs").read_text(encoding="ascii").split())
        except OSError:
            pass  # the group went away while we looked
    return sorted(pids - {0, os.getpid()})


def clear(name: str, timeout: float = 10) -> None:
    """End every process of the group and remove it."""
    try:
        freeze(name, False)  # a frozen process does not die
    except FleetError:
        pass
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        pids = members(name)
        if not pids:
            break
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.05)
    for group in sorted(_groups(name, _hierarchies()), key=lambda path: len(path.parts), reverse=True):
        try:
            group.rmdir()
        except OSError:
            pass  # a process on its way out; the next run's clear() removes the group


def _groups(name: str, hierarchies: list[pathlib.Path]) -> Iterator[pathlib.Path]:
    for hierarchy in hierarchies:
        for folder, _subfolders, _files in os.walk(hierarchy / (settings.PREFIX + name)):
            yield pathlib.Path(folder)
