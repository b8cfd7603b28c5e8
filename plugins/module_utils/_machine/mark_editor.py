# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A mark's steps while one call goes on with them.

Private to this collection.
"""

from typing import Any, Dict, Mapping

from .._clock import iso_utc
from .._core.lease import Moment, since
from .._steps import sequence
from .._steps.sequence import Move
from .._text import one_line
from . import step_runner
from .fence import Fence
from .mark import job_name
from .step_runner import Progress, StepRun
from .store_interface import Mark

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
        return since(self.entry(key)["began"], self._fence.moment())

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
