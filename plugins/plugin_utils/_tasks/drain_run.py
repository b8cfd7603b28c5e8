# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Preparations or recoveries of several hosts at a time, as ``_drain.alone`` decides about each: the machines are called over lines, and none
waits for another.

Private to this collection.

A task uses it so::

    with lines_to(action, task_vars, {host: one.plan for host, one in hosts.items()}) as lines:
        run = DrainRun(hosts)
        own = run.go_on(Calls(lines, hosts))
    run.records[host]["result"]

Where there is ``own``, Ansible has to go through the user's own task files; after them another DrainRun goes on, as ``draining`` shows.
"""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ansible.utils.display import Display
from ansible.utils.unsafe_proxy import wrap_var

from ...module_utils._clock import steady
from ...module_utils._steps.step_type import Step
from .._drain import alone
from .._drain.own_tasks import Failure
from .._drain.plan import Plan
from .._machine import call
from .._windows import calls as windows
from .between_entries import Answer, Kept, wanted
from .calls import Calls
from .host_variables import Reach

LONGEST_PAUSE = 30.0
"""Seconds; any answer ends a pause."""


class Drained(NamedTuple):
    """What is to be done with a host.

    :attr options: with which its record begins; see ``_drain.alone.begun``
    :attr plan: its steps, which may hold passwords; empty where the ``trouble`` of the options says why they can't be run
    """

    options: Mapping[str, Any]
    plan: Plan
    reach: Reach
    is_windows: bool

    @classmethod
    def kept(cls, given: Sequence[Any]) -> Drained:
        """One that was kept in a file. Before ansible-core 2.19 a text of it that is not marked would be a template once more."""
        options, plan, reach, is_windows = wrap_var(given)
        return cls(options, plan, Reach(*reach), is_windows)

    @property
    def steps(self) -> Sequence[Step]:
        return self.plan["steps"]

    def seconds(self, requests: Sequence[Mapping[str, Any]]) -> float:
        """That a call with these requests may take."""
        limit = windows.limit if self.is_windows else call.limit
        return limit(requests, float(self.reach.options["call_timeout"]))


class DrainRun:
    """
    :arg records: of a run that goes on, with what was ``kept``

    :attr records: of each host; the ``result`` of one that is ``finished`` says what came of it
    :attr answers: what the machines have answered when it returned for the user's own task files
    :attr left: the hosts that have left the play; they are left as they are
    """

    def __init__(
        self,
        hosts: Mapping[str, Drained],
        records: Mapping[str, alone.Record] | None = None,
        kept: Kept | None = None,
    ) -> None:
        self._hosts, self.left = hosts, kept.left if kept else []
        self.records = dict(
            records or {name: alone.begun(one.options, one.plan, steady()) for name, one in hosts.items()}
        )
        self.answers: dict[str, Answer] = {}
        self._calling: set[str] = set()
        self._due = dict.fromkeys(self.records, steady())  # when each is called next
        if kept:
            self._take_in(kept.answers, kept.failures)

    def go_on(self, calls: Calls) -> dict[str, dict[str, Any]]:
        """Until every host is finished, or the user's own task files are due; returns the hosts whose files these are, with what the tasks have to
        know (``between_entries.wanted``).
        """
        while self._open():
            self._send(calls)
            answers = calls.collect(self._pause())
            self._calling -= set(answers)
            if any(map(self._own_file, answers, answers.values())):
                return self._settled(calls, answers)
            self._take_in(answers, {})
        return {}

    def _open(self) -> list[str]:
        return [host for host, one in self.records.items() if not one["finished"] and host not in self.left]

    def _send(self, calls: Calls) -> None:
        for host in self._open():
            made = self.records[host]["call"]
            if made and host not in self._calling and self._due[host] <= steady():
                asked = dict(made, seconds=self._hosts[host].seconds(made["requests"]))
                calls.send(host, asked, self.records[host]["holder"], self.records[host]["jobs"])
                self._calling.add(host)

    def _pause(self) -> float:
        due = [self._due[host] - steady() for host in self._open() if host not in self._calling]
        return max(0.0, min([LONGEST_PAUSE, *due]))

    def _take_in(self, answers: Mapping[str, Answer], failures: Mapping[str, Failure]) -> None:
        for host in set(self._open()) & set(answers):
            record = self.records[host]
            try:
                whole = answers[host].whole(self._hosts[host].steps, record["jobs"], True, failures.get(host))
                after = alone.ticked(record, whole, steady())
            except Exception as error:  # it is this host's failure; its mark says what was done
                Display().vvv(traceback.format_exc(), host=host)
                words = f"What comes next could not be decided ({type(error).__name__}: {error})"
                after = alone.stopped(record, words, steady())
            self.records[host], self._due[host] = after, steady() + after["rest"]

    def _own_file(self, host: str, answer: Answer) -> str:
        return answer.own_file(self._hosts[host].steps, self.records[host]["jobs"], True)

    def _settled(self, calls: Calls, answers: dict[str, Answer]) -> dict[str, dict[str, Any]]:
        """Wait for the calls that are under way, as nobody takes in an answer while Ansible goes through the files."""
        while self._calling:
            more = calls.collect(LONGEST_PAUSE)
            self._calling -= set(more)
            answers.update(more)
        self.answers = answers
        files = {host: self._own_file(host, answer) for host, answer in answers.items()}
        return {host: wanted(file, answers[host]) for host, file in files.items() if file}
