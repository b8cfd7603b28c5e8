# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether an event may be approved: all that stands against it, by what the record says of its machines. It changes the record, and nothing else.

Private to this collection.

An event is ready when all machines of the run that it affects are marked "prepared" for it, or need none, and nothing else
stands against it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ...module_utils._core.decision import Decision, Standing, decide, is_wanted, may_be_sent
from ...module_utils._core.mark_view import COPIED, DRAIN, FOREIGN, RUN, UNREADABLE, WATCHER
from ...module_utils._core.messages import RUN as OF_RUN
from ...module_utils._core.messages import Reason, ends_by, sentence
from ...module_utils._core.second_look import NOT_LOOKED_AT
from ...module_utils._text import clause, listed
from .evaluation import group_of, is_acting, is_handled, near, needs_preparation, within
from .event_state import EventState
from .event_terms import closed, is_late, not_open, outside_hours
from .hosts import contradiction
from .machine_state import Call, MachineState
from .marks import holder_words, is_prepared, lacks_steps, whose, why_not_by_watcher
from .run_events import is_open, not_before
from .said_there import RECOVERED_BY_FORCE, hold_of
from .state import Record

OUTSIDE_HOURS = "outside_hours"

Prepared = Callable[[Record, MachineState, str], bool]


def decision_of(record: Record, entry: EventState, prepared: Prepared | None = None, capacity: bool = True) -> Decision:
    """Whether an event is prepared for and approved now, by the present marks of its machines.

    :arg capacity: whether that counts: turns are given by what stands against an event for good
    """
    affected = [record.hosts[host] for host in entry.affected]
    left, shut = not_before(entry) - record.at, closed(record, entry, record.at)
    allow = {machine.host: machine.options.allow_unknown for machine in affected}
    first = [Reason("ambiguous", words=words) for words in entry.whom.ambiguous]
    return decide(
        entry.event,
        entry.decided.action,
        [_standing(record, entry, machine, prepared or is_prepared) for machine in affected],
        is_agreed(record, entry),
        left,
        has_started=entry.started is not None,
        must=left <= (near(record, entry) if shut else within(record, entry)),
        first=[*first, *unknown_machines(entry.whom.unknown, entry.whom.nameless, allow)],
        lasting=[*([outside_hours(shut)] if shut else []), *_unreadable(record, entry)],
        passing=[Reason("capacity", words=entry.turn.capacity)]
        if capacity and entry.turn.state and entry.turn.capacity
        else [],
    )


def is_agreed(record: Record, entry: EventState) -> bool:
    """Whether a person has confirmed it, on any of its machines."""
    return any(entry.key in record.hosts[host].said.confirmations for host in entry.affected)


def is_waiting_for_confirmation(entry: EventState) -> bool:
    """Whether all is prepared, none of its machines' own documents lacks it, and only a confirmation is missing."""
    if not is_handled(entry) or entry.decided.action != "hold" or entry.started is not None:
        return False
    return codes(entry) - _COME_BY_THEMSELVES == {"confirmation"}


_COME_BY_THEMSELVES = frozenset(["capacity", "outside_hours", "not_before"])


def _standing(record: Record, entry: EventState, machine: MachineState, prepared: Prepared) -> Standing:
    host, is_ready = machine.host, prepared(record, machine, entry.key)
    never = _why_not_preparable(record, entry, machine, is_ready)
    passing = [Reason("denied", host)] if _denies(entry, machine) else []
    if machine.unbegun is not None and needs_preparation(entry, host) and not (is_ready or never):
        passing.append(Reason("not_begun", host, clause(machine.why, 1000)))
    if is_ready and machine.second_look.why:
        passing.append(Reason(NOT_LOOKED_AT, host, clause(machine.second_look.why, 1000)))
    return Standing(host, entry.decided.actions.get(host, ""), is_ready, (never,) if never else (), tuple(passing))


def _why_not_preparable(record: Record, entry: EventState, machine: MachineState, prepared: bool) -> Reason | None:
    host = machine.host
    if contradiction(machine):
        return Reason("wrong_name", host)
    owner = whose(record, machine)
    if owner == UNREADABLE:
        return Reason("unreadable_mark", host, clause((machine.mark or {}).get("unreadable")))
    if owner in (RUN, DRAIN, FOREIGN, COPIED):
        return Reason("owned", host, holder_words(machine))
    if on_hold := hold_of(machine):
        return on_hold
    if not needs_preparation(entry, host):
        return None
    by_watcher = why_not_by_watcher(record, machine, prepared)
    if by_watcher:
        return by_watcher
    if lacks_steps(machine) and not (prepared and owner == WATCHER):
        return Reason("no_steps", host)
    if host in entry.failed:
        if entry.failed[host] == RECOVERED_BY_FORCE:
            return Reason("put_back", host)
        return Reason("failed", host, clause(entry.failed[host], 1000))
    if machine.lost:
        return Reason("unreachable", host, clause(machine.lost, 1000))
    return Reason("late", host) if prepared and is_late(record, entry, machine) else None


