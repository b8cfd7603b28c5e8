# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a machine does in one call.

Where there is Python, the machine program does the work; it is put there when it is missing. For a Windows machine the
program runs here. Whatever happens to the call, the task is ok: a machine that can't be reached now is asked again.

Private to this collection.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any

from ansible import constants
from ansible.errors import AnsibleError
from ansible.executor.interpreter_discovery import discover_interpreter
from ansible.plugins.action import ActionBase

from ...module_utils._caller import Caller
from ...module_utils._clock import steady
from ...module_utils._machine.program import lost as nothing
from .._lines.line import Limit
from .._machine.bundle import program
from .._machine.call import (
    CHECK_MODE,
    UNHEARD,
    Call,
    aged,
    as_asked,
    harmless,
    heard,
    limit,
    result,
    timely,
    with_refusals,
    within,
)
from .._machine.lost import is_unsent, no_answer, not_put, too_slow, unreachable
from .._windows import calls as windows
from .._windows.channels import refusal
from .._windows.logins import Logins
from .._windows.machine import Execute
from .._windows.standing import Standing, over

CALL: dict[str, dict[str, Any]] = dict(
    requests=dict(type="list", elements="dict", required=True),
    run=dict(type="str", default=""),
    number=dict(type="int", default=0),
    seconds=dict(type="float"),
    resource_name=dict(type="str"),
    vm_id=dict(type="str"),
    # Of the machine's last answer: `heard`, as the action returned it. Without it a call only looks
    heard=dict(
        type="dict",
        options=dict(
            uptime=dict(type="float"),
            boot_id=dict(type="str"),
            at=dict(type="float"),
        ),
    ),
    # When the call was decided, by the clock of _clock.steady, as `ended` and `heard` are
    decided=dict(type="float"),
)
OPTIONS: dict[str, dict[str, Any]] = dict(
    endpoint=dict(type="str"),
    api_version=dict(type="str"),
    folder=dict(type="str"),
    # Seconds of a call that does not say it; 0 for as many as the system's machines have
    call_timeout=dict(type="float", default=0.0),
)
ARGUMENTS: dict[str, dict[str, Any]] = dict(
    # What is asked in this call, as the record of a run has it
    call=dict(type="dict", options=CALL),
    holder=dict(type="dict"),
    # What holds for all calls of the machine: one variable of a role. An empty text is none: `omit` does not get into a variable.
    options=dict(type="dict", options=OPTIONS),
    # The variable whose `steps` are those of the machine: so they stand in no task's arguments, which some callbacks keep.
    plan=dict(type="str"),
)
ON_THE_WAY = 2.0  # seconds of a call that are not the program's: its answer has to come back, too
DISCOVERED = "discovered_interpreter_python"

program()  # Ansible loads an action once, before it forks: those that do the tasks need not make it again


