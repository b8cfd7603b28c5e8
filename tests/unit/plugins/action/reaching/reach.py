# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records the connection of its task, and in one task those of all hosts as `reached` gives them; each in a file of its own."""

from __future__ import annotations

import json
import os
import pathlib

from ansible import constants
from ansible.plugins.action import ActionBase

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._lines.reach import reached, variables_of

OF_CONTEXT = (
    "remote_addr",
    "port",
    "remote_user",
    "password",
    "timeout",
    "private_key_file",
    "connection",
    "executable",
)
OF_BECOME = ("become", "become_method", "become_user", "become_pass", "become_exe", "become_flags")
OF_TASK = (
    "remote_user",
    "port",
    "environment",
    "delegate_to",
    "timeout",
    "check_mode",
    "diff",
    "no_log",
    "collections",
)


class ActionModule(ActionBase):
    def run(self, tmp=None, task_vars=None):
        args = self._task.args
        if "hosts" not in args:
            self.record("expected", args["case"], task_vars)
            return {}
        for host in args["hosts"]:
            place = args.get("place", "")
            variables = variables_of(self, task_vars, host)
            if place:
                variables["ansible_delegated_vars"] = {place: variables_of(self, task_vars, place)}
            action = reached(self, ActionModule, variables, args.get("become"), place)
            action.record("found", args["case"], variables)
        return {}

    def record(self, kind, case, variables):
        host, place = variables["inventory_hostname"], self._task.delegate_to
        file = pathlib.Path(os.environ["RECORDS"], kind, f"{case}: {host}" + (f" to {place}" if place else ""))
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(self.found(variables, place), default=str, sort_keys=True))

    def found(self, variables, place):
        connection, context, task = self._connection, self._play_context, self._task
        connects = variables["ansible_delegated_vars"][place] if place else variables
        interpreter = constants.config.get_config_value("INTERPRETER_PYTHON", variables=connects)
        found = {
            "plugins": [
                connection._load_name,
                connection._shell._load_name,
                connection.become and connection.become.name,
            ],
            "connection": connection.get_options(),
            "shell": connection._shell.get_options(),
            "become": connection.become.get_options() if connection.become else {},
            "context": {name: getattr(context, name) for name in OF_CONTEXT + (OF_BECOME if connection.become else ())},
            "task": {name: getattr(task, name) for name in OF_TASK + OF_BECOME[:3]},
            "environment": self._compute_environment_string(),
            "user": self._get_remote_user(),
            "interpreter": self._templar.template(interpreter),
            "variables": sorted(name for name in variables if not name.startswith(("_", "ansible_"))),
            "hosts": [variables[f"ansible_play_{name}"] for name in ("batch", "hosts", "hosts_all")],
            "templates": self._templar.template(variables["addressed"]),
        }
        if "GREETING" in found["environment"] and connection._load_name == "local" and not connection.become:
            found["executed"] = self.executed("ansible.builtin.command", {"argv": ["printenv", "GREETING"]}, variables)
        return found

    def executed(self, module, arguments, variables):
        """What a module printed that was also begun to run asynchronously."""
        self._task.async_val = 60
        begun = self._execute_module(module, arguments, task_vars=variables, wrap_async=True)
        self._task.async_val = 0
        assert begun["started"], begun
        return self._execute_module(module, arguments, task_vars=variables)["stdout"]
