# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The watcher's system on Linux: systemd says whether the boot is over, and whether the machine goes down.

Private to this collection.

systemd itself is the only reliable source: /run/nologin is also there while a shutdown is only planned, and comes late when it
is not; what is in /run/systemd/shutdown speaks of planned ones alone.
"""

import os
import select
import threading
import uuid
from typing import Callable, Mapping, Sequence

from ..._clock import Clock, Moment
from ..._machine import files
from ..._machine.jobs import Jobs
from ..._machine.system import STARTING, System, Wake, WatchedSystem, is_system_running

SYSTEMD = "/run/systemd/system"  # is there where systemd is the system's manager
BOOT_ID = "AZURE_MAINTENANCE_BOOT_ID"  # in the environment of the unit
ASK_EVERY = 1.0  # seconds; each time costs some ms of CPU, so it is not asked without need
STOPPING = "stopping"


class LinuxSystem(WatchedSystem):
    """This machine.

    :arg boot_timeout: seconds after which the boot's jobs are not waited for any longer
    :arg ask: says systemd's word for how the system is; "" where there is none
    """

    def __init__(
        self, clock: Clock, boot_timeout: float, ask: "Callable[[], str]", system: System, has_systemd: bool = True
    ) -> None:
        self._clock = clock
        self._boot_timeout = boot_timeout
        self._ask = ask
        self._system = system
        self._boot_id = system.boot_id()
        self._began = clock.now()
        self._has_systemd = has_systemd
        self._is_settled = not has_systemd
        self._closely = threading.Event()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="system", daemon=True)

    @property
    def settled(self) -> bool:  # type: ignore[override]
        return self._is_settled or self._clock.now() - self._began >= self._boot_timeout

    def moment(self) -> Moment:
        return Moment(self._clock.wall(), self._system.uptime(), self._boot_id)

    def start(self) -> None:
        if self._has_systemd:
            self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._closely.set()

    def watch_closely(self, closely: bool) -> None:
        if closely != self._closely.is_set() and not self._stop.is_set():
            (self._closely.set if closely else self._closely.clear)()

    def _run(self) -> None:
        while not self._stop.is_set():
            self.ask()
            if self._is_settled:
                self._closely.wait()
            self._stop.wait(ASK_EVERY)

    def ask(self) -> None:
        """See how the system is."""
        word = self._ask()
        self.going_down = word == STOPPING
        if word not in STARTING and not self.going_down:
            self._is_settled = True


def watched_system(clock: Clock, boot_timeout: float, system: System) -> LinuxSystem:
    return LinuxSystem(clock, boot_timeout, is_system_running, system, os.path.isdir(SYSTEMD))


def this_system(environment: Mapping[str, str]) -> System:
    """This machine; its boot id as the unit has it from systemd, where there is one."""
    said = environment.get(BOOT_ID, "")
    return System(str(uuid.UUID(said)) if said else "")


class PipeWake(Wake):
    """A pipe: unlike a lock, it may be used from the handler of a signal."""

    def __init__(self) -> None:
        self._reader, self._writer = os.pipe()
        for descriptor in (self._reader, self._writer):
            os.set_blocking(descriptor, False)

    def wait(self, seconds: float) -> None:
        if select.select([self._reader], [], [], max(0.0, seconds))[0]:
            os.read(self._reader, 4096)

    def wake(self) -> None:
        try:
            os.write(self._writer, b".")
        except BlockingIOError:  # it is full of them
            pass


def make_wake() -> Wake:
    return PipeWake()


def make_jobs(folder: str, boot_id: str, program: Sequence[str]) -> Jobs:
    """What steps and hooks are begun with.

    :arg program: the command of this program, for those jobs that are processes of it
    """
    from ..._machine.systemd_jobs import jobs_of  # only who begins jobs needs it

    return jobs_of(folder, boot_id, program)


def prepare_state_folder(folder: str) -> None:
    """Have it, for this user alone where nobody has made it yet; systemd's makes it so that everybody sees whether there is a mark.

    :raises OSError: when that can't be
    """
    files.make_folder(folder)


def prepare_run_folder(folder: str, boot_id: str) -> None:
    """Have nothing in it of another boot: where it is, Linux keeps nothing."""
