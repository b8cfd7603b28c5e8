# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs that are units of systemd of their own: no sandbox, no restart and no end of whoever begins them is theirs.

What a unit is to do stands in its folder, for its own words can be read by every user of the machine: its process is given the folder, and
keeps the job whose order is there.

Private to this collection.
"""

import os
import signal
import subprocess
import sys
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence

from .._clock import Clock
from .._text import last_line
from . import files
from .jobs import ABSENT, ORDER, RUNNING, Jobs, Seen, order_of, step_run_in
from .platform import native
from .step_runner import JobFailed, NotBegun, StepRun
from .supervisor import GRACE, Work

STOPS_WITHIN = 10
"""Seconds that a unit has to end when it is stopped: more than its supervisor needs to end its work."""

ANSWERS_WITHIN = 3.0
"""Seconds that systemd has to answer."""

BEGINS_WITHIN = 2.0
"""Seconds in which a unit that was started has usually said that it has begun."""

MOST_LAUNCHES = 5
"""Times that a unit is started which never says so."""

_SYSTEMD = "/run/systemd/system"

PREFIX = "azure-maintenance-"

_EVERY, _LONGEST = 1.0, 30.0  # seconds between two polls of who is left


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


class SystemdJobs(Jobs):
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
        step_run: Optional[StepRun] = None,
    ) -> bool:
        """As :meth:`.jobs.Jobs.begin`. What the unit does is made anew there, out of the step_run.

        It is not waited for until it has begun. To begin one again that is on its way changes nothing.
        """
        if step_run is None:
            raise JobFailed("what it is to do can't be handed to a unit")
        native.account_of(user)
        self._make_folder(name)
        if self.poll(name).state != ABSENT:
            return False
        try:
            files.replace(self._path(name, ORDER), order_of(step_run, limit, user, quiet, self._boot_id, self._grace))
        except OSError as error:
            raise JobFailed(f"its order can't be written: {error.strerror}") from error
        return self._launch(name)

    def _launch(self, name: str) -> bool:
        said = self._ask(self._command(name))
        if said.rc and "already" in said.output:  # it is on its way: at boot it waits for its turn
            return False
        if said.rc and self._goes_down(said.output):
            raise NotBegun("it was not started: the system is going down")
        launches = self._launches.setdefault(name, [])
        if said.rc or len(launches) == MOST_LAUNCHES:
            self.stop(name)  # one that is late must not begin any more
            if self.poll(name).state != ABSENT:
                return True
            words = last_line(said.output) or f"`journalctl --unit={unit_of(name)}` says more"
            raise JobFailed(f"systemd could not begin it: {words}")
        launches.append(self._clock.now())
        return True

    def poll(self, name: str) -> Seen:
        """How far it is: one that was started a moment ago counts as running."""
        seen = super().poll(name)
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
            # Its supervisor ends what it keeps; what is left when the supervisor was killed, systemd does.
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
    return SystemdJobs(folder, boot_id, program, **more) if has_systemd() else Jobs(folder, boot_id, **more)


def unit_of(name: str) -> str:
    """The unit of a job."""
    return f"{PREFIX}{name}.service"


def main(arguments: List[str]) -> int:
    """Keep the job of a folder; the exit code, which nobody needs."""
    (folder,) = arguments
    order = files.read(os.path.join(folder, ORDER))
    if order is None:
        sys.stderr.write(f"{folder} holds no order of a job.\n")
        return 2
    from .job_runner import JobRunner
    from .step_runners import make_runners

    jobs = Jobs(os.path.dirname(folder), order["boot_id"], order["grace"])
    step_run = step_run_in(order)
    runner = make_runners(jobs)[step_run.step["type"]]
    if not isinstance(runner, JobRunner):
        raise TypeError(f"a step of type {step_run.step['type']} is no job")
    name = os.path.basename(folder)
    unit = Unit(name)
    work = runner.work(step_run)
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
