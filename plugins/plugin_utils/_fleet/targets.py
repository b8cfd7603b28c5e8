# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets: what each machine is asked to become. The core says what it becomes; here is collected what a run knows of it and of its events. Pure.

Private to this collection.

A machine is asked to be "prepared" for events or "recovered"; how it gets there is its own affair. Only a machine that has a
mark of this run, or one that a dead run left, is ever recovered, and only when its own document shows that its events are over.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from ...module_utils._core import transitions as core
from ...module_utils._core.mark_view import EXPIRED, FRESH, NOBODY, OURS
from ...module_utils._core.transitions import PREPARED, RECOVER_AGAIN, RECOVERED, Ahead, Machine, Try
from .evaluation import is_given_up, needs_preparation
from .event_state import EventState
from .event_terms import begun, is_last_call, may_come_now, must_prepare, preparation_end, terms
from .machine_state import KEPT, MachineState
from .marks import has_restarted, how_far, is_its_watchers, lacks_steps, mark_keys, marked_events, phase, whose
from .run_events import STAYED, is_open, not_before
from .state import Record

LONG_TICK = 60.0
"""Seconds that a look may be old for a machine which could have been recovered that long ago: where all ticks are long, as while
load balancers hang, none is younger when its tick ends, and who does not hang must not wait for who does."""

LOOKS_IN_VAIN = 60.0
"""Seconds after which a machine is recovered that can be reached, but can't poll: others have seen that its events are over."""


class Target(NamedTuple):
    """What a machine is asked to become."""

    to: str  # prepared or recovered
    events: list[str]  # ids
    left: float
    take: str = ""  # the run whose mark is taken over
    no_new_steps: bool = False  # only what runs goes on
    redo_after_reboot: bool = False  # what a start of the machine has undone is done once more
    replace_outage: bool = False  # it is another outage: what the one before has under way in being undone is stopped
    looks: bool = False  # what was done is looked at once more, though nothing new is begun


def target(record: Record, machine: MachineState, looks: bool) -> Target | None:
    """What the machine is to become; None when it is left as it is.

    :arg looks: whether what was done is due for a second look
    """
    owner = whose(record, machine)
    if record.run.check or machine.aside or owner not in (NOBODY, OURS, EXPIRED):
        return None
    if owner == NOBODY and (is_its_watchers(machine) or lacks_steps(machine)):
        return None
    events = _ahead(record, machine)
    if owner == NOBODY and not events:
        return None  # most machines at most times
    goal = core.becomes(_machine(record, machine)._replace(looks=looks), events)
    if goal is None:
        return None
    take = machine.mark["holder"]["run"] if owner == EXPIRED and machine.mark else ""
    if goal.to == RECOVERED and not goal.no_new_steps:
        return Target(RECOVERED, [], _time_to_recover(record, machine), take)
    ids = [record.events[key].event.event_id for key in goal.events]
    left = max(goal.budget, 0.0) if goal.events else max(machine.given.needs, RECOVER_AGAIN)
    return Target(goal.to, ids, left, take, *goal[3:])


def is_kept(record: Record, machine: MachineState) -> bool:
    """Whether an event that is not over holds the machine's recovery back."""
    return core.is_held(_machine(record, machine), _ahead(record, machine))


def held_by(record: Record, machine: MachineState) -> list[str]:
    """The keys of the events that hold the machine's recovery back."""
    return [one.key for one in core.held_by(_machine(record, machine), _ahead(record, machine))]


def is_due_back(record: Record, machine: MachineState) -> bool:
    """Whether a machine that is marked could be recovered, by what is known of its events."""
    return core.is_due_back(_machine(record, machine), _ahead(record, machine))


def lacks_time_to_undo(record: Record, machine: MachineState) -> bool:
    """Whether an event comes before the machine could be in service again."""
    is_recovering = phase(machine) == "recovering"
    return not is_recovering and not core.undo_fits(_machine(record, machine), _ahead(record, machine))


def seconds_until_next(record: Record, machine: MachineState) -> float:
    """Until the first of its events that come, and are still watched."""
    entries = of_machine(record, machine).values()
    coming = [entry for entry in entries if entry.started is None and entry.closed != STAYED]
    return min((not_before(entry) - record.at for entry in coming), default=math.inf)


def comes_soon(record: Record, machine: MachineState, key: str) -> bool:
    """Whether one of its events comes too soon for the machine to be recovered that was out for another one."""
    if machine.host not in record.events[key].affected:
        return False
    return core.comes_soon(_machine(record, machine), _one(record, machine, key))


def of_machine(record: Record, machine: MachineState) -> dict[str, EventState]:
    """The events that are not gone and affect the machine, or may, or stand in its mark."""
    keys = mark_keys(machine)
    return {
        key: entry
        for key, entry in record.events.items()
        if entry.gone is None and (machine.host in entry.affected or key in keys or _may_affect(entry, machine, key))
    }


def _may_affect(entry: EventState, machine: MachineState, key: str) -> bool:
    """Whether an event may be this machine's that is not known to affect it: the machine is another host's as well, and that one counts; or its
    name in Azure is not known, its own document shows the event, and one of the event's machines is nobody's here."""
    if machine.aside:
        return entry.event.affects(machine.name)
    return not machine.name and bool(entry.whom.unknown) and key in machine.seen.shows