class MachineCallAction(ActionBase):
    """An action that calls the machine of its task. Over a line, which ends what hangs: nothing here ends a call."""

    _standing: Standing | None = None

    def alone(self) -> AbstractContextManager[Any]:
        """While whatever is done goes over the connection, nothing else does."""
        return self._standing.alone() if self._standing else contextlib.nullcontext()

    def let_go(self) -> None:
        """Nobody calls a Windows machine any more."""
        if self._standing:
            self._standing.close()

    @property
    def is_cut(self) -> bool:
        """Whether after a call without an answer the connection has to be made anew: WinRM's shell and PSRP's runspace are gone with a start
        of the machine, and the connection would go on using them.
        """
        return self.is_windows and not (self._standing and self._standing.is_only_slow)

    def machine(self, arguments: Mapping[str, Any], task_vars: Mapping[str, Any], begins: Limit) -> dict[str, Any]:
        """What the task returns: the machine's answers, or as ``lost`` why there are none.

        :arg arguments: as ``ARGUMENTS`` has them
        :arg begins: gets the seconds that the call may take
        """
        self._facts: dict[str, Any] = {}
        options = {**(arguments["options"] or {}), **arguments["call"], "holder": arguments["holder"]}
        requests, plan = options.pop("requests"), arguments["plan"]
        steps = (task_vars.get(plan) or {}).get("steps") if plan else None
        limit_of, longest = windows.limit if self.is_windows else limit, options.pop("call_timeout", 0.0)
        seconds = options["seconds"] = options["seconds"] or limit_of(requests, longest)
        options["user"] = self._user()
        last, decided = options.pop("heard"), options.pop("decided")
        if decided is not None:
            requests = aged(requests, max(0.0, steady() - decided))
        refused = CHECK_MODE if self._task.check_mode else "" if last or self.is_windows else UNHEARD
        sent = harmless(requests) if refused else timely(requests, steady())
        if self._task.check_mode:
            options["run"] = ""  # or a look would renew the mark
        elif last and not self.is_windows:  # which the program asks for its uptime in the same call
            options["within"] = within(last, steady(), seconds)

        given = {name: value for name, value in options.items() if value not in (None, "")}
        call = {"options": given, "requests": sent, "steps": steps or []}

        begins(seconds)
        came = self._tried(task_vars, call)
        if came["lost"]:
            return dict(came, changed=False, ended=steady(), heard=None)
        if len(sent) < len(requests):
            came["answers"] = with_refusals(came["answers"], requests, refused)
        else:
            came["answers"] = as_asked(came["answers"], requests, sent)
        facts = {"ansible_facts": self._facts} if self._facts else {}
        return dict(came, **facts, changed=False, ended=steady(), heard=heard(came, steady()))

    def _tried(self, task_vars: Mapping[str, Any], call: dict[str, Any]) -> dict[str, Any]:
        try:
            return self._came(task_vars, call)
        except (AnsibleError, OSError) as error:  # a connection that failed, or sudo that refused
            return dict(nothing(unreachable(str(error))), unsent=is_unsent(str(error)))
        except Exception as error:
            # Of a library that the connection uses. As an error of the task it would lose the run this machine.
            return nothing(unreachable(f"{type(error).__name__}: {error}"))

    def _came(self, task_vars: Mapping[str, Any], call: dict[str, Any]) -> dict[str, Any]:
        """What came back of the call; what else Ansible raises is about the connection."""
        if self.is_windows:
            return self._on_windows(task_vars, call)
        seconds = call["options"]["seconds"]
        options = dict(call["options"], seconds=max(seconds / 2, seconds - ON_THE_WAY))
        over = Call(self._interpreter(task_vars), self._folders(), program(), dict(call, options=options))
        came = self._sent(over, with_program=False)
        return self._sent(over, with_program=True) if "missing" in came else came

    @property
    def is_windows(self) -> bool:
        return bool(getattr(self._connection._shell, "_IS_WINDOWS", False))

    def _on_windows(self, task_vars: Mapping[str, Any], call: Mapping[str, Any]) -> dict[str, Any]:
        """The same for a Windows machine: the program runs here, and asks a PowerShell that stays there."""
        started, seconds = steady(), call["options"]["seconds"]
        until = time.monotonic() + max(seconds / 2, seconds - ON_THE_WAY)

        name = self._name(task_vars)
        why = refusal(self._connection.transport, bool(self._connection.become))
        if why:
            return nothing(f"{name}: {why}")
        answer = windows.perform_on_windows(name, self.execute(task_vars, until), call, caller=Caller())
        if answer["lost"]:
            is_slow = not self.is_cut and time.monotonic() >= until
            return dict(answer, lost=too_slow(seconds)) if is_slow else answer
        return result(answer, call, steady() - started, time.time())

    def execute(self, task_vars: Mapping[str, Any], until: float) -> Execute:
        """Has the PowerShell that stays on the machine carry out requests, or calls a module there.

        :arg until: when an answer is too late, by time.monotonic
        """

        def called(module: str, arguments: dict[str, Any]) -> Mapping[str, Any]:
            done: Mapping[str, Any] = self._execute_module(
                module_name=module, module_args=arguments, task_vars=task_vars
            )
            return done

        self._standing = self._standing or Standing(self._connection, Logins(self._user(), self._name(task_vars)))
        return over(self._standing, called, until)

    def _name(self, task_vars: Mapping[str, Any]) -> str:
        return str(self._task.delegate_to or task_vars.get("inventory_hostname", "the machine"))

    def _sent(self, call: Call, with_program: bool) -> dict[str, Any]:
        """The same, of one way there and back."""
        started = steady()
        done = self._execute(*call.sent(with_program))
        answer = call.answer(done["stdout"])
        if answer is None:
            return nothing(no_answer(call.interpreter, done["rc"], done["stdout"], done["stderr"]))
        if "unwritable" in answer:
            return nothing(not_put(answer["unwritable"]))
        if "missing" in answer and not with_program:
            return answer
        return result(answer, call.asked, steady() - started, time.time())

    def _folders(self) -> list[str]:
        """Where the program may be: where Ansible puts modules, and in memory for machines whose disk takes nothing."""
        return [
            self.get_shell_option("remote_tmp", "~/.ansible/tmp"),
            *self.get_shell_option("system_tmpdirs", ["/var/tmp", "/tmp"]),
            "/dev/shm",
        ]

    def _user(self) -> str:
        """Who the connection is of: the controller's user, where there is no network."""
        local = self._connection.transport == "local"
        return str((self._connection.default_user if local else self._get_remote_user()) or "")

    def _execute(self, line: str, data: bytes) -> dict[str, Any]:
        """Run it as whoever the task becomes, in the task's environment."""
        if self._connection.transport == "local":
            # else it would use a terminal for a password, and leave out what comes on standard input
            self._connection.set_option("pipelining", True)
        environment = self._compute_environment_string()
        done: dict[str, Any] = self._low_level_execute_command(f"{environment} {line}".strip(), in_data=data)
        return done

    def _interpreter(self, task_vars: Mapping[str, Any]) -> str:
        """The machine's Python: the inventory's, else the one that Ansible has found or finds, which is then a fact."""
        configured = constants.config.get_config_value("INTERPRETER_PYTHON", variables=task_vars)
        wanted = str(self._templar.template(configured) or "auto").strip()
        if wanted not in ("auto", "auto_silent", "auto_legacy", "auto_legacy_silent"):
            return wanted
        known = (task_vars.get("ansible_facts") or {}).get(DISCOVERED)
        if known:
            return str(known)
        self._facts = {DISCOVERED: discover_interpreter(self, "python", wanted, task_vars)}
        return str(self._facts[DISCOVERED])
