# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the machine is to become now: prepared for events, recovered, or left as it is. Pure.

Private to this collection.

It is asked of the mark at every tick, so it does not matter when the watcher was last killed, or the machine rebooted.
"""

from typing import List, Mapping, Optional, Tuple

from ..._core import deadlines
from ..._core.mark_view import NOBODY, OURS
from ..._core.transitions import PREPARED, RECOVERED, Try, is_new_outage, taken_up
from .actions import Go
from .decision import Wish, is_put_back
from .machine_event import Life
from .mark_note import named, note
from .snapshot import Here

LONG = 600.0
"""Seconds that are given to what has its limits of its own."""


def target(here: Here, wishes: Mapping[str, Wish], tried: Try) -> Optional[Go]:
    """What the machine program is to go on towards; None when the machine stays as it is."""
    marked = here.marked
    if not here.may_act or marked.owner not in (NOBODY, OURS):
        return None
    wanted = [life for life in here.open if life.key in wishes and wishes[life.key].prepare]
    wanted = _taken_up(here, sorted(wanted, key=lambda life: (wishes[life.key].left, life.key)), wishes)
    if marked.owner == NOBODY:
        return None if tried.rests(PREPARED, here.now) else _prepare(here, wanted, wishes, named(here.facts.moment))
    if marked.is_recovering:
        return _in_recovery(here, wanted, wishes)
    if marked.is_partially_recovered:
        return _after_failed_recovery(here, wanted, wishes, tried)
    if marked.is_failed:
        return _after_failed_preparation(here)
    return _go_on(here, wanted, wishes)


def _taken_up(here: Here, wanted: List[Life], wishes: Mapping[str, Wish]) -> List[Life]:
    keys = taken_up(
        here.marked,
        [life.key for life in wanted],
        _is_struck(here),
        lambda key: here.lives[key].kind == "preempt",
        lambda key: wishes[key].must,
    )
    return [life for life in wanted if life.key in keys]


def _go_on(here: Here, ready: List[Life], wishes: Mapping[str, Wish]) -> Optional[Go]:
    """Of an outage whose mark says preparing or prepared."""
    struck = [life for life in here.open if life.has_struck]
    if ready and _is_unfinished(here, ready):
        return _prepare(here, ready, wishes, here.marked.outage)
    if ready or not _may_recover(here):
        return _note_down(here, struck)
    return _recover(here)


def _is_unfinished(here: Here, ready: List[Life]) -> bool:
    is_prepared = here.marked.phase == "prepared" and all(here.is_marked(life) for life in ready)
    return not is_prepared or _is_to_be_done_again(here, ready)


def _after_failed_preparation(here: Here) -> Optional[Go]:
    """Undone at once where that fits before all that is to come, else when it is over."""
    if _may_recover(here, reverts=True):
        return _recover(here)
    return _note_down(here, [life for life in here.open if life.has_struck])


def _in_recovery(here: Here, wanted: List[Life], wishes: Mapping[str, Wish]) -> Optional[Go]:
    """What shows now begins another outage: after this one, or at once where there may be no time to wait for its end."""
    another = _prepare(here, wanted, wishes, named(here.facts.moment, here.marked.outage))
    return another or _recover(here, still=_is_struck(here))


def _after_failed_recovery(here: Here, wanted: List[Life], wishes: Mapping[str, Wish], tried: Try) -> Optional[Go]:
    """An event that shows after it begins another outage, which takes over what was left."""
    if wanted:
        return _prepare(here, wanted, wishes, named(here.facts.moment, here.marked.outage))
    if tried.rests(RECOVERED, here.now) or not _may_recover(here, reverts=True):
        return None
    return _recover(here)


# ---- prepare ----


def _prepare(here: Here, lives: List[Life], wishes: Mapping[str, Wish], outage: str) -> Optional[Go]:
    if not lives:
        return None
    seen = [life for life in lives if _is_seen(here, life)]
    must = any(wishes[life.key].must for life in seen)
    if must:
        lives = seen  # what may be over holds up nothing that has to be done now
    again = _is_to_be_done_again(here, lives)
    if again and not (here.facts.settled or must):
        return None  # what the boot is still starting would only be stopped to be started by it
    budget = deadlines.budget([(life.tracked, _begun(here, life)) for life in lives], here.terms, here.now)
    left = max(budget, min(here.left(life) for life in lives))  # what is begun within the budget may take its margin
    still = budget <= 0 or len(seen) < len(lives) or (_is_struck(here) and not must)
    is_new = here.marked.owner == NOBODY or outage != here.marked.outage
    if still and is_new:
        return None
    return Go(
        PREPARED,
        _long(here) if still else left,
        tuple(life.event.event_id for life in lives),
        note(here, outage, lives),
        _kinds(here, lives),
        at_once=any(life.kind == "preempt" for life in lives),
        again=again and not still,
        still=still,
        turn_round=is_new_outage(here.marked),
    )


def _begun(here: Here, life: Life) -> Optional[float]:
    """When its preparation was begun; of what only the mark tells, as far as this process knows."""
    return life.begun if life.begun is not None or not here.is_marked(life) else life.shown


def _is_seen(here: Here, life: Life) -> bool:
    """Whether a document shows it. Where nobody has looked yet, what restarted the machine may well have been this event."""
    return not life.is_lacking and not (life.is_recalled and _has_restarted(here))


def _is_to_be_done_again(here: Here, lives: List[Life]) -> bool:
    """Whether the machine was started anew since its steps were done, by nobody's event: the boot has started its services.

    That it was nobody's is only known once a document still announces the event.
    """
    return _has_restarted(here) and any(life.is_coming and not life.is_recalled for life in lives)


def _has_restarted(here: Here) -> bool:
    return here.marked.boot_id not in ("", here.facts.moment.boot_id)


def _note_down(here: Here, struck: List[Life]) -> Optional[Go]:
    """Begin nothing, but have written down what is not yet, and go on with what runs.

    :arg struck: events that hold the recovery back, though the machine may not have been prepared for them
    """
    changed = note(here, here.marked.outage, struck)
    if here.marked.phase != "preparing" and changed == here.note and all(map(here.is_marked, struck)):
        return None
    ids = tuple(life.event.event_id for life in struck)
    return Go(PREPARED, _long(here), ids, changed, _kinds(here, struck), still=True)


def _long(here: Here) -> float:
    """So many seconds that what runs is ended by its own limit only."""
    return max(here.facts.settings.limits, LONG)


# ---- recover ----


def _is_struck(here: Here) -> bool:
    """Whether one of the machine's events is under way: nothing is put into service under it."""
    return any(life.has_struck for life in here.open)


def _may_recover(here: Here, reverts: bool = False) -> bool:
    """Whether the events of the mark are over for certain, by a document that has just come, or a person does not care.

    :arg reverts: what they were prepared for is still to come; but there is time for all of it before
    """
    if not here.is_fresh or _is_struck(here):
        return False
    if not reverts:
        return not any(here.is_marked(life) and not is_put_back(here, life) for life in here.open)
    return deadlines.undo_fits([here.left(life) for life in here.open], here.terms)


def _recover(here: Here, still: bool = False) -> Optional[Go]:
    identity = here.facts.identity
    if not (identity and identity.vm_id and here.facts.settled):
        return None
    noted = note(here, here.marked.outage)
    still = still or here.looked is None  # what restarted the machine may well have been an event
    return Go(RECOVERED, _long(here), (), noted, _kinds(here, []), still=still)


def _kinds(here: Here, lives: List[Life]) -> Tuple[str, ...]:
    """The types of all events of the outage: by them its steps are known."""
    types: Mapping[str, str] = here.note.get("types") or {}
    return tuple(dict.fromkeys([kind.lower() for kind in types.values()] + [life.kind for life in lives]))
