# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Room that is kept free, so that the mark of an outage that is under way can be written when the disk is full.

Private to this collection.

A machine that can't write its mark can't be recovered in order. So while there still is room the watcher stops: it is *degraded*, and
prepares, approves and recovers nothing by itself. The room that was kept is for what it is writing in that moment, and for a recovery that
a person orders, whose command needs a few kB beside it.
"""

import contextlib
import errno
import os
from typing import Any, Callable

from ..._clock import Clock
from ..._machine import files
from ..._machine.mark import Busy, Mark, NotWritten
from ..._machine.platform import native
from ..._machine.store import FolderStore

SIZE = 1024 * 1024
LEAST = 256 * 1024
"""Bytes that must be free beside the reserve for anything to be done without a person's order."""


class DiskReserve:
    """The file that takes the room.

    :arg folder: of the state
    """

    def __init__(self, folder: str, size: int = SIZE) -> None:
        self._folder = folder
        self._path = os.path.join(folder, "reserve")
        self._size = size

    def degraded(self) -> str:
        """Why nothing may be done, for people; "" when it may. Keeps the room again as soon as there is some."""
        problem = self._problem(LEAST)
        if not problem and not self.is_kept():
            # More than it takes: else it would be kept and given in turns on a disk that is just about full.
            problem = self._problem(2 * self._size + LEAST) or self._keep()
        return problem

    def problem(self) -> str:
        """Why the state can't be written as it is now, for people; "" when it can. Changes nothing."""
        return self._problem(LEAST)

    def is_kept(self) -> bool:
        try:
            return os.lstat(self._path).st_size >= self._size
        except OSError:
            return False

    def give(self) -> bool:
        """Make its room free; whether there was any."""
        was_kept = self.is_kept()
        with contextlib.suppress(OSError):
            os.unlink(self._path)
        return was_kept

    def _keep(self) -> str:
        try:
            files.make_folder(self._folder)
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._path)
            descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | native.AS_IT_IS, 0o600)
            try:
                native.fill(descriptor, self._size)
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.unlink(self._path)
            return self._words(error.errno or 0)
        return ""

    def _problem(self, room: int) -> str:
        try:
            number = files.refusal(self._folder, room)
        except OSError as error:
            number = error.errno or errno.EIO
        return self._words(number) if number else ""

    def _words(self, number: int) -> str:
        advice = "make room there" if number in (errno.ENOSPC, errno.EDQUOT) else "see what is wrong there"
        return f"{self._folder} can't be written safely ({os.strerror(number)}): {advice}"


class ReservedStore(FolderStore):
    """A store that gives the reserve, once, before it gives up to change a mark. None is made on the reserve: it is for an outage that is under
    way.
    """

    def __init__(self, folder: str, clock: Clock, reserve: DiskReserve) -> None:
        super().__init__(folder, clock)
        self._reserve = reserve

    def replace(self, mark: Mark, run: str, number: int) -> None:
        self._with_reserve(super().replace, mark, run, number)

    def remove(self, run: str, number: int) -> None:
        self._with_reserve(super().remove, run, number)

    def take_off(self) -> None:
        self._with_reserve(super().take_off)

    def _with_reserve(self, write: Callable[..., None], *arguments: Any) -> None:
        try:
            write(*arguments)
        except Busy:
            raise
        except NotWritten:
            if not self._reserve.give():
                raise
            write(*arguments)
