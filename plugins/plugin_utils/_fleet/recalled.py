# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Events that only the marks of machines tell of, as after a run that was interrupted. It changes the record, and nothing else.

Private to this collection.

They are events of the record as any other, so that it takes two polls of a machine that bears such a mark to show that one is gone.
Until a document shows it, nothing is prepared, approved or joined by one.
"""

from __future__ import annotations

from collections.abc import Collection

from ...module_utils._core import tracked_event as core
from ...module_utils._core.mark_view import EXPIRED, OURS
from ...module_utils._events.event import Event
from .evaluation import SILENT
from .event_state import EventState
from .machine_state import MachineState
from .marks import mark_keys, marked_events, whose
from .reports import happened
from .run_events import is_open, new_entry
from .state import Record

NOBODY_SAW = "nobody has seen whether its event is over"
"""Why a machine whose event only its mark tells of is not recovered, and at last not waited for."""


def take_recalled(record: Record) -> None:
    """Find the events of the marks that this run has to take care of."""
    if record.run.check:
        return
    for machine in record.hosts.values():
        if machine.aside or whose(record, machine) not in (OURS, EXPIRED):
            continue
        for event_id in (machine.mark or {})["events"]:
            entry = record.events.get(event_id.upper())
            tracked = core.recalled(_event(event_id, machine), machine.host, None, False, "", record.at)
            if entry is None:
                record.events[event_id.upper()] = new_entry(tracked, "only a mark tells of it so far")
            elif entry.tracked.is_recalled and machine.host not in entry.sightings:
                _add_sighting(entry, machine.host, tracked.sightings[machine.host])


def take_bearers(record: Record, hosts: Collection[str]) -> None:
    """Where nothing is heard any more of those that were shown an event, a machine whose mark names it shows whether it is gone.

    So it does for a run that is restarted. What a machine has last said that is lost for good keeps no other one out of service.

    :arg hosts: whose documents came in this tick
    """
    for key, entry in record.events.items():
        if not is_open(entry) or any(_may_show(record.hosts[host], record.at) for host in entry.sightings):
            continue
        last = max(one.last for one in entry.sightings.values())
        polled = max(one.polled for one in entry.sightings.values())
        for host in hosts:
            machine = record.hosts[host]
            if host not in entry.sightings and key in mark_keys(machine) and whose(record, machine) == OURS:
                _add_sighting(entry, host, core.Sighting(first=last, last=last, polled=polled))


def _add_sighting(entry: EventState, host: str, sighting: core.Sighting) -> None:
    entry.tracked = entry.tracked._replace(sightings={**entry.sightings, host: sighting})


def _may_show(machine: MachineState, at: float) -> bool:
    """Whether a machine that was shown an event may soon show what has become of it."""
    is_blind = bool(machine.lost or machine.seen.problem)
    return not is_blind or at - (machine.seen.at or 0.0) < SILENT


def _event(event_id: str, machine: MachineState) -> Event:
    names = (machine.name,) if machine.name else ()
    return Event(event_id, "", "Scheduled", "VirtualMachine", names, names, "", None, "", "", None)


def keeping(record: Record, machine: MachineState) -> list[EventState]:
    """The events that keep the machine out of service, and that only its mark tells of."""
    return [entry for entry in marked_events(record, machine) if entry.tracked.is_recalled and entry.gone is None]


def stop_recalling(record: Record) -> None:
    """Machines that never answer, or can't poll, are not waited for without an end."""
    for key, entry in record.events.items():
        if not (entry.tracked.is_recalled and is_open(entry)):
            continue
        timeouts = [record.hosts[host].options.recover_timeout for host in entry.sightings]
        if record.at - entry.shown >= max(timeouts):
            entry.closed = NOBODY_SAW
            happened(record, "left", NOBODY_SAW, key)
