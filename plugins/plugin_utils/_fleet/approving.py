# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Approvals: which machine sends that of an event that is ready, and what came of it. It changes the record, and nothing else.

Private to this collection.

Machines that were shown the event try in turn, again and again, until one approval was accepted or its not-before has come.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ...module_utils._core.mark_view import NOBODY, OURS, WATCHER
from ...module_utils._core.second_look import FRESH
from ...module_utils._events.event import Event
from ...module_utils._text import first_line, listed, one_line
from .approval_reasons import approved_in, codes, coming, may_be_approved
from .evaluation import is_handled, needs_preparation, title
from .event_state import ApprovalTries, Attempt, EventState
from .machine_state import MachineState
from .marks import holder_words, is_prepared, whose
from .reports import happened
from .run_events import not_before
from .second_looks import stands
from .state import Record

PAUSE = 2.0
"""Seconds from one try of an approval to the next."""

TAKEOVER = 30.0
"""Seconds for which a machine tries before another one does."""


class Approver(NamedTuple):
    """A machine as one that could approve an event.

    shown: it was shown the event by its latest document
    affected: an open event affects it
    own: this event does
    able: it can be reached, looks, and has no mark of anybody else, but that of its own watcher who has it prepared
    """

    host: str
    shown: bool
    affected: bool
    own: bool
    able: bool


class Choice(NamedTuple):
    """Who approves now: a host, or "" with the seconds to wait (None: nobody will) and why."""

    host: str
    wait: float | None
    words: str


def next_approver(event: Event, approvers: Sequence[Approver], tries: ApprovalTries, at: float, left: float) -> Choice:
    """Who approves an event that is ready.

    :arg approvers: the machines of the run, in the order of the inventory
    :arg left: seconds until its not-before
    """
    if event.is_advice:
        return Choice("", None, "it is advice, and an approval has no effect")
    if tries.accepted:
        return Choice("", None, f"{tries.accepted} has approved it")
    if left <= 0:
        return Choice("", None, "its not-before has come")
    order = in_order(event, approvers)
    if not order:
        who = "machine that it deletes" if event.may_terminate else "machine that was shown it"
        return Choice("", PAUSE, f"no {who} can be asked")
    host = _whose_turn(order, tries, at)
    wait = tries.last + PAUSE - at
    if host == tries.by and wait > 0:
        return Choice("", wait, f"{host} tries again in a moment: {tries.note}")
    return Choice(host, 0.0, f"{host} approves it")


def in_order(event: Event, approvers: Sequence[Approver]) -> list[str]:
    """Who can approve, the best first: not affected by anything open, not by this event.

    A machine that deletes itself decides alone (S4.12); so it is where an event's type can't be read.
    """
    able = [
        approver
        for approver in approvers
        if approver.able and approver.shown and (approver.own or not event.may_terminate)
    ]
    able.sort(key=lambda approver: (approver.affected, approver.own))
    return [approver.host for approver in able]


def _whose_turn(order: Sequence[str], tries: ApprovalTries, at: float) -> str:
    by, had = tries.by, tries.tried
    if by in order and by not in had and at - tries.since < TAKEOVER:
        return by
    # When everybody has had a turn, they begin anew; whoever was last is not the first again.
    fresh = [host for host in order if host != by and host not in had]
    others = [host for host in order if host != by]
    return (fresh or others or order)[0]


def tried(tries: ApprovalTries, host: str, at: float, result: str, note: str = "") -> ApprovalTries:
    """What was tried, after one more try.

    :arg result: "accepted" (answered 200, or the machine says that it was approved already), "failed" (its service did not answer
        as it should: the same machine tries again until its time is over), "refused" (the machine would not: gone, fenced,
        unknown machines), "lost" (nothing came back): the next one's turn
    """
    had = list(tries.tried)
    if host != tries.by:
        had.append(tries.by)  # its turn is over
    if host in had:
        had = []  # everybody has had a turn
    if result in ("refused", "lost"):
        had.append(host)
    return ApprovalTries(
        by=host,
        since=tries.since if host == tries.by else at,
        last=at,
        tried=tuple(sorted({name for name in had if name})),
        times=tries.times + 1,
        accepted=host if result == ACCEPTED else tries.accepted,
        note=one_line(note) or result,
    )


# ---- who sends it ----


