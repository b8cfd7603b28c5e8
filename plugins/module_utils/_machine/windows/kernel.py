# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The functions of Windows' own libraries that Python has none for; and the TCP connections of the machine, as they list them.

Private to this collection.
"""

import ctypes
import ipaddress
import struct
from typing import Any, Dict, Iterator, List, Tuple

_DWORD, _BOOL, _HANDLE = ctypes.c_uint32, ctypes.c_int, ctypes.c_void_p
_POINTER, _TEXT = ctypes.c_void_p, ctypes.c_wchar_p

_FUNCTIONS: Dict[str, Tuple[str, Any, List[Any]]] = {  # library, result, arguments
    "AssignProcessToJobObject": ("kernel32", _BOOL, [_HANDLE, _HANDLE]),
    "ChangeServiceConfig2W": ("advapi32", _BOOL, [_HANDLE, _DWORD, _POINTER]),
    "ChangeServiceConfigW": (
        "advapi32",
        _BOOL,
        [_HANDLE, _DWORD, _DWORD, _DWORD, _TEXT, _TEXT, _POINTER, _TEXT, _TEXT, _TEXT, _TEXT],
    ),
    "CloseHandle": ("kernel32", _BOOL, [_HANDLE]),
    "CloseServiceHandle": ("advapi32", _BOOL, [_HANDLE]),
    "ControlService": ("advapi32", _BOOL, [_HANDLE, _DWORD, _POINTER]),
    "ConvertSecurityDescriptorToStringSecurityDescriptorW": (
        "advapi32",
        _BOOL,
        [_POINTER, _DWORD, _DWORD, _POINTER, _POINTER],
    ),
    "ConvertSidToStringSidW": ("advapi32", _BOOL, [_POINTER, _POINTER]),
    "ConvertStringSecurityDescriptorToSecurityDescriptorW": ("advapi32", _BOOL, [_TEXT, _DWORD, _POINTER, _POINTER]),
    "CreateDirectoryW": ("kernel32", _BOOL, [_TEXT, _POINTER]),
    "CreateJobObjectW": ("kernel32", _HANDLE, [_POINTER, _TEXT]),
    "EnumDependentServicesW": (
        "advapi32",
        _BOOL,
        [_HANDLE, _DWORD, _POINTER, _DWORD, _POINTER, _POINTER],
    ),
    "GetCurrentProcess": ("kernel32", _HANDLE, []),
    "GetDiskFreeSpaceExW": ("kernel32", _BOOL, [_TEXT, _POINTER, _POINTER, _POINTER]),
    "GetExitCodeProcess": ("kernel32", _BOOL, [_HANDLE, _POINTER]),
    "GetExtendedTcpTable": ("iphlpapi", _DWORD, [_POINTER, _POINTER, _BOOL, _DWORD, ctypes.c_int, _DWORD]),
    "GetNamedSecurityInfoW": (
        "advapi32",
        _DWORD,
        [_TEXT, ctypes.c_int, _DWORD, _POINTER, _POINTER, _POINTER, _POINTER, _POINTER],
    ),
    "GetProcessTimes": ("kernel32", _BOOL, [_HANDLE, _POINTER, _POINTER, _POINTER, _POINTER]),
    "GetTickCount64": ("kernel32", ctypes.c_uint64, []),
    "GetTokenInformation": ("advapi32", _BOOL, [_HANDLE, ctypes.c_int, _POINTER, _DWORD, _POINTER]),
    "IsUserAnAdmin": ("shell32", _BOOL, []),
    "LocalFree": ("kernel32", _POINTER, [_POINTER]),
    "LockFileEx": ("kernel32", _BOOL, [_HANDLE, _DWORD, _DWORD, _DWORD, _DWORD, _POINTER]),
    "MoveFileExW": ("kernel32", _BOOL, [_TEXT, _TEXT, _DWORD]),
    "NtResumeProcess": ("ntdll", ctypes.c_int32, [_HANDLE]),
    "OpenEventW": ("kernel32", _HANDLE, [_DWORD, _BOOL, _TEXT]),
    "OpenSCManagerW": ("advapi32", _HANDLE, [_TEXT, _TEXT, _DWORD]),
    "OpenServiceW": ("advapi32", _HANDLE, [_HANDLE, _TEXT, _DWORD]),
    "OpenProcess": ("kernel32", _HANDLE, [_DWORD, _BOOL, _DWORD]),
    "OpenProcessToken": ("advapi32", _BOOL, [_HANDLE, _DWORD, _POINTER]),
    "QueryServiceConfig2W": ("advapi32", _BOOL, [_HANDLE, _DWORD, _POINTER, _DWORD, _POINTER]),
    "QueryServiceConfigW": ("advapi32", _BOOL, [_HANDLE, _POINTER, _DWORD, _POINTER]),
    "QueryServiceStatus": ("advapi32", _BOOL, [_HANDLE, _POINTER]),
    "QueryInformationJobObject": ("kernel32", _BOOL, [_HANDLE, ctypes.c_int, _POINTER, _DWORD, _POINTER]),
    "RegisterEventSourceW": ("advapi32", _HANDLE, [_TEXT, _TEXT]),
    "RegisterServiceCtrlHandlerExW": ("advapi32", _HANDLE, [_TEXT, _POINTER, _POINTER]),
    "ReportEventW": (
        "advapi32",
        _BOOL,
        [_HANDLE, ctypes.c_uint16, ctypes.c_uint16, _DWORD, _POINTER, ctypes.c_uint16, _DWORD, _POINTER, _POINTER],
    ),
    "RegCloseKey": ("advapi32", ctypes.c_int32, [_HANDLE]),
    "RegCreateKeyExW": (
        "advapi32",
        ctypes.c_int32,
        [_HANDLE, _TEXT, _DWORD, _TEXT, _DWORD, _DWORD, _POINTER, _POINTER, _POINTER],
    ),
    "GetSecurityDescriptorDacl": ("advapi32", _BOOL, [_POINTER, _POINTER, _POINTER, _POINTER]),
    "SetNamedSecurityInfoW": (
        "advapi32",
        _DWORD,
        [_TEXT, ctypes.c_int, _DWORD, _POINTER, _POINTER, _POINTER, _POINTER],
    ),
    "SetFileSecurityW": ("advapi32", _BOOL, [_TEXT, _DWORD, _POINTER]),
    "SetConsoleCtrlHandler": ("kernel32", _BOOL, [_POINTER, _BOOL]),
    "SetInformationJobObject": ("kernel32", _BOOL, [_HANDLE, ctypes.c_int, _POINTER, _DWORD]),
    "SetServiceStatus": ("advapi32", _BOOL, [_HANDLE, _POINTER]),
    "StartServiceCtrlDispatcherW": ("advapi32", _BOOL, [_POINTER]),
    "StartServiceW": ("advapi32", _BOOL, [_HANDLE, _DWORD, _POINTER]),
    "TerminateJobObject": ("kernel32", _BOOL, [_HANDLE, ctypes.c_uint]),
    "UnlockFileEx": ("kernel32", _BOOL, [_HANDLE, _DWORD, _DWORD, _DWORD, _POINTER]),
    "WaitForSingleObject": ("kernel32", _DWORD, [_HANDLE, _DWORD]),
}

_libraries: Dict[str, Any] = {}


def function(name: str) -> Any:
    """One of these functions."""
    library, result, arguments = _FUNCTIONS[name]
    if library not in _libraries:
        _libraries[library] = vars(ctypes)["WinDLL"](library, use_last_error=True)
    found = getattr(_libraries[library], name)
    found.restype, found.argtypes = result, arguments
    return found


def did(name: str, *arguments: Any) -> Any:
    """Call a function that returns nothing (0, no handle) when it fails.

    :raises OSError: as Python's own functions raise it
    """
    result = function(name)(*arguments)
    if not result:
        raise last_error()
    return result


def last_error(path: str = "") -> OSError:
    """Why the last call failed."""
    return error_of(vars(ctypes)["get_last_error"](), path)


def error_of(number: int, path: str = "") -> OSError:
    """What one of Windows' numbers means."""
    words = vars(ctypes)["FormatError"](number).strip()
    error: OSError = OSError(0, words, path or None, number)  # Windows' number decides which kind of OSError it is
    return error


