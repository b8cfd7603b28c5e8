# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of one run of role maintain: moved on by whatever machines have answered, it says whom to call next. Pure.

Private to this collection.

The record is a plain dictionary (schema.py). Whoever holds it makes the calls that ``todo`` names, notes that with :func:`sent`, and hands on
what has been answered by then to :func:`ticked`, in any order: no machine waits for another's call. So every decision of a run is made in
Python that tests can reach.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from ...module_utils._text import first_line
from . import problems, reached
from .approval_reasons import take_lasting, take_reasons
from .approving import note_answered, note_readiness, take_approval, take_lost_approval
from .coverage import note_gaps, note_incarnation, note_unreadable, take_watch
from .evaluation import give_turns, match_and_decide
from .hosts import count_lost, new_machine, refuse_same, set_claimants_aside, take_answer, take_hello
from .lost_marks import give_up, with_lost_mark
from .options import checked_options, typed
from .outages import follow, note_restarts, take_go, take_mark, take_steps
from .recalled import stop_recalling, take_bearers, take_recalled
from .reports import note, note_clock
from .run_events import Look, events_of, has_document, has_failed, message_of, take_looks
from .said_there import keep_off
from .schema import Call, HostFacts, MachineState, Record, RunOptions
from .scopes import join, note_splits, take_differences
from .slowness import duration, note_duration, note_late
from .termination import end, stop_watching
from .tick_planner import sent, todo_of

__all__ = ["begun", "sent", "ticked"]

LATELY = 5.0
"""Seconds within which two machines must have been polled for their documents to be compared: each is polled every 3 s, and a call takes a while."""

Answers = Mapping[str, Mapping[str, Any]]


def begun(given: Sequence[HostFacts], options: RunOptions, at: float, wall: float) -> Record:
    """A record in which nothing has happened yet.

    :arg given: what the role says of each host; numbers and truth values may be texts, of the run as well
    :arg at: the controller's monotonic clock
    :arg wall: the Unix time of this moment
    :raises PlanError: options contradict each other, or two hosts are one machine
    """
    hosts = cast("list[HostFacts]", [typed(facts) for facts in given])
    refuse_same(hosts)
    checked = checked_options(hosts)
    record = cast(
        "Record",  # but for what is written below
        {
            "run": typed(options),
            "same": checked.same,
            "clock": {"mono": at, "wall": wall},
            "corrected": [],
            "at": at,
            "ticks": 0,
            "hosts": {facts["host"]: new_machine(facts, checked.hosts[facts["host"]]) for facts in hosts},
            "events": {},
            "watched": {},
            "gaps": {},
            "lasting": {},
            "problems": {},
            "since": {},
            "notes": {},
            "slow_calls": 0,
            "happenings": [],
            "busy": False,
            "rounds_done": 0,
            "leaving": False,
            "finished": False,
        },
    )
    for position, warning in enumerate(checked.warnings):
        note(record, f"options: {position}", warning)
    record["todo"] = todo_of(record, at)
    return record


def ticked(record: Record, answers: Answers, at: float, wall: float | None = None) -> Record:
    """The record after a pass over what has been answered.

    :arg answers: what the machine program answered, by host; nothing of hosts whose calls are still under way
    :arg wall: the Unix time of this moment; None where it goes on as it did
    """
    record = _copied(record)
    record["at"] = at
    if wall is not None:
        note_clock(record, at, wall)
    record["ticks"] += 1
    looks = _take_answers(record, answers, at)
    take_recalled(record, at)
    take_bearers(record, {look.host for look in looks}, at)
    known = set(record["events"])
    take_looks(record, looks, at)
    note_late(record, looks, known, at)
    note_gaps(record, take_watch(record, looks, at))
    note_unreadable(record, {look.host: look.result for look in looks})
    note_splits(record, take_differences(record, _lately(record, at), at), at)
    join(record)
    set_claimants_aside(record)
    match_and_decide(record, at)
    give_up(record)
    keep_off(record, at)
    note_restarts(record, at)
    take_lasting(record, at)
    give_turns(record, at)
    take_reasons(record, at)
    note_readiness(record, at)
    follow(record, at)
    reached.note_reached(record, reached.take_reached(record, at), at)
    problems.note_capacity(record)
    stop_recalling(record, at)
    stop_watching(record, at)
    end(record, at)
    record["todo"] = todo_of(record, at)
    record["problems"] = problems.of_record(record, at)
    record["since"] = {subject: record["since"].get(subject, at) for subject in record["problems"]}
    return record


# ---- answers ----


def _copied(data: Any) -> Any:
    """A copy of plain data, in a fraction of the time that copy.deepcopy takes: half of a tick's otherwise."""
    if isinstance(data, dict):
        return {key: value if value.__class__ in _PLAIN else _copied(value) for key, value in data.items()}
    if isinstance(data, list):
        return [value if value.__class__ in _PLAIN else _copied(value) for value in data]
    return data


