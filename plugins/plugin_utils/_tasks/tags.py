# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Refuses an include_role whose tags its tasks do not get: Ansible would run none of them, and end well.

Private to this collection.

With ``import_role``, or the role in ``roles``, tasks that the tags of the command line leave out were not asked for. With ``include_role`` they were:
Ansible has come here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.playbook.role_include import IncludeRole

ARGUMENTS: dict[str, dict[str, Any]] = {}


def work(action: Any, task_vars: Mapping[str, Any], _arguments: Mapping[str, Any]) -> dict[str, Any]:
    """
    :arg action: of a task with the tag always
    """
    task, wanted = action._task, task_vars.get("ansible_run_tags") or ["all"]
    including = _included_by(task)
    if including and not _runs({*task.tags} - {"always"}, wanted):
        raise AnsibleActionFail(
            f"With the tags {', '.join(sorted(wanted))} nothing of role {task_vars['role_name']} would run, because tasks do not get the tags of their "
            "include_role. "
            f"Write `apply: {{tags: [{', '.join(sorted(including.tags))}]}}` into it, besides its tags, or use import_role. "
            "Nothing was done: no machine was prepared or recovered."
        )
    return dict(changed=False)


def _included_by(task: Any) -> Any:
    """The include_role that a task of a role comes from; None for one that was imported, or stands in ``roles``."""
    parent = task._parent
    while parent is not None and not isinstance(parent, IncludeRole):
        parent = parent._parent
    return None if parent is None or parent.statically_loaded else parent


def _runs(tags: set[str], wanted: Iterable[str]) -> bool:
    """Whether a task with these tags runs, of a play that runs those with the wanted ones."""
    return not {*tags, "all", "tagged" if tags else "untagged"}.isdisjoint(wanted)
