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

OF_THE_GATEWAY = (
    "In Automation Platform 2.5 and newer organizations and teams belong to the platform's gateway: create it in the web interface "
    "(Access Management), then start the playbook again, which takes it as it is."
)
HINTS = (
    (
        "://127.0.0.1/",
        "The address is what the modules take where none is given: set CONTROLLER_HOST to that of your controller, such as "
        "https://awx.example.com.",
    ),
    (
        "returned 0 items, expected 1",
        "There is no object of that name, or the token may not see it: create it first, or correct the name. AWX has a credential "
        "'Ansible Galaxy' from its installation; without one leave galaxy_credentials out.",
    ),
    (
        "Project update failed",
        "Why is in the controller's web interface: Projects, the project, its last job. It is the address, the branch or the "
        "credential of the Git repository most often. Correct it and start the playbook again.",
    ),
    ("timed out", "If the controller is slow, give it more time: CONTROLLER_REQUEST_TIMEOUT=60 (seconds)."),
    ("v2/organizations/ (HTTP 403)", OF_THE_GATEWAY),
    ("v2/teams/ (HTTP 403)", OF_THE_GATEWAY),
)
"""What a module's message leaves open, by words of it."""


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
    fields = {name: value for name, value in arguments["fields"].items() if name != "needs"}
    result = dict(action._execute_module(module_name=module, module_args=fields, task_vars=task_vars))
    result.pop("invocation", None)  # not all options that hold secrets are no_log, such as those of a notification
    if result.get("failed"):
        hints = [hint for words, hint in HINTS if words in str(result.get("msg"))]
        result["msg"] = " ".join([str(result.get("msg")), *hints])
    return result


def module_of(kind: str) -> str | None:
    """The full name of the module that makes objects of this kind, such as job_template; None where no collection has it."""
    for collection in COLLECTIONS:
        if module_loader.find_plugin_with_context(f"{collection}.{kind}").resolved:
            return f"{collection}.{kind}"
    return None
