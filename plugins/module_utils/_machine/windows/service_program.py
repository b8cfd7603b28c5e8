# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A program that the service manager of Windows begins and ends: what it says and hears, by Windows' own functions, without any wrapper.

Private to this collection.

Source of the constants and of the order of calls: Windows' documentation of service programs (StartServiceCtrlDispatcher,
RegisterServiceCtrlHandlerEx, SetServiceStatus).
"""

import ctypes
from typing import Any, Callable, List, Optional

from . import kernel

_OWN_PROCESS = 0x10
STOPPED, START_PENDING, STOP_PENDING, RUNNING = 1, 2, 3, 4
STOP, INTERROGATE, SHUTDOWN, PARAMCHANGE, PRESHUTDOWN = 1, 4, 5, 6, 15
ENDS = (STOP, SHUTDOWN, PRESHUTDOWN)
_ACCEPTED = 0x1 | 0x4 | 0x8 | 0x100  # stop, shutdown, new settings, preshutdown
DONE, NOT_KNOWN = 0, 120
_OWN_CODE, _NO_MANAGER = 1066, 1063


class _Status(ctypes.Structure):
    """SERVICE_STATUS"""

    _fields_ = [
        (name, ctypes.c_uint32) for name in ("kind", "state", "accepted", "code", "own_code", "checkpoint", "wait_hint")
    ]


class _Entry(ctypes.Structure):
    """SERVICE_TABLE_ENTRYW"""

    _fields_ = [("name", ctypes.c_wchar_p), ("main", ctypes.c_void_p)]


class ServiceProgram:
    """One such program.

    :arg name: of the service
    :arg takes: milliseconds that the service manager is asked to wait for its start and its end
    """

    def __init__(self, name: str, takes: int) -> None:
        self._name = name
        self._takes = takes
        self._handle: Any = None
        self.hears: Callable[[int], int] = lambda what: DONE if what == INTERROGATE else NOT_KNOWN
        """Called with what the service manager wants, in a thread of its own; returns what it is answered."""

    def say(self, state: int, code: int = 0) -> None:
        """:arg code: an exit code, of STOPPED"""
        is_pending = state not in (RUNNING, STOPPED)
        status = _Status(
            _OWN_PROCESS,
            state,
            _ACCEPTED if state == RUNNING else 0,
            _OWN_CODE if code else 0,
            code,
            int(is_pending),
            self._takes if is_pending else 0,
        )
        if self._handle:
            kernel.function("SetServiceStatus")(self._handle, ctypes.byref(status))

    def run(self, serve: Callable[[], int], failed: Callable[[Exception], None]) -> Optional[int]:
        """Serve until it ends; returns the exit code, None where no service manager has begun this process.

        :arg failed: called with what `serve` has raised
        """
        codes: List[int] = []
        make = vars(ctypes)["WINFUNCTYPE"]

        def main(count: int, words: Any) -> None:
            handler = make(ctypes.c_uint32, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_void_p)(
                lambda what, kind, data, context: self.hears(what)
            )
            self._handle = kernel.did("RegisterServiceCtrlHandlerExW", self._name, handler, None)
            self.say(START_PENDING)
            try:
                codes.append(serve())
            except Exception as error:  # nobody sees what Python would print
                codes.append(1)
                failed(error)
            self.say(STOPPED, codes[0])

        begin = make(None, ctypes.c_uint32, ctypes.c_void_p)(main)
        table = (_Entry * 2)(_Entry(self._name, ctypes.cast(begin, ctypes.c_void_p)), _Entry(None, None))
        if kernel.function("StartServiceCtrlDispatcherW")(table):
            return codes[0] if codes else 1
        error = kernel.last_error()
        if vars(ctypes)["get_last_error"]() != _NO_MANAGER and getattr(error, "winerror", 0) != _NO_MANAGER:
            raise error
        return None
