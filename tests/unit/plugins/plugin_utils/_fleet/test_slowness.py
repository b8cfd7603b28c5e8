# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A controller that is too slow for its machines says so, once; one that is not does not."""

from __future__ import annotations

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._fleet.runs import (
    Run,
    event,
    rules,
)


def slow(run):
    return [one.text for one in run.record.happenings if one.what == "slow"]


def watching(run):
    """Web1 is prepared for an event that nobody approves: all that the others are asked is to look."""
    run.tick()
    run.show(event("A", ["vm1"], not_before=1000.0))
    return run.until(lambda: run.prepared("web1"))


def prepares(*hosts):
    return Run(*hosts, policy=rules("prepare"))


def all_take(run, seconds):
    for machine in run.machines.values():
        machine.took = seconds


def test_calls_that_take_much_longer_than_before_are_said_once():
    run = watching(prepares("web1", "web2"))
    run.tick(10)
    assert slow(run) == [] and run.record.hosts["web2"].quickest == 0.5
    all_take(run, 6.0)
    run.tick(40)
    (words,) = slow(run)
    assert "took 6.0 s, and 0.5 s before: this controller is busy" in words
    assert any(words in line for line in run.result["timeline"])


def test_machines_that_are_slow_from_the_first_call_on_say_nothing_of_the_controller():
    run = prepares("web1", "web2")
    all_take(run, 6.0)
    watching(run).tick(40)
    assert slow(run) == []


def test_one_slow_call_among_quick_ones_is_none():
    run = watching(prepares("web1", "web2", "web3"))
    run["web2"].took = 6.0
    run.tick(60)
    assert slow(run) == []


def seen_after(run, seconds, left):
    """An event that is shown right after a poll, and first seen so many seconds later with so many of its notice left."""
    run.tick()
    at = run.at
    for machine in run.machines.values():
        machine.took = seconds
    run.show(event("A", ["vm1"], not_before=at + seconds + left))
    run.until(lambda: "A" in run.record.events)
    return slow(run)


def test_an_event_of_which_most_of_the_notice_had_gone_by_is_named():
    (words,) = seen_after(Run("web1", "web2"), 60.0, 30.0)
    assert (
        words.startswith("Reboot A was first seen") and "of its notice left: this controller or its machines" in words
    )


def test_one_that_is_seen_in_time_is_not():
    assert seen_after(Run("web1", "web2"), 0.5, 30.0) == []


def test_one_that_was_there_before_the_run_is_not():
    run = Run("web1", "web2")
    run.show(event("A", ["vm1"], not_before=10.0))
    run.tick()
    assert "A" in run.record.events and slow(run) == []
