# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Services of Windows, by the service manager's own functions: those of the machine, as the texts of ``sc.exe`` are another one in each
language; and a program that the service manager begins and ends, without any wrapper.

Private to this collection.

Source of the constants and of the order of calls: Windows' documentation of service programs (StartServiceCtrlDispatcher,
RegisterServiceCtrlHandlerEx, SetServiceStatus).
"""

import ctypes
import os
import time
from typing import Any, Callable, List, Optional

from . import kernel

STOPPED, START_PENDING, STOP_PENDING, RUNNING, PAUSED = 1, 2, 3, 4, 7

_CONNECT, _QUERY_CONFIG, _CHANGE_CONFIG, _QUERY, _DEPENDENTS, _START, _STOP = 0x1, 0x1, 0x2, 0x4, 0x8, 0x10, 0x20
_STOP_IT, _ACTIVE = 1, 1
_NO_SUCH, _CANT_NOW, _NOT_ACTIVE, _RUNS_ALREADY, _DEPENDENTS_RUN = 1060, 1061, 1062, 1056, 1051
_MORE_DATA, _NO_SUCH_LEVEL, _NO_CHANGE, _DELAYED_INFO = 122, 124, 0xFFFFFFFF, 3
_LOOK_EVERY = 0.2

_AUTO, _MANUAL = 2, 3
_START_TYPES = {"auto": _AUTO, "delayed": _AUTO, "manual": _MANUAL}
"""By the start modes that ansible.windows knows. A delayed one is an automatic one with a setting more."""


class _Status(ctypes.Structure):
    """SERVICE_STATUS"""

    _fields_ = [
        (name, ctypes.c_uint32) for name in ("kind", "state", "accepted", "code", "own_code", "checkpoint", "wait_hint")
    ]


class _Dependent(ctypes.Structure):
    """ENUM_SERVICE_STATUSW"""

    _fields_ = [("name", ctypes.c_wchar_p), ("title", ctypes.c_wchar_p), ("status", _Status)]


class Service:
    """One service, by its name (not the one that is displayed).

    :raises FileNotFoundError: when the machine has none of this name
    :raises OSError: when the service manager does not let us
    """

    def __init__(self, name: str, rights: int = _QUERY) -> None:
        manager = kernel.did("OpenSCManagerW", None, None, _CONNECT)
        try:
            self._handle = kernel.function("OpenServiceW")(manager, name, rights)
            if not self._handle:
                error = kernel.last_error(name)
                raise FileNotFoundError(name) if _number(error) == _NO_SUCH else error
        finally:
            kernel.function("CloseServiceHandle")(manager)

    def __enter__(self) -> "Service":
        return self

    def __exit__(self, *error: Any) -> None:
        kernel.function("CloseServiceHandle")(self._handle)

    def status(self) -> Any:
        found = _Status()
        kernel.did("QueryServiceStatus", self._handle, ctypes.byref(found))
        return found

    def start_mode(self) -> str:
        """``auto``, ``delayed``, ``manual``, or "" for another one."""
        size = ctypes.c_uint32()
        ask = kernel.function("QueryServiceConfigW")
        if not ask(self._handle, None, 0, ctypes.byref(size)) and _number(kernel.last_error()) != _MORE_DATA:
            raise kernel.last_error()
        room = ctypes.create_string_buffer(max(size.value, 8))
        kernel.did("QueryServiceConfigW", self._handle, room, len(room), ctypes.byref(size))
        start_type = ctypes.cast(room, ctypes.POINTER(ctypes.c_uint32))[1]  # QUERY_SERVICE_CONFIGW
        if start_type != _AUTO:
            return "manual" if start_type == _MANUAL else ""
        is_delayed = ctypes.c_int()  # SERVICE_DELAYED_AUTO_START_INFO
        ask = kernel.function("QueryServiceConfig2W")
        if not ask(self._handle, _DELAYED_INFO, ctypes.byref(is_delayed), 4, ctypes.byref(size)):
            error = kernel.last_error()
            if _number(error) != _NO_SUCH_LEVEL:  # Wine has no such setting
                raise error
        return "delayed" if is_delayed.value else "auto"

    def set_start_mode(self, mode: str) -> None:
        kernel.did("ChangeServiceConfigW", self._handle, _NO_CHANGE, _START_TYPES[mode], _NO_CHANGE, *[None] * 7)
        if mode == "delayed":  # which only an automatic one can be
            is_delayed = ctypes.c_int(1)
            kernel.did("ChangeServiceConfig2W", self._handle, _DELAYED_INFO, ctypes.byref(is_delayed))

    def ask_to_stop(self) -> bool:
        """Whether it was asked; False when it takes no word just now.

        :raises OSError: when it can't be
        """
        if kernel.function("ControlService")(self._handle, _STOP_IT, ctypes.byref(_Status())):
            return True
        error = kernel.last_error()
        if _number(error) == _DEPENDENTS_RUN:
            raise OSError(
                0, f"services that depend on it run: {', '.join(self.dependents())}. Stop them in steps before this one"
            )
        if _number(error) not in (_CANT_NOW, _NOT_ACTIVE):
            raise error
        return False

    def ask_to_start(self) -> None:
        """:raises OSError: when it can't be"""
        if not kernel.function("StartServiceW")(self._handle, 0, None):
            error = kernel.last_error()
            if _number(error) != _RUNS_ALREADY:
                raise error

    def dependents(self) -> List[str]:
        """Services that run and need it."""
        size, count = ctypes.c_uint32(), ctypes.c_uint32()
        ask = kernel.function("EnumDependentServicesW")
        ask(self._handle, _ACTIVE, None, 0, ctypes.byref(size), ctypes.byref(count))
        room = ctypes.create_string_buffer(max(size.value, 1))
        kernel.did(
            "EnumDependentServicesW", self._handle, _ACTIVE, room, size.value, ctypes.byref(size), ctypes.byref(count)
        )
        found = ctypes.cast(room, ctypes.POINTER(_Dependent))
        return [str(found[number].name) for number in range(count.value)]


