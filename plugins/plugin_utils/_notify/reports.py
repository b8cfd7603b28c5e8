# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a tick has brought, as reports: of the same form as a watcher's, so that one receiver takes both. Pure.

Private to this collection.

``docs/watcher_report.schema.json`` describes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...module_utils._clock import Moment
from ...module_utils._core.mark_view import is_made_for_azure
from ...module_utils._text import one_line
from ...module_utils._watcher.engine.interface import Identity, Say
from ...module_utils._watcher.reports.report import Machine, Report, report_of
from .._fleet.event_state import EventState
from .._fleet.news import happenings_since
from .._fleet.outages import NOT_BEGUN
from .._fleet.reports import wall_time
from .._fleet.result import heading, name_of
from .._fleet.state import Happening, Record

KINDS = {
    "planned": "a run has decided what to do about an event, or has changed that",
    "problem": "something that a person has to see to, while a run goes on",
    "problem_solved": "such a problem is none any more",
    "run_ended": "a run has ended with problems, which are in details",
}
"""What only runs report, beside what watchers do."""

HAPPENED = {
    "shown": "scheduled",
    "back": "reappeared",
    "grown": "changed",
    "planned": "planned",
    "prepared": "prepared",
    "FAILED": "prepare_failed",
    NOT_BEGUN: "prepare_failed",
    "UNPREPARED": "started_unprepared",
    "approved": "approved",
    "tried": "not_approved",
    "started": "started",
    "gone": "ended",
    "recovered": "recovered",
    "reverted": "recovered",
    "NOT BACK": "recovery_failed",
    "removed": "mark_removed",
    "problem": "problem",
    "solved": "problem_solved",
}
"""What is reported, by the word that a run's output has for it. All else is in the output only."""


def reports_of(record: Record, number: int, version: str) -> list[Report]:
    """What is new, in the order in which it happened.

    :arg number: of the happenings that were reported before
    :arg version: of the collection
    """
    new = [one for one in happenings_since(record, number) if one.what in HAPPENED]
    return [_report(record, one, version) for one in new]


def end_report(record: Record, problems: Sequence[str], version: str) -> Report:
    """That the run has ended with these problems."""
    first = one_line(problems[0], 400)
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    said = Say("run_ended", f"The run ended with problems: {first}{more}", details={"problems": list(problems)})
    return _made(record, said, "", record.at, version)


def _report(record: Record, one: Happening, version: str) -> Report:
    entry = record.events.get(one.event)
    happened = HAPPENED[one.what]
    details: dict[str, Any] = {"word": one.what}
    if entry:
        details["hosts"] = list(entry.affected)
    if one.subject:
        details["subject"] = one.subject
    if happened == "recovered":
        details["reverted"] = one.what == "reverted"
    said = Say(
        happened,
        _message(one, entry),
        event=entry.event if entry else None,
        notice=entry.tracked.notice if entry else None,
        outcome=entry.tracked.outcome if entry and happened == "ended" else "",
        details=details,
    )
    return _made(record, said, one.host, one.at, version)


def _message(one: Happening, entry: EventState | None) -> str:
    if entry and one.what == "shown":
        return f"{heading(entry)}: {one.text}"
    words = f"{one.what}: {one.text}" if one.text else one.what
    return f"{words} ({name_of(entry)})" if entry else words


def _made(record: Record, said: Say, host: str, at: float, version: str) -> Report:
    run, machine = record.run, record.hosts.get(host)
    labels = {}
    if machine:
        found = {"inventory_hostname": host, "scope": machine.given.scope, "capacity_group": machine.given.group}
        labels = {key: value for key, value in found.items() if value}
    # The run stands in for the start of the machine: what is said twice in one moment of one run is the same report.
    moment = Moment(wall_time(record, at), at, run.name)
    identity = Identity(machine.name, machine.who.vm_id) if machine else None
    report = report_of(said, identity, moment, Machine("", version, "maintain", labels))
    report["run"] = {
        "run": run.name,
        "job": one_line(run.job, 100),
        "controller": one_line(run.controller, 200),
        "rehearsal": not all(is_made_for_azure({"endpoint": each.given.endpoint}) for each in record.hosts.values()),
    }
    return report
