# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Work that goes on by itself, whoever began it: begun once, ended at its limit, its result found by whoever asks later.

Each job has a folder of its name. ``started`` says which process keeps it, and can be made only once; ``work`` which one its
supervisor watches; ``result`` what came of it. A job that started, has no result, and whose supervisor is gone, was cut off. Where the
supervisor alone was killed, its work goes on without anybody who watches its limit: then whoever asks does that.

Private to this collection.
"""

import contextlib
import math
import os
import select
import signal
from typing import Any, Callable, Dict, Mapping, NamedTuple, NoReturn, Optional

from .._clock import Clock, Deadline
from .._text import one_line
from . import files
from .platform import native
from .step_runner import JobFailed, StepRun
from .supervisor import GRACE, Supervisor, Work

ORDER = "order"
"""The file of what is to be done, which only its owner can read: options of steps may be secrets."""

LONGEST_BEGINNING = 2.0
"""Seconds in which a job has usually begun."""

_LATE = "late"

# How far a job is
ABSENT = "absent"
RUNNING = "running"
OVER = "over"
CUT_OFF = "cut off"


class Seen(NamedTuple):
    """How far a job is."""

    state: str
    result: Dict[str, Any] = {}
    """What its supervisor left, when it is over; see :meth:`.supervisor.Supervisor.keep`."""


def order_of(step_run: StepRun, limit: float, user: str, quiet: bool, boot_id: str, grace: float) -> Dict[str, Any]:
    """What stands in the file."""
    elapsed = step_run.elapsed if math.isfinite(step_run.elapsed) else None
    return {
        "step_run": dict(step_run._asdict(), elapsed=elapsed),
        "limit": limit,
        "user": user,
        "quiet": quiet,
        "boot_id": boot_id,
        "grace": grace,
    }


def step_run_in(order: Mapping[str, Any]) -> StepRun:
    """What is to be done, from the file. One that the program wrote before an upgrade has the names of that time."""
    given = dict(order.get("step_run") or order["piece"])
    if "case" in given:
        given["initial"] = given.pop("case")
    return StepRun(**dict(given, elapsed=math.inf if given["elapsed"] is None else given["elapsed"]))


class Jobs:
    """The jobs of one folder.

    :arg folder: made when the first job begins
    :arg boot_id: of the machine as it runs now
    :arg grace: seconds between the request to end and the end
    """

    def __init__(self, folder: str, boot_id: str, grace: float = GRACE) -> None:
        self.folder = folder
        self._grace = grace
        self._boot_id = boot_id

    def begin(
        self,
        name: str,
        work: Work,
        limit: float,
        user: str = "",
        quiet: bool = False,
        step_run: Optional[StepRun] = None,
    ) -> bool:
        """Begin a job; False when one of this name was begun before, and nothing happens.

        On a machine that is very slow it may be some time until :meth:`poll` sees it; to begin it again is safe.

        :arg work: runs in a process of its own, leader of a group; returns what is to be found under ``answer``, or becomes
            another program
        :arg limit: seconds after which the whole group is ended
        :arg user: as whom it runs; "" for the user that this process has
        :arg quiet: whether nothing is kept of what it writes
        :arg step_run: what the work was made of, for those who can't hand it over otherwise
        :raises JobFailed: when it can't be begun
        """
        native.account_of(user)
        self._make_folder(name)
        said = _detached(lambda say: self.keep(name, work, limit, user, quiet, say))
        if said not in ("begun", "before", _LATE):
            raise JobFailed(f"the job could not be started: {said or 'its keeper said nothing'}")
        return said != "before"

    def keep(
        self,
        name: str,
        work: Work,
        limit: float,
        user: str = "",
        quiet: bool = False,
        say: Callable[[str], None] = lambda word: None,
        at_last: Any = signal.SIG_DFL,
    ) -> bool:
        """Be the supervisor of a job, whose folder is there: in a process of its own, until nobody is left who could write.

        :arg say: called with ``begun``, or with ``before`` when one of this name was begun before, and nothing happens
        :arg at_last: what SIGTERM does when the work is over, and others are left who write
        :return: whether it was begun
        """
        account = native.account_of(user)
        supervisor = Supervisor(self._grace)
        started = dict(self._this_process(), limit=limit)
        if not files.write_first(self._path(name, "started"), started):
            say("before")
            return False
        say("begun")
        until = Clock().now() + limit

        def first() -> None:
            files.replace(self._path(name, "work"), dict(self._this_process(), until=until))

        files.replace(self._path(name, "result"), supervisor.keep(first, work, limit, account, quiet))
        supervisor.listen(at_last)
        return True

    def _make_folder(self, name: str) -> None:
        try:
            files.make_folder(self._path(name))
        except OSError as error:
            raise JobFailed(f"the folder of the job can't be made: {one_line(error)}") from error

    def _path(self, name: str, *file: str) -> str:
        return os.path.join(self.folder, name, *file)

    def poll(self, name: str) -> Seen:
        """How far it is."""
        folder = self._path(name)
        started = files.read(os.path.join(folder, "started")) or {}
        # In this order: it may end in between.
        alive = self._lives(started)
        result = files.read(os.path.join(folder, "result"))
        if result:
            return Seen(OVER, result)
        if not started.get("pid"):
            return Seen(ABSENT)
        if not alive:
            work = files.read(os.path.join(folder, "work")) or {}
            alive = self._lives(work)
            if alive and Clock().now() >= work["until"]:
                _kill(work)
        return Seen(RUNNING if alive else CUT_OFF)

    def stop(self, name: str) -> None:
        """Have its supervisor end it, if it still runs; its result says so. One that is late can't begin any more."""
        path = self._path(name, "started")
        started = files.read(path)
        if not started:
            files.make_folder(os.path.dirname(path))
            nobody: Dict[str, Any] = {"pid": 0, "start": 0, "boot_id": "", "limit": 0}
            started = nobody if files.write_first(path, nobody) else files.read(path) or nobody
        if self._lives(started):
            self._ask_to_end(name, started["pid"])
            return
        work = files.read(os.path.join(os.path.dirname(path), "work")) or {}
        if self._lives(work) and self.poll(name).state == RUNNING:
            _kill(work)

    def forget(self, name: str) -> None:
        """Remove what is left of one that is over. What can't be removed goes with the mark."""
        import shutil  # takes time to import, and few calls need it

        shutil.rmtree(self._path(name), ignore_errors=True)

    def _ask_to_end(self, name: str, supervisor: int) -> None:
        """Have the supervisor of a job end it."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(supervisor, signal.SIGTERM)

    def end_all(self, within: float) -> bool:
        """End all that run, and let none begin any more; whether they have ended within so many seconds."""
        names = os.listdir(self.folder) if os.path.isdir(self.folder) else []
        for name in names:
            if self.poll(name).state in (ABSENT, RUNNING):
                self.stop(name)
        clock = Clock()
        deadline = Deadline(clock, within)
        while any(self.poll(name).state == RUNNING for name in names):
            if deadline.passed():
                return False
            clock.sleep(0.05)
        return True

    def _this_process(self) -> Dict[str, Any]:
        return {"pid": os.getpid(), "start": native.start_of(os.getpid()), "boot_id": self._boot_id}

    def _lives(self, started: Dict[str, Any]) -> bool:
        return bool(
            started and started["boot_id"] == self._boot_id and started["start"] == native.start_of(started["pid"])
        )


def _kill(work: Dict[str, Any]) -> None:
    """End the group of a job's work. Nobody is left who would wait until it has ended by itself."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(work["pid"], signal.SIGKILL)


