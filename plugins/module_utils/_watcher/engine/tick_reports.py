# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All that one tick reports, in its order: of the machine and its watcher themselves, each once for as long as it lasts, and of its events. Pure.

Reports decide nothing: what they leave is only what was reported, so that nothing is reported twice.

Private to this collection.
"""

from typing import Any, Dict, FrozenSet, List, Mapping, NamedTuple, Optional, Tuple

from ..._clock import iso_utc
from ..._core.mark_view import DRAIN, EXPIRED, FOREIGN, RUN
from ..._core.tracked_event import UNBROKEN
from ..._text import clause, one_line
from . import unreadable_entries
from .decision import EventDecision, decision_on, is_held
from .event_reports import EventNews, OutageNews
from .interface import Say
from .progress import Progress
from .snapshot import Reckoning, Snapshot, pause

_OTHERS = (DRAIN, RUN, EXPIRED, FOREIGN)
"""Whose mark keeps the watcher off, for as long as it is there. That it can't be read is said on its own."""

FIRST_LOOK = 130.0
"""Seconds until a watcher that has seen no document since it was started reports that: the first answer may take two minutes."""


def said(
    here: Snapshot, reported: Mapping[str, str], clocks: Optional[Reckoning], since: float
) -> Tuple[List[Say], Dict[str, str]]:
    """What is new, and what was reported then.

    :arg reported: what was so far, by what it is about
    :arg clocks: of the tick before
    :arg since: when this watcher began to poll
    """
    says, known = [], dict(reported)
    for about, begins, ends, words in (
        (
            "imds_unreachable",
            "imds_unreachable",
            "imds_reachable",
            _unreachable(here, since, "imds_unreachable" in known),
        ),
        ("degraded", "degraded", "healthy", here.facts.degraded),
        ("unreadable", "degraded", "healthy", here.facts.unreadable),
        ("approvals_held", "approvals_held", "approvals_released", _held(here)),
        ("skipped", "skipped", "", _skipped(here)),
    ):
        if words and about not in known:
            says.append(Say(begins, _BEGINS[about].format(clause(words, 1000))))
            known[about] = words
        elif not words and about in known:
            del known[about]
            says += [Say(ends, _ENDS[about])] if ends else []
    more, known = unreadable_entries.news(here, known)
    return says + more + _paused(here, clocks), known


_BEGINS = {
    "imds_unreachable": "The watcher can't poll its events: {}. It continues with the last document that it received.",
    "degraded": "The watcher can't write its state: {}. Until it can, nothing is prepared, approved or recovered automatically. "
    "On a full disk a few kB are enough to recover this machine: azure-maintenance recover",
    "unreadable": "This machine's mark can't be read, so nobody can tell what was done to it: {}. Nothing is prepared, approved or recovered. "
    "To undo all steps and run all recovery hooks: azure-maintenance recover --force",
    "approvals_held": "Approvals are on hold ({}). Release them with: azure-maintenance release",
    "skipped": "This machine's event is skipped: {}.",
}
_ENDS = {
    "imds_unreachable": "The watcher can poll its events again.",
    "degraded": "The watcher's state can be written again.",
    "unreadable": "This machine's mark can be read again, or was replaced.",
    "approvals_held": "Events are approved again.",
}


def _unreachable(here: Snapshot, since: float, is_reported: bool) -> str:
    if here.document is not None and here.polled_at is not None:
        dark = here.now - here.polled_at > UNBROKEN
    else:  # what the watcher before this one has reported lasts until this one has polled, too
        dark = is_reported or here.now - since > FIRST_LOOK
    return (here.facts.poll_problem or "there was no answer so far") if dark else ""


def _held(here: Snapshot) -> str:
    hold = here.facts.hold
    if hold is None or not is_held(hold, here):
        return ""
    until = f", until {iso_utc(hold.until)}" if hold.until is not None else ""
    return f"{one_line(hold.by)}: {one_line(hold.reason)}{until}"


def _skipped(here: Snapshot) -> str:
    if here.marked.owner not in _OTHERS or not here.acts:
        return ""
    wanted = [life for life in here.open if decision_on(here, life).prepare]
    return f"the machine is owned by {here.marked.owner_words}" if wanted else ""


def _paused(here: Snapshot, clocks: Optional[Reckoning]) -> List[Say]:
    seconds = pause(clocks, Reckoning(here.now, here.facts.moment.wall)) if clocks else 0.0
    if not seconds:
        return []
    way = "forward" if seconds > 0 else "back"
    why = "the machine was paused for that long, or its clock was set" if seconds > 0 else "the clock was set"
    details: Dict[str, Any] = {"seconds": round(seconds, 1)}
    return [Say("clock_jumped", f"System time jumped {way} by {abs(seconds):.1f} s: {why}.", details=details)]


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
    :arg since: when this watcher began to poll
    """
    events = EventNews(here)
    of_machine = dict(reported)
    if progress:
        events.take_documents()
        outage = OutageNews(here, progress, events)
        of_machine = outage.take_mark(reported)
        outage.take_answer(decisions)
    says, of_machine = said(here, of_machine, clocks, since)
    events.says += says
    if progress:
        events.take_posts()
        events.take_decisions(decisions)
    return Reported(events.says, events.said, of_machine)
