# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The hold: a person's word that nothing is to be approved by choice, until it is released. One small file.

Private to this collection.
"""

import os
from typing import Optional, Tuple

from .._clock import iso_utc
from .._machine import files
from .._machine.operator_files import FORMAT, UNKNOWN_HOLD, hold
from .._machine.operator_files import HOLD as NAME
from .._machine.platform import native
from .facts import Hold


class HoldFile:
    """The file, read when it has changed."""

    def __init__(self, folder: str) -> None:
        self.path = os.path.join(folder, NAME)
        self._seen: Optional[Tuple[int, ...]] = None
        self._hold: Optional[Hold] = None

    def read(self) -> Optional[Hold]:
        """The hold; one that can't be read is one all the same."""
        try:
            found = os.stat(self.path)
        except FileNotFoundError:
            self._seen, self._hold = None, None
            return None
        except OSError:
            return Hold(**UNKNOWN_HOLD)
        state = (found.st_mtime_ns, found.st_ino, found.st_size)
        if state != self._seen:
            said = hold(os.path.dirname(self.path))
            self._hold = Hold(**said) if said else None
            self._seen = state
        return self._hold

    def put(self, hold: Hold, wall: float) -> None:
        """:raises OSError: when it can't be written"""
        files.replace(self.path, dict(hold._asdict(), format=FORMAT, at=iso_utc(wall)))

    def remove(self) -> None:
        """:raises OSError: when it can't be removed"""
        try:
            os.unlink(self.path)
        except FileNotFoundError:
            return
        files.sync_folder_of(self.path)

    def put_aside(self) -> None:
        """It was said on another machine, of which this one is a copy."""
        native.replace(self.path, self.path + ".of-another-machine")
