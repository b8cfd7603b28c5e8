# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A job object: processes that are ended together, with all that they have started.

Private to this collection.
"""

import ctypes
import subprocess
from typing import Any

from . import kernel

_ACCOUNTING, _LIMITS = 1, 9  # classes of what can be asked and set
_KILL_ON_CLOSE = 0x2000


class _BasicLimits(ctypes.Structure):
    _fields_ = [
        ("process_time", ctypes.c_int64),
        ("job_time", ctypes.c_int64),
        ("flags", ctypes.c_uint32),
        ("least_working_set", ctypes.c_size_t),
        ("most_working_set", ctypes.c_size_t),
        ("most_processes", ctypes.c_uint32),
        ("affinity", ctypes.c_size_t),
        ("priority", ctypes.c_uint32),
        ("scheduling", ctypes.c_uint32),
    ]


class _Limits(ctypes.Structure):
    _fields_ = [
        ("basic", _BasicLimits),
        ("input_and_output", ctypes.c_uint64 * 6),
        ("memory", ctypes.c_size_t * 4),
    ]


class _Accounting(ctypes.Structure):
    _fields_ = [
        ("times", ctypes.c_int64 * 4),
        ("faults", ctypes.c_uint32),
        ("processes", ctypes.c_uint32),
        ("active", ctypes.c_uint32),
        ("ended", ctypes.c_uint32),
    ]


class JobObject:
    """One job object, without a name: it lasts as long as this process, or as somebody is in it.

    :raises OSError: when there can be none
    """

    def __init__(self) -> None:
        self._handle = kernel.did("CreateJobObjectW", None, None)
        self._limit(_KILL_ON_CLOSE)  # all of it ends with this process, however that ends

    def _limit(self, flags: int) -> None:
        limits = _Limits()
        limits.basic.flags = flags
        size = ctypes.sizeof(limits)
        kernel.did("SetInformationJobObject", self._handle, _LIMITS, ctypes.byref(limits), size)

    def run(self, process: "subprocess.Popen[bytes]") -> None:
        """Take in a process that was started suspended, and let it run: so nothing that it starts can be outside.

        :raises OSError: when that can't be; the process has ended then
        """
        handle = int(vars(process)["_handle"])
        try:
            kernel.did("AssignProcessToJobObject", self._handle, handle)
            status = kernel.function("NtResumeProcess")(handle)
            if status < 0:
                raise OSError(f"its process can't be resumed (NTSTATUS {status & 0xFFFFFFFF:#x})")
        except OSError:
            process.kill()
            raise

    def end(self) -> None:
        """End all of its processes, at once."""
        kernel.function("TerminateJobObject")(self._handle, 1)

    def let_go(self) -> None:
        """What is left of it outlives this process."""
        self._limit(0)

    def active(self) -> int:
        """How many of its processes run."""
        found: Any = _Accounting()
        kernel.did(
            "QueryInformationJobObject", self._handle, _ACCOUNTING, ctypes.byref(found), ctypes.sizeof(found), None
        )
        return int(found.active)
