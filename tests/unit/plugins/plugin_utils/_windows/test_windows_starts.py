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
    assert lone.to_approval <= 12.0
    up = [at for at in lone.starts if not lone.approved + DOWN_AFTER <= at < lone.approved + DOWN_AFTER + DOWN_FOR]
    assert len(up) == 2 and len(lone.modules) <= 7


@pytest.mark.parametrize("start, most", [(1.0, 10.0), (4.0, 26.0), (8.0, 50.0)])
def test_slower_starts_cost_no_more_than_their_time(tmp_path, start, most):
    lone = Lone(tmp_path, start=start)
    lone.until(lambda: lone.is_over)
    assert lone.problems == [] and lone.to_approval <= most


def test_a_step_that_outlasts_its_tick_is_looked_at_again(tmp_path):
    lone = Lone(tmp_path, takes=9.0)
    lone.until(lambda: lone.is_over)
    assert lone.problems == [] and lone.to_approval <= 25.0


@pytest.mark.parametrize("after", [0.1, 2.1, 4.1, 6.1, 8.1, 9.5, 10.5, 11.0, 11.5, 12.0])
def test_a_reboot_before_the_approval_is_seen_before_it(tmp_path, after):
    """Its service runs again, whatever was done: nothing is approved until that is done once more, or it is not approved (or Lone fails)."""
    lone = Lone(tmp_path)
    lone.reboots = lone.shown + after
    lone.until(lambda: lone.is_over or lone.at > 300.0)
    assert bool(lone.approved) != bool(lone.record["problems"]) and lone.running and lone.boots > 1


@pytest.mark.parametrize("after", [0.1, 2.1, 4.1, 6.1, 8.1, 9.5, 10.5, 11.5])
def test_a_machine_that_a_person_puts_back_is_not_approved(tmp_path, after):
    lone = Lone(tmp_path)
    lone.put_back = lone.shown + after
    lone.until(lambda: lone.at > lone.shown + 200.0 or lone.is_over)
    assert lone.approved is None or lone.approved < lone.put_back
