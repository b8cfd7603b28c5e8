# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a line carries out: calls of the machine program, rounds of a step that others do for the machine, and modules of Ansible's.

Private to this collection.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, NoReturn

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ...module_utils._clock import steady
from .._drain import orders
from .._drain.calling import SECONDS, CallingAction, outcome_of, tried
from .._drain.elsewhere import aged
from .._drain.way import Order
from .._lines.line import Limit
from .._lines.lines import Lines
from .._lines.reach import reached, variables_of
from .._windows.channels import refusal
from .._windows.machine import WindowsMachine
from .._windows.modules import said_instead
from . import machine_call
from .given import PLAN


class Target(NamedTuple):
    """Whom a line calls.

    :attr place: the machine on which something is done for the host; "" for the host itself
    :attr becomes: whether it becomes another user there, as a rule root; None where the inventory says that
    """

    host: str
    place: str = ""
    becomes: bool | None = None


class MachineCall(NamedTuple):
    """A call of the machine program; see ``machine_call.ARGUMENTS``."""

    call: Mapping[str, Any]
    holder: Mapping[str, Any]
    options: Mapping[str, Any]

    def packed(self) -> dict[str, Any]:
        call = {key: value for key, value in self.call.items() if value is not None and key in machine_call.CALL}
        return {"kind": "machine", "call": call, "holder": self.holder, "options": self.options}


class RoundCall(NamedTuple):
    """One round of what others do for a machine; see ``_drain.orders``."""

    round: Mapping[str, Any]
    answer: Mapping[str, Any]
    jobs: Mapping[str, Any]

    def packed(self) -> dict[str, Any]:
        return {"kind": "round", **self._asdict()}


class ModuleCall(NamedTuple):
    """One module of Ansible's."""

    use: str
    arguments: Mapping[str, Any]
    seconds: float

    def packed(self) -> dict[str, Any]:
        return {"kind": "module", **self._asdict()}


SECONDS_ON_WINDOWS = 30.0
"""That a call of a module has there: each starts a PowerShell of its own, which takes 3 to 4 s, and 14 s where the machine is very busy."""


class _Action(machine_call.MachineCallAction, CallingAction):
    def run(self, tmp: Any = None, task_vars: Any = None) -> NoReturn:
        raise NotImplementedError("it is never a task")

    def said_instead(self, order: Order, task_vars: Mapping[str, Any]) -> dict[str, Any] | None:
        """What came of an order that needs no module on a Windows machine; None where it does."""
        if not self.is_windows or refusal(self._connection.transport, bool(self._connection.become)):
            return None
        machine = WindowsMachine(self._name(task_vars), self.execute(task_vars, time.monotonic() + SECONDS))
        async_dir = str(self.get_shell_option("async_dir", "~"))
        came = tried(lambda: said_instead(order, async_dir, machine))
        return None if came is None else outcome_of(order, came)


class MachineLine:
    """In the line's process.

    :arg action: of the run's task
    :arg plan: the steps of the host
    :arg hung: whether a call over the line before hung
    """

    def __init__(
        self, action: Any, task_vars: Mapping[str, Any], target: Target, plan: Mapping[str, Any], hung: bool = False
    ) -> None:
        self._variables = dict(variables_of(action, task_vars, target.host), **{PLAN: plan})
        if target.place:
            there = variables_of(action, task_vars, target.place)
            self._variables["ansible_delegated_vars"] = {target.place: there}
        self._reached: Callable[[], Any] = lambda: reached(
            action, _Action, self._variables, target.becomes, target.place
        )
        self._action = self._reached()
        if hung:
            end_lasting(self._action._connection)

    def call(self, call: dict[str, Any], limit: Limit) -> dict[str, Any]:
        kinds: dict[str, Callable[..., dict[str, Any]]] = {
            "machine": self._machine,
            "round": self._round,
            "module": self._module,
        }
        with self._action.alone():
            return kinds[call.pop("kind")](limit, **call)

    def close(self) -> None:
        self._action.let_go()
        self._action._connection.close()

    def _machine(self, limit: Limit, **given: Any) -> dict[str, Any]:
        found = ArgumentSpecValidator(machine_call.ARGUMENTS).validate(dict(given, plan=PLAN))
        if found.error_messages:
            raise ValueError(found.error_messages)
        came: dict[str, Any] = self._action.machine(found.validated_parameters, self._variables, limit)
        if came["lost"]:
            if self._action.is_cut:
                self._action.let_go()
                self._action = self._reached()
            return came
        facts = came.pop("ansible_facts", None)
        if facts:  # the Python that was discovered: the next call need not discover it again
            self._variables["ansible_facts"] = {**(self._variables.get("ansible_facts") or {}), **facts}
        self._clean_up()
        return came

    def _round(
        self, limit: Limit, round: Mapping[str, Any], answer: Mapping[str, Any], jobs: Mapping[str, Any]
    ) -> dict[str, Any]:
        steps = self._variables[PLAN]["steps"]
        secret = any(step["key"] == round["key"] and step.get("no_log") for step in steps)
        seconds = SECONDS_ON_WINDOWS if self._action.is_windows else SECONDS

        def made(order: Order) -> dict[str, Any]:
            limit(seconds)
            return self._action.said_instead(order, self._variables) or self._called(order, secret)

        answer = aged(answer, max(0.0, steady() - float(answer["ended"])))
        came = orders.look(round, answer, steps, jobs, made)
        return dict(came, failed=False, ended=steady())

    def _module(self, limit: Limit, use: str, arguments: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        limit(seconds)
        return self._called(Order(use, dict(arguments)))

    def _called(self, order: Order, secret: bool = False) -> dict[str, Any]:
        came: dict[str, Any] = self._action.called(order, self._variables, secret)
        if not came.get("went_wrong", {}).get("unreachable"):
            self._clean_up()
        return came

    def _clean_up(self) -> None:
        """What a module has left in the machine's temporary folder, which Ansible does when a task ends."""
        self._action.cleanup()
        self._action._connection._shell.tmpdir = None


def end_lasting(connection: Any) -> None:
    """After a call hung: over a lasting connection of ssh's that is dead the next one would hang as well."""
    if connection.transport == "ssh":
        with contextlib.suppress(Exception):
            connection.reset()


def lines_to(action: Any, task_vars: Mapping[str, Any], plans: Mapping[str, Mapping[str, Any]]) -> Lines:
    """Lines to these hosts and the places of their steps; to be used in a ``with``.

    :arg plans: the steps of each host
    """

    def connect(target: Target, hung: bool) -> Callable[[], MachineLine]:
        return lambda: MachineLine(action, task_vars, target, plans[target.host], hung)

    return Lines(connect)
