# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of one run of role ``drain`` on one host: which steps there are, how far they are, what came of them. Pure.

Private to this collection.

A playbook holds the record as a plain dictionary. Whenever something has happened it hands the record to the function of
that name here, which returns a new one; its ``todo`` says what comes next, and the task files only carry that out. The
options of the steps, which may be secrets, are not in the record: they stay in the plan, and come along where they matter.

Times (``at``) are the controller's monotonic seconds.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from typing import Any, TypedDict, cast

from ...module_utils._steps.step_type import Step, TaskResult, Verdict
from ...module_utils._steps.types import type_of
from .plan import Plan
from .report import Attempt, Report, failed_step, kept_back, lost, planned_step, succeeded_step, why_failed
from .result import Result, result_of_check, result_of_run

GRACE = 2.0
"""Seconds between the end of a step's own waits and the end of its tasks: time in which it can say what it last saw."""


class Planned(TypedDict):
    """What a run has to know of a step. The plan has put it into the step, beside its options."""

    number: int
    name: str
    type: str
    does: str
    undoes: str
    timeout: float
    undo_timeout: float
    files: dict[str, str]
    intervals: dict[str, int]


class Current(TypedDict):
    """The step at hand."""

    place: int  # in the list of the plan
    started: float
    ends: float  # when its own waits end
    limit: float
    of_budget: bool  # whether the budget leaves it less than its own limit
    stop: str  # why it can't go on; "" when it can
    note: str


class Todo(TypedDict):
    """What the task files carry out. From ``place`` on it is about the step at hand."""

    show: list[str]  # check mode: the plan, a line for each step
    rounds: int  # how many steps are still to be gone through
    revert: bool  # whether steps that were tried have to be undone
    fail: bool  # whether the host fails at the end
    direction: str
    place: int  # in the list of the plan
    file: str
    stop: str  # why it can't go on
    look_again: bool  # whether it has to look once more
    interval: int  # seconds between two looks
    looks: int  # how many there is time for
    wait: int  # seconds that it may wait in one task
    cut_at: float  # when a task of it is cut off


class Record(TypedDict):
    """The whole of it."""

    host: str
    check_mode: bool
    may_fail: bool
    list: str  # of the plan: prepare or recover
    direction: str  # do or undo
    budgets: dict[str, float]  # those of this run: prepare and revert, or recover
    budget: float  # the one that holds
    began: float
    ends: float
    steps: list[Planned]
    queue: list[int]  # places of the steps that are still to be gone through
    tried: list[int]
    current: Current | None
    trouble: str  # why steps could not be run at all
    reports: list[Report]
    reverts: list[Report] | None  # the reports of undoing a preparation that failed; None when nothing is undone
    result: Result
    todo: Todo


_NOTHING: Todo = {
    "show": [],
    "rounds": 0,
    "revert": False,
    "fail": False,
    "direction": "",
    "place": 0,
    "file": "",
    "stop": "",
    "look_again": False,
    "interval": 1,
    "looks": 0,
    "wait": 1,
    "cut_at": 0.0,
}

_RUNS = {"prepare": "preparation", "recover": "recovery"}


def begin(options: Mapping[str, Any], at: float) -> Record:
    """A record in which nothing was done, and which says so should the run end before it can say better.

    :arg options: host; list (``prepare`` or ``recover``); budgets (seconds, by ``prepare`` and ``revert`` or
        by ``recover``); check_mode; may_fail (whether the role may fail the host at its end)
    """
    name = options["list"]
    budget = options["budgets"][name]
    record: Record = {
        "host": options["host"],
        "check_mode": options["check_mode"],
        "may_fail": options["may_fail"],
        "list": name,
        "direction": "do" if name == "prepare" else "undo",
        "budgets": dict(options["budgets"]),
        "budget": budget,
        "began": at,
        "ends": at + budget,
        "steps": [],
        "queue": [],
        "tried": [],
        "current": None,
        "trouble": "",
        "reports": [],
        "reverts": None,
        "result": result_of_run([], None, f"The {_RUNS[name]} did not come to its end", 0.0),
        "todo": _NOTHING,
    }
    return _with_todo(record, at)


def planned(record: Record, plan: Plan, at: float) -> Record:
    """The steps are known. In check mode they are only shown."""
    record = copy.deepcopy(record)
    steps = plan["prepare"] if record["list"] == "prepare" else plan["recover"]
    record["steps"] = [cast(Planned, {key: step[key] for key in Planned.__annotations__}) for step in steps]
    if not record["check_mode"]:
        record["queue"] = list(range(len(steps)))
    return _with_todo(record, at)


def stopped(record: Record, result: TaskResult, at: float) -> Record:
    """Steps can't be run (any more), whatever they are."""
    record = copy.deepcopy(record)
    record["trouble"] = str(result.get("msg") or f"The {_RUNS[record['list']]} failed and said nothing.")
    record["queue"] = []
    record["current"] = None
    return _with_todo(record, at)


