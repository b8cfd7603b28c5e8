# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""For how long nobody looked at the events of scopes: one problem for all that say the same at the same time. It changes the record, and nothing else.

Private to this collection.

It is kept under the subject that it began with, so that it is one problem while it grows, and while other scopes join it.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...module_utils._text import clause, listed
from .reasons import by_reason, counted
from .reports import time_of_day
from .schema import Gap, Record

_NAMED = 5


def note_gap(
    record: Record, scope: str, hosts: list[str], since: float, until: float, why: Mapping[str, str]
) -> tuple[str, str]:
    """Keep that nobody looked at a scope; returns the problem's subject and sentence.

    :arg since, until: moments of the run
    :arg why: why its machines could not look, by host; those that do not say so are left out
    """
    reasons = by_reason(why)
    reason = "; ".join(sorted(one.subject for one in reasons))
    subject = (
        _known(record, scope, since)
        or _same(record, scope, since, until, reason)
        or f"scope {scope}: watch from {since:.0f}"
    )
    gap = record["gaps"].setdefault(subject, {"reason": reason, "by_machine": "", "shared": "", "scopes": {}})
    gap["scopes"][scope] = {"hosts": hosts, "since": since, "until": until}
    if reasons and scope == next(iter(gap["scopes"])):  # once it is over, they say nothing any more
        gap["by_machine"] = "; ".join(f"{counted(one.hosts)}: {clause(one.words, 1000)}" for one in reasons)
        gap["shared"] = "; ".join(clause(one.words, 1000) for one in reasons)
    return subject, _words(record, gap)


def _known(record: Record, scope: str, since: float) -> str:
    """The subject of the gap that this one goes on with; "" for a new one."""
    return next(
        (
            subject
            for subject, gap in record["gaps"].items()
            if scope in gap["scopes"] and gap["scopes"][scope]["since"] == since
        ),
        "",
    )


def _same(record: Record, scope: str, since: float, until: float, reason: str) -> str:
    """The subject of the gap of other scopes at the same time for the same reason; "" where there is none."""
    for subject, gap in record["gaps"].items():
        scopes = gap["scopes"].values()
        overlaps = since <= max(one["until"] for one in scopes) and until >= min(one["since"] for one in scopes)
        if overlaps and reason == gap["reason"] and scope not in gap["scopes"]:
            return subject
    return ""


def _words(record: Record, gap: Gap) -> str:
    scopes = gap["scopes"]
    since = min(one["since"] for one in scopes.values())
    longest = max(one["until"] - one["since"] for one in scopes.values())
    when = f"{longest:.0f} s from {time_of_day(record, since)} on"
    if len(scopes) > 1:
        why = f": {gap['shared']}" if gap["shared"] else ""
        return f"No machine polled the events of {len(scopes)} scopes ({listed(scopes, _NAMED)}) for up to {when}{why}."
    scope = next(iter(scopes))
    hosts = scopes[scope]["hosts"]
    who = "" if hosts in ([], [scope]) else f" ({listed(hosts)})"
    why = f": {gap['by_machine']}" if gap["by_machine"] else ""
    return f"No machine polled the events of scope {scope!r}{who} for {when}{why}."
