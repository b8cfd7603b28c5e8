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

from .platform import native


def make_folder(path: str) -> None:
    """Make a folder, and those above it, where they are not there yet."""
    above = os.path.dirname(path)
    if above and not os.path.isdir(above):
        make_folder(above)
    with contextlib.suppress(FileExistsError):
        native.make_folder(path)
        sync_folder_of(path)


def is_closed(folder: str) -> bool:
    """Whether it is of this user or of root, and not open to all."""
    found = os.stat(folder)
    return native.is_ours(found) and not native.open_to(found, 0o002)


def refusal(folder: str, room: int) -> int:
    """The system's error for a file of so many bytes in a folder, as far as can be seen; 0 where there would be none.

    Of a folder that is not there yet, the one counts that it would be made in.
    """
    while not os.path.lexists(folder) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder) or os.curdir
    if not os.path.isdir(folder):
        return errno.ENOTDIR
    return native.refusal_of(folder, room)


def write_first(path: str, value: Any, most: Optional[int] = None) -> bool:
    """Write a file as JSON; False when one of this name is there already, which stays as it is.

    :arg most: bytes; for more the error is EFBIG
    """
    temporary = _written(path, value, most)
    try:
        # Opening with O_EXCL and then writing would show others a file that is half written.
        if not native.place(temporary, path):
            return False
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
    sync_folder_of(path)
    return True


def replace(path: str, value: Any, most: Optional[int] = None) -> None:
    """Write a file as JSON, in the place of the one that may be there.

    :arg most: bytes; for more the error is EFBIG
    """
    native.replace(_written(path, value, most), path)
    sync_folder_of(path)


def read(path: str) -> Optional[Any]:
    """What the file holds; None when there is none."""
    try:
        with native.patiently(lambda: open(path, encoding="utf-8")) as file:
            return json.load(file)
    except FileNotFoundError:
        return None


def remove(path: str) -> None:
    """Remove a file.

    :raises FileNotFoundError: when there is none
    """
    native.patiently(lambda: os.unlink(path))
    sync_folder_of(path)


def _written(path: str, value: Any, most: Optional[int]) -> str:
    content = json.dumps(value).encode("utf-8")
    if most is not None and len(content) > most:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), path)
    temporary = f"{path}.{os.getpid()}"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except OSError:  # no room, as a rule: not for half a file either
        os.unlink(temporary)
        raise
    return temporary


def sync_folder_of(path: str) -> None:
    native.sync_folder(os.path.dirname(path))
