# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the health endpoint reads of the machine: whether there is a mark, what the watcher has published about it, and its metrics.

Private to this collection.

It runs as a user without rights. The folder of the mark lets nobody list it, and everybody see whether a name is there (mode 0711).
"""

import os
from typing import Optional

from .answer import MachineState

MARK = "mark.json"
OUT_OF_SERVICE = "out-of-service"
METRICS = "metrics.prom"
_MOST_BYTES = 200
_MOST_METRICS = 64 * 1024


class StateFiles:
    """The files of one machine.

    :arg folder: of the mark
    :arg run_folder: of what the watcher publishes, which a boot clears
    """

    def __init__(self, folder: str, run_folder: str) -> None:
        self._mark = os.path.join(folder, MARK)
        self._published = os.path.join(run_folder, OUT_OF_SERVICE)
        self._metrics = os.path.join(run_folder, METRICS)

    def read(self) -> MachineState:
        try:
            os.stat(self._mark)
        except FileNotFoundError:
            return MachineState()
        except OSError as error:
            return MachineState(problem=str(error.strerror))
        return MachineState(is_marked=True, phase=self._phase())

    def metrics(self) -> Optional[bytes]:
        """As the watcher has last written them; None where there are none since the boot."""
        try:
            with open(self._metrics, "rb") as file:
                return file.read(_MOST_METRICS)
        except OSError:
            return None

    def _phase(self) -> str:
        try:
            with open(self._published, "rb") as file:
                text = file.read(_MOST_BYTES).decode("ascii", "replace")
        except OSError:
            return ""
        line = text.partition("\n")[0].strip()
        return line if line.isprintable() else ""
