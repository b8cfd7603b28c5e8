# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A command run at every change of an event: one after another, in a thread of its own, never in the service's way."""

import json
import os
import queue
import shlex
import subprocess
import threading
import time
from typing import Any, Callable, Dict, List, NamedTuple, Optional

from .problems import InvalidInput

TIME_LIMIT = 60  # seconds for one run
WAITING = 1000  # runs that may wait; further ones are dropped, and reported


class Change(NamedTuple):
    """One run."""

    change: str
    event: Dict[str, Any]


class Ran(NamedTuple):
    """What became of it."""

    change: Change
    status: Optional[int]
    seconds: float
    error: str


def split(command: str) -> List[str]:
    """The command's words."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise InvalidInput("--on-change", f"{command!r} can't be split into words: {error}") from None
    if not words:
        raise InvalidInput("--on-change", "there is no command")
    return words


def environment(change: Change) -> Dict[str, str]:
    """What the command finds in its environment."""
    event = change.event
    return dict(
        os.environ,
        AZURE_EMULATOR_CHANGE=change.change,
        AZURE_EMULATOR_EVENT_ID=event["id"],
        AZURE_EMULATOR_EVENT_NAME=event["name"],
        AZURE_EMULATOR_EVENT_TYPE=event["type"],
        AZURE_EMULATOR_RESOURCES=" ".join(event["resources"]),
        AZURE_EMULATOR_SCOPE=event["scope"],
        AZURE_EMULATOR_OUTCOME=event["outcome"],
    )


class OnChange:
    """The command and its queue. `report` is called from the thread."""

    def __init__(self, command: str, report: Callable[[Ran], None], time_limit: float = TIME_LIMIT) -> None:
        self._words = split(command)
        self._report = report
        self._time_limit = time_limit
        self._queue: queue.Queue[Change] = queue.Queue(WAITING)
        threading.Thread(target=self._work, daemon=True).start()

    def changed(self, change: str, event: Dict[str, Any]) -> None:
        """Have it run."""
        asked = Change(change, event)
        try:
            self._queue.put_nowait(asked)
        except queue.Full:
            self._report(Ran(asked, None, 0.0, f"not run: {WAITING} runs are waiting already"))

    def _work(self) -> None:
        while True:
            self._report(self._run(self._queue.get()))

    def _run(self, change: Change) -> Ran:
        began = time.monotonic()
        status, error = None, ""
        try:
            done = subprocess.run(
                self._words,
                input=json.dumps(change.event).encode("utf-8"),
                env=environment(change),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                timeout=self._time_limit,
                check=False,
            )
            status, error = done.returncode, done.stderr.decode("utf-8", "replace")[-2000:]
        except subprocess.TimeoutExpired:
            error = f"killed after {self._time_limit:g} s"
        except OSError as problem:
            error = str(problem)
        return Ran(change, status, round(time.monotonic() - began, 3), error)
