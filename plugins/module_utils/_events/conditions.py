# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The conditions under which a rule of a policy matches: what each may be, and whether it holds for an event.

Private to this collection.
"""

import math
from collections.abc import Sequence
from typing import Any, Callable, NamedTuple, Optional, Tuple

from .._text import did_you_mean
from .event import Event, among

TYPES = ("Freeze", "Reboot", "Redeploy", "Preempt", "Terminate", "SpotRebalanceRecommendation")
STATUSES = ("Scheduled", "Started", "Advisory")
SOURCES = ("Platform", "User")


class Condition(NamedTuple):
    """What may stand in a rule's `when`."""

    parse: Callable[[Any], Any]  # raises ValueError with what is wanted instead
    holds: Callable[[Event, Optional[float], Any], bool]  # event, notice, the parsed value


def is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _parse_names(value: Any) -> Tuple[str, ...]:
    if not is_list(value) or not value or not all(isinstance(name, str) and name.strip() for name in value):
        raise ValueError("a list of at least one name, such as [Freeze]")
    return tuple(name.strip().lower() for name in value)


def _one_of(known: Tuple[str, ...]) -> Callable[[Any], Tuple[str, ...]]:
    """How names are read of which there are no others than these."""

    def parse(value: Any) -> Tuple[str, ...]:
        names = _parse_names(value)
        for name in names:
            if not among(name, known):
                raise ValueError(f"a list of {', '.join(known)}{did_you_mean(name, known)}")
        return names

    return parse


def _parse_seconds(value: Any) -> float:
    # Ansible's templates make strings of numbers: "9" is as good as 9.
    try:
        seconds = float("nan") if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        seconds = float("nan")
    if not math.isfinite(seconds) or seconds < 0:
        raise ValueError("a number of seconds, 0 or more")
    return seconds


def _parse_upper_limit(value: Any) -> float:
    seconds = _parse_seconds(value)
    if not seconds:
        raise ValueError("a number of seconds above 0 (nothing lasts less than 0 seconds)")
    return seconds


def _duration(event: Event) -> float:
    """Seconds; what is not known (-1, or an api-version without durations) counts as long."""
    return event.duration if event.duration is not None and event.duration >= 0 else float("inf")


CONDITIONS = {
    "types": Condition(_parse_names, lambda event, notice, names: among(event.event_type, names)),
    "statuses": Condition(_one_of(STATUSES), lambda event, notice, names: among(event.event_status, names)),
    "sources": Condition(_one_of(SOURCES), lambda event, notice, names: among(event.source, names)),
    "duration_below": Condition(_parse_upper_limit, lambda event, notice, limit: _duration(event) < limit),
    "duration_at_least": Condition(_parse_seconds, lambda event, notice, limit: _duration(event) >= limit),
    "notice_below": Condition(_parse_seconds, lambda event, notice, limit: notice is not None and notice < limit),
    "notice_at_least": Condition(_parse_seconds, lambda event, notice, limit: notice is not None and notice >= limit),
}
