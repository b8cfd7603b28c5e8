# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The watcher as a service of Windows: what the service manager says and hears, by its own functions, without any wrapper.

Private to this collection.

Source of the constants and of the order of calls: Windows' documentation of service programs (StartServiceCtrlDispatcher,
RegisterServiceCtrlHandlerEx, SetServiceStatus). A process that no service manager has begun is one in a console: closing its window, the
end of its session, Ctrl+C and the end of the machine end its loop as well.
"""

import ctypes
import os
import sys
from typing import Any, Callable, List

from ..._clock import Clock
from ..._machine import trust
from ..._machine.windows import kernel
from ..host.this_host import HOST
from ..reports.systemd_transport import Log, Notify, StreamLog
from .loop import Loop
from .service import Manager
from .service import run as run_by
from .watched_system import WatchedSystem
from .windows_log import BothLogs, EventLog, FileLog

NAME = "azure-maintenance"
LOG = os.path.join("log", "azure-maintenance.log")

_OWN_PROCESS = 0x10
STOPPED, START_PENDING, STOP_PENDING, RUNNING = 1, 2, 3, 4
STOP, INTERROGATE, SHUTDOWN, PARAMCHANGE, PRESHUTDOWN = 1, 4, 5, 6, 15
_ACCEPTED = 0x1 | 0x4 | 0x8 | 0x100  # stop, shutdown, new settings, preshutdown
_DONE, _NOT_KNOWN, _OWN_CODE, _NO_MANAGER = 0, 120, 1066, 1063
STOPS_WITHIN = 20000
"""Milliseconds that the service manager is asked to wait for the end: what runs goes on by itself, and a tick lasts some seconds at most."""


class _Status(ctypes.Structure):
    """SERVICE_STATUS"""

    _fields_ = [
        (name, ctypes.c_uint32) for name in ("kind", "state", "accepted", "code", "own_code", "checkpoint", "wait_hint")
    ]


class _Entry(ctypes.Structure):
    """SERVICE_TABLE_ENTRYW"""

    _fields_ = [("name", ctypes.c_wchar_p), ("main", ctypes.c_void_p)]


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
    """The service manager.

    :arg set_status: reports a state, whether it may be ended, an exit code and the milliseconds that it takes
    """

    def __init__(self, set_status: Callable[[int, int, int], None]) -> None:
        self._set_status = set_status
        self._loop: Any = None
        self._system: Any = None
        self._must_stop = False

    def log(self, clock: Clock, folder: str) -> Log:
        return BothLogs(FileLog(os.path.join(folder or HOST.state, LOG), clock), EventLog(NAME))

    def notify(self) -> Notify:
        return _StatusOfService(self._set_status)

    def connect(self, loop: Loop, system: WatchedSystem) -> None:
        self._loop, self._system = loop, system
        if self._must_stop:
            loop.stop()

    def control(self, what: int) -> int:
        """What the service manager wants; called in a thread of its own. Returns what it is answered."""
        if what in (STOP, SHUTDOWN, PRESHUTDOWN):
            self._set_status(STOP_PENDING, 0, STOPS_WITHIN)
            self._must_stop = True
            if self._loop:
                self._system.going_down = what != STOP
                self._loop.stop()
            return _DONE
        if what == PARAMCHANGE and self._loop:
            self._loop.hang_up()
        return _DONE if what in (INTERROGATE, PARAMCHANGE) else _NOT_KNOWN


class _StatusOfService(Notify):
    def __init__(self, set_status: Callable[[int, int, int], None]) -> None:
        super().__init__({}, lambda address, message: False)
        self._set_status = set_status

    def ready(self) -> None:
        self._set_status(RUNNING, 0, 0)

    def stopping(self) -> None:
        self._set_status(STOP_PENDING, 0, STOPS_WITHIN)


def run(version: str, arguments: List[str], program: str) -> int:
    """Be the service, or the process in a console, until somebody ends it; returns the exit code.

    See :func:`.service.run`.
    """
    codes: List[int] = []
    make = vars(ctypes)["WINFUNCTYPE"]

    def main(count: int, words: Any) -> None:
        handle: List[Any] = []

        def set_status(state: int, code: int, takes: int) -> None:
            status = _Status(
                _OWN_PROCESS,
                state,
                _ACCEPTED if state == RUNNING else 0,
                _OWN_CODE if code else 0,
                code,
                0 if state in (RUNNING, STOPPED) else 1,
                takes,
            )
            if handle:
                kernel.function("SetServiceStatus")(handle[0], ctypes.byref(status))

        manager = ServiceManager(set_status)
        handler = make(ctypes.c_uint32, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_void_p)(
            lambda what, kind, data, context: manager.control(what)
        )
        handle.append(kernel.did("RegisterServiceCtrlHandlerExW", NAME, handler, None))
        set_status(START_PENDING, 0, STOPS_WITHIN)
        try:
            codes.append(run_by(version, arguments, program, manager=manager))
        except Exception as error:  # nobody sees what Python would print
            codes.append(1)
            EventLog(NAME).say(f"The watcher has failed: {type(error).__name__}: {error}", 3)
        set_status(STOPPED, codes[0], 0)

    begin = make(None, ctypes.c_uint32, ctypes.c_void_p)(main)
    table = (_Entry * 2)(_Entry(NAME, ctypes.cast(begin, ctypes.c_void_p)), _Entry(None, None))
    if not kernel.function("StartServiceCtrlDispatcherW")(table):
        error = kernel.last_error()
        if vars(ctypes)["get_last_error"]() != _NO_MANAGER and getattr(error, "winerror", 0) != _NO_MANAGER:
            raise error
        return run_by(version, arguments, program, manager=Console())
    return codes[0] if codes else 1
