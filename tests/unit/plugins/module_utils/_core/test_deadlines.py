# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""By when a machine has to be prepared for an event, and how much time that leaves."""

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._core import deadlines
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._core.deadlines import (
    DUE,
    LATER,
    WANTED,
    Terms,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._core.tracked_event import TrackedEvent
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._events.event import Event

RUN = Terms(margin=60, share=0.25, prepare_before=300, limits=100, undo_limits=50, slack=15)
WATCHER = Terms(margin=30, share=0.1, prepare_before=300, limits=100, undo_limits=50)


def tracked(deadline=1000.0, notice=900.0, kind="Reboot", **more):
    event = Event("E1", kind, "Scheduled", "VirtualMachine", ("vm1",), ("vm1",), "", None, "", "", None)
    return TrackedEvent(event, 100.0, notice, frozenset(["vm1"]), {}, deadline, notice, **more)


# Row 11
@pytest.mark.parametrize(
    "notice, by_run, by_watcher", [(900, 60, 30), (300, 60, 30), (200, 50, 20), (30, 7.5, 3), (0, 0, 0), (-5, 0, 0)]
)
def test_a_margin_is_a_number_of_seconds_and_at_most_a_share_of_the_notice(notice, by_run, by_watcher):
    assert deadlines.margin(tracked(notice=notice), RUN) == by_run
    assert deadlines.margin(tracked(notice=notice), WATCHER) == by_watcher


# Row 12
def test_the_notice_is_that_which_the_present_not_before_was_first_shown_with():
    moved = tracked(deadline=340.0)._replace(deadline_notice=40.0)
    assert deadlines.margin(moved, RUN) == 10 and deadlines.prepared_by(moved, RUN) == 330


# Row 20
def test_an_event_without_a_time_comes_ten_minutes_after_it_was_shown():
    one = tracked(deadline=None, notice=None)
    assert deadlines.left(one, 150.0) == 550
    assert deadlines.prepared_by(one, RUN) == 640


# Rows 13 and 14
@pytest.mark.parametrize(
    "limits, kind, left", [(100, "Reboot", 300), (500, "Reboot", 575), (500, "SpotRebalanceRecommendation", 300)]
)
def test_it_is_prepared_for_from_then_on(limits, kind, left):
    one, terms = tracked(kind=kind), RUN._replace(limits=limits)
    at = deadlines.wanted_from(one, terms)
    assert at == 1000 - left
    assert deadlines.urgency(one, terms, at - 0.1) == LATER and deadlines.urgency(one, terms, at) != LATER


@pytest.mark.parametrize(
    "seconds, limits, terms, wanted",
    [
        (300.1, 100, RUN, LATER),
        (300.0, 100, RUN, WANTED),
        (175.1, 100, RUN, WANTED),
        (175.0, 100, RUN, DUE),
        (575.0, 500, RUN, DUE),
        (575.1, 500, RUN, LATER),
        (130.0, 100, WATCHER, DUE),
        (130.1, 100, WATCHER, WANTED),
    ],
)
def test_it_is_wanted_by_an_option_and_due_when_its_steps_their_margin_and_some_slack_fill_the_time(
    seconds, limits, terms, wanted
):
    assert deadlines.urgency(tracked(), terms._replace(limits=limits), 1000.0 - seconds) == wanted


# Rows 16 to 18
@pytest.mark.parametrize(
    "one, wanted, budget",
    [
        (tracked(), DUE, 100),
        (tracked(kind="Preempt", started=900.0), DUE, 100),
        (tracked(kind="Terminate", started=900.0), DUE, 100),
        (tracked(started=900.0), LATER, -61),
        (tracked(kind="Preempt", started=900.0, gone=950.0), LATER, -61),
        (tracked(kind="SpotRebalanceRecommendation"), LATER, -61),
    ],
)
def test_what_may_come_at_any_moment_is_due_and_has_the_time_that_its_steps_may_take(one, wanted, budget):
    assert deadlines.urgency(one, RUN, 1001.0) == wanted
    assert deadlines.budget([(one, None)], RUN, 1001.0) == budget


def test_the_budget_ends_at_not_before_less_the_margin():
    assert deadlines.budget([(tracked(), 200.0)], RUN, 900.0) == 40
    assert deadlines.budget([(tracked(), 200.0)], RUN, 950.0) == -10, "nothing more is begun"
    assert deadlines.budget([(tracked(), 200.0), (tracked(deadline=2000.0), None)], RUN, 900.0) == 40


# Rows 15 and 17
def test_what_was_begun_in_time_had_its_time_and_what_was_not_is_prepared_for_all_the_same():
    assert deadlines.budget([(tracked(), 200.0)], RUN, 1001.0) == -61
    assert deadlines.budget([(tracked(), None)], RUN, 1001.0) == 100
    assert deadlines.budget([(tracked(), 1001.0)], RUN, 1050.0) == 100


def test_of_several_what_may_come_at_any_moment_decides():
    overdue = (tracked(deadline=800.0), None)
    assert deadlines.budget([overdue, (tracked(deadline=910.0), 200.0)], RUN, 900.0) == 100
    assert deadlines.budget([overdue], RUN._replace(limits=0), 900.0) == deadlines.LEAST


def test_advice_is_wanted_at_most_and_never_overdue():
    advice = tracked(kind="SpotRebalanceRecommendation")
    assert deadlines.urgency(advice, RUN, 900.0) == WANTED
    assert deadlines.urgency(advice, RUN, 1000.0) == LATER
