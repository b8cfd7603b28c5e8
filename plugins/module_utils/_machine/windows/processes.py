# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Users and processes as Windows has them.

Private to this collection.
"""

import ctypes
import os
import subprocess
from typing import Any, List, Mapping, NoReturn, Optional

from ..job_failed import JobFailed
from . import kernel

Account = Any
"""Nobody else than the service's own user runs anything here."""

_ASK_ABOUT, _STILL_ACTIVE = 0x1000, 259

INTERPRETERS = {
    ".ps1": ["powershell.exe", "-NoLogo", "-NoProfile", "-NonInteractive", "-ExecutionPolicy", "Bypass", "-File"],
}
"""What runs a file whose name ends so; programs and batch files run by themselves."""


def is_root() -> bool:
    """The service has all rights that it needs."""
    return True


def account_named(user: str) -> Account:
    raise KeyError(user)


def this_account() -> Account:
    raise KeyError("this process's user")


def account_of(user: str) -> Optional[Account]:
    if user:
        raise JobFailed(f"on Windows nothing is run as another user, such as {user}: leave user out")
    return None


def who_logged_in() -> str:
    return os.environ.get("USERNAME") or ""


def start_of(pid: int) -> Optional[int]:
    """When a process was started, in units of 100 ns; None when it has ended."""
    handle = kernel.function("OpenProcess")(_ASK_ABOUT, False, pid)
    if not handle:
        return None
    try:
        code = ctypes.c_uint32()
        kernel.did("GetExitCodeProcess", handle, ctypes.byref(code))
        if code.value != _STILL_ACTIVE:  # somebody still has a handle of it
            return None
        times = [ctypes.c_uint64() for _which in range(4)]
        kernel.did("GetProcessTimes", handle, *map(ctypes.byref, times))
        return int(times[0].value)
    except OSError:
        return None
    finally:
        kernel.close(handle)


def argv_of(path: str) -> List[str]:
    return [*INTERPRETERS.get(os.path.splitext(path)[1].lower(), []), path]


def set_environment(environment: Mapping[str, str]) -> None:
    os.environ.update(environment)


def become(argv: List[str]) -> NoReturn:
    """Run another program in this one's place: no process can become another one here, so this one waits for it."""
    try:
        # There is no AnsibleModule here whose run_command could be called.
        process = subprocess.Popen(argv, stdin=subprocess.DEVNULL)  # pylint: disable=ansible-bad-function,consider-using-with
    except OSError as error:
        raise OSError(error.errno, error.strerror, argv[0]) from error
    code = process.wait()
    os._exit(code if code < 2**31 else code - 2**32)
