# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Role ``drain`` by itself: one host's preparation or recovery, moved on by what its machine answers. Pure.

Private to this collection.

The machine goes from step to step by its mark, as in a run of role ``maintain``; here it is only said where to, and for how
long. A preparation that failed is undone. Times (``at``) are the controller's monotonic seconds.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypedDict

from ...module_utils._core.mark_view import LEASE
from ...module_utils._steps.sequence import DONE, FAILED, NOT_TAKEN_BACK, TAKEN_BACK
from ...module_utils._steps.step_type import Step
from ...module_utils._steps.types import type_of
from .plan import Plan
from .report import Report, Result, failed_words, planned_step, result_of_check, result_of_run

LIMIT = 20.0  # seconds of one call
QUICK, SLOW = 0.3, 10.0  # seconds between two calls: at first, and at most
SPARE = 30.0  # seconds beside the limits of the steps, for the calls and for a machine that is away for a moment
DRAIN = "drain"  # the kind of holder whose mark this is
_RUNS = {"prepare": "preparation", "recover": "recovery"}


class Call(TypedDict):
    """The next call of the machine program."""

    requests: list[dict[str, Any]]
    run: str
    number: int
    heard: dict[str, Any] | None  # from which it follows until when the machine may begin anything
    decided: float


class Record(TypedDict):
    """The whole of it."""

    host: str
    list: str  # of the plan: prepare or recover
    holder: dict[str, str]
    whose: str  # the run whose mark may be taken besides those of this role; "any" for all that are not renewed
    unmarked: bool
    budget: float  # seconds from ``turned`` on
    undo_budget: float  # the same, once a preparation has failed
    began: float
    turned: float  # when it began to go where it goes now
    to: str  # prepared or recovered
    take: str
    forced: bool
    number: int
    heard: dict[str, Any] | None  # the machine's uptime when its last answer came, as the action has noted it
    before: dict[str, Any]
    outcomes: dict[str, Any]
    jobs: dict[str, Any]  # what others have gone about, by attempt, and what the next look at it has to know
    reports: list[Report]
    reverts: list[Report] | None
    trouble: str
    note: str
    steps: list[Step]
    known: dict[str, str]  # the states of the steps that the mark had before
    finished: bool
    fail: bool  # whether the host fails at the end
    show: list[str]  # at the end, for people: what was done, a line for each step; in check mode the plan
    call: Call | None
    rest: float  # seconds before the call
    result: Result


def unfinished(name: str) -> Result:
    """The result that holds while a list of the plan has not come to its end.

    :arg name: prepare or recover
    """
    return result_of_run([], None, f"The {_RUNS[name]} did not come to its end", 0.0)


def begun(options: Mapping[str, Any], plan: Plan, at: float) -> Record:
    """A record in which nothing was done, and which says so should the run end before it can say better.

    :arg options: host; list; run, job, controller (who runs); whose; unmarked; check_mode
    :arg plan: of the host; empty where its steps can't be run, for a reason that ``trouble`` of the options tells
    """
    name = options["list"]
    record: Record = {
        "host": options["host"],
        "list": name,
        "holder": {"kind": DRAIN, **{key: options[key] for key in ("run", "job", "controller")}},
        "whose": options["whose"],
        "unmarked": options["unmarked"],
        "budget": _budget(plan["prepare"], "timeout")
        if name == "prepare"
        else _budget(plan["recover"], "undo_timeout"),
        "undo_budget": _budget(plan["prepare"], "undo_timeout"),
        "began": at,
        "turned": at,
        "to": "prepared" if name == "prepare" else "recovered",
        "take": "",
        "forced": False,
        "number": 0,
        "heard": None,
        "before": {},
        "outcomes": {},
        "jobs": {},
        "reports": [],
        "reverts": None,
        "trouble": options.get("trouble", ""),
        "note": "",
        "steps": [_public(step) for step in plan["steps"]],
        "known": {},
        "finished": False,
        "fail": False,
        "show": [],
        "call": {"requests": [], "run": "", "number": 0, "heard": None, "decided": at},  # it only shows the mark
        "rest": 0.0,
        "result": unfinished(name),
    }
    if record["trouble"]:
        return _ended(record, at)
    if options["check_mode"]:
        return _shown(record, plan, at)
    return record


