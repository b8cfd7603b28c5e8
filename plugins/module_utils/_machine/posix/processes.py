# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Users and processes as Linux has them.

Private to this collection.
"""

import os
import pwd
from typing import List, Mapping, NoReturn, Optional

from ..job_failed import JobFailed

Account = pwd.struct_passwd

LOGIN_UID = "/proc/self/loginuid"


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
