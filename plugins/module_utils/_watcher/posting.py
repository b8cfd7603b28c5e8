# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sends approvals, beside the loop, and says what came of them. Nothing is tried again here: handling asks anew when it is due.

Private to this collection.
"""

import queue
import threading
from typing import Callable, Dict, Optional, Sequence, Set, Tuple

from .._errors import ScheduledEventsError
from .._text import one_line
from .asking import Asking
from .facts import Posted

TOO_OLD = 5.0
"""Seconds after which an approval is not sent any more: what spoke for it was seen too long ago."""

KEPT = 3600.0  # seconds

_Ids = Tuple[str, ...]


class Posting:
    """The thread that posts.

    :arg objection: asked right before: why these events must not be approved any more, "" when they may; and for which of them the
        machine has to be prepared
    :arg woken: called when it is known what came of it
    """

    def __init__(self, asking: Asking, objection: Callable[[_Ids, _Ids], str], woken: Callable[[], None]) -> None:
        self.asking = asking
        self._objection = objection
        self._woken = woken
        self._waiting: queue.Queue[Optional[Tuple[_Ids, float]]] = queue.Queue()
        self._under_way: Set[str] = set()
        self._own: Set[str] = set()  # the keys of those for which the machine has to be prepared
        self._posted: Dict[str, Posted] = {}
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="posting", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._waiting.put(None)

    def approve(self, events: Sequence[str], at: float, own: Sequence[str] = ()) -> None:
        """Have them sent, those that are not being sent already.

        :arg at: when it was decided: from what was known then they must not be sent too late
        """
        with self._lock:
            self._own.update(event.upper() for event in own)
            self._own.difference_update(event.upper() for event in events if event not in own)
            new = tuple(event for event in events if event.upper() not in self._under_way)
            self._under_way.update(event.upper() for event in new)
        if new:
            self._waiting.put((new, at))

    def posted(self) -> Dict[str, Posted]:
        """What came of the last approval of each event, by its key."""
        with self._lock:
            oldest = self.asking.clock.now() - KEPT
            self._posted = {key: posted for key, posted in self._posted.items() if posted.at >= oldest}
            return dict(self._posted)

    def _run(self) -> None:
        while True:
            asked = self._waiting.get()
            if asked is None:
                return
            self.send(*asked)

    def send(self, events: _Ids, asked_at: float) -> None:
        """Send one approval, and keep what came of it."""
        try:
            why = self._sent(events, asked_at)
        except Exception as error:  # a thread that is gone would approve nothing any more
            why = f"The approval failed: {type(error).__name__}: {one_line(error)}"
        at = self.asking.clock.now()
        with self._lock:
            for event in events:
                self._posted[event.upper()] = Posted(at, not why, why)
                self._under_way.discard(event.upper())
        self._woken()

    def _sent(self, events: _Ids, asked_at: float) -> str:
        """Why it was not taken; "" when it was."""
        waited = self.asking.clock.now() - asked_at
        if waited > TOO_OLD:
            return f"It was not sent: it waited for {waited:.0f} s, and much may have changed since."
        objection = self._objection(events, tuple(event for event in events if event.upper() in self._own))
        if objection:
            return f"It was not sent: {objection}"
        transport = self.asking.transport()
        try:
            self.asking.client(transport).approve(events)
        except ScheduledEventsError as error:
            return error.message
        finally:
            transport.close()
        return ""
