# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs that are units of systemd of their own: no sandbox, no restart and no end of whoever begins them is theirs.

What a unit is to do stands in its folder, for its own words can be read by every user of the machine.

Private to this collection.
"""

import os
import subprocess
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence

from .._clock import Clock
from .._text import last_line
from . import files
from .hand import Piece
from .job import ORDER, order_of, unit_of
from .job_failed import JobFailed, NotBegun
from .jobs import ABSENT, RUNNING, Jobs, Seen
from .keeper import GRACE, Work
from .own_processes import account_of

STOPS_WITHIN = 10
"""Seconds that a unit has to end when it is stopped: more than its keeper needs to end its work."""

ANSWERS_WITHIN = 3.0
"""Seconds that systemd has to answer."""

BEGINS_WITHIN = 2.0
"""Seconds in which a unit that was started has usually said that it has begun."""

MOST_LAUNCHES = 5
"""Times that a unit is started which never says so."""

_SYSTEMD = "/run/systemd/system"


class Said(NamedTuple):
    """What a command of systemd's came to."""

    rc: Optional[int]  # None when it did not answer in time
    output: str


def has_systemd() -> bool:
    """Whether systemd runs this machine."""
    return os.path.isdir(_SYSTEMD)


def asked(command: Sequence[str]) -> Said:
    """Run a command of systemd's, and wait for its answer."""
    environment = dict(os.environ, LC_ALL="C")
    try:
        # There is no AnsibleModule here whose run_command could be called.
        process = subprocess.Popen(  # pylint: disable=ansible-bad-function
            list(command), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment
        )
    except OSError as error:
        return Said(127, f"{command[0]}: {error.strerror}")
    with process:
        try:
            output = process.communicate(timeout=ANSWERS_WITHIN)[0]
        except subprocess.TimeoutExpired:
            process.kill()
            return Said(None, f"{command[0]} did not answer within {ANSWERS_WITHIN:g} s")
    return Said(process.returncode, output.decode("utf-8", "replace"))


class UnitJobs(Jobs):
    """Jobs as transient units.

    :arg program: the command that, with ``job`` and a folder behind it, keeps the job of that folder
    :arg ask: runs a command of systemd's
    """

    def __init__(
        self,
        folder: str,
        boot_id: str,
        program: Sequence[str],
        grace: float = GRACE,
        ask: Callable[[Sequence[str]], Said] = asked,
        clock: Optional[Clock] = None,
    ) -> None:
        super().__init__(folder, boot_id, grace)
        self._program = list(program)
        self._ask = ask
        self._clock = clock or Clock()
        self._launches: Dict[str, List[float]] = {}  # by name: when its unit was started

    def begin(
        self,
        name: str,
        work: Work,
        limit: float,
        user: str = "",
        quiet: bool = False,
        piece: Optional[Piece] = None,
    ) -> bool:
        """As :meth:`.jobs.Jobs.begin`. What the unit does is made anew there, out of the piece.

        It is not waited for until it has begun. To begin one again that is on its way changes nothing.
        """
        if piece is None:
            raise JobFailed("what it is to do can't be handed to a unit")
        account_of(user)
        self._make_folder(name)
        if self.look(name).state != ABSENT:
            return False
        try:
            files.replace(self._path(name, ORDER), order_of(piece, limit, user, quiet, self._boot_id, self._grace))
        except OSError as error:
            raise JobFailed(f"its order can't be written: {error.strerror}") from error
        return self._launch(name)

    def _launch(self, name: str) -> bool:
        said = self._ask(self._command(name))
        if said.rc and "already" in said.output:  # it is on its way: at boot it waits for its turn
            return False
        if said.rc and self._goes_down(said.output):
            raise NotBegun("it was not begun: the system is going down")
        launches = self._launches.setdefault(name, [])
        if said.rc or len(launches) == MOST_LAUNCHES:
            self.stop(name)  # one that is late must not begin any more
            if self.look(name).state != ABSENT:
                return True
            words = last_line(said.output) or f"`journalctl --unit={unit_of(name)}` says more"
            raise JobFailed(f"systemd could not begin it: {words}")
        launches.append(self._clock.now())
        return True

    def look(self, name: str) -> Seen:
        """How far it is: one that was started a moment ago counts as running."""
        seen = super().look(name)
        launches = self._launches.get(name)
        if seen.state == ABSENT and launches and self._clock.now() < launches[-1] + BEGINS_WITHIN:
            return Seen(RUNNING)
        return seen

    def stop(self, name: str) -> None:
        super().stop(name)
        self._launches.pop(name, None)  # it has begun, or can't any more

    def _command(self, name: str) -> List[str]:
        return [
            "systemd-run",
            "--quiet",
            "--no-block",
            "--collect",
            f"--unit={unit_of(name)}",
            "--description=A job of the watcher azure-maintenance",
            # Its keeper ends what it keeps; what is left when the keeper was killed, systemd does.
            "--property=KillMode=mixed",
            # What comes up after it goes down before it: the watcher must not see its hooks die with the system.
            "--property=Before=azure-maintenance.service",
            f"--property=TimeoutStopSec={STOPS_WITHIN}",
            "--",
            *self._program,
            "job",
            self._path(name),
        ]

    def _goes_down(self, output: str) -> bool:
        return "destructive" in output or self._ask(["systemctl", "is-system-running"]).output.strip() == "stopping"


def jobs_of(folder: str, boot_id: str, program: Sequence[str], **more: Any) -> Jobs:
    """The jobs of a watcher: units where systemd runs the machine, processes elsewhere."""
    return UnitJobs(folder, boot_id, program, **more) if has_systemd() else Jobs(folder, boot_id, **more)
