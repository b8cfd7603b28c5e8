# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps that others than the machine program do: one look a tick, its result in, what came of the step out. Pure.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypedDict

from ...module_utils._steps.sequence import ours
from ...module_utils._steps.step_type import Step, StepError, TaskResult, kept_back, rounds
from ...module_utils._steps.types import type_of
from .report import lost, why_failed

A_TICK = 3.0
"""Seconds until the next look, at least: what has less time left has had its last one."""


class _Came(TypedDict):
    state: str  # pending, done or failed
    note: str
    direction: str


class Outcome(_Came, total=False):
    """What came of a step so far."""

    left: float  # of what is pending, the seconds that it had left when it was seen
    late: float  # of what is pending, for how many seconds the mark had called it begun when it was
    seconds: float  # of what did not even begin, 0: else they are counted since the mark says that it did


class AtHand(TypedDict):
    """The step that a machine has under way with others."""

    key: str
    step: Step  # narrowed to what is ours, by the initial state
    direction: str
    begun: bool  # whether it begins now
    waits: bool  # nobody of this run has gone about it, and nothing new may be started
    attempt: str  # its name, as long as the mark says that it is under way
    repeatable: bool  # whether another run may begin it once more
    awaited: bool  # whether it is undone as soon as it has ended, and nobody begins it any more
    left: float  # seconds of its own
    late: float  # seconds for which the mark has called it begun, where it begins now
    begins: float  # seconds in which it may be begun, where it is being done


def at_hand(answer: Mapping[str, Any], steps: Sequence[Step], attempts: Collection[str] = ()) -> AtHand:
    """The step that the machine's answer asks others for.

    A step is marked as begun before anybody hears of it. Where that answer was lost, the run that got none knows that it has not
    begun the step: no other run acts by an answer to this one. So it begins it now.

    :arg steps: of the plan
    :arg attempts: the names of those that this run has gone about
    """
    asked = answer["elsewhere"]
    step = next(step for step in steps if step["key"] == asked["key"])
    mark = answer["mark"]
    entry = next(entry for entry in mark["steps"] if entry["key"] == asked["key"])
    attempt = f"{_attempts(mark, asked['key'], asked['direction'])}{entry['tries']}"
    awaited = asked["direction"] == "do" and mark.get("phase") == "recovering"
    waits = bool(asked.get("no_new_steps")) and not asked["begun"] and attempt not in attempts and not awaited
    left, age = float(asked["left"]), float(asked.get("age", 0.0))
    unheard = entry.get("by") == mark["holder"]["run"] and attempt not in attempts and left >= 1
    begun = bool(asked["begun"]) or (unheard and not waits and not awaited)
    limit = float(entry["limit"])
    return {
        "key": asked["key"],
        "step": ours(step, entry["before"]) or step,
        "direction": asked["direction"],
        "begun": begun,
        "waits": waits,
        "attempt": attempt,
        "repeatable": type_of(step["type"]).repeatable,
        "awaited": awaited,
        # What begins now has all of its time, whatever the run waited for since the mark says so.
        "left": limit if begun else max(0.0, left - age),
        "late": limit - left + age if begun else 0.0,
        "begins": max(0.0, float(asked["begins"]) - age),
    }


def done_before(hand: AtHand, mark: Mapping[str, Any], jobs: Mapping[str, Any]) -> list[Any]:
    """What the run has to know of its attempts to do the step that is undone now; none where it is being done."""
    begins = _attempts(mark, hand["key"], "do")
    return [job for attempt, job in jobs.items() if attempt.startswith(begins)] if hand["direction"] == "undo" else []


def _attempts(mark: Mapping[str, Any], key: str, direction: str) -> str:
    """How the names of the attempts at a step begin."""
    return f"{mark['since']} {key} {direction} "


def aged(answer: Mapping[str, Any], seconds: float) -> Mapping[str, Any]:
    """The machine's answer so many seconds after it came."""
    asked = answer["elsewhere"]
    return {**answer, "elsewhere": {**asked, "age": seconds}} if asked else answer


def went_wrong(result: TaskResult) -> bool:
    """Whether anything of what the action ``elsewhere`` was to do went wrong."""
    return any("went_wrong" in item for item in rounds(result))


