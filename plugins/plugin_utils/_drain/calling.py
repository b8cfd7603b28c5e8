# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Modules of Ansible's as calls. Whatever goes wrong, what came is under ``went_wrong``, and becomes a part of what the run says.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ansible.errors import AnsibleActionSkip, AnsibleConnectionFailure, AnsibleError
from ansible.plugins.action import ActionBase
from ansible.plugins.loader import action_loader
from ansible.utils.unsafe_proxy import wrap_var

from ...module_utils._errors import ScheduledEventsError
from ...module_utils._steps.step_type import has_run
from .way import Order

T = TypeVar("T")

SECONDS = 20.0
"""That a call has, after which its line is killed."""


class CallingAction(ActionBase):
    """An action that calls modules."""

    _supports_check_mode = True
    _supports_async = False

    def called(self, order: Order, task_vars: Any, secret: bool = False) -> dict[str, Any]:
        """What came of one call.

        :arg secret: whether neither options nor answer may be kept where the module runs
        """
        action = self._action(order, secret)
        return outcome_of(order, tried(lambda: action.run(task_vars=task_vars)))

    def _action(self, order: Order, secret: bool) -> Any:
        """The action that Ansible would take for a task with this module."""
        task = self._task.copy()
        task.action, task.args = order.use, dict(order.options)
        task.async_val = order.lasts
        task.no_log = task.no_log or secret
        if order.environment:
            # Before ansible-core 2.19 what is not marked would be a template once more.
            task.environment = [*(task.environment or []), wrap_var(dict(order.environment))]
        return action_loader.get(
            order.use if action_loader.has_plugin(order.use) else "ansible.legacy.normal",
            task=task,
            connection=self._connection,
            play_context=self._play_context,
            loader=self._loader,
            templar=self._templar,
            shared_loader_obj=self._shared_loader_obj,
        )


def outcome_of(order: Order, came: dict[str, Any]) -> dict[str, Any]:
    """What an order returns of which this came."""
    return _outcome(came, order.ok_codes, order.failure_answers)


def tried(call: Callable[[], T]) -> T | dict[str, Any]:
    """What the call returns, or as a module's result why it failed."""
    try:
        return call()
    except AnsibleActionSkip:
        raise
    except AnsibleConnectionFailure as error:
        return dict(unreachable=True, msg=str(error))
    except (AnsibleError, ScheduledEventsError) as error:
        return dict(getattr(error, "result", None) or {}, failed=True, msg=str(error))
    except Exception as error:  # of a library that the connection uses, such as requests or pywinrm
        return dict(unreachable=True, msg=f"{type(error).__name__}: {error}")


def _outcome(came: dict[str, Any], ok_codes: Sequence[int] | None, failure_answers: bool) -> dict[str, Any]:
    """What the task returns: what came, as it came, or where that went wrong as ``went_wrong``."""
    failed = bool(came.get("failed"))
    if ok_codes is not None and has_run(came):
        failed = came["rc"] not in ok_codes
    elif ok_codes is not None and failed and not came.get("delta"):  # the module's own number: it is no exit code
        came = {key: value for key, value in came.items() if key != "rc"}
    if came.get("unreachable") or (failed and not failure_answers):
        why = {key: value for key, value in came.items() if key != "exception" and not key.startswith("_ansible")}
        if isinstance(came.get("exception"), str):
            why["exception"] = came["exception"]
        kept = {key: value for key, value in came.items() if key == "_ansible_no_log"}
        return dict(kept, changed=bool(came.get("changed")), failed=False, went_wrong=dict(why, failed=failed))
    return dict(came, failed=False)
