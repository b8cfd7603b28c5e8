# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The events in spite of which a person has put the machine back into service: it is not prepared for them again.

Private to this collection.

They stand in a file, as the machine may be restarted before they are over; its mark is gone by then.
"""

import json
import os
from typing import Any, Dict, FrozenSet, Iterable, Optional, Tuple

from .._machine import files

FORMAT = 1
NAME = "put_back.json"
KEPT = 30 * 86400.0
"""Seconds for which an event is kept: failures of hardware are predicted a week ahead, and no id comes twice."""


class PutBack:
    """The file, read when it has changed.

    :arg folder: of the state
    """

    def __init__(self, folder: str) -> None:
        self.path = os.path.join(folder, NAME)
        self._seen: Optional[Tuple[int, ...]] = None
        self._events: Dict[str, float] = {}

    def read(self) -> FrozenSet[str]:
        """The keys of the events; none where that can't be read: a machine that is prepared once too often is the smaller evil."""
        try:
            found = os.stat(self.path)
        except OSError:
            self._seen, self._events = None, {}
            return frozenset()
        state = (found.st_mtime_ns, found.st_ino, found.st_size)
        if state != self._seen:
            self._events, self._seen = _parsed(self.path), state
        return frozenset(self._events)

    def add(self, events: Iterable[str], wall: float) -> None:
        """:raises OSError: when it can't be written"""
        self.read()
        kept = {key: at for key, at in self._events.items() if wall - at < KEPT}
        kept.update((event.upper(), wall) for event in events)
        files.replace(self.path, {"format": FORMAT, "events": kept})


def _parsed(path: str) -> Dict[str, float]:
    try:
        with open(path, "rb") as file:
            given: Dict[str, Any] = json.loads(file.read(65536).decode("utf-8"))
        if given["format"] != FORMAT:
            return {}
        return {str(key): float(at) for key, at in given["events"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}
