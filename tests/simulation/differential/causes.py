# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""By what a difference between run and watcher is recognised: what happened at about that moment, and never the seed."""

from __future__ import annotations

from typing import NamedTuple

from .milestones import ABOUT, Difference, Lived, of_event
from .script import Coming, Script

CALL = 30.0
"""Seconds by which a run may notice late that a machine is back that was away: it calls it less and less often meanwhile."""


class Case(NamedTuple):
    """A script, both lives, and the first difference between them."""

    script: Script
    run: Lived
    watcher: Lived
    first: Difference

    @property
    def coming(self) -> Coming:
        return next(one for one in self.script.events if one.id == self.first.event)

    @property
    def action(self) -> str:
        return self.script.action(self.coming)

    @property
    def both(self) -> tuple[Lived, Lived]:
        return self.run, self.watcher

    @property
    def moments(self) -> list[float]:
        """Of the first difference, in either life."""
        return [self.first.at, *(at for at in (self.first.run, self.first.watcher) if isinstance(at, float))]

    def about(self, moment: float) -> bool:
        """Whether the first difference is at about that moment in one of the two."""
        return any(abs(moment - at) <= ABOUT for at in self.moments)


def is_late(case: Case) -> bool:
    """Whether who did not approve it was prepared within its margin."""
    if case.first.what != "approved":
        return False
    late = [lived for lived in case.both if of_event(lived, case.first.event).approved is None]
    moments = [(lived.events[case.first.event].started, of_event(lived, case.first.event).prepared) for lived in late]
    return any(start is not None and at is not None and 0 <= start - at <= 30.0 for start, at in moments)


def has_failed_before(case: Case) -> bool:
    """Whether the watcher prepares again for an event for which that had failed before the machine's restart."""
    marks = case.watcher.marks
    for line in case.watcher.journal.of("down"):
        failed = {key for mark in marks if mark.at < line["at"] and mark.phase == "half" for key in mark.events}
        again = [mark for mark in marks if mark.at > line["at"] and failed.intersection(mark.events)]
        if again and again[0].at <= max(case.moments) + ABOUT:
            return True
    return False


def is_due_apart(case: Case) -> bool:
    """Whether an event that is not approved had to be prepared for at about that moment, which the two reckon apart."""
    return any(_reckoned_apart(case, coming) for coming in case.script.events)


def _reckoned_apart(case: Case, coming: Coming) -> bool:
    script = case.script
    moved, left = coming.fate.get("moves", (0.0, coming.notice))
    notice = 600.0 if coming.fate.get("timeless") else left
    run = max(script.prepare_before, script.limits + 4 * len(script.work) + min(script.margin, notice / 4) + 15)
    watcher = max(script.prepare_before, script.limits + min(30.0, notice / 10))
    returned = [lived.events[coming.id].returned for lived in case.both if coming.id in lived.events]
    shown = [coming.at + moved, *(at for at in returned if at is not None)]
    begins = [at + notice - max(run, watcher) for at in shown]
    late = any(at - ABOUT <= case.first.at <= at + abs(run - watcher) + ABOUT for at in begins)
    # What waits for a person is prepared in time, too.
    return (
        script.action(coming) in ("prepare", "hold")
        and abs(run - watcher) > 5.0
        and case.first.what != "outcome"
        and late
    )


def was_away(case: Case) -> bool:
    """Whether nobody could poll when it ended, or for longer than an outcome is known by, in one of the two."""
    if case.first.what != "outcome":
        return False
    return any(_silences(lived, case.first.event) or _was_unreadable(case, lived) for lived in case.both)


def _was_unreadable(case: Case, lived: Lived) -> bool:
    """Whether there was an entry that nobody could read when the event left: that is no watch."""
    left = lived.events[case.first.event].left
    return left is not None and any(begins <= left <= ends + ABOUT for begins, ends in case.script.damaged)


def _silences(lived: Lived, key: str) -> bool:
    left = lived.events[key].left
    moments = [line["at"] for line in lived.journal.of("lost", "boot", "down", "up")]
    return left is not None and any(left - CALL <= at <= left + CALL for at in moments)


def is_close(case: Case) -> bool:
    """Whether something happened by itself at about that moment: in the one before, in the other after the decision."""
    moments = [at for span in (*case.script.blind, *case.script.empty) for at in span]
    for coming in case.script.events:
        fate = coming.fate
        moments += [coming.at + coming.notice, coming.at + coming.notice - case.script.prepare_before]
        moments += [coming.at] * (coming.id != case.first.event)
        moments += [coming.at + fate[name] for name in ("cancelled_after", "approved_by_other") if name in fate]
        moments += [coming.at + fate[name][0] for name in ("grows", "moves") if name in fate]
        moments.append(coming.at + sum(fate.get("moves", ())))
    moments += [line["at"] for lived in case.both for line in lived.journal.of("shown-again")]
    others = [event for lived in case.both for key, event in lived.events.items() if key != case.first.event]
    moments += [event.started for event in others if event.started is not None]
    if case.script.restarts is not None:
        moments += [line["at"] for lived in case.both for line in lived.journal.of("restarted", "down")]
    return any(case.about(moment) for moment in moments)
