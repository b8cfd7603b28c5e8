# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Goes on with what another task has begun to undo, after the user's own task files.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .undoing import gone_on

ARGUMENTS: dict[str, dict[str, Any]] = dict(before=dict(type="dict", required=True))


def work(action: Any, task_vars: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    return gone_on(action, task_vars, arguments["before"])
