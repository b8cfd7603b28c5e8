# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What comes next for a machine that is taken out of service or put back: the steps of its mark in, one move out. Pure.

The mark says how far each step is; the plan, which comes from the inventory, what a step is. Preparing goes through the
steps in the user's order, recovering back from the last one, over what was begun, done or failed. What was not ours to
do, by the initial state, is done without doing and undone without undoing.

Private to this collection.
"""

from typing import Any, Container, Dict, List, Mapping, NamedTuple, Optional, Sequence

from .._text import listed
from .step_type import Step
from .types import CLOSING_HOOKS, is_verified, type_of

Marked = Mapping[str, Any]
"""A step in the mark: key, type, words, unwords, state, before, since, seconds, note."""

# States of a step in the mark
WAITING = "waiting"
BEGUN = "begun"
DONE = "done"
FAILED = "failed"
TAKING_BACK = "taking_back"
TAKEN_BACK = "taken_back"
NOT_TAKEN_BACK = "not_taken_back"

# What a move asks for
BEGIN = "begin"
"""Begin the step in this direction; the mark says so first."""
CHECK = "check"
"""See how far it is."""
STOP = "stop"
"""End what was begun on the machine itself, and see how it ended; it is undone next."""
SETTLE = "settle"
"""There is nothing to do: note that it is done, or undone, with the reason as its note."""
FINISHED = "finished"
STUCK = "stuck"
"""It can't be finished."""

_AFTER = {
    "do": {"pending": BEGUN, "done": DONE, "failed": FAILED},
    "undo": {"pending": TAKING_BACK, "done": TAKEN_BACK, "failed": NOT_TAKEN_BACK},
}

UNDER_WAY = {states["pending"]: direction for direction, states in _AFTER.items()}
"""By the state of a step that is under way: in which direction."""


class Move(NamedTuple):
    """What comes next."""

    what: str
    key: str = ""
    direction: str = ""
    """``do`` or ``undo``."""
    why: str = ""
    """Why it is stuck, or why there is nothing to do; "" when there is nothing to say."""
    step: Step = {}
    """The step to go by, narrowed to what is ours by the initial state; empty when it is finished or stuck."""

    @property
    def elsewhere(self) -> bool:
        """Whether it is carried out by somebody else than the machine program."""
        return bool(self.step.get("elsewhere"))


def next_move(marked: Sequence[Marked], plan: Mapping[str, Step], to: str) -> Move:
    """What comes next.

    :arg marked: the steps of the mark, in the user's order
    :arg plan: the inventory's steps, by key
    :arg to: ``prepared`` or ``recovered``
    """
    return _preparing(marked, plan) if to == "prepared" else _recovering(marked, plan)


def begun(step: Marked, direction: str, since: str) -> Dict[str, Any]:
    """The step as it stands in the mark before it is begun."""
    begins = dict(step, state=_AFTER[direction]["pending"], since=since, seconds=0.0, note="")
    for earlier in ("refused", "perhaps_done"):
        begins.pop(earlier, None)
    return begins


def came(
    step: Marked, direction: str, state: str, note: str = "", seconds: float = 0.0, refused: bool = False
) -> Dict[str, Any]:
    """The step as it stands in the mark when it was polled.

    :arg state: what came of it: ``pending``, ``done`` or ``failed``
    :arg refused: whether it failed without having been begun
    """
    came_to = dict(step, state=_AFTER[direction][state], note=note, seconds=round(seconds, 1))
    return dict(came_to, refused=True) if refused else came_to


def tried_again(marked: Sequence[Marked], plan: Mapping[str, Step], with_hooks: bool = False) -> List[Dict[str, Any]]:
    """The steps when a recovery that did not undo all of them begins anew.

    A hook that was refused has never run: it is tried again, and not missed once somebody has removed it.
    """
    return [
        dict(step, state=FAILED)
        if step["state"] == NOT_TAKEN_BACK and (with_hooks or step.get("refused") or not type_of(step["type"]).once)
        else dict(step)
        for step in marked
        if step["key"] in plan or not step.get("refused")
    ]


