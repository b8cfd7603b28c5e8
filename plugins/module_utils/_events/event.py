# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an event is, alike in every case of letters and whatever its api-version; how modules return it, and whoever is to hear of it
gets it as JSON. And the time from which on it may start, as documents write that.

Private to this collection.
"""

import functools
import math
import re
from datetime import datetime, timedelta
from typing import Any, Collection, Dict, Mapping, NamedTuple, Optional, Tuple

from .._clock import iso_utc

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


class Event(NamedTuple):
    """One piece of maintenance. Text that the document lacks, or has only damaged, is ""; so a duration is None."""

    event_id: str
    event_type: str
    event_status: str
    resource_type: str
    resources: Tuple[str, ...]
    raw_resources: Tuple[str, ...]
    not_before: str
    not_before_time: Optional[float]
    description: str
    source: str
    duration: Optional[int]

    @property
    def key(self) -> str:
        """The id in the form in which ids are compared. What is sent to Azure is ``event_id``, as it came."""
        return self.event_id.upper()

    @property
    def is_scheduled(self) -> bool:
        """Whether it has been announced and has not started."""
        return self.event_status.lower() == "scheduled"

    @property
    def has_started(self) -> bool:
        """Whether its machines are being worked on, which nothing can stop any more."""
        return self.event_status.lower() == "started"

    @property
    def is_advice(self) -> bool:
        """Whether it only recommends something: an approval has no effect (S1, S13.1)."""
        return self.event_type.lower() == "spotrebalancerecommendation" or self.event_status.lower() == "advisory"

    @property
    def is_terminate(self) -> bool:
        """Whether it deletes its machines at somebody's wish, which only the machine itself approves (S4.12)."""
        return self.event_type.lower() == "terminate"

    @property
    def is_preempt(self) -> bool:
        """Whether it evicts spot machines, with 30 s of notice at least (S4.13)."""
        return self.event_type.lower() == "preempt"

    @property
    def may_terminate(self) -> bool:
        """Whether it is a Terminate, or may be one because its type can't be read."""
        return self.is_terminate or not self.event_type

    @property
    def takes_machines_away(self) -> bool:
        """Whether nothing is left of its machines when it is over: they are deleted, or evicted as spot machines."""
        return self.is_terminate or self.is_preempt

    @property
    def leaves_machines_running(self) -> bool:
        """Whether it only pauses its machines: where one was rebooted, that was something else."""
        return self.event_type.lower() == "freeze"

    @property
    def reboots_machines(self) -> bool:
        """Whether its machines are rebooted by it, and there again afterwards."""
        return self.event_type.lower() in ("reboot", "redeploy")

    def affects(self, resource_name: Optional[str]) -> bool:
        """Whether the machine of this name is listed: the whole name, in whatever case."""
        name = (resource_name or "").lower()
        return any(name == resource.lower() for resource in self.resources)


def among(text: str, names: Collection[str]) -> bool:
    """Whether a text of an event, such as its type, is one of these names, in whatever case."""
    return text.lower() in {name.lower() for name in names}


def event_to_dict(event: Event, own_name: Optional[str], now: float) -> Dict[str, Any]:
    """The event as modules return it; ``now`` is the Unix time of the poll."""
    not_before_utc, notice = None, None
    if event.not_before_time is not None:
        not_before_utc = iso_utc(event.not_before_time)
        notice = int(math.floor(event.not_before_time - now))
    return {
        "id": event.event_id,
        "type": event.event_type,
        "status": event.event_status,
        "resource_type": event.resource_type,
        "resources": list(event.resources),
        "raw_resources": list(event.raw_resources),
        "not_before": event.not_before,
        "not_before_utc": not_before_utc,
        "notice": notice,
        "source": event.source,
        "description": event.description,
        "duration": event.duration,
        "affects_self": event.affects(own_name) if own_name else None,
    }


def event_from_dict(data: Mapping[str, Any]) -> Event:
    """The inverse of :func:`event_to_dict`, whose ``affects_self`` and ``notice`` are about one machine and one moment."""
    return Event(
        event_id=data["id"],
        event_type=data["type"],
        event_status=data["status"],
        resource_type=data["resource_type"],
        resources=tuple(data["resources"]),
        raw_resources=tuple(data["raw_resources"]),
        not_before=data["not_before"],
        not_before_time=parse_not_before(data["not_before"]),
        description=data["description"],
        source=data["source"],
        duration=data["duration"],
    )


def notification(event: Event, notice: Optional[float]) -> Dict[str, Any]:
    """What an event is, without what is about one machine.

    :arg notice: the seconds from when it was first seen to its not-before; None where nobody knows
    """
    return {
        "id": event.event_id,
        "type": event.event_type,
        "status": event.event_status,
        "source": event.source,
        "resource_type": event.resource_type,
        "resources": list(event.resources),
        "raw_resources": list(event.raw_resources),
        "not_before": event.not_before,
        "not_before_utc": None if event.not_before_time is None else iso_utc(event.not_before_time),
        "notice": notice,
        "duration": event.duration,
        "description": event.description,
    }


@functools.lru_cache(maxsize=64)
def parse_not_before(text: Optional[str]) -> Optional[float]:
    """Unix seconds of a not-before in RFC 1123 or ISO 8601; None for a blank one and for what is no date.

    The weekday is ignored (Microsoft's own example has a wrong one), fractions of a second are dropped,
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
