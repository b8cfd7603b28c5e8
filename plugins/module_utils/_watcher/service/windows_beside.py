# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The services of Windows beside the watcher: the health endpoint and the sender of reports, each a process of its own, as an account of its
own.

Private to this collection.

They log to the event log alone, under the watcher's source: they may write no file of the watcher's. In a console they log there, until
Ctrl+C.
"""

import sys
import threading
from typing import Callable, List, NamedTuple

from ..._clock import Clock
from ..._machine.windows.services import DONE, ENDS, INTERROGATE, NOT_KNOWN, RUNNING, STOP_PENDING, ServiceProgram
from ..health import main as health
from ..host.host import Service
from ..host.this_host import HOST
from ..reports.systemd_transport import ERROR, WARNING, Log, StreamLog
from .windows_log import EventLog

STOPS_WITHIN = 15000
"""Milliseconds that the service manager is asked to wait for the end: the sender gives what is under way 8 s."""


class Beside(NamedTuple):
    """What such a service works with."""

    log: Log
    stop: threading.Event  # it is to end
    ready: Callable[[], None]  # to be called when it has begun


def run(service: Service, serve: Callable[[Beside], int]) -> int:
    """Be the service, or the same in a console, until somebody ends it; returns the exit code.

    :arg serve: does the work until it is to end; returns the exit code
    """
    program, stop = ServiceProgram(service.name, STOPS_WITHIN), threading.Event()

    def hears(what: int) -> int:
        if what in ENDS:
            program.say(STOP_PENDING)
            stop.set()
        return DONE if what in (*ENDS, INTERROGATE) else NOT_KNOWN

    def begin() -> int:
        program.hears = hears
        return serve(Beside(EventLog(HOST.watcher.name), stop, lambda: program.say(RUNNING)))

    def failed(error: BaseException) -> None:
        EventLog(HOST.watcher.name).say(f"{service.name} has failed: {type(error).__name__}: {error}", ERROR)

    code = program.run(begin, failed)
    if code is not None:
        return code
    try:
        return serve(Beside(StreamLog(sys.stderr, Clock()), stop, lambda: None))
    except KeyboardInterrupt:
        return 0


def answer_health(arguments: List[str]) -> int:
    """Be the health endpoint.

    :arg arguments: see :mod:`..health.main`
    """
    name = HOST.health.name

    def serve(beside: Beside) -> int:
        try:
            endpoint = health.OwnSockets(
                health.options_of(arguments), Clock(), lambda words: beside.log.say(f"{name}: {words}", WARNING)
            )
        except ValueError as error:
            beside.log.say(f"{name} does not run: {error}", ERROR)
            return health.WRONG_USAGE
        beside.ready()
        while not beside.stop.is_set():
            endpoint.turn()
        return 0

    return run(HOST.health, serve)