def _denies(entry: EventState, machine: MachineState) -> bool:
    """Whether its own latest document lacks the event, though it is one of the machines that should be shown it."""
    return machine.seen.at is not None and machine.seen.at > entry.shown and entry.key not in machine.seen.shows


def _unreadable(record: Record, entry: EventState) -> list[Reason]:
    """Entries of documents that may be maintenance of the machines with which the event shares a capacity, if it is kept at all."""
    affected = [record.hosts[host] for host in entry.affected]
    groups = {group_of(machine) for machine in affected if str(machine.options.max_unavailable) != "100%"}
    hosts = [
        host
        for host, machine in record.hosts.items()
        if machine.seen.unreadable
        and not machine.aside
        and (group_of(machine) in groups or (groups and entry.key in machine.seen.shows))
    ]
    return [Reason("unreadable_entry", listed(hosts))] if hosts else []


def unknown_machines(unknown: Sequence[str], nameless: Sequence[str], allow: Mapping[str, bool]) -> list[Reason]:
    """What stands against an event that affects machines which are none of the run's. These may be allowed, by all of the event's
    machines, but not what may be a machine of this run.

    :arg unknown: their names in Azure
    :arg nameless: machines of the run that may be one of them, as their name in Azure isn't known
    :arg allow: the option of each machine that it affects, by host
    """
    forbid = [host for host, allows in allow.items() if not allows]
    if not unknown or not (forbid or nameless):
        return []
    words = ""
    if nameless:
        words = f" (of {listed(nameless)} the VM's name is not known)"
    elif len(forbid) < len(allow):
        words = f" (maintain_allow_unknown is false on {listed(forbid)})"
    return [Reason("unknown_machines", listed(unknown), words)]


def take_lasting(record: Record) -> None:
    """What stands for good against the approval of each open event, before turns are given: one that is not approved has none to take."""
    for entry in coming(record):
        approves = is_acting(entry) and is_wanted(entry.decided.action, is_agreed(record, entry))
        found = decision_of(record, entry, capacity=False)
        against = [reason for reason in found.lasting if reason.code != OUTSIDE_HOURS]
        inside = not against or not_before(entry) - record.at <= within(record, entry)
        entry.against = entry.against._replace(
            approves=approves,
            wanted=found.prepare,
            only_hours=inside and not found.prepare,
            hold=words_of(against, entry.event.event_id) if approves else "",
        )


def take_reasons(record: Record) -> None:
    """All that stands against the approval of each open event now, its turn among it: without any it is approved in this tick."""
    for entry in coming(record):
        reasons: tuple[Reason, ...] = ()
        waits = ""
        if entry.against.approves:
            found = decision_of(record, entry)
            reasons, waits = found.reasons, _waits(entry, found.passing)
        entry.against = entry.against._replace(waits=waits, reasons=reasons)


def codes(entry: EventState) -> set[str]:
    return {reason.code for reason in entry.against.reasons}


def _waits(entry: EventState, passing: Sequence[Reason]) -> str:
    """What its approval waits for, with its hours as the timeline has them."""
    others = words_of([reason for reason in passing if reason.code != "capacity"], entry.event.event_id)
    return "; ".join(words for words in (entry.turn.words, others) if words)


def coming(record: Record) -> list[EventState]:
    return [entry for entry in record.events.values() if is_open(entry) and entry.started is None]


def words_of(reasons: Sequence[Reason], event_id: str) -> str:
    """Reasons as a clause, with the command where a person has to say something; "" without any."""
    return "; ".join(
        f"{sentence(reason)}{_BY_A_PERSON.get(reason.code, '')}{ends_by(reason, OF_RUN, event_id) if reason.code in _BY_A_PERSON else ''}"
        for reason in reasons
    )


_BY_A_PERSON = {"confirmation": ": ", "on_hold": "; "}  # what stands before the command


# ---- whether it is sent ----


def may_be_approved(record: Record, entry: EventState) -> bool:
    """Whether its approval may be sent, or sent again, as soon as nothing stands against it."""
    if not (is_handled(entry) and entry.against.approves and entry.started is None):
        return False
    if _is_being_sent(record, entry):
        return False
    # Sent again, it is an approval like any other: who is out for it stays out, but nobody sends it outside of its hours.
    return not entry.approval.sent or (_is_due_again(entry, record.at) and not not_open(record, entry, record.at))


def _is_being_sent(record: Record, entry: EventState) -> bool:
    """Whether a call by which a machine approves it has not been answered yet: nobody else sends another one meanwhile."""
    return any(entry.event.event_id in approved_in(machine.flying) for machine in record.hosts.values())


def approved_in(call: Call | None) -> list[str]:
    """Of the events that are approved in a call."""
    requests = call["requests"] if call else []
    return [event_id for request in requests if request["do"] == "approve" for event_id in request["ids"]]


def _is_due_again(entry: EventState, at: float) -> bool:
    """Whether Azure has accepted its approval, and documents say Scheduled all the same: only they confirm it."""
    sent = entry.approval.at
    return sent is not None and entry.announced > sent and may_be_sent(at, None, sent, True)
