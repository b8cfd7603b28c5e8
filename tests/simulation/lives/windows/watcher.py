# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The watcher of a Windows machine: a run reads its mark, and what it says of itself, as files."""

from __future__ import annotations

import json
from typing import Any

from ..watcher import Watcher
from .disk import FOLDER

IN_THE_WAY = ("file-busy", "lock-busy", "denied", "disk-full")


class WindowsWatcher(Watcher):
    """It does what is to be done as one of Linux does; where somebody else has its files open, later.

    on_disk: what of its mark was written last
    """

    on_disk = ""

    def _look(self) -> None:
        if self._may_write():
            super()._look()
            self._written()

    def _go_on(self) -> None:
        if self._may_write():
            super()._go_on()
            self._written()

    def _may_write(self) -> bool:
        return not self.machine.locked and not self.machine.fault(*IN_THE_WAY)

    def _written(self) -> None:
        """Have on the disk what was changed of the mark. While all is quiet its lease is not renewed: nobody takes over a watcher's mark."""
        mark = self.machine.mark
        if self._holds() and _says(mark) != self.on_disk:
            self.machine.mark = mark
            self.on_disk = _says(mark)

    def publish(self) -> None:
        machine = self.machine
        machine.disk.folders.add(FOLDER)
        machine.disk.files[f"{FOLDER}\\watcher.json"] = json.dumps(self.published).encode("ascii")


def _says(mark: dict[str, Any]) -> str:
    """What a mark says but for its lease."""
    return json.dumps({key: value for key, value in mark.items() if key not in ("number", "lease")}, sort_keys=True)
