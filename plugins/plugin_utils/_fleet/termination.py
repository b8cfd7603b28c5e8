# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a run stops watching an event, waiting for a machine, and altogether: it always ends. It changes the record, and nothing else.

Private to this collection.
"""

from __future__ import annotations

from ...module_utils._core.mark_view import EXPIRED, OURS, WATCHER
from ...module_utils._core.tracked_event import GONE_APART
from ...module_utils._text import listed
from .approval_reasons import is_waiting_for_confirmation
from .call_schedule import is_to_be_learned
from .evaluation import SILENT, is_for_later, is_given_up, is_handled, needs_preparation, title, took_away
from .event_state import EventState
from .machine_state import MachineState
from .marks import has_restarted, is_its_watchers, mark_keys, phase, whose
from .recalled import keeping
from .reports import happened, note, report
from .run_events import STAYED, TAKEN, UNSEEN, is_open, last_seen, not_before
from .scopes import near
from .state import Record
from .targets import comes_soon, is_kept

TRIES = 3
"""Calls in a row that bring nothing back before a run may end without a machine that it has never seen."""

NOBODY_LOOKS = 150.0
"""Seconds after which a run ends in which no machine has ever seen a document: the first request may take two minutes (S11)."""

GIVEN_UP = "its machines could not be prepared, and are in service"


def stop_watching(record: Record) -> None:
    """Close the events that stay for too long, that nobody is left to see, or that have been given up."""
    for key, entry in record.events.items():
        if entry.closed == GIVEN_UP and _comes_over_ours(record, entry):
            entry.closed = ""
        if not is_open(entry):
            continue
        if _is_silent(record, entry):
            _close_taken(record, entry)
        elif is_given_up(entry) and not _bearing(record, key) and not _comes_over_ours(record, entry):
            entry.closed = GIVEN_UP
        elif _nobody_sees(record, entry):
            entry.closed = UNSEEN
            happened(record, "left", f"{UNSEEN}: {listed(entry.sightings)}", key)
        elif is_handled(entry) and record.at >= latest_end(record, entry):
            entry.closed = STAYED
            happened(record, "left", STAYED, key)


def _nobody_sees(record: Record, entry: EventState) -> bool:
    """Whether nobody is left who could show what becomes of an event: who was shown it, or has to be, has left the play, and the
    others of the scope are not shown it."""
    hosts = {*entry.sightings, *entry.affected, *near(record, entry)}
    here = [machine for host, machine in record.hosts.items() if host in hosts and not machine.left]
    if any(machine.host in entry.sightings or machine.host in entry.affected for machine in here):
        return False
    since = last_seen(entry) + GONE_APART
    return not here or any(machine.seen.at is not None and machine.seen.at >= since for machine in here)


def latest_end(record: Record, entry: EventState) -> float:
    """When the watch of an event ends though it is still there."""
    begins = not_before(entry) if entry.started is None else entry.started
    return begins + record.same.event_timeout


def _bearing(record: Record, key: str) -> list[str]:
    """The machines that are marked for the event by this run."""
    return [
        host for host, machine in record.hosts.items() if whose(record, machine) == OURS and key in mark_keys(machine)
    ]


def _comes_over_ours(record: Record, entry: EventState) -> bool:
    """Whether its time has come, or is near, for a machine that has a mark of this run, though for another event: both have to be over."""
    due = entry.started is not None or record.at >= not_before(entry)
    machines = [record.hosts[host] for host in entry.affected]
    return any(
        whose(record, machine) == OURS and (due or comes_soon(record, machine, entry.key)) for machine in machines
    )


def _is_silent(record: Record, entry: EventState) -> bool:
    """Whether no machine is left that could show the end of an event that takes its machines away."""
    if not entry.event.takes_machines_away or not entry.affected:
        return False
    due = entry.started is not None or entry.approval.maybe or record.at >= not_before(entry)
    machines = [record.hosts[host] for host in entry.sightings]
    return due and all(machine.lost and record.at - (machine.answered or 0.0) >= SILENT for machine in machines)


def _close_taken(record: Record, entry: EventState) -> None:
    entry.closed = TAKEN
    last = max(sighting.last for sighting in entry.sightings.values())
    words = f"last seen {entry.event.event_status or 'with an unknown status'} {record.at - last:.0f} s ago; no answer from {listed(entry.affected)} since"
    happened(record, "left", words, entry.key)
    others = [host for host in entry.sightings if host not in entry.affected]
    if others and entry.started is None:
        # Other machines are silent as well, so this may be the network: the affected ones may still be there, drained.
        words = f"{title(entry)} was {words}, nor from {listed(others)}. Check in Azure whether its machines were deleted: if not, they may be out of service."
        report(record, f"event {entry.key}: taken", words)
    else:
        note(record, f"event {entry.key}: taken", f"{title(entry)} was {words}.")
    for host in entry.affected:
        machine = record.hosts[host]
        # for this event or another one, whose reboot may have put the machine into service
        ready = (
            phase(machine) == "prepared" and whose(record, machine) in (OURS, WATCHER) and not has_restarted(machine)
        )
        if host not in entry.unprepared and needs_preparation(entry, host) and not ready:
            words = f"{host} was not prepared for {title(entry)} when it last answered."
            report(record, f"event {entry.key}: {host} unprepared", words)


# ---- machines ----


def is_awaited(record: Record, machine: MachineState) -> bool:
    """Whether the run waits for a machine: to be recovered, or to show whether it has to be."""
    if machine.aside or machine.left or took_away(record, machine.host):
        return False
    owner = whose(record, machine)
    if owner in (OURS, EXPIRED) or (owner == WATCHER and is_its_watchers(machine)):
        if is_kept(record, machine):
            return any(map(is_open, keeping(record, machine)))  # any other counts itself, as long as the run watches it
        since = machine.recovering if machine.recovering is not None else record.at
        return record.at - since < machine.options.recover_timeout
    known = machine.mark_since if machine.mark_since is not None else record.at
    return is_to_be_learned(machine, owner) and record.at - known < machine.options.recover_timeout


def _is_untried(machine: MachineState) -> bool:
    """Whether a machine that was never seen has not been called often enough."""
    untried = machine.answered is None and machine.in_vain.failures < TRIES
    return untried and not (machine.aside or machine.left)


# ---- the run ----


def _may_leave(record: Record, entry: EventState) -> bool:
    """Whether a run may leave an event that is held and prepared, with its marks: when all of its machines say ``leave``."""
    return all(record.hosts[host].options.hold == "leave" for host in entry.affected)


def end(record: Record) -> None:
    """Count the rounds, and see whether the run is over."""
    handled = {key: entry for key, entry in record.events.items() if is_handled(entry)}
    # Nothing is left but events that wait for a confirmation, and all of their machines may be left with their marks.
    is_held = bool(handled) and all(
        is_waiting_for_confirmation(entry) and _may_leave(record, entry) for entry in handled.values()
    )
    awaits = (is_held or not handled) and any(is_awaited(record, one) for one in record.hosts.values())
    busy = bool(handled) or awaits
    # An event for later is still to be handled: it may have been under way already, while it seemed that it would be approved.
    in_round = record.busy and any(map(is_for_later, record.events.values()))
    if record.busy and not busy and not in_round:
        record.rounds_done += 1
    record.busy = busy or in_round
    if record.run.check:
        record.finished = bool(record.ticks)
    elif record.leaving:
        record.finished = True
    elif is_held and not awaits and not _calls_ours(record):
        record.leaving = True
        for key, entry in handled.items():
            note(record, f"event {key}: yes", f"{title(entry)} is prepared, and {entry.against.waits}")
    else:
        record.finished = not busy and _is_over(record)
    if record.finished and not record.run.check:
        _note_what_is_to_come(record)


def _calls_ours(record: Record) -> bool:
    """Whether a call is under way to a machine that is marked by this run: it can't be asked yet to release its mark."""
    return any(machine.flying and whose(record, machine) == OURS for machine in record.hosts.values())


def _note_what_is_to_come(record: Record) -> None:
    """Events that are not approved, and for which it was too early to prepare their machines."""
    for key, entry in record.events.items():
        if is_for_later(entry):
            words = (
                f"{title(entry)} is not over: it was too early to prepare {listed(entry.affected)} for it. "
                f"Run maintain again before its not-before ({entry.event.not_before or 'unknown'}), so that this is done in time."
            )
            note(record, f"event {key}: later", words)


def _is_over(record: Record) -> bool:
    since = record.at - record.clock.mono
    machines = [machine for machine in record.hosts.values() if not machine.aside]
    if not record.ticks or any(_is_untried(machine) for machine in machines):
        return not machines
    if since >= NOBODY_LOOKS and all(machine.seen.at is None for machine in machines):
        return True
    return since >= record.same.wait_timeout or 0 < record.same.rounds <= record.rounds_done
