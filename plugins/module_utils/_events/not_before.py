# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The time from which on an event may start, as documents write it: RFC 1123 in every capture, ISO 8601 in older pages (S1).

Private to this collection.
"""

import re
from datetime import datetime, timedelta
from typing import Optional

_EPOCH = datetime(1970, 1, 1)

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")

# Not time.strptime: it knows months by the names of the process's locale, which Ansible modules set.
# Not email.utils: it takes the year 0001, with which .NET says "no date", for 2001.
_RFC_1123 = re.compile(
    r"(?:[a-z]+,\s*)?(?P<day>\d{1,2})\s+(?P<month>[a-z]{3})\s+(?P<year>\d{4})"
    r"\s+(?P<hour>\d{2}):(?P<minute>\d{2}):(?P<second>\d{2})\s*(?P<zone>gmt|utc|z|[+-]\d{4})?",
    re.IGNORECASE | re.ASCII,
)
_ISO_8601 = re.compile(
    r"(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})"
    r"[t ](?P<hour>\d{2}):(?P<minute>\d{2}):(?P<second>\d{2})(?:[.,]\d+)?\s*(?P<zone>z|utc|gmt|[+-]\d{2}(?::?\d{2})?)?",
    re.IGNORECASE | re.ASCII,
)


def parse_not_before(text: Optional[str]) -> Optional[float]:
    """Unix seconds of a not-before in RFC 1123 or ISO 8601; None for a blank one and for what is no date.

    The weekday is not looked at (Microsoft's own example has a wrong one), fractions of a second are dropped,
    and a time without a zone is UTC. Years before 1970 are what programs write that have no date.
    """
    match = _RFC_1123.fullmatch((text or "").strip()) or _ISO_8601.fullmatch((text or "").strip())
    if not match:
        return None
    part = match.groupdict()
    try:
        month = int(part["month"]) if part["month"].isdigit() else _MONTHS.index(part["month"].lower()) + 1
        local = datetime(
            int(part["year"]), month, int(part["day"]), int(part["hour"]), int(part["minute"]), int(part["second"])
        )
        since_epoch = local - _offset(part["zone"] or "") - _EPOCH
    except (ValueError, OverflowError):
        return None
    return since_epoch.total_seconds() if since_epoch >= timedelta(0) else None


def _offset(zone: str) -> timedelta:
    if zone[:1] not in ("+", "-"):
        return timedelta(0)
    digits = zone[1:].replace(":", "")
    size = timedelta(hours=int(digits[:2]), minutes=int(digits[2:] or 0))
    return -size if zone[0] == "-" else size
