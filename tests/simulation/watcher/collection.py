# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The collection's handling, from this clone, whatever folder that is in."""

from __future__ import annotations

import importlib
from types import SimpleNamespace
from typing import Any

from lives.collection import NAME, decider

ROOM = f"{NAME}.plugins.module_utils._watcher.engine"
UTILS = f"{NAME}.plugins.module_utils"

_PARTS: dict[str, Any] = {}


def parts() -> Any:
    """What is tried here, and the types that it is fed with."""
    if not _PARTS:
        decider()  # makes the collection's packages known
        modules = {
            name: importlib.import_module(f"{UTILS}.{path}")
            for name, path in {
                "handling": "_watcher.engine.engine",
                "interface": "_watcher.engine.interface",
                "options": "_watcher.settings.options",
                "policy": "_events.policy",
                "event": "_events.event",
                "document": "_events.document",
                "clock": "_clock",
                "second_look": "_core.second_look",
            }.items()
        }
        _PARTS["all"] = SimpleNamespace(**modules)
    return _PARTS["all"]
