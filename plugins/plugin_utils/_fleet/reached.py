# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which machines an event has reached in service, how each was found then, and what stays a problem of that. It changes the record, and
nothing else.

Private to this collection.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ...module_utils._core.mark_view import WATCHER
from ...module_utils._text import clause
from .evaluation import is_acting, needs_preparation, title
from .event_state import EventState
from .event_terms import closed, is_last_call
from .machine_state import MachineState
from .marks import has_restarted, marked_events, phase, was_prepared, whose
from .problems import LATE, of_nameless, reached_words
from .reports import happened, report
from .run_events import is_open
from .state import Record

REBOOTED = "was rebooted after it had been prepared, and its steps were not done again"


def take_reached(record: Record) -> dict[str, list[str]]:
    """Keep how the machines of an event that has come were found: each once. Returns those that were in service, by the event's key."""
    found = {}
    for key, entry in record.events.items():
        if not has_come(entry) or entry.event.is_advice:  # which reaches nobody
            continue
        known = {host for host, how in entry.unprepared.items() if how}
        hosts = [host for host in entry.affected if needs_preparation(entry, host)]
        for host in hosts if entry.gone is None or entry.gone >= record.at else ():
            if host not in entry.unprepared and not _is_prepared_yet(entry, host):
                machine = record.hosts[host]
                ready = _was_prepared(record, entry, machine) or _was_by_its_watcher(record, key, machine)
                entry.unprepared[host] = "" if ready else _state_words(entry, machine)
        for host in hosts:  # it shows when the machine answers again, and the event may be over by then
            if entry.unprepared.get(host) == "" and _was_rebooted_before(entry, record.hosts[host]):
                entry.unprepared[host] = REBOOTED
        found[key] = [host for host, how in entry.unprepared.items() if how and host not in known]
    return found


def _was_rebooted_before(entry: EventState, machine: MachineState) -> bool:
    """Whether a machine was rebooted after it was prepared and before an event started that reboots none: by a crash, or a person."""
    result, started = entry.prepared.get(machine.host), entry.started
    said, uptime = machine.said.at, machine.said.uptime
    if result is None or started is None or said is None or uptime is None:
        return False
    undone = has_restarted(machine) and phase(machine) == "prepared" and entry.event.leaves_machines_running
    return undone and result.at < said - uptime < started


def _is_prepared_yet(entry: EventState, host: str) -> bool:
    """Whether a machine that is being taken away is prepared all the same: what comes of that tells how it was found."""
    return is_last_call(entry) and is_open(entry) and host not in entry.prepared and host not in entry.failed


def has_come(entry: EventState) -> bool:
    """Whether an event about which something was to be done has started, or may have."""
    over = entry.gone is not None and entry.tracked.outcome == "unknown"
    return is_acting(entry) and (entry.started is not None or over)


def _was_prepared(record: Record, entry: EventState, machine: MachineState) -> bool:
    """Whether a machine was prepared in time, be it for another event: as far as is known, before this one was last seen Scheduled."""
    entries = (entry, *marked_events(record, machine))
    done = [one.prepared[machine.host] for one in entries if machine.host in one.prepared]
    since = entry.restarted.get(machine.host)
    for undone in (machine.undone, machine.restarted):
        if undone is not None and undone <= entry.announced:
            done = [result for result in done if result.at > undone]
    # What takes the machine away is prepared for even after its start.
    until = math.inf if entry.event.takes_machines_away else entry.announced
    in_time = [result.ok and result.at <= until and (since is None or result.at > since) for result in done]
    return any(in_time) if in_time or since is not None else phase(machine) == "prepared"


def _was_by_its_watcher(record: Record, key: str, machine: MachineState) -> bool:
    """Whether its own watcher had it prepared when the event started: from one tick to the next a watcher prepares, approves, and the
    event starts. After the start it prepares for nothing, and what was under way then it notes as unprepared."""
    if whose(record, machine) != WATCHER or not was_prepared(record, machine, key):
        return False
    said = (machine.mark or {}).get("note", {}).get("said", {})
    return not any(event_id.upper() == key and "started_unprepared" in words for event_id, words in said.items())


def _state_words(entry: EventState, machine: MachineState) -> str:
    host = machine.host
    if host in entry.failed:
        return f"could not be prepared ({clause(entry.failed[host], 1000)})"
    if host in entry.restarted and phase(machine) == "prepared":
        return REBOOTED
    if machine.unbegun is not None and machine.mark is None:
        return f"could not be prepared ({clause(machine.why, 1000)})"
    if phase(machine):
        return "was still being prepared when it was last seen"
    if entry.started is not None and entry.started <= entry.shown:
        return "was in service, as it had started before it was first seen"
    if machine.lost:
        return f"gave no answer ({clause(machine.lost, 1000)})"
    return "was in service"


# ---- what stays a problem ----


def note_reached(record: Record, unprepared: Mapping[str, Sequence[str]]) -> None:
    """Keep what stays a problem once an event has started, or is gone: machines that it reached in service, and why it had not
    been approved.

    :arg unprepared: these machines, by the event's key: :func:`take_reached`
    """
    for key, entry in record.events.items():
        late = of_nameless(record, entry).get(LATE)
        if late and entry.started is not None:  # stays so when it is Scheduled again
            report(record, f"event {key}: {LATE}", late)
        for host in unprepared.get(key, ()):
            _note_unprepared(record, entry, host)
        if has_come(entry):
            _note_unapproved(record, entry)


def _note_unprepared(record: Record, entry: EventState, host: str) -> None:
    words = entry.unprepared[host]
    happened(record, "UNPREPARED", f"{host} {words}", entry.key, host)
    report(
        record,
        f"event {entry.key}: {host} unprepared",
        f"{title(entry)} {reached_words(entry)} {host} unprepared: {host} {clause(words, 1000)}.",
    )


def _note_unapproved(record: Record, entry: EventState) -> None:
    subject = f"event {entry.key}: approval"
    approval = entry.approval
    if not entry.against.approves or approval.maybe or entry.failed or entry.turn.too_large:
        return
    if entry.started is not None and closed(record, entry, entry.started):
        return  # outside its hours it starts by itself, as the policy has it
    why = entry.against.hold or approval.nobody
    if why and subject not in record.lasting:
        started = "started" if entry.started is not None else "may have started"
        report(record, subject, f"{title(entry)} was not approved by this run, and {started}: {why}")
