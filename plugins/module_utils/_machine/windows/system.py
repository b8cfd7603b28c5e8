# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the machine program asks Windows.

Private to this collection.
"""

import ctypes
import importlib
import time
import uuid
from typing import Any

from ..system import System
from . import kernel

KEY = r"SOFTWARE\AzureMaintenance\ThisStart"
"""A key of the registry that is gone when the machine has been started anew."""

_VALUE = "Id"
_VOLATILE, _READ_AND_WRITE = 1, 0x2001F
_WITHIN, _LOOK_EVERY = 2.0, 0.02


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
