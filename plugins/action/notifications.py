# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The end of a run of role maintain for those whom it notifies: sends what is not sent yet, for a bounded time.

Never fails: what could not be sent is a note of the run. So no condition of the task may evaluate ``maintain_notify``, which may hold lookups:
where there is nobody to notify, it counts as skipped.

Private to this collection.
"""

from __future__ import annotations

from ansible.plugins.action import ActionBase

from ..plugin_utils._ansible import plain
from ..plugin_utils._notify.notifications import end


class ActionModule(ActionBase):
    _supports_check_mode = True
    _requires_connection = False

    def run(self, tmp=None, task_vars=None):
        task_vars = task_vars or {}
        found = dict(super().run(tmp, task_vars), changed=False)
        del tmp  # has had no effect for long
        self.validate_argument_spec({})
        given = task_vars.get("maintain_notify")
        if not given:
            return dict(found, notes={}, notifications=[], skipped=True)
        notes, notified = end(plain(task_vars["__maintain_record"]), lambda: self._templar.template(given))
        return dict(
            found,
            notes={f"notifications: {number}": words for number, words in enumerate(notes)},
            notifications=notified,
        )
