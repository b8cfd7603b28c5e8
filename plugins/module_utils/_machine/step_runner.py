# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a step runner is: that which does a step on this machine, a little at a time. And why one can't.

``step_runners.py`` and ``hook_runner.py`` have one for each type of step that the machine does itself. A step without a runner is done
elsewhere: by Ansible's modules, by another machine, by the user's own tasks.

Private to this collection.
"""

import math
from typing import Any, Dict, NamedTuple

from .._steps.step_type import Step

InitialState = Dict[str, Any]
"""What a step found before it changed anything. Its keys depend on the type."""

PENDING = "pending"  # under way
DONE = "done"
FAILED = "failed"  # and may have been done in part
ABSENT = "absent"  # nothing was ever begun under this name: the program was cut off before it could, and may begin now
REFUSED = "refused"  # it was not started, and can't be before somebody has put right what the note says
CUT_OFF = "cut off"  # a start of the machine ended it, and doing it once more does no harm: it may be done again with the others
AGAIN = "again"  # it asked for another try, and that may begin now, in what is left of its time


class Progress(NamedTuple):
    """How far a step is."""

    state: str
    note: str = ""  # for people: why it failed, what it went on despite, what it waits for


class StepRun(NamedTuple):
    """One direction of one step, of one outage."""

    step: Step  # its options, secrets among them
    direction: str  # do, undo; check, for the second look
    job: str  # its name: letters and digits, another one for each time that the step may be gone through
    limit: float  # seconds that it may take
    elapsed: float  # seconds since it was begun; infinite when the machine has been started anew since
    initial: InitialState  # as the mark has it
    budget: float = math.inf  # seconds of its limit, as far as its event leaves them: counted from when it was begun


class RunnerFailed(Exception):
    """A step runner can't do its work; the message says why, and what to do."""


class StepRunner:
    """How one type of step is done here. None of these waits: what takes its time is left running and asked about.

    `begin` is called with the machine's lock held and after the mark says so, at first and whenever `check` has said ABSENT
    (then with all of its time once more) or AGAIN. What it leaves running must hold none of the
    program's file descriptors, for the lock is one of them. A second `begin` of the same job starts nothing.
    """

    def before(self, step: Step) -> InitialState:
        """The initial state: what is there before anything is changed.

        :raises RunnerFailed: when that can't be determined; the machine is not taken out of service then
        """
        return {}

    def state(self, step: Step, within: float) -> Dict[str, Any]:
        """What the second look judges by, whether what was done still stands.

        :arg within: seconds that are left for it
        :raises RunnerFailed: when that can't be determined
        """
        return self.before(step)

    def lacks(self, step: Step) -> str:
        """Why the step could not be done now, as far as can be seen; "" when nothing speaks against it."""
        try:
            self.before(step)
        except RunnerFailed as error:
            return str(error)
        return ""

    def begin(self, step_run: StepRun) -> Progress:
        raise NotImplementedError

    def check(self, step_run: StepRun) -> Progress:
        raise NotImplementedError

    def stop(self, step_run: StepRun) -> Progress:
        """End what is still running of it, because its time is over or the event is gone; PENDING until it has ended."""
        return Progress(DONE)


class JobFailed(Exception):
    """Why a job can't be begun, in a sentence."""

    def progress(self) -> Progress:
        """What that means to the step."""
        return Progress(FAILED, str(self))


class NotBegun(JobFailed):
    """It was not started, and may be later: the system takes nothing on while it goes down."""

    def progress(self) -> Progress:
        return Progress(ABSENT, str(self))
