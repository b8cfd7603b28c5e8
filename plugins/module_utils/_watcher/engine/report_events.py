# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All that one tick reports, in its order. Pure.

Private to this collection.

Reports decide nothing: what they leave is only what was reported, so that nothing is reported twice.
"""

from typing import Dict, FrozenSet, List, Mapping, NamedTuple, Optional

from . import machine_reports
from .actions import Say
from .clocks import Reckoning
from .decision import EventDecision
from .event_reports import EventNews
from .outage_reports import OutageNews
from .progress import Progress
from .snapshot import Snapshot


class Reported(NamedTuple):
    """What one tick says, and what was reported then."""

    says: List[Say]
    of_events: Dict[str, FrozenSet[str]]  # what happened to each, by key
    of_machine: Dict[str, str]  # the words, by what they are about


def news(
    here: Snapshot,
    progress: Optional[Progress],
    decisions: Mapping[str, EventDecision],
    reported: Mapping[str, str],
    clocks: Optional[Reckoning],
    since: float,
) -> Reported:
    """What is new.

    :arg progress: None while nobody knows whose the mark is: what is said of events may be of another machine, or against the mark
    :arg reported: of the machine so far
    :arg clocks: of the tick before
    :arg since: when this watcher began to look
    """
    events = EventNews(here)
    of_machine = dict(reported)
    if progress:
        events.take_documents()
        outage = OutageNews(here, progress, events)
        of_machine = outage.take_mark(reported)
        outage.take_answer(decisions)
    says, of_machine = machine_reports.said(here, of_machine, clocks, since)
    events.says += says
    if progress:
        events.take_posts()
        events.take_decisions(decisions)
    return Reported(events.says, events.said, of_machine)
