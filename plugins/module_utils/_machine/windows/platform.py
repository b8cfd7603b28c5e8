# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files, users and processes as Windows has them, and what it says of its start. What somebody has open can't be replaced in this moment,
and locks keep others from reading.

Who may read and write is a matter of access lists, which the folders of the watcher are given when they are made.

Private to this collection.
"""

import codecs
import contextlib
import ctypes
import errno
import importlib
import os
import time
import uuid
from typing import Any, Callable, Iterator, List, Mapping, NoReturn, Optional, TypeVar

from ..step_runner import JobFailed
from ..system import System
from . import kernel
from .access_list import PUBLIC_FILE

Result = TypeVar("Result")

AS_IT_IS: int = getattr(os, "O_BINARY", 0)
AT_ONCE = 0

PATIENCE = 3.0
"""Seconds in which whoever has a file open has closed it again: readers of ours, scanners for viruses, backups."""

_FIRST_PAUSE, _LONGEST_PAUSE = 0.005, 0.1

_REPLACE, _WRITE_THROUGH = 1, 8
_EXCLUSIVE, _AT_ONCE = 2, 1
_LOCKED_BY_ANOTHER = 33

KILLED_BY = "as somebody does who ends its processes in the Task Manager"

Account = Any
"""Nobody else than the service's own user runs anything here."""

_ASK_ABOUT, _STILL_ACTIVE = 0x1000, 259

SYSTEM32 = os.path.join(os.environ.get("SYSTEMROOT", r"C:\Windows"), "System32")
POWERSHELL = [
    # Its whole path: a bare name is looked for in the current folder and in each folder of PATH, too.
    os.path.join(SYSTEM32, "WindowsPowerShell", "v1.0", "powershell.exe"),
    *("-NoLogo", "-NoProfile", "-NonInteractive", "-ExecutionPolicy", "Bypass"),
]
INTERPRETERS = {".ps1": [*POWERSHELL, "-File"]}
"""What runs a file whose name ends so; programs and batch files run by themselves."""

CODE_PAGE = "oem"
"""What consoles have, and what Windows' own programs write in."""

KEY = r"SOFTWARE\AzureMaintenance\ThisStart"
"""A key of the registry that is gone when the machine has been started anew."""

_VALUE = "Id"
_VOLATILE, _READ_AND_WRITE = 1, 0x2001F
_WITHIN, _LOOK_EVERY = 2.0, 0.02


_FILE, _LIST, _INHERITS_NOTHING = 1, 0x4, 0x80000000
_CLOSED = "D:PAI(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)"
"""The access list of folders that this program makes, in place of what they would inherit: SYSTEM and administrators alone."""


class _Where(ctypes.Structure):
    """OVERLAPPED: what is locked is a byte far behind all that is ever written, so that others can read the file."""

    _fields_ = [
        ("internal", ctypes.c_void_p),
        ("internal_high", ctypes.c_void_p),
        ("offset", ctypes.c_uint32),
        ("offset_high", ctypes.c_uint32),
        ("event", ctypes.c_void_p),
    ]


class _Attributes(ctypes.Structure):
    """SECURITY_ATTRIBUTES"""

    _fields_ = [("size", ctypes.c_uint32), ("descriptor", ctypes.c_void_p), ("is_inherited", ctypes.c_int)]


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


def make_folder(path: str, sddl: str = _CLOSED) -> None:
    with _descriptor(sddl) as descriptor:
        attributes = _Attributes(ctypes.sizeof(_Attributes), descriptor, 0)
        if not kernel.function("CreateDirectoryW")(path, ctypes.byref(attributes)):
            raise kernel.last_error(path)


def make_subfolder(path: str) -> None:
    os.mkdir(path)


def show_everybody(path: str) -> None:
    with _descriptor(PUBLIC_FILE) as descriptor:
        if not kernel.function("SetFileSecurityW")(path, _LIST | _INHERITS_NOTHING, descriptor):
            raise kernel.last_error(path)


