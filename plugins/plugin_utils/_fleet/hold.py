# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Events that wait for a person: prepared, and approved once somebody says yes. Pure.

Private to this collection.

The confirmation is a file beside the mark; one, on any machine of the event, is enough. A run that lives approves; where none does, the
playbook ``approve`` looks at all marks and approves itself, or says whose is missing.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from ...module_utils._core import messages
from ...module_utils._core.decision import Decision, Standing, decide
from ...module_utils._core.mark_endpoint import service_words
from ...module_utils._core.mark_view import (
    COPIED,
    DRAIN,
    EXPIRED,
    FOREIGN,
    NOBODY,
    OURS,
    RUN,
    UNREADABLE,
    is_prepared_for,
)
from ...module_utils._core.messages import Reason
from ...module_utils._events.event import Event, event_from_dict
from ...module_utils._text import clause, did_you_mean, listed, one_line, sentence, shown
from .approval import Approver, matched, next_approver, no_tries
from .asked import Asked, event_words, holder_words

_SILENT = "it did not say what came of it"


class ByHand(NamedTuple):
    """What becomes of a confirmation.

    verdict: "run" (a living run approves), "approve" (no run lives: ``host`` approves now), "missing" (machines are not prepared),
        "not_shown" (no machine is shown such an event), "started", "refused" (never approved this way)
    id: the event's, as Azure writes it
    sentences: for people
    yes_on: hosts on which the confirmation is recorded
    host: who approves
    prepared: the names in Azure of the machines that are prepared
    numbers: for "run", of the marks by which it lives, by host: one that rises shows that it does
    own: for "approve", the event's id where ``host`` has to be prepared for it itself
    decided: when that was found, by the controller's clock
    """

    verdict: str
    id: str
    sentences: Sequence[str]
    yes_on: Sequence[str] = ()
    host: str = ""
    prepared: Sequence[str] = ()
    numbers: Mapping[str, int] = {}
    own: Sequence[str] = ()
    decided: float = 0.0


def said_yes(key: str, hosts: Sequence[str], yes: Mapping[str, Collection[str]]) -> str:
    """The first machine of an event that has a confirmation of it; "" when none does.

    :arg key: the event's id, in any case
    :arg hosts: the machines of the run that it affects
    :arg yes: the ids of the yeses that each machine bears, by host
    """
    return next((host for host in hosts if _holds(yes.get(host, ()), key)), "")


def leaves(holds: Sequence[str]) -> bool:
    """Whether a run may leave an event that is held and prepared, with its marks: when all of its machines say ``leave``."""
    return bool(holds) and all(hold == "leave" for hold in holds)


def by_hand(
    event_id: str, machines: Sequence[Asked], allow_unknown: Collection[str] = (), at: float | None = None
) -> ByHand:
    """What the playbook ``approve`` does about an event.

    :arg machines: all of the inventory's, in its order
    :arg allow_unknown: names in Azure of machines outside of the inventory that may be affected
    :arg at: now, by the controller's clock; None while nothing is approved by what is found: then no answer is too old
    """
    sightings = [
        (machine, event_from_dict(data))
        for machine in machines
        for data in machine.events or ()
        if data["id"].upper() == event_id.strip().upper()
    ]
    if not sightings:
        return ByHand("not_shown", one_line(event_id), _not_shown(event_id, machines))
    event = _joined([event for _machine, event in sightings])
    found = matched(event, {machine.host: machine.name for machine in machines}, [m.host for m, _event in sightings])
    title = f"{event.event_type or 'Event'} {event.event_id} ({listed(found.affected or event.resources)})"
    if event.has_started:
        return ByHand("started", event.event_id, [f"{title} has started: nothing is left to approve."])
    affected = [machine for machine in machines if machine.host in found.affected]
    strange = [name for name in found.unknown if name.lower() not in {allowed.lower() for allowed in allow_unknown}]
    decision = _decided(event, affected, found.ambiguous, strange, at)
    never = [messages.sentence(reason) for reason in decision.reasons if reason.code not in (IN_SERVICE, NOT_HERE)]
    if never:
        return ByHand("refused", event.event_id, [f"{title} is not approved: {'; '.join(never)}."])
    yes_on = tuple(machine.host for machine in affected if not machine.problem)
    living = [machine for machine in affected if _is_held_by_a_living_run(machine, event.key)]
    if living:
        numbers = {machine.host: machine.mark["number"] for machine in living if machine.mark}
        return ByHand("run", event.event_id, [_run_words(title, living)], yes_on, numbers=numbers)
    if not decision.approve:
        words = [f"{title} is not approved, and no run that would do it is alive.", *_missing_words(decision.reasons)]
        return ByHand("missing", event.event_id, words, yes_on)
    host, why = _approver(event, machines, [machine.host for machine, _event in sightings])
    if not host:
        return ByHand("refused", event.event_id, [f"{title} is not approved: {clause(why, 1000)}."])
    return ByHand(
        "approve",
        event.event_id,
        [f"{title} is prepared, and no run that would approve it is alive: {host} approves it."],
        yes_on,
        host,
        prepared=tuple(machine.name for machine in affected),
        own=(event.event_id,) if host in found.affected else (),
        decided=at or 0.0,
    )


