# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Refuses variables that look like this collection's and are none: of all hosts of the play (``names``), or of one (``host``).

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ansible.plugins.action import ActionBase

from ..plugin_utils._forks import load_filters, look_up_sources
from ..plugin_utils._variables import Unknown, known_variables, refused, unknown_of_play

ARGUMENTS: dict[str, dict[str, Any]] = dict(
    part=dict(type="str", choices=["names", "host"], required=True),
)

load_filters()
look_up_sources()


class ActionModule(ActionBase):
    _supports_check_mode = True
    _requires_connection = False

    def run(self, tmp=None, task_vars=None):
        task_vars = task_vars or {}
        found = dict(super().run(tmp, task_vars), changed=False)
        del tmp  # has had no effect for long
        options = self.validate_argument_spec(ARGUMENTS)[1]
        hosts = [task_vars["inventory_hostname"]] if options["part"] == "host" else task_vars["ansible_play_hosts_all"]
        problems = refused(self._unknown(task_vars, hosts))
        if problems:
            return dict(found, failed=True, msg=" ".join([*problems, "Nothing was changed."]))
        return found

    def _unknown(self, task_vars: Mapping[str, Any], hosts: Iterable[str]) -> list[Unknown]:
        """Variables of these hosts and of the play that look like ours and are none."""
        variables = {host: task_vars["hostvars"].raw_get(host) for host in hosts}
        return unknown_of_play(task_vars, variables, known_variables(self._loader.load_from_file))
