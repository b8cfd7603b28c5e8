# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All that others do for a machine in one tick, as the rounds of one task; and what came of them. Pure.

Private to this collection.

Where each step that others do is of a type that has orders, a tick is three tasks. Else there is a task file for each type.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...module_utils._steps.step_type import Step, TaskResult
from ...module_utils._steps.types import type_of
from . import elsewhere

BEFORE = "before"
ROUND = "__drain_target"
"""The variable of a round."""


def orders_of(step: Step, direction: str) -> list[dict[str, Any]]:
    """The orders of one step: what asks for the case ``before`` it, or a look that does or undoes it."""
    orders = type_of(step["type"]).orders
    return orders(step, direction) if orders else []


def orders(answer: Mapping[str, Any], steps: Sequence[Step]) -> list[dict[str, Any]]:
    """What a machine's answer asks others for, in order; each with the ``key`` of its step, its ``part``, and the call's ``number``."""
    found = [
        dict(order, key=step["key"], part=BEFORE)
        for step in steps
        if step["key"] in (answer.get("ask") or ())
        for order in orders_of(step, BEFORE)
    ]
    if answer.get("elsewhere"):
        hand = elsewhere.at_hand(answer, steps)
        found += [dict(one, key=hand["key"], part="step") for one in orders_of(hand["step"], hand["direction"])]
    return [dict(order, number=answer["number"]) for order in found]


def done(answer: Mapping[str, Any], steps: Sequence[Step], results: Sequence[TaskResult]) -> dict[str, Any]:
    """What came of the orders, as it is handed on to the machine.

    :arg results: of the task whose rounds were the orders; of another call they say nothing
    """
    came = [one for one in results if str(one[ROUND]["number"]) == str(answer["number"])]
    before: dict[str, Any] = {}
    outcomes: dict[str, Any] = {}
    for step in steps:
        asked = [one for one in came if (one[ROUND]["key"], one[ROUND]["part"]) == (step["key"], BEFORE)]
        if asked:
            case = elsewhere.case(step, elsewhere.as_it_came({"results": asked}))
            if "case" in case:
                before[step["key"]] = case["case"]
            else:
                outcomes[step["key"]] = {"state": "failed", "note": case["failed"]}
    of_step = [one for one in came if one[ROUND]["part"] == "step"]
    if of_step:
        hand = elsewhere.at_hand(answer, steps)
        outcomes[hand["key"]] = _outcome(hand, {"results": of_step})
    return {"before": before, "outcomes": outcomes}


def _outcome(hand: elsewhere.AtHand, result: TaskResult) -> elsewhere.Outcome:
    came = elsewhere.as_it_came(result)
    if elsewhere.went_wrong(result) or _is_broken(result["results"]):
        return elsewhere.failed(hand, came)
    return elsewhere.seen(hand, type_of(hand["step"]["type"]).asks(hand["step"], hand["direction"]), came)


def _is_broken(came: Iterable[TaskResult]) -> bool:
    """Whether a round did not even begin: the action returns what goes wrong in it as a part of its result."""
    return any(one.get("failed") or one.get("unreachable") for one in came)
