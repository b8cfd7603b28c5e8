# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a machine is to become: prepared for events, recovered, or left as it is. One answer for the run and the watcher. Pure.

Private to this collection.
"""

from typing import List, NamedTuple, Optional, Sequence, Tuple

from . import deadlines
from .deadlines import Terms
from .mark_view import NOBODY, MarkView
from .tracked_event import TrackedEvent

PREPARED, RECOVERED = "prepared", "recovered"

PREPARE_AGAIN = 5.0
"""Seconds until a preparation that could not even begin is retried: there is a time by which it has to be done."""

RECOVER_AGAIN = 30.0
"""Seconds until a recovery that left something is retried, at first: each time it is twice as long."""

RECOVER_AGAIN_AT_MOST = 600.0


class Try(NamedTuple):
    """What did not come about.

    to: PREPARED or RECOVERED; "" where nothing failed
    at: when it failed last
    times: how often it did in a row
    """

    to: str = ""
    at: float = 0.0
    times: int = 0

    def again(self, to: str, at: float) -> "Try":
        """After one more that did not come about."""
        return Try(to, at, self.times + 1 if to == self.to else 1)

    def rests(self, to: str, now: float) -> bool:
        """Whether it is too early to retry that."""
        if self.to != to:
            return False
        longer = min(RECOVER_AGAIN * 2 ** min(self.times - 1, 10), RECOVER_AGAIN_AT_MOST)
        return now - self.at < (PREPARE_AGAIN if to == PREPARED else longer)


class Machine(NamedTuple):
    """A machine, as whoever decides about it knows it.

    view: its mark: nobody's, or that of whoever decides, or one that he takes over
    may_recover: whether it may begin to be recovered by what was polled last: by its own poll of just now
    tried: what did not come about last
    settled: whether its last start is over
    takes_over: whether the mark is another's, which is taken over in order to do something, and not to wait
    retries: whether a preparation that has failed may be retried, as it was another process's
    keeps_failed: whether it stays out of service after a preparation that has failed, until its events are over
    looks: whether what was done is due for a second look
    """

    view: MarkView
    terms: Terms
    now: float
    may_recover: bool
    tried: Try = Try()
    settled: bool = True
    takes_over: bool = False
    retries: bool = False
    keeps_failed: bool = False
    looks: bool = False

    @property
    def is_new(self) -> bool:
        """Whether what it is prepared for begins an outage."""
        return self.view.owner == NOBODY or is_new_outage(self.view)


class Ahead(NamedTuple):
    """An event of the machine that is not over, as whoever decides knows it.

    needed: whether the machine has to be prepared for it at some time
    wanted: whether it should be prepared for it now, were the machine in service
    must: whether the time that is left has come to that
    shown: whether the last document that could show it did
    approved: whether it was, or may have been, so that it may start at any moment
    failed: whether a machine could not be prepared for it, so that it is never approved
    ignored: whether it holds up no recovery: a person has recovered the machine despite it
    watched: whether it still counts as coming; it may have stayed for longer than it is watched
    undone: whether a start of the machine has undone what was done for it, and the event is still announced
    begun: when its preparation was begun; None where it was not
    """

    tracked: TrackedEvent
    needed: bool = True
    wanted: bool = False
    must: bool = False
    shown: bool = True
    approved: bool = False
    failed: bool = False
    ignored: bool = False
    watched: bool = True
    undone: bool = False
    begun: Optional[float] = None

    @property
    def key(self) -> str:
        return self.tracked.event.key

    @property
    def has_started(self) -> bool:
        return self.tracked.started is not None


class Goal(NamedTuple):
    """What a machine becomes.

    to: PREPARED or RECOVERED
    events: keys of those that it is prepared for
    budget: seconds in which steps may be begun for that
    no_new_steps: only what runs goes on
    redo_after_reboot: what a start of the machine has undone is done once more
    replace_outage: it is another outage: what the one before has under way in being undone is stopped
    looks: what was done is looked at once more, though nothing new is begun
    """

    to: str
    events: Tuple[str, ...] = ()
    budget: float = 0.0
    no_new_steps: bool = False
    redo_after_reboot: bool = False
    replace_outage: bool = False
    looks: bool = False


def becomes(machine: Machine, events: Sequence[Ahead]) -> Optional[Goal]:
    """What the machine is to become now; None where it is left as it is.

    :arg events: all of its events that are not over, those of its mark among them
    """
    view, wanted = machine.view, _taken_up(machine, events)
    if view.owner == NOBODY:
        return None if machine.tried.rests(PREPARED, machine.now) else _prepared(machine, events, wanted)
    goal = _prepared(machine, events, wanted) if wanted else None
    if goal or (wanted and not view.is_recovering):
        return goal
    if is_held(machine, events) or not machine.may_recover:
        return _unchanged(machine)
    rests = not view.is_recovering and machine.tried.rests(RECOVERED, machine.now)
    return None if rests or not machine.settled else Goal(RECOVERED)


def is_due_back(machine: Machine, events: Sequence[Ahead]) -> bool:
    """Whether nothing but the machine itself, which may be down or not have polled yet, stands against its recovery."""
    return not _taken_up(machine, events) and not is_held(machine, events)


def _unchanged(machine: Machine) -> Optional[Goal]:
    """Nothing new is begun; what runs goes on."""
    to = {"preparing": PREPARED, "recovering": RECOVERED}.get(machine.view.phase)
    return Goal(to, no_new_steps=True) if to and not machine.takes_over else None


# ---- prepared ----


def _taken_up(machine: Machine, events: Sequence[Ahead]) -> List[Ahead]:
    """For which of the events that it should be prepared for it is prepared now, by how far its outage is."""
    view, wanted = machine.view, [one for one in events if one.wanted]
    if view.is_failed:  # it is undone first: what shows meanwhile is another outage
        return [one for one in wanted if machine.retries and one.key in view.keys]
    if view.is_recovering:  # it ends first where there is time for that
        return [one for one in wanted if one.must or one.tracked.event.is_preempt]
    if _is_under_event(events) and view.phase in ("preparing", "prepared"):  # nothing more is begun before it has to be
        return [one for one in wanted if one.must or one.key in view.keys]
    return wanted


def _prepared(machine: Machine, events: Sequence[Ahead], wanted: Sequence[Ahead]) -> Optional[Goal]:
    seen = [one for one in wanted if one.shown]
    must = any(one.must for one in seen)
    if must:
        wanted = seen  # what may be over holds up nothing that has to be done now
    if not wanted:
        return None
    redo = any(one.undone for one in wanted)
    if redo and not (machine.settled or must):
        return None  # what the start still begins would only be stopped to be begun by it
    budget = deadlines.budget([(one.tracked, one.begun) for one in wanted], machine.terms, machine.now)
    waits = not must and (len(seen) < len(wanted) or _is_under_event(events))
    no_new_steps = waits or budget <= 0
    if no_new_steps and (machine.is_new or machine.takes_over):
        return None
    is_done = machine.view.phase == "prepared" and all(one.key in machine.view.keys for one in wanted)
    redo = redo and not no_new_steps
    looks = machine.looks and is_done and not (waits or _is_under_event(events))
    if is_done and not (redo or machine.takes_over or looks):
        return None
    keys = tuple(one.key for one in wanted)
    return Goal(PREPARED, keys, budget, no_new_steps, redo, is_new_outage(machine.view), looks)


def is_new_outage(view: MarkView) -> bool:
    """Whether what a machine is prepared for is another outage than that of its mark: what is being undone by that is stopped."""
    return view.is_recovering or view.is_partially_recovered


# ---- kept out of service, or recovered ----


def _is_under_event(events: Sequence[Ahead]) -> bool:
    return any(one.has_started for one in events)


def is_held(machine: Machine, events: Sequence[Ahead]) -> bool:
    """Whether an event keeps the machine out of service; see :func:`held_by`."""
    return bool(held_by(machine, events))


def held_by(machine: Machine, events: Sequence[Ahead]) -> List[Ahead]:
    """The events that keep the machine out of service: nothing is put into service under one, and there is time for all of it before."""
    view = machine.view
    under = [one for one in events if one.has_started or (one.approved and not one.ignored)]
    failed = [one for one in events if one.failed and one.key in view.keys]
    if under or (failed and machine.keeps_failed):
        return under or failed
    if view.is_recovering:
        return []  # what shows, or shows again, in the middle of it is another outage's
    waits = [one for one in events if one.key in view.keys and not (one.failed or one.ignored)]
    if waits:
        return waits
    if failed:
        return [one for one in events if not undo_fits(machine, [one])]
    return [one for one in events if one.key not in view.keys and comes_soon(machine, one)]


def undo_fits(machine: Machine, events: Sequence[Ahead]) -> bool:
    """Whether the machine can be in service again before any of the events that come."""
    coming = [deadlines.left(one.tracked, machine.now) for one in events if one.watched and not one.has_started]
    return deadlines.undo_fits(coming, machine.terms)


def comes_soon(machine: Machine, one: Ahead) -> bool:
    """Whether an event comes too soon for a machine to be recovered that was out for another one: it could not be prepared for it any more,
    or, where that has failed, not be in service before it."""
    if not (one.needed and one.watched) or one.has_started or one.tracked.event.is_advice:
        return False
    too_late = machine.now >= deadlines.prepared_by(one.tracked, machine.terms)
    return (too_late and not one.failed) or not undo_fits(machine, [one])
