# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run of role maintain, from the first call of a machine to the last recovery: it calls the machines over lines, and decides anew whenever
some have answered. No machine waits for another's call, and no decision for a machine that hangs.

Private to this collection.

Where the user's own task files are due, it returns: only Ansible itself can go through them. What it has to know when it goes on lies in a
file until then.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ansible import constants

from ...module_utils._clock import steady
from .._ansible import plain
from .._drain import orders, own_tasks
from .._fleet import record as run_record
from .._fleet.call_schedule import seconds_until_due
from .._fleet.progress import awaited, sentence_of
from .._fleet.schema import Record
from .._fleet.tick_planner import only_waits
from .._lines.lines import Lines
from .._said import say
from .calls import Answer, Calls
from .given import Host
from .machine_line import MachineLine, Target
from .run import Notify, announce, moved_on

LONGEST_PAUSE = 30.0
"""Seconds after which a run that waits decides anew though nothing has come."""

FIRST = 15.0
"""Seconds after which a run begins without the machines that have not answered its first calls, which go on."""

SILENT = 20.0
"""Seconds without a word after which a run says what it waits for."""

LEFT = "It has left the play: after an error of its own, which is shown above, or by a meta task such as end_host."


class FleetRun:
    """
    :arg action: of the run's task
    :arg present: the hosts that are still in the play

    :attr answers: what the machines have answered for whose user's own task files it has returned, and who answered meanwhile
    """

    def __init__(
        self,
        action: Any,
        task_vars: Mapping[str, Any],
        hosts: Mapping[str, Host],
        record: Record,
        answers: Mapping[str, Answer],
        notify: Notify,
    ) -> None:
        self._action, self._task_vars, self._notify = action, task_vars, notify
        self.hosts, self._present = hosts, set(task_vars["ansible_play_batch"])
        self.record, self.answers = record, dict(answers)
        self._unannounced = record
        self._said_at = steady()
        self._awaited: set[str] = set()  # what was last said to be awaited

    def lines(self) -> Lines:
        """For as long as this task lasts."""

        def connect(target: Target) -> Callable[[], MachineLine]:
            return lambda: MachineLine(self._action, self._task_vars, target, self.hosts[target.host].plan)

        return Lines(connect)

    def calls(self, lines: Lines) -> Calls:
        reach = {host: one.reach for host, one in self.hosts.items()}
        return Calls(lines, reach, lambda host: self.hosts[host].steps)

    def ask_everybody(self, calls: Calls, also: Sequence[Mapping[str, Any]]) -> dict[str, Answer]:
        """The first calls of a run; returns the answers, which say how it begins. It goes by them, too, and announces nothing of that yet.

        :arg also: what every machine is asked besides
        """
        self._unannounced = self.record
        made = run_record.sent(self.record)
        calls.send(self.record, made, also)
        found: dict[str, Answer] = {}
        # In check mode nothing is missed meanwhile, and the plan that it shows is to be that of all.
        until = math.inf if self.record["run"]["check"] else steady() + FIRST
        while len(found) < len(made) and steady() < until:
            found.update(calls.collect(self.record, min(LONGEST_PAUSE, until - steady())))
        self._decide(found, {})
        return found

    def announce(self) -> None:
        """What has come of the first calls."""
        announce(self._unannounced, self.record, self._notify)

    def go_on(self, calls: Calls) -> list[str]:
        """Until it is over, or the user's own task files are due; returns the hosts whose files these are."""
        if self.answers:
            answers, self.answers = self.answers, {}
            self._take_in(answers, {host: self._failure(host) for host in answers})
        while not self.record["finished"]:
            self._send(calls)
            answers = calls.collect(self.record, self._pause())
            due = [host for host, answer in answers.items() if self._own_file(host, answer)]
            if due:
                return self._settled(calls, answers, due)
            self._take_in(answers, {})
        self._let_end(calls)
        return []

    # ---- calls ----

    def _send(self, calls: Calls) -> None:
        planned = self.record["todo"]["calls"]
        made = run_record.sent(self.record, [host for host, call in planned.items() if call["due"] <= steady()])
        gone = {host for host in made if host not in self._present}
        calls.send(self.record, {host: call for host, call in made.items() if host not in gone})
        if gone:
            self._take_in({host: Answer({"lost": LEFT, "left": True}, []) for host in gone}, {})

    def _pause(self) -> float:
        """Seconds after which something may be due though no machine answers."""
        todo, now = self.record["todo"], steady()
        due = [call["due"] - now for call in todo["calls"].values()]
        if todo["idle"] and not due:
            return max(1.0, min(LONGEST_PAUSE, seconds_until_due(self.record, now)))
        return max(0.0, min([*due, todo["seconds"] if not todo["calls"] else LONGEST_PAUSE]))

    def _let_end(self, calls: Calls) -> None:
        """What was begun by a call ends with it; nobody waits for one that only waits for a change."""
        while not all(map(only_waits, self._flying())):
            for host in calls.collect(self.record, LONGEST_PAUSE):
                self.record["hosts"][host]["flying"] = None

    def _flying(self) -> list[Any]:
        return [machine["flying"] for machine in self.record["hosts"].values() if machine["flying"]]

    # ---- answers ----

    def _take_in(self, answers: Mapping[str, Answer], failures: Mapping[str, Mapping[str, Any]]) -> None:
        """Decide anew, and say what is new.

        :arg failures: of the user's own task files, by host
        """
        before = self.record
        self._decide(answers, failures)
        if announce(before, self.record, self._notify):
            self._said_at = steady()
        elif steady() - self._said_at >= SILENT and not self.record["todo"]["idle"]:
            self._say_what_is_awaited()

    def _decide(self, answers: Mapping[str, Answer], failures: Mapping[str, Mapping[str, Any]]) -> None:
        whole = {host: self._whole(host, answer, failures.get(host) or {}) for host, answer in answers.items()}
        self.record = moved_on(self.record, whole)

    def _whole(self, host: str, answer: Answer, failure: Mapping[str, Any]) -> dict[str, Any]:
        """The answer with what others have done, and what came of the user's own task file."""
        if host not in self._present:
            return {"lost": LEFT, "left": True}
        came = answer.came
        if came.get("lost") or not (answer.rounds or came.get("elsewhere")):
            return came
        jobs, steps = self.record["hosts"][host]["jobs"], self.hosts[host].steps
        own = own_tasks.came(came, steps, jobs, self._may_run(host), failure)
        return orders.with_others(came, steps, answer.rounds, own, jobs)

    def _may_run(self, host: str) -> bool:
        return host in self.record["todo"]["tasks_allowed"]

    def _say_what_is_awaited(self) -> None:
        """Each sentence once, as it says until when it holds."""
        self._said_at = steady()
        lines = awaited(self.record, self._said_at)
        new = [one for one in lines if sentence_of(one) not in self._awaited]
        self._awaited = {sentence_of(one) for one in lines}
        if new:
            say(new)

    # ---- the user's own task files ----

    def _failure(self, host: str) -> Mapping[str, Any]:
        """That a task of the host's file failed, as the tasks have set it; see ``_drain.own_tasks.Failure``."""
        failure: Mapping[str, Any] = plain(self._task_vars["hostvars"].raw_get(host).get("__drain_failure") or {})
        return failure

    def _own_file(self, host: str, answer: Answer) -> str:
        """The file that is due for a host; "" for none."""
        if answer.came.get("lost") or not answer.came.get("elsewhere"):
            return ""
        jobs = self.record["hosts"][host]["jobs"]
        return own_tasks.file(answer.came, self.hosts[host].steps, jobs, self._may_run(host))

    def _settled(self, calls: Calls, answers: dict[str, Answer], due: list[str]) -> list[str]:
        """Wait for what is under way before Ansible goes through the files, as nobody takes in an answer meanwhile."""
        self.answers = dict(answers)
        while not all(map(only_waits, self._flying_unanswered())):
            self.answers.update(calls.collect(self.record, LONGEST_PAUSE))
        for host, machine in self.record["hosts"].items():
            if host not in self.answers:
                machine["flying"] = None  # nobody waits any more for it to see a change
        return due + [host for host, answer in self.answers.items() if host not in due and self._own_file(host, answer)]

    def _flying_unanswered(self) -> list[Any]:
        hosts = self.record["hosts"]
        return [one["flying"] for host, one in hosts.items() if one["flying"] and host not in self.answers]


# ---- between two entries of the action ----


def state_path(run: str) -> str:
    """Where it lies: in Ansible's own temporary folder of this playbook, which it removes at the end."""
    return os.path.join(constants.DEFAULT_LOCAL_TMP, f"azure-maintenance-{run}.json")


def keep(path: str, run: FleetRun, more: Mapping[str, Any]) -> None:
    """Keep what the run has to know when it goes on; nobody else can read it.

    :arg more: what else has to outlive it
    """
    data = {"record": run.record, "answers": {host: list(answer) for host, answer in run.answers.items()}, **more}
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        json.dump(data, file, default=str)


def kept(path: str) -> dict[str, Any]:
    """The same, and it is kept no longer."""
    with open(path, encoding="utf-8") as file:
        data: dict[str, Any] = json.load(file)
    with contextlib.suppress(OSError):
        os.unlink(path)
    return dict(data, answers={host: Answer(*answer) for host, answer in data["answers"].items()})
