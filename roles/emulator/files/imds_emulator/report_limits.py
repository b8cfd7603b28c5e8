# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Limits that a report is held to, for tests that are to fail."""

from typing import List, NamedTuple, Optional

from .report import Report


class Limits(NamedTuple):
    """None: no limit. Counts are the most that is allowed; the last is in seconds."""

    posts: Optional[int] = None  # for one event
    repeated: Optional[int] = None
    late: Optional[int] = None
    foreign: Optional[int] = None
    malformed: Optional[int] = None
    rate: Optional[int] = None  # requests of one VM within any second
    approved_within: Optional[float] = None  # from when it is shown, by the watch


def broken(report: Report, limits: Limits) -> List[str]:
    """One sentence for each limit that was broken, or could not be checked."""
    events = list(report.events.values())
    found = [f"{report.forgotten} entries are missing: give the journal's file"] if report.forgotten else []

    def hold(count: int, most: Optional[int], sentence: str) -> None:
        if most is not None and count > most:
            found.append(f"{sentence}: {count}, at most {most}")

    for event in events:
        hold(sum(event.posts.values()), limits.posts, f"POSTs for event {event.id}")
    for event in events:
        hold(event.repeated, limits.repeated, f"repeated POSTs for event {event.id}")
    for event in events:
        hold(event.late, limits.late, f"POSTs for event {event.id} after it had started")
    hold(len(report.foreign), limits.foreign, "POSTs for foreign events")
    hold(report.malformed, limits.malformed, "POSTs that could not be read")
    if limits.rate is not None and not report.requests_logged:
        found.append("the requests within a second are not known: start the emulator with --log-requests")
    for vm, asker in report.askers.items():
        hold(asker.peak, limits.rate, f"requests of {vm} within one second")
    if limits.approved_within is not None:
        found += _too_slow(report, limits.approved_within)
    return found


def _too_slow(report: Report, seconds: float) -> List[str]:
    events = [event for event in report.events.values() if event.awaits_approval]
    if not events:
        return ["no event waited for an approval, so nothing was approved in time"]
    found = []
    for event in events:
        took = event.after("approved")
        if took is None:
            found.append(f"event {event.id} was not approved")
        elif took["wall"] > seconds:
            found.append(f"event {event.id} was approved after {took['wall']:g} s, at most {seconds:g}")
    return found
