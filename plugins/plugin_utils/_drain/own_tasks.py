# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The user's own task file of a step, which only Ansible itself can go through: which one in a tick, and what came of it. Pure.

Private to this collection.

Ansible says when a task failed, and nothing when all went well. So the file of a tick has come to its end where no failure was noted
for it: one that did not even begin is a failure, too, and a machine that is lost in it is in the play no more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from ...module_utils._steps.step_type import Step, TaskResult
from ...module_utils._steps.types import type_of
from . import elsewhere

RAN, WAITS, CUT_OFF = "ran", "waits", "cut off"
"""What a run has gone about, by attempt."""
TOO_SHORT = "the time until another event is too short for it"


class Failure(TypedDict):
    """That a task of the file failed, with what it returned."""

    result: TaskResult
    secret: bool  # whether the task is not to be shown


def file(answer: Mapping[str, Any], steps: Sequence[Step], jobs: Mapping[str, Any], allowed: bool) -> str:
    """The file that is gone through in this tick; "" for none.

    :arg answer: of the machine
    :arg steps: of its plan
    :arg jobs: of this run, by attempt
    :arg allowed: whether there is the time for it
    """
    hand = _at_hand(answer, steps, jobs)
    return str(hand["step"][hand["direction"]]) if hand and not _known(hand, jobs, allowed) else ""


def came(
    answer: Mapping[str, Any],
    steps: Sequence[Step],
    jobs: Mapping[str, Any],
    allowed: bool,
    failure: Failure | None,
) -> dict[str, Any]:
    """The ``outcomes`` that are handed on to the machine, and the ``jobs`` that the next tick has to know.

    :arg failure: where the file was gone through, and a task of it failed
    """
    hand = _at_hand(answer, steps, jobs)
    if not hand:
        return {}
    attempt = hand["attempt"]
    outcome = _known(hand, jobs, allowed)
    job = RAN
    if outcome:
        job = WAITS if outcome["state"] == "pending" else CUT_OFF
    elif failure:
        hand["step"] = {**hand["step"], "no_log": failure["secret"]}
        outcome = elsewhere.failed(hand, failure["result"])
    return {
        "outcomes": {hand["key"]: outcome or elsewhere.outcome(hand, {})},
        "jobs": {attempt: job},
    }


def _at_hand(answer: Mapping[str, Any], steps: Sequence[Step], jobs: Mapping[str, Any]) -> elsewhere.AtHand | None:
    key = (answer.get("elsewhere") or {}).get("key")
    if not any(step["key"] == key and type_of(step["type"]).own for step in steps):
        return None
    hand = elsewhere.at_hand(answer, steps, [attempt for attempt, job in jobs.items() if job != WAITS])
    return None if hand["waits"] else hand


def _known(hand: elsewhere.AtHand, jobs: Mapping[str, Any], allowed: bool) -> elsewhere.Outcome | None:
    """What is known of it without going through the file."""
    began_here = hand["begun"] or jobs.get(hand["attempt"]) in (RAN, WAITS)
    if hand["direction"] == "do" and not began_here:
        return elsewhere.cut_off(hand)
    if elsewhere.too_late(hand):
        return elsewhere.used_up(hand)
    return None if allowed else elsewhere.waits(hand, TOO_SHORT)
