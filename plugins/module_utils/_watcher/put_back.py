# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The events in spite of which a person has put the machine back into service: it is not prepared for them again.

Private to this collection.

They stand in a file, as the machine may be restarted before they are over; its mark is gone by then.
"""

import os
from typing import Dict, FrozenSet, Iterable, Optional, Tuple

from .._machine import files
from .._machine.operator_files import KEPT, put_back, with_events
from .._machine.operator_files import PUT_BACK as NAME

__all__ = ["KEPT", "NAME", "PutBack"]


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
            self._events, self._seen = put_back(os.path.dirname(self.path)), state
        return frozenset(self._events)

    def add(self, events: Iterable[str], wall: float) -> None:
        """:raises OSError: when it can't be written"""
        self.read()
        files.replace(self.path, with_events(self._events, events, wall))
