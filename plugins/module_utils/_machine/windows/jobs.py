# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs on Windows: each is kept by a process of its own, which reads in the job's folder what it is to do, and supervises the
process that does it.

::

    FOLDER/order      what is to be done
    FOLDER/started    which process keeps it; can be made only once
    FOLDER/stop       somebody wants it ended
    FOLDER/answer     what the work says of itself, where it did not run another program
    FOLDER/result     what came of it

A job object holds processes that are ended together, with all that they have started. Where the supervisor is killed itself, Windows ends
the job object with it: such a job was cut off, and nothing of it goes on. Nothing is asked to end first, as most programs have no ear
for that.

Private to this collection.
"""

import ctypes
import os
import subprocess
import sys
import threading
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence

from ..._clock import Clock, Deadline
from ..._text import one_line
from .. import files
from ..job_runner import JobRunner
from ..jobs import ABSENT, LONGEST_BEGINNING, ORDER, Jobs, order_of, step_run_in
from ..platform import native
from ..step_runner import JobFailed, StepRun
from ..step_runners import make_runners
from ..supervisor import AT_LAST, GRACE, MOST, Work
from . import kernel, platform

_WAIT_EVERY = 0.05
_DRAINED_WITHIN = 0.2  # seconds in which the last that a job has written has come
_LONGEST_PAUSE = 30.0

_INSIDE_LETTERS = bytes(range(0x80, 0xC0))  # bytes of UTF-8 that begin none

_SUSPENDED, _NEW_GROUP, _NO_WINDOW = 0x4, 0x200, 0x8000000

_ACCOUNTING, _LIMITS = 1, 9  # classes of what can be asked and set
_KILL_ON_CLOSE = 0x2000


class WindowsSupervisor:
    """Keeps one job.

    :arg must_stop: whether somebody wants it ended
    """

    def __init__(self, must_stop: Callable[[], bool]) -> None:
        self._must_stop = must_stop
        self._clock = Clock()
        self._job: Optional[JobObject] = None

    def keep(
        self, argv: Sequence[str], answered: Callable[[], Dict[str, Any]], limit: float, quiet: bool
    ) -> Dict[str, Any]:
        """Run it to its end, or to the limit; returns what :meth:`..supervisor.Supervisor.keep` does.

        :arg answered: what the work has left as its ``answer`` or ``problem``
        """
        began = self._clock.now()
        why, rc, problem, streams = "", None, "", []
        try:
            self._job = JobObject()
            process = suspended(argv)
            streams = [Stream(process.stdout), Stream(process.stderr)]
            self._job.run(process)
            why = self._waited(process, began + limit)
            rc = process.poll()
            if not why:
                self._job.let_go()
        except OSError as error:
            problem = one_line(error) or type(error).__name__
        answer = answered()
        return {
            "rc": rc,
            "seconds": round(self._clock.now() - began, 3),
            "ended": self._clock.now(),
            "stdout": "" if quiet or not streams else streams[0].end(),
            "stderr": "" if quiet or not streams else streams[1].end(),
            "answer": answer.get("answer"),
            "problem": problem or answer.get("problem", ""),
            "timed_out": why == "timed_out",
            "stopped": why == "stopped",
        }

    def _waited(self, process: "subprocess.Popen[bytes]", ends: float) -> str:
        """Wait for the end, bring it about where needed, and say why that was: ``timed_out``, ``stopped`` or ""."""
        while process.poll() is None:
            must_stop = self._must_stop()
            if must_stop or self._clock.now() >= ends:
                self._end(process)
                return "stopped" if must_stop else "timed_out"
            try:
                process.wait(_WAIT_EVERY)
            except subprocess.TimeoutExpired:
                pass
        return ""

    def _end(self, process: "subprocess.Popen[bytes]") -> None:
        if self._job:
            self._job.end()
        try:
            process.wait(AT_LAST)
        except subprocess.TimeoutExpired:
            pass

    def listen(self) -> None:
        """Take what is still written, until nobody is left who could: a program may hang, or end, at its next line else."""
        pause = _WAIT_EVERY
        while self._job and self._job.active():
            self._clock.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)


class Stream:
    """What a job writes: as much as comes, of which the end is kept."""

    def __init__(self, pipe: Any) -> None:
        self._pipe = pipe
        self._text = b""
        # It may last as long as somebody has the other end, which is nothing to wait for.
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        while True:
            try:
                chunk = os.read(self._pipe.fileno(), 65536)
            except OSError:
                return
            if not chunk:
                return
            self._text = (self._text + chunk)[-MOST:]

    def end(self) -> str:
        self._thread.join(_DRAINED_WITHIN)
        is_whole, said = not self._thread.is_alive(), self._text
        if len(said) == MOST:  # its beginning may be the rest of a letter of UTF-8, three bytes at most
            said = said[:3].lstrip(_INSIDE_LETTERS) + said[3:]
        return platform.text_of(said, is_whole).replace("\r\n", "\n")


def suspended(argv: Sequence[str], environment: Optional[Mapping[str, str]] = None) -> "subprocess.Popen[bytes]":
    """A process that has not run yet.

    :arg environment: of it; None for this process's own
    """
    arguments: List[str] = list(argv)
    # There is no AnsibleModule here whose run_command could be called.
    return subprocess.Popen(  # pylint: disable=ansible-bad-function,consider-using-with
        arguments,
        env=None if environment is None else dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        creationflags=_SUSPENDED | _NEW_GROUP | _NO_WINDOW,  # a word that only Windows has
    )


class _BasicLimits(ctypes.Structure):
    _fields_ = [
        ("process_time", ctypes.c_int64),
        ("job_time", ctypes.c_int64),
        ("flags", ctypes.c_uint32),
        ("least_working_set", ctypes.c_size_t),
        ("most_working_set", ctypes.c_size_t),
        ("most_processes", ctypes.c_uint32),
        ("affinity", ctypes.c_size_t),
        ("priority", ctypes.c_uint32),
        ("scheduling", ctypes.c_uint32),
    ]


class _Limits(ctypes.Structure):
    _fields_ = [
        ("basic", _BasicLimits),
        ("input_and_output", ctypes.c_uint64 * 6),
        ("memory", ctypes.c_size_t * 4),
    ]


class _Accounting(ctypes.Structure):
    _fields_ = [
        ("times", ctypes.c_int64 * 4),
        ("faults", ctypes.c_uint32),
        ("processes", ctypes.c_uint32),
        ("active", ctypes.c_uint32),
        ("ended", ctypes.c_uint32),
    ]


class JobObject:
    """One job object, without a name: it lasts as long as this process, or as somebody is in it.

    :raises OSError: when there can be none
    """

    def __init__(self) -> None:
        self._handle = kernel.did("CreateJobObjectW", None, None)
        self._limit(_KILL_ON_CLOSE)  # all of it ends with this process, however that ends

    def _limit(self, flags: int) -> None:
        limits = _Limits()
        limits.basic.flags = flags
        size = ctypes.sizeof(limits)
        kernel.did("SetInformationJobObject", self._handle, _LIMITS, ctypes.byref(limits), size)

    def run(self, process: "subprocess.Popen[bytes]") -> None:
        """Take in a process that was started suspended, and let it run: so nothing that it starts can be outside.

        :raises OSError: when that can't be; the process has ended then
        """
        handle = int(vars(process)["_handle"])
        try:
            kernel.did("AssignProcessToJobObject", self._handle, handle)
            status = kernel.function("NtResumeProcess")(handle)
            if status < 0:
                raise OSError(f"its process can't be resumed (NTSTATUS {status & 0xFFFFFFFF:#x})")
        except OSError:
            process.kill()
            raise

    def end(self) -> None:
        """End all of its processes, at once."""
        kernel.function("TerminateJobObject")(self._handle, 1)

    def close(self) -> None:
        """Its processes end with it, unless they were let go."""
        kernel.close(self._handle)

    def let_go(self) -> None:
        """What is left of it outlives this process."""
        self._limit(0)

    def active(self) -> int:
        """How many of its processes run."""
        found: Any = _Accounting()
        kernel.did(
            "QueryInformationJobObject", self._handle, _ACCOUNTING, ctypes.byref(found), ctypes.sizeof(found), None
        )
        return int(found.active)


ANSWER, RESULT, STARTED, STOP = "answer", "result", "started", "stop"

_LOOK_EVERY = 0.02
_DETACHED = 0x8


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
