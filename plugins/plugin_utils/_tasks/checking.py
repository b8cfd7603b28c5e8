# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Refuses variables of the host that look like this collection's and are none.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._variables import refused
from .given import unknown

ARGUMENTS: dict[str, dict[str, Any]] = {}


def work(action: Any, task_vars: Mapping[str, Any], _arguments: Mapping[str, Any]) -> dict[str, Any]:
    """
    :arg action: of the task
    """
    problems = refused(unknown(action, task_vars, [task_vars["inventory_hostname"]]))
    if problems:
        return dict(changed=False, failed=True, msg=" ".join([*problems, "Nothing was changed."]))
    return dict(changed=False)
