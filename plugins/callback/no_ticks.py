# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ansible's own output, without the tasks by which roles maintain and drain go through their ticks, and those of an emulator."""

from __future__ import annotations

DOCUMENTATION = r"""
name: no_ticks
type: stdout
short_description: The default output, without the ticks of a maintenance run
description:
  - Prints what the callback P(ansible.builtin.default#callback) prints, but leaves out the tasks of the roles
    P(cloudops.azure_maintenance.maintain#role), P(cloudops.azure_maintenance.drain#role) and
    P(cloudops.azure_maintenance.emulator#role). What happens in a run is printed by the run itself, a line each.
  - Of these roles it shows what has failed, every warning and deprecation, and what a task is there to show, such as the timeline at the
    end.
  - Everything else is shown as ever, also the tasks of your own task files in C(drain_steps).
  - With C(-v) and more it leaves out nothing.
version_added: 0.2.0
author:
  - cloudops.azure_maintenance contributors (@cloudops)
extends_documentation_fragment:
  - default_callback
  - result_format_callback
requirements:
  - Set it as C(stdout_callback) in ansible.cfg, or as E(ANSIBLE_STDOUT_CALLBACK).
"""

import contextlib
import pathlib
from collections.abc import Callable, Iterator
from typing import Any

from ansible.plugins.callback.default import CallbackModule as DefaultCallback

HERE = pathlib.Path(__file__)
FOLDERS = tuple(
    f"{path.parents[2] / folder}/"
    for path in (HERE, HERE.resolve())
    for folder in ("roles/maintain", "roles/drain", "roles/emulator", "playbooks")
)
CHECKS_ARGUMENTS = "ansible.builtin.validate_argument_spec"


class _Muted:
    """A display that prints warnings, deprecations and errors, and nothing else."""

    def __init__(self, display: Any) -> None:
        self._display = display

    def __getattr__(self, name: str) -> Any:
        return getattr(self._display, name)

    def display(self, *args: Any, **kwargs: Any) -> None:
        """A line of a result."""

    def banner(self, *args: Any, **kwargs: Any) -> None:
        """The headline of a task."""


def _of_others(shows: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
    """A method that shows what the given one does, but of our tasks only what is wrong."""

    def shows_of_others(self: Any, of: Any) -> None:
        with self._muted() if self._is_ours(_task(of)) else contextlib.nullcontext():
            shows(self, of)

    return shows_of_others


class CallbackModule(DefaultCallback):
    """Banners of our tasks are printed when the first result is shown, and most results are not."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "stdout"
    CALLBACK_NAME = "cloudops.azure_maintenance.no_ticks"

    _display: Any

    def _is_ours(self, task: Any) -> bool:
        """Whether a task is of our roles' files, and not of a file of the user's that they include."""
        if self._display.verbosity:
            return False
        if task.action == CHECKS_ARGUMENTS and task._role:  # Ansible's own task, of the play's file
            return f"{task._role._role_path}/" in FOLDERS
        return (task.get_path() or "").startswith(FOLDERS)

    def _task_start(self, task: Any, prefix: str | None = None) -> None:
        if not self._is_ours(task):
            super()._task_start(task, prefix)
            return
        # what it does, but for the banner
        self._last_task_name = task.get_name().strip()
        if prefix is not None:
            self._task_type_cache[task._uuid] = prefix

    @contextlib.contextmanager
    def _muted(self) -> Iterator[None]:
        display, self._display = self._display, _Muted(self._display)
        try:
            yield
        finally:
            self._display = display

    def _print_task_banner(self, task: Any) -> None:
        if not isinstance(self._display, _Muted):  # else it would count as printed
            super()._print_task_banner(task)

    def v2_runner_on_ok(self, result: Any) -> None:
        if not self._is_ours(_task(result)):
            super().v2_runner_on_ok(result)
            return
        is_there_to_show = _result(result).get("_ansible_verbose_always")
        said = _result(result).get("msg")
        if is_there_to_show and self._last_task_banner != _task(result)._uuid:
            self._print_task_banner(_task(result))
        with self._muted():
            super().v2_runner_on_ok(result)
        if is_there_to_show:
            for line in said if isinstance(said, list) else [said]:
                self._display.display(str(line))

    v2_runner_on_skipped = _of_others(DefaultCallback.v2_runner_on_skipped)
    v2_runner_item_on_ok = _of_others(DefaultCallback.v2_runner_item_on_ok)
    v2_runner_item_on_skipped = _of_others(DefaultCallback.v2_runner_item_on_skipped)
    v2_runner_retry = _of_others(DefaultCallback.v2_runner_retry)
    v2_on_file_diff = _of_others(DefaultCallback.v2_on_file_diff)
    v2_playbook_on_include = _of_others(DefaultCallback.v2_playbook_on_include)


def _task(result: Any) -> Any:
    """The task of a result, or the one that includes a file."""
    return result.task if hasattr(result, "task") else result._task  # before ansible-core 2.19


def _result(result: Any) -> Any:
    return result.result if hasattr(result, "result") else result._result
