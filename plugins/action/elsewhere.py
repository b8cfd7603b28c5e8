# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One module of Ansible's for a step that others do, as a call that ends in its time: all machines of a run wait for it.

A call that had to be ended counts as one to a machine that can't be reached. Where a task asks several machines one after the
other, such as load balancers, those after one that hangs share what it has left of the time. Whatever goes wrong, the task is ok:
what came is under ``went_wrong``, and becomes a part of what the run says, instead of an error in Ansible's red.

Private to this collection.
"""

from __future__ import annotations

from typing import Any

from ansible.errors import AnsibleActionSkip, AnsibleConnectionFailure, AnsibleError
from ansible.plugins.loader import action_loader

from ..plugin_utils._machine import lost
from ..plugin_utils._machine.bounded import BoundedAction

ARGUMENTS: dict[str, dict[str, Any]] = dict(
    use=dict(type="str", required=True),
    options=dict(type="dict"),
    seconds=dict(type="float", default=20.0),
    # Exit codes with which a command has succeeded
    ok_codes=dict(type="list", elements="int"),
    # Whether a failure is an answer like others, such as that of a server which is not ready yet
    failure_answers=dict(type="bool", default=False),
)
LEAST = 4.0
"""Seconds that a call has in any case: an answer of a machine that is well takes one or two."""

_used: dict[str, float] = {}
"""Seconds of calls that had to be ended, by task. Ansible goes through a task's loop in a process of its own, round after round."""


class ActionModule(BoundedAction):
    _supports_check_mode = True
    _supports_async = True

    def run(self, tmp=None, task_vars=None):
        super().run(tmp, task_vars)
        del tmp  # has had no effect for long
        given = self.validate_argument_spec(ARGUMENTS)[1]
        action = self._action(given["use"], given["options"] or {})
        used = _used.get(self._task._uuid, 0.0)
        seconds = max(given["seconds"] - used, min(LEAST, given["seconds"]))
        came, ended = self.bounded(seconds, lambda: _tried(action, task_vars))
        if ended:
            _used[self._task._uuid] = used + seconds
        if ended and (came is None or came.get("failed") or came.get("unreachable")):
            self.is_lost = True
            came = dict(unreachable=True, msg=lost.too_slow(seconds))
        return _outcome(came or {}, given["ok_codes"], given["failure_answers"])

    def _action(self, name: str, options: dict[str, Any]) -> Any:
        """The action that Ansible would take for a task with this module."""
        task = self._task.copy()
        task.action, task.args = name, options
        return action_loader.get(
            name if action_loader.has_plugin(name) else "ansible.legacy.normal",
            task=task,
            connection=self._connection,
            play_context=self._play_context,
            loader=self._loader,
            templar=self._templar,
            shared_loader_obj=self._shared_loader_obj,
        )


def _tried(action: Any, task_vars: Any) -> dict[str, Any]:
    try:
        came: dict[str, Any] = action.run(task_vars=task_vars)
        return came
    except AnsibleActionSkip:
        raise
    except AnsibleConnectionFailure as error:
        return dict(unreachable=True, msg=str(error))
    except AnsibleError as error:
        return dict(getattr(error, "result", None) or {}, failed=True, msg=str(error))


def _outcome(came: dict[str, Any], ok_codes: list[int] | None, failure_answers: bool) -> dict[str, Any]:
    """What the task returns: what came, as it came, or where that went wrong as ``went_wrong``."""
    failed = bool(came.get("failed"))
    if ok_codes is not None and "rc" in came:
        failed = came["rc"] not in ok_codes
    if came.get("unreachable") or (failed and not failure_answers):
        why = {key: value for key, value in came.items() if key != "exception" and not key.startswith("_ansible")}
        if isinstance(came.get("exception"), str):
            why["exception"] = came["exception"]
        kept = {key: value for key, value in came.items() if key == "_ansible_no_log"}
        return dict(kept, changed=bool(came.get("changed")), failed=False, went_wrong=dict(why, failed=failed))
    return dict(came, failed=False)
