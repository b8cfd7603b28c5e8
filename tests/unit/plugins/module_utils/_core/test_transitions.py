# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which events a machine's outage takes up, and how long what did not come about rests."""

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._core import mark_view
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._core.deadlines import Terms, undo_fits
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._core.mark_view import OURS, MarkView
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._core.tracked_event import TrackedEvent
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._core.transitions import (
    PREPARED,
    RECOVERED,
    Ahead,
    Goal,
    Machine,
    Try,
    _taken_up,
    becomes,
    is_held,
    is_new_outage,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._events.event import Event

KNOWN, LATER, DUE, PREEMPT = "KNOWN", "LATER", "DUE", "PREEMPT"


def view(phase, recovery_begun=False):
    return MarkView(OURS, phase, frozenset([KNOWN]), recovery_begun=recovery_begun)


def ahead(key, left=900.0, kind="Reboot", started=None, **more):
    """An event that comes ``left`` seconds after 0, which is now."""
    event = Event(key, kind, "Scheduled", "VirtualMachine", (), (), "", None, "", "", None)
    return Ahead(TrackedEvent(event, -60.0, 60.0 + left, frozenset(), {}, left, 60.0 + left, started), **more)


def machine(found, **more):
    return Machine(
        found, Terms(30.0, 0.5, 300.0, limits=100.0, undo_limits=200.0), 0.0, **{"may_recover": True, **more}
    )


def taken(found, is_struck=False, retry=False):
    events = [
        ahead(KNOWN, wanted=True),
        ahead(LATER, wanted=True),
        ahead(DUE, wanted=True, must=True),
        ahead(PREEMPT, wanted=True, kind="Preempt"),
        *([ahead("STRUCK", started=-1.0)] if is_struck else []),
    ]
    return tuple(one.key for one in _taken_up(machine(found, retries=retry), events))


@pytest.mark.parametrize("phase", ["preparing", "prepared"])
def test_all_join_an_outage_that_is_not_over(phase):
    assert taken(view(phase)) == (KNOWN, LATER, DUE, PREEMPT)


@pytest.mark.parametrize("phase", ["preparing", "prepared"])
def test_under_an_event_only_what_has_to_be_prepared_for_joins(phase):
    assert taken(view(phase), is_struck=True) == (KNOWN, DUE)


def test_a_recovery_ends_first_but_for_what_leaves_no_time():
    assert taken(view("recovering", recovery_begun=True)) == (DUE, PREEMPT)


def test_a_failed_preparation_is_undone_first():
    assert taken(view("half")) == ()


def test_a_failed_preparation_of_another_process_is_retried_for_its_own_events():
    assert taken(view("half"), retry=True) == (KNOWN,)


def test_after_a_failed_recovery_all_are_prepared_for():
    assert taken(view("half", recovery_begun=True)) == (KNOWN, LATER, DUE, PREEMPT)


@pytest.mark.parametrize(
    ("phase", "recovery_begun", "new"),
    [("preparing", False, False), ("half", False, False), ("recovering", True, True), ("half", True, True)],
)
def test_what_is_prepared_for_after_a_recovery_has_begun_is_another_outage(phase, recovery_begun, new):
    assert is_new_outage(view(phase, recovery_begun)) is new


NONE = MarkView(mark_view.NOBODY)
FAILED, PARTLY = view("half"), view("half", recovery_begun=True)
WAITS_PREPARED, WAITS_RECOVERED = Goal(PREPARED, no_new_steps=True), Goal(RECOVERED, no_new_steps=True)
BUDGET = 870.0  # seconds until not-before, less the margin


@pytest.mark.parametrize(
    ("found", "events", "more", "goal"),
    [
        pytest.param(NONE, [], {}, None, id="in service, and nothing comes"),
        pytest.param(NONE, [ahead(LATER)], {}, None, id="in service, and it is too early"),
        pytest.param(NONE, [ahead(DUE, wanted=True)], {}, Goal(PREPARED, (DUE,), BUDGET), id="in service"),
        pytest.param(NONE, [ahead(DUE, wanted=True)], {"tried": Try(PREPARED, -4.9, 1)}, None, id="could not begin"),
        pytest.param(NONE, [ahead(DUE, wanted=True, shown=False)], {}, None, id="in service, and it may be over"),
        pytest.param(NONE, [ahead(DUE, 20.0, wanted=True)], {}, None, id="in service, within the margin"),
        pytest.param(
            NONE,
            [ahead(DUE, wanted=True, must=True), ahead(LATER, 500.0, wanted=True, shown=False)],
            {},
            Goal(PREPARED, (DUE,), BUDGET),
            id="what may be over holds up nothing",
        ),
        pytest.param(
            view("preparing"), [ahead(KNOWN, wanted=True)], {}, Goal(PREPARED, (KNOWN,), BUDGET), id="goes on"
        ),
        pytest.param(
            view("preparing"),
            [ahead(KNOWN, 20.0, wanted=True)],
            {},
            Goal(PREPARED, (KNOWN,), -10.0, no_new_steps=True),
            id="goes on within the margin",
        ),
        pytest.param(view("preparing"), [ahead(KNOWN, started=-1.0)], {}, WAITS_PREPARED, id="preparing under it"),
        pytest.param(
            view("preparing"), [ahead(KNOWN, started=-1.0)], {"takes_over": True}, None, id="no waiting for another's"
        ),
        pytest.param(view("prepared"), [ahead(KNOWN, wanted=True)], {}, None, id="prepared"),
        pytest.param(
            view("prepared"),
            [ahead(KNOWN, wanted=True)],
            {"takes_over": True},
            Goal(PREPARED, (KNOWN,), BUDGET),
            id="prepared by another",
        ),
        pytest.param(
            view("prepared"),
            [ahead(KNOWN, wanted=True), ahead(LATER, wanted=True)],
            {},
            Goal(PREPARED, (KNOWN, LATER), BUDGET),
            id="joins",
        ),
        pytest.param(
            view("prepared"),
            [ahead(KNOWN, wanted=True, undone=True)],
            {},
            Goal(PREPARED, (KNOWN,), BUDGET, redo_after_reboot=True),
            id="restarted",
        ),
        pytest.param(
            view("prepared"), [ahead(KNOWN, wanted=True, undone=True)], {"settled": False}, None, id="still starting"
        ),
        pytest.param(view("prepared"), [], {}, Goal(RECOVERED), id="over"),
        pytest.param(view("prepared"), [], {"may_recover": False}, None, id="over, and not polled"),
        pytest.param(view("prepared"), [], {"settled": False}, None, id="over, and still starting"),
        pytest.param(view("prepared"), [ahead(KNOWN, ignored=True)], {}, Goal(RECOVERED), id="put back by a person"),
        pytest.param(FAILED, [ahead(KNOWN, failed=True)], {}, Goal(RECOVERED), id="failed, and there is time"),
        pytest.param(FAILED, [ahead(KNOWN, 199.0, failed=True)], {}, None, id="failed, and there is no time"),
        pytest.param(FAILED, [ahead(KNOWN, failed=True)], {"keeps_failed": True}, None, id="failed, and is to stay"),
        pytest.param(
            FAILED, [ahead(KNOWN, failed=True), ahead(LATER, approved=True)], {}, None, id="another may start"
        ),
        pytest.param(view("recovering", True), [], {}, Goal(RECOVERED), id="recovering"),
        pytest.param(
            view("recovering", True), [ahead(LATER, started=-1.0)], {}, WAITS_RECOVERED, id="recovering under one"
        ),
        pytest.param(
            view("recovering", True), [], {"may_recover": False}, WAITS_RECOVERED, id="recovering, and not polled"
        ),
        pytest.param(
            view("recovering", True), [ahead(LATER, wanted=True)], {}, Goal(RECOVERED), id="its recovery ends first"
        ),
        pytest.param(
            view("recovering", True),
            [ahead(PREEMPT, kind="Preempt", wanted=True)],
            {},
            Goal(PREPARED, (PREEMPT,), BUDGET, replace_outage=True),
            id="its recovery is stopped",
        ),
        pytest.param(PARTLY, [], {}, Goal(RECOVERED), id="recovered in part"),
        pytest.param(PARTLY, [], {"tried": Try(RECOVERED, -29.0, 1)}, None, id="recovered in part, just now"),
        pytest.param(
            PARTLY,
            [ahead(LATER, wanted=True)],
            {},
            Goal(PREPARED, (LATER,), BUDGET, replace_outage=True),
            id="another one",
        ),
    ],
)
def test_what_a_machine_becomes(found, events, more, goal):
    assert becomes(machine(found, **more), events) == goal


@pytest.mark.parametrize(
    ("event", "held"),
    [
        (ahead(LATER), False),
        (ahead(LATER, 199.0), True),
        (ahead(LATER, 199.0, needed=False), False),
        (ahead(LATER, 199.0, watched=False), False),
        (ahead(LATER, 199.0, kind="SpotRebalanceRecommendation"), False),
        (ahead(LATER, approved=True, needed=False), True),
        (ahead(KNOWN), True),
    ],
)
def test_what_keeps_a_prepared_machine_out_of_service(event, held):
    assert is_held(machine(view("prepared")), [event]) is held


@pytest.mark.parametrize(("times", "seconds"), [(1, 30), (2, 60), (3, 120), (6, 600), (50, 600)])
def test_a_recovery_that_fails_rests_longer_each_time(times, seconds):
    last = Try(RECOVERED, 100.0, times)
    assert last.rests(RECOVERED, 99.0 + seconds) and not last.rests(RECOVERED, 100.0 + seconds)
    assert not last.rests(PREPARED, 100.0)


def test_tries_are_counted_by_what_they_were_for():
    assert Try().again(RECOVERED, 1.0).again(RECOVERED, 2.0) == Try(RECOVERED, 2.0, 2)
    assert Try(RECOVERED, 2.0, 2).again(PREPARED, 3.0) == Try(PREPARED, 3.0, 1)


@pytest.mark.parametrize(("coming", "fits"), [([], True), ([300.0], True), ([900.0, 299.0], False), ([-5.0], False)])
def test_undoing_has_to_fit_before_all_that_comes(coming, fits):
    assert undo_fits(coming, Terms(30.0, 0.1, 300.0, limits=1000.0, undo_limits=300.0)) is fits
