# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What comes next, by the steps of a mark and the inventory's: every state in both directions."""

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._steps import sequence
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._steps.sequence import (
    BEGIN,
    BEGUN,
    CHECK,
    DONE,
    FAILED,
    FINISHED,
    NOT_TAKEN_BACK,
    SETTLE,
    STOP,
    STUCK,
    TAKEN_BACK,
    TAKING_BACK,
    WAITING,
    next_move,
)

STATES = (WAITING, BEGUN, DONE, FAILED, TAKING_BACK, TAKEN_BACK, NOT_TAKEN_BACK)


def step(name, number=1, kind="command", does="do it", undoes="undo it", **more):
    return dict(
        {"type": kind, "name": name, "number": number, "does": does, "undoes": undoes, "elsewhere": False}, **more
    )


def plan_of(*steps):
    return {made["name"]: dict(made, number=number) for number, made in enumerate(steps, 1)}


def entry(key, state=WAITING, kind="command", before=None, note="", seconds=0.0):
    return {
        "key": key,
        "type": kind,
        "words": "do it",
        "unwords": "undo it",
        "state": state,
        "before": before,
        "since": "",
        "seconds": seconds,
        "note": note,
    }


PLAN = plan_of(step("a"), step("b"), step("c"))


def marked(*states):
    return [entry(key, state) for key, state in zip("abc", states)]


def moved(steps, to, plan=PLAN):
    move = next_move(steps, plan, to)
    return move.what, move.key, move.direction


@pytest.mark.parametrize(
    "states, expected",
    [
        ((WAITING, WAITING, WAITING), (BEGIN, "a", "do")),
        ((BEGUN, WAITING, WAITING), (CHECK, "a", "do")),
        ((DONE, WAITING, WAITING), (BEGIN, "b", "do")),
        ((DONE, BEGUN, WAITING), (CHECK, "b", "do")),
        ((DONE, FAILED, WAITING), (STUCK, "b", "do")),
        ((DONE, DONE, DONE), (FINISHED, "", "do")),
        # another event came while the machine was on its way back
        ((DONE, DONE, TAKING_BACK), (CHECK, "c", "undo")),
        ((DONE, TAKEN_BACK, TAKEN_BACK), (BEGIN, "b", "do")),
        ((TAKEN_BACK, NOT_TAKEN_BACK, TAKEN_BACK), (BEGIN, "a", "do")),
        ((DONE, NOT_TAKEN_BACK, TAKEN_BACK), (BEGIN, "b", "do")),
    ],
)
def test_preparing_goes_through_the_steps_in_order(states, expected):
    assert moved(marked(*states), "prepared") == expected


@pytest.mark.parametrize(
    "states, expected",
    [
        ((DONE, DONE, DONE), (BEGIN, "c", "undo")),
        ((DONE, DONE, TAKING_BACK), (CHECK, "c", "undo")),
        ((DONE, DONE, TAKEN_BACK), (BEGIN, "b", "undo")),
        ((DONE, FAILED, WAITING), (BEGIN, "b", "undo")),
        ((DONE, BEGUN, WAITING), (STOP, "b", "do")),
        ((DONE, WAITING, WAITING), (BEGIN, "a", "undo")),
        # goes on when an inverse failed, and says so in the end
        ((DONE, NOT_TAKEN_BACK, TAKEN_BACK), (BEGIN, "a", "undo")),
        ((TAKEN_BACK, NOT_TAKEN_BACK, TAKEN_BACK), (STUCK, "", "undo")),
        ((TAKEN_BACK, TAKEN_BACK, TAKEN_BACK), (FINISHED, "", "undo")),
        ((WAITING, WAITING, WAITING), (FINISHED, "", "undo")),
    ],
)
def test_recovering_goes_back_over_what_was_begun_done_or_failed(states, expected):
    assert moved(marked(*states), "recovered") == expected


def test_nothing_is_taken_back_that_was_not_begun():
    for states in ((WAITING, state, other) for state in STATES for other in STATES):
        assert moved(marked(*states), "recovered")[1] != "a"


@pytest.mark.parametrize("to", ["prepared", "recovered"])
@pytest.mark.parametrize("first", STATES)
@pytest.mark.parametrize("second", STATES)
def test_it_always_ends(first, second, to):
    steps, moves = marked(first, second, WAITING), 0
    while True:
        move = next_move(steps, PLAN, to)
        if move.what in (FINISHED, STUCK):
            break
        moves += 1
        assert moves < 20
        state = "pending" if move.what == BEGIN else "failed" if move.what == STOP else "done"
        change = sequence.begun(entry(move.key), move.direction, "now") if move.what == BEGIN else None
        found = next(step for step in steps if step["key"] == move.key)
        changed = dict(found, state=change["state"]) if change else sequence.came(found, move.direction, state)
        steps = [changed if step["key"] == move.key else step for step in steps]
    assert move.what == FINISHED or FAILED in (first, second) or NOT_TAKEN_BACK in (first, second)


def test_what_was_not_ours_is_done_without_doing_and_taken_back_without_undoing():
    plan = plan_of(step("a", kind="service"))
    stopped_before = {"ran": False}
    for state, to, direction in ((WAITING, "prepared", "do"), (DONE, "recovered", "undo")):
        move = next_move([entry("a", state, "service", stopped_before)], plan, to)
        assert (move.what, move.direction, move.why) == (SETTLE, direction, "left as it was before")
        assert moved([entry("a", state, "service", {"ran": True})], to, plan) == (BEGIN, "a", direction)


def test_what_is_ours_to_do_may_not_be_ours_to_undo():
    plan = plan_of(step("a", kind="failover_cluster"))
    assert moved([entry("a", WAITING, "failover_cluster", {"paused": True})], "prepared", plan) == (BEGIN, "a", "do")
    move = next_move([entry("a", DONE, "failover_cluster", {"paused": True})], plan, "recovered")
    assert (move.what, move.direction, move.why) == (SETTLE, "undo", "left as it was before")


