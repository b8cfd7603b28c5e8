# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A lone Windows machine's maintenance in virtual time, and what it costs in starts of PowerShell; docs/performance.md has the numbers."""

import pytest

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._windows.lone import (
    DOWN_AFTER,
    DOWN_FOR,
    Lone,
)


@pytest.fixture
def lone(tmp_path):
    return Lone(tmp_path)


def test_a_maintenance_takes_a_start_before_the_reboot_and_one_after_it(lone):
    lone.until(lambda: lone.is_over)
    assert (lone.problems, lone.running, lone.mark()) == ([], True, None)
    assert lone.to_approval <= 9.0
    up = [at for at in lone.starts if not lone.approved + DOWN_AFTER <= at < lone.approved + DOWN_AFTER + DOWN_FOR]
    assert len(up) == 2 and len(lone.modules) <= 3


def test_only_what_changes_something_is_a_module(lone):
    """Its begin: the initial state, and how far it is, are asked of the one that stays."""
    lone.until(lambda: lone.approved)
    assert [name for _at, name in lone.modules] == ["win_service"]


@pytest.mark.parametrize("start, most", [(1.0, 8.0), (4.0, 16.0), (8.0, 28.0)])
def test_slower_modules_cost_no_more_than_their_time(tmp_path, start, most):
    lone = Lone(tmp_path, start=start)
    lone.until(lambda: lone.is_over)
    assert lone.problems == [] and lone.to_approval <= most


def test_a_step_that_outlasts_its_tick_is_looked_at_again(tmp_path):
    lone = Lone(tmp_path, takes=9.0)
    lone.until(lambda: lone.is_over)
    assert lone.problems == [] and lone.to_approval <= 20.0


@pytest.mark.parametrize("after", [0.1, 2.1, 4.1, 6.1, 6.6, 7.1, 7.3, 7.6, 7.9, 8.2])
def test_a_reboot_before_the_approval_is_seen_before_it(tmp_path, after):
    """Its service runs again, whatever was done: nothing is approved until that is done once more, or it is not approved (or Lone fails)."""
    lone = Lone(tmp_path)
    lone.reboots = lone.shown + after
    lone.until(lambda: lone.is_over or lone.at > 300.0)
    assert bool(lone.approved) != bool(lone.record.problems) and lone.running and lone.boots > 1


@pytest.mark.parametrize("after", [0.1, 2.1, 4.1, 6.1, 6.6, 7.1, 7.6, 8.2])
def test_a_machine_that_a_person_puts_back_is_not_approved(tmp_path, after):
    lone = Lone(tmp_path)
    lone.put_back = lone.shown + after
    lone.until(lambda: lone.at > lone.shown + 200.0 or lone.is_over)
    assert lone.approved is None or lone.approved < lone.put_back
