# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the watcher says of itself in a file of the state folder: for the command, for `maintain`, for people.

Private to this collection.

It is no state of the watcher's: it is never read back, and may be lost.
"""

import json
import os
from typing import Any, Dict, Optional

from .._clock import Clock, iso_utc
from .._machine.platform import native
from .._machine.watcher_status import FORMAT, NAME

EVERY = 30.0  # seconds; at once where something else than a time or a count has changed
_PASSING = ("at", "uptime", "looked_at", "looks")


class Published:
    """The file.

    problem: why it could not be written the last time
    """

    def __init__(self, folder: str, clock: Clock) -> None:
        self._path = os.path.join(folder, NAME)
        self._temporary = os.path.join(folder, f".{NAME}.new")
        self._clock = clock
        self._written: Optional[Dict[str, Any]] = None
        self._at = 0.0
        self.problem = ""

    def publish(self, state: Dict[str, Any]) -> None:
        """Have this in the file, at once where it matters."""
        now = self._clock.now()
        lasting = {key: value for key, value in state.items() if key not in _PASSING}
        if lasting == self._written and now - self._at < EVERY:
            return
        self._at = now
        whole = dict(state, format=FORMAT, at=iso_utc(self._clock.wall()))
        try:
            # Not synced: who looks after a power cut starts a watcher first.
            descriptor = os.open(self._temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
            with open(descriptor, "w", encoding="utf-8") as file:
                json.dump(whole, file)
            native.replace(self._temporary, self._path)
        except OSError as error:
            self.problem = f"{self._path} can't be written: {error.strerror}"
            return
        self._written = lasting
        self.problem = ""
