# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""At most five requests a second of one machine, in all calls of the machine program together: one after the other, or at once.

Private to this collection.

Each call notes in a small file beside the program when it sends a request, and goes by what others have noted there. Nothing in
that file matters for longer than a second: what can't be read, or is not of this moment, counts as nothing. Where nothing can be
noted, each call keeps the limit for itself.

Polls leave one of the five requests to approvals, so that these need not wait for polls, and two more to a watcher.
"""

import contextlib
import json
import os
import zlib
from typing import Callable, Iterable, Iterator, List, Optional, Tuple

from .._clock import Clock, steady
from .._errors import ScheduledEventsError
from .._imds.transport import REQUESTS_PER_SECOND, WATCHER_REQUESTS_PER_SECOND, RateLimit
from .platform import native

SECOND = 1.0
"""What the limit counts over; and nobody waits for longer than that."""

FOR_APPROVALS = 1
_MOST_BYTES = 4096
_TRIES, _TRY_EVERY = 10, 0.005  # for the file's lock, which is held for a moment


def rates(
    clock: Clock, folder: str, endpoint: str, has_watcher: bool, now: Callable[[], float] = steady
) -> Tuple[RateLimit, RateLimit]:
    """The limits of polls and of approvals.

    :arg folder: where nobody but this user can write
    :arg endpoint: whose limit it is: hosts of an inventory that are one machine, as in tests, have each its own
    :arg has_watcher: whether the machine's own watcher polls, too
    :arg now: see :class:`MachineRate`
    """
    number = zlib.crc32(endpoint.rstrip("/").encode("utf-8", "replace"))
    path = os.path.join(folder, f"requests-{number:08x}")
    polls, approvals = limits(has_watcher)
    return MachineRate(clock, path, polls, now), MachineRate(clock, path, approvals, now, goes_first=True)


def limits(has_watcher: bool) -> Tuple[int, int]:
    """With how many requests within a second a poll may be sent, and an approval."""
    most = REQUESTS_PER_SECOND - (WATCHER_REQUESTS_PER_SECOND if has_watcher else 0)
    return most - FOR_APPROVALS, most


def recent(times: Iterable[float], now: float) -> List[float]:
    """Those of the noted times that count: not those of another second, nor of before the machine was rebooted."""
    return sorted(time for time in times if now - SECOND < time <= now + SECOND)


def sending(times: Iterable[float], now: float, most: int, goes_first: bool = False) -> float:
    """When the next request may be sent.

    :arg times: the recent ones, when requests were or will be sent
    :arg most: of a second
    :arg goes_first: before those that are still waiting
    """
    before = [time for time in times if time <= now or not goes_first]
    return max(now, before[-most] + SECOND) if len(before) >= most else now


def sent(times: Iterable[float], at: float, now: float) -> List[float]:
    """The times when one that was to be sent at some moment has ended: it may have arrived no earlier than now."""
    noted = list(times)
    if at in noted:
        noted.remove(at)
    return [*noted, now]


class MachineRate(RateLimit):
    """A limit that other processes keep, too.

    :arg path: of the file in which they note their requests
    :arg now: the clock that all processes of the machine share
    :arg goes_first: see :func:`sending`
    """

    def __init__(self, clock: Clock, path: str, most: int, now: Callable[[], float], goes_first: bool = False) -> None:
        super().__init__(clock, most)
        self._path = path
        self._most = most
        self._now = now
        self._goes_first = goes_first
        self._at = 0.0

    def wait(self) -> None:
        """Before a request.

        :raises ScheduledEventsError: where so many others wait that Azure would refuse this one
        """
        super().wait()
        with self._noted() as times:
            now = self._now()
            times[:] = recent(times, now)
            self._at = sending(times, now, self._most, self._goes_first)
            if self._at > now + SECOND:
                raise ScheduledEventsError(
                    "The metadata service was not asked: other calls on this machine use up its requests.",
                    kind="throttled",
                )
            times.append(self._at)
        self._clock.sleep(max(0.0, self._at - self._now()))

    def ended(self) -> None:
        super().ended()
        with self._noted() as times:
            times[:] = sent(times, self._at, self._now())

    @contextlib.contextmanager
    def _noted(self) -> Iterator[List[float]]:
        """The times that are noted, to be changed by nobody else meanwhile; none where they can't be."""
        descriptor = self._opened()
        if descriptor is None:
            yield []
            return
        try:
            times = _read(descriptor)
            yield times
            with contextlib.suppress(OSError):
                os.lseek(descriptor, 0, os.SEEK_SET)
                # Not emptied first: some file systems then hurry to have it on the disk.
                os.ftruncate(descriptor, os.write(descriptor, json.dumps(times).encode("ascii")))
        finally:
            os.close(descriptor)

    def _opened(self) -> Optional[int]:
        """The file, locked until it is closed; None where that can't be."""
        try:
            flags = os.O_RDWR | os.O_CREAT | native.AS_IT_IS | native.AT_ONCE
            descriptor = os.open(self._path, flags, 0o600)
        except OSError:
            return None
        for _try in range(_TRIES):
            try:
                native.lock(descriptor)
                return descriptor
            except BlockingIOError:
                self._clock.sleep(_TRY_EVERY)
            except OSError:  # a file system that has no locks
                break
        os.close(descriptor)
        return None


def _read(descriptor: int) -> List[float]:
    try:
        found = json.loads(os.read(descriptor, _MOST_BYTES).decode("ascii"))
    except (OSError, ValueError, RecursionError):  # empty, or somebody was ended while writing
        return []
    return [time for time in found if isinstance(time, float)] if isinstance(found, list) else []
