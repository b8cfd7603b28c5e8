# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The watcher as a service of Windows.

Private to this collection.

A process that no service manager has begun is one in a console: closing its window, the end of its session, Ctrl+C and the end of the
machine end its loop as well.
"""

import ctypes
import os
import sys
from typing import Any, List

from ..._clock import Clock
from ..._machine import trust
from ..._machine.system import WatchedSystem
from ..._machine.windows import kernel
from ..._machine.windows.services import (
    DONE,
    ENDS,
    INTERROGATE,
    NOT_KNOWN,
    PARAMCHANGE,
    RUNNING,
    STOP,
    STOP_PENDING,
    ServiceProgram,
)
from ..host.this_host import HOST
from ..reports.systemd_transport import ERROR, Log, Notify, StreamLog
from .loop import Loop
from .service import BAD_SETTINGS, NOT_TRUSTED, Manager
from .service import run as run_by
from .windows_log import BothLogs, EventLog, FileLog

NAME = HOST.watcher.name
LOG = os.path.join("log", f"{NAME}.log")
STOPS_WITHIN = 20000
"""Milliseconds that the service manager is asked to wait for the end: what runs goes on by itself, and a tick lasts some seconds at most."""


class WindowsManager(Manager):
    """What service manager and console have in common."""

    def objection(self, settings: str, folder: str, program: str) -> str:
        """Whoever may write what a process of SYSTEM's runs by is SYSTEM."""
        for path in (os.path.abspath(sys.executable), os.path.abspath(program)):
            why = trust.objection(path)
            if why:
                return why
        return trust.folder_objection(folder)


class Console(WindowsManager):
    """A console, in which a person tries it out."""

    def log(self, clock: Clock, folder: str) -> Log:
        return StreamLog(sys.stderr, clock)

    def notify(self) -> Notify:
        return Notify({}, lambda address, message: False)

    def connect(self, loop: Loop, system: WatchedSystem) -> None:
        def ended(event: int) -> int:
            loop.stop()
            return 1

        self._handler = vars(ctypes)["WINFUNCTYPE"](ctypes.c_int, ctypes.c_uint32)(ended)  # as long as it may be called
        kernel.did("SetConsoleCtrlHandler", self._handler, True)


class ServiceManager(WindowsManager):
    """The service manager."""

    def __init__(self, program: ServiceProgram) -> None:
        self._program = program
        self._loop: Any = None
        self._system: Any = None
        self._must_stop = False
        program.hears = self.control

    def log(self, clock: Clock, folder: str) -> Log:
        return BothLogs(FileLog(os.path.join(folder or HOST.state, LOG), clock), EventLog(NAME))

    def notify(self) -> Notify:
        return _StatusOfService(self._program)

    def connect(self, loop: Loop, system: WatchedSystem) -> None:
        self._loop, self._system = loop, system
        if self._must_stop:
            loop.stop()

    def control(self, what: int) -> int:
        """What the service manager wants; called in a thread of its own. Returns what it is answered."""
        if what in ENDS:
            self._program.say(STOP_PENDING)
            self._must_stop = True
            if self._loop:
                self._system.going_down = what != STOP
                self._loop.stop()
            return DONE
        if what == PARAMCHANGE and self._loop:
            self._loop.hang_up()
        return DONE if what in (INTERROGATE, PARAMCHANGE) else NOT_KNOWN


class _StatusOfService(Notify):
    def __init__(self, program: ServiceProgram) -> None:
        super().__init__({}, lambda address, message: False)
        self._program = program

    def ready(self) -> None:
        self._program.say(RUNNING)

    def stopping(self) -> None:
        self._program.say(STOP_PENDING)


def is_crash(code: int) -> bool:
    """Whether Windows is to start it again after this exit code. What is left needs a person, who sees a service that has stopped: settings
    that can't be used, and files that others may have changed. On Linux its unit says so."""
    return code not in (0, BAD_SETTINGS, NOT_TRUSTED)


def run(version: str, arguments: List[str], program: str) -> int:
    """Be the service, or the process in a console, until somebody ends it; returns the exit code.

    See :func:`.service.run`.
    """
    service = ServiceProgram(NAME, STOPS_WITHIN)
    code = service.run(
        lambda: run_by(version, arguments, program, manager=ServiceManager(service)),
        lambda error: EventLog(NAME).say(f"The watcher has failed: {type(error).__name__}: {error}", ERROR),
        is_crash,
    )
    return run_by(version, arguments, program, manager=Console()) if code is None else code
