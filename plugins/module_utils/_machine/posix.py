# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files, users and processes as Linux and its like have them: directories are synced, links can't replace anything, locks are advisory.

Private to this collection.
"""

import errno
import fcntl
import os
import pwd
from typing import Callable, List, Mapping, NoReturn, Optional, TypeVar

from .step_runner import JobFailed

Result = TypeVar("Result")

AS_IT_IS = os.O_NOFOLLOW
"""To open the file of a name itself, byte by byte."""

AT_ONCE = os.O_NONBLOCK
"""Not to wait for whoever writes into a pipe of that name."""

Account = pwd.struct_passwd

KILLED_BY = "as systemd does at the end of a session where logind.conf has KillUserProcesses=yes"
"""Who kills what has been begun here, for people."""

LOGIN_UID = "/proc/self/loginuid"


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


def make_folder(path: str) -> None:
    """Make one that nobody else may read.

    :raises FileExistsError: when something of this name is there
    """
    os.mkdir(path, 0o700)


def make_subfolder(path: str) -> None:
    """Make one for whoever may use the folder that it is in.

    :raises FileExistsError: when something of this name is there
    """
    os.mkdir(path, 0o700)


def show_everybody(path: str) -> None:
    """Let everybody read a file, whatever the rights are with which files are made."""
    os.chmod(path, 0o644)


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


def is_root() -> bool:
    return os.geteuid() == 0


def account_named(user: str) -> Account:
    """:raises KeyError: when there is no such user"""
    return pwd.getpwnam(user)


def this_account() -> Account:
    """The user that this process has."""
    return pwd.getpwuid(os.geteuid())


def account_of(user: str) -> Optional[Account]:
    """The user to become; None for nobody else than this process is.

    :raises JobFailed: when that can't be
    """
    if not user:
        return None
    try:
        account = pwd.getpwnam(user)
    except KeyError as error:
        raise JobFailed(f"this machine has no user {user}") from error
    if account.pw_uid == os.geteuid():
        return None
    if os.geteuid() != 0:
        raise JobFailed(f"only root can run it as user {user}, and this runs as user number {os.geteuid()}")
    return account


def who_logged_in() -> str:
    """The user of the connection, as the kernel or sudo remembers; "" where they don't. For an inventory that leaves it to
    ssh's own configuration: nobody says it then.
    """
    try:
        with open(LOGIN_UID, encoding="ascii") as file:
            return pwd.getpwuid(int(file.read())).pw_name
    except (OSError, ValueError, KeyError, OverflowError):
        return os.environ.get("SUDO_USER") or os.environ.get("DOAS_USER") or ""


def host_name() -> str:
    return os.uname().nodename


def start_of(pid: int) -> Optional[int]:
    """When a process was started, in ticks since the boot; None when it has ended."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            # "PID (NAME) STATE ...", and a name may have anything in it
            fields = stat.read().rpartition(b")")[2].split()
    except OSError:
        return None
    return None if fields[0] in (b"Z", b"X") else int(fields[19])


def argv_of(path: str) -> List[str]:
    """How a file is run that is a program of itself."""
    return [path]


def set_environment(environment: Mapping[str, str]) -> None:
    """Add to what programs of this process will find."""
    os.environb.update({_encoded(name): _encoded(value) for name, value in environment.items()})


def become(argv: List[str]) -> NoReturn:
    """Make this process another program, found as a shell finds it."""
    try:
        os.execvp(_encoded(argv[0]), [_encoded(argument) for argument in argv])
    except OSError as error:
        raise OSError(error.errno, error.strerror, argv[0]) from error


def _encoded(text: str) -> bytes:
    """The text as the system gets it: before Python 3.7 it would refuse what the locale C has no letters for."""
    return text.encode("utf-8", "surrogateescape")
