# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The watcher's system on Windows: the service manager's own event says whether what starts with the machine has been started; that the
machine goes down, whoever keeps the service says.

Private to this collection.
"""

import argparse
import contextlib
import json
import os
import sys
import threading
from typing import List, Mapping, Sequence

from ..._clock import Clock, Moment
from ..._machine import files, trust
from ..._machine.system import System, Wake, WatchedSystem
from ..._machine.windows import kernel
from ..._machine.windows.access_list import READING, WRITING, with_entries
from ..._machine.windows.jobs import WindowsJobs
from ..._machine.windows.platform import WindowsSystem, make_folder, set_list
from ..._machine.windows.trust import Objection, first_objection, sddl_of
from ..._text import one_line
from ..host.windows_host import RUN, SPOOL, STATE, folders
from ..reports.report_queue import FOLDER as SPOOL_FOLDER

_STARTED = "SC_AutoStartComplete"
"""An event of the service manager's, for as long as the machine runs: services that start with it have been started. It is not
documented, but there since Windows NT; where it is not, the boot's time is waited for."""

_MAY_WAIT, _IS_SET = 0x100000, 0
_BOOT = "boot.json"


class WatchedWindows(WatchedSystem):
    """This machine.

    :arg boot_timeout: seconds after which what starts with the machine is not waited for any longer
    """

    def __init__(self, clock: Clock, boot_timeout: float, system: System) -> None:
        self._clock = clock
        self._boot_timeout = boot_timeout
        self._system = system
        self._boot_id = system.boot_id()
        self._began = clock.now()
        self._is_settled = False

    @property
    def settled(self) -> bool:  # type: ignore[override]
        if not self._is_settled:
            self._is_settled = self._clock.now() - self._began >= self._boot_timeout or _has_started()
        return self._is_settled

    def moment(self) -> Moment:
        return Moment(self._clock.wall(), self._system.uptime(), self._boot_id)


def _has_started() -> bool:
    event = kernel.function("OpenEventW")(_MAY_WAIT, False, _STARTED)
    if not event:
        return False
    try:
        return bool(kernel.function("WaitForSingleObject")(event, 0) == _IS_SET)
    finally:
        kernel.close(event)


class EventWake(Wake):
    """An event of Python's: signals don't interrupt anything here, and who ends the service calls from another thread."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def wait(self, seconds: float) -> None:
        self._event.wait(max(0.0, seconds))
        self._event.clear()

    def wake(self) -> None:
        self._event.set()


def watched_system(clock: Clock, boot_timeout: float, system: System) -> WatchedWindows:
    return WatchedWindows(clock, boot_timeout, system)


def this_system(environment: Mapping[str, str]) -> System:
    return WindowsSystem()


def make_wake() -> Wake:
    return EventWake()


def make_jobs(folder: str, boot_id: str, program: Sequence[str]) -> WindowsJobs:
    return WindowsJobs(folder, boot_id, program)


def prepare_state_folder(folder: str) -> None:
    """Have it, and the spool in it, each with its access list; and let the accounts of the other services do in all folders what they need.

    :raises OSError: when the folder can't be made
    """
    _make(folder, STATE)
    _make(os.path.join(folder, SPOOL_FOLDER), SPOOL)
    let_services_in(folder)


def let_services_in(folder: str) -> None:
    """Add to the folders' access lists what the accounts of the other services need and they lack, as role watcher, a run of maintain, or a
    person has made them. A folder that others may write is left as it is, and refused by whoever uses it.

    :arg folder: of the state
    """
    for path, wanted in folders(folder).items():
        with contextlib.suppress(OSError):  # the doctor says what an account can't do
            let_in(path, wanted)


def let_in(path: str, wanted: str) -> None:
    """The same of one folder.

    :arg wanted: an access list with these entries
    :raises OSError: when that can't be
    """
    more = "" if trust.folder_objection(path) else with_entries(sddl_of(path), wanted)
    if more:
        set_list(path, more)


def prepare_run_folder(folder: str, boot_id: str) -> None:
    """Have nothing in it of another boot.

    :raises OSError: when that can't be
    """
    _make(folder, RUN)
    path = os.path.join(folder, _BOOT)
    try:
        is_ours = (files.read(path) or {}).get("boot_id") == boot_id
    except (ValueError, AttributeError):
        is_ours = False
    if is_ours:
        return
    for name in os.listdir(folder):
        if os.path.isfile(os.path.join(folder, name)):
            files.remove(os.path.join(folder, name))
    files.replace(path, {"boot_id": boot_id})


def _make(folder: str, sddl: str) -> None:
    files.make_folder(os.path.dirname(folder))
    with contextlib.suppress(FileExistsError):
        make_folder(folder, sddl)


# ---- what role watcher has done before it writes files and before it starts the service ----

NOBODY = ""
"""In place of the user who asks."""


def folders_main(arguments: List[str]) -> int:
    """Make the folders, so that no moment passes in which others could put something there, let the accounts of the services do there what they
    need, and say which files and folders others could change. Prints that as a line of JSON; returns the exit code.

    It goes by the rules of the service, which is SYSTEM's: what belongs to the user who asks is not trusted for that.

    ``made`` has the folders that were made; ``open`` what others could change: ``path`` and ``why``, a sentence.
    """
    parser = argparse.ArgumentParser(prog="folders")
    for kind, words in (
        ("folder", "to be made, if it is not there"),
        ("file", "that others must not change"),
        ("secret", "a file that others must not even read"),
    ):
        parser.add_argument(f"--{kind}", action="append", default=[], help=words)
    parser.add_argument("--state", required=True, help="the folder of the mark")
    options = parser.parse_args(arguments)
    made: List[str] = []
    found: List[Objection] = []
    for folder in options.folder:
        try:
            if not os.path.isdir(folder):
                files.make_folder(folder)
                made.append(folder)
        except OSError as error:
            words = f"{one_line(folder)} can't be made: {one_line(error.strerror or error)}"
            found.append(Objection(folder, words))
        else:
            found.extend(_open_to_others(folder, ""))
    for paths, what in ((options.file, WRITING), (options.secret, READING)):
        for path in paths:
            found.extend(_open_to_others(path, what))
    for folder, wanted in folders(options.state).items():
        if folder in options.folder:
            # The watcher tries it once more, and the doctor says what an account can't do
            with contextlib.suppress(OSError):
                let_in(folder, wanted)
    first = {one.path: one for one in reversed(found)}
    is_open = [{"path": path, "why": one.words} for path, one in sorted(first.items())]
    sys.stdout.write(json.dumps({"made": made, "open": is_open}) + "\n")
    return 0


def _open_to_others(path: str, what: str) -> List[Objection]:
    objection = first_objection(path, what, NOBODY)
    return [objection] if objection else []
