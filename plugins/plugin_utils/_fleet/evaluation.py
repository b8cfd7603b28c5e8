# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is to be done about the open events: whom they affect, by which policies, and which is next. It changes the record, and nothing else.

Private to this collection.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

from ...module_utils._core.deadlines import has_no_time
from ...module_utils._core.decision import PREPARING, acts, judged
from ...module_utils._core.mark_view import NOBODY, WATCHER
from ...module_utils._events.event import Event
from ...module_utils._events.lifecycle import CANCELLED
from ...module_utils._events.policy import parse_policy
from ...module_utils._text import listed
from .capacity import Candidate, Turn, turns
from .event_state import EventState, EventTurn, PoliciesDecision, Whom
from .event_terms import (
    NOT_EARLY,
    Closed,
    closed,
    decided,
    holds_up,
    preparation_end,
    resumes,
    seconds_needed,
    within_hours,
)
from .machine_state import MachineState
from .marks import has_steps, holder_words, mark_keys, whose
from .reports import happened, note, time_of_day
from .run_events import TAKEN, is_open, not_before
from .scopes import can_look, joined_groups, said_scope
from .scopes import near as near_hosts
from .state import Record

SILENT = 60.0
"""Seconds of silence after which a machine is taken to be gone that a Terminate or a Preempt may have taken."""


def title(entry: EventState) -> str:
    """The event's name in a sentence."""
    return f"{entry.event.event_type or 'An event'} {entry.event.event_id} ({listed(entry.affected or entry.event.resources)})"


def is_acting(entry: EventState) -> bool:
    """Whether anything is to be done about the event."""
    return any(map(acts, entry.decided.actions.values()))


def is_handled(entry: EventState) -> bool:
    """Whether the run watches the event and has something to do about it by now."""
    return is_open(entry) and entry.turn.state != "later" and is_acting(entry)


def is_for_later(entry: EventState) -> bool:
    """Whether the run watches the event and will have something to do about it, when its time comes near."""
    return is_open(entry) and entry.turn.state == "later" and is_acting(entry)


def is_given_up(entry: EventState) -> bool:
    """Whether a machine could not be prepared for it, so that it is never approved."""
    return bool(entry.failed) and entry.started is None


def needs_preparation(entry: EventState, host: str) -> bool:
    return entry.decided.actions.get(host) in PREPARING


def took_away(record: Record, host: str) -> bool:
    """Whether a Terminate or a Preempt seems to have taken the machine: it is over, and the machine has been silent since."""
    machine = record.hosts[host]
    answered = machine.answered or 0.0
    if not machine.lost:
        return False
    for entry in record.events.values():
        if host not in entry.affected or not entry.event.takes_machines_away or entry.tracked.outcome == CANCELLED:
            continue
        silent = entry.gone is not None and answered <= entry.gone <= record.at - SILENT
        if silent or entry.closed == TAKEN:
            return True
    return False


# ---- whom it affects, and what their policies say ----


def matched(event: Event, names: Mapping[str, str], near: Collection[str], silent: Collection[str] = ()) -> Whom:
    """Whom it affects, but for the nameless: machines of the run, in the order of the inventory; resources that are none of them; and
    sentences about resources for which the event is not approved: several machines of the run have that name, and are all affected; or one of
    another scope has it, which is none of the event's before a document of its own scope shows it, or one machine could have all others drained.

    A resource that names any machine of the run is never unknown.

    :arg names: the name in Azure of each machine of the run, by host ("" where it isn't known)
    :arg near: hosts of the scopes in which the event was shown
    :arg silent: hosts that can't say what they are shown
    """
    affected: set[str] = set()
    unknown: list[str] = []
    ambiguous: list[str] = []
    for resource in event.resources:
        same = [host for host, name in names.items() if name.lower() == resource.lower()]
        meant = [host for host in same if host in near] or [host for host in same if host in silent]
        affected.update(meant)
        if not same:
            unknown.append(resource)
        elif not meant:
            ambiguous.append(
                f"it names the VM {resource!r}, which is {listed(same)}, and no document of that machine's scope shows the event: if this stays so, "
                "correct azure_maintenance_scope"
            )
        elif len(meant) > 1:
            ambiguous.append(
                f"it names the VM {resource!r}, and the inventory has it as {' and as '.join(meant)}: remove one of them, or "
                "correct azure_maintenance_resource_name"
            )
    return Whom(tuple(host for host in names if host in affected), tuple(unknown), ambiguous=tuple(ambiguous))