def as_it_came(result: TaskResult) -> TaskResult:
    """A task's result as the module gave it, which the action ``elsewhere`` keeps back where it failed."""
    if "results" in result:
        return {**result, "results": [as_it_came(item) for item in result["results"]]}
    loop = {key: value for key, value in result.items() if key.startswith("__drain") or key == "ansible_loop_var"}
    return {**loop, **result["went_wrong"]} if "went_wrong" in result else result


def seen(hand: AtHand, about: Sequence[str], result: TaskResult) -> Outcome:
    """What a look means.

    :arg about: what is asked about it, in words of the step's type, in this order; none where only success counts
    """
    step = hand["step"]
    gone = lost(step, result)
    if gone:
        return _outcome(hand, "failed", gone)
    if "ansible_job_id" in result and not has_ended(result):
        return _outcome(hand, "pending")
    if not about and any(item.get("failed") for item in rounds(result)):
        return failed(hand, result)
    note = ""
    for word in about:
        verdict = type_of(step["type"]).judges[word](step, hand["direction"], result)
        words = kept_back() if step.get("no_log") and verdict.problem else verdict.problem
        if verdict.done and words:
            return _outcome(hand, "failed", words)
        if verdict.done and any(item.get("failed") for item in rounds(result)):
            return failed(hand, result)
        if not verdict.done:
            last = hand["left"] <= max(A_TICK, step["intervals"][hand["direction"]])
            if not last:
                return _outcome(hand, "pending", words or verdict.note)
            if words:
                return _outcome(hand, "failed", words)
        note = verdict.note or note
    return _outcome(hand, "done", "" if step.get("no_log") else note)


def outcome(hand: AtHand, result: TaskResult, about: Sequence[str] = ()) -> Outcome:
    """What came of a look, as the action ``elsewhere`` returned it."""
    came = as_it_came(result)
    try:
        return failed(hand, came) if went_wrong(result) else seen(hand, about, came)
    except Exception as error:  # whatever it is, it must cost the run no more than this step
        return failed(hand, {"msg": _unreadable(error)})


def cut_off(hand: AtHand) -> Outcome:
    """Nobody knows what became of the step. Before it is undone, its limit has to pass: until then it may still be at work."""
    if hand["awaited"] and hand["left"] > 0:
        return waits(hand, "it was started by a run, or in a call, that was interrupted, and may go on until its limit")
    return failed(
        hand, {"msg": "it was started by a run, or in a call, that was interrupted, and nobody knows how it ended"}
    )


def too_late(hand: AtHand) -> bool:
    """Whether the time in which the machine was to be prepared is used up before the step could begin."""
    return hand["begun"] and hand["direction"] == "do" and hand["begins"] <= 0


def used_up(hand: AtHand) -> Outcome:
    return {**_outcome(hand, "failed", "the time that was left was used up before it could begin"), "seconds": 0.0}


def failed(hand: AtHand, result: TaskResult) -> Outcome:
    """A task of the step failed."""
    return _outcome(hand, "failed", why_failed(hand["step"], result))


def initial_state(step: Step, result: TaskResult) -> dict[str, Any]:
    """The initial state of a step, or as ``failed`` why that could not be determined.

    :arg result: of the task of its type that asked
    """
    if lost(step, result) or any(item.get("failed") for item in rounds(result)):
        return {"failed": why_failed(step, result)}
    try:
        return {"initial": type_of(step["type"]).initial_state(step, result)}
    except StepError as error:  # the machine has not got what the step is about
        return {"failed": str(error)}
    except Exception as error:
        return {"failed": _unreadable(error)}


def _unreadable(error: Exception) -> str:
    return f"what came back can't be read ({type(error).__name__}: {error})"


def waits(hand: AtHand, why: str) -> Outcome:
    """The step has not ended, or may not begin yet."""
    return _outcome({**hand, "late": 0.0}, "pending", why)


def has_ended(result: TaskResult) -> bool:
    """Whether a job is over: a number from Windows, and from others before ansible-core 2.19."""
    return str(result.get("finished", 0)).lower() in ("1", "true")


def _outcome(hand: AtHand, state: str, note: str = "") -> Outcome:
    came: Outcome = {"state": state, "note": note, "direction": hand["direction"]}
    if state != "pending":
        return came
    pending: Outcome = {**came, "left": hand["left"]}
    return {**pending, "late": hand["late"]} if hand["late"] else pending
