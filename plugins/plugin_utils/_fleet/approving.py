# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Approvals: what the record says of an event's readiness, who sends the approval, and what came of it. It changes the record, and nothing else.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from ...module_utils._core.decision import Decision, Standing, decide, is_wanted, may_be_sent
from ...module_utils._core.mark_view import COPIED, DRAIN, FOREIGN, NOBODY, OURS, RUN, UNREADABLE, WATCHER
from ...module_utils._core.messages import RUN as OF_RUN
from ...module_utils._core.messages import Reason, ends_by, sentence
from ...module_utils._text import clause, first_line, listed, one_line
from .approval import Approver, Choice, in_order, next_approver, tried, unknown_machines, words_of
from .evaluation import group_of, is_acting, is_handled, near, needs_preparation, title, within
from .event_terms import closed, is_late, not_open, outside_hours
from .marks import holder_words, is_prepared, lacks_steps, mark_keys, was_prepared, whose, why_not_by_watcher
from .reports import happened
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


def is_waiting_for_confirmation(record: Record, key: str, entry: EventState, at: float) -> bool:
    """Whether all is prepared, none of its machines' own documents lacks it, and only a confirmation is missing."""
    if not is_handled(entry) or entry["action"] != "hold" or entry["started"] is not None:
        return False
    return _codes(entry) - _COME_BY_THEMSELVES == {"confirmation"}


_COME_BY_THEMSELVES = frozenset(["capacity", "outside_hours", "not_before"])


def _standing(
    record: Record, key: str, entry: EventState, machine: MachineState, at: float, prepared: Prepared
) -> Standing:
    host, is_ready = machine["host"], prepared(record, machine, key, at)
    never = _why_not_preparable(record, entry, machine, is_ready, at)
    passing = [Reason("denied", host)] if _denies(key, entry, machine) else []
    if machine["unbegun"] is not None and needs_preparation(entry, host) and not (is_ready or never):
        passing.append(Reason("not_begun", host, clause(machine["why"], 1000)))
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


def take_lasting(record: Record, at: float) -> None:
    """What stands for good against the approval of each open event, before turns are given: one that is not approved has none to take."""
    for key, entry in _coming(record):
        entry["approves"] = is_acting(entry) and is_wanted(entry["action"], is_agreed(record, key, entry))
        found = decision_of(record, key, entry, at, capacity=False)
        against = [reason for reason in found.lasting if reason.code != OUTSIDE_HOURS]
        entry["wanted"] = found.prepare
        inside = not against or not_before(entry) - at <= within(record, entry)
        entry["only_hours"] = inside and not found.prepare
        entry["hold"] = words_of(against, entry["id"]) if entry["approves"] else ""


def take_reasons(record: Record, at: float) -> None:
    """All that stands against the approval of each open event now, its turn among it: without any it is approved in this tick."""
    for key, entry in _coming(record):
        found = decision_of(record, key, entry, at) if entry["approves"] else None
        entry["waits"] = _waits(entry, found.passing) if found else ""
        entry["reasons"] = [_plain(reason, entry["id"]) for reason in found.reasons] if found else []


def note_readiness(record: Record, at: float) -> None:
    """Write down for people why nobody can send the approval of an event that is ready."""
    for key, entry in _coming(record):
        _note_nobody(record, key, entry, at)


def _codes(entry: EventState) -> set[str]:
    return {reason["reason"] for reason in entry["reasons"]}


def _waits(entry: EventState, passing: Sequence[Reason]) -> str:
    """What its approval waits for, with its hours as the timeline has them."""
    others = words_of([reason for reason in passing if reason.code != "capacity"], entry["id"])
    return "; ".join(words for words in (entry["turn_words"], others) if words)


def _plain(reason: Reason, event_id: str) -> dict[str, str]:
    words, ends = sentence(reason), ends_by(reason, OF_RUN, event_id)
    return {"reason": reason.code, "about": reason.subject, "words": words, "ends_by": ends}


def _coming(record: Record) -> list[tuple[str, EventState]]:
    return [(key, entry) for key, entry in record["events"].items() if is_open(entry) and entry["started"] is None]


def _note_nobody(record: Record, key: str, entry: EventState, at: float) -> None:
    """Keep why no machine can approve an event that is ready; when its not-before comes, that is why it was not approved."""
    choice, tries = choice_of(record, key, entry, at), entry["approval"]["tries"]
    if choice is None or (choice.host and not tries["count"]):
        entry["approval"]["nobody"] = ""
    elif choice.wait is not None:
        entry["approval"]["nobody"] = tries["note"] or choice.words


# ---- who sends it ----


