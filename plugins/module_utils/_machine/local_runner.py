# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps that the machine does itself, moved on by one call: begun, checked, ended, and noted in the mark.

Private to this collection.
"""

from typing import Any, Callable, Dict, Mapping, Optional

from .._clock import Clock, Deadline, Moment, iso_utc
from .._core.mark_view import seconds_since
from .._steps import sequence
from .._steps.sequence import Move
from .._steps.step_type import Step
from .._text import one_line
from . import step_runner
from .fence import Fence
from .mark import Mark, job_name
from .step_runner import Progress, RunnerFailed, StepRun, StepRunner

GRACE = 5.0  # seconds after its limit until a step that keeps its own is given up

Entry = Dict[str, Any]


class MarkEditor:
    """The mark as this call would have it. On the machine it stands as soon as it is kept.

    :arg run: whose call it is
    """

    def __init__(self, fence: Fence, run: str) -> None:
        self.mark: Mark = {}
        self._fence = fence
        self._run = run

    def change(self, **values: Any) -> None:
        self.mark = dict(self.mark, **values)

    def keep(self) -> None:
        self._fence.keep(self.mark)

    def entry(self, key: str) -> Entry:
        found: Entry = next(entry for entry in self.mark["steps"] if entry["key"] == key)
        return found

    def put(self, changed: Entry) -> None:
        self.change(steps=[changed if entry["key"] == changed["key"] else entry for entry in self.mark["steps"]])

    def begun(self, move: Move, request: Mapping[str, Any]) -> None:
        """It is about to be begun: one more try."""
        moment = self._fence.moment()
        entry = sequence.begun(self.entry(move.key), move.direction, iso_utc(moment.wall))
        self.put(dict(entry, tries=entry["tries"] + 1, by=self._run, **self._time(move, request, moment)))

    def time_anew(self, move: Move, request: Mapping[str, Any]) -> None:
        """From now on it has all of its time."""
        self.put(dict(self.entry(move.key), **self._time(move, request, self._fence.moment())))

    def lengthen(self, key: str, seconds: float) -> Entry:
        """Its time is longer by what went by before it was really begun."""
        entry = self.entry(key)
        self.put(dict(entry, limit=round(entry["limit"] + seconds, 1)))
        return self.entry(key)

    def note(self, move: Move, progress: Progress, elapsed: float) -> None:
        """What came of it so far."""
        entry = self.entry(move.key)
        refused = progress.state == step_runner.REFUSED
        state = (
            step_runner.FAILED
            if refused
            else progress.state
            if progress.state in (step_runner.DONE, step_runner.FAILED)
            else step_runner.PENDING
        )
        seconds = min(elapsed, entry["limit"] + GRACE)  # a reboot makes it infinite
        self.put(sequence.came(entry, move.direction, state, one_line(progress.note, 500), seconds, refused))

    def elapsed(self, key: str) -> float:
        return seconds_since(self.entry(key)["began"], self._fence.moment())

    def step_run(self, move: Move) -> StepRun:
        entry = self.entry(move.key)
        job = job_name(self.mark, entry, move.direction)
        limit, initial = entry["limit"], entry["before"] or {}
        return StepRun(
            move.step,
            move.direction,
            job,
            limit,
            self.elapsed(move.key),
            initial,
            min(entry.get("budget", limit), limit),
        )

    def _time(self, move: Move, request: Mapping[str, Any], moment: Moment) -> Entry:
        """From when on a step has how many seconds.

        Its limit is its own: a drain that ends late is better than one that is killed. The budget is what the event leaves it of that.
        """
        limit = budget = float(move.step["timeout" if move.direction == "do" else "undo_timeout"])
        if move.direction == "do":
            budget = min(limit, self._fence.left(request["left"]))
        if request.get("ends"):
            limit = budget
        return {
            "limit": round(limit, 1),
            "budget": round(budget, 1),
            "began": {"uptime": moment.uptime, "boot_id": moment.boot_id},
        }


PATIENCE = 0.5  # seconds that a call waits for one step that does not end at once
_FIRST_PAUSE, _LONGEST_PAUSE = 0.02, 0.1


class LocalRunner:
    """Moves steps on.

    :arg runner_of: the runner for a step, None where there is none
    """

    def __init__(
        self,
        marked: MarkEditor,
        fence: Fence,
        runner_of: Callable[[Step], Optional[StepRunner]],
        clock: Clock,
        until: Deadline,
    ) -> None:
        self._marked = marked
        self._fence = fence
        self._runner_of = runner_of
        self._clock = clock
        self._until = until

    def runner(self, step: Step) -> StepRunner:
        found = self._runner_of(step)
        if found is None:
            raise RunnerFailed(f"the machine program knows no way to do a step of type {step['type']} by itself")
        return found

    def go_on(self, move: Move, request: Mapping[str, Any]) -> bool:
        """One step; whether it has come further."""
        marked = self._marked
        progress = self._acted(move, request)
        is_stopped = move.what == sequence.STOP
        # What runs goes on to its own limit; only what role drain does by itself is ended with the time for all of it.
        idle = progress.state in (step_runner.ABSENT, step_runner.AGAIN)
        ends = idle or bool(request.get("ends"))
        over = move.what == sequence.CHECK and ends and self.is_over(move, request)
        if progress.state == step_runner.CUT_OFF and (bool(request.get("ends")) or self.is_over(move, request)):
            progress = progress._replace(state=step_runner.FAILED)  # nobody comes to do it again, or not in time
        if over and (idle or progress.state == step_runner.PENDING):  # what is late must not begin after all
            progress, is_stopped = self._fenced(move, "stop"), True
        # What was under way when this call came is not waited for, but its end is.
        waits = PATIENCE if is_stopped or move.what != sequence.CHECK else 0.0
        patience = Deadline(self._clock, min(request.get("waits", waits), self._until.remaining()))
        pause = _FIRST_PAUSE
        while progress.state == step_runner.PENDING and not patience.passed():
            self._clock.sleep(min(pause, patience.remaining()))
            pause = min(2 * pause, _LONGEST_PAUSE)
            progress = self._asked(move, "check")
        elapsed = marked.elapsed(move.key)
        if is_stopped:  # it has only so much time left as it takes to end, and until then nothing else is begun
            entry = marked.entry(move.key)
            marked.put(dict(entry, limit=min(entry["limit"], round(elapsed, 1))))
        limit, said = marked.entry(move.key)["limit"], marked.entry(move.key)["note"]
        late = f"it did not end within its {limit:g} s"
        if progress.state == step_runner.PENDING and elapsed > limit + GRACE:
            progress = self._fenced(move, "stop")
            if progress.state == step_runner.PENDING and (is_stopped or elapsed > limit + 2 * GRACE):
                progress = Progress(step_runner.FAILED, "it could not be ended" if is_stopped else late)
            elif not is_stopped:  # until it has ended nothing is begun, nor is it undone
                progress = progress._replace(note=late)
        elif said == late and progress.state == step_runner.FAILED:
            progress = progress._replace(note=late)
        elif over and is_stopped and progress.state in (step_runner.FAILED, step_runner.ABSENT):
            progress = Progress(step_runner.FAILED, "the time that was left is used up")
        if move.what == sequence.STOP and progress.state != step_runner.PENDING:
            # Stopped on purpose or ended by itself: perhaps done, and undone next.
            progress = Progress(step_runner.FAILED, progress.note or "stopped before its end")
        marked.note(move, progress, elapsed)
        return progress.state in (step_runner.DONE, step_runner.FAILED, step_runner.REFUSED)

    def _acted(self, move: Move, request: Mapping[str, Any]) -> Progress:
        if move.what == sequence.STOP:
            return self._fenced(move, "stop")
        if move.what == sequence.BEGIN:
            self._marked.begun(move, request)
            return self._fenced(move, "begin")
        progress = self._asked(move, "check")
        if progress.state not in (step_runner.ABSENT, step_runner.AGAIN):
            return progress
        if self.is_over(move, request):
            return progress
        if progress.state == step_runner.ABSENT:
            # nor has its time begun, which a start of the machine would have used up
            self._marked.time_anew(move, request)
        if request.get("no_new_steps"):
            return Progress(step_runner.PENDING, progress.note)
        return self._fenced(move, "begin")

    def _fenced(self, move: Move, what: str) -> Progress:
        """What changes something: the mark says so first, and it is still ours while it happens."""
        step_run = self._marked.step_run(move)  # asks for the time, and the lock is for moments
        with self._fence.held():
            if what == "begin":
                self._fence.check_time()
            self._marked.keep()
            if what == "begin":  # a slow disk may have held that up; the next call finds that it has not begun
                self._fence.check_time()
            return self._asked(move, what, step_run)

    def _asked(self, move: Move, what: str, step_run: Optional[StepRun] = None) -> Progress:
        """What the runner says; whatever goes wrong in it is the step's failure."""
        try:
            progress: Progress = getattr(self.runner(move.step), what)(step_run or self._marked.step_run(move))
        except Exception as error:
            return Progress(step_runner.FAILED, words_of(error))
        return progress

    def is_over(self, move: Move, request: Mapping[str, Any]) -> bool:
        """Whether the time is used up in which the machine was to be prepared: nothing more is begun."""
        return move.direction == "do" and self._fence.left(request["left"]) <= 0


def words_of(error: Exception) -> str:
    return one_line(error, 500) or type(error).__name__
