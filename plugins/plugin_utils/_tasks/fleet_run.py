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

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ...module_utils._clock import steady
from .._ansible import say
from .._drain.own_tasks import Failure
from .._fleet import record as run_record
from .._fleet.call_schedule import seconds_until_due
from .._fleet.progress import awaited, sentence_of
from .._fleet.state import Record
from .._fleet.tick_planner import only_waits
from .._lines.lines import Lines
from .between_entries import Answer, wanted
from .calls import Calls
from .given import Host
from .machine_line import lines_to
from .run import Announced, Notify, move_on

LONGEST_PAUSE = 30.0
"""Seconds after which a run that waits decides anew though nothing has come."""

FIRST = 15.0
"""Seconds after its first calls after which a run begins without the machines that have not answered them; the calls go on. Where not all can be
called at once it waits for the others, unless an event is shown."""

SILENT = 20.0
"""Seconds without a word after which a run says what it waits for."""

LEFT = "It has left the play: after an error of its own, which is shown above, or by a meta task such as end_host."


def _shows_event(answer: Answer) -> bool:
    return any(one.get("events") for one in answer.came.get("answers") or ())


class FleetRun:
    """
    :arg action: of the run's task
    :arg left: the hosts that have left the play

    :attr answers: what the machines have answered for whose user's own task files it has returned, and who answered meanwhile
    """

    def __init__(
        self,
        action: Any,
        task_vars: Mapping[str, Any],
        hosts: Mapping[str, Host],
        left: Collection[str],
        record: Record,
        answers: Mapping[str, Answer],
        notify: Notify,
    ) -> None:
        self._action, self._task_vars = action, task_vars
        self.hosts, self._left = hosts, left
        self.record, self.answers = record, dict(answers)
        self._announced = Announced(record, notify)
        self._said_at = steady()
        self._awaited: set[str] = set()  # what was last said to be awaited

    def lines(self) -> Lines:
        """For as long as this task lasts."""
        return lines_to(self._action, self._task_vars, {host: one.plan for host, one in self.hosts.items()})

    def calls(self, lines: Lines) -> Calls:
        return Calls(lines, self.hosts)

    def ask_everybody(self, calls: Calls, also: Sequence[Mapping[str, Any]]) -> dict[str, Answer]:
        """The first calls of a run; returns the answers, which say how it begins. It goes by them, too, and announces nothing of that yet.

        :arg also: what every machine is asked besides
        """
        made = run_record.sent(self.record)
        self._call(calls, made, also)
        found: dict[str, Answer] = {}
        # In check mode nothing is missed meanwhile, and the plan that it shows is to be that of all.
        longest = math.inf if self.record.run.check else FIRST
        until = steady() + longest
        while len(found) < len(made) and steady() < until:
            if calls.waiting and not any(map(_shows_event, found.values())):
                until = steady() + longest  # it counts from the last call on
            found.update(calls.collect(min(LONGEST_PAUSE, until - steady())))
        self._decide(found, {})
        return found

    def announce(self) -> None:
        """What has come of the first calls."""
        self._announced.go_on()

    def go_on(self, calls: Calls, failures: Mapping[str, Failure] | None = None) -> dict[str, dict[str, Any]]:
        """Until it is over, or the user's own task files are due; returns the hosts whose files these are, with what the tasks have to know.

        :arg failures: of the files for which it has returned, by host
        """
        if self.answers:
            answers, self.answers = self.answers, {}
            self._take_in(answers, failures or {})
        while not self.record.finished:
            self._send(calls)
            answers = calls.collect(self._pause())
            if any(map(self._own_file, answers, answers.values())):
                return self._settled(calls, answers)
            self._take_in(answers, {})
        self._let_end(calls)
        return {}

    # ---- calls ----

    def _send(self, calls: Calls) -> None:
        planned = self.record.todo.calls
        made = run_record.sent(self.record, [host for host, call in planned.items() if call["due"] <= steady()])
        gone = {host for host in made if host in self._left}
        self._call(calls, {host: call for host, call in made.items() if host not in gone})
        if gone:
            self._take_in({host: Answer({"lost": LEFT, "left": True}, []) for host in gone}, {})

    def _call(self, calls: Calls, made: Mapping[str, Any], also: Sequence[Mapping[str, Any]] = ()) -> None:
        run = self.record.run
        holder = {"kind": "run", "run": run.name, "job": run.job, "controller": run.controller}
        for host, call in made.items():
            asked = dict(call, requests=[*call["requests"], *also])
            calls.send(host, asked, holder, self.record.hosts[host].elsewhere.jobs)

    def _pause(self) -> float:
        """Seconds after which something may be due though no machine answers."""
        todo, now = self.record.todo, steady()
        due = [call["due"] - now for call in todo.calls.values()]
        if todo.idle and not due:
            return max(1.0, min(LONGEST_PAUSE, seconds_until_due(self.record, now)))
        return max(0.0, min([*due, todo.seconds if not todo.calls else LONGEST_PAUSE]))

    def _let_end(self, calls: Calls) -> None:
        """What was begun by a call ends with it; nobody waits for one that only waits for a change."""
        while not all(map(only_waits, self._flying())):
            for host in calls.collect(LONGEST_PAUSE):
                self.record.hosts[host].flying = None

    def _flying(self) -> list[Any]:
        """The calls that are under way, but for those whose answers are kept until Ansible has gone through the user's own task files."""
        hosts = self.record.hosts
        return [one.flying for host, one in hosts.items() if one.flying and host not in self.answers]

    # ---- answers ----

    def _take_in(self, answers: Mapping[str, Answer], failures: Mapping[str, Failure]) -> None:
        """Decide anew, and say what is new.

        :arg failures: of the user's own task files, by host
        """
        self._decide(answers, failures)
        if self._announced.go_on():
            self._said_at = steady()
        elif steady() - self._said_at >= SILENT and not self.record.todo.idle:
            self._say_what_is_awaited()

    def _decide(self, answers: Mapping[str, Answer], failures: Mapping[str, Failure]) -> None:
        whole = {host: self._whole(host, answer, failures.get(host)) for host, answer in answers.items()}
        move_on(self.record, whole)

    def _whole(self, host: str, answer: Answer, failure: Failure | None) -> dict[str, Any]:
        if host in self._left:
            return {"lost": LEFT, "left": True}
        jobs = self.record.hosts[host].elsewhere.jobs
        return answer.whole(self.hosts[host].steps, jobs, self._may_run(host), failure)

    def _may_run(self, host: str) -> bool:
        return host in self.record.todo.tasks_allowed

    def _say_what_is_awaited(self) -> None:
        """Each sentence once, as it says until when it holds."""
        self._said_at = steady()
        lines = awaited(self.record)
        new = [one for one in lines if sentence_of(one) not in self._awaited]
        self._awaited = {sentence_of(one) for one in lines}
        if new:
            say(new)

    # ---- the user's own task files ----

    def _own_file(self, host: str, answer: Answer) -> str:
        return answer.own_file(self.hosts[host].steps, self.record.hosts[host].elsewhere.jobs, self._may_run(host))

    def _settled(self, calls: Calls, answers: dict[str, Answer]) -> dict[str, dict[str, Any]]:
        """Wait for what is under way before Ansible goes through the files, as nobody takes in an answer meanwhile."""
        self.answers = dict(answers)
        while not all(map(only_waits, self._flying())):
            self.answers.update(calls.collect(LONGEST_PAUSE))
        for host, machine in self.record.hosts.items():
            if host not in self.answers:
                machine.flying = None  # nobody waits any more for it to see a change
        files = {host: self._own_file(host, answer) for host, answer in self.answers.items()}
        return {host: wanted(file, self.answers[host]) for host, file in files.items() if file}
