# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The small files of the watcher's state: its lock, the hold, the events that are suppressed, and what its engine remembers.

Private to this collection.

The lock, the hold and the suppressed events are in the state folder, for the machine may be restarted before they are over. What is
remembered is where a boot clears it: for a watcher that is started anew on a machine that was not.
"""

import json
import os
from typing import Any, Dict, FrozenSet, Iterable, Optional, Tuple

from ..._clock import iso_utc
from ..._machine import files
from ..._machine.operator_files import FORMAT, HOLD, PUT_BACK, UNKNOWN_HOLD, hold, put_back, with_events
from ..._machine.platform import native
from ..engine.facts import Hold

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
    """A person's word that nothing is to be approved by choice, until it is released: a file, read when it has changed."""

    def __init__(self, folder: str) -> None:
        self.path = os.path.join(folder, HOLD)
        self._seen: Optional[Tuple[int, ...]] = None
        self._hold: Optional[Hold] = None

    def read(self) -> Optional[Hold]:
        """The hold; one that can't be read is one all the same."""
        try:
            found = os.stat(self.path)
        except FileNotFoundError:
            self._seen, self._hold = None, None
            return None
        except OSError:
            return Hold(**UNKNOWN_HOLD)
        state = (found.st_mtime_ns, found.st_ino, found.st_size)
        if state != self._seen:
            said = hold(os.path.dirname(self.path))
            self._hold = Hold(**said) if said else None
            self._seen = state
        return self._hold

    def put(self, hold: Hold, wall: float) -> None:
        """:raises OSError: when it can't be written"""
        files.replace(self.path, dict(hold._asdict(), format=FORMAT, at=iso_utc(wall)))

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
    """The events in spite of which a person has put the machine back into service: it is not prepared for them again. A file, read
    when it has changed.

    :arg folder: of the state
    """

    def __init__(self, folder: str) -> None:
        self.path = os.path.join(folder, PUT_BACK)
        self._seen: Optional[Tuple[int, ...]] = None
        self._events: Dict[str, float] = {}

    def read(self) -> FrozenSet[str]:
        """The keys of the events; none where that can't be read: a machine that is prepared once too often is the smaller evil."""
        try:
            found = os.stat(self.path)
        except OSError:
            self._seen, self._events = None, {}
            return frozenset()
        state = (found.st_mtime_ns, found.st_ino, found.st_size)
        if state != self._seen:
            self._events, self._seen = put_back(os.path.dirname(self.path)), state
        return frozenset(self._events)

    def add(self, events: Iterable[str], wall: float) -> None:
        """:raises OSError: when it can't be written"""
        self.read()
        files.replace(self.path, with_events(self._events, events, wall))


REMEMBERED = "remembered.json"


class RememberedState:
    """What handling wants to know again: a file that is gone after a boot.

    :arg folder: where such files are
    """

    def __init__(self, folder: str) -> None:
        self._path = os.path.join(folder, REMEMBERED)
        self.what: Dict[str, Any] = self._read()

    def _read(self) -> Dict[str, Any]:
        try:
            found = files.read(self._path)
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def keep(self, what: Dict[str, Any]) -> None:
        """:raises OSError: when it can't be written"""
        if what == self.what:
            return
        files.make_folder(os.path.dirname(self._path))
        temporary = f"{self._path}.new"
        # Not synced: it is not to outlive a power cut.
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            json.dump(what, file)
        native.replace(temporary, self._path)
        self.what = what
