# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the playbooks of a person ask their machines: all at once over lines, and none of them waits for another's answer.

Private to this collection.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ansible.errors import AnsibleError

from ...module_utils._clock import steady
from ...module_utils._machine.program import lost
from ...module_utils._text import one_line
from .._fleet.inspection import Asked
from .._lines.lines import Lines
from .._lines.reach import variables_of
from .calls import why_none
from .given import OptionTypes
from .host_variables import HostVariables, Reach
from .machine_line import MachineCall, MachineLine, Target

SECONDS = 30.0
"""That a call has, unless the inventory says it."""

LOOK: Sequence[Mapping[str, Any]] = ({"do": "hello"}, {"do": "look", "wait": 0})
"""Requests: who the machine is, and what it sees. Every answer has its mark."""

PAUSE = 30.0
"""Seconds after which nothing more is waited for than before: only that an answer has come ends a pause early."""


class Asking(NamedTuple):
    """One call of a machine.

    :attr mark: of the run as whose hand the machine is called; empty for nobody's
    """

    requests: Sequence[Mapping[str, Any]]
    mark: Mapping[str, Any] = {}


Again = Callable[[str, Mapping[str, Any], int], float | None]
"""By a host, its answer and how often it was called: after how many seconds it is called again; None for not at all."""


class _Machine(NamedTuple):
    """What the inventory says of a machine.

    :attr wrong: why it can't be asked; "" where it can
    :attr scope: that is declared, or ""
    """

    said: Asked
    reach: Reach
    wrong: str = ""
    scope: str = ""


class Machines:
    """The machines of the play, to be used in a ``with``.

    :arg action: of the task
    :arg entry_point: of role maintain, whose options they have
    :arg present: those that are called, by default all that have not left the play

    :attr hosts: those that can be called
    :attr answers: what each answered last, by host; empty for one that has left the play
    :attr wrong: those whose options can't be used, which their answers say why
    """

    def __init__(
        self, action: Any, task_vars: Mapping[str, Any], entry_point: str, present: Iterable[str] | None = None
    ) -> None:
        self._action, self._task_vars = action, task_vars
        types = OptionTypes(action, entry_point)
        present = set(task_vars["ansible_play_batch"] if present is None else present)
        self._machines = {
            host: self._said_of(host, types) if host in present else _Machine(_nothing_of(host), Reach({}, False))
            for host in task_vars["ansible_play_hosts_all"]
        }
        self.hosts = [host for host, one in self._machines.items() if host in present and not one.wrong]
        self.answers: dict[str, dict[str, Any]] = {
            host: lost(one.wrong) if one.wrong else {} for host, one in self._machines.items()
        }
        self.wrong = [host for host, one in self._machines.items() if one.wrong]

    def __enter__(self) -> Machines:
        self.lines = Lines(self._connect)
        return self

    def __exit__(self, *_: Any) -> None:
        self.lines.__exit__()

    @property
    def asked(self) -> list[Asked]:
        """All of them, with what each answered last."""
        return [one.said._replace(answer=self.answers[host]) for host, one in self._machines.items()]

    @property
    def scoped(self) -> list[Asked]:
        """The same, each with the scope that the inventory declares."""
        return [one._replace(scope=self._machines[one.host].scope) for one in self.asked]

    def ask(
        self,
        hosts: Iterable[str] | None = None,
        requests: Sequence[Mapping[str, Any]] = LOOK,
        again: Again = lambda *_: None,
    ) -> None:
        """Ask each of these, by default all, the same."""
        self.call(dict.fromkeys(self.hosts if hosts is None else hosts, Asking(requests)), again)

    def call(self, calls: Mapping[str, Asking], again: Again = lambda *_: None) -> None:
        """Call these machines, and wait for all of their answers.

        :arg again: whether one of them is called once more
        """
        times = dict.fromkeys(calls, 0)
        due = dict.fromkeys((host for host in calls if host in self.hosts), time.monotonic())
        while due or self.lines.busy:
            for host in [host for host, at in due.items() if at <= time.monotonic()]:
                del due[host]
                times[host] += 1
                self._send(host, calls[host])
            pause = min([PAUSE, *(at - time.monotonic() for at in due.values())])
            for host, came in self.lines.answers(max(0.0, pause)):
                why = why_none(came)
                self.answers[host] = dict(lost(why), ended=steady(), heard=None) if why else came
                seconds = again(host, self.answers[host], times[host])
                if seconds is not None:
                    due[host] = time.monotonic() + seconds

    def _send(self, host: str, asking: Asking) -> None:
        said, reach = self._machines[host].said, self._machines[host].reach
        holder = asking.mark.get("holder") or {}
        seconds = float(reach.options["call_timeout"]) or SECONDS
        call = {
            "requests": list(asking.requests),
            "run": holder.get("run", ""),
            "number": int(asking.mark.get("number", -1)) + 1,
            "seconds": seconds,
            "resource_name": said.name,
            "heard": self.answers[host].get("heard"),  # without it a call only looks
        }
        given = MachineCall(call, holder, reach.options)
        self.lines.call(Target(host, becomes=reach.becomes), given.packed(), seconds, host)

    def _connect(self, target: Target, hung: bool) -> Callable[[], MachineLine]:
        return lambda: MachineLine(self._action, self._task_vars, target, {"steps": []}, hung)

    def _said_of(self, host: str, types: OptionTypes) -> _Machine:
        try:
            variables = HostVariables(self._action, variables_of(self._action, self._task_vars, host))
            said = Asked(host, variables.is_linux, variables.resource_name, {}, variables.endpoint)
            scope = str(variables.get("azure_maintenance_scope", "") or "")
            return _Machine(said, variables.reach, ". ".join(types.wrong(variables)), scope)
        except AnsibleError as error:
            return _Machine(_nothing_of(host), Reach({}, False), one_line(error, 1000))


def _nothing_of(host: str) -> Asked:
    return Asked(host, True, "", {})
