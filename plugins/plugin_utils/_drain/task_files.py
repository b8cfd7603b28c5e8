# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The user's own task files before anything is changed: where they are, and what they must not have.

Private to this collection.

All machines go through a file together. With ``run_once`` a task runs for one of them, and Ansible says nothing of the others, whose step
would count as done; when it fails, it fails for all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ansible.errors import AnsibleError
from ansible.module_utils.parsing.convert_bool import boolean
from ansible.parsing.dataloader import DataLoader

from ...module_utils._steps.step_type import StepError
from ...module_utils._text import shown
from .._ansible import found_in

_BLOCK = ("block", "rescue", "always")


def task_file(folders: Iterable[Any], path: str) -> str | None:
    """The file that a step names, in the first of these folders that has it; None where none has.

    :raises StepError: when a task of it, or of its blocks, has ``run_once``. Files that it includes are not read
    """
    found = found_in(folders, path)
    for task in _tasks(_content(found)) if found else ():
        if _is_true(task.get("run_once")):
            name = f"task {shown(str(task['name']))}" if task.get("name") else "a task"
            raise StepError(
                f"{path}: {name} has run_once, so it would run for one machine and count as done for all. Leave run_once out. What "
                "another host does for each machine is a task with delegate_to alone, or a step command or http with delegate_to"
            )
    return found


def _content(path: str) -> Any:
    try:
        return DataLoader().load_from_file(path)
    except AnsibleError:
        return None  # such as one that is encrypted: what is wrong with it, Ansible says when the step is run


def _tasks(content: Any) -> Iterator[Mapping[str, Any]]:
    for task in content if isinstance(content, list) else ():
        if isinstance(task, Mapping):
            yield task
            for key in _BLOCK:
                yield from _tasks(task.get(key))


def _is_true(value: Any) -> bool:
    try:
        return bool(boolean(value or False))
    except TypeError:
        return True  # a template, which may be
