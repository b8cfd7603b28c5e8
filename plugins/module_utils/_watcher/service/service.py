# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The watcher as a service: from the start of the process to its end.

Private to this collection.

Whoever manages services hears that it is ready after configuration and state, not after the first answer, which may take two minutes.
"""

import argparse
import os
import signal
from typing import Any, Callable, Dict, List, Optional

from ..._clock import Clock, iso_utc
from ..._machine.platform import native
from ..._machine.system import WatchedSystem
from ..._text import one_line
from ..health.machine_state import METRICS
from ..host.this_host import HOST
from ..reports.systemd_transport import ERROR, INFO, Log, Notify, make_log, send_datagram
from ..settings.settings import SettingsError, SettingsFile
from .loop import Loop
from .state_files import AlreadyRunning, InstanceLock
from .this_system import here
from .wiring import Components, Inside, assemble, inside_of

# As sysexits.h has them. What has ended with the first one is not started again, on Windows neither what has with the last one
BAD_SETTINGS, NO_STATE, ANOTHER_RUNS, NOT_TRUSTED = 78, 73, 75, 77


class Manager:
    """Who manages the process: takes its log, hears how it is, and has it end. This one is systemd, or a terminal."""

    def log(self, clock: Clock, folder: str) -> Log:
        """:arg folder: of the state; "" where the settings can't be followed"""
        return make_log(os.environ, clock, send_datagram)

    def notify(self) -> Notify:
        """Afterwards no child of this process takes itself for the service, as systemd-run does: each would be a warning in the journal."""
        found = Notify(os.environ, send_datagram)
        os.environ.pop("NOTIFY_SOCKET", None)
        return found

    def connect(self, loop: Loop, system: WatchedSystem) -> None:
        """From now on the loop is ended by it."""
        signal.signal(signal.SIGTERM, lambda number, frame: loop.stop())
        signal.signal(signal.SIGINT, lambda number, frame: loop.stop())
        signal.signal(signal.SIGHUP, lambda number, frame: loop.hang_up())

    def objection(self, settings: str, folder: str, program: str) -> str:
        """Why others may have changed what this process runs by, beside the settings; "" when nobody could."""
        return ""


def run(
    version: str,
    arguments: List[str],
    program: str,
    make_inside: Callable[..., Inside] = inside_of,
    manager: Optional[Manager] = None,
) -> int:
    """Be the service until somebody ends it; returns the exit code.

    :arg version: of the collection
    :arg program: the file that this is: jobs are begun by it, too
    """
    parser = argparse.ArgumentParser(prog="azure-maintenance run", description="The watcher, in the foreground.")
    parser.add_argument("--settings", default=HOST.settings, metavar="FILE", help="its settings (%(default)s)")
    parser.add_argument(
        "--run-folder", default=HOST.run_folder, metavar="FOLDER", help="what must not outlive a boot (%(default)s)"
    )
    options = parser.parse_args(arguments)
    clock = Clock()
    manager = manager or Manager()
    try:
        settings = SettingsFile(options.settings)
    except SettingsError as error:
        manager.log(clock, "").say(error.message, ERROR)
        return BAD_SETTINGS
    folder = settings.current.folder
    log = manager.log(clock, folder)
    try:
        here.prepare_state_folder(folder)
        why = manager.objection(options.settings, folder, program)
        if why:
            log.say(f"The watcher does not run: {why}", ERROR)
            return NOT_TRUSTED
        here.prepare_run_folder(options.run_folder, here.this_system(os.environ).boot_id())
        lock = InstanceLock(folder)
    except AlreadyRunning as error:
        log.say(str(error), ERROR)
        return ANOTHER_RUNS
    except OSError as error:
        log.say(f"The state folder {folder} can't be used: {one_line(error)}", ERROR)
        return NO_STATE
    try:
        about: Dict[str, Any] = {
            "version": version,
            "pid": os.getpid(),
            "since": iso_utc(clock.wall()),
            "program": os.path.abspath(program),
            "metrics": os.path.join(options.run_folder, METRICS),
            "start": native.start_of(os.getpid()),
        }
        notify = manager.notify()
        inside = make_inside(settings.current, clock, log, about)
        return _serve(assemble(settings, inside, clock, log, notify, about, options.run_folder), log, notify, manager)
    finally:
        lock.release()


def _serve(parts: Components, log: Log, notify: Notify, manager: Manager) -> int:
    loop = Loop(parts)
    manager.connect(loop, parts.system)
    try:
        parts.orders.make()
    except OSError as error:
        log.say(f"Orders can't be taken: {one_line(error)}", ERROR)
    parts.start()
    notify.ready()
    log.say(f"The watcher of version {parts.about['version']} has started.", INFO)
    loop.run()
    notify.stopping()
    parts.stop()
    log.say("The watcher ends.", INFO)
    return 0
