# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Virtual time, and what is due when.

Nothing else asks a watch: it asks the timeline, which says the time at which a thing was due while it is done. A
jump of an hour therefore plays everything in between in order, each at its own moment.
"""

import contextlib
import heapq
import time
from typing import Any, Callable, Iterator, List, Optional


class Clock:
    """Virtual Unix time that runs `speed` times as fast as a watch."""

    def __init__(
        self,
        start: Optional[float] = None,
        speed: float = 1.0,
        monotonic: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self.real = monotonic
        self.wall = wall
        self.start = wall() if start is None else start
        self.speed = speed
        self._virtual = self.start
        self._read_at = monotonic()

    def now(self) -> float:
        """Virtual time."""
        return self._virtual + (self.real() - self._read_at) * self.speed

    def set_speed(self, speed: float) -> None:
        """From now on; 0 stands still."""
        self._virtual, self._read_at = self.now(), self.real()
        self.speed = speed

    def advance(self, seconds: float) -> None:
        """Jump ahead."""
        self._virtual += seconds

    def real_seconds(self, virtual: float) -> Optional[float]:
        """How long so many virtual seconds take by a watch; None when the clock stands still."""
        return virtual / self.speed if self.speed else None


class Due:
    """One thing that is due at a time; it can be called off."""

    __slots__ = ("when", "order", "action")

    def __init__(self, when: float, order: int, action: Optional[Callable[[], None]]) -> None:
        self.when = when
        self.order = order
        self.action = action

    def __lt__(self, other: Any) -> bool:
        return (self.when, self.order) < (other.when, other.order)

    def call_off(self) -> None:
        """Nothing will happen."""
        self.action = None


class Timeline:
    """The heap of what is due, on a clock."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.moved: Callable[[], None] = lambda: None  # called when the next due time may have changed
        self._heap: List[Due] = []
        self._order = 0
        self._playing: Optional[float] = None

    def now(self) -> float:
        """The moment being played, else virtual time."""
        return self.clock.now() if self._playing is None else self._playing

    def after(self, seconds: float, action: Callable[[], None]) -> Due:
        """Have something done in so many virtual seconds."""
        self._order += 1
        due = Due(self.now() + seconds, self._order, action)
        heapq.heappush(self._heap, due)
        if self._heap[0] is due:
            self.moved()
        return due

    def next_due(self) -> Optional[float]:
        """When the next thing is due, in virtual time."""
        while self._heap and self._heap[0].action is None:
            heapq.heappop(self._heap)
        return self._heap[0].when if self._heap else None

    def catch_up(self) -> None:
        """Do everything that is due by now, in order."""
        if not self._heap or self._playing is not None:
            return
        now = self.clock.now()
        try:
            while self._heap and self._heap[0].when <= now:
                due = heapq.heappop(self._heap)
                if due.action is not None:
                    self._playing = due.when
                    due.action()
        finally:
            self._playing = None

    @contextlib.contextmanager
    def moment(self) -> Iterator[None]:
        """What is done inside is done at one and the same time."""
        if self._playing is not None:
            yield
            return
        self._playing = self.clock.now()
        try:
            yield
        finally:
            self._playing = None

    def advance(self, seconds: float) -> None:
        """Jump ahead and do everything on the way."""
        self.clock.advance(seconds)
        self.catch_up()
        self.moved()

    def set_speed(self, speed: float) -> None:
        """Faster, slower, or (0) stopped."""
        self.catch_up()
        self.clock.set_speed(speed)
        self.moved()

    def until(self, when: float) -> Optional[float]:
        """Real seconds until a virtual time; None when the clock stands still."""
        return self.clock.real_seconds(max(0.0, when - self.clock.now()))
