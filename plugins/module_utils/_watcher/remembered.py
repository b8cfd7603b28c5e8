# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What handling wants to know again when the watcher is started anew, on a machine that was not.

Private to this collection.
"""

import json
import os
from typing import Any, Dict

from .._machine import files
from .._machine.platform import native

FOLDER = "/run/azure-maintenance"
NAME = "remembered.json"


class Remembered:
    """A file that is gone after a boot.

    :arg folder: where such files are
    """

    def __init__(self, folder: str = FOLDER) -> None:
        self._path = os.path.join(folder, NAME)
        self.what: Dict[str, Any] = self._read()

    def _read(self) -> Dict[str, Any]:
        try:
            found = files.read(self._path)
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def keep(self, what: Dict[str, Any]) -> None:
        """:raises OSError: when it can't be written"""
        if what == self.what:
            return
        files.make_folder(os.path.dirname(self._path))
        temporary = f"{self._path}.new"
        # Not synced: it is not to outlive a power cut.
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            json.dump(what, file)
        native.replace(temporary, self._path)
        self.what = what