def to_approve(record: Record) -> dict[str, list[str]]:
    """The keys of the events that each machine approves now."""
    work: dict[str, list[str]] = {}
    if record.run.check:
        return work
    for key, entry in record.events.items():
        choice = choice_of(record, entry)
        if choice and choice.host and stands(record, entry) and _fits(record, key, work.get(choice.host, [])):
            work.setdefault(choice.host, []).append(key)
    return work


def _fits(record: Record, key: str, keys: list[str]) -> bool:
    """Whether an event goes with others in one request: what that names as prepared, or allowed, holds for all of its events. One that
    differs goes with the next tick."""

    def named(one: str) -> list[set[str]]:
        entry = record.events[one]
        return [set(entry.affected), set(entry.whom.unknown)]

    return all(named(other) == named(key) for other in keys)


def choice_of(record: Record, entry: EventState) -> Choice | None:
    """Who approves an event now; None when it isn't ready, or needs no approval any more."""
    if not may_be_approved(record, entry):
        return None
    if codes(entry) - {"not_before"}:
        return None  # when its time has come, what kept it from being approved until then is worth more than that
    approvers = [_approver(record, entry, machine) for machine in record.hosts.values()]
    left, tries = not_before(entry) - record.at, entry.approval.tries
    if entry.approval.sent:
        tries = tries._replace(accepted="")
    choice = next_approver(entry.event, approvers, tries, record.at, left)
    if choice.host or choice.wait is None:
        return choice
    shown = [machine for machine in record.hosts.values() if entry.key in machine.seen.shows]
    unable = [f"{machine.host} {why}" for machine in shown if (why := _why_not_able(record, entry.key, machine))]
    return choice._replace(words=f"{choice.words} ({listed(unable)})") if unable else choice


def approvers_of(record: Record, entry: EventState) -> list[str]:
    """Who can approve an event, the best first."""
    return in_order(entry.event, [_approver(record, entry, machine) for machine in record.hosts.values()])


def _approver(record: Record, entry: EventState, machine: MachineState) -> Approver:
    host = machine.host
    affected = any(host in other.affected for other in record.events.values() if is_handled(other))
    return Approver(
        host=host,
        shown=entry.key in machine.seen.shows,
        affected=affected,
        own=host in entry.affected,
        able=not _why_not_able(record, entry.key, machine),
    )


def _why_not_able(record: Record, key: str, machine: MachineState) -> str:
    """Why a machine can't send an approval, as a clause; "" when it can. One that its own watcher has prepared for the event may."""
    if machine.lost or machine.seen.problem or machine.aside:
        return "can't be asked"
    owner = whose(record, machine)
    if owner in (OURS, NOBODY) or (owner == WATCHER and is_prepared(record, machine, key)):
        return ""
    return f"is marked by {holder_words(machine)}"


def approve_request(record: Record, machine: MachineState, keys: list[str]) -> dict[str, Any]:
    """What the approver is asked: which events, for which of them it must be prepared itself, who is ready for them, who may be
    unknown; and when that was decided."""
    host, by_watcher = machine.host, whose(record, machine) == WATCHER
    entries = [record.events[key] for key in keys]
    names = [record.hosts[host].name for entry in entries for host in entry.affected]
    return {
        "do": "approve",
        "ids": [entry.event.event_id for entry in entries],
        "own": [entry.event.event_id for entry in entries if by_watcher or needs_preparation(entry, host)],
        "decided": record.at,
        "prepared": list(dict.fromkeys(names)),
        "allow_unknown": list(dict.fromkeys(name for entry in entries for name in entry.whom.unknown)),
        "by_watcher": by_watcher,
    }


def note_readiness(record: Record) -> None:
    """Write down for people why nobody can send the approval of an event that is ready."""
    for entry in coming(record):
        _note_nobody(record, entry)


def _note_nobody(record: Record, entry: EventState) -> None:
    """Keep why no machine can approve an event that is ready; when its not-before comes, that is why it was not approved."""
    choice, tries = choice_of(record, entry), entry.approval.tries
    if choice and choice.host and not stands(record, entry):
        words = f"what was done to its machines could not all be looked at once more within {FRESH:g} s"
        entry.approval.nobody = tries.note or words
    elif choice is None or (choice.host and not tries.times):
        entry.approval.nobody = ""
    elif choice.wait is not None:
        entry.approval.nobody = tries.note or choice.words