def _budget(steps: Iterable[Step], limit: str) -> float:
    return SPARE + sum(float(step[limit]) for step in steps)


def ticked(record: Record, answer: Mapping[str, Any], at: float) -> Record:
    """The record after a call.

    :arg answer: of the machine program, with ``outcomes`` and ``before`` of what others did for it
    """
    record = copy.deepcopy(record)
    record["before"] = {**record["before"], **(answer.get("before") or {})}
    if answer.get("lost"):  # with it, perhaps, what it brought: that is said again
        if at - record["turned"] > record["budget"]:
            return stopped(record, f"{record['host']} could not be asked: {answer['lost']}", at)
        if not record["number"]:  # the first call, which shows whose the mark is
            record["rest"] = _rest(at - record["turned"])
            return record
        return _again(record, at)
    record["heard"] = answer.get("heard")
    if any(one.get("state") == "skipped" for one in answer["answers"]):  # it came too late, and did nothing
        if at - record["turned"] > record["budget"]:
            return stopped(record, f"{record['host']}: {answer['answers'][0]['why']}", at)
        return _again(record, at)
    record["outcomes"] = dict(answer.get("outcomes") or {})
    record["jobs"] = {**record["jobs"], **(answer.get("jobs") or {})}
    mark = answer.get("mark") or {}
    record["number"] = max(record["number"], int(mark.get("number") or 0))
    if not answer["answers"]:  # the first call, which shows whose the mark is
        _take(record, mark)
        record["known"] = {entry["key"]: entry["state"] for entry in mark.get("steps") or ()}
        return _again(record, at)
    return _went(record, answer["answers"][0], at)


def _take(record: Record, mark: Mapping[str, Any]) -> None:
    holder = mark.get("holder") or {}
    if holder and record["whose"] in ("any", holder["run"]):
        record["take"], record["forced"] = holder["run"], record["whose"] == holder["run"]


def _went(record: Record, went: Mapping[str, Any], at: float) -> Record:
    state, why = went.get("state"), str(went.get("why") or went.get("problem") or "")
    if state is None or state == "refused":
        return stopped(record, f"{record['host']}: {why or 'the machine gave no answer that could be read'}", at)
    record["take"] = ""
    direction = "do" if record["to"] == "prepared" else "undo"
    reports = [*_reports(record, went.get("steps") or [], direction)]
    if record["reverts"] is None:
        record["reports"] = reports
    else:
        record["reverts"] = reports
    if state == "prepared" or state == "recovered":
        record["note"] = why
        return _ended(record, at)
    if state == "failed" and record["reverts"] is None:
        if not any(not report["ok"] for report in reports):
            record["trouble"] = f"{record['host']}: {why}"
        if not went.get("steps"):
            return _ended(record, at)
        return _again(_turned(record, at), at)
    if state in ("failed", "half"):
        if not any(not report["ok"] for report in reports):
            return stopped(record, f"{record['host']}: {why}", at)
        return _ended(record, at)
    if record["to"] == "recovered" and at - record["turned"] > record["budget"]:
        return stopped(
            record, f"{record['host']}: the {record['budget']:g} s are used up that its steps may take together", at
        )
    return _again(record, at, at_once=bool(went.get("ask")))


def _turned(record: Record, at: float) -> Record:
    """A preparation that failed is undone."""
    record["reverts"] = []
    record["to"] = "recovered"
    record["budget"] = record["undo_budget"]
    record["turned"] = at
    return record


def _again(record: Record, at: float, at_once: bool = False) -> Record:
    record["number"] += 1
    elapsed = at - record["turned"]
    request = {
        "do": "go",
        "to": record["to"],
        "events": [],
        "left": round(record["budget"] - elapsed, 1),
        "ends": True,
        "lease": LEASE,
        "before": record["before"],
        "outcomes": record["outcomes"],
        "take": record["take"],
        "forced": record["forced"],
        "unmarked": record["unmarked"] and record["list"] == "recover",
        "no_new_steps": False,
    }
    run = record["holder"]["run"]
    record["call"] = {
        "requests": [request],
        "run": run,
        "number": record["number"],
        "heard": record["heard"],
        "decided": at,
    }
    # What has lasted for long will hardly end the very next moment.
    record["rest"] = 0.0 if at_once or elapsed < QUICK else _rest(elapsed)
    return record


