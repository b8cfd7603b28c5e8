# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What each machine answered, and what follows from that for it alone. It changes the record, and nothing else.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ...module_utils._text import first_line
from .approving import note_answered, take_approval, take_lost_approval
from .coverage import note_incarnation
from .hosts import count_lost, take_answer, take_hello
from .lost_marks import with_lost_mark
from .machine_state import Call, Elsewhere, MachineState, Seen
from .outages import take_go, take_mark, take_steps
from .run_events import Look, events_of, has_document, has_failed, message_of
from .slowness import duration, note_duration
from .state import Record

Answers = Mapping[str, Mapping[str, Any]]


def take_answers(record: Record, answers: Answers) -> list[Look]:
    """Take in what each machine answered; returns the looks that brought a document."""
    looks = []
    for host, answer in answers.items():
        machine = record.hosts[host]
        call = machine.flying
        if call is None:
            continue
        note_answered(record, machine)
        ended = _ended(call, answer, record.at)
        if answer.get("lost") or answer.get("answers") is None:
            why = str(answer.get("lost") or "it gave no answer: see its errors above")
            _take_lost(record, machine, call, why, bool(answer.get("unsent")), ended)
            machine.left = bool(answer.get("left"))
            continue
        note_duration(record, machine, call, ended)
        _take_one(record, machine, call, answer, ended)
        for request, one in zip(call["requests"], answer["answers"], strict=False):
            found = one.get("look") if request["do"] == "approve" else one if request["do"] == "look" else None
            if found is not None:
                looks += _take_look(record, machine, found, ended)
    return looks


def _ended(call: Call, answer: Mapping[str, Any], at: float) -> float:
    """When a call ended, by the controller's clock: one that does not say so took its time, or all it may take, from its decision on."""
    if answer.get("ended") is not None:
        return min(float(answer["ended"]), at)
    took = answer.get("took")
    return min(call["decided"] + (call["seconds"] if took is None else float(took)), at)


def _take_lost(record: Record, machine: MachineState, call: Call, why: str, unsent: bool, ended: float) -> None:
    count_lost(machine, why, record.at, hung=duration(call, ended) >= call["seconds"])
    for request in call["requests"]:
        if request["do"] == "approve":
            take_lost_approval(record, machine.host, request["ids"], machine.lost, unsent)


def _take_one(
    record: Record,
    machine: MachineState,
    call: Call,
    answer: Mapping[str, Any],
    ended: float,
) -> None:
    earlier, requests = replace(machine), call["requests"]
    answer = with_lost_mark(record, machine, answer)
    for request, one in zip(requests, answer["answers"], strict=False):
        if request["do"] == "hello":  # whose the mark is depends on which VM this is
            take_hello(machine, one, record.at)
    take_answer(machine, answer, ended, record.at)
    take_steps(machine, answer)
    asked = any(request["do"] == "go" and request["to"] == "recovered" for request in requests)
    take_mark(record, machine, earlier, asked)
    for request, one in zip(requests, answer["answers"], strict=False):
        if request["do"] == "go":
            # What others have seen came before the call that takes it there.
            take_go(record, machine, request, one, call["decided"] if request["before"] else ended)
        elif request["do"] == "approve":
            take_approval(record, machine.host, request["ids"], one)
        elif request["do"] == "put_aside":
            machine.why = first_line(one.get("problem"), 1000)
    if machine.mark is None:
        machine.begun = None  # it is known now that nothing is under way
    # What was done elsewhere in this tick goes to the machine with its next call.
    earlier_there = machine.elsewhere
    machine.elsewhere = Elsewhere(
        {**earlier_there.outcomes, **(answer.get("outcomes") or {})},
        {**earlier_there.before, **(answer.get("before") or {})},
        {**earlier_there.jobs, **(answer.get("jobs") or {})},
    )


def _take_look(record: Record, machine: MachineState, found: Mapping[str, Any], ended: float) -> list[Look]:
    if not has_document(found):
        nothing = "the service answered with nothing, which does not say whether there are events"
        why = message_of(found) or first_line(found.get("problem"), 1000) or "it could not poll"
        machine.seen = machine.seen._replace(problem=why if has_failed(found) else nothing)
        return []
    note_incarnation(record, machine, found["incarnation"])
    age = found.get("age", 0.0)
    got = ended - age
    machine.seen = Seen(
        at=got,
        incarnation=found["incarnation"],
        shows=tuple(sorted(event.key for event in events_of(found))),
        unreadable=tuple(sorted(unusable["id"] for unusable in found.get("unusable_events", ()))),
    )
    began = found.get("began", 0.0)
    began, since, asked = (ended - max(found.get(key, began), age) for key in ("began", "since", "asked"))
    return [Look(machine.host, found, began, since, asked, got)]
