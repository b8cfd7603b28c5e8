# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hooks as steps: files that the watcher runs before it takes its machine out of service, and after it is back. Pure.

No step of ``drain_steps`` can be of these types: the watcher finds its hooks in a folder.

Private to this collection.
"""

from typing import Any, Dict, Mapping, NamedTuple, Optional

from .._text import one_line
from .step_type import Host, Step, StepError, StepType, Words

TRY_AGAIN = 75
"""The exit code by which a hook asks for another try (EX_TEMPFAIL)."""

PREFIX = "AZURE_MAINTENANCE_"

_MOST = 100000
"""Characters of a variable: the system takes no more than 128 kB. The file has all of it."""


def variables(phase: str, context: Mapping[str, Any]) -> Dict[str, str]:
    """What a hook finds in its environment.

    :arg phase: one of :data:`PHASES`
    :arg context: a report, in the one JSON form of this collection
    """
    event = context.get("event") or {}
    values = {
        "PHASE": phase,
        "HAPPENED": context.get("happened"),
        "MESSAGE": context.get("message"),
        "ID": event.get("id"),
        "TYPE": event.get("type"),
        "STATUS": event.get("status"),
        "SOURCE": event.get("source"),
        "RESOURCES": ",".join(map(str, event.get("resources") or ())),
        "NAME": (context.get("machine") or {}).get("name"),
        "NOT_BEFORE": event.get("not_before_utc"),
        "DURATION": event.get("duration"),
    }
    return {PREFIX + name: one_line(value, _MOST) for name, value in values.items()}


def _complete(step: Step, host: Host, system: str) -> Words:
    raise StepError("a hook is no step of a user's")


PREPARE = StepType(name="prepare_hook", options={}, complete=_complete, once=True)
"""Does: runs the file. Undoes nothing."""

RECOVER = StepType(name="recover_hook", options={}, complete=_complete, undoing="recover_hook", once=True, closing=True)
"""Does nothing. Its undoing runs the file, after all that was done has been undone."""


class Phase(NamedTuple):
    """When hooks are run: those in the folder of the phase's name, such as prepare.d.

    kind: what they are as steps; None where they are none, as the sender of reports runs them
    lacks: what follows from a hook that is not run, for people; "" where nothing does
    """

    kind: Optional[StepType]
    lacks: str = ""


PHASES: Dict[str, Phase] = {
    "prepare": Phase(PREPARE, "until then no event that needs it is approved"),
    "recover": Phase(
        RECOVER, "until then no event that needs it is approved, and a recovery without it counts as failed"
    ),
    "notify": Phase(None),
}
"""By name, in the order in which they come. Whoever finds, checks, installs, runs or lists hooks goes by this table."""

PHASE_OF: Dict[str, str] = {phase.kind.name: name for name, phase in PHASES.items() if phase.kind}
"""The phase of a hook that is a step, by the step's type."""
