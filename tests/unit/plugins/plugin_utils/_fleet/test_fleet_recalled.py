# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Events that only the marks of machines tell of: over after two polls, as any, and nothing is done about one before it is shown."""

from __future__ import annotations

import pytest

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._fleet.runs import (
    NO_ROUTE,
    Machine,
    Run,
    event,
    mark,
    started,
)


def left_by(run_name, *hosts, **more):
    run = Run(*(hosts or ("web1", "web2")), **more)
    for machine in run.machines.values():
        machine.mark = mark(run_name, ["A"], until=0.0)
    return run


@pytest.mark.parametrize("run_name", ["r0", "r1"])
def test_two_polls_show_that_it_is_over_and_nobody_knows_how_it_ended(run_name):
    """Of a dead run's mark, and of one that this run has left before it was restarted."""
    run = left_by(run_name, "web1")
    run.tick(seconds=5.5)
    assert run.event().gone is None and run.goes("web1") == []
    run.until(lambda: run.event().gone is not None)
    assert "prepared" not in run.goes("web1")
    run.to_end()
    assert run["web1"].mark is None and run.problems == []
    (over,) = run.result["events"]
    assert (over["outcome"], over["affected"], over["action"]) == ("unknown", ["web1"], "")
    assert "only a mark tells of it so far" in run.timeline and "shown" not in run.timeline


def test_what_another_machine_is_shown_is_not_over():
    run = left_by("r0", "web1", "web2")
    run.show(started(event("A", ["vm1", "vm2"])), to=["web2"])
    run.tick(10)
    assert run.event().gone is None and run.marked() == ["web1", "web2"]
    run.show()
    run.to_end()
    assert run.event().tracked.outcome == "completed" and run.marked() == []


def test_once_it_is_shown_it_is_an_event_as_any():
    run = left_by("r0", "web1")
    run["web1"].mark["phase"] = "preparing"
    run.tick()
    run.show(event("A", ["vm1"]))
    run.until(lambda: run.sent("A"))
    assert run.result["events"][0]["notice"] == pytest.approx(890, abs=10)
    assert "shown" in run.timeline and run.event().event.event_type == "Reboot"


def test_nothing_is_begun_approved_or_joined_by_it():
    run = left_by("r0", Machine("web1", declared=False), Machine("web2", declared=False))
    run.tick(2)
    assert [machine.scope for machine in run.record.hosts.values()] == ["web1", "web2"]
    run = Run("web1")
    run["web1"].mark, run["web1"].blind = mark("r0", ["A"], until=0.0), "its service is gone"
    run.tick(5)
    assert run.goes("web1") == [] and run.event().turn.state == "" and run.event().decided.actions == {}


def test_who_can_not_poll_is_not_brought_back_on_trust_and_not_waited_for_without_an_end():
    run = left_by("r0", "web1", recover_timeout=200.0, wait_timeout=0.0)
    run["web1"].blind = "its service is gone"
    run.to_end()
    assert 200 <= run.at < 300 and run["web1"].mark is not None
    assert any("nobody has seen whether its event is over" in problem for problem in run.problems)


def test_nor_is_who_never_answers_again():
    run = left_by("r0", "web1", recover_timeout=200.0, wait_timeout=0.0)
    run["web1"].blind = "its service is slow"
    run.tick()
    run["web1"].down = NO_ROUTE
    run.to_end()
    assert 200 <= run.at < 300


def test_in_check_mode_nobody_asks_for_it():
    run = Run("web1", check=True)
    run["web1"].mark = mark("r0", ["A"], until=0.0)
    run.to_end()
    assert run.record.events == {}


def test_an_entry_that_can_not_be_read_may_be_it():
    run = left_by("r0", "web1")
    look = run["web1"].look
    damaged = [{"position": 1, "id": "", "reason": "it has no EventId", "raw": "{}"}]
    run["web1"].look = lambda *args: dict(look(*args), unusable_events=damaged)
    run.tick(10)
    assert run.event().gone is None and run.goes("web1") == []
    run["web1"].look = look
    run.until(lambda: run.event().gone is not None)
    run["web1"].look = lambda *args: dict(look(*args), unusable_events=damaged)
    run.tick(3)
    assert run["web1"].mark is not None, "its own last document may hold it"


def test_the_last_word_of_who_is_lost_for_good_keeps_nobody_else_out():
    """Who has the mark shows whether its event is gone, as it would to this run restarted."""
    run = Run("web1", "web2", policy=[{"do": "prepare"}], event_timeout=3600.0)
    run.show(event("A", ["vm1"], notice=300.0))
    run.until(lambda: run.marked() == ["web1"])
    run["web2"].down = NO_ROUTE
    run.show()
    run.until(lambda: run.event().gone is not None)
    assert run.record.hosts["web2"].lost
    run.to_end()
    assert run["web1"].mark is None and run.event().tracked.outcome == "cancelled"


def test_a_lease_that_was_over_when_it_was_renewed_does_not_show_that_its_run_lives():
    """It may have been the last word of a run that is dead: a write that had hung."""
    run = left_by("r0", "web1", rounds=1)
    run.tick()
    lease = run["web1"].mark["lease"]
    late = run.at + 100.0
    run["web1"].mark = dict(run["web1"].mark, lease=dict(lease, uptime=late, until=late + 120.0))
    run.until(lambda: run.record.hosts["web1"].mark["lease"]["until"] == late + 120.0)
    assert run.record.hosts["web1"].renewals == 0
    run.to_end()
    assert run["web1"].mark is None
