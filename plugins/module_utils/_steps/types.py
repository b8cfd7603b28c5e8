# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The types of drain steps, by name.

Private to this collection.
"""

from typing import Dict

from . import command, connections, failover_cluster, haproxy, hook, http, iis, service, tasks
from .step_type import StepType

TYPES: Dict[str, StepType] = {
    kind.name: kind
    for kind in (
        service.TYPE,
        command.TYPE,
        http.TYPE,
        connections.TYPE,
        haproxy.TYPE,
        iis.TYPE,
        failover_cluster.TYPE,
        tasks.TYPE,
    )
}

VERIFICATION = tasks.VERIFICATION
PREPARE_HOOK = hook.PREPARE
HOOKS = tuple(phase.kind for phase in hook.PHASES.values() if phase.kind)
"""The types of hooks, in the order of their phases."""
CLOSING_HOOKS = tuple(kind.name for kind in HOOKS if kind.closing)
"""Names of those that a recovery runs."""

_PRIVATE = {kind.name: kind for kind in (VERIFICATION, *HOOKS)}


def type_of(name: str) -> StepType:
    """The type of a step of a plan: a user's, or one that no user can name."""
    return _PRIVATE[name] if name in _PRIVATE else TYPES[name]
