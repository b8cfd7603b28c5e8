# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files as Linux and its like have them: directories are synced, links can't replace anything, locks are advisory.

Private to this collection.
"""

import errno
import fcntl
import os
from typing import Callable, TypeVar

Result = TypeVar("Result")

AS_IT_IS = os.O_NOFOLLOW
"""To open the file of a name itself, byte by byte."""

AT_ONCE = os.O_NONBLOCK
"""Not to wait for whoever writes into a pipe of that name."""


def is_ours(found: os.stat_result) -> bool:
    """Whether something is root's or this user's."""
    return found.st_uid in (0, os.geteuid())


def open_to(found: os.stat_result, others: int) -> bool:
    """Whether it is open to others in one of the ways that these bits of its mode allow."""
    return bool(found.st_mode & others)


def refusal_of(folder: str, room: int) -> int:
    """The system's error for a file of so many bytes in a folder that is there; 0 where there would be none."""
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


def patiently(do: Callable[[], Result]) -> Result:
    """Do something with a file that others may have open: here nobody minds."""
    return do()


def place(temporary: str, path: str) -> bool:
    """Give a file this name; False where one of this name is there, and nothing changes. The temporary one may stay."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        return False
    return True


def replace(temporary: str, path: str) -> None:
    """Give a file this name, in the place of the one that may be there, and which a reader may have open."""
    os.replace(temporary, path)


def sync_folder(folder: str) -> None:
    """Have the names in a folder on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def fill(descriptor: int, size: int) -> None:
    """Take so much room for certain: a file that was only made longer has none, and blocks of zeros may be packed."""
    try:
        os.posix_fallocate(descriptor, 0, size)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS):
            raise
        left = size
        while left > 0:
            left -= os.write(descriptor, os.urandom(min(left, 65536)))


def lock(descriptor: int) -> None:
    """Be the only one who has an open file locked; it ends with the process, too.

    :raises BlockingIOError: when another one has
    """
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def unlock(descriptor: int) -> None:
    """A process that was forked meanwhile and has not closed its copy yet would else go on holding it."""
    fcntl.flock(descriptor, fcntl.LOCK_UN)
