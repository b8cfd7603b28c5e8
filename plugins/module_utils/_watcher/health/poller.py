# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waits for sockets, each until its own deadline, in one thread.

Private to this collection.
"""

import math
import selectors
import socket
from typing import Callable, Dict, List, NamedTuple, Optional, Tuple

from ..._clock import Clock


class Watched(NamedTuple):
    """A socket that is waited for."""

    ready: Callable[[], None]
    until: float
    late: Callable[[], None]


class Poller:
    """The sockets of one process."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._selector = selectors.DefaultSelector()
        self._watched: Dict[int, Watched] = {}

    def after(self, seconds: float) -> float:
        """The point in time after so many seconds."""
        return self._clock.now() + seconds

    def watch(
        self,
        one: socket.socket,
        ready: Callable[[], None],
        until: float = math.inf,
        late: Callable[[], None] = lambda: None,
        writes: bool = False,
    ) -> None:
        """Wait until something can be read, or written, in the place of what this socket was waited for before.

        :arg ready: called whenever that is so, or the connection has failed
        :arg until: see :meth:`after`; then `late` is called instead
        """
        number, events = one.fileno(), selectors.EVENT_WRITE if writes else selectors.EVENT_READ
        if number in self._watched:
            self._selector.modify(number, events)
        else:
            self._selector.register(number, events)
        self._watched[number] = Watched(ready, until, late)

    def forget(self, one: socket.socket) -> None:
        """Before it is closed."""
        if self._watched.pop(one.fileno(), None):
            self._selector.unregister(one.fileno())

    def turn(self, most: Optional[float] = None) -> None:
        """Wait once, for whatever comes first, and call who waits for it.

        :arg most: seconds; None for as long as it takes
        """
        next_at = min((one.until for one in self._watched.values()), default=math.inf)
        left = max(0.0, next_at - self._clock.now())
        left = left if most is None else min(left, most)
        for key, _events in self._ready(left):
            found = self._watched.get(key.fd)  # the one before may have closed it
            if found:
                found.ready()
        now = self._clock.now()
        for one in [one for one in self._watched.values() if one.until <= now]:
            if one in self._watched.values():
                one.late()

    def _ready(self, seconds: float) -> List[Tuple[selectors.SelectorKey, int]]:
        if not self._watched:  # Windows does not wait for nothing
            self._clock.sleep(0.0 if seconds == math.inf else seconds)
            return []
        return self._selector.select(None if seconds == math.inf else seconds)
