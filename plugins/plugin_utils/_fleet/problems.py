# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run leaves for a person: one sentence for each subject, so that nothing is said twice. It changes the record, and nothing else.

Private to this collection.

Most problems are what is the case now, and are found anew after every tick: what has been put right is none any more. What was
missed stays one: that is kept in the record (``lasting``) when it happens.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...module_utils._core.decision import PREPARING
from ...module_utils._core.mark_view import (
    COPIED,
    DRAIN,
    EXPIRED,
    FOREIGN,
    NOBODY,
    OURS,
    RUN,
    UNREADABLE,
    WATCHER,
    is_made_for_azure,
    service_words,
)
from ...module_utils._events.lifecycle import CANCELLED
from ...module_utils._events.policy import parse_policy
from ...module_utils._text import clause, listed
from .approving import no_approver_words, perhaps
from .evaluation import is_acting, is_handled, needs_preparation, title, took_away
from .event_state import EventState
from .event_terms import decided
from .hosts import contradiction
from .lost_marks import undo_words, undone_words
from .machine_state import KEPT, MachineState
from .marks import holder_words, is_expired, is_its_watchers, lacking, mark_keys, start_watcher, whose
from .recalled import NOBODY_SAW, keeping
from .reports import by_reason, counted, happened, note, time_of_day
from .run_events import STAYED, is_open, last_seen, names_no_time, not_before
from .said_there import RECOVERED_BY_FORCE
from .state import Record
from .targets import is_kept

JUST_SEEN = 20.0
"""Seconds since an event was last seen in which it is said to be still to come; afterwards, when it was seen."""


def of_record(record: Record) -> dict[str, str]:
    """All that is a problem now, by subject."""
    found = dict(record.lasting)
    for entry in record.events.values():
        found.update(_of_event(record, entry))
    for host, machine in record.hosts.items():
        for subject, words in _of_machine(record, machine):
            found[f"machine {host}: {subject}"] = words
    found.update(_of_the_blind(record))
    return found


# ---- events ----


def _of_event(record: Record, entry: EventState) -> dict[str, str]:
    found = {}
    if entry.failed and needs_words(entry):
        found["preparation"] = _failure_words(record, entry)
    if entry.closed == STAYED and entry.gone is None:
        seen = time_of_day(record, last_seen(entry))
        moment = "not-before" if entry.started is None else "start"
        found["watch"] = (
            f"{title(entry)} was last seen at {seen}, {entry.event.event_status or 'its status unknown'}, and was not known to be over "
            f"{record.same.event_timeout:.0f} s after its {moment}: the run stopped watching it."
        )
    if is_open(entry) and is_acting(entry) and entry.started is None:
        if entry.against.hold and not entry.failed:
            if not entry.approval.sent:
                found["approval"] = f"{title(entry)} {perhaps(entry) or 'was not approved'}: {entry.against.hold}"
        elif not record.run.check and (words := no_approver_words(record, entry)):
            found["approval"] = words
    found.update(of_nameless(record, entry))
    return {f"event {entry.key}: {subject}": words for subject, words in found.items()}


def needs_words(entry: EventState) -> bool:
    return any(needs_preparation(entry, host) for host in entry.failed)


def _coming_words(record: Record, entry: EventState) -> str:
    due = time_of_day(record, not_before(entry))
    lacking = any(sighting.absent is not None for sighting in entry.sightings.values())
    if not lacking and record.at - last_seen(entry) <= JUST_SEEN and record.at < not_before(entry):
        return "It is still to come." if names_no_time(entry) else f"It is still to come, not before {due}."
    seen = f"It was last seen at {time_of_day(record, last_seen(entry))}"
    return f"{seen}." if names_no_time(entry) else f"{seen}, to come not before {due}."


def _failure_words(record: Record, entry: EventState) -> str:
    failed = "; ".join(f"{host}: {clause(why, 1000)}" for host, why in entry.failed.items())
    approval = "may have been approved, but" if entry.approval.maybe else "was not approved:"
    kept_off = all(why == RECOVERED_BY_FORCE for why in entry.failed.values())
    words = f"{title(entry)} {approval} {'' if kept_off else 'preparation failed on '}{failed}"
    if entry.gone is None and entry.started is None:
        words = f"{words}. {_coming_words(record, entry)}"
    return words


def note_capacity(record: Record) -> None:
    """Say of an event that is larger than the capacity that it is never approved early."""
    for key, entry in record.events.items():
        if entry.turn.too_large and is_open(entry) and f"event {key}: capacity" not in record.notes:
            note(record, f"event {key}: capacity", f"{title(entry)}: {entry.turn.words}")
            happened(record, "too large", entry.turn.words, key)


# ---- events that affect a VM which may be a machine whose name in Azure is not known, or was learned too late ----

LATE = "name learned late"


