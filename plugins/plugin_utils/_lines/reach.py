# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The connection to a host, set up as Ansible sets it up for a task on that host: so one action can act on many hosts.

Ansible has no public interface for this. The private one stands in this file alone, and tests/unit/plugins/action/test_reach.py
compares the result with Ansible's own tasks on every supported ansible-core.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from ansible.executor.process import worker
from ansible.executor.task_executor import TaskExecutor
from ansible.inventory.host import Host
from ansible.playbook.task import Task
from ansible.plugins.action import ActionBase
from ansible.plugins.connection import ConnectionBase

T = TypeVar("T", bound=ActionBase)


def variables_of(action: ActionBase, task_vars: Mapping[str, Any], host: str) -> dict[str, Any]:
    """All variables of a host as its own task would have them: those of the play, the role and this task included.

    :arg host: need not be in the inventory, as a task can be delegated to any name
    """
    task, hostvars = _unprepared(action), task_vars["hostvars"]
    # What hostvars itself gives of a host lacks the variables of play, role and task.
    found: dict[str, Any] = hostvars._variable_manager.get_vars(
        play=task.get_play(),
        host=_host(hostvars, host),
        task=task,
        _hosts=task_vars["ansible_play_batch"],  # else looked up once for each host, and without an implicit localhost
        _hosts_all=task_vars["ansible_play_hosts_all"],
    )
    return found


def reached(action: ActionBase, kind: type[T], variables: dict[str, Any], become: bool | None, place: str = "") -> T:
    """An action that acts on the host of these variables, over a connection of its own.

    The steps and their order are those of TaskExecutor._execute (_execute_internal from ansible-core 2.19 on).

    :arg kind: the class of the action
    :arg variables: of the host, from ``variables_of``
    :arg become: None leaves what the action's own task has
    :arg place: the host that the action is delegated to; its variables, from ``variables_of`` as well, are those under
        ``ansible_delegated_vars``
    """
    task = _unprepared(action)
    task.args, task.delegate_to = {}, place or None
    if become is not None:
        task.become = become
    connects = variables
    if place:
        # A copy, as set_task_and_variable_override adds what is missing. Templates keep the name of the host that delegates.
        connects = dict(variables["ansible_delegated_vars"][place], inventory_hostname=variables["inventory_hostname"])
        variables = dict(variables, ansible_delegated_vars={place: connects})
    # Keywords of the task may use variables that the place does not have.
    either, templar = _templar(action, {**variables, **connects}), _templar(action, connects)

    # The play's context holds the command line's options and passwords. In the action's own context the variables of the
    # action's host have replaced them, its passwords as well, and would reach every host that has none.
    context = worker.current_worker._play_context.set_task_and_variable_override(task, variables, either)
    context.post_validate(either)
    if not context.remote_addr:
        context.remote_addr = _host(variables["hostvars"], variables["inventory_hostname"]).address
    known = dict(variables)
    context.update_vars(known)  # keywords may use ansible_user and its like although no variable sets them
    task.post_validate(_templar(action, known))

    connection = _Executor(task, context, action._shared_loader_obj).connected(connects, templar)
    seen = dict(variables)  # a copy, or the address of a place would stay there for the next connection
    connection.update_vars(seen)
    reaching: T = kind(
        task=task,
        connection=connection,
        play_context=context,
        loader=action._loader,
        templar=action._templar.copy_with_new_env(available_variables=seen),
        shared_loader_obj=action._shared_loader_obj,
    )
    return reaching


class _Executor(TaskExecutor):
    """Ansible's own, but only the two methods that make a connection and set the options of its plugins."""

    _task: Task = None  # from ansible-core 2.20 on a property that gives the task of the running action

    def __init__(self, task: Task, context: Any, plugins: Any) -> None:
        self._task, self._play_context, self._shared_loader_obj = task, context, plugins
        self._new_stdin = None  # before ansible-core 2.19 handed over to the connection; no plugin uses it

    def connected(self, variables: Mapping[str, Any], templar: Any) -> ConnectionBase:
        name = variables.get("ansible_connection")
        name = self._task.connection if name is None else templar.template(name)
        self._connection = self._get_connection(variables, templar, name)
        self._set_connection_options(variables, templar)
        return self._connection


def _unprepared(action: ActionBase) -> Task:
    """The action's task as it was before the values of the action's host replaced its templates and it was delegated."""
    prepared = action._task
    return Task.load(prepared.get_ds(), block=prepared._parent, role=prepared._role, loader=action._loader)


def _host(hostvars: Any, name: str) -> Host:
    return hostvars._inventory.get_host(name) or Host(name=name)


def _templar(action: ActionBase, variables: Mapping[str, Any]) -> Any:
    """What Ansible's playbook objects use for templates: from ansible-core 2.19 on the engine within a Templar."""
    templar = action._templar.copy_with_new_env(available_variables=variables)
    return getattr(templar, "_engine", templar)
