# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Notifies the receivers of a run of what happens in it: the only place where a run has anything to do with notifications. They wait in a
folder for each receiver, and a process beside the run sends them.

Private to this collection.

The folder is in Ansible's own temporary folder of this playbook, which only its user can read, and which Ansible removes at the end.
Nothing that goes wrong here is an error of the run.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypedDict

from ansible import constants
from ansible.utils.display import Display

from ...module_utils._clock import steady
from ...module_utils._errors import ScheduledEventsError
from ...module_utils._machine import files
from ...module_utils._text import listed, one_line
from ...module_utils._watcher.reports.post_transport import Way, reach
from ...module_utils._watcher.reports.report import Report
from ...module_utils._watcher.reports.report_queue import waiting
from .._ansible import plain
from .._fleet.reports import note
from .._fleet.result import problems_of
from .._fleet.state import Record
from .._machine.bundle import version
from .receivers import NotifyError, Receiver, receivers_of
from .reports import end_report, reports_of
from .sender import STATE, STOP, Work

ANSWER = 10.0
"""Seconds that a URL has for its answer."""
AT_THE_END = 30.0
"""Seconds that the end of a run waits for all that is not sent yet."""

Given = Callable[[], Any]
"""Returns what maintain_notify says; called only when there is something to send."""

_NEEDED = {"hook": os.R_OK | os.X_OK, "tasks": os.R_OK}


def refused_receivers(given: Any) -> list[str]:
    """Why a run with this maintain_notify must not begin, in sentences."""
    try:
        receivers = receivers_of(given)
    except ScheduledEventsError as error:
        return [error.message]
    lacking = [one for one in receivers if one.kind != "url" and not os.access(one.target, _NEEDED[one.kind])]
    return [
        f"maintain_notify: the controller has no {'executable file' if one.kind == 'hook' else 'file'} {one.target}."
        for one in lacking
    ]


def tell(record: Record, number: int, given: Given) -> None:
    """Have it sent what is new after so many happenings. Costs next to nothing where that is nothing; never fails, and waits for nobody: what could not be
    sent is a note of the record.
    """
    if record.run.check:
        return
    try:
        reports = reports_of(record, number, version())
        if reports:
            _queue(record, _receivers(given)).put(reports)
    except (OSError, ScheduledEventsError) as error:
        why = _why(error)
        note(record, "notifications", f"Not all notifications could be sent while the run went on: {why}.")
        Display().warning(f"Notifications could not be sent: {why}. The run goes on.")


def end(record: Record, given: Given) -> tuple[list[str], list[Notified]]:
    """Tell of the problems with which a run ends, and wait for what is not sent yet, no longer than a receiver may take. Never fails.

    :returns: notes for people, and what each receiver has got
    """
    try:
        receivers = _receivers(given)
    except ScheduledEventsError as error:
        _queue(record, []).close(AT_THE_END)
        return [f"Notifications could not be sent at the end of the run: {_why(error)}."], []
    if record.run.check:
        return [_check_words(receivers)] if receivers else [], []
    queue = _queue(record, receivers)
    problems = problems_of(record)
    try:
        queue.put([end_report(record, problems, version())] if problems else [])
    except OSError as error:
        return [f"Notifications could not be sent at the end of the run: {_why(error)}."], queue.close(AT_THE_END)
    notified = queue.close(AT_THE_END)
    return [_words(one) for one in notified if one["failed"] or one["problem"]], notified


def _receivers(given: Given) -> list[Receiver]:
    """:raises NotifyError: also when a template in it fails, such as a lookup. What that says may hold values: it is not shown"""
    try:
        found = plain(given())
    except Exception as error:
        raise NotifyError(f"a template in maintain_notify failed ({type(error).__name__})") from error
    return receivers_of(found)


def _why(error: Exception) -> str:
    return one_line(error, 300).rstrip(". ")


def _queue(record: Record, receivers: list[Receiver]) -> NotificationQueue:
    # What the user's own tasks are run with is what this playbook was run with.
    surroundings = {"ANSIBLE_COLLECTIONS_PATH": os.pathsep.join(constants.COLLECTIONS_PATHS)}
    if constants.CONFIG_FILE:
        surroundings["ANSIBLE_CONFIG"] = str(constants.CONFIG_FILE)
    folder = os.path.join(constants.DEFAULT_LOCAL_TMP, f"azure-maintenance-{record.run.name}")
    return NotificationQueue(folder, receivers, ANSWER, version(), surroundings)


def _words(one: Notified) -> str:
    all_of_them = one["sent"] + one["failed"]
    if not one["failed"]:
        return f"Notifications to {one['to']}: all {all_of_them} were sent; in between, {one['problem']}."
    return f"Notifications to {one['to']}: {one['failed']} of {all_of_them} were not sent: {one['problem']}."