def done_again(marked: Sequence[Marked], begun_since: Sequence[str] = ()) -> List[Dict[str, Any]]:
    """The steps of a machine that was rebooted by nobody's event, and is to be prepared again. Not its hooks.

    What others did, or a command, may have outlasted the start: it is undone, too, when nobody comes to do it again.

    :arg begun_since: the keys of those that the machine has itself begun since that start
    """
    return [
        dict(step, state=WAITING, perhaps_done=True) if _is_lost(step, step["key"] in begun_since) else dict(step)
        for step in marked
    ]


def _is_lost(step: Marked, begun_since: bool) -> bool:
    """Whether a start of the machine has undone what was done, or cut it off where that does no harm."""
    kind = type_of(step["type"])
    if kind.once or begun_since and (step["state"] == BEGUN or not kind.repeatable):
        return False
    return bool(step["state"] == DONE or step["state"] == BEGUN and kind.repeatable)


def to_look_at(marked: Sequence[Marked], plan: Mapping[str, Step]) -> List[Move]:
    """What was done, as far as it was ours to do, and can be looked at once more."""
    found = []
    for entry in marked:
        if entry["state"] != DONE or entry["key"] not in plan or not is_verified(plan[entry["key"]]):
            continue
        narrowed = ours(plan[entry["key"]], entry.get("before"))
        if narrowed and narrowed["does"]:
            found.append(Move(CHECK, entry["key"], "do", step=narrowed))
    return found


def back_in_service(marked: Sequence[Marked], keys: Container[str]) -> List[Dict[str, Any]]:
    """The steps of a machine that somebody has put back in part: those of these keys are to be done again, and what waits after them, as for
    connections to end, waits once more."""
    steps: List[Dict[str, Any]] = []
    is_back = False
    for entry in marked:
        is_back = is_back or entry["key"] in keys
        again = entry["key"] in keys or (is_back and entry["state"] == DONE and type_of(entry["type"]).only_waits)
        steps.append(dict(entry, state=WAITING, perhaps_done=True) if again else dict(entry))
    return steps


def is_to_undo(step: Marked) -> bool:
    """Whether anything of it was done, or may have been, and was not undone."""
    return bool(step["state"] not in (WAITING, TAKEN_BACK) or (step["state"] == WAITING and step.get("perhaps_done")))


def to_stop(marked: Sequence[Marked], plan: Mapping[str, Step]) -> List[Move]:
    """What a recovery has under way on the machine itself, for whoever can't wait until it has ended."""
    return [
        _move(STOP, entry, plan, UNDER_WAY[entry["state"]])
        for entry in reversed(marked)
        if entry["state"] in UNDER_WAY and entry["key"] in plan and not plan[entry["key"]].get("elsewhere")
    ]


def turned_round(marked: Sequence[Marked], plan: Mapping[str, Step]) -> List[Dict[str, Any]]:
    """The steps when another outage takes over what a recovery has left. Hooks are run by each outage."""
    steps = [_turned_round(step, plan.get(step["key"], {})) for step in marked]
    # What somebody has removed meanwhile, and nothing was done of, is not missed.
    return [
        step for step in steps if step["key"] in plan or not (step["state"] == WAITING or type_of(step["type"]).closing)
    ]


def _turned_round(step: Marked, planned: Step) -> Dict[str, Any]:
    kind, state = type_of(step["type"]), step["state"]
    if kind.closing:
        return dict(step, state=DONE)
    if kind.once or state == TAKEN_BACK:
        return dict(step, state=WAITING)
    # What failed, or was stopped, may be done in part: it is to be undone whether it is begun again or not.
    if planned.get("elsewhere") and state in (FAILED, NOT_TAKEN_BACK):
        return dict(step, state=WAITING, perhaps_done=True)  # its time begins when others hear of it
    return dict(step, state=BEGUN, tries=step["tries"] + 1) if state in (FAILED, NOT_TAKEN_BACK) else dict(step)


