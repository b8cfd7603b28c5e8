# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The document as each api-version of Scheduled Events shows it.

These versions are a list of their own: the service's other versions (see instance.py) are no versions of this endpoint.
"""

import json
from datetime import datetime, timezone
from email.utils import formatdate
from typing import Any, Dict, FrozenSet, Iterable, NamedTuple, Optional

from .event_types import ADVICE


class Version(NamedTuple):
    """What one api-version knows."""

    name: str
    types: FrozenSet[str]
    other_types: bool  # also shows types that this table doesn't name
    description: bool
    source: bool
    duration: bool
    underscore: bool  # resources have a "_" in front
    header_needed: bool  # Metadata: true is enforced


def _versions() -> Dict[str, Version]:
    first = frozenset(["Freeze", "Reboot", "Redeploy"])
    preempt = first | {"Preempt"}
    terminate = preempt | {"Terminate"}
    table = (
        Version("2017-03-01", first, False, False, False, False, True, False),
        Version("2017-08-01", first, False, False, False, False, False, True),
        Version("2017-11-01", preempt, False, False, False, False, False, True),
        Version("2019-01-01", terminate, False, False, False, False, False, True),
        Version("2019-04-01", terminate, False, True, False, False, False, True),
        Version("2019-08-01", terminate, False, True, True, False, False, True),
        Version("2020-07-01", terminate, True, True, True, True, False, True),
        Version("2024-07-09", terminate | {ADVICE}, True, True, True, True, False, True),
    )
    return {version.name: version for version in table}


VERSIONS = _versions()
PREVIEW = "2024-07-09"


def not_before_text(moment: Optional[float], form: str) -> str:
    """A date on the wire; blank when there is none."""
    if moment is None:
        return ""
    if form == "iso8601":
        return datetime.fromtimestamp(int(moment), timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return formatdate(int(moment), usegmt=True)


def _member(event: Any, version: Version, form: str) -> Dict[str, Any]:
    prefix = "_" if version.underscore else ""
    shown: Dict[str, Any] = {
        "EventId": event.id,
        "EventStatus": event.status,
        "EventType": event.type,
        "ResourceType": "VirtualMachine",
        "Resources": [prefix + name for name in event.resources],
    }
    if not event.hides_not_before:
        shown["NotBefore"] = not_before_text(event.not_before_shown, form)
    if version.description:
        shown["Description"] = event.description
    if version.source:
        shown["EventSource"] = event.source
    if version.duration:
        shown["DurationInSeconds"] = event.duration
    return shown


def render(incarnation: int, events: Iterable[Any], version: Version, form: str) -> bytes:
    """One line of JSON, members in the order that Azure sends them. Types that a version doesn't know are left out."""
    shown = [
        _member(event, version, form)
        for event in events
        if event.type in version.types or (version.other_types and event.type != ADVICE)
    ]
    return json.dumps(
        {"DocumentIncarnation": incarnation, "Events": shown}, separators=(",", ":"), ensure_ascii=False
    ).encode("utf-8")