def to_approve(record: Record, at: float) -> dict[str, list[str]]:
    """The keys of the events that each machine approves now."""
    work: dict[str, list[str]] = {}
    if record["run"]["check"]:
        return work
    for key, entry in record["events"].items():
        choice = choice_of(record, key, entry, at)
        if choice and choice.host and _fits(record, key, work.get(choice.host, [])):
            work.setdefault(choice.host, []).append(key)
    return work


def to_approve_with(record: Record, hosts: Collection[str], at: float) -> dict[str, list[str]]:
    """The keys of the events that a machine approves in the very call by which it becomes prepared for them: of each only the machine
    itself is missing, and it is the one that approves. Whether it is prepared by then it sees itself.

    :arg hosts: Windows machines of which nothing but their mark is left to be done: each call of one takes a start of PowerShell
    """
    work: dict[str, list[str]] = {}
    for host in hosts:

        def with_it(record: Record, machine: MachineState, key: str, at: float, host: str = host) -> bool:
            return machine["host"] == host or is_prepared(record, machine, key, at)

        for key, entry in record["events"].items():
            choice = choice_of(record, key, entry, at, with_it) if key in mark_keys(record["hosts"][host]) else None
            if choice and choice.host == host and _fits(record, key, work.get(host, [])):
                work.setdefault(host, []).append(key)
    return work


def to_see_again(record: Record, at: float) -> list[str]:
    """Machines of events that are ready but for this: what their marks said was too old when the tick ended, as it was a long one."""
    found = [
        host
        for key, entry in record["events"].items()
        if _may_be_approved(record, entry, at)
        and _codes(entry) == {"not_prepared"}
        and decision_of(record, key, entry, at, was_prepared).approve
        for host in entry["affected"]
        if needs_preparation(entry, host) and not is_prepared(record, record["hosts"][host], key, at)
    ]
    return list(dict.fromkeys(found))


def _may_be_approved(record: Record, entry: EventState, at: float) -> bool:
    if not (is_handled(entry) and entry["approves"] and entry["started"] is None):
        return False
    # Sent again, it is an approval like any other: who is out for it stays out, but nobody sends it outside of its hours.
    return not entry["approval"]["sent"] or (_is_due_again(entry, at) and not not_open(record, entry, at))


def _is_due_again(entry: EventState, at: float) -> bool:
    """Whether Azure has accepted its approval, and documents say Scheduled all the same: only they confirm it."""
    sent = entry["approval"]["at"]
    return sent is not None and entry["announced"] > sent and may_be_sent(at, None, sent, True)


def _fits(record: Record, key: str, keys: list[str]) -> bool:
    """Whether an event goes with others in one request: what that names as prepared, or allowed, holds for all of its events. One that
    differs goes with the next tick."""

    def named(one: str) -> list[set[str]]:
        entry = record["events"][one]
        return [set(entry["affected"]), set(entry["unknown"])]

    return all(named(other) == named(key) for other in keys)


def choice_of(
    record: Record, key: str, entry: EventState, at: float, prepared: Prepared | None = None
) -> Choice | None:
    """Who approves an event now; None when it isn't ready, or needs no approval any more.

    :arg prepared: whether a machine counts as prepared, where that is not by its mark alone
    """
    if not _may_be_approved(record, entry, at):
        return None
    if prepared:
        against = {reason.code for reason in decision_of(record, key, entry, at, prepared).reasons}
    else:
        against = _codes(entry)
    if against - {"not_before"}:
        return None  # when its time has come, what kept it from being approved until then is worth more than that
    approvers = [_approver(record, key, entry, machine, at) for machine in record["hosts"].values()]
    left, tries = not_before(entry) - at, entry["approval"]["tries"]
    if entry["approval"]["sent"]:
        tries = {**tries, "accepted": ""}
    choice = next_approver(event_of(entry), approvers, tries, at, record["same"]["takeover"], left)
    if choice.host or choice.wait is None:
        return choice
    shown = [machine for machine in record["hosts"].values() if key in machine["shows"]]
    unable = [f"{machine['host']} {why}" for machine in shown if (why := _why_not_able(record, key, machine, at))]
    return choice._replace(words=f"{choice.words} ({listed(unable)})") if unable else choice


def approvers_of(record: Record, key: str, entry: EventState, at: float) -> list[str]:
    """Who can approve an event, the best first."""
    return in_order(
        event_of(entry), [_approver(record, key, entry, machine, at) for machine in record["hosts"].values()]
    )


