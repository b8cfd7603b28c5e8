# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the controller itself says: strategies, collections."""

from __future__ import annotations

import types

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._ansible import is_there
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._tasks import given


@pytest.mark.parametrize("strategy", ["linear", "debug"])
def test_strategies_that_go_from_task_to_task(strategy):
    assert given.strategy_problems(strategy) == []


@pytest.mark.parametrize("strategy", ["free", "host_pinned"])
def test_strategies_that_do_not(strategy):
    (words,) = given.strategy_problems(strategy)
    assert f"needs the strategy linear, and this play has {strategy}: " in words


def test_the_strategy_is_that_of_the_play():
    block = types.SimpleNamespace(_play=types.SimpleNamespace(strategy="free"), _parent=None)
    included = types.SimpleNamespace(_parent=block)
    assert given.strategy_of(types.SimpleNamespace(_parent=included)) == "free"
    assert given.strategy_of(types.SimpleNamespace(_parent=None)) == "linear"


def test_collections_that_are_there():
    assert is_there("cloudops.azure_maintenance")
    assert not is_there("cloudops.nosuch") and not is_there("nosuch.nosuch")