def laid_down(found: ByHand, answers: Mapping[str, Mapping[str, Any]]) -> tuple[bool, str]:
    """Whether a machine of the event has taken the yes, and a sentence.

    :arg answers: what came back of the requests, by host
    """
    taken = [host for host, answer in answers.items() if answer.get("answers") == [{}]]
    if taken:
        return True, f"The confirmation of event {found.id} is laid down on {listed(taken)}."
    reasons = listed(f"{host}: {_reason(answer) or _SILENT}" for host, answer in answers.items())
    return (
        False,
        f"The confirmation of event {found.id} could not be laid down on any of its machines, nothing was approved. {reasons}.",
    )


def after_waiting(found: ByHand, before: ByHand) -> ByHand:
    """What is found once those who were to approve have had the time to show that they are alive.

    :arg before: what was found before the yes was laid down: "run"
    """
    if found.verdict == "not_shown":
        words = f"The event {before.id} was there when it was confirmed, and is over or has been cancelled since."
        return found._replace(verdict="started", sentences=(words,))
    if found.verdict != "run" or any(number > before.numbers.get(host, 0) for host, number in found.numbers.items()):
        return found
    words = (
        "But it has not been heard of since it was confirmed. The confirmation is kept. See whether that run goes on; if it does "
        "not, confirm it again when its mark has expired (the playbook status says when)."
    )
    return found._replace(verdict="silent", sentences=(*found.sentences, words))


def approved(found: ByHand, answer: Mapping[str, Any]) -> tuple[bool, str]:
    """Whether the event is approved, and a sentence, by what came back of the approval.

    :arg found: "approve"
    """
    said = (answer.get("answers") or [{}])[0]
    if said.get("approved") or said.get("already"):
        return True, (
            f"{found.host} has approved event {found.id}. Its machines stay out of service until it is over: run maintain, "
            "which recovers them, or the playbook recover then."
        )
    unknown = "It is not approved" if answer.get("answers") else "It is not known whether Azure got the approval"
    why = _reason(answer) or _SILENT
    return False, (
        f"{found.host} was to approve event {found.id}: {why}. {unknown}. "
        "Confirm it again: an approval that has arrived is not sent twice."
    )


def _reason(answer: Mapping[str, Any]) -> str:
    """What a call with one request says against having carried it out; "" when nothing."""
    lost = answer.get("lost") or ("" if answer.get("answers") else "the task that was to do it failed (see above)")
    said = (answer.get("answers") or [{}])[0]
    reasons = [entry["message"] for entry in said.get("not_approved") or ()]
    words = next((words for words in (lost, *reasons, said.get("msg"), said.get("problem")) if words), "")
    return clause(words, 1000)


def _holds(ids: Collection[str], key: str) -> bool:
    return key.upper() in {event_id.upper() for event_id in ids}


def _joined(events: Sequence[Event]) -> Event:
    """The event as the machines were shown it: started where one has seen that, with all the resources that any has seen."""
    event = next((event for event in events if event.has_started), events[0])
    names = {name.lower(): name for other in events for name in other.resources}
    return event._replace(resources=tuple(names.values()))


def _not_shown(event_id: str, machines: Sequence[Asked]) -> list[str]:
    seen = {event["id"]: event for machine in machines for event in machine.events or ()}
    sentences = [
        f"No machine is shown an event {shown(event_id)}{did_you_mean(event_id, seen)}: it is over, was cancelled, or affects "
        "machines that the inventory doesn't have."
    ]
    if seen:
        events = (f"{event_words(event)}, which affects {listed(event['resources'])}" for event in seen.values())
        sentences.append(f"These are shown: {'; '.join(events)}.")
    lost = [machine for machine in machines if machine.events is None]
    if lost:
        why = listed(f"{machine.host} ({clause(machine.problem or machine.blind, 1000)})" for machine in lost)
        sentences.append(f"These could not poll: {why}.")
    marked = [machine.host for machine in machines if event_id.strip().upper() in machine.view.keys]
    if marked:
        sentences.append(f"{listed(marked)} are marked for it: run maintain or recover, which recover them.")
    return sentences


