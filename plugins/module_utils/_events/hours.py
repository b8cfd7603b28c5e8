# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The hours of a policy's rule: whether they are open at a time of day, and when they open next; and zones of time, how far a
clock on a wall is ahead of UTC. Pure.

Private to this collection.

Hours go by what a clock on a wall shows there. Where that is put forward, what it leaves out is left out; where it is put back, an
hour that it shows twice counts twice.
"""

import collections.abc
import datetime
import math
import re
import time
from typing import Any, Callable, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple

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


DAY = 86400
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_FULL = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_SPAN = re.compile(r"\s*(\d\d?):([0-5]\d)\s*-\s*(\d\d?):([0-5]\d)\s*", re.ASCII)
_THURSDAY = 3  # what 1 January 1970 was
_FURTHEST = 15 * DAY  # hours of several machines that have not been open together by then never are


class Hours(NamedTuple):
    """When something may be done early.

    spans: of a day, from second to second after its midnight; the second one is above a day's length where it is on the next day
    weekdays: the days on which a span may begin, 0 for Monday
    """

    spans: Tuple[Tuple[int, int], ...] = ((0, DAY),)
    weekdays: Tuple[int, ...] = tuple(range(7))
    zone: Zone = UTC

    @property
    def words(self) -> str:
        """Such as ``22:00-05:00 UTC on sat, sun``"""
        days = "" if len(self.weekdays) == 7 else " on " + ", ".join(_DAYS[day] for day in self.weekdays)
        return f"{', '.join(map(_span_words, self.spans))} {self.zone.words}{days}"

    def moment_words(self, wall: float) -> str:
        """A moment as the clock there shows it, such as ``Sat 22:00 UTC``"""
        day, second = divmod(wall + self.zone.offset(wall), DAY)
        return f"{_DAYS[_weekday(day)].capitalize()} {_clock_words(int(second))} {self.zone.words}"

    def as_rule(self) -> Mapping[str, Any]:
        """What :func:`hours_of` makes this of: plain data."""
        return {
            "hours": [_span_words(span) for span in self.spans],
            "weekdays": [_DAYS[day] for day in self.weekdays],
            "zone": self.zone.text,
        }


def is_list(value: Any) -> bool:
    return isinstance(value, collections.abc.Sequence) and not isinstance(value, (str, bytes))


def hours_of(rule: Mapping[str, Any]) -> Hours:
    """Out of the keys of a rule.

    :raises ValueError: see :data:`PARSERS`
    """
    return Hours(**{field: parse(rule[key]) for key, (field, parse) in PARSERS.items() if key in rule})


# ---- open or not ----


def is_open(hours: Hours, wall: float) -> bool:
    """Whether they are open at a Unix time."""
    day, second = divmod(wall + hours.zone.offset(wall), DAY)
    return any(
        (start <= second < end and _weekday(day) in hours.weekdays)
        or (start <= second + DAY < end and _weekday(day - 1) in hours.weekdays)
        for start, end in hours.spans
    )


def opens(several: Sequence[Hours], wall: float, until: float) -> Optional[float]:
    """The first Unix time from `wall` to `until` at which all of these hours are open; None where there is none."""
    at, last = wall, min(until, wall + _FURTHEST)
    while at <= last:
        later = max(_opens(hours, at) for hours in several)
        if later == at:
            return at
        at = later
    return None


def _opens(hours: Hours, wall: float) -> float:
    at, offset = wall, hours.zone.offset
    while not is_open(hours, at):
        ahead = float(round(at + _until_start(hours, at + offset(at))))  # a whole second: no float falls short of it
        if offset(ahead) == offset(at):
            return ahead
        at = _clock_is_changed(offset, at, ahead)
    return at


def _until_start(hours: Hours, local: float) -> float:
    today = local // DAY
    starts = (
        (today + ahead) * DAY + start - local
        for ahead in range(8)
        if _weekday(today + ahead) in hours.weekdays
        for start, _end in hours.spans
    )
    return min(seconds for seconds in starts if seconds > 0)


def _clock_is_changed(offset: Callable[[float], float], before: float, after: float) -> float:
    """The first second between two moments at which the clocks go by the offset of the later one."""
    low, high = math.floor(before), math.ceil(after)
    while high - low > 1:
        middle = (low + high) // 2
        if offset(middle) == offset(before):
            low = middle
        else:
            high = middle
    return float(high)


def _weekday(day: float) -> int:
    return (int(day) + _THURSDAY) % 7


# ---- as users write them ----


def _parse_spans(value: Any) -> Tuple[Tuple[int, int], ...]:
    wanted = 'hours such as "22:00-05:00", in quotes, or a list of such'
    texts = list(value) if is_list(value) else [value]
    found = [_SPAN.fullmatch(text) if isinstance(text, str) else None for text in texts]
    spans: List[Tuple[int, int]] = []
    for match in found:
        if match is None:
            raise ValueError(wanted)
        first, last = (int(match.group(hour)) * 3600 + int(match.group(hour + 1)) * 60 for hour in (1, 3))
        if first >= DAY or last > DAY:
            raise ValueError(f"{wanted}, from 00:00 to 24:00")
        if first == last:
            raise ValueError(f"{wanted}, that do not end when they begin (all day is 00:00-24:00)")
        spans.append((first, last if last > first else last + DAY))
    if not spans:
        raise ValueError(wanted)
    return tuple(spans)


def _parse_weekdays(value: Any) -> Tuple[int, ...]:
    texts = list(value) if is_list(value) else [value]
    days = [day for text in texts for day in _days_of(text)]
    if not days:
        raise ValueError(f"a list of {', '.join(_DAYS)}, or ranges of them such as mon-fri")
    return tuple(sorted(set(days)))


def _days_of(text: Any) -> Iterable[int]:
    first, dash, last = text.partition("-") if isinstance(text, str) else ("", "", "")
    begins = _day(first)
    ends = _day(last) if dash else begins
    return [(begins + number) % 7 for number in range((ends - begins) % 7 + 1)]


def _day(text: str) -> int:
    name = text.strip().lower()
    for names in (_DAYS, _FULL):
        if name in names:
            return names.index(name)
    raise ValueError(
        f"a list of {', '.join(_DAYS)}, or ranges of them such as mon-fri{did_you_mean(name, _FULL + _DAYS)}"
    )


PARSERS: Dict[str, Tuple[str, Callable[[Any], Any]]] = {
    "hours": ("spans", _parse_spans),
    "weekdays": ("weekdays", _parse_weekdays),
    "zone": ("zone", parse_zone),
}
"""The keys of a rule: the field that each is, and how it is read. That raises ValueError with what is wanted instead."""


def _span_words(span: Tuple[int, int]) -> str:
    end = span[1] - DAY if span[1] > DAY else span[1]
    return f"{_clock_words(span[0])}-{_clock_words(end)}"


def _clock_words(second: int) -> str:
    return f"{second // 3600:02d}:{second // 60 % 60:02d}"