# ---- the machine ----


def _machine(record: Record, machine: MachineState) -> Machine:
    view = how_far(record, machine)
    return Machine(
        view,
        terms(machine),
        record.at,
        not against_recovery(record, machine, view.owner),
        _tried(machine, view.owner),
        takes_over=view.owner == EXPIRED and machine.lost_mark != KEPT,
        retries=view.is_failed and not any(machine.host in entry.failed for entry in marked_events(record, machine)),
        keeps_failed=machine.options.on_failure != "revert",
    )


def _tried(machine: MachineState, owner: str) -> Try:
    to, failed_at, times = (
        (PREPARED, machine.unbegun, 1) if owner == NOBODY else (RECOVERED, machine.tries.at, machine.tries.times)
    )
    return Try() if failed_at is None else Try(to, failed_at, times)


LOST, NOT_POLLED, UNREADABLE_ENTRY = "lost", "not_polled", "unreadable_entry"
"""Why what was polled last does not allow a machine to be recovered."""


def against_recovery(record: Record, machine: MachineState, owner: str) -> str:
    """One of these words; "" where the machine has looked itself, just now, and nothing that it sees may be its event."""
    if machine.lost:
        return LOST  # much may have changed meanwhile
    if _has_looked(machine, record.at):
        if owner == OURS and any(is_given_up(entry) for entry in of_machine(record, machine).values()):
            return ""
        # Its events are gone, as others have it, and its own document does not say otherwise.
        is_doubtful = machine.seen.unreadable and {"", *mark_keys(machine)}.intersection(machine.seen.unreadable)
        return UNREADABLE_ENTRY if is_doubtful else ""
    in_vain = machine.recovering is not None and record.at - machine.recovering >= LOOKS_IN_VAIN
    return "" if owner == OURS and machine.seen.problem and in_vain else NOT_POLLED


def _has_looked(machine: MachineState, at: float) -> bool:
    if machine.seen.at is None or machine.seen.problem:
        return False
    waits = at - machine.recovering if machine.recovering is not None else 0.0
    return at - machine.seen.at <= (LONG_TICK if waits >= LONG_TICK else FRESH)


def _time_to_recover(record: Record, machine: MachineState) -> float:
    coming = [not_before(entry) - record.at for entry in of_machine(record, machine).values() if is_given_up(entry)]
    if coming:
        return max(min(coming), 0.0)
    spent = record.at - machine.recovering if machine.recovering is not None else 0.0
    return max(machine.options.recover_timeout - spent, machine.given.needs, RECOVER_AGAIN)


# ---- its events ----


def _ahead(record: Record, machine: MachineState) -> list[Ahead]:
    return [_one(record, machine, key) for key in of_machine(record, machine)]


def _one(record: Record, machine: MachineState, key: str) -> Ahead:
    entry = record.events[key]
    wanted = _is_wanted(entry, machine, key, record.at)
    return Ahead(
        entry.tracked,
        needed=machine.host in entry.affected and needs_preparation(entry, machine.host),
        wanted=wanted,
        must=wanted and must_prepare(entry, machine, record.at),
        shown=_is_seen(entry),
        approved=entry.approval.maybe,
        failed=is_given_up(entry),
        watched=entry.closed != STAYED,
        undone=is_undone(machine, key, record.at),
        begun=begun(machine, key),
    )


def _is_wanted(entry: EventState, machine: MachineState, key: str, at: float) -> bool:
    """Whether the machine should be prepared for the event now, were it in service."""
    host = machine.host
    if machine.lost_mark:
        return False  # it is in service again, but for what others did: that is undone first
    if not is_open(entry) or not needs_preparation(entry, host) or host in entry.failed or is_given_up(entry):
        return False
    if entry.started is not None:
        return is_last_call(entry)
    return key in mark_keys(machine) or _is_in_time(entry, machine, key, at)


def _is_seen(entry: EventState) -> bool:
    """Whether the last document of any that was shown it shows it still: what has left may be over, and nothing is started for it."""
    return not entry.sightings or any(one.absent is None for one in entry.sightings.values())


def _is_in_time(entry: EventState, machine: MachineState, key: str, at: float) -> bool:
    """Whether the machine may be prepared for an event that does not stand in its mark."""
    if not entry.turn.may_prepare or _joined_what_is_full(entry, machine) or not _is_seen(entry):
        return False
    # A machine that is prepared already joins as long as the event has not come.
    end = not_before(entry) if phase(machine) == "prepared" else preparation_end(entry, machine)
    return end > at or may_come_now(entry, machine, key, at)


def _joined_what_is_full(entry: EventState, machine: MachineState) -> bool:
    """Whether it has turned out, since the event's turn came, to affect this machine, too, for which the capacity has no room."""
    if entry.turn.state == "due":
        return False
    return entry.turn.too_large or (entry.turn.full and machine.mark is None)


def is_undone(machine: MachineState, key: str, at: float) -> bool:
    """Whether a start of the machine has undone what was done, and its own document still announces the event: whatever made it
    start was not this event."""
    return has_restarted(machine) and _has_looked(machine, at) and key in machine.seen.shows
