# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A machine's outage, from its mark to no mark: taken out of service and put back, a little in each call.

Private to this collection.

What comes next is :mod:`.._steps.sequence`'s to say, and how it is done on this machine its hands'. Here it is made sure
that the mark says what is begun before it is begun, that nobody acts who has been overtaken, and that a call ends in time.

Where a program is ended at any instant, the next call goes on by the mark: what is begun by it may have been begun or
not, which the hand's job tells; what has ended and is not noted is asked about once more.
"""

from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence

from .._clock import Clock, Deadline, iso_utc
from .._steps import sequence
from .._steps.sequence import BEGUN, TAKING_BACK, WAITING, Move
from .._steps.step_type import Step, StepType
from .._steps.types import VERIFICATION, type_of
from .._text import one_line
from . import hand
from .fence import Fence
from .hand import Hand, HandFailed, Piece, Progress
from .lease import LEASE, since
from .mark import first_mark, job_name, mark_step, merged
from .places import Busy, Fenced, Mark, NotWritten

BUDGET = 3.0  # seconds in which one call goes from step to step
PATIENCE = 0.5  # seconds that it waits for one step that does not end at once
CASES = 4.0  # and in which it asks what is the case before them: all that takes longer would be lost with the call
_FIRST_PAUSE, _LONGEST_PAUSE = 0.02, 0.1
_ELSEWHERE = 30.0  # seconds after its limit until a step that others do is given up: they look once a tick
_GRACE = 5.0  # seconds after its limit until a step that keeps its own is given up

Entry = Dict[str, Any]


class Outage:
    """One machine's outage as one call sees it.

    :arg call: its options, and its steps as the plan has them
    :arg hand_of: the hand for a step, None where there is none
    """

    def __init__(
        self, call: Mapping[str, Any], fence: Fence, hand_of: Callable[[Step], Optional[Hand]], clock: Clock
    ) -> None:
        self._call = call
        self._plan: Dict[str, Step] = {step["key"]: step for step in call["steps"]}
        self._fence = fence
        self._hand_of = hand_of
        self._clock = clock
        self._mark: Mark = {}
        self._taken_from = ""
        self._until = Deadline(clock, BUDGET)

    def go(self, request: Mapping[str, Any]) -> Dict[str, Any]:
        """Go on towards "prepared" or "recovered", and say how far it is."""
        to = request["to"]
        try:
            if self._fence.unreadable:
                return self._answer("refused", f"{self._fence.unreadable}. Nothing was done.")
            if self._fence.not_renewed:
                raise self._fence.not_renewed
            if self._fence.mark:
                self._taken_from = self._fence.claim(
                    request.get("take") or "", bool(request.get("forced")), request.get("lease", LEASE)
                )
                self._mark = self._fence.mark
            answer = self._prepare(request) if to == "prepared" else self._recover(request)
        except Fenced as error:
            self._mark = self._fence.mark or {}
            return self._answer("refused", str(error))
        except Busy as error:
            return self._answer("preparing" if to == "prepared" else "recovering", str(error))
        except NotWritten as error:
            begun = "" if self._fence.mark else " Nothing was begun."
            return self._answer("failed" if to == "prepared" else "half", f"{error}.{begun}")
        return answer

    # --- the beginning of each direction ---

    def _prepare(self, request: Mapping[str, Any]) -> Dict[str, Any]:
        if not self._fence.mark and request.get("still"):
            return self._answer("refused", "The machine bears no mark, and nothing new may be begun.")
        if not self._fence.mark and request["left"] <= 0:
            return self._answer("failed", "There is no time left to prepare the machine. Nothing was begun.")
        known = {entry["key"] for entry in self._mark.get("steps", ())}
        new = [step for step in self._call["steps"] if step["key"] not in known]
        if new and not request.get("still"):
            cases: Dict[str, hand.Case] = {}
            ask = []
            asking = Deadline(self._clock, CASES)
            for step in new:
                if not step["elsewhere"]:
                    try:
                        if asking.passed():
                            raise HandFailed(f"the {CASES:g} s are over in which the machine is asked for all of them")
                        cases[step["key"]] = self._hand(step).before(step)
                    except Exception as error:  # whatever it is, the case before is not known
                        return self._answer(
                            "failed",
                            f"What is the case before {_named(step)} can't be learned: {_words(error)}. "
                            "It was not begun.",
                        )
                elif step["key"] in (request.get("before") or {}):
                    cases[step["key"]] = request["before"][step["key"]]
                elif step["key"] in (request.get("outcomes") or {}):
                    why = one_line(request["outcomes"][step["key"]].get("note"), 500)
                    return self._answer(
                        "failed", f"What is the case before {_named(step)} can't be learned: {why}. It was not begun."
                    )
                elif _has_case(type_of(step["type"])):
                    ask.append(step["key"])
            if ask:
                return self._answer("preparing", "", ask=ask)
            self._add(new, cases, request)
        elif not self._mark:  # no steps at all
            self._add((), {}, request)
        self._mark = dict(
            self._mark,
            events=merged(self._mark["events"], request.get("events") or ()),
            phase="prepared" if self._mark["phase"] == "prepared" else "preparing",
        )
        return self._advance(request)

    def _add(self, new: Sequence[Step], cases: Mapping[str, hand.Case], request: Mapping[str, Any]) -> None:
        """Steps that the mark does not have yet; and the mark, where there is none."""
        moment = self._fence.moment()
        if not self._mark:
            mark = first_mark(self._call, request.get("events") or (), request.get("lease", LEASE), cases, moment)
            self._fence.create(mark)
            self._mark = mark
            return
        entries = {entry["key"]: entry for entry in self._mark["steps"]}
        entries.update({step["key"]: mark_step(step, cases.get(step["key"]), moment) for step in new})
        # What the inventory has dropped and nothing was done of is dropped here, too.
        kept = [key for key in entries if key in self._plan or entries[key]["state"] != WAITING]
        order = [key for key in self._plan if key in entries] + [key for key in kept if key not in self._plan]
        self._mark = dict(self._mark, steps=[entries[key] for key in order], phase="preparing")

    def _recover(self, request: Mapping[str, Any]) -> Dict[str, Any]:
        if not self._mark:
            if not request.get("unmarked"):
                return self._answer("recovered", "The machine bears no mark: nothing was done to it.")
            moment = self._fence.moment()
            mark = first_mark(self._call, request.get("events") or (), request.get("lease", LEASE), {}, moment)
            # Nobody has written down what was done: all of it counts as done, and as ours.
            mark["steps"] = [dict(entry, state=sequence.DONE) for entry in mark["steps"]]
            mark["phase"] = "recovering"
            self._fence.create(mark)
            self._mark = mark
        elif self._mark["phase"] == "half" and not request.get("still"):
            self._mark = dict(self._mark, steps=sequence.tried_again(self._mark["steps"]))
        self._mark = dict(self._mark, phase="recovering", steps=[*self._verifications(), *self._mark["steps"]])
        return self._advance(request)

    def _verifications(self) -> List[Entry]:
        """What the user has checked after a recovery does not depend on what was done before it."""
        known = {entry["key"] for entry in self._mark["steps"]}
        new = [step for step in self._call["steps"] if step["type"] == VERIFICATION.name and step["key"] not in known]
        moment = self._fence.moment()
        return [dict(mark_step(step, None, moment), state=sequence.DONE) for step in new]

    # --- from step to step ---

    def _advance(self, request: Mapping[str, Any]) -> Dict[str, Any]:
        self._take_outcomes(request.get("outcomes") or {})
        to, still = request["to"], bool(request.get("still"))
        while True:
            move = sequence.next_move(self._mark["steps"], self._plan, to)
            if move.what == sequence.FINISHED:
                return self._finished(to)
            if move.what == sequence.STUCK:
                return self._ended("failed" if to == "prepared" else "half", move.why, "half")
            if move.what == sequence.SETTLE:
                self._note(move, Progress(hand.DONE, move.why), 0.0)
                continue
            if move.what == sequence.BEGIN:
                if _is_over(move, request):
                    why = f"The time that was left is used up before {_named(move.step)} could begin"
                    return self._ended("failed", why, "half")
                if still or self._until.passed():
                    return self._under_way(to)
            if move.elsewhere:
                return self._elsewhere(move, request)
            if not self._local(move, request):
                return self._under_way(to)

    def _local(self, move: Move, request: Mapping[str, Any]) -> bool:
        """One step on this machine; whether it has come further."""
        progress = self._acted(move, request)
        over = move.what == sequence.CHECK and _is_over(move, request)
        is_stopped = move.what == sequence.STOP
        if over and progress.state == hand.PENDING:
            progress, is_stopped = self._fenced(move, "stop"), True
        # What was under way when this call came is not waited for, but its end is.
        waits = is_stopped or move.what != sequence.CHECK
        patience = Deadline(self._clock, min(PATIENCE, self._until.remaining()) if waits else 0)
        pause = _FIRST_PAUSE
        while progress.state == hand.PENDING and not patience.passed():
            self._clock.sleep(min(pause, patience.remaining()))
            pause = min(2 * pause, _LONGEST_PAUSE)
            progress = self._asked(move, "check")
        elapsed = self._elapsed(move.key)
        if is_stopped:  # it has only so much time left as it takes to end, and until then nothing else is begun
            self._put(dict(self._entry(move.key), limit=min(self._entry(move.key)["limit"], round(elapsed, 1))))
        limit = self._entry(move.key)["limit"]
        if progress.state == hand.PENDING and elapsed > limit + _GRACE:
            self._fenced(move, "stop")
            why = "it could not be ended" if is_stopped else f"it did not end within its {limit:g} s"
            progress = Progress(hand.FAILED, why)
        elif over and is_stopped and progress.state in (hand.FAILED, hand.ABSENT):
            progress = Progress(hand.FAILED, "the time that was left is used up")
        if move.what == sequence.STOP and progress.state != hand.PENDING:
            # Stopped on purpose or ended by itself: perhaps done, and taken back next.
            progress = Progress(hand.FAILED, progress.note or "stopped before its end")
        self._note(move, progress, elapsed)
        return progress.state in (hand.DONE, hand.FAILED)

    def _acted(self, move: Move, request: Mapping[str, Any]) -> Progress:
        if move.what == sequence.STOP:
            return self._fenced(move, "stop")
        if move.what == sequence.CHECK:
            progress = self._asked(move, "check")
            if progress.state != hand.ABSENT or request.get("still") or _is_over(move, request):
                return Progress(hand.PENDING) if progress.state == hand.ABSENT else progress
        else:
            self._mark_begun(move, request)
        return self._fenced(move, "begin")

    def _fenced(self, move: Move, what: str) -> Progress:
        """What changes something: the mark says so first, and it is still ours while it happens."""
        piece = self._piece(move)  # asks for the time, and the lock is for moments
        with self._fence.held():
            self._fence.keep(self._mark)
            return self._asked(move, what, piece)

    def _piece(self, move: Move) -> Piece:
        entry = self._entry(move.key)
        job = job_name(self._mark, entry, move.direction)
        return Piece(move.step, move.direction, job, entry["limit"], self._elapsed(move.key), entry["before"] or {})

    def _asked(self, move: Move, what: str, piece: Optional[Piece] = None) -> Progress:
        """What the hand says; whatever goes wrong in it is the step's failure."""
        try:
            progress: Progress = getattr(self._hand(move.step), what)(piece or self._piece(move))
        except Exception as error:
            return Progress(hand.FAILED, _words(error))
        return progress

    def _elsewhere(self, move: Move, request: Mapping[str, Any]) -> Dict[str, Any]:
        """What others are to do: the mark says so before they hear of it."""
        first = move.what == sequence.BEGIN
        if first:
            self._mark_begun(move, request)
        entry = self._entry(move.key)
        self._fence.keep(self._mark)
        return self._under_way(
            request["to"],
            {
                "key": move.key,
                "direction": move.direction,
                "begun": first,
                "left": max(0.0, round(entry["limit"] - self._elapsed(move.key), 1)),
            },
        )

    def _take_outcomes(self, outcomes: Mapping[str, Mapping[str, Any]]) -> None:
        """What came of the steps that others do, as far as they were under way when this call came."""
        for key, outcome in outcomes.items():
            entry = next((entry for entry in self._mark["steps"] if entry["key"] == key), None)
            if not entry or entry["state"] not in (BEGUN, TAKING_BACK):
                continue
            direction = "do" if entry["state"] == BEGUN else "undo"
            if outcome.get("direction", direction) != direction:
                continue
            elapsed = self._elapsed(key)
            progress = Progress(str(outcome["state"]), one_line(outcome.get("note"), 500))
            if progress.state == hand.PENDING and elapsed >= entry["limit"] + _ELSEWHERE:
                progress = Progress(hand.FAILED, progress.note or f"it did not end within its {entry['limit']:g} s")
            self._note(Move(sequence.CHECK, key, direction), progress, float(outcome.get("seconds") or elapsed))

    # --- the mark's steps ---

    def _entry(self, key: str) -> Entry:
        found: Entry = next(entry for entry in self._mark["steps"] if entry["key"] == key)
        return found

    def _put(self, changed: Entry) -> None:
        steps = [changed if entry["key"] == changed["key"] else entry for entry in self._mark["steps"]]
        self._mark = dict(self._mark, steps=steps)

    def _mark_begun(self, move: Move, request: Mapping[str, Any]) -> None:
        moment = self._fence.moment()
        limit = move.step["timeout"] if move.direction == "do" else move.step["undo_timeout"]
        if move.direction == "do":
            limit = min(limit, request["left"])
        entry = sequence.begun(self._entry(move.key), move.direction, iso_utc(moment.wall))
        began = {"uptime": moment.uptime, "boot_id": moment.boot_id}
        run = self._call["options"]["run"]
        self._put(dict(entry, limit=round(limit, 1), tries=entry["tries"] + 1, by=run, began=began))

    def _note(self, move: Move, progress: Progress, elapsed: float) -> None:
        entry = self._entry(move.key)
        state = progress.state if progress.state in (hand.DONE, hand.FAILED) else hand.PENDING
        seconds = min(elapsed, entry["limit"] + _GRACE)  # a reboot makes it infinite
        self._put(sequence.came(entry, move.direction, state, one_line(progress.note, 500), seconds))

    def _elapsed(self, key: str) -> float:
        return since(self._entry(key)["began"], self._fence.moment())

    def _hand(self, step: Step) -> Hand:
        found = self._hand_of(step)
        if found is None:
            raise HandFailed(f"the machine program knows no way to do a step of type {step['type']} by itself")
        return found

    # --- answers ---

    def _finished(self, to: str) -> Dict[str, Any]:
        if to == "prepared":
            return self._ended("prepared", self._taken(), "prepared")
        self._fence.keep(self._mark)
        self._fence.remove()
        return self._answer("recovered", self._taken())

    def _ended(self, state: str, why: str, phase: str) -> Dict[str, Any]:
        self._mark = dict(self._mark, phase=phase)
        self._fence.keep(self._mark)
        return self._answer(state, why)

    def _under_way(self, to: str, elsewhere: Optional[Mapping[str, Any]] = None) -> Dict[str, Any]:
        self._fence.keep(self._mark)
        return self._answer("preparing" if to == "prepared" else "recovering", self._taken(), elsewhere)

    def _taken(self) -> str:
        return f"The machine was taken over from {self._taken_from}" if self._taken_from else ""

    def _answer(
        self, state: str, why: str, elsewhere: Optional[Mapping[str, Any]] = None, ask: Sequence[str] = ()
    ) -> Dict[str, Any]:
        steps: List[Entry] = self._mark.get("steps", [])
        return {"state": state, "why": why, "ask": list(ask), "elsewhere": elsewhere, "steps": steps}


def _has_case(kind: StepType) -> bool:
    """Whether it matters to such a step what was the case before."""
    return kind.before is not StepType._field_defaults["before"]


def _is_over(move: Move, request: Mapping[str, Any]) -> bool:
    """Whether the time is used up in which the machine was to be prepared."""
    return move.direction == "do" and bool(request["left"] <= 0)


def _named(step: Step) -> str:
    return f"step {step['number']} ({step['name']})"


def _words(error: Exception) -> str:
    return one_line(error, 500) or type(error).__name__
