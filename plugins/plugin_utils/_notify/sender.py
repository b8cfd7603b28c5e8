# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sends the notifications of one run: a process of its own, so that no receiver holds up a tick.

Private to this collection.

It is begun whenever there is something to send, and ends when all is sent, when the run no longer wants it, or when its folder is gone,
as Ansible removes it at the end of a play. Each receiver has a thread of its own, which sends in order. What it gets by standard input
holds secrets and stays in memory.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
import threading
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from ...module_utils._clock import Clock
from ...module_utils._machine import files
from ...module_utils._machine.platform import native
from ...module_utils._watcher.reports.notify_hooks import environment, run_hook
from ...module_utils._watcher.reports.post_transport import Way, post
from ...module_utils._watcher.reports.report import Report, line_of
from ...module_utils._watcher.reports.report_daemon import ID_HEADER, SIGNATURE_HEADER, outcome_of, signature
from ...module_utils._watcher.reports.report_queue import GIVEN_UP, TAKEN, Outcome, waiting
from .receivers import Receiver

KEPT = 300.0
"""Seconds since it was made after which a notification that no receiver takes is given up."""
PROGRAM_LIMIT = 60.0
"""Seconds that a hook or a file of tasks may take for one notification."""
PAUSES = (1.0, 2.0, 4.0, 8.0, 15.0, 30.0)
"""Seconds from one try to the next; the last one is repeated."""
LOCK, STOP, STATE = "lock", "stop", "state.json"
_STOP_EVERY = 0.1


class Work(NamedTuple):
    """What a sender is begun with."""

    folder: str  # of the run; a folder in it for each receiver
    seconds: float  # that a URL has for its answer
    version: str  # of the collection
    receivers: list[Receiver]
    playbook: list[str]  # the command that runs a playbook


def main() -> None:
    """Read the work from standard input, and do it."""
    given = json.load(sys.stdin)
    receivers = [Receiver(**one) for one in given.pop("receivers")]
    run(Work(receivers=receivers, **given))


def run(work: Work) -> None:
    """Send all that waits. One process of a folder does; another one ends at once."""
    while _anything(work):
        try:
            lock = os.open(os.path.join(work.folder, LOCK), os.O_RDWR | os.O_CREAT, 0o600)
        except OSError:
            return  # the run is over, and its folder removed
        try:
            native.lock(lock)
        except OSError:
            return  # the other one looks once more after it has let go of the lock
        done = threading.Event()
        threads = [threading.Thread(target=_send_all, args=(one, work, done), daemon=True) for one in work.receivers]
        for thread in threads:
            thread.start()
        # A file is removed when it was sent: so nothing is under way when none is there.
        while _anything(work):
            time.sleep(_STOP_EVERY)
        done.set()
        if not _is_over(work):  # what is under way all the same must end before another thread may send it
            for thread in threads:
                thread.join()
        os.close(lock)


def _anything(work: Work) -> bool:
    folders = [os.path.join(work.folder, one.key) for one in work.receivers]
    # A folder from which a file is removed while it is read may look empty, once.
    return not _is_over(work) and any(waiting(folder) or waiting(folder) for folder in folders)


def _is_over(work: Work) -> bool:
    return not os.path.isdir(work.folder) or os.path.exists(os.path.join(work.folder, STOP))


def _send_all(one: Receiver, work: Work, done: threading.Event) -> None:
    """Send what comes for one receiver, the oldest first, until nothing is left for anybody."""
    folder, clock, failures = os.path.join(work.folder, one.key), Clock(), 0
    while not done.is_set():
        there = waiting(folder)
        if not there:
            done.wait(_STOP_EVERY)
            continue
        path = os.path.join(folder, there[0].name)
        try:
            with open(path, "rb") as file:
                body = file.read()
            outcome = send(one, work, body)
        except Exception as error:  # whatever it is, it must not end the other receivers' threads
            outcome = Outcome(GIVEN_UP, type(error).__name__)
        ended = outcome.what in (TAKEN, GIVEN_UP) or clock.wall() - there[0].since > KEPT
        _note(folder, outcome, ended)
        if ended:
            failures = 0
            with contextlib.suppress(FileNotFoundError):  # the run is over, and its folder removed
                os.unlink(path)
            continue
        done.wait(max(PAUSES[min(failures, len(PAUSES) - 1)], min(outcome.after, PAUSES[-1])))
        failures += 1