def of_nameless(record: Record, entry: EventState) -> dict[str, str]:
    """What is a problem of it now, by subject. A name that is learned decides it."""
    if not entry.whom.nameless or not entry.whom.unknown:
        return {}
    over = entry.started is not None or (entry.gone is not None and entry.tracked.outcome == "unknown")
    if not over and (entry.affected or not is_open(entry)):
        return {}  # while it is to come, its approval names them
    found = {}
    nameless = [host for host in entry.whom.nameless if not record.hosts[host].name]
    if nameless:
        found["left alone"] = _may_affect(entry, nameless)
    reached = [host for host in entry.whom.nameless if host not in nameless and _was_meant(record, entry, host)]
    if over and reached:
        found[LATE] = (
            f"{title(entry)} {reached_words(entry)} {listed(reached)} unprepared: the name of the VM was not known in time."
        )
    return found


def _may_affect(entry: EventState, nameless: list[str]) -> str:
    unknown = "the name of the VM is not known (azure_maintenance_resource_name)."
    if entry.affected:
        return f"{title(entry)} may have reached {listed(nameless)}, too: {unknown}"
    return f"{title(entry)} was left alone, but may affect {listed(nameless)}: {unknown}"


def reached_words(entry: EventState) -> str:
    return "reached" if entry.started is not None else "may have reached"


def _was_meant(record: Record, entry: EventState, host: str) -> bool:
    """Whether it names the machine, as is known now, which should have been prepared for it."""
    machine = record.hosts[host]
    if machine.name.lower() not in {name.lower() for name in entry.whom.unknown}:
        return False
    rules = {host: parse_policy(machine.options.policy)}
    return decided(entry.event, entry.judged.notice, rules).actions[host] in PREPARING


# ---- machines ----


def _of_machine(record: Record, machine: MachineState) -> Iterable[tuple[str, str]]:
    host, owner = machine.host, whose(record, machine)
    if machine.aside:
        yield "aside", machine.aside
        if owner == OURS:
            yield from _left(record, machine, owner)
        return
    if words := contradiction(machine):
        yield "name", words
    if took_away(record, host):
        return
    if owner == UNREADABLE:
        yield (
            "mark",
            f"{host} has {holder_words(machine)}: it is left unchanged. Check its folder of marks (azure_maintenance_folder).",
        )
    elif owner == WATCHER:
        yield from _of_watcher(machine)
    elif owner == RUN and not machine.renewals:
        yield (
            "left",
            f"{host} is marked by {holder_words(machine)}, which has not renewed it since: if that run no longer exists, "
            "start this run again.",
        )
    elif owner == RUN and _concerns_us(record, machine):
        note(record, f"machine {host}: handled", f"{host} is handled by {holder_words(machine)}, which is alive.")
    elif owner == DRAIN and _concerns_us(record, machine):
        yield "mark", f"{host} is marked by {holder_words(machine)}, so this run left it alone."
    elif owner == FOREIGN and (is_expired(machine, record.at) or _concerns_us(record, machine)):
        yield "mark", _foreign_words(machine)
    elif owner == COPIED:
        why = f" ({clause(machine.why, 1000)})" if machine.why else ""
        yield (
            "mark",
            f"{host} is marked by {holder_words(machine)}, the VM that it was copied from, and the mark could not be "
            f"moved aside{why}: start this run again, or check its folder of marks (azure_maintenance_folder).",
        )
    elif owner in (OURS, EXPIRED):
        yield from _left(record, machine, owner)
    if is_its_watchers(machine) and machine.said.watcher and machine.said.watcher["lacks"]:
        yield (
            "watcher",
            f"The watcher of {host} does not have all steps of the inventory, so none of its events is approved; it lacks: "
            f"{lacking(machine)}. Run the playbook deploy_watcher, or take these steps out of drain_steps.",
        )
    if machine.unbegun is not None and owner == NOBODY and _is_to_be_prepared(record, machine):
        yield "begun", f"{host} could not be prepared so far: {clause(machine.why, 1000)}. It is retried."
    if machine.answered is None:
        yield "asked", f"{host} could not be asked: {machine.lost or 'it was not called'}"
    elif machine.lost and owner == NOBODY and machine.begun is not None and not _is_being_taken(record, host):
        since = time_of_day(record, machine.answered)
        yield (
            "asked",
            f"{host} has not answered since {since} ({clause(machine.lost, 1000)}), and its preparation may have begun: start this "
            "run again, or look at it with the playbook status.",
        )
    elif _is_silent(machine) and owner in (NOBODY, WATCHER) and not is_away(record, machine):
        since = time_of_day(record, machine.answered)
        yield "asked", f"{host} has not answered since {since}: {machine.lost}"
    elif not machine.name and not machine.seen.problem:
        yield (
            "name",
            f"Which events affect {host} is not known: {machine.who.problem or 'its name could not be determined'}",
        )


