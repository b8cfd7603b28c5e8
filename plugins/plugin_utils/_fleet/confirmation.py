# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbook ``approve``: what becomes of a confirmation. A living run approves the event, or a machine does so now, or something is missing.
And stage by stage, what each machine is asked next, what is shown, and how it ends. Pure.

Private to this collection.

The confirmation is recorded on the machines of the event. Where a run owns them that may be alive, the playbook waits for a sign of it;
then it asks the machines once more, and where no run is alive one of them approves.

The confirmation is a file beside the mark; one, on any machine of the event, is enough. Whether the event is approved, and by which
machine, is the answer that a run would give whose marks these are. Here are the words.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple, TypedDict

from ...module_utils._core import mark_view as core
from ...module_utils._core import messages
from ...module_utils._core.mark_view import COPIED, FOREIGN, OURS, UNREADABLE, holder_words, service_words
from ...module_utils._core.messages import Reason
from ...module_utils._text import clause, did_you_mean, duration, listed, one_line, sentence, shown
from .approval_reasons import decision_of
from .approving import Choice, approve_request, choice_of
from .evaluation import title
from .event_state import EventState
from .inspection import Asked, Inspection, event_words, inspected
from .marks import is_expired, mark_keys, whose, why_not_prepared

_SILENT = "it did not report a result"
_NOT_HERE = "not_in_inventory"


class Confirmation(NamedTuple):
    """What becomes of one.

    verdict: "run" (a living run approves), "approve" (no run lives: ``host`` approves now), "missing" (machines are not prepared),
        "not_shown" (no machine is shown such an event), "started", "refused" (never approved this way)
    id: the event's, as Azure writes it
    sentences: for people
    recorded_on: hosts on which the confirmation is recorded
    host: who approves
    numbers: for "run", of the marks by which it lives, by host: one that rises shows that it does
    request: for "approve", to the machine program of ``host``
    """

    verdict: str
    id: str
    sentences: Sequence[str]
    recorded_on: Sequence[str] = ()
    host: str = ""
    numbers: Mapping[str, int] = {}
    request: Mapping[str, Any] = {}


def confirmation_of(
    event_id: str, machines: Sequence[Asked], allow_unknown: Collection[str] = (), at: float | None = None
) -> Confirmation:
    """What the playbook ``approve`` does about an event.

    :arg machines: all of the inventory's, in its order
    :arg allow_unknown: names in Azure of machines outside of the inventory that may be affected
    :arg at: now, by the controller's clock; None while nothing is approved by what is found: then no answer is too old
    """
    key = event_id.strip().upper()
    found = inspected(machines, at, confirms=key)
    entry = found.record.events.get(key)
    if entry is None:
        return Confirmation("not_shown", one_line(event_id), _not_shown(event_id, found))
    if entry.started is not None:
        return Confirmation(
            "started", entry.event.event_id, [f"{title(entry)} has started: nothing is left to approve."]
        )
    reasons = _against(found, entry, allow_unknown)
    never = [reason for reason in reasons if _is_of_event(reason, entry)]
    if never:
        why = "; ".join(messages.sentence(reason) for reason in never)
        return Confirmation("refused", entry.event.event_id, [f"{title(entry)} is not approved: {why}."])
    recorded_on = tuple(host for host in entry.affected if not found.machines[host].lost)
    living = [host for host in recorded_on if _is_held_by_a_living_run(found, host, key)]
    if living:
        numbers = {host: (found.mark(host) or {})["number"] for host in living}
        return Confirmation(
            "run", entry.event.event_id, [_run_words(found, entry, living)], recorded_on, numbers=numbers
        )
    if reasons:
        words = [f"{title(entry)} is not approved, and no run that would do it is alive."]
        return Confirmation(
            "missing", entry.event.event_id, [*words, *_missing_words(found, entry, reasons)], recorded_on
        )
    choice = choice_of(found.record, entry) or Choice("", None, entry.against.waits or entry.against.hold)
    if not choice.host:
        return Confirmation(
            "refused", entry.event.event_id, [f"{title(entry)} is not approved: {clause(choice.words, 1000)}."]
        )
    words = [f"{title(entry)} is prepared, and no run that would approve it is alive: {choice.host} approves it."]
    request = approve_request(found.record, found.machines[choice.host], [key])
    request["allow_unknown"] = list(allow_unknown)
    return Confirmation("approve", entry.event.event_id, words, recorded_on, choice.host, request=request)


