# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Second looks of a run: which prepared machines are to be looked at once more, and whether an event may be approved by what was found. Pure.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Collection

from ...module_utils._core.mark_view import OURS
from ...module_utils._core.second_look import NOT_LOOKED_AT, NOTHING, SecondLook
from .approval_reasons import codes, decision_of, may_be_approved
from .evaluation import is_handled, needs_preparation
from .event_state import EventState
from .machine_state import MachineState
from .marks import has_restarted, is_prepared, phase, was_prepared, whose
from .state import Record


def stands(record: Record, entry: EventState) -> bool:
    """Whether all that was done for an event was looked at a moment ago. Of what a machine's own watcher does, that looks by itself."""
    return all(machine.second_look.allows(record.at) for machine in _prepared_here(record, entry))


def _prepared_here(record: Record, entry: EventState) -> list[MachineState]:
    """The event's machines that are prepared by this run. What a start has undone is done again by a rule of its own."""
    machines = [record.hosts[host] for host in entry.affected if needs_preparation(entry, host)]
    return [
        machine
        for machine in machines
        if phase(machine) == "prepared" and whose(record, machine) == OURS and not has_restarted(machine)
    ]


def to_look_at(record: Record, again: Collection[str]) -> dict[str, bool]:
    """Prepared machines that are due for a second look, and whether an approval waits for nothing but that.

    :arg again: those that are to be seen again, see :func:`to_see_again`
    """
    approves: set[str] = set()
    prepared: dict[str, SecondLook] = {}
    for entry in record.events.values():
        if not is_handled(entry) or entry.started is not None:
            continue
        machines = _prepared_here(record, entry)
        looks = {machine.host: machine.second_look for machine in machines}
        looks = {host: look for host, look in looks.items() if look.found != NOTHING}
        prepared.update(looks)
        ready = may_be_approved(record, entry) and not codes(entry) - {NOT_LOOKED_AT}
        if looks.keys() & set(again) or (ready and any(look.is_due(record.at, True) for look in looks.values())):
            approves.update(looks)  # all at once: one would grow old beside another
    return {
        host: host in approves for host, look in prepared.items() if host in approves or look.is_due(record.at, False)
    }


def to_see_again(record: Record) -> list[str]:
    """Machines of events that are ready but for this: what their marks said is too old by now."""
    found: list[str] = []
    for key, entry in record.events.items():
        if not may_be_approved(record, entry) or codes(entry) != {"not_prepared"}:
            continue
        if decision_of(record, entry, was_prepared).approve:
            machines = [record.hosts[host] for host in entry.affected if needs_preparation(entry, host)]
            found += [machine.host for machine in machines if not is_prepared(record, machine, key)]
    return list(dict.fromkeys(found))