def _is_silent(machine: MachineState) -> bool:
    """Whether nothing comes back from it any more: one call may be lost, and what it said before that still counts."""
    return bool(machine.lost) and (machine.in_vain.failures > 1 or machine.left)


def _of_the_blind(record: Record) -> dict[str, str]:
    """Machines that answer and can't see their events; one sentence for all that say the same."""
    blind = {
        host: machine.seen.problem
        for host, machine in record.hosts.items()
        if machine.seen.problem and not (_is_silent(machine) or machine.aside or took_away(record, host))
    }
    return {
        f"look: {one.subject}": f"{counted(one.hosts)} can't see their scheduled events: {one.words}"
        if len(one.hosts) > 1
        else f"{one.hosts[0]} can't see its scheduled events: {one.words}"
        for one in by_reason(blind)
    }


def _foreign_words(machine: MachineState) -> str:
    mark = machine.mark or {}
    whose_mark = f"{machine.host} is marked by {holder_words(machine)}, made for {service_words(mark)}"
    if is_made_for_azure(mark):
        return f"{whose_mark}: this run uses another one, and left the machine unchanged."
    return (
        f"{whose_mark}: it counts as out of service, and this run left it unchanged. If that rehearsal was interrupted, the playbook "
        "rehearse recovers the machine with -e rehearse_state=absent; an hour later a run of maintain does."
    )


def _concerns_us(record: Record, machine: MachineState) -> bool:
    """Whether somebody else's machine is affected by an event that this run should have handled."""
    return any(
        needs_preparation(entry, machine.host) and (entry.gone is None or machine.host in entry.unprepared)
        for entry in record.events.values()
        if machine.host in entry.affected
    )


def _of_watcher(machine: MachineState) -> Iterable[tuple[str, str]]:
    """A machine that is marked by its own watcher."""
    host, whose_mark = machine.host, f"the mark of {holder_words(machine)}"
    if not is_its_watchers(machine):
        yield (
            "left",
            f"{host} has {whose_mark}, which is down or no longer acts: start it there ({start_watcher(machine.given.is_linux)}), "
            "or recover the machine with the playbook recover and -e recover_take=watcher -e recover_force=true.",
        )
    elif machine.recovering is not None and not machine.lost:
        yield (
            "left",
            f"{host} still has {whose_mark}: its watcher has not recovered it yet (azure-maintenance status).",
        )


def _left(record: Record, machine: MachineState, owner: str) -> Iterable[tuple[str, str]]:
    """A machine that is marked, though nothing but this run would take care of it."""
    host = machine.host
    if any(is_handled(entry) for key, entry in record.events.items() if key in mark_keys(machine)):
        return
    if machine.lost_mark == KEPT:
        why = machine.lost or machine.why or "there was no time"
        yield (
            "left",
            f"{host} has lost its mark together with its disk, and the mark could not be restored: {clause(why, 1000)}. "
            f"{undo_words(host, undone_words(machine))}",
        )
        return
    held = is_kept(record, machine)
    if owner == EXPIRED:
        because = (
            (NOBODY_SAW if keeping(record, machine) else "its event is not over")
            if held
            else machine.why or machine.lost or "there was no time to recover it"
        )
        yield (
            "left",
            f"{host} is still marked by {holder_words(machine)}, whose lease has expired: {clause(because, 1000)}.",
        )
        return
    mark = f"the mark of run {record.run.name}"
    next_step = "start this run again, or recover it with the playbook recover, once its maintenance is over."
    if machine.lost:
        since = time_of_day(record, machine.answered or record.at)
        why = clause(machine.lost, 1000)
        yield "left", f"{host} had {mark} when it last answered, at {since} ({why}): {next_step}"
        return
    why = machine.why or machine.seen.problem or "there was no time to recover it"
    if held:
        why = NOBODY_SAW if keeping(record, machine) else "its event was not over"
    yield "left", f"{host} is not back in service: {clause(why, 1000)}. It has {mark}: {next_step}"


def _is_to_be_prepared(record: Record, machine: MachineState) -> bool:
    return any(
        is_handled(entry) and entry.started is None and needs_preparation(entry, machine.host)
        for entry in record.events.values()
    )


def _is_being_taken(record: Record, host: str) -> bool:
    """Whether a Terminate or a Preempt of the machine has started: nobody recovers it."""
    return any(
        host in entry.affected
        and entry.event.takes_machines_away
        and entry.started is not None
        and entry.tracked.outcome != CANCELLED
        for entry in record.events.values()
    )


def is_away(record: Record, machine: MachineState) -> bool:
    """Whether its own event explains that a machine can't be reached."""
    for entry in record.events.values():
        if machine.host not in entry.affected or entry.tracked.outcome == "cancelled" or entry.event.is_advice:
            continue
        began = entry.started is not None or entry.approval.maybe or record.at >= not_before(entry)
        recent = entry.gone is None or record.at - entry.gone < machine.options.recover_timeout
        if began and recent and not entry.closed:
            return True
    return False