def started(record: Record, at: float) -> Record:
    """The next step begins, and its clock with it."""
    record = copy.deepcopy(record)
    place = record["queue"].pop(0)
    step = record["steps"][place]
    limit = step["timeout"] if record["direction"] == "do" else step["undo_timeout"]
    last = record["ends"] - 1
    record["current"] = {
        "place": place,
        "started": at,
        "ends": min(at + limit, last),
        "limit": limit,
        "of_budget": at + limit > last,
        "stop": f"the budget of {record['budget']:g} s was used up before it began" if at > last else "",
        "note": "",
    }
    if record["reverts"] is None:
        record["tried"].append(place)
    return _with_todo(record, at)


def saw(record: Record, step: Step, result: TaskResult, about: str, at: float) -> Record:
    """A task of the step at hand came back, and the step goes by what it says.

    :arg about: what is asked about it, in a word of the step's type; "" when only the machine has to be still there
    """
    record = copy.deepcopy(record)
    current = _current(record)
    gone = lost(step, result)
    verdict = Verdict(True, gone)
    if about and not gone:
        verdict = type_of(step["type"]).judges[about](step, record["direction"], result)
        if step.get("no_log"):
            verdict = Verdict(verdict.done, kept_back() if verdict.problem else "")
    current["stop"] = verdict.problem
    current["note"] = verdict.note or current["note"]
    again = at + record["steps"][current["place"]]["intervals"][record["direction"]]
    return _with_todo(record, at, look_again=not verdict.done and again < current["ends"])


def did(record: Record, step: Step, result: TaskResult, at: float) -> Record:
    """The tasks of the step at hand came to their end."""
    return _reported(record, succeeded_step(step, result, _attempt(record, at)), at)


def failed(record: Record, step: Step, result: TaskResult, at: float) -> Record:
    """A task of the step at hand failed."""
    attempt = _attempt(record, at)
    why = _current(record)["stop"] or why_failed(step, result, attempt)
    return _reported(record, failed_step(step, why, attempt), at)


def reverting(record: Record, at: float) -> Record:
    """A preparation that failed is undone: all steps that were tried, the failed one included, last one first."""
    record = copy.deepcopy(record)
    record["direction"] = "undo"
    record["budget"] = record["budgets"]["revert"]
    record["ends"] = at + record["budget"]
    record["reverts"] = []
    record["queue"] = [place for place in reversed(record["tried"]) if record["steps"][place]["undoes"]]
    return _with_todo(record, at)


def waited(record: Record, at: float) -> Record:
    """Nothing has happened but that time went by."""
    return _with_todo(copy.deepcopy(record), at)


def ended(record: Record, at: float) -> Record:
    """The run is over: ``result`` says what came of it."""
    record = copy.deepcopy(record)
    seconds = at - record["began"]
    if record["check_mode"] and not record["trouble"]:
        reports = [planned_step(step["name"], step["type"], _words(record, step)) for step in record["steps"]]
        record["result"] = result_of_check(reports, seconds)
    else:
        record["result"] = result_of_run(record["reports"], record["reverts"], record["trouble"], seconds)
    record["todo"] = {**_NOTHING, "fail": record["may_fail"] and not record["result"]["ok"]}
    return record


def _reported(record: Record, report: Report, at: float) -> Record:
    record = copy.deepcopy(record)
    record["current"] = None
    if record["reverts"] is None:
        record["reports"].append(report)
    else:
        record["reverts"].append(report)
    if record["direction"] == "do" and not report["ok"]:
        record["queue"] = []
    return _with_todo(record, at)


def _current(record: Record) -> Current:
    """The step at hand, for what is called only while there is one."""
    return cast(Current, record["current"])


def _attempt(record: Record, at: float) -> Attempt:
    current = _current(record)
    return Attempt(
        host=record["host"],
        direction=record["direction"],
        seconds=at - current["started"],
        limit=current["limit"],
        budget=record["budget"],
        of_budget=current["of_budget"],
        note=current["note"],
    )


def _with_todo(record: Record, at: float, look_again: bool = False) -> Record:
    todo: Todo = {
        **_NOTHING,
        "rounds": len(record["queue"]),
        "revert": record["direction"] == "do"
        and len(record["tried"]) > sum(report["ok"] for report in record["reports"]),
        "direction": record["direction"],
    }
    if record["check_mode"]:
        todo["show"] = [_shown(record, step) for step in record["steps"]] or ["nothing"]
    current = record["current"]
    if current:
        step = record["steps"][current["place"]]
        todo["place"] = current["place"]
        todo["file"] = step["files"][record["direction"]]
        todo["stop"] = current["stop"]
        todo["look_again"] = look_again
        todo["interval"] = step["intervals"][record["direction"]]
        todo["wait"] = max(1, int(current["ends"] - at))
        todo["looks"] = math.ceil(todo["wait"] / todo["interval"]) + 1
        todo["cut_at"] = min(current["ends"] + GRACE, record["ends"])
    record["todo"] = todo
    return record


def _words(record: Record, step: Planned) -> str:
    return step["does"] if record["direction"] == "do" else step["undoes"]


def _shown(record: Record, step: Planned) -> str:
    """The step's line in the plan that check mode shows."""
    if record["direction"] == "do":
        limits = f"at most {step['timeout']:g} s; then undone by: {step['undoes'] or 'nothing'}"
    else:
        limits = f"at most {step['undo_timeout']:g} s"
    return f"{step['number']}. {step['name']}: {_words(record, step)} ({limits})"
