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

from ...module_utils._core.decision import Decision, Standing, decide, is_wanted
from ...module_utils._core.mark_view import COPIED, DRAIN, FOREIGN, RUN, UNREADABLE, WATCHER
from ...module_utils._core.messages import RUN as OF_RUN
from ...module_utils._core.messages import Reason, ends_by, sentence
from ...module_utils._core.second_look import NOT_LOOKED_AT
from ...module_utils._text import clause, listed
from .evaluation import group_of, is_acting, is_handled, near, needs_preparation, within
from .event_terms import closed, is_late, outside_hours
from .marks import holder_words, is_prepared, lacks_steps, whose, why_not_by_watcher
from .run_events import event_of, is_open, not_before
from .said_there import RECOVERED_BY_FORCE, hold_of
from .schema import EventState, MachineState, Record

OUTSIDE_HOURS = "outside_hours"

Prepared = Callable[[Record, MachineState, str, float], bool]


def decision_of(
    record: Record, key: str, entry: EventState, at: float, prepared: Prepared | None = None, capacity: bool = True
) -> Decision:
    """Whether an event is prepared for and approved now, by the present marks of its machines.

    :arg capacity: whether that counts: turns are given by what stands against an event for good
    """
    affected = [record["hosts"][host] for host in entry["affected"]]
    left, shut = not_before(entry) - at, closed(record, entry, at)
    allow = {machine["host"]: machine["options"]["allow_unknown"] for machine in affected}
    first = [Reason("ambiguous", words=words) for words in entry["ambiguous"]]
    return decide(
        event_of(entry),
        entry["action"],
        [_standing(record, key, entry, machine, at, prepared or is_prepared) for machine in affected],
        is_agreed(record, key, entry),
        left,
        has_started=entry["started"] is not None,
        must=left <= (near(record, entry) if shut else within(record, entry)),
        first=[*first, *unknown_machines(entry["unknown"], entry["nameless"], allow)],
        lasting=[*([outside_hours(shut)] if shut else []), *_unreadable(record, key, entry)],
        passing=[Reason("capacity", words=entry["capacity"])]
        if capacity and entry["turn"] and entry["capacity"]
        else [],
    )


def is_agreed(record: Record, key: str, entry: EventState) -> bool:
    """Whether a person has confirmed it, on any of its machines."""
    return any(key in record["hosts"][host]["confirmations"] for host in entry["affected"])


def is_waiting_for_confirmation(entry: EventState) -> bool:
    """Whether all is prepared, none of its machines' own documents lacks it, and only a confirmation is missing."""
    if not is_handled(entry) or entry["action"] != "hold" or entry["started"] is not None:
        return False
    return codes(entry) - _COME_BY_THEMSELVES == {"confirmation"}


_COME_BY_THEMSELVES = frozenset(["capacity", "outside_hours", "not_before"])


def _standing(
    record: Record, key: str, entry: EventState, machine: MachineState, at: float, prepared: Prepared
) -> Standing:
    host, is_ready = machine["host"], prepared(record, machine, key, at)
    never = _why_not_preparable(record, entry, machine, is_ready, at)
    passing = [Reason("denied", host)] if _denies(key, entry, machine) else []
    if machine["unbegun"] is not None and needs_preparation(entry, host) and not (is_ready or never):
        passing.append(Reason("not_begun", host, clause(machine["why"], 1000)))
    if is_ready and machine["second_look"]["why"]:
        passing.append(Reason(NOT_LOOKED_AT, host, clause(machine["second_look"]["why"], 1000)))
    return Standing(host, entry["actions"].get(host, ""), is_ready, (never,) if never else (), tuple(passing))


