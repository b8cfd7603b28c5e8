# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is said, told beside the loop: a disk that is slow or hangs keeps nobody from preparing.

Private to this collection.
"""

import queue
import threading
from typing import Callable, Optional, Sequence

from .._clock import Clock, Deadline
from .report import Report

MOST = 1000  # reports that may wait to be written down


class Outbox:
    """Hands reports to those who write them down, in order, in a thread of its own.

    :arg tell: called with each report, one after the other; what one of them raises is kept from the others
    """

    def __init__(self, tell: Sequence[Callable[[Report], object]], most: int = MOST) -> None:
        self._tell = list(tell)
        self._queue: queue.Queue[Optional[Report]] = queue.Queue(most)
        self._thread = threading.Thread(target=self._work, name="reports", daemon=True)
        self._thread.start()
        self.lost = 0
        """Reports that found no place, as nothing has been written down for long."""
        self.problem = ""
        """What one of those who write them down raised last: it should never be anything."""

    def put(self, report: Report) -> None:
        """Take it, at once."""
        try:
            self._queue.put_nowait(report)
        except queue.Full:
            self.lost += 1

    def flush(self, seconds: float, clock: Optional[Clock] = None) -> bool:
        """Wait until all is written down, at most so long; whether it is."""
        clock = clock or Clock()
        deadline = Deadline(clock, seconds)
        while self._queue.unfinished_tasks:
            if deadline.passed():
                return False
            clock.sleep(0.01)
        return True

    def _work(self) -> None:
        while True:
            report = self._queue.get()
            for tell in self._tell:
                try:
                    if report is not None:
                        tell(report)
                except Exception as error:
                    self.problem = f"{type(error).__name__}: {error}"
            self._queue.task_done()