def _number(error: OSError) -> int:
    return int(getattr(error, "winerror", None) or 0)


def state_of(name: str) -> Optional[int]:
    """STOPPED, RUNNING and the like; None when the machine has no such service.

    :raises OSError: when the service manager does not say
    """
    try:
        with Service(name) as service:
            return int(service.status().state)
    except FileNotFoundError:
        return None


def start_mode_of(name: str) -> str:
    """How a service is started that is there; "" for what no step changes.

    :raises OSError: when the service manager does not say
    """
    with Service(name, _QUERY_CONFIG) as service:
        return service.start_mode()


def set_start_mode(name: str, mode: str) -> None:
    """:raises OSError: when it can't be set"""
    with Service(name, _CHANGE_CONFIG) as service:
        service.set_start_mode(mode)


def stop(name: str) -> None:
    """Stop it, and wait until it has ended, however long that takes.

    :raises OSError: when it can't be stopped
    """
    with Service(name, _QUERY | _STOP | _DEPENDENTS) as service:
        was_asked = False
        while service.status().state != STOPPED:
            was_asked = was_asked or service.ask_to_stop()
            time.sleep(_LOOK_EVERY)


def start(name: str) -> None:
    """Start it, and wait until it runs, however long that takes.

    :raises OSError: when it can't be started
    """
    with Service(name, _QUERY | _START) as service:
        while service.status().state == STOP_PENDING:
            time.sleep(_LOOK_EVERY)
        service.ask_to_start()
        while True:
            status = service.status()
            if status.state == RUNNING:
                return
            if status.state == STOPPED:
                own = f", its own {status.own_code}" if status.own_code else ""
                raise OSError(0, f"it has ended while it started (error {status.code}{own})")
            if status.state == PAUSED:
                raise OSError(0, "it is paused: let it go on with Resume-Service, or stop it")
            time.sleep(_LOOK_EVERY)


# ---- this program as a service ----

_OWN_PROCESS = 0x10
STOP, INTERROGATE, SHUTDOWN, PARAMCHANGE, PRESHUTDOWN = 1, 4, 5, 6, 15
ENDS = (STOP, SHUTDOWN, PRESHUTDOWN)
_ACCEPTED = 0x1 | 0x4 | 0x8 | 0x100  # stop, shutdown, new settings, preshutdown
DONE, NOT_KNOWN = 0, 120
_OWN_CODE, _NO_MANAGER = 1066, 1063


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
        self._must_end = False
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

    def run(
        self,
        serve: Callable[[], int],
        failed: Callable[[BaseException], None],
        is_crash: Callable[[int], bool] = lambda code: False,
    ) -> Optional[int]:
        """Serve until it ends; returns the exit code, None where no service manager has begun this process.

        :arg failed: called with what `serve` has raised
        :arg is_crash: whether it is to be started again after this exit code, see :meth:`_end`
        """
        codes: List[int] = []
        make = vars(ctypes)["WINFUNCTYPE"]

        def main(count: int, words: Any) -> None:
            handler = make(ctypes.c_uint32, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_void_p)(
                lambda what, kind, data, context: self._heard(what)
            )
            self._handle = kernel.did("RegisterServiceCtrlHandlerExW", self._name, handler, None)
            self.say(START_PENDING)
            try:
                codes.append(serve())
            except (Exception, SystemExit) as error:  # nobody sees what Python would print
                codes.append(1)
                failed(error)
            self._end(codes[0], is_crash)

        begin = make(None, ctypes.c_uint32, ctypes.c_void_p)(main)
        table = (_Entry * 2)(_Entry(self._name, ctypes.cast(begin, ctypes.c_void_p)), _Entry(None, None))
        if kernel.function("StartServiceCtrlDispatcherW")(table):
            return codes[0] if codes else 1
        error = kernel.last_error()
        if vars(ctypes)["get_last_error"]() != _NO_MANAGER and getattr(error, "winerror", 0) != _NO_MANAGER:
            raise error
        return None

    def _heard(self, what: int) -> int:
        self._must_end = self._must_end or what in ENDS
        return self.hears(what)

    def _end(self, code: int, is_crash: Callable[[int], bool]) -> None:
        """The service manager starts a service again whose process has ended without a word, and leaves alone one that says that it has
        stopped, whatever its code (unless the service is installed with the flag for that)."""
        if is_crash(code) and not self._must_end:
            os._exit(code)
        self.say(STOPPED, code)