def send(one: Receiver, work: Work, body: bytes) -> Outcome:
    """Try once."""
    report = json.loads(body.decode("utf-8"))
    if one.kind == "url":
        headers = {"Content-Type": "application/json", "User-Agent": f"azure-maintenance/{work.version}"}
        headers[ID_HEADER] = report["id"]
        if one.secret:
            headers[SIGNATURE_HEADER] = signature(body, one.secret.encode("utf-8"))
        return outcome_of(post(one.target, body, headers, Way(one.proxy, one.ca_file), work.seconds))
    file = os.path.join(work.folder, f"{one.key}.json")
    if one.kind == "hook":
        _write(file, line_of(report).decode("ascii"))
        return _ran(
            run_hook([one.target], environment(report, file, None, PROGRAM_LIMIT), None, PROGRAM_LIMIT, Clock())
        )
    return _ran(_run_tasks(one, work, report, file))


def _run_tasks(one: Receiver, work: Work, report: Report, file: str) -> str:
    """The user's tasks, in a play of their own on the controller: in that of the run they would hold up its ticks, and could end it."""
    # Neither what Azure wrote nor what the run has templated already is a template here.
    variables = {"maintenance": report, **one.vars}
    lines = [f"{_yaml(name)}: {_untemplated(value)}\n" for name, value in variables.items()]
    play = {
        "name": "Tell what has happened in a maintenance",
        "hosts": "localhost",
        "connection": "local",
        "gather_facts": False,
        "vars": {"ansible_python_interpreter": "{{ ansible_playbook_python }}"},
        "tasks": [{"name": "Go through the user's tasks", "ansible.builtin.include_tasks": one.target}],
    }
    _write(file, "".join(lines))
    playbook = os.path.join(work.folder, f"{one.key}.yml")
    _write(playbook, json.dumps([play]))
    command = [*work.playbook, "-i", "localhost,", "-e", f"@{file}", playbook]
    own = {"ANSIBLE_STDOUT_CALLBACK": "ansible.builtin.default", "ANSIBLE_NOCOLOR": "1"}
    return run_hook(command, {**os.environ, **own}, None, PROGRAM_LIMIT, Clock())


def _untemplated(value: Any) -> str:
    """As YAML in which no text is a template. Each text is marked, as ansible-core 2.16 reads a whole that is marked as empty."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_yaml(str(key))}: {_untemplated(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_untemplated, value)) + "]"
    return f"!unsafe {_yaml(value)}" if isinstance(value, str) else _yaml(value)


def _yaml(value: Any) -> str:
    """A scalar. JSON writes a character beyond U+FFFF as two escapes, which YAML refuses; half of such a pair becomes a question mark."""
    text = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace").decode("utf-8")
    return re.sub(r"[^ -~]", lambda found: f"\\U{ord(found[0]):08x}", text)


def _ran(problem: str) -> Outcome:
    """Programs are run once for a notification: what they did before they failed is not known."""
    return Outcome(GIVEN_UP, problem) if problem else Outcome(TAKEN, "it was run")


def _write(path: str, text: str) -> None:
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(text)


def _note(folder: str, outcome: Outcome, ended: bool) -> None:
    """What came of it, for the end of the run."""
    path = os.path.join(folder, STATE)
    try:
        state = files.read(path) or {"sent": 0, "given_up": 0, "problem": ""}
        if outcome.what == TAKEN:
            state["sent"] += 1
        else:
            state["given_up"] += 1 if ended else 0
            state["problem"] = outcome.words
        files.replace(path, state)
    except (OSError, ValueError, KeyError):
        pass  # the folder is gone
