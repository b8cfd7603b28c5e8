# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which events a machine's outage takes up, and how long what did not come about rests."""

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._core.deadlines import Terms, undo_fits
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._core.mark_view import OURS, MarkView
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._core.transitions import (
    PREPARED,
    RECOVERED,
    Try,
    is_new_outage,
    taken_up,
)

KNOWN, LATER, DUE, PREEMPT = "KNOWN", "LATER", "DUE", "PREEMPT"


def view(phase, recovery_begun=False):
    return MarkView(OURS, phase, frozenset([KNOWN]), recovery_begun=recovery_begun)


def taken(found, is_struck=False, retry=False):
    wanted = [KNOWN, LATER, DUE, PREEMPT]
    return taken_up(found, wanted, is_struck, lambda key: key == PREEMPT, lambda key: key == DUE, retry)


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