# ---- what came of it ----


def recorded(found: Confirmation, answers: Mapping[str, Mapping[str, Any]]) -> tuple[bool, str]:
    """Whether a machine of the event has taken the confirmation, and a sentence.

    :arg answers: what came back of the requests, by host
    """
    taken = [host for host, answer in answers.items() if answer.get("answers") == [{}]]
    if taken:
        return True, f"The confirmation of event {found.id} is recorded on {listed(taken)}."
    reasons = listed(f"{host}: {_reason(answer) or _SILENT}" for host, answer in answers.items())
    return (
        False,
        f"The confirmation of event {found.id} could not be recorded on any of its machines; nothing was approved. {reasons}.",
    )


def after_waiting(found: Confirmation, before: Confirmation) -> Confirmation:
    """What is found once those who were to approve have had the time to show that they are alive.

    :arg before: what was found before the confirmation was recorded: "run"
    """
    if found.verdict == "not_shown":
        words = f"Event {before.id} was shown when it was confirmed, and is over or has been cancelled since."
        return found._replace(verdict="started", sentences=(words,))
    if found.verdict != "run" or any(number > before.numbers.get(host, 0) for host, number in found.numbers.items()):
        return found
    words = (
        "But that run has not renewed its mark since the event was confirmed. The confirmation is kept. Check whether the run still works; "
        "if not, confirm the event again when the mark has expired (the playbook status shows when)."
    )
    return found._replace(verdict="silent", sentences=(*found.sentences, words))


def approved(found: Confirmation, answer: Mapping[str, Any]) -> tuple[bool, str]:
    """Whether the event is approved, and a sentence, by what came back of the approval.

    :arg found: "approve"
    """
    said = (answer.get("answers") or [{}])[0]
    if said.get("approved") or said.get("already"):
        return True, (
            f"{found.host} has approved event {found.id}. Its machines stay out of service until it is over: run maintain, "
            "which recovers them then, or the playbook recover after that."
        )
    unknown = "It is not approved" if answer.get("answers") else "It is not known whether Azure got the approval"
    why = _reason(answer) or _SILENT
    return False, (
        f"The approval of event {found.id} by {found.host} failed: {why}. {unknown}. "
        "Confirm it again: an approval that Azure has got is not sent twice."
    )


def _reason(answer: Mapping[str, Any]) -> str:
    """What a call with one request says against having carried it out; "" when nothing."""
    lost = answer.get("lost") or ("" if answer.get("answers") else "the task that was to do it failed (see above)")
    said = (answer.get("answers") or [{}])[0]
    reasons = [entry["message"] for entry in said.get("not_approved") or ()]
    words = next((words for words in (lost, *reasons, said.get("msg"), said.get("problem")) if words), "")
    return clause(words, 1000)


# ---- what stands against it ----


def _against(found: Inspection, entry: EventState, allow_unknown: Collection[str]) -> list[Reason]:
    """All that does, as a run has it; of machines outside of the inventory a person may say by name which nothing is done on."""
    decision = decision_of(found.record, entry, capacity=False)
    reasons = [one._replace(code=_NOT_HERE) if one.code == "unknown_machines" else one for one in decision.reasons]
    allowed = {name.lower() for name in allow_unknown}
    strange = [name for name in entry.whom.unknown if name.lower() not in allowed]
    if strange and not any(reason.code == _NOT_HERE for reason in reasons):
        reasons.append(Reason(_NOT_HERE, listed(strange)))
    return reasons


def _is_of_event(reason: Reason, entry: EventState) -> bool:
    """Whether nothing that is done on a machine ends it."""
    return reason.code not in (_NOT_HERE, "not_prepared") and reason.subject not in entry.affected


def _is_held_by_a_living_run(found: Inspection, host: str, key: str) -> bool:
    # A watcher approves what lists its machine only, and sees a confirmation by itself.
    machine, mark = found.machines[host], found.mark(host) or {}
    is_runs = key in mark_keys(machine) and mark["holder"]["kind"] == "run"
    return is_runs and found.owner(host) == OURS and not is_expired(machine, found.record.at)


