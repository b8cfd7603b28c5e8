# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The calls of a run that are under way: to its machines, and to the other places where something is done for them as soon as they have answered.

Private to this collection.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from ...module_utils._clock import steady
from ...module_utils._machine.program import lost
from ...module_utils._steps.step_type import Step
from .._drain import orders
from .._drain.calling import SECONDS
from .._lines.line import RAISED
from .._lines.lines import HUNG, Lines
from .._machine.call import HARMLESS
from .._machine.lost import too_slow
from .between_entries import Answer
from .host_variables import Reach
from .machine_line import MachineCall, ModuleCall, RoundCall, Target
from .run import checked

LONG = 60.0
"""Seconds: longer than any call of a module lasts."""

TOGETHER = 0.06
"""Seconds in which answers that come after the first one are taken in with it: machines that were called together answer together."""


class Called(Protocol):
    """A machine that is called."""

    @property
    def reach(self) -> Reach: ...

    @property
    def steps(self) -> Sequence[Step]: ...


class _Sent(NamedTuple):
    number: int
    jobs: Mapping[str, Any]


class Calls:
    """
    :arg hosts: the machines, by host
    """

    def __init__(self, lines: Lines, hosts: Mapping[str, Called]) -> None:
        self._lines, self._hosts = lines, hosts
        self._sent: dict[str, _Sent] = {}  # the last call of each
        self._answers: dict[str, Answer] = {}  # of machines for which others are still at work
        self._rounds: dict[str, list[dict[str, Any]]] = {}  # these, as far as they have not begun
        self._put_by: list[tuple[Any, dict[str, Any]]] = []  # what came while modules were awaited

    @property
    def busy(self) -> int:
        """How many are under way, or wait until they may begin."""
        return self._lines.busy

    @property
    def waiting(self) -> int:
        """How many wait until they may begin: not all machines are called in one moment."""
        return self._lines.waiting

    def send(self, host: str, call: Mapping[str, Any], holder: Mapping[str, Any], jobs: Mapping[str, Any]) -> None:
        """Call a machine. A call that is still under way to it is given up.

        :arg call: as ``machine_call.CALL`` has it, with its ``seconds``
        :arg holder: whose mark the machine has, or gets
        :arg jobs: what others have gone about for the machine, by attempt
        """
        reach = self._hosts[host].reach
        self._sent[host] = _Sent(call["number"], jobs)
        self._rounds.pop(host, None)
        given = MachineCall(call, holder, reach.options)
        only_looks = all(one["do"] in HARMLESS and not one.get("wait") for one in call["requests"])
        target = Target(host, becomes=reach.becomes)
        self._lines.call(target, given.packed(), call["seconds"], (host, None), may_wait=only_looks)

    def modules(self, wanted: Sequence[tuple[Target, ModuleCall]]) -> list[dict[str, Any]]:
        """What came of these modules, all at a time, but those of one line one after the other."""
        found: dict[int, dict[str, Any]] = {}
        left = list(enumerate(wanted))
        while len(found) < len(wanted):
            for number, (target, call) in list(left):
                if not self._lines.is_busy(target):
                    self._lines.call(target, call.packed(), call.seconds, number)
                    left.remove((number, (target, call)))
            for tag, came in self._lines.answers(LONG):
                if isinstance(tag, int):
                    found[tag] = _or_unreachable(came)
                else:
                    self._put_by.append((tag, came))
        return [found[number] for number in range(len(wanted))]

    def collect(self, seconds: float) -> dict[str, Answer]:
        """The machines that have answered in full until then; returns as soon as one has, with those that answer within a moment."""
        found: dict[str, Answer] = {}
        until = time.monotonic() + seconds
        while True:
            for (host, round_), came in self._came(max(0.0, until - time.monotonic())):
                if self._take(host, round_, came):
                    until = min(until, time.monotonic() + TOGETHER) if not found else until
                    found[host] = self._answers.pop(host)
            if time.monotonic() >= until or (found and not self.busy):
                return found

    def _came(self, seconds: float) -> Iterable[tuple[Any, dict[str, Any]]]:
        put_by, self._put_by = self._put_by, []
        return put_by or self._lines.answers(seconds)

    def _take(self, host: str, round_: Mapping[str, Any] | None, came: dict[str, Any]) -> bool:
        """Whether the machine's answer is whole."""
        number, jobs = self._sent[host]
        if round_ is None:
            why = why_none(came)
            came = dict(lost(why), ended=steady(), heard=None) if why else checked(number, came)
            self._answers[host] = Answer(came, [])
            if not came.get("lost") and (came.get("ask") or came.get("elsewhere")):
                self._rounds[host] = orders.orders(came, self._hosts[host].steps, jobs)
        else:
            self._answers[host].rounds.append({**_or_unreachable(came), orders.ROUND: round_})
        left = self._rounds.get(host)
        if not left:
            return True
        self._begin(host, left.pop(0), jobs)
        return False

    def _begin(self, host: str, round_: dict[str, Any], jobs: Mapping[str, Any]) -> None:
        place = round_.get("place") or ""
        # On another machine the user's inventory says who becomes root, but for steps that say it themselves.
        becomes = round_.get("become", None if place else self._hosts[host].reach.becomes)
        call = RoundCall(round_, self._answers[host].came, jobs)
        self._lines.call(Target(host, place, becomes), call.packed(), SECONDS, (host, round_))


def why_none(came: Mapping[str, Any]) -> str:
    """Why what came is no answer; "" where it is one."""
    return too_slow(came[HUNG]) if HUNG in came else str(came.get(RAISED) or "")


def _or_unreachable(came: dict[str, Any]) -> dict[str, Any]:
    why = why_none(came)
    return {"unreachable": True, "msg": why} if why else came
