# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The collection's own code, from this clone, whatever folder that is in."""

from __future__ import annotations

import importlib
import pathlib
import sys
import types

from .driver import Decider

CLONE = pathlib.Path(__file__).resolve().parents[3]
NAME = "ansible_collections.cloudops.azure_maintenance"
ROOM = f"{NAME}.plugins.plugin_utils._deciding"


def decider() -> Decider:
    """What decides, as it is now."""
    if NAME not in sys.modules:
        for part in ("ansible_collections", "ansible_collections.cloudops", NAME):
            package = types.ModuleType(part)
            package.__path__ = [str(CLONE)] if part == NAME else []
            sys.modules.setdefault(part, package)
    record, result = (importlib.import_module(f"{ROOM}.{part}") for part in ("record", "result"))
    return Decider(record.begun, record.ticked, result.result)
