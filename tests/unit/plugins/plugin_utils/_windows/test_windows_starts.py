# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a lone Windows machine's maintenance costs in starts of PowerShell, in virtual time; docs/performance.md has the numbers."""

import pytest

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._windows.lone import Lone

PREPARED = ["trust", "read", "read", "read", "read", "folder", "boot"]


@pytest.fixture
def lone(tmp_path):
    return Lone(tmp_path)


def test_a_maintenance_with_a_step_of_a_second(lone):
    lone.until(lambda: lone.is_over)
    assert (lone.problems, lone.running, lone.mark()) == ([], True, None)
    assert lone.to_approval <= 15.0
    assert len(lone.starts) <= 16 and len(lone.modules) <= 7


def test_what_it_costs_until_the_approval(lone):
    """The initial state, the mark with the step begun, the step begun and looked at; its end, that it is prepared and the approval in one."""
    lone.until(lambda: lone.approved)
    since_shown = [what for at, what in sorted([*lone.starts, *lone.modules]) if at > lone.shown]
    assert since_shown == [
        "win_service_info",
        [*PREPARED, "edit", "GET", "trust"],
        "win_service",
        "async_status",
        [*PREPARED, "GET", "edit", "POST", "GET"],
    ]


def test_who_waits_starts_one_powershell_for_each_wait(lone):
    lone.until(lambda: lone.at > 50.0)
    assert lone.starts[1][1] == [*PREPARED, "GET"] and len(lone.starts) == 2


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
