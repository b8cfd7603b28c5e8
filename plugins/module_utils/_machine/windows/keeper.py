# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What keeps a job on Windows: it has the job's process in a job object, ends all of that at the limit, and says what came of it.

Private to this collection.

Where it is killed itself, Windows ends the job object with it: such a job was cut off, and nothing of it goes on. Nothing is asked
to end first, as most programs have no ear for that.
"""

import os
import subprocess
import threading
from typing import Any, Callable, Dict, List, Optional, Sequence

from ..._clock import Clock
from ..._text import one_line
from ..keeper import AT_LAST, MOST
from .job_object import JobObject

_LOOK_EVERY = 0.05
_DRAINED_WITHIN = 0.2  # seconds in which the last that a job has written has come
_LONGEST_PAUSE = 30.0

_SUSPENDED, _NEW_GROUP, _NO_WINDOW = 0x4, 0x200, 0x8000000


class WindowsKeeper:
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
        """Run it to its end, or to the limit; returns what :meth:`..keeper.Keeper.keep` does.

        :arg answered: what the work has left as its ``answer`` or ``problem``
        """
        began = self._clock.now()
        why, rc, problem, streams = "", None, "", []
        try:
            self._job = JobObject()
            process = _suspended(argv)
            streams = [_Stream(process.stdout), _Stream(process.stderr)]
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
                process.wait(_LOOK_EVERY)
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
        pause = _LOOK_EVERY
        while self._job and self._job.active():
            self._clock.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)


class _Stream:
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
                piece = os.read(self._pipe.fileno(), 65536)
            except OSError:
                return
            if not piece:
                return
            self._text = (self._text + piece)[-MOST:]

    def end(self) -> str:
        self._thread.join(_DRAINED_WITHIN)
        return self._text.decode("utf-8", "replace").replace("\r\n", "\n")


def _suspended(argv: Sequence[str]) -> "subprocess.Popen[bytes]":
    """A process that has not run yet."""
    arguments: List[str] = list(argv)
    # There is no AnsibleModule here whose run_command could be called.
    return subprocess.Popen(  # pylint: disable=ansible-bad-function,consider-using-with
        arguments,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        creationflags=_SUSPENDED | _NEW_GROUP | _NO_WINDOW,  # a word that only Windows has
    )
