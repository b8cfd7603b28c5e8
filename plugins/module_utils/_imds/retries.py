# Copyright: (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Failures: which may pass by themselves, for how long they are tried again, and what a person can do about them.

Private to this collection.
"""

import email.utils
from typing import Optional

from .._clock import Clock
from .._errors import ScheduledEventsError
from .transport import Answer

# For how many seconds a single look (not a wait, that has its own end) tries again, by kind of failure.
RETRY_FOR = {
    "unreachable": 5.0,
    "malformed": 5.0,
    "timeout": 30.0,
    "unavailable": 30.0,
    "throttled": 30.0,
    "updating": 75.0,
}  # Azure: an update of the service takes 70 s at most
BACK_OFF = {"throttled": (2.0, 4.0, 8.0, 16.0), "updating": (1.0, 2.0, 4.0, 8.0), "unavailable": (1.0, 2.0, 4.0, 8.0)}
EMPTY_PAUSE = 1.0

ADVICE = {
    "unreachable": "Is this an Azure virtual machine, does it have a route to the endpoint, and does no firewall "
    "keep this process from it? For another address, set the option endpoint.",
    "timeout": "The first answer after a day without requests may take two minutes (option first_timeout), any "
    "later one ten seconds (option timeout).",
    "throttled": "Azure allows a machine five requests a second, all its programs together: see what else asks.",
    "updating": "The metadata service said that it is being updated, which takes 70 seconds at most. Try again later.",
    "unavailable": "Try again later. If it stays so, see whether other programs on the machine can reach the metadata "
    "service, and ask Azure's support.",
    "denied": "Azure's Metadata Security Protocol (GuestProxyAgent) may allow only some users and programs to ask: "
    "see the machine's access rules for the metadata service.",
    "version_refused": "If the option api_version is right, see whether a proxy sits on the way: Azure refuses "
    "requests that carry X-Forwarded-For in the same way.",
    "malformed": "The events are unknown, which does not mean that there are none.",
}


class HttpError(ScheduledEventsError):
    """An answer other than the one we asked for.

    :arg retry_after: the seconds of its Retry-After header
    """

    def __init__(self, message: str, kind: str, status: int, url: str, retry_after: Optional[float] = None) -> None:
        super().__init__(message, kind, status, url)
        self.retry_after = retry_after


def explained(failure: ScheduledEventsError, message: str) -> ScheduledEventsError:
    """The same failure in other words."""
    result = ScheduledEventsError(message, failure.kind, failure.status, failure.url)
    result.__cause__ = failure
    return result


def may_pass(failure: ScheduledEventsError) -> bool:
    """Whether asking again may help."""
    return failure.kind in RETRY_FOR


def retry_after(answer: Answer, clock: Clock) -> Optional[float]:
    """Seconds, from a number or a date; None without one that can be read."""
    text = answer.headers.get("retry-after", "").strip()
    if text.isdigit() and len(text) < 10:
        return float(text)
    try:
        date = email.utils.parsedate_to_datetime(text)
        return max(0.0, date.timestamp() - clock.wall())
    except (TypeError, ValueError, IndexError, OverflowError):
        return None