def _rest(elapsed: float) -> float:
    return min(max(QUICK, elapsed / 20), SLOW)


def stopped(record: Record, why: str, at: float) -> Record:
    """The record of a host with which nothing more is done."""
    record = copy.deepcopy(record)
    if record["reverts"] is None:
        record["trouble"] = why
    else:
        record["reverts"].append({**planned_step("", "", ""), "ok": False, "message": why})
    return _ended(record, at)


def _ended(record: Record, at: float) -> Record:
    record["result"] = result_of_run(record["reports"], record["reverts"], record["trouble"], at - record["began"])
    if record["result"]["ok"] and not record["result"]["message"]:
        record["result"]["message"] = record["note"]
    word = "done" if record["list"] == "prepare" else "undone"
    words = [(report, word) for report in record["reports"]] + [
        (report, "undone") for report in record["reverts"] or []
    ]
    # what failed is in the message with which the host fails
    record["show"] = [f"{record['host']}: {_came(report, word)}" for report, word in words if report["ok"]]
    return _over(record)


def _came(report: Report, word: str) -> str:
    nothing = "" if report["changed"] else ", nothing was changed"
    note = f": {report['message']}" if report["message"] else ""
    return f"{report['name']}: {word} in {report['seconds']:g} s{nothing}{note}"


def _shown(record: Record, plan: Plan, at: float) -> Record:
    """Check mode: what would be done."""
    doing = record["list"] == "prepare"
    steps = plan["prepare"] if doing else plan["recover"]
    words = {step["key"]: step["does" if doing else "undoes"] for step in steps}
    reports = [planned_step(step["name"], step["type"], words[step["key"]]) for step in steps]
    record["result"] = result_of_check(reports, at - record["began"])
    record["show"] = [f"{record['host']}: {line}" for line in [_line(step, doing) for step in steps] or ["nothing"]]
    return _over(record)


def _over(record: Record) -> Record:
    record["finished"], record["call"] = True, None
    record["fail"] = not record["result"]["ok"]
    return record


def _line(step: Step, doing: bool) -> str:
    if doing:
        limits = f"at most {step['timeout']:g} s; then undone by: {step['undoes'] or 'nothing'}"
    else:
        limits = f"at most {step['undo_timeout']:g} s"
    return f"{step['number']}. {step['name']}: {step['does' if doing else 'undoes']} ({limits})"


def _reports(record: Record, marked: Sequence[Mapping[str, Any]], direction: str) -> list[Report]:
    """What came of each step, as far as it was gone through."""
    good, bad = (DONE, FAILED) if direction == "do" else (TAKEN_BACK, NOT_TAKEN_BACK)
    plan = {step["key"]: step for step in record["steps"]}
    found: list[Report] = []
    for entry in marked if direction == "do" else reversed(marked):
        step = plan.get(entry["key"], {"key": entry["key"], "name": entry["key"], "type": entry["type"], "number": 0})
        words = entry["words" if direction == "do" else "unwords"]
        if entry["state"] not in (good, bad) or (entry["state"] == good and not words):
            continue
        ok = entry["state"] == good
        acted = bool(entry["tries"]) and not type_of(entry["type"]).only_waits
        message = (
            entry["note"] if ok else failed_words(record["host"], step, direction, entry["note"], entry["seconds"])
        )
        found.append(
            {
                "name": step["name"],
                "type": entry["type"],
                "ok": ok,
                "changed": ok and acted and record["known"].get(entry["key"]) != good,
                "seconds": round(entry["seconds"], 1),
                "message": message,
            }
        )
    return found


def _public(step: Step) -> Step:
    """What has to be known of a step here; its options may be secrets."""
    return {key: step[key] for key in ("key", "name", "type", "number")}
