# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from ansible.module_utils.parsing.convert_bool import boolean

from ..module_utils._module import INFO_ARGUMENTS
from ..module_utils._operations.info import info
from ..plugin_utils._action import ScheduledEventsAction
from ..plugin_utils._ansible import goes_together, strategy_of


class ActionModule(ScheduledEventsAction):
    arguments = INFO_ARGUMENTS

    def run(self, tmp=None, task_vars=None):
        result = super().run(tmp, task_vars)
        del tmp  # has had no effect for long
        hosts = len((task_vars or {}).get("ansible_play_batch", ()))
        if hosts > 1 and self._holds_up_others():
            # The same text on every host, so that Ansible shows it once.
            result["warnings"] = [
                *(result.get("warnings") or ()),
                f"This task waits on {hosts} hosts, and with the strategy of this play no host goes on before all of them have ended the wait. "
                "Write strategy: free into the play, wait on one host only (delegate_to with run_once: true), or use role maintain.",
            ]
        return result

    def _holds_up_others(self):
        """Whether hosts of the play that are done with this task have to wait for others that are not."""
        task = self._task
        goes_on = task.run_once or (task.async_val and not task.poll)
        return not goes_on and boolean(task.args.get("wait"), strict=False) and goes_together(strategy_of(task))

    @staticmethod
    def operation(options, transport, clock, check_mode, find, caller):
        return info(options, transport, clock, find)
