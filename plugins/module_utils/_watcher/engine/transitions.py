# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the machine program is asked for: the core says what the machine becomes, the mark's note and the types of the events are the watcher's. Pure.

Private to this collection.

It is asked of the mark at every tick, so it does not matter when the watcher was last killed, or the machine rebooted. The note in the
watcher's mark is what has to outlive the watcher and the machine's restart::

    outage      its name
    types       of its events, by id
    started     ids of those that were seen Started
    over        how those ended that are gone, by id
    approved    ids of those whose approval was sent, or was about to be
    notices     seconds of notice when they were first seen, by id: by them the policy was asked
    said        what was reported of them, by id
"""

from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from ..._clock import Moment, iso_utc
from ..._core.decision import PREPARING
from ..._core.mark_view import NOBODY, OURS
from ..._core.transitions import PREPARED, RECOVERED, Ahead, Goal, Machine, Try, becomes, is_due_back
from .decision import EventDecision, is_suppressed
from .engine_state import MachineEvent
from .interface import Go
from .snapshot import Snapshot


def named(moment: Moment, other: str = "") -> str:
    """The name of an outage that begins now, fit for a file.

    :arg other: of the one whose place it takes, which may have begun in the same second
    """
    names = (iso_utc(moment.wall + later).replace("-", "").replace(":", "") for later in (0.0, 1.0))
    return next(name for name in names if name != other)


def note(here: Snapshot, outage: str, more: Sequence[MachineEvent] = ()) -> Dict[str, Any]:
    """The note as it should be.

    :arg more: events that join the outage
    """
    keys = {life.key for life in here.lives.values() if here.is_marked(life)}.union(life.key for life in more)
    lives = [here.lives[key] for key in sorted(keys)]
    return {
        "outage": outage,
        "types": {life.event.event_id: life.event.event_type for life in lives},
        "started": [life.event.event_id for life in lives if life.started],
        "over": {life.event.event_id: life.tracked.outcome for life in lives if not life.is_open},
        "approved": [life.event.event_id for life in lives if life.approved],
        "notices": {life.event.event_id: life.tracked.notice for life in lives},
        "said": {life.event.event_id: sorted(life.said) for life in lives},
    }


LONG = 600.0
"""Seconds that are given to what has its limits of its own."""


def target(here: Snapshot, decisions: Mapping[str, EventDecision], tried: Try) -> Optional[Go]:
    """What the machine program is to go on towards; None when the machine stays as it is."""
    if not here.may_act or here.marked.owner not in (NOBODY, OURS):
        return None
    lives = sorted(here.open, key=lambda life: (decisions[life.key].left, life.key))
    approves = any(decisions[life.key].waits_for_look for life in lives)
    # What a start has undone is done again by a rule of its own.
    looks = here.second_look.is_due(here.now, approves) and not _has_restarted(here)
    machine = _machine(here, tried)._replace(looks=looks)
    events = [_ahead(here, life, decisions[life.key]) for life in lives]
    goal = becomes(machine, events)
    if goal and goal.events:
        return _prepare(here, goal, lives)
    if goal and goal.to == RECOVERED:
        return _recover(here, goal)
    if machine.may_recover and is_due_back(machine, events):
        return None  # until the machine's start is over
    return _note_down(here, [life for life in lives if life.has_struck])


def _machine(here: Snapshot, tried: Try) -> Machine:
    # A recovery that was begun goes on while the metadata service does not answer, once a document has come since the last start.
    may_recover = here.is_fresh or (here.marked.is_recovering and here.polled_at is not None)
    return Machine(here.marked, here.terms, here.now, may_recover, tried, here.facts.settled)


def _ahead(here: Snapshot, life: MachineEvent, decision: EventDecision) -> Ahead:
    return Ahead(
        life.tracked,
        needed=here.acts and decision.action in PREPARING,
        wanted=decision.prepare,
        must=decision.must,
        shown=_is_seen(here, life),
        approved=life.approved,
        failed=bool(life.failed),
        ignored=is_suppressed(here, life),
        undone=_is_undone(here, life),
        begun=_begun(here, life),
    )


def _begun(here: Snapshot, life: MachineEvent) -> Optional[float]:
    """When its preparation was begun; of what only the mark tells, as far as this process knows."""
    return life.begun if life.begun is not None or not here.is_marked(life) else life.tracked.shown


def _is_seen(here: Snapshot, life: MachineEvent) -> bool:
    """Whether a document shows it. Where nobody has polled yet, what restarted the machine may well have been this event."""
    return not life.is_lacking and not (life.is_recalled and _has_restarted(here))


def _is_undone(here: Snapshot, life: MachineEvent) -> bool:
    """Whether the machine was rebooted since its steps were done, by nobody's event: the boot has started its services.

    That it was nobody's is only known once a document still announces the event.
    """
    return _has_restarted(here) and life.is_coming and not life.is_recalled


def _has_restarted(here: Snapshot) -> bool:
    return here.marked.boot_id not in ("", here.facts.moment.boot_id)


# ---- what is asked for ----


def _prepare(here: Snapshot, goal: Goal, lives: Sequence[MachineEvent]) -> Go:
    lives = [life for life in lives if life.key in goal.events]
    begins = here.marked.owner == NOBODY or goal.replace_outage
    outage = named(here.facts.moment, here.marked.outage) if begins else here.marked.outage
    left = max(
        goal.budget, min(here.left(life) for life in lives)
    )  # what is begun within the budget may take its margin
    return Go(
        PREPARED,
        _long(here) if goal.no_new_steps else left,
        tuple(life.event.event_id for life in lives),
        note(here, outage, lives),
        _kinds(here, lives),
        parallel=any(life.event.is_preempt for life in lives),
        redo_after_reboot=goal.redo_after_reboot,
        no_new_steps=goal.no_new_steps,
        replace_outage=goal.replace_outage,
        looks=goal.looks,
    )


def _note_down(here: Snapshot, struck: List[MachineEvent]) -> Optional[Go]:
    """Begin nothing, but have written down what is not yet, and go on with what runs.

    :arg struck: events that hold the recovery back, though the machine may not have been prepared for them
    """
    marked = here.marked
    if not (marked.phase in ("preparing", "prepared") or marked.is_failed):
        return None
    changed = note(here, marked.outage, struck)
    if marked.phase != "preparing" and changed == here.note and all(map(here.is_marked, struck)):
        return None
    ids = tuple(life.event.event_id for life in struck)
    return Go(PREPARED, _long(here), ids, changed, _kinds(here, struck), no_new_steps=True)


def _recover(here: Snapshot, goal: Goal) -> Optional[Go]:
    if not (here.facts.identity and here.facts.identity.vm_id):
        return None
    noted = note(here, here.marked.outage)
    return Go(RECOVERED, _long(here), (), noted, _kinds(here, []), no_new_steps=goal.no_new_steps)


def _long(here: Snapshot) -> float:
    """So many seconds that what runs is ended by its own limit only."""
    return max(here.facts.settings.limits, LONG)


def _kinds(here: Snapshot, lives: List[MachineEvent]) -> Tuple[str, ...]:
    """The types of all events of the outage: by them its steps are known."""
    types: Mapping[str, str] = here.note.get("types") or {}
    return tuple(dict.fromkeys([kind.lower() for kind in types.values()] + [life.kind for life in lives]))
