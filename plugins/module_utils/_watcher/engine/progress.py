# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What follows from the mark, the last answer of the machine program and the time that is left, for the machine's events. Pure.

Private to this collection.

It is done before anything is reported: reports only read.
"""

from typing import Dict, List, Mapping, NamedTuple, Optional

from ..._core.mark_view import NOBODY, OURS
from ..._core.transitions import PREPARED, RECOVERED, Try
from .decision import EventDecision
from .engine_state import Begun, MachineEvent, Recollection
from .interface import Answer
from .snapshot import Snapshot

MARK_REMOVED = "mark removed"
"""How an outage ends whose mark somebody else has removed."""

FORGET = 300.0
"""Seconds for which an event that is gone is remembered: it may come back."""


class Progress(NamedTuple):
    """What has become of the outage since the tick before."""

    lives: Dict[str, MachineEvent]  # all of this machine's events, by key
    before: Begun  # the outage as the tick before saw it
    begun: Begun  # and as it is now
    tried: Try
    ended: str  # RECOVERED or MARK_REMOVED where its mark is gone since; else ""
    answer: Optional[Answer]  # of the machine program, where it has come since


def progress(here: Snapshot, known: Recollection) -> Progress:
    """What there is of it.

    :arg here: of a tick in which it is known whose the mark is
    """
    mark, before, answer = here.marked, known.begun, here.facts.answer
    if answer is not None and answer.at == known.answered:
        answer = None
    lives, begun, ended = dict(here.lives), before, _ended(here, before, answer)
    if ended == MARK_REMOVED:
        lives.update({key: _given_up(lives[key]) for key in before.keys.intersection(lives)})
    if mark.owner == OURS:
        begun = Begun(mark.outage, mark.phase, mark.keys)
        lives.update({life.key: _prepared(here, life) for life in here.open if here.is_marked(life)})
    elif mark.owner == NOBODY:
        begun = Begun()
    return Progress(lives, before, begun, _tried(here, known.tried, answer), ended, answer)


def _ended(here: Snapshot, before: Begun, answer: Optional[Answer]) -> str:
    """How the outage has ended whose mark is gone.

    :arg answer: that is new: a person may have had the machine recovered before it was known whose that mark was
    """
    if here.marked.owner != NOBODY or not (before.name or (answer and answer.state == "recovered")):
        return ""
    last = here.facts.answer
    by_recovery = before.phase == "recovering" or (last is not None and last.state == "recovered")
    return RECOVERED if by_recovery else MARK_REMOVED


def _given_up(life: MachineEvent) -> MachineEvent:
    return life._replace(failed="somebody removed the mark")


def _prepared(here: Snapshot, life: MachineEvent) -> MachineEvent:
    """An event of the mark, by how far that says its preparation is."""
    if here.marked.is_failed:
        return life._replace(failed=life.failed or why(here, PREPARED) or "no reason is known")
    if can_be_met(here, life):
        # Another event of the same outage may have brought about what had failed for this one.
        return life._replace(failed="")
    return life


def can_be_met(here: Snapshot, life: MachineEvent) -> bool:
    """Whether the machine is prepared for an event of the mark, and that in time: what had struck before met it unprepared."""
    is_prepared = here.marked.phase == "prepared" and here.marked.boot_id == here.facts.moment.boot_id
    return is_prepared and (life.is_coming or life.event.takes_machines_away)


def why(here: Snapshot, to: str) -> str:
    """Why the machine did not become prepared, or recovered; "" where nobody knows."""
    answer = here.facts.answer
    return answer.why if answer and answer.to == to and answer.why else here.marked.failed_words


def could_not_begin(here: Snapshot, answer: Answer) -> bool:
    """Whether a preparation has failed before anything of it was done."""
    return answer.to == PREPARED and answer.state in ("failed", "refused") and here.marked.owner == NOBODY


def _tried(here: Snapshot, tried: Try, answer: Optional[Answer]) -> Try:
    """What did not come about is tried again after a while.

    :arg answer: that is new
    """
    if answer is None:
        return tried
    if could_not_begin(here, answer):
        return tried.again(PREPARED, answer.at)
    if answer.to == RECOVERED and here.marked.is_partially_recovered:
        return tried.again(RECOVERED, answer.at)
    return Try() if here.marked.phase in ("preparing", "prepared") else tried


def late(here: Snapshot, decisions: Mapping[str, EventDecision]) -> Dict[str, MachineEvent]:
    """The events for which the machine should be prepared by now, and is not, by key."""
    found = {}
    for key, decision in decisions.items():
        life = here.lives[key]
        awaited = decision.prepare and not (life.started or life.event.is_advice) and life.event.is_scheduled
        ready = here.marked.phase == "prepared" and here.is_marked(life)
        if awaited and not ready and decision.left <= decision.margin:
            found[key] = life._replace(late=True)
    return found


def forgotten(here: Snapshot) -> List[str]:
    """The keys of the events that have been gone for so long that one of this id would be a new one."""
    return [
        key
        for key, life in here.lives.items()
        if life.tracked.gone is not None and here.now - life.tracked.gone > FORGET and not here.is_marked(life)
    ]
