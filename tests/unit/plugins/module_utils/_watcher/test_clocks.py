# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What time it is for Azure, and how much of it is left."""

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._clock import Moment
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._core import deadlines
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._core.tracked_event import TrackedEvent
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._events.document import Document
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.engine import snapshot
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.engine.interface import PollResult
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.engine.snapshot import Reckoning
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.settings.options import Settings
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.stories import event

EVENT = event({"id": "E1", "in": 900})
BEGIN = EVENT.not_before_time - 900


@pytest.mark.parametrize("notice, seconds", [(900, 30), (300, 30), (200, 20), (30, 3), (0, 0), (-5, 0), (None, 30)])
def test_a_margin_is_30_s_and_at_most_a_tenth_of_the_notice(notice, seconds):
    one = TrackedEvent(EVENT, 0.0, notice, frozenset(), {}, notice, notice)
    assert deadlines.margin(one, snapshot.terms(Settings())) == seconds


def test_the_answer_s_date_counts_and_not_the_clock_on_the_wall():
    look = PollResult(Document(1), at=100.0, date=BEGIN, number=1, asked=100.0)
    reckoned = snapshot.reckoned(look, Moment(BEGIN + 3600, 50.0, "boot"), now=130.0)
    assert reckoned == Reckoning(100.0, BEGIN)
    assert reckoned.wall_at(130.0) == BEGIN + 30


def test_without_a_date_the_clock_on_the_wall_tells_when_the_answer_came():
    look = PollResult(Document(1), at=100.0, date=None, number=1, asked=100.0)
    assert snapshot.reckoned(look, Moment(BEGIN, 50.0, "boot"), now=130.0).wall == BEGIN - 30


@pytest.mark.parametrize("ran, told", [(1.0, 0.0), (2.5, 0.0), (3.5, 2.5), (-3600.0, -3601.0)])
def test_a_pause_is_what_the_clocks_differ_by_if_that_is_more_than_2_s(ran, told):
    before = Reckoning(10.0, BEGIN)
    assert snapshot.pause(before, Reckoning(11.0, BEGIN + ran)) == told
