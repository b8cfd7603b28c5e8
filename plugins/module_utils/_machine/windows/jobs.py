# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs on Windows: each is kept by a process of its own, which reads in the job's folder what it is to do, and is done by another one.

::

    FOLDER/order      what is to be done
    FOLDER/started    which process keeps it; can be made only once
    FOLDER/stop       somebody wants it ended
    FOLDER/answer     what the work says of itself, where it did not run another program
    FOLDER/result     what came of it

Private to this collection.
"""

import os
import subprocess
import sys
from typing import Any, Dict, List, Optional, Sequence

from ..._clock import Clock, Deadline
from ..._text import one_line
from .. import files
from ..job_runner import JobRunner
from ..jobs import ABSENT, LONGEST_BEGINNING, ORDER, Jobs, order_of, step_run_in
from ..platform import native
from ..step_runner import JobFailed, StepRun
from ..step_runners import make_runners
from ..supervisor import GRACE, Work
from .supervisor import WindowsSupervisor

ANSWER, RESULT, STARTED, STOP = "answer", "result", "started", "stop"

_LOOK_EVERY = 0.02
_DETACHED, _NEW_GROUP = 0x8, 0x200


class WindowsJobs(Jobs):
    """Jobs as processes with job objects.

    :arg program: the command that, with ``job`` or ``work`` and a folder behind it, keeps the job of that folder, or does its work
    """

    def __init__(self, folder: str, boot_id: str, program: Sequence[str], grace: float = GRACE) -> None:
        super().__init__(folder, boot_id, grace)
        self._program = list(program)

    def begin(
        self,
        name: str,
        work: Work,
        limit: float,
        user: str = "",
        quiet: bool = False,
        step_run: Optional[StepRun] = None,
    ) -> bool:
        """As :meth:`..jobs.Jobs.begin`. What is to be done is made anew in the job's process, out of the step_run."""
        if step_run is None:
            raise JobFailed("what it is to do can't be handed to another process")
        native.account_of(user)
        self._make_folder(name)
        if self.poll(name).state != ABSENT:
            return False
        order = order_of(step_run, limit, user, quiet, self._boot_id, self._grace)
        try:
            files.replace(self._path(name, ORDER), dict(order, program=self._program))
            process = self._launched(name)
        except OSError as error:
            raise JobFailed(f"the job could not be started: {one_line(error)}") from error
        self._wait_for_begin(name, process)
        return True

    def _launched(self, name: str) -> "subprocess.Popen[bytes]":
        # There is no AnsibleModule here whose run_command could be called.
        return subprocess.Popen(  # pylint: disable=ansible-bad-function,consider-using-with
            [*self._program, "job", self._path(name)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            creationflags=_DETACHED | _NEW_GROUP,  # a word that only Windows has
        )

    def _wait_for_begin(self, name: str, process: "subprocess.Popen[bytes]") -> None:
        """On a machine that is very slow it may be some more time: to begin it again is safe."""
        clock = Clock()
        deadline = Deadline(clock, LONGEST_BEGINNING)
        while not os.path.exists(self._path(name, STARTED)) and not deadline.passed():
            if process.poll() is not None and not os.path.exists(self._path(name, STARTED)):
                raise JobFailed(f"the job could not be started: its keeper ended with exit code {process.returncode}")
            clock.sleep(_LOOK_EVERY)
        # It goes on by itself, and nobody asks how it has ended.
        vars(process)["returncode"] = 0

    def _ask_to_end(self, name: str, supervisor: int) -> None:
        files.replace(self._path(name, STOP), {})

    def keep_ordered(self, name: str, order: Dict[str, Any]) -> bool:
        """Be the supervisor of a job: in a process of its own, until nobody is left who could write; whether it was begun."""
        if not files.write_first(self._path(name, STARTED), dict(self._this_process(), limit=order["limit"])):
            return False
        supervisor = WindowsSupervisor(lambda: os.path.exists(self._path(name, STOP)))
        argv = [*self._program, "work", self._path(name)]
        result = supervisor.keep(argv, lambda: self._answered(name), order["limit"], order["quiet"])
        files.replace(self._path(name, RESULT), result)
        supervisor.listen()
        return True

    def _answered(self, name: str) -> Dict[str, Any]:
        try:
            return files.read(self._path(name, ANSWER)) or {}
        except ValueError:
            return {"problem": "what it said of itself can't be read"}


def main(arguments: List[str]) -> int:
    """Be one of both; the exit code, which nobody needs."""
    word, folder = arguments
    order = files.read(os.path.join(folder, ORDER))
    if order is None:
        sys.stderr.write(f"{folder} holds no order of a job.\n")
        return 2
    jobs = WindowsJobs(os.path.dirname(folder), order["boot_id"], order["program"], order["grace"])
    if word == "job":
        jobs.keep_ordered(os.path.basename(folder), order)
    else:
        files.replace(os.path.join(folder, ANSWER), _said(jobs, order))
    return 0


def _said(jobs: WindowsJobs, order: Dict[str, Any]) -> Dict[str, Any]:
    """Do the work; what is to be said of it. Where it runs another program, this process ends with that one's exit code."""
    step_run = step_run_in(order)
    runner = make_runners(jobs)[step_run.step["type"]]
    if not isinstance(runner, JobRunner):
        raise TypeError(f"a step of type {step_run.step['type']} is no job")
    try:
        return {"answer": runner.work(step_run)()}
    except OSError as error:
        return {"problem": one_line(f"{error.filename}: {error.strerror}" if error.filename else error)}
    except Exception as error:  # it is the step's failure, whatever it is
        return {"problem": one_line(error) or type(error).__name__}