def close(handle: Any) -> None:
    function("CloseHandle")(handle)


_WITH_OWNER, _TOO_SMALL, _TRIES = 4, 122, 5  # connections without those that listen; ERROR_INSUFFICIENT_BUFFER
_V4 = struct.Struct("=6I")  # MIB_TCPROW_OWNER_PID: state, local address and port, remote address and port, process
_V6 = struct.Struct("=16s2I16s4I")  # MIB_TCP6ROW_OWNER_PID: addresses with scope and port, state, process
ESTABLISHED = 5
_AF_INET, _AF_INET6 = 2, 23


def connections() -> Iterator[Tuple[int, Any, bool]]:
    """Local port, remote address, and whether it is established, of each.

    :raises OSError: when Windows does not say
    """
    for row in _rows(_AF_INET, _V4):
        state, _local, port, remote, _remote_port, _owner = row
        yield _port(port), ipaddress.IPv4Address(struct.pack("=I", remote)), state == ESTABLISHED
    for row in _rows(_AF_INET6, _V6):
        _local, _scope, port, remote, _remote_scope, _remote_port, state, _owner = row
        yield _port(port), ipaddress.IPv6Address(remote), state == ESTABLISHED


def _rows(family: int, row: struct.Struct) -> Iterator[Tuple[Any, ...]]:
    content = _table(family)
    (count,) = struct.unpack_from("=I", content)
    for number in range(count):
        yield row.unpack_from(content, 4 + number * row.size)


def _table(family: int) -> bytes:
    size = ctypes.c_uint32(65536)
    for _try in range(_TRIES):  # it may grow between two calls
        room = ctypes.create_string_buffer(size.value)
        number = function("GetExtendedTcpTable")(room, ctypes.byref(size), False, family, _WITH_OWNER, 0)
        if not number:
            return room.raw
        if number != _TOO_SMALL:
            raise error_of(number)
    raise OSError(0, "the list of connections grows faster than it can be read")


def _port(number: int) -> int:
    """Its two bytes are in the order of the network."""
    return int(struct.unpack(">H", struct.pack("=H", number & 0xFFFF))[0])