IN_SERVICE, NOT_HERE = "in_service", "not_in_inventory"


def _decided(
    event: Event, affected: Sequence[Asked], ambiguous: Sequence[str], strange: Sequence[str], at: float | None
) -> Decision:
    """The question that a run and a watcher ask. Here a person has decided, whatever the policy says, and at any time of the day.

    :arg strange: names in Azure of machines that nobody here answers for
    """
    standings = []
    for machine in affected:
        why = clause(_unprepared(machine, event.key, at), 1000)
        never = (Reason(IN_SERVICE, machine.host, why),) if why else ()
        standings.append(Standing(machine.host, "hold", not why, never))
    return decide(
        event,
        "hold",
        standings,
        True,
        math.inf,
        first=[Reason("ambiguous", words=words) for words in ambiguous],
        lasting=[Reason(NOT_HERE, listed(strange))] if strange else [],
    )


def _missing_words(reasons: Sequence[Reason]) -> list[str]:
    """What is missing, and what a person does about it."""
    there = [reason for reason in reasons if reason.code == IN_SERVICE]
    strange = [reason for reason in reasons if reason.code == NOT_HERE]
    said = [f"{messages.sentence(reason)}." for reason in there]
    said += [f"{sentence(messages.sentence(one))}: {messages.ends_by(one, messages.RUN, '')}." for one in strange]
    return said + [f"{sentence(messages.ends_by(reason, messages.RUN, ''))}." for reason in there[:1]]


def _is_held_by_a_living_run(machine: Asked, key: str) -> bool:
    # A watcher approves what lists its machine only, and sees a yes by itself.
    return machine.view.owner == RUN and key in machine.view.keys


def _run_words(title: str, living: Sequence[Asked]) -> str:
    return (
        f"{sentence(holder_words(living[0].mark or {}))} holds {listed(machine.host for machine in living)} for {title} and "
        "approves it when all of its machines are prepared."
    )


def _unprepared(machine: Asked, key: str, at: float | None) -> str:
    """Why a machine does not count as prepared for the event; "" when it does."""
    view, mark = machine.view, machine.mark or {}
    if machine.problem:
        return f"could not be asked: {machine.problem}"
    if view.owner == NOBODY:
        return "is not marked: it is in service"
    if view.owner == UNREADABLE:
        return f"has an unreadable mark: {view.owner_words}"
    if view.owner == COPIED:
        return f"has the mark of {view.owner_words}, of which it is a copy: it is in service"
    if view.owner == FOREIGN:
        return f"is marked by {holder_words(mark)}, made for {service_words(mark)}"
    if key not in view.keys:
        return f"has a mark of {mark['holder']['run'] or mark['holder']['kind']} that is not for this event"
    if view.phase != "prepared":
        return f"has a mark that says {view.phase!r}, not 'prepared'"
    if view.owner in (RUN, EXPIRED, DRAIN):
        view = view._replace(owner=OURS)  # it is approved for whoever made it
    if view.boot_id != machine.boot_id:
        return "was rebooted since it was prepared: what was stopped may run again"
    if machine.left_out:
        return "has a watcher that lacks steps of the inventory"
    age = 0.0 if at is None else None if machine.ended is None else at - machine.ended
    if not is_prepared_for(view, key, machine.boot_id, age, machine.start):
        return "gave its answer too long ago to go by it: confirm it again"
    return ""


def _may_be_called(machine: Asked, key: str) -> bool:
    view = machine.view
    return view.owner == NOBODY or (key in view.keys and view.owner not in (COPIED, FOREIGN))


def _approver(event: Event, machines: Sequence[Asked], sighted: Collection[str]) -> tuple[str, str]:
    """The machine that approves and "", or "" and why there is none."""
    named = {name.lower() for machine in machines for data in machine.events or () for name in data["resources"]}
    approvers = [
        Approver(
            host=machine.host,
            is_linux=machine.is_linux,
            shown=machine.host in sighted,
            affected=machine.name.lower() in named,
            own=event.affects(machine.name),
            # One that is marked can only be called for the run that holds it.
            able=not machine.problem and _may_be_called(machine, event.key),
        )
        for machine in machines
    ]
    choice = next_approver(event, approvers, no_tries(), at=0.0, takeover=1.0, left=1.0)
    return choice.host, choice.words