def _why_not_preparable(
    record: Record, entry: EventState, machine: MachineState, prepared: bool, at: float
) -> Reason | None:
    host = machine["host"]
    if machine["contradiction"]:
        return Reason("wrong_name", host)
    owner = whose(record, machine, at)
    if owner == UNREADABLE:
        return Reason("unreadable_mark", host, clause((machine["mark"] or {}).get("unreadable")))
    if owner in (RUN, DRAIN, FOREIGN, COPIED):
        return Reason("owned", host, holder_words(machine))
    if on_hold := hold_of(machine):
        return on_hold
    if not needs_preparation(entry, host):
        return None
    by_watcher = why_not_by_watcher(record, machine, prepared, at)
    if by_watcher:
        return by_watcher
    if lacks_steps(machine) and not (prepared and owner == WATCHER):
        return Reason("no_steps", host)
    if host in entry["failed"]:
        if entry["failed"][host] == RECOVERED_BY_FORCE:
            return Reason("put_back", host)
        return Reason("failed", host, clause(entry["failed"][host], 1000))
    if machine["lost"]:
        return Reason("unreachable", host, clause(machine["lost"], 1000))
    return Reason("late", host) if prepared and is_late(record, entry, machine) else None


def _denies(key: str, entry: EventState, machine: MachineState) -> bool:
    """Whether its own latest document lacks the event, though it is one of the machines that should be shown it."""
    return machine["looked"] is not None and machine["looked"] > entry["shown"] and key not in machine["shows"]


def _unreadable(record: Record, key: str, entry: EventState) -> list[Reason]:
    """Entries of documents that may be maintenance of the machines with which the event shares a capacity, if it is kept at all."""
    affected = [record["hosts"][host] for host in entry["affected"]]
    groups = {group_of(machine) for machine in affected if str(machine["options"]["max_unavailable"]) != "100%"}
    hosts = [
        host
        for host, machine in record["hosts"].items()
        if machine["unreadable"]
        and not machine["aside"]
        and (group_of(machine) in groups or (groups and key in machine["shows"]))
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


def take_lasting(record: Record, at: float) -> None:
    """What stands for good against the approval of each open event, before turns are given: one that is not approved has none to take."""
    for key, entry in coming(record):
        entry["approves"] = is_acting(entry) and is_wanted(entry["action"], is_agreed(record, key, entry))
        found = decision_of(record, key, entry, at, capacity=False)
        against = [reason for reason in found.lasting if reason.code != OUTSIDE_HOURS]
        entry["wanted"] = found.prepare
        inside = not against or not_before(entry) - at <= within(record, entry)
        entry["only_hours"] = inside and not found.prepare
        entry["hold"] = words_of(against, entry["id"]) if entry["approves"] else ""


def take_reasons(record: Record, at: float) -> None:
    """All that stands against the approval of each open event now, its turn among it: without any it is approved in this tick."""
    for key, entry in coming(record):
        found = decision_of(record, key, entry, at) if entry["approves"] else None
        entry["waits"] = _waits(entry, found.passing) if found else ""
        entry["reasons"] = [_plain(reason, entry["id"]) for reason in found.reasons] if found else []


def codes(entry: EventState) -> set[str]:
    return {reason["reason"] for reason in entry["reasons"]}


def _waits(entry: EventState, passing: Sequence[Reason]) -> str:
    """What its approval waits for, with its hours as the timeline has them."""
    others = words_of([reason for reason in passing if reason.code != "capacity"], entry["id"])
    return "; ".join(words for words in (entry["turn_words"], others) if words)


def _plain(reason: Reason, event_id: str) -> dict[str, str]:
    words, ends = sentence(reason), ends_by(reason, OF_RUN, event_id)
    return {"reason": reason.code, "about": reason.subject, "words": words, "ends_by": ends}


def coming(record: Record) -> list[tuple[str, EventState]]:
    return [(key, entry) for key, entry in record["events"].items() if is_open(entry) and entry["started"] is None]


def words_of(reasons: Sequence[Reason], event_id: str) -> str:
    """Reasons as a clause, with the command where a person has to say something; "" without any."""
    return "; ".join(
        f"{sentence(reason)}{_BY_A_PERSON.get(reason.code, '')}{ends_by(reason, OF_RUN, event_id) if reason.code in _BY_A_PERSON else ''}"
        for reason in reasons
    )


_BY_A_PERSON = {"confirmation": ": ", "on_hold": "; "}  # what stands before the command