def match_and_decide(record: Record) -> None:
    """Find the machines of all open events, and what is to be done on them."""
    names = {host: machine.name for host, machine in record.hosts.items() if not machine.aside}
    silent = [host for host in names if not can_look(record.hosts[host])]
    for entry in record.events.values():
        if entry.gone is None:
            _match(record, entry, names, silent)
            _decide(record, entry)


def _match(record: Record, entry: EventState, names: dict[str, str], silent: Collection[str]) -> None:
    hosts = near_hosts(record, entry)
    whom = matched(entry.event, names, hosts, silent)
    new = [host for host in whom.affected if host not in entry.affected]
    if entry.affected and new:
        happened(record, "grown", f"it turns out to affect {listed(new)}, too", entry.key)
    nameless = tuple(
        host
        for host, machine in record.hosts.items()
        if not (machine.name or machine.aside) and (host in hosts or machine.scope == host)
    )
    entry.whom = whom._replace(nameless=nameless, ambiguous=(*whom.ambiguous, *_claimed(record, whom)))


def _claimed(record: Record, whom: Whom) -> list[str]:
    """Sentences about machines that may be in service where others would be approved for: those that were left out with whoever says to be the
    same VM, and those that have not said who they are while another one has the name of their host."""
    unknown = {name.lower() for name in whom.unknown}
    claimed = {record.hosts[host].name.lower(): host for host in whom.affected}
    found = []
    for host, machine in record.hosts.items():
        if machine.aside and machine.name.lower() in unknown:
            found.append(machine.aside.rstrip("."))
        elif not machine.name and host.lower() in claimed:
            found.append(
                f"{claimed[host.lower()]} says that it is the VM {host!r}, and {host} has not said yet which VM it is"
            )
    return found


def _decide(record: Record, entry: EventState) -> None:
    """What was decided stays so, though it starts and its notice shrinks; what was left alone is judged anew."""
    if entry.tracked.is_recalled:
        return
    event = entry.event
    by = repr((entry.event.event_type, entry.event.source, entry.event.duration, entry.affected))
    if is_acting(entry) and by == entry.judged_by:
        return
    known = entry.tracked.deadline if entry.started is None else None
    notice = None if known is None else known - record.at
    entry.judged, entry.judged_by = judged(event, notice, entry.judged, is_acting(entry)), by
    if not entry.affected:
        words = "; ".join(entry.whom.ambiguous) or "none of its machines is in this run"
        entry.decided = PoliciesDecision(words=words)
    else:
        rules = {host: parse_policy(record.hosts[host].options.policy) for host in entry.affected}
        entry.decided = decided(event, entry.judged.notice, rules, entry.judged.status)
        _note_without_steps(record, entry)


def _note_without_steps(record: Record, entry: EventState) -> None:
    """A variable that is misspelt would leave a machine without steps, and approved in service."""
    for host in entry.affected:
        machine = record.hosts[host]
        if needs_preparation(entry, host) and not (has_steps(machine) or machine.given.require_steps):
            words = (
                f"No step of drain_steps is for {host}: it counts as prepared for its events while it is in service."
            )
            note(record, f"steps: {host}", words)


# ---- capacity ----


def give_turns(record: Record) -> None:
    """Which events may take their machines out of service now."""
    hosts = {host: machine for host, machine in record.hosts.items() if not machine.aside}
    candidates = {
        key: _candidate(record, entry)
        for key, entry in record.events.items()
        if is_open(entry) and is_acting(entry) and entry.started is None and not is_given_up(entry)
    }
    shut = {key: why for key in candidates if (why := closed(record, record.events[key], record.at))}
    found = turns(
        {host: group_of(machine) for host, machine in hosts.items()},
        {host: str(machine.options.max_unavailable) for host, machine in hosts.items()},
        who_is_out(record),
        [host for host in hosts if took_away(record, host)],
        list(candidates.values()),
        [host for host, machine in hosts.items() if not is_group_said(machine)],
        joined_groups(record),
        {host: machine.who.domain for host, machine in hosts.items()},
        {host: machine.options.max_domains for host, machine in hosts.items()},
    )
    for key, entry in record.events.items():
        turn, before = found.get(key), entry.turn
        if turn is None:
            entry.turn = EventTurn(too_large=before.too_large)  # one that has started was what it was
            continue
        entry.turn = _turn(entry, candidates[key], turn, shut.get(key), record.at)
        begins = entry.turn.shut != before.shut or before.state != "waits"
        if (entry.turn.state == "waits" and begins) or (entry.turn.shut and not before.shut):
            happened(record, "waits", entry.turn.words, key)