def _not_shown(event_id: str, found: Inspection) -> list[str]:
    seen = found.shown()
    sentences = [
        f"No machine is shown an event {shown(event_id)}{did_you_mean(event_id, seen)}: it is over, was cancelled, or affects "
        "machines that the inventory doesn't have."
    ]
    if seen:
        events = (f"{event_words(event)}, which affects {listed(event['resources'])}" for event in seen.values())
        sentences.append(f"These are shown: {'; '.join(events)}.")
    blind = {host: machine.lost or found.blind(host) for host, machine in found.machines.items()}
    if any(blind.values()):
        why = listed(f"{host} ({clause(words, 1000)})" for host, words in blind.items() if words)
        sentences.append(f"These could not poll: {why}.")
    marked = [host for host, machine in found.machines.items() if event_id.strip().upper() in mark_keys(machine)]
    if marked:
        sentences.append(f"{listed(marked)} are marked for it: run maintain or recover, which recover them.")
    return sentences


def _run_words(found: Inspection, entry: EventState, living: Sequence[str]) -> str:
    return (
        f"{sentence(holder_words(found.mark(living[0]) or {}))} owns {listed(living)} for {title(entry)} and "
        "approves it when all of its machines are prepared."
    )


def _missing_words(found: Inspection, entry: EventState, reasons: Sequence[Reason]) -> list[str]:
    """What is missing, and what a person does about it."""
    said, ends = [], []
    for host in entry.affected:
        why = clause(_unprepared(found, host, entry.key), 1000)
        own = [Reason("in_service", host, why)] if why else [one for one in reasons if one.subject == host]
        said += [f"{_said(reason)}." for reason in own]
        ends += [f"{sentence(messages.ends_by(reason, messages.RUN, entry.event.event_id))}." for reason in own]
    for reason in reasons:
        if reason.code == _NOT_HERE:
            said.append(f"{_said(reason)}: {messages.ends_by(reason, messages.RUN, entry.event.event_id)}.")
    return [*said, *dict.fromkeys(ends)]


def _said(reason: Reason) -> str:
    return messages.sentence(reason) if reason.code == "in_service" else sentence(messages.sentence(reason))


_UNPREPARED = {
    core.NO_MARK: "is not marked: it is in service",
    core.REBOOTED: "was rebooted since it was prepared: what was stopped may run again",
    core.LEFT_OUT: "has a watcher that lacks steps of the inventory",
    core.STALE: "answered too long ago: confirm the event again",
}


def _unprepared(found: Inspection, host: str, key: str) -> str:
    """Why a machine does not count as prepared for the event, in words; "" when it does."""
    machine, mark = found.machines[host], found.mark(host) or {}
    if machine.lost:
        return f"could not be asked: {machine.lost}"
    why = why_not_prepared(found.record, machine, key)
    if why == core.OTHER_PHASE:
        return f"has a mark that says {mark['phase']!r}, not 'prepared'"
    if why not in (core.OWNED, core.OTHER_EVENT):
        return _UNPREPARED.get(why, "")
    owner = whose(found.record, machine)
    if owner == UNREADABLE:
        return f"has an unreadable mark: {mark['unreadable']}"
    if owner == COPIED:
        return f"has the mark of {found.view(host).owner_words}, of which it is a copy: it is in service"
    if owner == FOREIGN:
        return f"is marked by {holder_words(mark)}, made for {service_words(mark)}"
    return f"has a mark of {holder_words(mark)} that is not for this event"


# ---- stage by stage ----


RECORD, WAIT, ASK, APPROVE, OVER = "record", "wait", "ask", "approve", "over"
_SHOWN = ("run", "approve", "started")
"""Verdicts with which nothing is left for a person; any other is a failure."""

_POLL: dict[str, Any] = {"requests": [{"do": "hello"}, {"do": "look", "wait": 0}], "mark": {}}


class Approval(TypedDict):
    """Where it stands.

    stage: what the calls are for
    calls: by host ``requests``, and the ``mark`` of the run as whose hand the machine is called
    show: for people; a list of lines, or one
    problems: the same, of what was not reached
    found: by what is decided
    recorded: the sentence about the confirmation; "" before it is recorded
    """

    stage: str
    event: str
    allow_unknown: list[str]
    calls: dict[str, dict[str, Any]]
    show: list[str] | str
    problems: list[str] | str
    found: Confirmation
    recorded: str