def test_a_case_that_nobody_asked_is_ours():
    """What an earlier version left is undone as a whole."""
    assert moved([entry("a", DONE, "service", None)], "recovered", plan_of(step("a", kind="service")))[0] == BEGIN


def test_what_has_no_inverse_is_simply_taken_back_and_what_only_has_one_is_simply_done():
    assert moved([entry("a", DONE)], "recovered", plan_of(step("a", undoes=""))) == (SETTLE, "a", "undo")
    assert moved([entry("a")], "prepared", plan_of(step("a", does=""))) == (SETTLE, "a", "do")


def test_a_step_that_the_inventory_no_longer_has_is_named_and_others_are_taken_back():
    steps = [entry("gone", DONE), entry("a", DONE), entry("gone too", WAITING)]
    assert moved(steps, "recovered") == (BEGIN, "a", "undo")
    steps[1]["state"] = TAKEN_BACK
    move = next_move(steps, PLAN, "recovered")
    assert move.what == STUCK
    assert move.why == "gone (do it, undo it) was not undone: the inventory no longer has this step"
    steps[0]["unwords"] = ""
    assert next_move(steps, PLAN, "recovered").what == FINISHED, "there was nothing to undo"


@pytest.mark.parametrize("state", [WAITING, BEGUN])
def test_a_step_that_the_inventory_no_longer_has_can_not_be_done(state):
    move = next_move([entry("gone", state)], PLAN, "prepared")
    assert (move.what, move.key) == (STUCK, "gone")
    assert move.why == "gone (do it, undo it) can't be done: the inventory no longer has this step"


@pytest.mark.parametrize("kind", ["service", "command", "http"])
def test_elsewhere_nothing_is_stopped_and_what_goes_on_there_is_undone_when_it_has_ended(kind):
    plan = plan_of(step("a", kind=kind, elsewhere=True))
    for state, expected in (
        (BEGUN, (CHECK, "do", True)),
        (DONE, (BEGIN, "undo", True)),
        (FAILED, (BEGIN, "undo", True)),
    ):
        move = next_move([entry("a", state, kind=kind)], plan, "recovered")
        assert (move.what, move.direction, move.elsewhere) == expected


@pytest.mark.parametrize("kind", ["haproxy", "connections", "failover_cluster", "iis", "tasks"])
def test_elsewhere_what_only_goes_on_while_it_is_looked_at_is_undone_at_once(kind):
    plan = plan_of(step("a", kind=kind, elsewhere=True))
    move = next_move([entry("a", BEGUN, kind=kind)], plan, "recovered")
    assert (move.what, move.direction, move.elsewhere) == (BEGIN, "undo", True)


def test_why_a_step_failed_is_said_with_the_step():
    steps = [entry("a", FAILED, note="exit code 3: no", seconds=2.04)]
    assert next_move(steps, PLAN, "prepared").why == "step 1 (a), command: exit code 3: no (after 2.0 s)"
    steps = [entry(key, NOT_TAKEN_BACK, note="exit code 1: no", seconds=1) for key in "ab"]
    assert (
        next_move(steps, PLAN, "recovered").why
        == "step 2 (b), undone: exit code 1: no (after 1 s). step 1 (a), undone: exit code 1: no (after 1 s)"
    )


def test_a_recovery_that_begins_anew_tries_again_what_was_not_taken_back():
    steps = sequence.tried_again(marked(DONE, NOT_TAKEN_BACK, TAKEN_BACK), PLAN)
    assert [step["state"] for step in steps] == [DONE, FAILED, TAKEN_BACK]
    assert moved(steps, "recovered") == (BEGIN, "b", "undo")


def test_what_may_have_outlasted_a_start_of_the_machine_is_undone_though_it_is_not_done_again():
    """A load balancer keeps what it was told, whichever step fails when they are done again."""
    steps = sequence.done_again(marked(DONE, DONE, WAITING))
    assert [step["state"] for step in steps] == [WAITING] * 3 and moved(steps, "prepared") == (BEGIN, "a", "do")
    steps[0] = sequence.came(sequence.begun(steps[0], "do", "now"), "do", "failed", "no")
    assert moved(steps, "recovered") == (BEGIN, "b", "undo")
    steps[1] = sequence.came(sequence.begun(steps[1], "undo", "now"), "undo", "done")
    assert moved(steps, "recovered") == (BEGIN, "a", "undo")
    assert not sequence.is_to_undo(sequence.turned_round(steps[1:2], PLAN)[0])


def test_what_others_could_not_undo_is_begun_anew_by_another_outage_with_a_time_of_its_own():
    plan = {key: dict(planned, elsewhere=True) for key, planned in PLAN.items()}
    steps = sequence.turned_round(marked(NOT_TAKEN_BACK, DONE, DONE), plan)
    assert steps[0]["state"] == WAITING and sequence.is_to_undo(steps[0])
    assert sequence.next_move(steps, plan, "prepared")[:3] == (BEGIN, "a", "do")


def test_what_the_mark_says_of_a_step_that_is_begun_and_of_one_that_came_to_something():
    begun = sequence.begun(entry("a", note="old", seconds=9), "undo", "2026-01-01T00:00:00Z")
    assert (begun["state"], begun["since"], begun["note"], begun["seconds"]) == (
        TAKING_BACK,
        "2026-01-01T00:00:00Z",
        "",
        0,
    )
    ended = sequence.came(begun, "undo", "failed", "no", 1.26)
    assert (ended["state"], ended["note"], ended["seconds"]) == (NOT_TAKEN_BACK, "no", 1.3)
