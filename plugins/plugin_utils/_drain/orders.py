# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All that others do for a machine in one tick, as the rounds of one task: what is asked of whom, the calls that a round makes, and what came
of them. Pure.

Private to this collection.

A step that several machines do, such as load balancers, has a round for each of them, and their answers are judged together. Any
other has one round, which judges by itself (``look``). The user's own task files are no rounds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from ...module_utils._steps.step_type import Step, TaskResult
from ...module_utils._steps.types import type_of
from . import elsewhere
from .way import STATUS, Call, Order, is_job, proven, remove
from .ways import PROOFS, WAYS

BEFORE = "before"
ROUND = "__drain_target"
"""The key of a round in what came of it."""


def orders(answer: Mapping[str, Any], steps: Sequence[Step], attempts: Collection[str] = ()) -> list[dict[str, Any]]:
    """What a machine's answer asks others for, in order; each with the ``key`` of its step, its ``part``, and the call's ``number``.

    ``place`` is the machine that does it, "" for the one itself. Rounds are printed, so they have none of a step's secrets.

    :arg attempts: the names of those that this run has gone about
    """
    found = [
        dict(order, key=step["key"], part=BEFORE)
        for step in steps
        if step["key"] in (answer.get("ask") or ())
        for order in _orders_of(step, BEFORE)
    ]
    if answer.get("elsewhere"):
        hand = elsewhere.at_hand(answer, steps, attempts)
        if not hand["waits"]:
            found += [dict(one, key=hand["key"], part="step") for one in _orders_of(hand["step"], hand["direction"])]
    return [dict(order, number=answer["number"]) for order in found]


def _orders_of(step: Step, direction: str) -> list[dict[str, Any]]:
    kind = type_of(step["type"])
    if kind.own:
        return []
    if kind.orders:
        return kind.orders(step, direction)
    become = {"become": step["become"]} if "become" in step else {}
    return [dict(become, place=step.get("delegate_to") or "")]


def with_others(
    answer: Mapping[str, Any],
    steps: Sequence[Step],
    results: Sequence[TaskResult],
    own: Mapping[str, Any],
    attempts: Collection[str],
) -> dict[str, Any]:
    """A machine's answer, with what others did for it in the same tick.

    :arg results: of the task whose rounds were the orders; of another call they say nothing
    :arg own: what came of the user's own task file, if one was at hand
    :arg attempts: the names of those that this run had gone about before
    """
    did = done(answer, steps, results, attempts) if results else {}
    for key, came in own.items():
        did[key] = {**did.get(key, {}), **came}
    return {**answer, **did}


def done(
    answer: Mapping[str, Any], steps: Sequence[Step], results: Sequence[TaskResult], attempts: Collection[str] = ()
) -> dict[str, Any]:
    """What came of the orders, as it is handed on to the machine; and what the next looks have to know (``jobs``)."""
    came = [one for one in results if str(one[ROUND]["number"]) == str(answer["number"])]
    before: dict[str, Any] = {}
    outcomes: dict[str, Any] = {}
    jobs: dict[str, Any] = {}
    for step in steps:
        asked = [one for one in came if (one[ROUND]["key"], one[ROUND]["part"]) == (step["key"], BEFORE)]
        if asked:
            came_of_it = {"results": asked} if type_of(step["type"]).orders else asked[0]
            found = elsewhere.initial_state(step, elsewhere.as_it_came(came_of_it))
            if "initial" in found:
                before[step["key"]] = found["initial"]
            else:
                outcomes[step["key"]] = {"state": "failed", "note": found["failed"]}
    of_step = [one for one in came if one[ROUND]["part"] == "step"]
    if of_step:
        hand = elsewhere.at_hand(answer, steps, attempts)
        outcomes[hand["key"]] = _outcome(hand, of_step)
        jobs[hand["attempt"]] = of_step[0].get("job")
    return {"before": before, "outcomes": outcomes, "jobs": jobs}


def _outcome(hand: elsewhere.AtHand, results: Sequence[TaskResult]) -> elsewhere.Outcome:
    result = {"results": results}
    if _is_broken(results):
        return elsewhere.failed(hand, elsewhere.as_it_came(result))
    if "outcome" in results[0]:
        judged: elsewhere.Outcome = results[0]["outcome"]
        return judged
    return elsewhere.outcome(hand, result, type_of(hand["step"]["type"]).asks(hand["step"], hand["direction"]))


def _is_broken(came: Iterable[TaskResult]) -> bool:
    """Whether a round did not even begin: the action returns what goes wrong in it as a part of its result."""
    return any(one.get("failed") or one.get("unreachable") for one in came)


def look(
    target: Mapping[str, Any], answer: Mapping[str, Any], steps: Sequence[Step], jobs: Mapping[str, Any], call: Call
) -> dict[str, Any]:
    """What the round returns: what came, or the ``outcome`` of its step, and the ``job`` that the next look has to know.

    :arg target: one of the orders by the machine's answer
    :arg steps: of the machine's plan
    :arg jobs: of this run, by attempt
    """
    if target.get("part") == "step":
        hand = elsewhere.at_hand(answer, steps, jobs)
        if elsewhere.too_late(hand):
            return {"changed": False, "outcome": elsewhere.used_up(hand), "job": None}
    if "use" in target:
        return _of_many(call(Order(target["use"], target["options"])))
    step = next(step for step in steps if step["key"] == target["key"])
    asked = proven(call, PROOFS)
    if target["part"] == BEFORE:
        before = WAYS[step["type"]].before
        return dict(before(step, asked)) if before else {}
    may_begin = hand["begun"] or hand["direction"] == "undo" or (hand["repeatable"] and not hand["awaited"])
    if not may_begin and jobs.get(hand["attempt"]) is None:
        return {"changed": False, "outcome": elsewhere.cut_off(hand), "job": None}
    changed = False

    def noted(order: Order) -> TaskResult:
        nonlocal changed
        came = asked(order)
        changed = changed or (bool(came.get("changed")) and order.use != STATUS)
        return came

    job = jobs.get(hand["attempt"])
    if is_job(job) and job["failed"]:  # the machine has not heard of it: its mark could not be changed
        return {"changed": False, "outcome": job["failed"], "job": job}
    seen = WAYS[step["type"]].look(hand, job, noted)
    outcome, known = elsewhere.outcome(hand, seen.result, seen.about), seen.job
    if is_job(seen.job) and seen.job["is_over"] and not (is_job(job) and job["is_over"]):
        mark = answer["mark"]
        # Role drain by itself is two runs, one that prepares and one that recovers.
        remove(hand, seen.job, elsewhere.done_before(hand, mark, jobs), call, mark["holder"].get("kind") != "drain")
        known = dict(seen.job, failed=outcome if outcome["state"] == "failed" else None)
    return {"changed": changed, "outcome": outcome, "job": known}


def _of_many(came: TaskResult) -> dict[str, Any]:
    """A load balancer's answer. Sessions come and go: only another status is a change."""
    before, after = ([one.get("status") for one in came.get(f"state_{when}") or []] for when in ("before", "after"))
    return dict(came, changed=before != after)