def begun(machines: Sequence[Asked], event: str, allow_unknown: Sequence[str], by: str, check: bool) -> Approval:
    """It begins; with ``check`` it only shows what would become of the confirmation.

    :arg by: who confirms the event, and where
    """
    found = confirmation_of(event, machines, allow_unknown)
    approval: Approval = {
        "stage": OVER,
        "event": event,
        "allow_unknown": list(allow_unknown),
        "calls": {},
        "show": list(found.sentences) if check or found.verdict == "started" else [],
        "problems": [],
        "found": found,
        "recorded": "",
    }
    if found.recorded_on and not check:
        request = {"do": "yes", "event": found.id, "by": by}
        return {
            **approval,
            "stage": RECORD,
            "calls": {host: {"requests": [request], "mark": {}} for host in found.recorded_on},
        }
    return {**approval, "problems": [] if found.verdict in _SHOWN else list(found.sentences)}


def moved_on(
    approval: Approval, machines: Sequence[Asked], answers: Mapping[str, Mapping[str, Any]], at: float
) -> Approval:
    """After the calls of a stage.

    :arg machines: all of the inventory's, as they answered last
    :arg answers: the same, as they came
    :arg at: now, by the controller's clock
    """
    approval, found = {**approval, "calls": {}, "show": [], "problems": []}, approval["found"]
    if approval["stage"] == RECORD:
        return _recorded(approval, found, machines, answers)
    if approval["stage"] == WAIT:
        return _asking(approval, [machine.host for machine in machines])
    if approval["stage"] == ASK:
        return _asked(approval, found, machines, answers, at)
    done, words = approved(found, answers[found.host])
    return {**approval, "stage": OVER, "show": words if done else [], "problems": [] if done else words}


def is_heard(approval: Approval, host: str, answer: Mapping[str, Any], tries: int) -> bool:
    """Whether a machine is asked no more in this stage: its mark has changed, so that its run lives; or it won't.

    :arg tries: how often it was asked
    """
    lease = (answer.get("mark") or {}).get("lease")
    if approval["stage"] != WAIT or tries >= MOST_TRIES or answer.get("lost") or not lease:
        return True
    return bool(
        answer["mark"]["number"] > approval["found"].numbers[host]
        or lease["boot_id"] != answer["boot_id"]
        or lease["until"] <= (answer.get("uptime") or 0)
    )


EVERY = 4.0
"""Seconds between two calls of a machine in WAIT."""

MOST_TRIES = 40
"""Calls of a machine in WAIT: a mark counts for two minutes after its run has ended."""


def _recorded(
    approval: Approval, found: Confirmation, machines: Sequence[Asked], answers: Mapping[str, Mapping[str, Any]]
) -> Approval:
    done, words = recorded(found, {host: answers[host] for host in found.recorded_on})
    if not done:
        return {**approval, "stage": OVER, "problems": words}
    approval["recorded"] = words
    if found.numbers:
        waits = f"Waiting for its run to renew the mark of {listed(found.numbers)}, for {duration(EVERY * MOST_TRIES)} at most."
        return {**approval, "stage": WAIT, "calls": dict.fromkeys(found.numbers, _POLL), "show": [waits]}
    if found.verdict == "approve":
        return _asking(
            approval, [machine.host for machine in machines if machine.host in (*found.recorded_on, found.host)]
        )
    return {**approval, "stage": OVER, "problems": [words, *found.sentences]}


def _asking(approval: Approval, hosts: Sequence[str]) -> Approval:
    """It is decided by what the machines say now, not by what they said before anybody waited."""
    return {**approval, "stage": ASK, "calls": dict.fromkeys(hosts, _POLL)}


def _asked(
    approval: Approval,
    before: Confirmation,
    machines: Sequence[Asked],
    answers: Mapping[str, Mapping[str, Any]],
    at: float,
) -> Approval:
    allow_unknown = approval["allow_unknown"]
    found = after_waiting(confirmation_of(approval["event"], machines, allow_unknown, at), before)
    lines = [approval["recorded"], *found.sentences]
    approval = {**approval, "stage": OVER, "found": found}
    if found.verdict not in _SHOWN:
        return {**approval, "problems": lines}
    if found.verdict != "approve":
        return {**approval, "show": lines}
    # A watcher has its machine prepared: whoever asks it to approve has no part in that mark.
    mark = {} if found.request["by_watcher"] else answers[found.host].get("mark") or {}
    call = {"requests": [dict(found.request)], "mark": mark}
    return {**approval, "stage": APPROVE, "show": lines, "calls": {found.host: call}}
