# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A machine's outage, from its mark to no mark: taken out of service and recovered, a little in each call.

Private to this collection.

What comes next is :mod:`.._steps.sequence`'s to say, and how it is done on this machine its step runners'. Here it is made sure
that the mark says what is begun before it is begun, that nobody acts who has been overtaken, and that a call ends in time.

Where a program is ended at any instant, the next call goes on by the mark: what is begun by it may have been begun or
not, which the runner's job tells; what has ended and is not noted is asked about once more.
"""

import math
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence

from .._clock import Clock, Deadline
from .._core.mark_view import LEASE, prepared_under
from .._core.second_look import UNKNOWN
from .._steps import sequence
from .._steps.sequence import BEGUN, WAITING, Move, is_to_undo
from .._steps.step_type import Step, StepType, named
from .._steps.types import CLOSING_HOOKS, PREPARE_HOOK, type_of
from .._text import clause, listed, one_line
from . import step_looks, step_runner
from .fence import Fence
from .local_runner import Entry, LocalRunner, MarkEditor, words_of
from .mark import Busy, Fenced, NotWritten, TooLate, first_mark, held_by, mark_step, merged
from .step_looks import Looked
from .step_runner import Progress, StepRunner

BUDGET = 3.0  # seconds in which one call goes from step to step
START = 60.0  # seconds that must be left beside its steps for the end of the machine's start to be waited for
_ELSEWHERE = 30.0  # seconds after its limit until a step that others do is given up: they check once a tick


class Outage:
    """One machine's outage as one call sees it.

    :arg call: its options, and its steps as the plan has them
    :arg runner_of: the runner for a step, None where there is none
    :arg has_started: whether the machine's start is over; asked only where what it has undone is to be done again
    """

    def __init__(
        self,
        call: Mapping[str, Any],
        fence: Fence,
        runner_of: Callable[[Step], Optional[StepRunner]],
        clock: Clock,
        has_started: Callable[[], bool] = lambda: True,
    ) -> None:
        self._steps = sequence.in_order(call["steps"])
        self._call = call
        self._plan: Dict[str, Step] = {step["key"]: step for step in self._steps}
        self._fence = fence
        self._clock = clock
        self._until = Deadline(clock, BUDGET)
        self._marked = MarkEditor(fence, call["options"]["run"])
        self._here = LocalRunner(self._marked, fence, runner_of, clock, self._until)
        self._has_started = has_started
        self._taken_from = ""
        self._looked: Optional[Looked] = None

    def go(self, request: Mapping[str, Any]) -> Dict[str, Any]:
        """Go on towards "prepared" or "recovered", and say how far it is.

        :arg request: beside what every request to go on has, such as ``left``, the seconds after which nothing more is begun to prepare the
            machine: ``waits``, seconds in which what is under way is waited for; ``ends``, what runs is ended then, too; ``restore``, the
            mark that the machine has lost with its disk, as the run knows it; from a watcher: ``note``, kept in the mark; ``no_new_steps``,
            only what runs goes on; ``parallel``, all hooks that wait are begun side by side; ``redo_after_reboot``, the machine was
            rebooted by nobody's event, and what is done and no hook is done again; ``replace_outage``, where the mark says that the machine
            is being recovered, or was in part, another outage begins: what is being undone is stopped; ``retry_hooks``, recovery hooks that
            failed are begun once more; ``looks``, what was done is looked at once more; ``only_marked``, nothing is done where the mark is gone
        """
        to = request["to"]
        try:
            self._fence.check_time()
            if self._fence.unreadable:
                return self._answer("refused", f"{self._fence.unreadable}. Nothing was done.")
            if self._fence.not_renewed:
                raise self._fence.not_renewed
            if request.get("restore") and not self._fence.mark:
                self._restore(request["restore"], request)
            if self._fence.mark:
                self._taken_from = self._fence.claim(
                    request.get("take") or "", bool(request.get("forced")), request.get("lease", LEASE)
                )
                self._marked.mark = self._fence.mark
                if not self._replaces(request):  # else it is the note of an outage that is not there yet
                    self._marked.change(**_note_of(request))
            answer = self._prepare(request) if to == "prepared" else self._recover(request)
        except TooLate as error:
            self._marked.mark = self._fence.mark or {}
            return self._answer("skipped", str(error))
        except Fenced as error:
            self._marked.mark = self._fence.mark or {}
            return self._answer("refused", str(error))
        except Busy as error:
            return self._answer("preparing" if to == "prepared" else "recovering", str(error))
        except NotWritten as error:
            begun = "" if self._fence.mark else " Nothing was started."
            return self._answer("failed" if to == "prepared" else "half", f"{error}.{begun}")
        return answer

    def why_in_service(self) -> str:
        """What of the machine's own steps does not stand any more, or could not be looked at, as a clause; "" when all of it does."""
        here = {key: step for key, step in self._plan.items() if not step["elsewhere"]}
        marked = (self._fence.mark or {}).get("steps", ())
        asking = Deadline(self._clock, step_looks.WITHIN)
        return step_looks.look(marked, here, self._here.runner, asking, (), {}, {}).words

    def _restore(self, mark: Mapping[str, Any], request: Mapping[str, Any]) -> None:
        """What was done elsewhere is still to be undone: that must not go with the machine's disk."""
        lease = request.get("lease", LEASE)
        self._fence.create(held_by(dict(mark), self._call["options"], self._fence.moment(), lease))

    # --- the beginning of each direction ---

    def _prepare(self, request: Mapping[str, Any]) -> Dict[str, Any]:
        if not self._fence.mark and request.get("only_marked"):
            return self._answer(
                "refused", "The machine is not marked any more, so nothing is looked at, and nothing was done."
            )
        if not self._fence.mark and request.get("no_new_steps"):
            return self._answer("refused", "The machine is not marked, and nothing new may be started.")
        if not self._fence.mark and self._fence.left(request["left"]) <= 0:
            return self._answer("failed", "There is no time left to prepare the machine. Nothing was started.")
        events = request.get("events") or ()
        if self._marked.mark:
            events = self._fence.joining(events, bool(request.get("no_new_steps")))
        if self._replaces(request) and not self._has_replaced(request):
            return self._under_way("prepared")
        known = {entry["key"] for entry in self._marked.mark.get("steps", ())}
        new = [step for step in self._steps if step["key"] not in known and step["type"] not in CLOSING_HOOKS]
        if new and not request.get("no_new_steps"):
            initial_states: Dict[str, step_runner.InitialState] = {}
            ask = []
            asking = Deadline(self._clock, step_looks.WITHIN)
            for step in sorted(new, key=lambda one: type_of(one["type"]).asks_slowly):
                if not step["elsewhere"]:
                    try:
                        initial_states[step["key"]] = step_looks.state_here(step, self._here.runner, asking)
                    except Exception as error:  # whatever it is, the initial state is not known
                        return self._unknown(step, words_of(error))
                elif step["key"] in (request.get("before") or {}):
                    initial_states[step["key"]] = request["before"][step["key"]]
                elif step["key"] in (request.get("outcomes") or {}):
                    return self._unknown(step, one_line(request["outcomes"][step["key"]].get("note"), 500))
                elif _has_case(type_of(step["type"])):
                    ask.append(step["key"])
            if ask:
                return self._answer("preparing", "", ask=ask)
            self._add(new, initial_states, request)
        elif not self._marked.mark:  # no steps at all
            self._add((), {}, request)
        if request.get("redo_after_reboot") and self._fence.moment().boot_id != prepared_under(self._marked.mark):
            needs = sum(step["timeout"] for step in self._steps)
            if request["left"] > needs + START and not self._has_started():
                return self._under_way(
                    "prepared"
                )  # what it is still starting would only be stopped to be started by it
            self._begin_again()
        mark = self._marked.mark
        self._marked.change(
            events=merged(mark["events"], events),
            phase="prepared" if mark["phase"] == "prepared" else "preparing",
        )
        return self._advance(request)

    def _replaces(self, request: Mapping[str, Any]) -> bool:
        return bool(request.get("replace_outage")) and self._marked.mark.get("phase") in ("recovering", "half")

    def _has_replaced(self, request: Mapping[str, Any]) -> bool:
        """Begin another outage with what the recovery has left; False while what it has under way has not ended."""
        moves = sequence.to_stop(self._marked.mark["steps"], self._plan)
        ended = [self._here.go_on(move, request) for move in moves]
        if not all(ended):
            return False
        steps = sequence.turned_round(self._marked.mark["steps"], self._plan)
        self._marked.change(steps=steps, phase="preparing", **_note_of(request))
        return True

    def _unknown(self, step: Step, why: str) -> Dict[str, Any]:
        return self._answer(
            "failed",
            f"Could not determine the initial state of {named(step)}: {clause(why, 500)}. The step was not started.",
        )

    def _add(
        self, new: Sequence[Step], initial_states: Mapping[str, step_runner.InitialState], request: Mapping[str, Any]
    ) -> None:
        """Steps that the mark does not have yet; and the mark, where there is none."""
        if not self._marked.mark:
            self._create(new, initial_states, request, "preparing", WAITING)
            return
        moment = self._fence.moment()
        entries = {entry["key"]: entry for entry in self._marked.mark["steps"]}
        entries.update({step["key"]: mark_step(step, initial_states.get(step["key"]), moment) for step in new})
        # What the inventory has dropped and nothing was done of is dropped here, too.
        kept = [
            key for key in entries if key in self._plan or entries[key]["state"] != WAITING or is_to_undo(entries[key])
        ]
        order = [key for key in self._plan if key in entries] + [key for key in kept if key not in self._plan]
        self._marked.change(steps=[entries[key] for key in order], phase="preparing")

    def _create(
        self,
        steps: Sequence[Step],
        initial_states: Mapping[str, step_runner.InitialState],
        request: Mapping[str, Any],
        phase: str,
        state: str,
    ) -> None:
        """The first mark."""
        lease, moment = request.get("lease", LEASE), self._fence.moment()
        call = dict(self._call, steps=steps)
        mark = dict(
            first_mark(call, request.get("events") or (), lease, initial_states, moment),
            phase=phase,
            **_note_of(request),
        )
        mark["steps"] = [dict(entry, state=state) for entry in mark["steps"]]
        (self._fence.create if phase == "recovering" else self._fence.create_first)(mark)
        self._marked.mark = mark

    def _begin_again(self) -> None:
        """What the machine's start has undone is done again: once after each start."""
        boot_id = self._fence.moment().boot_id
        marked = self._marked.mark["steps"]
        begun_since = [entry["key"] for entry in marked if self._is_own(entry) and entry["began"]["boot_id"] == boot_id]
        steps = sequence.done_again(marked, begun_since)
        self._marked.change(again=boot_id, steps=steps, phase="preparing")

    def _is_own(self, entry: Entry) -> bool:
        """Whether the machine does this step itself."""
        return not self._plan.get(entry["key"], {}).get("elsewhere")

    def _recover(self, request: Mapping[str, Any]) -> Dict[str, Any]:
        mark = self._marked.mark
        if not mark:
            if not request.get("unmarked"):
                return self._answer("recovered", "The machine is not marked: nothing was done to it.")
            # Nobody has written down what was done: all of it counts as done, and as ours.
            self._create(self._steps, {}, request, "recovering", sequence.DONE)
        elif mark["phase"] == "half" and not request.get("no_new_steps"):
            retry_hooks = bool(request.get("retry_hooks"))
            self._marked.change(steps=sequence.tried_again(mark["steps"], self._plan, retry_hooks))
        self._marked.change(phase="recovering", steps=[*self._closing(), *self._marked.mark["steps"]])
        return self._advance(request)

    def _closing(self) -> List[Entry]:
        """What a recovery ends with does not depend on what was done before it."""
        known = {entry["key"] for entry in self._marked.mark["steps"]}
        new = [step for step in self._steps if type_of(step["type"]).closing and step["key"] not in known]
        moment = self._fence.moment()
        return [dict(mark_step(step, None, moment), state=sequence.DONE) for step in new]

    # --- from step to step ---

    def _advance(self, request: Mapping[str, Any]) -> Dict[str, Any]:
        self._give_time_anew(request)
        done_before = [entry["key"] for entry in self._marked.mark["steps"] if entry["state"] == sequence.DONE]
        self._take_outcomes(request.get("outcomes") or {})
        to, no_new_steps = request["to"], bool(request.get("no_new_steps"))
        if to == "prepared":
            self._side_by_side(request)
        while True:
            move = sequence.next_move(self._marked.mark["steps"], self._plan, to)
            if move.what == sequence.FINISHED:
                if to == "prepared" and self._is_back_in_service(request, done_before):
                    continue
                return self._finished(to)
            if move.what == sequence.STUCK:
                return self._ended("failed" if to == "prepared" else "half", move.why, "half")
            if move.what == sequence.SETTLE:
                self._marked.note(move, Progress(step_runner.DONE, move.why), 0.0)
                continue
            if move.what == sequence.BEGIN:
                if self._here.is_over(move, request):
                    why = f"The time that was left is used up before {named(move.step)} could begin"
                    return self._ended("failed", why, "half")
                if no_new_steps or self._until.passed():
                    return self._under_way(to)
            if move.elsewhere:
                return self._elsewhere(move, request)
            if not self._here.go_on(move, request):
                return self._under_way(to)

    def _is_back_in_service(self, request: Mapping[str, Any], done_before: Sequence[str]) -> bool:
        """The second look, once in a call: whether somebody has put back what was done, which is then to be done again.

        What a start of the machine has put back is done again by a rule of its own.
        """
        if (
            self._looked
            or not request.get("looks")
            or self._fence.moment().boot_id != prepared_under(self._marked.mark)
        ):
            return False
        steps: List[Entry] = self._marked.mark["steps"]
        self._looked = step_looks.look(
            steps,
            self._plan,
            self._here.runner,
            Deadline(self._clock, step_looks.WITHIN),
            {entry["key"] for entry in steps}.difference(done_before),
            request.get("before") or {},
            request.get("outcomes") or {},
        )
        if not self._looked.back:
            return False
        self._marked.change(steps=sequence.back_in_service(steps, self._looked.back), phase="preparing")
        return True

    def _side_by_side(self, request: Mapping[str, Any]) -> None:
        """Hooks that do not wait for each other: all of them that wait are begun, all that are under way are checked."""
        moves = [
            Move(sequence.CHECK, entry["key"], "do", step=self._plan[entry["key"]])
            for entry in self._marked.mark["steps"]
            if entry["type"] == PREPARE_HOOK.name and entry["key"] in self._plan
        ]
        if request.get("parallel") and not request.get("no_new_steps") and self._fence.left(request["left"]) > 0:
            for move in moves:
                if self._marked.entry(move.key)["state"] == WAITING:
                    self._marked.begun(move, request)
        under_way = [move for move in moves if self._marked.entry(move.key)["state"] == BEGUN]
        if len(under_way) > 1:  # by a call that was made at once, this one or an earlier one
            for move in under_way:
                self._here.go_on(move, request)

    def _elsewhere(self, move: Move, request: Mapping[str, Any]) -> Dict[str, Any]:
        """What others are to do: the mark says so before they hear of it."""
        first = move.what == sequence.BEGIN
        if first:
            self._fence.check_time()
            self._marked.begun(move, request)
        self._marked.keep()
        return self._under_way(
            request["to"],
            {
                "key": move.key,
                "direction": move.direction,
                "begun": first,
                "no_new_steps": bool(request.get("no_new_steps")),
                "begins": max(0.0, round(self._fence.left(request["left"]), 1)),
                "left": max(0.0, round(self._marked.entry(move.key)["limit"] - self._marked.elapsed(move.key), 1)),
            },
        )

    def _give_time_anew(self, request: Mapping[str, Any]) -> None:
        """Others go on with a step while the machine is restarted, by whose clock its time is counted."""
        for entry in self._marked.mark["steps"]:
            step = self._plan.get(entry["key"])
            direction = sequence.UNDER_WAY.get(entry["state"])
            if step and step["elsewhere"] and direction and math.isinf(self._marked.elapsed(entry["key"])):
                self._marked.time_anew(Move(sequence.CHECK, entry["key"], direction, step=step), request)

    def _take_outcomes(self, outcomes: Mapping[str, Mapping[str, Any]]) -> None:
        """What came of the steps that others do, as far as they were under way when this call came."""
        for key, outcome in outcomes.items():
            entry = next((entry for entry in self._marked.mark["steps"] if entry["key"] == key), None)
            if not entry or entry["state"] not in sequence.UNDER_WAY:
                continue
            direction = sequence.UNDER_WAY[entry["state"]]
            if outcome.get("direction", direction) != direction:
                continue
            if outcome.get("late"):
                entry = self._marked.lengthen(key, float(outcome["late"]))
            elapsed = self._marked.elapsed(key)
            progress = Progress(str(outcome["state"]), one_line(outcome.get("note"), 500))
            # What was seen while it had time left may be over by now: it is checked once more.
            is_used_up = elapsed >= entry["limit"] + _ELSEWHERE and not outcome.get("left")
            if progress.state == step_runner.PENDING and is_used_up:
                progress = Progress(
                    step_runner.FAILED, progress.note or f"it did not end within its {entry['limit']:g} s"
                )
            self._marked.note(Move(sequence.CHECK, key, direction), progress, float(outcome.get("seconds", elapsed)))

    # --- answers ---

    def _finished(self, to: str) -> Dict[str, Any]:
        if to == "prepared":
            return self._ended("prepared", self._taken(), "prepared", self._looked.ask if self._looked else ())
        self._marked.keep()
        self._fence.remove()
        return self._answer("recovered", self._taken())

    def _ended(self, state: str, why: str, phase: str, ask: Sequence[str] = ()) -> Dict[str, Any]:
        self._marked.change(phase=phase)
        self._marked.keep()
        return self._answer(state, why, ask=ask)

    def _under_way(self, to: str, elsewhere: Optional[Mapping[str, Any]] = None) -> Dict[str, Any]:
        self._marked.keep()
        return self._answer("preparing" if to == "prepared" else "recovering", self._taken(), elsewhere)

    def _taken(self) -> str:
        return f"The machine was taken over from {self._taken_from}" if self._taken_from else ""

    def _answer(
        self, state: str, why: str, elsewhere: Optional[Mapping[str, Any]] = None, ask: Sequence[str] = ()
    ) -> Dict[str, Any]:
        steps: List[Entry] = self._marked.mark.get("steps", [])
        looked = self._looked
        return {
            "state": state,
            "why": why,
            "ask": list(ask),
            "elsewhere": elsewhere,
            "steps": steps,
            "stands": looked.stands if looked and state == "prepared" else UNKNOWN,
            "unseen": listed(looked.unseen) if looked else "",
            "back": list(looked.back.values()) if looked else [],
        }


def _has_case(kind: StepType) -> bool:
    """Whether it matters to such a step the initial state."""
    return kind.before is not StepType._field_defaults["before"]


def _note_of(request: Mapping[str, Any]) -> Dict[str, Any]:
    """What whoever calls wants to find in the mark again."""
    return {"note": request["note"]} if "note" in request else {}
