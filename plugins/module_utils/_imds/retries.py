# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Failures: which may pass by themselves, how they are retried, and what a person can do about them.

Private to this collection.
"""

import email.utils
from typing import Callable, Optional, Sequence, TypeVar

from .._clock import Clock, Deadline
from .._errors import ScheduledEventsError
from .._text import digits, duration
from .endpoint import DEFAULT_ENDPOINT
from .transport import Answer

# For how many seconds a single poll (not a wait, that has its own end) is retried, by kind of failure.
RETRY_FOR = {
    "unreachable": 5.0,
    "malformed": 5.0,
    "timeout": 30.0,
    "unavailable": 30.0,
    "throttled": 30.0,
    "updating": 75.0,  # Azure: an update of the service takes 70 s at most
}
BACK_OFF = {"throttled": (2.0, 4.0, 8.0, 16.0), "updating": (1.0, 2.0, 4.0, 8.0), "unavailable": (1.0, 2.0, 4.0, 8.0)}
EMPTY_PAUSE = 1.0

_UNKNOWN = "The events are unknown, which does not mean that there are none."
ADVICE = {
    "unreachable": "Check that this is an Azure virtual machine, that it has a route to the endpoint, and that no firewall "
    "blocks this process. For another address, set the option endpoint.",
    "timeout": "The first answer after a day without requests may take two minutes (option first_timeout), any "
    "later one ten seconds (option timeout).",
    "throttled": "Azure allows a machine five requests a second, all its programs together: check what else asks.",
    "updating": "The metadata service said that it is being updated, which takes 70 seconds at most. Try again later.",
    "unavailable": "Try again later. If it stays so, see whether other programs on the machine can reach the metadata "
    "service, and ask Azure's support.",
    "denied": "Azure's Metadata Security Protocol (GuestProxyAgent) may allow only some users and programs to ask: "
    "see the machine's access rules for the metadata service.",
    "version_refused": "If the option api_version is right, see whether a proxy sits on the way: Azure refuses "
    "requests that carry X-Forwarded-For in the same way.",
    "malformed": _UNKNOWN,
    "too_large": _UNKNOWN,
}
ELSEWHERE = "Check that this address is right (option endpoint), and that its service runs, such as an emulator that may have ended."

_T = TypeVar("_T")


class HttpError(ScheduledEventsError):
    """An answer other than the one we asked for.

    :arg retry_after: the seconds of its Retry-After header
    """

    def __init__(self, message: str, kind: str, status: int, url: str, retry_after: Optional[float] = None) -> None:
        super().__init__(message, kind, status, url)
        self.retry_after = retry_after


class Retries:
    """Asks again what failed and may pass.

    failures, last_failure: how many requests have failed so far, and what the last one said
    """

    def __init__(self, clock: Clock) -> None:
        self.failures = 0
        self.last_failure = ""
        self._clock = clock
        self._in_a_row = 0
        self._row_began = 0.0

    def persist(
        self, ask: Callable[[], _T], deadline: Optional[Deadline], interval: float = 1.0, final: Sequence[str] = ()
    ) -> _T:
        """Ask until there is an answer, the failure is one that stays, or the time is over.

        :arg interval: the least number of seconds between two tries
        :arg final: kinds of failure that are not retried
        """
        self.begin_row()
        while True:
            try:
                return ask()
            except ScheduledEventsError as error:
                failure = error
            self._in_a_row += 1
            self.failures += 1
            self.last_failure = failure.message
            left = 0.0 if failure.kind in final else self._time_left(failure, deadline)
            if left <= 0 or asked_pause(failure) > left:
                raise self._explained(failure)
            self._clock.sleep(min(pause_after(failure, self._in_a_row, interval), left))

    def begin_row(self) -> None:
        """Failures in a row are counted from here on."""
        self._in_a_row = 0
        self._row_began = self._clock.now()

    def _time_left(self, failure: ScheduledEventsError, deadline: Optional[Deadline]) -> float:
        if not may_pass(failure):
            return 0.0
        if deadline is not None:
            return deadline.remaining()
        return self._row_began + RETRY_FOR[failure.kind] - self._clock.now()

    def _explained(self, failure: ScheduledEventsError) -> ScheduledEventsError:
        """The same failure for a person: what was tried, and what to do next."""
        parts = [failure.message]
        if self._in_a_row > 1:
            parts.append(f"Asked {self._in_a_row} times in {self._clock.now() - self._row_began:.0f} s.")
        if asked_pause(failure):
            parts.append(f"It asks to be left alone for {duration(asked_pause(failure))}.")
        parts.append(advice(failure))
        return explained(failure, " ".join(part for part in parts if part))


def advice(failure: ScheduledEventsError) -> str:
    """What a person can do about it."""
    if failure.kind == "unreachable" and failure.url and not failure.url.startswith(DEFAULT_ENDPOINT):
        return ELSEWHERE
    return ADVICE.get(failure.kind, "")


def may_pass(failure: ScheduledEventsError) -> bool:
    """Whether asking again may help."""
    return failure.kind in RETRY_FOR


def pause_after(failure: ScheduledEventsError, in_a_row: int, interval: float = 1.0) -> float:
    """Seconds to wait before the next try: as long as the service asks for, else longer from one failure to the next.

    :arg in_a_row: how many tries have failed in a row, this one included
    :arg interval: the least number of seconds between two tries
    """
    steps = BACK_OFF.get(failure.kind, (interval,))
    return max(interval, asked_pause(failure) or steps[min(in_a_row, len(steps)) - 1])


def asked_pause(failure: ScheduledEventsError) -> float:
    """For how many seconds the service asks to be left alone; 0 when it does not."""
    return (failure.retry_after or 0.0) if isinstance(failure, HttpError) else 0.0


def explained(failure: ScheduledEventsError, message: str) -> ScheduledEventsError:
    """The same failure in other words."""
    result = ScheduledEventsError(message, failure.kind, failure.status, failure.url)
    result.__cause__ = failure
    return result


def retry_after(answer: Answer, clock: Clock) -> Optional[float]:
    """Seconds, from a number or a date; None without one that can be read."""
    text = answer.headers.get("retry-after", "").strip()
    seconds = digits(text)
    if seconds is not None:
        return float(seconds)
    date = http_date(text)
    return None if date is None else max(0.0, date - clock.wall())


def http_date(text: str) -> Optional[float]:
    """The Unix time of a header such as ``Date``; None where it can't be read."""
    try:
        return email.utils.parsedate_to_datetime(text).timestamp()
    except (TypeError, ValueError, IndexError, OverflowError):
        return None
