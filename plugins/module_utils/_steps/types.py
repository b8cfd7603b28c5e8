# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The types of drain steps, by name.

Private to this collection.
"""

from typing import Any, Dict, Mapping, Tuple

from . import commands, connections, haproxy, hook, http, services
from .step_type import StepType

TYPES: Dict[str, StepType] = {
    kind.name: kind
    for kind in (
        services.SERVICE,
        commands.COMMAND,
        http.TYPE,
        connections.TYPE,
        haproxy.TYPE,
        services.IIS,
        services.FAILOVER_CLUSTER,
        commands.TASKS,
    )
}

VERIFICATION = commands.VERIFICATION
PREPARE_HOOK = hook.PREPARE
HOOKS = tuple(phase.kind for phase in hook.PHASES.values() if phase.kind)
"""The types of hooks, in the order of their phases."""
CLOSING_HOOKS = tuple(kind.name for kind in HOOKS if kind.closing)
"""Names of those that a recovery runs."""

_PRIVATE = {kind.name: kind for kind in (VERIFICATION, *HOOKS)}


def types_of_machine(system: str) -> Tuple[str, ...]:
    """Those that a machine of this system can do alone, by its watcher."""
    return tuple(name for name, kind in TYPES.items() if kind.by_itself and system in kind.systems)


def type_of(name: str) -> StepType:
    """The type of a step of a plan: a user's, or one that no user can name."""
    return _PRIVATE[name] if name in _PRIVATE else TYPES[name]


def is_verified(step: Mapping[str, Any]) -> bool:
    """Whether it is looked at once more, before an event is approved, if what the step of a plan did still stands."""
    kind = type_of(step["type"])
    return kind.holds is not None and kind.can_look(step)
