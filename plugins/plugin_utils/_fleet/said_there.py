# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What people have said on the machines themselves: put back into service despite an event, approvals on hold. It changes the record, and nothing else.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...module_utils._core.mark_view import is_copied
from ...module_utils._core.messages import Reason, on_hold
from .evaluation import needs_preparation, title
from .event_state import EventState
from .machine_state import MachineState
from .marks import mark_keys
from .reports import happened, report
from .run_events import is_open
from .state import Record

RECOVERED_BY_FORCE = "it was recovered by force despite this event, so it is not prepared for it again"


def is_recovered_by_force(machine: MachineState, key: str) -> bool:
    """Whether a person has recovered the machine despite the event. A confirmation of it, which can only be later, ends that."""
    return key in machine.said.recovered_by_force and key not in machine.said.confirmations


def keep_off(record: Record) -> None:
    """Nothing is restarted on a machine for an event despite which a person has recovered it, and the event is not approved."""
    for key, entry in record.events.items():
        if not is_open(entry):
            continue
        if entry.started is not None:
            _note_late(record, entry)
            continue
        for host in entry.affected:
            if not is_recovered_by_force(record.hosts[host], key):
                if entry.failed.get(host) == RECOVERED_BY_FORCE:
                    del entry.failed[host]
                    happened(record, "yes", f"{host} may be prepared for it again: it was confirmed", key, host)
            elif entry.failed.get(host) != RECOVERED_BY_FORCE and needs_preparation(entry, host):
                entry.failed[host] = RECOVERED_BY_FORCE
                entry.prepared.pop(host, None)
                happened(record, "put back", f"{host}: {RECOVERED_BY_FORCE}", key, host)


def _note_late(record: Record, entry: EventState) -> None:
    """Machines that passed for prepared when an event started, and show now that a person had put them back, perhaps before that."""
    for host in entry.affected:
        machine = record.hosts[host]
        # A yes since then has nobody prepare a machine without a mark for an event that has started.
        was_forced = is_recovered_by_force(machine, entry.key) or (
            entry.key in machine.said.recovered_by_force and entry.key not in mark_keys(machine)
        )
        if was_forced and entry.unprepared.get(host) == "":
            _report_late(record, entry, host)


def note_recovered_by_force(record: Record, machine: MachineState, keys: Iterable[str], answered: float | None) -> None:
    """The same where it shows only when the event is over.

    :arg keys: of the events that its mark named when it was last heard of
    :arg answered: when that was
    """
    for key in keys:
        entry = record.events.get(key)
        if entry is None or entry.gone is None or key not in machine.said.recovered_by_force:
            continue
        came = entry.gone if entry.started is None else entry.started
        if (answered or 0.0) < came and entry.unprepared.get(machine.host) == "":
            _report_late(record, entry, machine.host)


def _report_late(record: Record, entry: EventState, host: str) -> None:
    entry.unprepared[host] = words = "was recovered by force despite it"
    text = f"{title(entry)} may have reached {host} unprepared: {host} {words}."
    report(record, f"event {entry.key}: {host} unprepared", text)


def hold_of(machine: MachineState) -> Reason | None:
    """That approvals are on hold there; None where they are not."""
    hold = machine.said.hold
    if not hold or is_copied(hold["vm_id"], machine.who.vm_id):
        return None  # that of a machine of which this one is a copy holds nothing
    return on_hold(hold["by"], hold["reason"], machine.host)