def _approver(record: Record, key: str, entry: EventState, machine: MachineState, at: float) -> Approver:
    host = machine["host"]
    affected = any(host in other["affected"] for other in record["events"].values() if is_handled(other))
    return Approver(
        host=host,
        is_linux=machine["is_linux"],
        shown=key in machine["shows"],
        affected=affected,
        own=host in entry["affected"],
        able=not _why_not_able(record, key, machine, at),
    )


def _why_not_able(record: Record, key: str, machine: MachineState, at: float) -> str:
    """Why a machine can't send an approval, as a clause; "" when it can. One that its own watcher has prepared for the event may."""
    if machine["lost"] or machine["look_problem"] or machine["aside"]:
        return "can't be asked"
    owner = whose(record, machine, at)
    if owner in (OURS, NOBODY) or (owner == WATCHER and is_prepared(record, machine, key, at)):
        return ""
    return f"is marked by {holder_words(machine)}"


def approve_request(record: Record, machine: MachineState, keys: list[str], at: float) -> dict[str, Any]:
    """What the approver is asked: which events, for which of them it must be prepared itself, who is ready for them, who may be
    unknown; and when that was decided."""
    host, by_watcher = machine["host"], whose(record, machine, at) == WATCHER
    entries = [record["events"][key] for key in keys]
    names = [record["hosts"][host]["resource_name"] for entry in entries for host in entry["affected"]]
    return {
        "do": "approve",
        "ids": [entry["id"] for entry in entries],
        "own": [entry["id"] for entry in entries if by_watcher or needs_preparation(entry, host)],
        "decided": at,
        "prepared": list(dict.fromkeys(names)),
        "allow_unknown": list(dict.fromkeys(name for entry in entries for name in entry["unknown"])),
        "by_watcher": by_watcher,
    }


# ---- what came of it ----

ACCEPTED = "accepted"


def _note_try(entry: EventState, host: str, result: str, answer: str, at: float) -> None:
    """One more try: whose turn it is next, and what people may read of it."""
    approval = entry["approval"]
    words = one_line(answer, 1000) or result
    approval["tries"] = tried(approval["tries"], host, at, result, f"{host}: {words}" if answer else "")
    same = [one for one in approval["attempts"] if (one["by"], one["answer"]) == (host, words)]
    if not same:
        approval["attempts"].append({"by": host, "at": at, "until": at, "times": 1, "answer": words})
    for one in same:  # it is tried every two seconds, for hours perhaps
        one["until"], one["times"] = at, one["times"] + 1


def take_lost_approval(record: Record, host: str, ids: list[str], why: str, at: float) -> None:
    """Nothing came back from the approver: Azure may have got the approval."""
    for event_id in ids:
        entry = record["events"][event_id.upper()]
        entry["approval"]["maybe"] = True
        _note_try(entry, host, "lost", f"the approval may have been sent, and its answer was lost: {why}", at)


def take_approval(record: Record, host: str, ids: list[str], answer: Mapping[str, Any], at: float) -> None:
    """What the approver answered."""
    approved = {str(event_id).upper() for event_id in answer.get("approved") or ()}
    already = {str(event_id).upper() for event_id in answer.get("already") or ()}
    refused = {str(item["id"]).upper(): item for item in answer.get("not_approved") or ()}
    for event_id in ids:
        key = event_id.upper()
        entry = record["events"][key]
        approval = entry["approval"]
        if key in approved:
            again = ", again: it was still Scheduled" if approval["sent"] else ""
            approval["sent"] = approval["maybe"] = True
            approval["by"], approval["at"] = host, at
            _note_try(entry, host, ACCEPTED, "", at)
            happened(record, at, "approved", f"by {host}{again}", key, host)
        elif key in already:
            _note_try(entry, host, ACCEPTED, "it had started already", at)
        else:
            _take_refusal(entry, host, refused.get(key), answer, at)


def _take_refusal(
    entry: EventState, host: str, refused: Mapping[str, Any] | None, answer: Mapping[str, Any], at: float
) -> None:
    """Nothing is known to have come of it. Who would not was the machine; who could not, its service."""
    by_machine = refused is not None and not answer.get("failure")
    said = (refused or {}).get("message") or answer.get("msg") or answer.get("problem") or "it gave no reason"
    entry["approval"]["maybe"] = entry["approval"]["maybe"] or not by_machine
    _note_try(entry, host, "refused" if by_machine else "failed", first_line(said, 1000), at)


def no_approver_words(record: Record, key: str, entry: EventState, at: float) -> str:
    """Why an event that is ready has not been approved; "" where it is not ready, or was."""
    choice = choice_of(record, key, entry, at)
    if choice is None:
        return ""
    return f"{title(entry)} could not be approved: {entry['approval']['tries']['note'] or choice.words}"
