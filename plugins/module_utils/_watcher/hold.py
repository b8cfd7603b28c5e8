# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The hold: a person's word that nothing is to be approved by choice, until it is released. One small file.

Private to this collection.
"""

import json
import os
from typing import Any, Dict, Optional, Tuple

from .._clock import iso_utc
from .._machine import files
from .._text import one_line
from .facts import Hold

FORMAT = 1
NAME = "hold.json"
_UNKNOWN = Hold("There is a hold that can't be read", "", None)


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
            return _UNKNOWN
        state = (found.st_mtime_ns, found.st_ino, found.st_size)
        if state != self._seen:
            self._hold = _parsed(self.path)
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
        os.replace(self.path, self.path + ".of-another-machine")


def _parsed(path: str) -> Hold:
    try:
        with open(path, "rb") as file:
            given: Dict[str, Any] = json.loads(file.read(65536).decode("utf-8"))
        until = given.get("until")
        if until is not None and (isinstance(until, bool) or not isinstance(until, (int, float))):
            return _UNKNOWN
        words = {key: one_line(given.get(key), 500) for key in ("reason", "by", "vm_id")}
        return Hold(until=until, **words)
    except (OSError, ValueError, AttributeError, RecursionError):
        return _UNKNOWN
