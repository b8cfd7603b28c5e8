# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hooks on this machine: a file is run, and run again when it asks for that.

Each try is a job of its own. What the jobs' folders say is all there is to know how often it was tried, and how each try ended:
so that whoever goes on with the outage goes on with that, too.

What a hook finds on the disk goes with the mark::

    hooks/NAME.json       what happened, for one try of one hook
    hooks/notes           where hooks leave notes for those after them, up to the recovery
    hooks/notes-USER      the same for those that run as another user: who can write there could mislead root's

Private to this collection.
"""

import os
import stat
from typing import Any, Dict, List, Mapping, Optional

from .._clock import Clock
from .._steps.hook import PHASE_OF, PREFIX, TRY_AGAIN, variables
from .._steps.step_type import Step, exit_words
from . import files, trust
from .job_runner import JobRunner
from .jobs import ABSENT as NEVER_BEGUN
from .jobs import CUT_OFF, OVER, Jobs, Seen
from .mark import HOOKS
from .platform import native
from .step_runner import ABSENT, AGAIN, FAILED, PENDING, REFUSED, JobFailed, Progress, StepRun
from .supervisor import Work

FIRST_PAUSE, LONGEST_PAUSE = 5.0, 60.0
"""Seconds until a hook that asks for another try gets it; each time twice as long."""


class HookRunner(JobRunner):
    """Runs a hook: one of prepare in the direction ``do``, one of recover in the direction ``undo``."""

    def __init__(self, jobs: Jobs, clock: Clock) -> None:
        super().__init__(jobs)
        self._files = HookFiles(os.path.dirname(jobs.folder))
        self._clock = clock

    def work(self, step_run: StepRun) -> Work:
        path, environment = step_run.step["path"], step_run.step["environment"]

        def run() -> Dict[str, Any]:
            os.chdir("/")
            os.umask(0o022)
            native.set_environment(environment)
            return native.become(native.argv_of(path))

        return run

    def lacks(self, step: Step) -> str:
        return trust.unfit(step["path"]) or super().lacks(step)

    def begin(self, step_run: StepRun) -> Progress:
        """The first try, or the next one."""
        tries = self._tries(step_run)
        if tries and self._seen(step_run, tries).state not in (ABSENT, AGAIN):
            return self._seen(step_run, tries)
        refusal = step_run.step.get("refused") or trust.unfit(step_run.step["path"])
        if refusal:
            if tries:  # it asked for another one, or was cut off
                return Progress(FAILED, f"it was not run again: {refusal}")
            return Progress(REFUSED, f"it was not run: {refusal}")
        try:
            self.launch(self._ready(step_run, len(tries) + 1))
        except OSError as error:
            return Progress(FAILED, f"its files can't be written: {error.strerror}")
        except JobFailed as error:
            return error.progress()
        return self.check(step_run)

    def check(self, step_run: StepRun) -> Progress:
        return self._seen(step_run, self._tries(step_run))

    def stop(self, step_run: StepRun) -> Progress:
        tries = self._tries(step_run)
        waits = bool(tries) and _asks(tries[-1])
        self._jobs.stop(_name(step_run, len(tries) + 1 if waits or not tries else len(tries)))
        return Progress(FAILED, "it was ended while it waited for another try") if waits else self.check(step_run)

    def as_user(self, step: Step) -> str:
        return str(step.get("user") or "")

    def _tries(self, step_run: StepRun) -> List[Seen]:
        """How far each try is that was begun."""
        tries: List[Seen] = []
        while True:
            seen = self._jobs.poll(_name(step_run, len(tries) + 1))
            if seen.state == NEVER_BEGUN:
                return tries
            tries.append(seen)

    def _seen(self, step_run: StepRun, tries: List[Seen]) -> Progress:
        if not tries:
            return Progress(ABSENT)
        if step_run.direction == "undo" and _was_cut_off(tries[-1]) and sum(map(_was_cut_off, tries)) == 1:
            return Progress(ABSENT, "it was interrupted, and is started once more")
        if _asks(tries[-1]):
            return self._when_again(step_run, tries)
        return self.seen(step_run, tries[-1])  # as just seen: meanwhile it may have ended and ask for another try

    def _when_again(self, step_run: StepRun, tries: List[Seen]) -> Progress:
        """It has asked for another try."""
        result = tries[-1].result
        words = f"it asked for another try ({exit_words(result)})"
        if step_run.elapsed == float("inf"):  # its times are those of before the machine's start
            if step_run.direction == "undo":
                return Progress(ABSENT, words)
            return Progress(FAILED, f"{words}, and the machine was rebooted before that")
        pause = min(FIRST_PAUSE * 2 ** (len(tries) - 1), LONGEST_PAUSE)
        wait = result["ended"] + pause - self._clock.now()
        if max(wait, 0.0) >= step_run.limit - step_run.elapsed:
            return Progress(FAILED, f"{words}, and no time is left for that")
        return Progress(PENDING, words) if wait > 0 else Progress(AGAIN, words)

    def _ready(self, step_run: StepRun, attempt: int) -> StepRun:
        """One try, with all that the hook is given."""
        step = step_run.step
        account = native.account_of(self.as_user(step))
        name = _name(step_run, attempt)
        limit = step_run.limit if attempt == 1 else min(step_run.limit, step_run.limit - step_run.elapsed)
        budget = step_run.budget if attempt == 1 else step_run.budget - step_run.elapsed
        environment = variables(PHASE_OF[step["type"]], step["context"])
        environment[PREFIX + "BUDGET"] = str(round(max(0.0, min(limit, budget))))
        environment[PREFIX + "ATTEMPT"] = str(attempt)
        environment[PREFIX + "FILE"] = self._files.event(name, step["context"], account)
        environment[PREFIX + "NOTES"] = self._files.notes(account)
        return step_run._replace(job=name, limit=limit, step=dict(step, environment=environment))


def _name(step_run: StepRun, attempt: int) -> str:
    """What a try's job is called."""
    return step_run.job if attempt == 1 else f"{step_run.job}-{attempt}"


