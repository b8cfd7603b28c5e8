# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Only one watcher runs for a state folder.

Private to this collection.
"""

import os

from .._machine.platform import native

NAME = "watcher.lock"


class NotAlone(Exception):
    """Another watcher runs there; the message says which process."""


class Alone:
    """The right to be the watcher of a folder, for as long as this process lives. The system takes it back, however that ends.

    :raises NotAlone: when another process has it
    :raises OSError: when the folder can't be used
    """

    def __init__(self, folder: str) -> None:
        path = os.path.join(folder, NAME)
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | native.AS_IT_IS, 0o600)
        try:
            native.lock(self._descriptor)
        except BlockingIOError as error:
            pid = os.read(self._descriptor, 20).decode("ascii", "replace").strip()
            os.close(self._descriptor)
            raise NotAlone(f"Another watcher (process {pid or 'unknown'}) runs for {folder}.") from error
        os.ftruncate(self._descriptor, 0)
        os.write(self._descriptor, f"{os.getpid()}\n".encode("ascii"))

    def release(self) -> None:
        os.close(self._descriptor)
