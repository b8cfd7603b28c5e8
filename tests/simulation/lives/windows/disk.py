# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The disk of a Windows machine, as far as look.ps1 uses one: files, who has them open, and what goes wrong with them."""

from __future__ import annotations

from collections.abc import Callable

FOLDER = "%ProgramData%\\AzureMaintenance"
MARK = f"{FOLDER}\\mark.json"
YES = f"{FOLDER}\\yes"


class Thrown(Exception):
    """What .NET throws. Where nothing else is said, it is no IOException, as UnauthorizedAccessException."""

    failure = "Unknown"


class IoThrown(Thrown):
    """An IOException, as that of a full disk."""


class Missing(IoThrown):
    """FileNotFoundException, DirectoryNotFoundException"""


class Shared(IoThrown):
    """A sharing violation: something else has the file open."""

    failure = "Busy"


class Disk:
    """:arg trouble: whether there is such trouble now: ``file-busy``, ``denied``, ``disk-full``"""

    def __init__(self, trouble: Callable[[str], str]) -> None:
        self.files: dict[str, bytes] = {}
        self.folders: set[str] = set()
        self.open: set[str] = set()  # files that a script has open for itself alone
        self._trouble = trouble

    def make_folder(self, path: str) -> None:
        if path in self.folders:
            return
        if self._trouble("denied"):
            raise Thrown(f"Access to the path '{path}' is denied.")
        self.folders.add(path)

    def read(self, path: str) -> bytes:
        self._accessible(path, "read")
        if path not in self.files:
            raise Missing(f"Could not find file '{path}'.")
        return self.files[path]

    def open_alone(self, path: str) -> None:
        """Open it for nobody else, as the lock; it is closed by `close`."""
        self._accessible(path, "write")
        self.files.setdefault(path, b"")
        self.open.add(path)

    def close(self, path: str) -> None:
        self.open.discard(path)

    def write(self, path: str, content: bytes) -> None:
        """Into a file that is open."""
        if self._trouble("disk-full"):
            self.files[path] = content[:0]
            raise IoThrown("There is not enough space on the disk.")
        self.files[path] = content

    def delete(self, path: str) -> None:
        self._accessible(path, "write")
        self.files.pop(path, None)

    def move(self, source: str, path: str) -> None:
        self._accessible(source, "write")
        self._accessible(path, "write")
        self.files[path] = self.files.pop(source)

    def listed(self, folder: str) -> list[str]:
        """The JSON files of a folder."""
        start = f"{folder}\\"
        names = [path for path in self.files if path.startswith(start) and "\\" not in path[len(start) :]]
        return sorted(path for path in names if path.endswith(".json"))

    def _accessible(self, path: str, how: str) -> None:
        if self._trouble("denied") and (how == "write" or path in self.files):
            raise Thrown(f"Access to the path '{path}' is denied.")
        scanned = path == MARK and path in self.files and self._trouble("file-busy")
        if path in self.open or scanned or (path.endswith("\\lock") and self._trouble("lock-busy")):
            raise Shared(f"The process cannot access the file '{path}' because it is being used by another process.")
