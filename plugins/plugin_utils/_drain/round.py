# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One round of what others do for a machine in a tick: the calls that it makes, and what it returns. Pure.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...module_utils._steps.step_type import Step, TaskResult
from . import elsewhere
from .orders import BEFORE
from .steps.job import STATUS, is_job, remove
from .steps.way import Call, Order
from .steps.ways import WAYS


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
    if target["part"] == BEFORE:
        before = WAYS[step["type"]].before
        return dict(before(step, call)) if before else {}
    may_begin = hand["begun"] or hand["direction"] == "undo" or (hand["repeatable"] and not hand["awaited"])
    if not may_begin and jobs.get(hand["attempt"]) is None:
        return {"changed": False, "outcome": elsewhere.cut_off(hand), "job": None}
    changed = False

    def noted(order: Order) -> TaskResult:
        nonlocal changed
        came = call(order)
        changed = changed or (bool(came.get("changed")) and order.use != STATUS)
        return came

    job = jobs.get(hand["attempt"])
    if is_job(job) and job["failed"]:  # the machine has not heard of it: its mark could not be changed
        return {"changed": False, "outcome": job["failed"], "job": job}
    seen = WAYS[step["type"]].look(hand, job, noted)
    outcome, known = elsewhere.outcome(hand, seen.result, seen.about), seen.job
    if is_job(seen.job) and seen.job["is_over"] and seen.job != job:
        mark = answer["mark"]
        # Role drain by itself is two runs, one that prepares and one that recovers.
        remove(hand, seen.job, elsewhere.done_before(hand, mark, jobs), call, mark["holder"].get("kind") != "drain")
        known = dict(seen.job, failed=outcome if outcome["state"] == "failed" else None)
    return {"changed": changed, "outcome": outcome, "job": known}


def _of_many(came: TaskResult) -> dict[str, Any]:
    """A load balancer's answer. Sessions come and go: only another status is a change."""
    before, after = ([one.get("status") for one in came.get(f"state_{when}") or []] for when in ("before", "after"))
    return dict(came, changed=before != after)