def _asks(seen: Seen) -> bool:
    """Whether a try has ended and asks for another one."""
    result = seen.result
    by_itself = seen.state == OVER and not (result["stopped"] or result["timed_out"] or result["problem"])
    return by_itself and result["rc"] == TRY_AGAIN


def _was_cut_off(seen: Seen) -> bool:
    """Whether it was ended on its way: with the machine, or by somebody, such as systemd when the system goes down."""
    return seen.state == CUT_OFF or seen.state == OVER and bool(seen.result["stopped"])


class HookFiles:
    """The files of all hooks.

    :arg above: the folder of the mark
    """

    def __init__(self, above: str) -> None:
        self._above = above
        self._folder = os.path.join(above, HOOKS)

    def event(self, name: str, context: Mapping[str, Any], account: Optional[native.Account]) -> str:
        """The file that says what happened; only this user can read it."""
        self._open(account)
        path = os.path.join(self._folder, f"{name}.json")
        files.replace(path, context)
        self._give(path, account)
        return path

    def notes(self, account: Optional[native.Account]) -> str:
        """The folder for notes; only this user can use it."""
        self._open(account)
        path = os.path.join(self._folder, f"notes-{account.pw_name}" if account else "notes")
        files.make_folder(path)
        self._give(path, account)
        return path

    def _open(self, account: Optional[native.Account]) -> None:
        """Make the folder, and let another user through to what is hers: not to see what else there is."""
        files.make_folder(self._folder)
        for folder in (self._above, self._folder) if account else ():
            mode = stat.S_IMODE(os.stat(folder).st_mode)
            if mode & 0o011 != 0o011:
                os.chmod(folder, mode | 0o011)

    def _give(self, path: str, account: Optional[native.Account]) -> None:
        if account:
            os.chown(path, account.pw_uid, account.pw_gid, follow_symlinks=False)