def _check_words(receivers: list[Receiver]) -> str:
    """Nothing is sent in check mode, but whether anybody listens is of use in the morning."""
    with ThreadPoolExecutor(max(1, len(receivers))) as pool:
        states = list(pool.map(_state, receivers))
    return f"Check mode: no notification is sent. Receivers: {listed(states)}."


def _state(one: Receiver) -> str:
    if one.kind != "url":
        return one.words
    problem = reach(one.target, Way(one.proxy, one.ca_file), 5.0)
    return f"{one.words} ({problem or 'it can be reached'})"


# ---- where they wait ----

ROOT = Path(__file__).resolve().parents[5]
"""The folder ansible_collections that this collection is in."""
ERRORS = "errors.txt"
_POLL_EVERY = 0.05
# The package may be another one's for this Python: where Ansible's own distribution brings one, that would be found.
_BEGIN = (
    "import sys, types; package = types.ModuleType('ansible_collections'); package.__path__ = [sys.argv[1]]; "
    "sys.modules['ansible_collections'] = package; "
    "from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._notify.sender import main; main()"
)


class Notified(TypedDict):
    """What one receiver has got."""

    to: str
    sent: int
    failed: int
    problem: str  # what went wrong last; "" when nothing did


class NotificationQueue:
    """The notifications of one run.

    :arg folder: of this run
    :arg seconds: that a URL has for its answer
    :arg version: of the collection
    :arg surroundings: variables of the sender's environment, beside the run's
    """

    def __init__(
        self,
        folder: str,
        receivers: Sequence[Receiver],
        seconds: float,
        version: str,
        surroundings: Mapping[str, str] | None = None,
    ) -> None:
        self._folder = folder
        self._receivers = list(receivers)
        self._seconds = seconds
        self._version = version
        self._surroundings = dict(surroundings or {})

    def put(self, reports: Sequence[Report]) -> None:
        """Have them sent. Returns at once."""
        if not reports or not self._receivers:
            return
        for one in self._receivers:
            folder = os.path.join(self._folder, one.key)
            files.make_folder(folder)
            last = max([0, _last(folder), *(there.number for there in waiting(folder))])
            for number, report in enumerate(reports, last + 1):
                files.replace(os.path.join(folder, f"{number:012}.json"), report)
            files.replace(os.path.join(folder, "last.json"), last + len(reports))
        self._send()

    def close(self, seconds: float) -> list[Notified]:
        """Wait until all is sent, no longer than so many seconds; then end the sender."""
        until = steady() + seconds
        while self._waits() and steady() < until:
            time.sleep(_POLL_EVERY)
        if os.path.isdir(self._folder):
            with contextlib.suppress(OSError):  # on a full disk: the sender sees as well that its folder is gone
                Path(self._folder, STOP).touch()
        found = [self._of(one, seconds) for one in self._receivers]
        shutil.rmtree(self._folder, ignore_errors=True)
        return found

    def _waits(self) -> bool:
        """Whether anything is left, also for receivers that are not known any more."""
        return any(waiting(str(folder)) for folder in Path(self._folder).glob("*"))

    def _of(self, one: Receiver, seconds: float) -> Notified:
        folder = os.path.join(self._folder, one.key)
        try:
            state: dict[str, Any] = files.read(os.path.join(folder, STATE)) or {}
        except (OSError, ValueError):
            state = {}
        left = len(waiting(folder))
        problem = str(state.get("problem") or "")
        if left and not problem:
            problem = self._errors() or f"it was not done within the {seconds:g} s that a run waits at its end"
        return {
            "to": one.words,
            "sent": int(state.get("sent") or 0),
            "failed": int(state.get("given_up") or 0) + left,
            "problem": problem,
        }

    def _errors(self) -> str:
        """What the sender has said, which is nothing as long as it works."""
        try:
            lines = Path(self._folder, ERRORS).read_text(encoding="utf-8", errors="replace").split("\n")
        except OSError:
            return ""
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    def _send(self) -> None:
        playbook = [sys.executable, "-m", "ansible", "playbook"]
        work = Work(self._folder, self._seconds, self._version, self._receivers, playbook)
        given = {**work._asdict(), "receivers": [one._asdict() for one in self._receivers]}
        with open(os.path.join(self._folder, ERRORS), "ab") as errors:
            process = subprocess.Popen(
                [sys.executable, "-c", _BEGIN, str(ROOT)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                cwd="/",
                env={**os.environ, **self._surroundings},
                start_new_session=True,  # an interrupted run has said what it said
            )
        if process.stdin:
            with process.stdin:
                # Dates of YAML, and in old cores texts out of a vault, are no JSON.
                process.stdin.write(json.dumps(given, default=str).encode())


def _last(folder: str) -> int:
    try:
        return int(files.read(os.path.join(folder, "last.json")) or 0)
    except (OSError, ValueError, TypeError):
        return 0