def _detached(run: Callable[[Callable[[str], None]], Any]) -> str:
    """Run something in a process that has no terminal, no open file and no parent of ours, and wait for the first word."""
    reader, writer = os.pipe()
    between = os.fork()
    if not between:
        _leave(run, writer)
    os.close(writer)
    os.waitpid(between, 0)
    try:
        return _heard(reader)
    finally:
        os.close(reader)


def _leave(run: Callable[[Callable[[str], None]], Any], writer: int) -> NoReturn:
    try:
        os.setsid()
        if os.fork():
            os._exit(0)
        # Locks and pipes of whoever began it are held as long as a descriptor is.
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nothing, descriptor)
        for descriptor in map(int, os.listdir("/proc/self/fd")):
            if descriptor > 2 and descriptor != writer:
                with contextlib.suppress(OSError):
                    os.close(descriptor)

        voice = [writer]

        def say(word: str) -> None:
            with contextlib.suppress(OSError):
                os.write(voice[0], word.encode("utf-8"))
            os.close(voice.pop())

        try:
            run(say)
        except Exception as error:
            if voice:
                say(one_line(error))
    finally:
        os._exit(0)


def _heard(reader: int) -> str:
    said = b""
    while select.select([reader], [], [], LONGEST_BEGINNING)[0]:
        chunk = os.read(reader, 1000)
        if not chunk:
            return said.decode("utf-8", "replace")
        said += chunk
    return _LATE