_PLAIN = frozenset([str, int, float, bool, type(None)])
"""Most values of a record: their class itself is looked up faster than isinstance answers."""


def _take_answers(record: Record, answers: Answers, at: float) -> list[Look]:
    """Take in what each machine answered; returns the looks that brought a document."""
    looks = []
    for host, answer in answers.items():
        machine = record["hosts"][host]
        call = machine["flying"]
        if call is None:
            continue
        note_answered(record, machine)
        ended = _ended(call, answer, at)
        if answer.get("lost") or answer.get("answers") is None:
            why = str(answer.get("lost") or "it gave no answer: see its errors above")
            _take_lost(record, machine, call, why, bool(answer.get("unsent")), ended, at)
            machine["left"] = bool(answer.get("left"))
            continue
        note_duration(record, machine, call, ended)
        _take_one(record, machine, call, answer, ended, at)
        for request, one in zip(call["requests"], answer["answers"], strict=False):
            found = one.get("look") if request["do"] == "approve" else one if request["do"] == "look" else None
            if found is not None:
                looks += _take_look(record, machine, found, ended, at)
    return looks


def _ended(call: Call, answer: Mapping[str, Any], at: float) -> float:
    """When a call ended, by the controller's clock: one that does not say so took its time, or all it may take, from its decision on."""
    if answer.get("ended") is not None:
        return min(float(answer["ended"]), at)
    took = answer.get("took")
    return min(call["decided"] + (call["seconds"] if took is None else float(took)), at)


def _lately(record: Record, at: float) -> dict[str, list[str]]:
    """What each machine was shown that was polled lately: the keys of the events, by host."""
    return {
        host: machine["shows"]
        for host, machine in record["hosts"].items()
        if machine["looked"] is not None and at - machine["looked"] <= LATELY
    }


def _take_lost(
    record: Record, machine: MachineState, call: Call, why: str, unsent: bool, ended: float, at: float
) -> None:
    count_lost(machine, why, at, hung=duration(call, ended) >= call["seconds"])
    for request in call["requests"]:
        if request["do"] == "approve":
            take_lost_approval(record, machine["host"], request["ids"], machine["lost"], unsent, at)


def _take_one(
    record: Record,
    machine: MachineState,
    call: Call,
    answer: Mapping[str, Any],
    ended: float,
    at: float,
) -> None:
    earlier, requests = machine.copy(), call["requests"]
    answer = with_lost_mark(record, machine, answer, at)
    for request, one in zip(requests, answer["answers"], strict=False):
        if request["do"] == "hello":  # whose the mark is depends on which VM this is
            take_hello(machine, one, at)
    take_answer(machine, answer, ended, at)
    take_steps(machine, answer)
    asked = any(request["do"] == "go" and request["to"] == "recovered" for request in requests)
    take_mark(record, machine, earlier, asked, at)
    for request, one in zip(requests, answer["answers"], strict=False):
        if request["do"] == "go":
            # What others have seen came before the call that takes it there.
            take_go(record, machine, request, one, call["decided"] if request["before"] else ended, at)
        elif request["do"] == "approve":
            take_approval(record, machine["host"], request["ids"], one, at)
        elif request["do"] == "put_aside":
            machine["why"] = first_line(one.get("problem"), 1000)
    if machine["mark"] is None:
        machine["begun"] = None  # it is known now that nothing is under way
    # What was done elsewhere in this tick goes to the machine with its next call.
    machine["outcomes"] = {**machine["outcomes"], **(answer.get("outcomes") or {})}
    machine["before"] = {**machine["before"], **(answer.get("before") or {})}
    machine["jobs"] = {**machine["jobs"], **(answer.get("jobs") or {})}


def _take_look(record: Record, machine: MachineState, found: Mapping[str, Any], ended: float, at: float) -> list[Look]:
    if not has_document(found):
        nothing = "the service answered with nothing, which does not say whether there are events"
        why = message_of(found) or first_line(found.get("problem"), 1000) or "it could not poll"
        machine["look_problem"] = why if has_failed(found) else nothing
        return []
    note_incarnation(record, machine, found["incarnation"], at)
    age = found.get("age", 0.0)
    got = ended - age
    machine["looked"] = got
    machine["look_problem"], machine["incarnation"] = "", found["incarnation"]
    machine["shows"] = sorted(event.key for event in events_of(found))
    machine["unreadable"] = sorted(unusable["id"] for unusable in found.get("unusable_events", ()))
    began = found.get("began", 0.0)
    began, since, asked = (ended - max(found.get(key, began), age) for key in ("began", "since", "asked"))
    return [Look(machine["host"], found, began, since, asked, got)]
