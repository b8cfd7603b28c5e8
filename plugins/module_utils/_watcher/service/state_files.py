# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The small files of the watcher's state: its lock, the hold, the suppressed events, what its engine remembers, and what it shows others
of whether the machine is in service.

The lock, the hold and the suppressed events are in the state folder, for the machine may be rebooted before they are over. What is
remembered or shown is where a boot clears it: for a watcher that is restarted on a machine that was not.

::

    in-service      there while the machine is in service, and empty: for the checks of a web server, a load balancer's agent, a script
    out-of-service  there while it is not, with a line that says why: the health endpoint shows it

Private to this collection.
"""

import contextlib
import os
from typing import Any, Dict, FrozenSet, Iterable, List, Mapping, Optional, Sequence

from ..._clock import iso_utc
from ..._machine import files
from ..._machine.beside_mark import HOLD, SUPPRESSED, hold_of, suppressed_of, with_events
from ..._machine.files import StateFile, Unreadable
from ..._machine.platform import native
from ..engine.interface import Hold
from ..health.machine_state import OUT_OF_SERVICE

LOCK = "watcher.lock"


class AlreadyRunning(Exception):
    """Another watcher runs there; the message says which process."""


class InstanceLock:
    """The right to be the watcher of a folder, for as long as this process lives. The system takes it back, however that ends.

    :raises AlreadyRunning: when another process has it
    :raises OSError: when the folder can't be used
    """

    def __init__(self, folder: str) -> None:
        path = os.path.join(folder, LOCK)
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | native.AS_IT_IS, 0o600)
        try:
            native.lock(self._descriptor)
        except BlockingIOError as error:
            pid = os.read(self._descriptor, 20).decode("ascii", "replace").strip()
            os.close(self._descriptor)
            raise AlreadyRunning(f"Another watcher (process {pid or 'unknown'}) runs for {folder}.") from error
        os.ftruncate(self._descriptor, 0)
        os.write(self._descriptor, f"{os.getpid()}\n".encode("ascii"))

    def release(self) -> None:
        os.close(self._descriptor)


class HoldFile:
    """A person's word that nothing is to be approved early, until it is released: a file, read when it has changed."""

    def __init__(self, folder: str) -> None:
        self.path = os.path.join(folder, HOLD)
        self._file = StateFile(self.path)

    def read(self) -> Optional[Hold]:
        """The hold; one that can't be read is one all the same."""
        said = hold_of(self._file)
        return None if said is None else Hold(**said)

    def put(self, hold: Hold, wall: float) -> None:
        """:raises OSError: when it can't be written"""
        self._file.replace(dict(hold._asdict(), at=iso_utc(wall)))

    def remove(self) -> None:
        """:raises OSError: when it can't be removed"""
        try:
            os.unlink(self.path)
        except FileNotFoundError:
            return
        files.sync_folder_of(self.path)

    def put_aside(self) -> None:
        """It was said on another machine, of which this one is a copy."""
        native.replace(self.path, self.path + ".of-another-machine")


class SuppressedEvents:
    """The events despite which a person has recovered the machine: it is not prepared for them again. A file, read
    when it has changed.

    :arg folder: of the state
    """

    def __init__(self, folder: str) -> None:
        self._file = StateFile(os.path.join(folder, SUPPRESSED))

    def read(self) -> FrozenSet[str]:
        """The keys of the events; none where that can't be read: a machine that is prepared once too often is the smaller evil."""
        return frozenset(suppressed_of(self._file))

    def add(self, events: Iterable[str], wall: float) -> None:
        """:raises OSError: when it can't be written"""
        self._file.replace(with_events(suppressed_of(self._file), events, wall))


REMEMBERED = "remembered.json"
_REPORTS = "reports"
MOST_REMEMBERED = 16 * 1024 * 1024
"""Bytes: all of this machine's events, the ids of all others in the document, and reports that are not written down yet."""


class RememberedState:
    """What the engine wants to know again, such as what it has reported; and the reports of that which are not written down yet. One file, so
    that a watcher that is killed leaves either both, and the next one writes them down, or neither, and the next one reports them.

    It is gone after a boot. What can't be read is forgotten.

    :arg folder: where such files are
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._file = StateFile(os.path.join(folder, REMEMBERED), None, MOST_REMEMBERED)  # the engine knows its format
        try:
            self.what: Dict[str, Any] = dict(self._file.read() or {})
        except Unreadable:
            self.what = {}
        found = self.what.pop(_REPORTS, None)
        self.reports: List[Dict[str, Any]] = found if isinstance(found, list) else []

    def keep(self, what: Dict[str, Any], reports: Sequence[Dict[str, Any]] = ()) -> None:
        """:raises OSError: when it can't be written"""
        if (what, list(reports)) == (self.what, self.reports):
            return
        files.make_folder(self._folder)
        whole = {**what, _REPORTS: list(reports)} if reports else what
        self._file.replace_unsynced(whole)  # it is not to outlive a power cut
        self.what, self.reports = what, list(reports)


IN_SERVICE = "in-service"


class ServiceFlag:
    """:arg folder: that everybody may look into

    problem: why they could not be written the last time
    """

    def __init__(self, folder: str) -> None:
        self._in = os.path.join(folder, IN_SERVICE)
        self._out = os.path.join(folder, OUT_OF_SERVICE)
        self._line: Optional[str] = None
        self.problem = ""

    def lower(self) -> None:
        """The machine is about to be taken out of service: before anything is changed nobody may count on it any more."""
        with contextlib.suppress(OSError):
            os.unlink(self._in)

    def follow(self, mark: Optional[Mapping[str, Any]], unreadable: str) -> None:
        """Have the files as the mark is.

        :arg unreadable: why the mark that is there can't be read
        """
        line = f"{mark['phase']}, since {mark['since']}" if mark else "its mark can't be read" if unreadable else ""
        try:
            if line:
                self.lower()
                if line != self._line:
                    self._write(self._out, line + "\n")
            elif self._line != "" or not os.path.exists(self._in):
                self._write(self._in, "")
                _remove(self._out)
        except FileNotFoundError:  # the folder is not there (yet), so nobody looks into it
            self._line = None
        except OSError as error:
            self._line, self.problem = None, f"{self._in} can't be written: {error.strerror}"
        else:
            self._line, self.problem = line, ""

    def _write(self, path: str, text: str) -> None:
        temporary = f"{path}.new"
        with open(temporary, "w", encoding="ascii", errors="replace") as file:
            file.write(text)
        native.show_everybody(temporary)
        native.replace(temporary, path)


def _remove(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
