# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Zones of time: how far a clock on a wall is ahead of UTC.

Private to this collection.
"""

import datetime
import re
import time
from typing import Any, Callable, NamedTuple

from .._text import did_you_mean

try:
    import zoneinfo
except ImportError:  # before Python 3.9
    zoneinfo = None  # type: ignore[assignment]

_OFFSET = re.compile(r"([+-])(\d\d):([0-5]\d)", re.ASCII)
_LARGEST_OFFSET = 14 * 3600
_ALWAYS = 'UTC, local, or an offset in quotes such as "+02:00"'


class Zone(NamedTuple):
    """A zone.

    text: as it is written in a policy
    words: as it stands behind a time of day
    offset: seconds by which its clocks are ahead of UTC, at a Unix time
    """

    text: str
    words: str
    offset: Callable[[float], float]


UTC = Zone("UTC", "UTC", lambda _wall: 0.0)


def parse_zone(value: Any) -> Zone:
    """A zone as users write it.

    :raises ValueError: with what is wanted instead
    """
    text = value.strip() if isinstance(value, str) else ""
    if text.lower() == "utc":
        return UTC
    if text.lower() == "local":
        return Zone("local", "local time", _local_offset)
    fixed = _OFFSET.fullmatch(text)
    if fixed:
        seconds = int(fixed.group(2)) * 3600.0 + int(fixed.group(3)) * 60.0
        if seconds <= _LARGEST_OFFSET:
            return _fixed(text, -seconds if fixed.group(1) == "-" else seconds)
    return _named(text)


def _fixed(text: str, seconds: float) -> Zone:
    return Zone(text, text, lambda _wall: seconds)


def _local_offset(wall: float) -> float:
    return float(time.localtime(wall).tm_gmtoff)


def _named(text: str) -> Zone:
    if zoneinfo is None:
        raise ValueError(f"{_ALWAYS} (the Python here knows no zones by name)")
    try:
        zone = zoneinfo.ZoneInfo(text)
    except (KeyError, ValueError, OSError):  # there is none; it is no such name; it is a folder
        raise ValueError(_wanted_names(text)) from None

    def offset(wall: float) -> float:
        return (datetime.datetime.fromtimestamp(wall, zone).utcoffset() or datetime.timedelta()).total_seconds()

    return Zone(text, text, offset)


def _wanted_names(text: str) -> str:
    names = zoneinfo.available_timezones()
    if not names:
        return f"{_ALWAYS} (zones by name need time zone data, which this machine does not have: package tzdata)"
    return f"{_ALWAYS}, or a name such as Europe/Zurich{did_you_mean(text, names)}"
