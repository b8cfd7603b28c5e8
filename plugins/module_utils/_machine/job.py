# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A job as a process of its own: it is given a folder, and keeps the job whose order is there.

Private to this collection.
"""

import math
import os
import signal
import sys
from typing import Any, Dict, List

from .._clock import Clock
from . import files
from .hand import Piece

ORDER = "order"
"""The file of what is to be done, which only its owner can read: options of steps may be secrets."""

PREFIX = "azure-maintenance-"

_EVERY, _LONGEST = 1.0, 30.0  # seconds between two looks at who is left


def unit_of(name: str) -> str:
    """The unit of a job."""
    return f"{PREFIX}{name}.service"


def order_of(piece: Piece, limit: float, user: str, quiet: bool, boot_id: str, grace: float) -> Dict[str, Any]:
    """What stands in the file."""
    elapsed = piece.elapsed if math.isfinite(piece.elapsed) else None
    return {
        "piece": dict(piece._asdict(), elapsed=elapsed),
        "limit": limit,
        "user": user,
        "quiet": quiet,
        "boot_id": boot_id,
        "grace": grace,
    }


def main(arguments: List[str]) -> int:
    """Keep the job of a folder; the exit code, which nobody needs."""
    (folder,) = arguments
    order = files.read(os.path.join(folder, ORDER))
    if order is None:
        sys.stderr.write(f"{folder} holds no order of a job.\n")
        return 2
    from .hands.types import make_hands
    from .job_hand import JobHand
    from .jobs import Jobs

    jobs = Jobs(os.path.dirname(folder), order["boot_id"], order["grace"])
    said = order["piece"]
    piece = Piece(**dict(said, elapsed=math.inf if said["elapsed"] is None else said["elapsed"]))
    hand = make_hands(jobs)[piece.step["type"]]
    if not isinstance(hand, JobHand):
        raise TypeError(f"a step of type {piece.step['type']} is no job")
    name = os.path.basename(folder)
    unit = Unit(name)
    work = hand.work(piece)
    if jobs.keep(
        name, work, order["limit"], order["user"], order["quiet"], at_last=lambda number, frame: unit.pass_on()
    ):
        unit.stay(Clock())
    return 0


class Unit:
    """The unit of systemd that was made for one job, if this process is in it.

    :arg name: the job's
    :arg cgroup: this process's, as the kernel says
    :arg root: where control groups are mounted
    """

    def __init__(self, name: str, cgroup: str = "/proc/self/cgroup", root: str = "/sys/fs/cgroup") -> None:
        self._name = name
        self._cgroup = cgroup
        self._root = root

    def stay(self, clock: Clock) -> None:
        """Let be what the work has left running: with this process, its main one, systemd would end all of it."""
        pause = _EVERY
        while self.others():
            clock.sleep(pause)
            pause = min(2 * pause, _LONGEST)

    def pass_on(self) -> None:
        """The unit is being stopped: whoever is left is asked to end before systemd ends him."""
        for pid in self.others():
            try:
                os.kill(pid, signal.SIGTERM)
            except ProcessLookupError:
                pass

    def others(self) -> List[int]:
        """The processes in it beside this one."""
        try:
            with open(self._folder() + "/cgroup.procs", encoding="ascii") as file:
                return [int(line) for line in file if int(line) != os.getpid()]
        except (OSError, ValueError):
            return []

    def _folder(self) -> str:
        with open(self._cgroup, encoding="utf-8") as file:
            groups = [line.rstrip("\n").split(":", 2)[1:] for line in file]
        for name, path in sorted(groups, reverse=True):  # systemd's own hierarchy, where there are several
            if name in ("name=systemd", "") and path.endswith(f"/{unit_of(self._name)}"):
                return self._root + ("/systemd" if name else "") + path
        raise OSError("this process is in no unit of its own")
