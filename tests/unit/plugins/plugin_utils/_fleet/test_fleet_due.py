# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""By when machines are prepared: also what is overdue, what takes them away, and what names no time."""

from __future__ import annotations

import pytest

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._fleet.runs import (
    NO_ROUTE,
    Machine,
    Run,
    event,
    mark,
    rules,
    started,
)


def shown(one, *machines, **options):
    run = Run(*(machines or ("web1", "web2")), **options)
    run.tick()
    run.show(one)
    return run


# ---- overdue ----


def test_what_is_overdue_when_it_is_first_seen_is_prepared_for_and_not_approved():
    run = shown(event(not_before=-100.0))
    run.until(lambda: run.prepared("web1"))
    (request,) = [request for _at, request in run["web1"].asked if request["do"] == "go"][:1]
    assert request["left"] >= 30, "the limits of its steps"
    run.tick(10)
    assert not run.sent()
    run.show(started(event()))
    run.until(lambda: run.event().started is not None)
    run.show()
    run.to_end()
    assert run.marked() == [] and "UNPREPARED" not in run.timeline


def test_nor_is_what_was_another_run_s_until_its_time_had_come_left_alone():
    run = Run("web1", "web2")
    run["web1"].mark = mark("r0", ["OTHER"], kind="drain")
    run.tick()
    run.show(event(not_before=run.at + 60))
    run.tick(25)
    assert run.at > 80 and run.goes("web1") == []
    run["web1"].mark = None
    run.until(lambda: run.prepared("web1"))
    assert not run.sent()


def test_what_was_begun_in_time_has_no_more_time_than_that():
    run = Run("web1", "web2")
    run["web1"].seconds = 300.0
    run.tick()
    run.show(event(not_before=run.at + 40))
    run.until(lambda: run["web1"].mark is not None)
    run.until(lambda: run.at > 60)
    assert {request["left"] for at, request in run["web1"].asked if request["do"] == "go" and at > 50} == {0.0}
    run.show(started(event()))
    run.until(lambda: run.prepared("web1"))
    run.tick()
    said = [line.split()[1:] for line in run.timeline.splitlines() if " web1 " in line]
    assert [words[0] for words in said].count("UNPREPARED") == 1 and ["too", "late"] in [words[:2] for words in said]
    assert "prepared" not in [words[0] for words in said]


# ---- what takes its machines away ----


@pytest.mark.parametrize("kind", ["Preempt", "Terminate"])
def test_what_has_started_and_takes_the_machine_away_is_prepared_for(kind):
    run = shown(started(event(type=kind)))
    run.until(lambda: run.prepared("web1"))
    assert run.approvals() == []
    run["web1"].down = NO_ROUTE
    run.show()
    run.to_end()
    assert run.problems == []


def test_what_comes_of_that_tells_whether_it_met_the_machine_prepared():
    run = shown(started(event(type="Preempt")))
    run["web1"].fails = "nginx hangs"
    run.tick()
    run.until(lambda: run.event().failed)
    run.tick()
    assert any("reached web1 unprepared" in problem for problem in run.problems)
    tries = len(run.goes("web1"))
    run.tick(10)
    assert "prepared" not in run.goes("web1")[tries:], "not again"


def test_what_does_not_take_it_away_is_too_late_once_it_has_started():
    run = shown(started(event()))
    run.tick(5)
    assert run.goes("web1") == []
    assert any("reached web1 unprepared" in problem for problem in run.problems)


# ---- which comes first ----


def test_what_names_no_time_comes_last():
    run = Run("web1", "web2", "web3", "web4", max_unavailable="1")
    run.tick()
    run.show(event("A", ["vm1"], not_before=None), event("B", ["vm2"], not_before=run.at + 800))
    run.tick(2)
    assert (run.event("A").turn.state, run.event("B").turn.state) == ("waits", "turn")
    run.until(lambda: run.event("A").turn.state == "due")
    assert run.at < 600, "it may come ten minutes after it was shown"


def test_advice_takes_no_turn_because_its_time_comes():
    run = Run("web1", "web2", max_unavailable="1", policy=rules("prepare"))
    run["web2"].mark = mark("d1", [], kind="drain")
    run.tick()
    run.show(event("A", ["vm1"], type="SpotRebalanceRecommendation", not_before=run.at + 60))
    run.tick(20)
    assert run.goes("web1") == [] and run.event("A").turn.state == "waits"


# ---- too late ----


def test_who_became_prepared_within_the_margin_is_not_approved_whoever_prepared_it():
    watched = Machine("web1")
    watched.watcher = {"mode": "manage", "version": "1", "endpoint": "", "alive": True, "lacks": [], "prepares": True}
    run = Run(watched, "web2")
    run.tick()
    run.show(event(not_before=200.0))
    watched.mark = mark("watcher", ["A"], phase="preparing", kind="watcher")
    run.until(lambda: run.at > 160)
    watched.mark["phase"] = "prepared"
    run.tick(4)
    assert run.at < 200 and not run.sent()
    assert "web1, which was prepared too late" in run.event().against.hold


def test_who_was_prepared_for_another_event_before_is_not_late_for_one_that_joins():
    run = Run("web1", "web2", policy=rules("prepare_and_approve"))
    run.tick()
    run.show(event("A"))
    run.until(lambda: run.prepared("web1"))
    run.show(event("A"), event("B", not_before=run.at + 20))
    run.until(lambda: run.sent("B"))


# ---- capacity ----


@pytest.mark.parametrize("settle", [0.0, 120.0])
def test_the_next_of_a_group_is_taken_when_the_one_before_has_settled(settle):
    run = Run("web1", "web2", max_unavailable="1", settle=settle)
    one, other = event("A", ["vm1"], not_before=2000.0), event("B", ["vm2"], not_before=2500.0)
    run.tick()
    run.show(one, other)
    run.until(run.sent)
    run.show(started(one), other)
    run.tick(3)
    run.show(other)
    run.until(lambda: run.event("A").gone is not None and run["web1"].mark is None)
    back = run.at
    run.tick()
    assert ("web1 was recovered, and settles until" in run.event("B").turn.words) is bool(settle)
    run.until(lambda: run["web2"].mark is not None)
    assert settle - 5 < run.at - back < settle + 25


def test_where_machines_are_is_asked_for_only_where_it_counts():
    for most in (0, 1):
        run = Run("web1", "web2", "web3", max_domains=most)
        for host, zone in (("web1", "1"), ("web2", "1"), ("web3", "2")):
            hello = run[host].hello
            run[host].hello = lambda *args, hello=hello, zone=zone: dict(hello(*args), zone=zone)
        run.tick()
        asked = [request for _at, request in run["web1"].asked if request["do"] == "hello"]
        assert asked == [{"do": "hello", "domain": True} if most else {"do": "hello"}]
        assert run.record.hosts["web3"].who.domain == "zone 2"
        run.show(event("A", ["vm1"]), event("B", ["vm2"]), event("C", ["vm3"]))
        run.until(lambda run=run: run.prepared("web1") and run.prepared("web2"))
        run.tick(5)
        assert run.prepared("web3") is not bool(most)
