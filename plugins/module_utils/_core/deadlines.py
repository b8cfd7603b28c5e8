# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""By when a machine has to be prepared for an event, and how much time that leaves. One answer for the run and the watcher. Pure.

Private to this collection.
"""

from typing import Iterable, NamedTuple, Optional, Sequence, Tuple

from .tracked_event import TrackedEvent

WITHOUT_NOT_BEFORE = 600.0
"""Seconds of notice that an event without a not-before is given: the shortest of the usual ones (S4.8, Redeploy). Nobody knows them, so no
sentence names them, and it is prepared for at once."""

LEAST = 60.0
"""Seconds that are given where the steps have no limits to go by."""

LATER, WANTED, DUE = "later", "wanted", "due"


class Terms(NamedTuple):
    """What a machine needs, all in seconds but ``share``.

    margin: kept free before not-before
    share: of its notice that the margin takes at most, or nothing would be left of a Preempt's 30 s (S4.13)
    prepare_before: before not-before from which on it is prepared
    limits: of all steps that prepare it; undo_limits: of all that undo that
    slack: that its decisions and its calls may add to that
    """

    margin: float
    share: float
    prepare_before: float
    limits: float = 0.0
    undo_limits: float = 0.0
    slack: float = 0.0


def starts_by_itself(deadline: Optional[float], shown: float) -> float:
    """When an event starts, also where it does not say; moments of one clock."""
    return shown + WITHOUT_NOT_BEFORE if deadline is None else deadline


def left(tracked: TrackedEvent, now: float) -> float:
    """Seconds until it starts by itself; below 0 where that is over."""
    return starts_by_itself(tracked.deadline, tracked.shown) - now


def margin(tracked: TrackedEvent, terms: Terms) -> float:
    """Seconds that are kept free before not-before: by the notice that this not-before was first shown with."""
    notice = tracked.deadline_notice
    if notice is None:
        notice = starts_by_itself(tracked.deadline, tracked.shown) - tracked.shown
    return min(terms.margin, max(notice, 0.0) * terms.share)


def prepared_by(tracked: TrackedEvent, terms: Terms) -> float:
    """When the machine has to be prepared; from then on nothing is started."""
    return starts_by_itself(tracked.deadline, tracked.shown) - margin(tracked, terms)


def is_overdue(tracked: TrackedEvent, now: float) -> bool:
    """Whether it should have started by now, and nobody knows when it will."""
    return tracked.started is None and not tracked.event.is_advice and left(tracked, now) <= 0


def is_last_call(tracked: TrackedEvent) -> bool:
    """Whether it has started, and takes the machine away: what is not done now will never be."""
    return tracked.started is not None and tracked.gone is None and tracked.event.takes_machines_away


def has_no_time(tracked: TrackedEvent) -> bool:
    """Whether it does not say when it comes: a preparation begins at once. Of what only a mark tells, the next document may say it."""
    return tracked.deadline is None and tracked.started is None and not tracked.is_recalled


def may_come_now(tracked: TrackedEvent, begun: Optional[float], now: float) -> bool:
    """Whether nobody knows how much time is left, if any: it is prepared for all the same, within the limits of the steps.

    :arg begun: when its preparation was; None where it is not yet. What was begun in time had its time
    """
    if tracked.event.is_advice:
        return has_no_time(tracked)
    starts = starts_by_itself(tracked.deadline, tracked.shown)
    return is_last_call(tracked) or (is_overdue(tracked, now) and (begun is None or begun >= starts))


def budget(several: Sequence[Tuple[TrackedEvent, Optional[float]]], terms: Terms, now: float) -> float:
    """Seconds that there are to prepare for these events together: to not-before less the margin, after which nothing is started.

    What may come at any moment is prepared for within the limits of the steps; whenever the others come, that is to be done now.

    :arg several: each with when its preparation was begun, see :func:`may_come_now`
    """
    if any(may_come_now(tracked, begun, now) for tracked, begun in several):
        return max(terms.limits, LEAST)
    return min(prepared_by(tracked, terms) for tracked, _begun in several) - now


def wanted_from(tracked: TrackedEvent, terms: Terms) -> float:
    """The moment from which on it is prepared for in any case; what takes longer than ``prepare_before`` begins earlier."""
    if has_no_time(tracked):
        return tracked.shown
    seconds = terms.limits + margin(tracked, terms) + terms.slack
    most = terms.prepare_before if tracked.event.is_advice else max(terms.prepare_before, seconds)
    return starts_by_itself(tracked.deadline, tracked.shown) - most


def urgency(tracked: TrackedEvent, terms: Terms, now: float) -> str:
    """LATER, WANTED (capacity may still delay it, hours may not) or DUE (in any case)."""
    if tracked.started is not None:
        return DUE if is_last_call(tracked) else LATER
    seconds = left(tracked, now)
    early = WANTED if has_no_time(tracked) else LATER
    if tracked.event.is_advice:  # nothing will come of it
        return WANTED if 0 < seconds <= terms.prepare_before else early
    if seconds <= terms.limits + margin(tracked, terms) + terms.slack:
        return DUE
    return WANTED if seconds <= terms.prepare_before else early


def undo_fits(coming: Iterable[float], terms: Terms) -> bool:
    """Whether all that was done can be undone before the next event: under an event nothing is put into service.

    :arg coming: seconds that are left until each event of the machine that is not over, failed or not
    """
    return all(left >= terms.undo_limits for left in coming)
