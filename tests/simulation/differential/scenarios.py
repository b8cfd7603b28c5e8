# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lives in which a run of ``maintain`` and a machine's own watcher decide differently: a script each, the smallest that shows it."""

from __future__ import annotations

from .script import Coming, Script, Work

_REBOOT = {"lasts": 30.0, "down": 2.0}
_PREPARE = ({"name": "All", "do": "prepare"},)
_APPROVE = ({"name": "All", "do": "approve"},)

LATE = Script(
    (Coming("E-0", 30.0, "Freeze", 300.0, {"lasts": 20.0}),), work=(Work(do=278.0, limit=300.0),), margin=10.0
)

HAS_FAILED_BEFORE = Script(
    (
        Coming("E-0", 30.0, "Freeze", 600.0, {"lasts": 20.0}),
        Coming("E-1", 100.0, "Reboot", 0.0, {"lasts": 40.0, "down": 5.0}),
    ),
    work=(Work(fails=True),),
)

DUE = Script(
    (Coming("E-0", 30.0, "Freeze", 600.0, {"lasts": 20.0}),),
    policy=_PREPARE,
    prepare_before=60.0,
    work=(Work(), Work(), Work(), Work()),
)

AWAY = Script((Coming("E-0", 30.0, "Reboot", 300.0, {"lasts": 15.0, "down": 20.0}),), policy=_APPROVE)

CLOSE = Script((Coming("E-0", 30.0, "Freeze", 300.0, {"lasts": 20.0, "cancelled_after": 1.0}),), policy=_APPROVE)
