# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The calls of a run that are under way: to its machines, and to the other places where something is done for them as soon as they have answered.

Private to this collection.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ...module_utils._clock import steady
from ...module_utils._machine.program import lost
from ...module_utils._steps.step_type import Step
from .._drain import orders
from .._drain.calling import SECONDS
from .._fleet.schema import Call, Record
from .._lines.line import RAISED
from .._lines.lines import HUNG, Lines
from .._machine.bounded import too_slow
from .given import Reach
from .machine_line import MachineCall, ModuleCall, RoundCall, Target
from .run import checked

LONG = 60.0
"""Seconds: longer than any call of a module lasts."""

TOGETHER = 0.06
"""Seconds in which answers that come after the first one are taken in with it: machines that were called together answer together."""


class Answer(NamedTuple):
    """What a machine answered, and the rounds of what others did for it."""

    came: dict[str, Any]
    rounds: list[dict[str, Any]]


class Calls:
    """
    :arg reach: by host
    :arg steps: those of a host's plan
    """

    def __init__(self, lines: Lines, reach: Mapping[str, Reach], steps: Callable[[str], Sequence[Step]]) -> None:
        self._lines, self._reach, self._steps = lines, reach, steps
        self._answers: dict[str, Answer] = {}  # of machines for which others are still at work
        self._rounds: dict[str, list[dict[str, Any]]] = {}  # these, as far as they have not begun

    @property
    def busy(self) -> int:
        """How many are under way."""
        return self._lines.busy

    def send(self, record: Record, calls: Mapping[str, Call], also: Sequence[Mapping[str, Any]] = ()) -> None:
        """
        :arg also: what every machine is asked besides, in the same call
        """
        run = record["run"]
        holder = {"kind": "run", "run": run["run"], "job": run["job"], "controller": run["controller"]}
        for host, call in calls.items():
            asked = dict(call, requests=[*call["requests"], *also])
            target = Target(host, becomes=self._reach[host].becomes)
            given = MachineCall(asked, holder, self._reach[host].options)
            self._lines.call(target, given.packed(), call["seconds"], (host, None))

    def modules(self, wanted: Sequence[tuple[Target, ModuleCall]]) -> list[dict[str, Any]]:
        """What came of these modules, all at a time, but those of one line one after the other."""
        found: dict[int, dict[str, Any]] = {}
        left = list(enumerate(wanted))
        while len(found) < len(wanted):
            for number, (target, call) in list(left):
                if not self._lines.is_busy(target):
                    self._lines.call(target, call.packed(), call.seconds, number)
                    left.remove((number, (target, call)))
            found.update((number, _or_unreachable(came)) for number, came in self._lines.answers(LONG))
        return [found[number] for number in range(len(wanted))]

    def collect(self, record: Record, seconds: float) -> dict[str, Answer]:
        """The machines that have answered in full until then; returns as soon as one has, with those that answer within a moment."""
        found: dict[str, Answer] = {}
        until = time.monotonic() + seconds
        while True:
            for (host, round_), came in self._lines.answers(max(0.0, until - time.monotonic())):
                if self._take(record, host, round_, came):
                    until = min(until, time.monotonic() + TOGETHER) if not found else until
                    found[host] = self._answers.pop(host)
            if time.monotonic() >= until or (found and not self.busy):
                return found

    def _take(self, record: Record, host: str, round_: Mapping[str, Any] | None, came: dict[str, Any]) -> bool:
        """Whether the machine's answer is whole."""
        machine = record["hosts"][host]
        if round_ is None:
            call = machine["flying"]
            why = why_none(came)
            came = (
                dict(lost(why), ended=steady(), heard=None) if why else checked(call["number"] if call else None, came)
            )
            self._answers[host] = Answer(came, [])
            if not came.get("lost") and (came.get("ask") or came.get("elsewhere")):
                self._rounds[host] = orders.orders(came, self._steps(host), machine["jobs"])
        else:
            self._answers[host].rounds.append({**_or_unreachable(came), orders.ROUND: round_})
        left = self._rounds.get(host)
        if not left:
            return True
        self._begin(host, left.pop(0), machine["jobs"])
        return False

    def _begin(self, host: str, round_: dict[str, Any], jobs: Mapping[str, Any]) -> None:
        place = round_.get("place") or ""
        # On another machine the user's inventory says who becomes root, but for steps that say it themselves.
        becomes = round_.get("become", None if place else self._reach[host].becomes)
        call = RoundCall(round_, self._answers[host].came, jobs)
        self._lines.call(Target(host, place, becomes), call.packed(), 3 * SECONDS, (host, round_))


def why_none(came: Mapping[str, Any]) -> str:
    """Why what came is no answer; "" where it is one."""
    return too_slow(came[HUNG]) if HUNG in came else str(came.get(RAISED) or "")


def _or_unreachable(came: dict[str, Any]) -> dict[str, Any]:
    why = why_none(came)
    return {"unreachable": True, "msg": why} if why else came