# ---- what came of it ----


def note_sent(record: Record, machine: MachineState) -> None:
    """A call is being sent: Azure may accept the approval in it before anything is heard of that."""
    call = machine.flying
    for event_id in approved_in(call):
        entry = record.events[event_id.upper()]
        if call and entry.started is None:  # approved as one that has not: what was done by now was done in time
            entry.announced = max(entry.announced, call["decided"])
        if not entry.approval.maybe:
            entry.approval.maybe = True
            machine.perhaps.append(event_id.upper())


def note_answered(record: Record, machine: MachineState) -> None:
    """What became of the approvals in its call is known now, or is noted as lost."""
    for key in machine.perhaps:
        record.events[key].approval.maybe = False
    machine.flying, machine.perhaps = None, []


ACCEPTED = "accepted"


def _note_try(record: Record, key: str, host: str, result: str, answer: str) -> None:
    """One more try: whose turn it is next, and what people may read of it."""
    approval = record.events[key].approval
    words = one_line(answer, 1000) or result
    approval.tries = tried(approval.tries, host, record.at, result, f"{host}: {words}" if answer else "")
    same = [one for one in approval.attempts if (one.by, one.answer) == (host, words)]
    for one in same:  # it is tried every two seconds, for hours perhaps
        one.until, one.times = record.at, one.times + 1
    if not same:
        approval.attempts.append(Attempt(host, record.at, record.at, 1, words))
        if words != ACCEPTED:
            happened(record, "tried", f"{host}: {words}", key, host)


def take_lost_approval(record: Record, host: str, ids: list[str], why: str, unsent: bool) -> None:
    """Nothing came back from the approver: Azure may have got the approval.

    :arg unsent: whether it is known that nobody has sent it, as the machine was not even reached
    """
    words = "the approval was not sent" if unsent else "the approval may have been sent, and its answer was lost"
    for event_id in ids:
        key = event_id.upper()
        approval = record.events[key].approval
        approval.maybe = approval.maybe or not unsent
        _note_try(record, key, host, "lost", f"{words}: {why}")


def take_approval(record: Record, host: str, ids: list[str], answer: Mapping[str, Any]) -> None:
    """What the approver answered."""
    approved = {event_id.upper() for event_id in answer.get("approved", ())}
    already = {event_id.upper() for event_id in answer.get("already", ())}
    refused = {item["id"].upper(): item for item in answer.get("not_approved", ())}
    unanswered = {event_id.upper() for event_id in answer.get("unanswered", ())}
    for event_id in ids:
        key = event_id.upper()
        approval = record.events[key].approval
        if key in approved:
            again = ", again: it was still Scheduled" if approval.sent else ""
            approval.sent = approval.maybe = True
            approval.by, approval.at = host, record.at
            _note_try(record, key, host, ACCEPTED, "")
            happened(record, "approved", f"by {host}{again}", key, host)
        elif key in already:
            _note_try(record, key, host, ACCEPTED, "it had started already")
        else:
            # With a problem the machine program ended in the middle of it.
            approval.maybe = approval.maybe or key in unanswered or "problem" in answer
            _take_refusal(record, key, host, refused.get(key), answer)


def _take_refusal(
    record: Record, key: str, host: str, refused: Mapping[str, Any] | None, answer: Mapping[str, Any]
) -> None:
    """Azure has not accepted it, as far as is known. Who would not was the machine; who could not, its service."""
    by_machine = refused is not None and not answer.get("failure")
    said = (refused or {}).get("message") or answer.get("msg") or answer.get("problem") or "it gave no reason"
    _note_try(record, key, host, "refused" if by_machine else "failed", first_line(said, 1000))


def no_approver_words(record: Record, entry: EventState) -> str:
    """Why an event that is ready has not been approved; "" where it is not ready, or was."""
    choice = choice_of(record, entry)
    if choice is None:
        return ""
    why = entry.approval.tries.note or choice.words
    return f"{title(entry)} {perhaps(entry) or 'could not be approved'}: {why}"


def perhaps(entry: EventState) -> str:
    """What is said of an event in the place of "was not approved" where that is not known; "" where it is."""
    return "may have been approved (an approval was sent, and not answered)" if entry.approval.maybe else ""
