# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the actions have in common: which way a machine is gone.

Where there is Python, the module of the action's name does the work. A Windows machine has none: there the same
operation runs here, on the controller, and the machine only sends its requests.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible.module_utils.errors import UnsupportedError
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ..module_utils._caller import Caller
from ..module_utils._clock import Clock
from ..module_utils._errors import ScheduledEventsError
from ..module_utils._module import WITHOUT_REQUESTS, Operation, outcome
from ._windows.channels import refusal
from ._windows.logins import Logins
from ._windows.machine import WindowsMachine, find_endpoints
from ._windows.standing import Standing, over
from ._windows.transport import WindowsTransport

INVENTORY = {name: "azure_maintenance_" + name for name in ("endpoint", "resource_name", "api_version")}
"""The options that a machine's variables have the default of, each with its variable."""


class ScheduledEventsAction(ActionBase):
    """An action that is a module on machines with Python, and an operation here for the others."""

    _supports_async = True
    _supports_check_mode = True

    arguments: dict[str, dict[str, Any]]  # the module's
    operation: Operation  # what the module does; a staticmethod

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result: dict[str, Any] = super().run(tmp, task_vars)
        del tmp  # has had no effect for long
        task_vars = task_vars or {}
        arguments = self._arguments(task_vars)
        validation = ArgumentSpecValidator(self.arguments).validate(arguments)
        # The connection is the delegate's, where there is one.
        if validation.error_messages:
            message = validation.errors.msg
            if isinstance(validation.errors[0], UnsupportedError):
                message = f"Unsupported parameters for ({self._task.action}) module: {message}"
            result.update(_refused(f"{self._asked(task_vars)}: {message}"))
        elif getattr(self._connection._shell, "_IS_WINDOWS", False):
            result.update(self._on_windows(validation.validated_parameters, task_vars))
        else:
            result.update(
                self._execute_module(module_args=arguments, task_vars=task_vars, wrap_async=self._task.async_val)
            )
        if result.pop(WITHOUT_REQUESTS, False):
            Display().v(
                "Its Python has no library requests: the standard library's HTTP is used.", host=self._asked(task_vars)
            )
        if not self._task.async_val:
            self._remove_tmp_path(self._connection._shell.tmpdir)
        return result

    def _asked(self, task_vars: Mapping[str, Any]) -> str:
        return str(self._task.delegate_to or task_vars.get("inventory_hostname", "the machine"))

    def _arguments(self, task_vars: Mapping[str, Any]) -> dict[str, Any]:
        """The task's options, and what the variables of the machine that is asked say where the task leaves one out."""
        variables, delegate = dict(task_vars), self._task.delegate_to
        if delegate:
            variables = dict(task_vars.get("ansible_delegated_vars", {}).get(delegate, {}))
            variables["inventory_hostname"] = delegate  # Ansible leaves the name of the host that delegates in it
        templar = self._templar.copy_with_new_env(available_variables=variables)
        arguments = dict(self._task.args)
        for option, variable in INVENTORY.items():
            if arguments.get(option) is None and variables.get(variable) is not None:
                value = templar.template(variables[variable])
                if value is not None and str(value).strip():
                    arguments[option] = str(value).strip()
        return arguments

    def _on_windows(self, options: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        host = self._asked(task_vars)
        if self._task.async_val:
            return _refused(
                f"{host}: async does not work with {self._task.action} on a Windows machine, because the controller "
                "does the work. Leave it out: wait_timeout limits the wait (option wait), and the keyword timeout "
                "the task. To go on with something else meanwhile, use strategy: free, or a play of its own."
            )
        why = refusal(self._connection.transport, bool(self._connection.become))
        if why:
            return _refused(f"{host}: {why}")

        def execute(module: str, arguments: dict[str, Any]) -> Mapping[str, Any]:
            result: Mapping[str, Any] = self._execute_module(
                module_name=module, module_args=arguments, task_vars=task_vars
            )
            return result

        clock, logins = Clock(), Logins(str(self._get_remote_user() or ""), host)
        stays = Standing(self._connection, logins)
        machine = WindowsMachine(host, over(stays, execute), clock)
        try:
            result = outcome(
                self.operation,
                options,
                WindowsTransport(machine, clock),
                clock,
                self._task.check_mode,
                lambda: find_endpoints(machine),
                Caller(),
            )
        finally:
            stays.close()
        if not result.get("warnings"):
            result.pop("warnings", None)
        return result


def _refused(message: str) -> dict[str, Any]:
    return {"failed": True, "changed": False, "msg": message, "failure": ScheduledEventsError(message).failure()}
