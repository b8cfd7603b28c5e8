# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files as Windows has them: what somebody has open can't be replaced in this moment, and locks keep others from reading.

Who may read and write is a matter of access lists, which the folders of the watcher are given when they are made.

Private to this collection.
"""

import ctypes
import errno
import importlib
import os
import time
from typing import Any, Callable, TypeVar

from . import kernel

Result = TypeVar("Result")

AS_IT_IS: int = getattr(os, "O_BINARY", 0)
AT_ONCE = 0

PATIENCE = 3.0
"""Seconds in which whoever has a file open has closed it again: readers of ours, scanners for viruses, backups."""

_FIRST_PAUSE, _LONGEST_PAUSE = 0.005, 0.1

_REPLACE, _WRITE_THROUGH = 1, 8
_EXCLUSIVE, _AT_ONCE = 2, 1
_LOCKED_BY_ANOTHER = 33


class _Where(ctypes.Structure):
    """OVERLAPPED: what is locked is a byte far behind all that is ever written, so that others can read the file."""

    _fields_ = [
        ("internal", ctypes.c_void_p),
        ("internal_high", ctypes.c_void_p),
        ("offset", ctypes.c_uint32),
        ("offset_high", ctypes.c_uint32),
        ("event", ctypes.c_void_p),
    ]


def is_ours(found: os.stat_result) -> bool:
    return True


def open_to(found: os.stat_result, others: int) -> bool:
    return False


def refusal_of(folder: str, room: int) -> int:
    if not os.access(folder, os.W_OK):
        return errno.EACCES
    free = ctypes.c_uint64()
    kernel.did("GetDiskFreeSpaceExW", folder, ctypes.byref(free), None, None)
    return errno.ENOSPC if free.value < room else 0


def patiently(do: Callable[[], Result]) -> Result:
    """Do it again for a while, as long as somebody else has the file open, or is about to remove it."""
    ends, pause = time.monotonic() + PATIENCE, _FIRST_PAUSE
    while True:
        try:
            return do()
        except PermissionError:
            if time.monotonic() >= ends:
                raise
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)


def place(temporary: str, path: str) -> bool:
    try:
        _move(temporary, path, _WRITE_THROUGH)
    except FileExistsError:
        return False
    return True


def replace(temporary: str, path: str) -> None:
    patiently(lambda: _move(temporary, path, _REPLACE | _WRITE_THROUGH))


def _move(temporary: str, path: str, how: int) -> None:
    if not kernel.function("MoveFileExW")(temporary, path, how):
        raise kernel.last_error(path)


def sync_folder(folder: str) -> None:
    """Names are written through when they are made; what is removed may be there once more after a power cut."""


def fill(descriptor: int, size: int) -> None:
    left = size
    while left > 0:
        left -= os.write(descriptor, os.urandom(min(left, 65536)))


def lock(descriptor: int) -> None:
    if not kernel.function("LockFileEx")(_handle(descriptor), _EXCLUSIVE | _AT_ONCE, 0, 1, 0, _far_behind()):
        error = kernel.last_error()
        if vars(error).get("winerror", getattr(error, "winerror", 0)) == _LOCKED_BY_ANOTHER:
            raise BlockingIOError(errno.EAGAIN, error.strerror)
        raise error


def unlock(descriptor: int) -> None:
    kernel.function("UnlockFileEx")(_handle(descriptor), 0, 1, 0, _far_behind())


def _handle(descriptor: int) -> int:
    found: int = vars(importlib.import_module("msvcrt"))["get_osfhandle"](descriptor)
    return found


def _far_behind() -> Any:
    return ctypes.byref(_Where(None, None, 0, 0x7FFFFFFF, None))
