# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A step runner whose work is a job: it goes on by itself, and ends at its limit.

Private to this collection.
"""

import getpass
import math
import os
from typing import Any, Callable, Dict

from .._clock import Clock, Deadline
from .._steps.step_type import Step, Verdict, exit_words, kept_back
from .._steps.types import type_of
from . import step_runner
from .jobs import ABSENT as NEVER_BEGUN
from .jobs import CUT_OFF, RUNNING, Jobs, Seen
from .platform import native
from .step_runner import ABSENT, DONE, FAILED, PENDING, JobFailed, Progress, RunnerFailed, StepRun, StepRunner
from .supervisor import Work

LAST_WORDS = 1.0
"""Seconds that work which watches its limit itself has beyond it, to say what it last saw."""

_POLL_EVERY = 0.02

_CUT_OFF = (
    "it was interrupted: the machine was rebooted meanwhile, its disk had no room for the result, or something killed it, "
    + native.KILLED_BY
)


class JobRunner(StepRunner):
    """How a type of step is done as a job.

    :arg user: as whom Ansible connects to this machine; steps with ``become: false`` run as this user
    """

    beyond = 0.0
    """Seconds beyond its limit that the work may take to end by itself."""

    def __init__(self, jobs: Jobs, user: str = "") -> None:
        self._jobs = jobs
        self._user = user

    def work(self, step_run: StepRun) -> Work:
        """What the process of the job does."""
        raise NotImplementedError

    def judged(self, step_run: StepRun, result: Dict[str, Any]) -> Progress:
        """What it means that a program, which the job became, ended by itself."""
        return Progress(DONE) if result["rc"] == 0 else Progress(FAILED, exit_words(result))

    def lacks(self, step: Step) -> str:
        try:
            self.as_user(step)
        except JobFailed as error:
            return str(error)
        return super().lacks(step)

    def begin(self, step_run: StepRun) -> Progress:
        try:
            self.launch(step_run)
        except JobFailed as error:
            return error.progress()
        return self.check(step_run)

    def launch(self, step_run: StepRun) -> None:
        """Begin its job.

        :raises JobFailed: when that can't be
        """
        quiet = bool(step_run.step.get("no_log"))
        user = self.as_user(step_run.step)
        self._jobs.begin(step_run.job, self.work(step_run), step_run.limit + self.beyond, user, quiet, step_run)

    def checked(self, step: Step, within: float) -> Dict[str, Any]:
        """How the check of a step has ended, run as a job of which nothing is left.

        :raises RunnerFailed: when it could not be run, or was not over in time
        """
        step_run = StepRun(step, "check", f"check{os.urandom(8).hex()}", within, 0.0, {})
        try:
            return self._result(step_run)
        except JobFailed as error:
            raise RunnerFailed(f"its check gave no answer: {error}") from error

    def _result(self, step_run: StepRun) -> Dict[str, Any]:
        self.launch(step_run)
        deadline = Deadline(Clock(), step_run.limit)
        job = self._jobs.poll(step_run.job)
        while job.state in (NEVER_BEGUN, RUNNING) and not deadline.passed():
            Clock().sleep(min(_POLL_EVERY, deadline.remaining()))
            job = self._jobs.poll(step_run.job)
        if job.state in (NEVER_BEGUN, RUNNING):
            self._jobs.stop(step_run.job)
        else:
            self._jobs.forget(step_run.job)
        if job.state in (NEVER_BEGUN, RUNNING) or job.result.get("timed_out"):
            raise JobFailed(f"it did not end within {step_run.limit:.1f} s")
        if job.state == CUT_OFF or job.result["stopped"] or job.result["problem"]:
            raise JobFailed(self.seen(step_run, job).note)
        return job.result

    def check(self, step_run: StepRun) -> Progress:
        return self.seen(step_run, self._jobs.poll(step_run.job))

    def seen(self, step_run: StepRun, job: Seen) -> Progress:
        """What it means that its job was found like this."""
        state, result = job
        if state == NEVER_BEGUN:
            return Progress(ABSENT)
        if state == RUNNING:
            return Progress(PENDING)
        if state == CUT_OFF:
            return Progress(step_runner.CUT_OFF if _is_repeatable(step_run) else FAILED, _CUT_OFF)
        if result["stopped"]:
            return Progress(FAILED, "it was ended before it was over")
        if result["timed_out"]:
            return Progress(FAILED, _too_long(step_run))
        if result["problem"]:
            return Progress(FAILED, kept_back() if step_run.step.get("no_log") else result["problem"])
        if result["answer"]:
            return Progress(result["answer"]["state"], result["answer"]["note"])
        return self.judged(step_run, result)

    def stop(self, step_run: StepRun) -> Progress:
        self._jobs.stop(step_run.job)
        return self.check(step_run)

    def as_user(self, step: Step) -> str:
        """The user that a step runs as; "" for the one that this program has."""
        become = step.get("become")
        if become and not native.is_root():
            raise JobFailed(
                f"the step has become: true, and Ansible runs this as user {getpass.getuser()}, not as root: "
                "set ansible_become to true, or leave become out of the step"
            )
        if become is not False:
            return ""
        user = self._user or native.who_logged_in()
        if not user and native.is_root():
            raise JobFailed(
                "the step has become: false, and as whom Ansible connects is not known here: set ansible_user"
            )
        return user


def encoded(text: str) -> bytes:
    """The text as the system gets it: before Python 3.7 it would refuse what the locale C has no letters for."""
    return text.encode("utf-8", "surrogateescape")


def answer(state: str, note: str = "") -> Dict[str, Any]:
    """What work returns that says itself what came of it."""
    return {"state": state, "note": note}


def poll_until_done(interval: float, limit: float, poll: Callable[[float], Verdict]) -> Verdict:
    """Poll until there is no more to wait for, or no time for another poll.

    :arg poll: gets the seconds that are left
    """
    clock = Clock()
    deadline = Deadline(clock, limit)
    while True:
        verdict = poll(deadline.remaining())
        if verdict.done or deadline.remaining() <= interval:
            return verdict
        clock.sleep(interval)


def answer_to(verdict: Verdict, secret: bool = False) -> Dict[str, Any]:
    """What work returns after its last poll.

    :arg secret: whether its words are to be kept back
    """
    if verdict.problem:
        return answer(FAILED, kept_back() if secret else verdict.problem)
    return answer(DONE, "" if secret else verdict.note)


def _is_repeatable(step_run: StepRun) -> bool:
    """Whether a start of the machine has ended what takes it out of service, and that may be begun once more."""
    return step_run.direction == "do" and math.isinf(step_run.elapsed) and type_of(step_run.step["type"]).repeatable


def _too_long(step_run: StepRun) -> str:
    own = step_run.step["timeout" if step_run.direction == "do" else "undo_timeout"]
    if step_run.limit < own:
        return f"it did not end within the {round(step_run.limit, 1):g} s that were left for it"
    return f"it did not end within its {round(own, 1):g} s"
