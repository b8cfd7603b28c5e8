# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The scripts of role ``drain``, as calls of ``ansible.windows.win_powershell``.

Private to this collection.
"""

from __future__ import annotations

import pathlib
from typing import Any

from .way import Order

FOLDER = pathlib.Path(__file__).parents[4] / "roles" / "drain" / "files"


def script(name: str, **parameters: Any) -> Order:
    """One look of a script."""
    text = (FOLDER / name).read_text(encoding="ascii").rstrip()
    options = {"script": text, "parameters": dict(parameters, Limit=1), "error_action": "stop"}
    return Order("ansible.windows.win_powershell", options)
