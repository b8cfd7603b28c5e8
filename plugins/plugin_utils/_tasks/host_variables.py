# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The variables of one host, and what role maintain reads of them.

Private to this collection.

A template costs a millisecond of the controller's for each host, a variable without one nothing: so what is put together of variables is put
together here, and not by further templates in the role.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, cast

from ansible.module_utils.parsing.convert_bool import boolean

from ...module_utils._imds.endpoint import DEFAULT_ENDPOINT
from .._ansible import is_windows, plain
from .._fleet.options import HostFacts, HostOptions, SameOptions, variable_of


class Reach(NamedTuple):
    """How a machine is called.

    :attr options: of the machine program
    :attr becomes: False for nobody else than who logs in; None where the inventory or the play says that
    """

    options: Mapping[str, Any]
    becomes: bool | None


class HostVariables:
    """The variables of one host, each evaluated when it is first asked for.

    :arg variables: all of them, by name
    """

    def __init__(self, action: Any, variables: Mapping[str, Any]) -> None:
        self.all = variables
        self._templar = action._templar.copy_with_new_env(available_variables=variables)
        self._evaluated: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        """
        :raises AnsibleError: a template fails
        """
        if name not in self._evaluated:
            self._evaluated[name] = plain(self._templar.template(self.all[name]))
        return self._evaluated[name]

    def get(self, name: str, default: Any) -> Any:
        """The same of a variable that need not be there."""
        return self[name] if name in self.all else default

    def is_true(self, name: str) -> bool:
        """Whatever Ansible takes for a yes."""
        return bool(boolean(self[name], strict=False))

    @property
    def is_linux(self) -> bool:
        """As it follows from how the machine is reached: no facts are gathered for that."""
        return not is_windows({name: self.get(name, "") for name in ("ansible_connection", "ansible_shell_type")})

    def of_maintain(self, *options: str) -> dict[str, Any]:
        """Options of role maintain, by their names without a prefix."""
        return {option: self[variable_of(option)] for option in options}

    @property
    def endpoint(self) -> str:
        """Of its metadata service."""
        return str(self.get("azure_maintenance_endpoint", "") or DEFAULT_ENDPOINT)

    @property
    def resource_name(self) -> str:
        """In Azure; "" where the inventory does not say it."""
        return str(self.get("azure_maintenance_resource_name", "") or "")

    @property
    def drain_reach(self) -> Reach:
        """How role drain calls the machine, which asks no metadata service. A Windows machine's user is that of the login: a play that becomes root
        means its Linux machines.
        """
        options = {
            "folder": self.get("azure_maintenance_folder", ""),
            "call_timeout": self.get("azure_maintenance_call_timeout", 0),
        }
        return Reach(options, becomes=None if self.is_linux else False)

    @property
    def reach(self) -> Reach:
        """How role maintain does."""
        options, becomes = self.drain_reach
        asks = {"endpoint": self.endpoint, "api_version": self.get("azure_maintenance_api_version", "")}
        return Reach({**options, **asks}, becomes)

    def facts(self, host: str, plan: Mapping[str, Any]) -> HostFacts:
        """What role maintain says of the machine at the beginning; numbers may be texts, as whoever writes ``-e`` has written them.

        :arg plan: its steps, as filter drain_steps returns them
        """
        prepare = plan["prepare"]
        # Nobody takes in an answer while the user's own task files run.
        tasks = [step for step in plan["steps"] if step["type"] in ("tasks", "verify")]
        found = {
            **self.of_maintain("require_steps"),
            "host": host,
            "is_linux": self.is_linux,
            "endpoint": self.endpoint,
            "resource_name": self.resource_name,
            "scope": self.get("azure_maintenance_scope", "") or "",
            "group": self.get("azure_maintenance_capacity_group", ""),
            "steps": len(prepare),
            "needs": sum(step["timeout"] for step in prepare),
            "undo_needs": sum(step["undo_timeout"] for step in prepare if step["undoes"]),
            "task_seconds": max((max(step["timeout"], step["undo_timeout"]) for step in tasks), default=0),
            "call_timeout": self.drain_reach.options["call_timeout"],
            "options": self.of_maintain(*HostOptions.__annotations__),
            "same": self.of_maintain(*SameOptions.__annotations__),
        }
        return cast("HostFacts", found)
