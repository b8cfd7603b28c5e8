# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The collection's own code, from this clone, whatever folder that is in."""

from __future__ import annotations

import importlib
import pathlib
import sys
import types
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .driver import Decider

CLONE = pathlib.Path(__file__).resolve().parents[3]
NAME = "ansible_collections.cloudops.azure_maintenance"
ROOM = "plugin_utils._fleet"


def module(name: str) -> types.ModuleType:
    """A module of the collection, by its whole name."""
    if NAME not in sys.modules:
        for folder in ("ansible_collections", "ansible_collections.cloudops", NAME):
            package = types.ModuleType(folder)
            package.__path__ = [str(CLONE)] if folder == NAME else []
            sys.modules.setdefault(folder, package)
    return importlib.import_module(name)


def part(name: str) -> types.ModuleType:
    """A module of the collection's plugins, by its name below them."""
    return module(f"{NAME}.plugins.{name}")


def decider() -> Decider:
    """What decides, as it is now."""
    from .driver import Decider  # whose machines need what is above

    record, planner, schedule, result = (
        part(f"{ROOM}.{name}") for name in ("record", "tick_planner", "call_schedule", "result")
    )
    return Decider(
        record.begun,
        record.sent,
        record.move_on,
        planner.only_waits,
        schedule.seconds_until_due,
        result.result,
        part("plugin_utils._machine.call"),
    )