def _turn(entry: EventState, candidate: Candidate, turn: Turn, shut: Closed | None, at: float) -> EventTurn:
    """The turn of an event, whose hours may not be open."""
    full, capacity, starts = not turn.approve, turn.words, None
    if shut:
        turn = within_hours(turn, candidate, shut, entry.against.only_hours, entry.against.approves)
        starts = resumes(turn, candidate, shut, at)
    is_shut = shut is not None and holds_up(turn, entry.against.approves)
    return EventTurn(
        state=turn.state,
        words=turn.words if full or is_shut else "",
        may_prepare=turn.prepare,
        full=full,
        capacity=capacity if full else "",
        shut=is_shut,
        resumes=starts,
        too_large=turn.too_large,
    )


def group_of(machine: MachineState) -> str:
    """The capacity group of a machine: the declared one, else its scope as it was said, whatever documents showed since."""
    return machine.given.group or said_scope(machine) or machine.scope


def is_group_said(machine: MachineState) -> bool:
    """Whether its group is known by more than an event that others were shown as well."""
    return bool(machine.given.group or said_scope(machine))


def within(record: Record, entry: EventState) -> float:
    """Seconds before its not-before from which on an event is prepared for, whatever stands against its approval."""
    hosts = [host for host in entry.affected if needs_preparation(entry, host)]
    if hosts and (entry.decided.start_now or has_no_time(entry.tracked)):
        return math.inf
    return max((record.hosts[host].options.prepare_before for host in hosts), default=0.0)


def near(record: Record, entry: EventState) -> float:
    """The same outside of its hours, which forbid what is early, and nothing else: what that is, is not known without a not-before."""
    if has_no_time(entry.tracked):
        return within(record, entry)
    return min(within(record, entry), NOT_EARLY)


def _candidate(record: Record, entry: EventState) -> Candidate:
    left = not_before(entry) - record.at
    machines = [record.hosts[host] for host in entry.affected if needs_preparation(entry, host)]
    needs = [seconds_needed(machine) + not_before(entry) - preparation_end(entry, machine) for machine in machines]
    # What a watcher does is no choice of this run: it takes out nobody else for it.
    ours = [machine for machine in machines if machine.begun is not None and whose(record, machine) != WATCHER]
    begun = entry.approval.maybe or any(
        entry.key in mark_keys(machine) or _is_being_marked(machine, entry.event.event_id) for machine in ours
    )
    return Candidate(
        key=entry.key,
        title=f"{entry.event.event_type} {entry.event.event_id}",
        hosts=tuple(entry.affected),
        left=left,
        needs=max(needs, default=0.0),
        wanted=entry.against.wanted,
        near=near(record, entry),
        begun=begun,
        timeless=entry.tracked.deadline is None,
        advice=entry.event.is_advice,
    )


def _is_being_marked(machine: MachineState, event_id: str) -> bool:
    """Whether a call is under way by which the machine may have been marked for the event by now."""
    requests = machine.flying["requests"] if machine.flying else []
    return any(request.get("to") == "prepared" and event_id in request["events"] for request in requests)


def who_is_out(record: Record) -> dict[str, str]:
    """The machines that are out of service, or have to be taken for it, and why."""
    out: dict[str, str] = {}
    for host, machine in record.hosts.items():
        if whose(record, machine) != NOBODY:
            out[host] = f"is marked by {holder_words(machine)}"
        elif machine.lost or machine.answered is None:
            out[host] = "can't be reached"
        elif machine.undone is not None and record.at - machine.undone < machine.options.settle:
            until = time_of_day(record, machine.undone + machine.options.settle)
            out[host] = f"was recovered, and settles until {until}"
    for entry in record.events.values():
        under_way = entry.started is not None or entry.approval.maybe
        if entry.gone is None and under_way:
            for host in entry.affected:
                out.setdefault(host, f"is affected by {entry.event.event_type} {entry.event.event_id}")
    return out
