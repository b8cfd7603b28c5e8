# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that are whole or not there, also after a power cut.

Private to this collection.
"""

import contextlib
import errno
import json
import os
from typing import Any, Optional


def make_folder(path: str) -> None:
    """Make a folder, and those above it, where they are not there yet."""
    above = os.path.dirname(path)
    if above and not os.path.isdir(above):
        make_folder(above)
    with contextlib.suppress(FileExistsError):
        os.mkdir(path, 0o700)
        sync_folder_of(path)


def is_closed(folder: str) -> bool:
    """Whether it is of this user or of root, and not open to all."""
    found = os.stat(folder)
    return found.st_uid in (0, os.geteuid()) and not found.st_mode & 0o002


def refusal(folder: str, room: int) -> int:
    """The system's error for a file of so many bytes in a folder, as far as a look shows; 0 where there would be none.

    Of a folder that is not there yet, the one counts that it would be made in.
    """
    while not os.path.lexists(folder) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder) or os.curdir
    if not os.path.isdir(folder):
        return errno.ENOTDIR
    system = os.statvfs(folder)
    if system.f_flag & os.ST_RDONLY:
        return errno.EROFS
    if not os.access(folder, os.W_OK | os.X_OK, effective_ids=os.access in os.supports_effective_ids):
        return errno.EACCES
    is_root = os.geteuid() == 0
    blocks = system.f_bfree if is_root else system.f_bavail
    names = system.f_ffree if is_root else system.f_favail
    # Some file systems count no blocks, and some no names.
    is_full = (system.f_blocks and blocks * system.f_frsize < room) or (system.f_files and not names)
    return errno.ENOSPC if is_full else 0


def write_first(path: str, value: Any) -> bool:
    """Write a file as JSON; False when one of this name is there already, which stays as it is."""
    temporary = _written(path, value)
    try:
        # Opening with O_EXCL and then writing would show others a file that is half written.
        os.link(temporary, path)
    except FileExistsError:
        return False
    finally:
        os.unlink(temporary)
    sync_folder_of(path)
    return True


def replace(path: str, value: Any) -> None:
    """Write a file as JSON, in the place of the one that may be there."""
    os.replace(_written(path, value), path)
    sync_folder_of(path)


def read(path: str) -> Optional[Any]:
    """What the file holds; None when there is none."""
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return None


def _written(path: str, value: Any) -> str:
    temporary = f"{path}.{os.getpid()}"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with open(descriptor, "w", encoding="utf-8") as file:
            json.dump(value, file)
            file.flush()
            os.fsync(file.fileno())
    except OSError:  # no room, as a rule: not for half a file either
        os.unlink(temporary)
        raise
    return temporary


def sync_folder_of(path: str) -> None:
    descriptor = os.open(os.path.dirname(path), os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
