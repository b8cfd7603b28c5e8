# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is done never depends on what was reported: lives in which a second decider, without any report, is handed the same."""

from __future__ import annotations

import importlib
from unittest import mock

import pytest
from lives.collection import NAME, decider
from lives.life import lived
from watcher.collection import parts
from watcher.many import lived as lived_by_watchers

UNIT = f"{NAME}.tests.unit.plugins"
PART = 50  # lives of one test
RUNS, WATCHERS = 150, 300  # lives, so that all of it costs less than 30 s of a core


def crashes(verdict) -> list[str]:
    """What else is wrong with a life is none of this test's."""
    return [sentence for sentence in verdict.wrong if sentence.startswith("crash")]


@pytest.mark.parametrize("first", range(0, RUNS, PART))
def test_a_run_that_reports_nothing_does_the_same(first: int) -> None:
    beside = importlib.import_module(f"{UNIT}.plugin_utils._fleet.beside")
    both = decider()._replace(sent=beside.sent, move_on=beside.move_on)
    assert [found for seed in range(first, first + PART) for found in crashes(lived(seed, both))] == []


@pytest.mark.parametrize("first", range(0, WATCHERS, PART))
def test_a_watcher_that_reports_nothing_does_the_same(first: int) -> None:
    handling = parts().handling
    beside = importlib.import_module(f"{UNIT}.module_utils._watcher.beside").Beside
    with mock.patch.object(handling, "Engine", beside):
        assert [found for seed in range(first, first + PART) for found in crashes(lived_by_watchers(seed))] == []