def in_order(steps: Sequence[Step]) -> List[Step]:
    """The steps of a call in the order of a mark: what recovering is to end with comes first, the last one first."""
    last = [step for kind in CLOSING_HOOKS for step in steps if step["type"] == kind]
    return [*reversed(last), *(step for step in steps if step["type"] not in CLOSING_HOOKS)]


def ours(step: Step, initial: Optional[Mapping[str, Any]]) -> Optional[Step]:
    """The step as far as it is ours to do and to undo, by the initial state; None when nothing of it is."""
    return type_of(step["type"]).before(step, initial) if initial else step


def _preparing(marked: Sequence[Marked], plan: Mapping[str, Step]) -> Move:
    for entry in reversed(marked):
        if entry["state"] == TAKING_BACK and entry["key"] in plan:
            return _move(CHECK, entry, plan, "undo")
    for entry in marked:
        state = entry["state"]
        if state == DONE:
            continue
        if state == FAILED:
            return Move(STUCK, entry["key"], "do", _failure(entry, plan))
        if entry["key"] not in plan:
            return Move(STUCK, entry["key"], "do", f"{_named(entry)} can't be done: {_gone(entry)}")
        return _move(CHECK if state == BEGUN else BEGIN, entry, plan, "do")
    return Move(FINISHED, direction="do")


def _recovering(marked: Sequence[Marked], plan: Mapping[str, Step]) -> Move:
    left = []
    for entry in reversed(marked):
        state = entry["state"]
        if not is_to_undo(entry):
            continue
        if state == NOT_TAKEN_BACK:
            left.append(_failure(entry, plan))
        elif entry["key"] not in plan:
            if entry["unwords"]:
                left.append(f"{_named(entry)} was not undone: {_gone(entry)}")
        elif state == TAKING_BACK:
            return _move(CHECK, entry, plan, "undo")
        elif state == BEGUN and not plan[entry["key"]].get("elsewhere"):
            return _move(STOP, entry, plan, "do")
        elif state == BEGUN and type_of(entry["type"]).in_background:
            return _move(CHECK, entry, plan, "do")  # nobody can stop it, and its end would undo what undoes it
        else:
            return _move(BEGIN, entry, plan, "undo")
    return Move(STUCK, direction="undo", why=". ".join(left)) if left else Move(FINISHED, direction="undo")


def _gone(entry: Marked) -> str:
    return "this hook is no longer there" if type_of(entry["type"]).once else "the inventory no longer has this step"


def _move(what: str, entry: Marked, plan: Mapping[str, Step], direction: str) -> Move:
    step = plan[entry["key"]]
    narrowed = ours(step, entry.get("before"))
    words = "does" if direction == "do" else "undoes"
    if what == BEGIN and not (narrowed and narrowed[words]):
        return Move(SETTLE, entry["key"], direction, "left as it was before" if step[words] else "", step)
    return Move(what, entry["key"], direction, "", narrowed or step)


def _named(entry: Marked) -> str:
    words = listed(text for text in (entry["words"], entry["unwords"]) if text)
    return f"{entry['key']} ({words})" if words else str(entry["key"])


def _failure(entry: Marked, plan: Mapping[str, Step]) -> str:
    """Why a step failed, with where and when."""
    undone = entry["state"] == NOT_TAKEN_BACK
    kind = type_of(entry["type"])
    what = kind.undoing if undone else entry["type"]
    step = plan.get(entry["key"])
    if kind.once:
        where = f"hook {entry['key']}"
    else:
        where = f"step {step['number']} ({step['name']}), {what}" if step else f"{entry['key']}, {what}"
    return f"{where}: {entry['note']}{after(entry['seconds'])}"


def after(seconds: float) -> str:
    """How long a step took that failed; nothing of one that did not begin."""
    return f" (after {round(seconds, 1)} s)" if seconds else ""
