# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One object of AWX or Automation Platform, made by the module of whichever collection is installed.

Private to this collection. Neither collection is a dependency of ours: who has no AWX needs none of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible.plugins.loader import module_loader

COLLECTIONS = ("ansible.controller", "awx.awx")
"""Whose modules can be used, the first that has the module. They take the same options: the first is built from the second."""

ARGUMENTS: dict[str, dict[str, Any]] = dict(
    kind=dict(type="str", required=True),
    fields=dict(type="dict", required=True),
)


def work(action: Any, task_vars: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """
    :arg action: of the task
    """
    kind = arguments["kind"]
    module = module_of(kind)
    if module is None:
        looked_for = " and ".join(f"{collection}.{kind}" for collection in COLLECTIONS)
        return dict(
            failed=True,
            msg=f"There is no module to create a {kind}: {looked_for} were looked for. Install one of the two collections, "
            "with AWX: ansible-galaxy collection install awx.awx; Automation Platform's execution environments have "
            "ansible.controller. Nothing was changed.",
        )
    result = dict(action._execute_module(module_name=module, module_args=arguments["fields"], task_vars=task_vars))
    result.pop("invocation", None)  # not all options that hold secrets are no_log, such as those of a notification
    return result


def module_of(kind: str) -> str | None:
    """The full name of the module that makes objects of this kind, such as job_template; None where no collection has it."""
    for collection in COLLECTIONS:
        if module_loader.find_plugin_with_context(f"{collection}.{kind}").resolved:
            return f"{collection}.{kind}"
    return None