def set_list(path: str, sddl: str) -> None:
    """Give a file or folder this access list, and what is in the folder what it inherits of it.

    :raises OSError: when that can't be
    """
    with _descriptor(sddl) as descriptor:
        is_there, found, by_default = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_int()
        kernel.did(
            "GetSecurityDescriptorDacl",
            descriptor,
            ctypes.byref(is_there),
            ctypes.byref(found),
            ctypes.byref(by_default),
        )
        number = kernel.function("SetNamedSecurityInfoW")(path, _FILE, _LIST, None, None, found, None)
        if number:
            raise kernel.error_of(number, path)


@contextlib.contextmanager
def _descriptor(sddl: str) -> Iterator[Any]:
    """Owner and access list, as Windows' functions want them."""
    descriptor = ctypes.c_void_p()
    kernel.did("ConvertStringSecurityDescriptorToSecurityDescriptorW", sddl, 1, ctypes.byref(descriptor), None)
    try:
        yield descriptor
    finally:
        kernel.function("LocalFree")(descriptor)


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
        patiently(lambda: _move(temporary, path, _WRITE_THROUGH))
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


def is_root() -> bool:
    """Whether this process is SYSTEM's, or an administrator's who has said that it may use his rights."""
    return bool(kernel.function("IsUserAnAdmin")())


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


def host_name() -> str:
    return os.environ.get("COMPUTERNAME") or ""


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


def text_of(said: bytes, is_whole: bool = True) -> str:
    """What a program has written: in UTF-8, or else in the machine's code page.

    :arg is_whole: whether all of it has come; else its last letter may be half of one
    """
    try:
        return codecs.getincrementaldecoder("utf-8")().decode(said, is_whole)
    except UnicodeDecodeError:
        pass
    try:
        return said.decode(CODE_PAGE)
    except (UnicodeDecodeError, LookupError):
        return said.decode("utf-8", "replace")


def set_environment(environment: Mapping[str, str]) -> None:
    os.environ.update(environment)


def become(argv: List[str]) -> NoReturn:
    """Run another program in this one's place: no process can become another one here, so this one waits for it."""
    import subprocess  # takes time to import, and few calls need it

    try:
        # There is no AnsibleModule here whose run_command could be called.
        process = subprocess.Popen(argv, stdin=subprocess.DEVNULL)  # pylint: disable=ansible-bad-function,consider-using-with
    except OSError as error:
        raise OSError(error.errno, error.strerror, argv[0]) from error
    code = process.wait()
    os._exit(code if code < 2**31 else code - 2**32)


class WindowsSystem(System):
    """This machine.

    :arg root: of the registry's tree; that of the machine where None is given
    """

    def __init__(self, root: Any = None) -> None:
        self._winreg = vars(importlib.import_module("winreg"))
        self._root = self._winreg["HKEY_LOCAL_MACHINE"] if root is None else root

    def uptime(self) -> float:
        return float(kernel.function("GetTickCount64")() / 1000)

    def boot_id(self) -> str:
        """Windows has none: the first who asks after a start puts one where it lasts as long as that.

        :raises OSError: when that can't be
        """
        is_first = self._make_key()
        if is_first:
            with self._winreg["OpenKey"](self._root, KEY, 0, self._winreg["KEY_SET_VALUE"]) as key:
                self._winreg["SetValueEx"](key, _VALUE, 0, self._winreg["REG_SZ"], str(uuid.uuid4()))
        ends = time.monotonic() + _WITHIN
        while True:
            try:
                with self._winreg["OpenKey"](self._root, KEY) as key:
                    return str(self._winreg["QueryValueEx"](key, _VALUE)[0])
            except FileNotFoundError:  # whoever has made the key is about to
                if time.monotonic() >= ends:
                    raise
            time.sleep(_LOOK_EVERY)

    def _make_key(self) -> bool:
        """Whether it was not there."""
        handle, found = ctypes.c_void_p(), ctypes.c_uint32()
        number = kernel.function("RegCreateKeyExW")(
            self._root, KEY, 0, None, _VOLATILE, _READ_AND_WRITE, None, ctypes.byref(handle), ctypes.byref(found)
        )
        if number:
            error: OSError = OSError(0, "the registry can't be written", KEY, number)
            raise error
        kernel.function("RegCloseKey")(handle)
        return found.value == 1
