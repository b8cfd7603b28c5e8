# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A report for people."""

from typing import Dict, List, Optional, Sequence

from .report import EventReport, Report


def text(report: Report, broken: Sequence[str]) -> str:
    """Some lines on each event, on the requests, and on the limits that were broken."""
    lines: List[str] = []
    for event in report.events.values():
        lines += _event(event)
    if not report.events:
        lines.append("No event.")
    for one in report.foreign:
        lines.append(f"Foreign POST by {one.vm} for {one.event_id}: {one.reason}")
    if report.malformed:
        lines.append(f"POSTs that could not be read: {report.malformed}")
    if report.forgotten:
        lines.append(f"Incomplete: {report.forgotten} entries are missing.")
    if report.requests_logged and not report.askers:
        lines.append("No request was sent.")
    elif report.requests_logged:
        for vm, asker in sorted(report.askers.items()):
            lines.append(
                f"{vm} sent {asker.requests} requests, at most {asker.peak} within a second, {asker.throttled} "
                "throttled"
            )
    else:
        lines.append("Requests other than POSTs were not logged (--log-requests).")
    return "\n".join(lines + [f"BROKEN: {sentence}" for sentence in broken])


def _event(event: EventReport) -> List[str]:
    title = f"{event.type} of {', '.join(event.resources)} ({event.name + ', ' if event.name else ''}{event.id})"
    approved = (
        f"approved{_after(event.after('approved'))} by {', '.join(event.approved_by)}"
        if event.approved_by
        else "not approved"
    )
    started = f"started{_after(event.after('started'))} ({event.cause})" if event.cause else "not started"
    posts = ", ".join(f"{vm} {count}" for vm, count in sorted(event.posts.items())) or "none"
    return [
        title,
        f"  {approved}; {started}; {event.outcome or 'still there'}",
        f"  POSTs: {posts}; {event.repeated} repeated, {event.late} after it had started",
    ]


def _after(seconds: Optional[Dict[str, float]]) -> str:
    if seconds is None:
        return ""
    virtual = f" (virtual {seconds['virtual']:.0f} s)" if abs(seconds["virtual"] - seconds["wall"]) > 1 else ""
    return f" after {seconds['wall']:.1f} s{virtual}"
