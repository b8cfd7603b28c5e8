# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The differences between run and watcher that are meant, each with its reason; the first row that recognises one has it.

All questions are answered in one place, the core. What is left comes from figures that are arguments of its answers, from how often each of the
two polls and decides, and from what each of them still knows after a restart. A row that no life shows any more has to go.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from . import causes, scenarios
from .causes import Case
from .script import Script


class Row(NamedTuple):
    """
    run, watcher: what each does
    right: what both are to do, or why they may differ
    is_it: whether a difference is this one
    shown_by: a script that shows it
    """

    run: str
    watcher: str
    right: str
    is_it: Callable[[Case], bool]
    shown_by: Script


ROWS: dict[str, Row] = {
    "late": Row(
        run="approves nothing that was prepared within a margin that is the option, and a quarter of the notice at most",
        watcher="approves nothing that was prepared within 30 s, and a tenth of the notice at most",
        right="meant: one margin, whose figures are arguments, as a run decides once a tick",
        is_it=causes.is_late,
        shown_by=scenarios.LATE,
    ),
    "has-failed-before": Row(
        run="remembers for as long as it lasts that a preparation has failed, and does not try again",
        watcher="tries again after a restart of the machine, where that is undone and no mark tells of it",
        right="meant: the mark decides; where it is gone, only who was not restarted still knows of the failure, and who was may try again",
        is_it=causes.has_failed_before,
        shown_by=scenarios.HAS_FAILED_BEFORE,
    ),
    "due": Row(
        run="prepares for an event that it does not approve, or not yet, so long before its not-before as the limits, 4 s a step, the margin (a quarter "
        "of the notice at most) and 15 s are together",
        watcher="does so by the limits and 30 s, a tenth of the notice at most",
        right="meant: one function of the limits, the margin and a slack, whose figures are arguments, as a run decides once a tick",
        is_it=causes.is_due_apart,
        shown_by=scenarios.DUE,
    ),
    "away": Row(
        run="calls a machine that is down less and less often, and does not see what happened to its event meanwhile",
        watcher="remembers after a start of the machine only what its mark says, or finds the event itself",
        right="meant: who could not see how an event ended says so",
        is_it=causes.was_away,
        shown_by=scenarios.AWAY,
    ),
    "close": Row(
        run="polls and decides in ticks, which are seconds apart",
        watcher="polls at moments of its own",
        right="meant: what changes by itself between the two moments is seen by one of them only",
        is_it=causes.is_close,
        shown_by=scenarios.CLOSE,
    ),
}


def known(case: Case) -> str:
    """The name of the first row that recognises a difference; "" where none does."""
    return next((name for name, row in ROWS.items() if row.is_it(case)), "")
