# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Machines with a watcher of their own: it prepares them and recovers them, the run waits for its mark and approves."""

from __future__ import annotations

import pytest
from runs import Machine, Run, event, mark, rules, started

AZURE = "http://169.254.169.254"


def says(**more):
    return dict({"mode": "manage", "version": "0.2.0", "alive": True, "lacks": []}, **more)


def watched(*hosts, **more):
    """A run in which these hosts have watchers."""
    run = Run()
    for host in hosts:
        run[host].watcher = says(**more)
    return run


def by_watcher(phase="prepared", **more):
    # A watcher does not renew its lease while all is quiet.
    return mark("watcher", ["A"], phase=phase, kind="watcher", until=30.0, **more)


def test_the_run_waits_for_the_watcher_s_mark_and_approves():
    run = watched("web1")
    run.show(event("A", ["vm1", "vm2"]))
    run.until(lambda: run.prepared("web2"))
    run.tick(20)
    assert run.goes("web1") == [] and not run.sent("A")
    run["web1"].mark = by_watcher("preparing")
    run.tick(20)
    assert not run.sent("A")
    run["web1"].mark = by_watcher()
    run.tick(3)
    assert run.sent("A") and run.goes("web1") == []
    assert "prepared   web1" in run.timeline


@pytest.mark.parametrize(
    "given, seen, waits",
    [
        ("http://10.0.0.11:8780/vm/web1", AZURE, False),
        ("http://10.0.0.11:8780/vm/web1", "http://10.0.0.11:8780/vm/web1/", True),
        ("http://10.0.0.11:8780/vm/web1", "", True),  # not known
        ("", "http://10.0.0.11:8780/vm/web1", True),  # Azure's own may be found at another address
        (AZURE, "http://168.63.129.16", True),
    ],
)
def test_in_a_rehearsal_the_run_does_what_the_watcher_does_not_see(given, seen, waits):
    run = Run(Machine("web1", endpoint=given), Machine("web2", endpoint=given))
    run["web1"].watcher = says(endpoint=seen, lacks=["stop the service nginx"])
    run.show(event("A", ["vm1"]))
    run.tick(20)
    assert (run.goes("web1") == []) is waits
    assert bool(run.sent("A")) is not waits


def test_the_run_waits_until_the_watcher_has_brought_it_back():
    run = watched("web1")
    run["web1"].mark = by_watcher()
    run.show(event("A", ["vm1"]))
    run.until(lambda: run.sent("A"))
    run.show(started(event("A", ["vm1"])))
    run.tick(5)
    run.show()
    run.tick(10)
    assert not run.record.finished and run.goes("web1") == []
    run["web1"].mark = None
    run.to_end()
    assert run.problems == [] and "recovered  web1" in run.timeline


def test_a_machine_that_falls_silent_in_its_watcher_s_hands_is_named():
    """An event that nothing is done about explains nothing: its watcher may have failed, and nobody sees whether it was reached."""
    run = watched("web1")
    run["web1"].mark = by_watcher("half")
    run.tick(5)
    run["web1"].down = "it did not answer within 6 s"
    run.until(lambda: run.record.hosts["web1"].in_vain.failures == 1)
    assert run.problems == []
    run.until(lambda: run.record.hosts["web1"].in_vain.failures > 1)
    (said,) = run.problems
    assert said.startswith("web1 has not answered since ") and said.endswith("it did not answer within 6 s")


def prepared_and_started_in_one_tick(said=()):
    """The watcher takes its mark, prepares and approves, and the event starts, between two ticks."""
    run = watched("web1")
    run.show(event("A", ["vm1"]))
    run.tick(2)
    assert not run.event().prepared
    run["web1"].mark = dict(by_watcher(), note={"said": {"A": ["scheduled", *said]}})
    run.show(started(event("A", ["vm1"])))
    run.tick(2)
    return run


def test_a_watcher_that_prepares_and_approves_within_a_tick_was_in_time():
    run = prepared_and_started_in_one_tick()
    assert run.problems == [] and "UNPREPARED" not in run.timeline
    run.show()
    run["web1"].mark = None
    run.to_end()
    assert run.problems == []


def test_but_not_one_that_says_itself_that_it_was_not():
    run = prepared_and_started_in_one_tick(["started_unprepared"])
    assert "reached web1 unprepared" in run.problems[0]


def test_machines_that_their_watchers_have_prepared_may_approve():
    run = Run("web1", "web2")
    run.show(event("A", ["vm1", "vm2"]))
    for host in ("web1", "web2"):
        run[host].watcher, run[host].mark = says(), by_watcher()
    run.until(run.sent, most=5)
    (request,) = [one for host in run.approvals() for _at, one in run[host].asked if one["do"] == "approve"]
    assert request["by_watcher"] and run.goes("web1") == run.goes("web2") == []


@pytest.mark.parametrize("phase, events", [("preparing", ["A"]), ("prepared", ["B"]), ("recovering", ["A"])])
def test_but_not_one_whose_watcher_has_not_prepared_it_for_that_event(phase, events):
    run = Run("web1", "web2")
    run["web1"].watcher, run["web1"].mark = says(), dict(by_watcher(phase), events=events)
    run["web2"].refuses = "it would not"
    run.show(event("A", ["vm2"], not_before=300.0))
    run.until(lambda: run.at > 150)
    assert run["web2"].asked and [one for _at, one in run["web1"].asked if one["do"] == "approve"] == []


def test_that_no_machine_could_approve_is_a_problem_when_it_starts_by_itself():
    run = Run("web1", policy=rules("approve"))
    run["web1"].watcher, run["web1"].mark = says(), dict(by_watcher(), events=["B"])
    run.show(event("A", ["vm1"], not_before=300.0))
    why = "no machine that was shown it can be asked (web1 is marked by its watcher, since 1970-01-01T00:00:00Z)"
    run.tick(2)
    assert f"Reboot A (web1) could not be approved: {why}" in run.problems
    run.until(lambda: run.at > 290)
    run.show(started(event("A", ["vm1"])))
    run["web1"].mark = None
    run.tick(3)
    run.show()
    run.to_end()
    assert run.problems == [f"Reboot A (web1) was not approved by this run, and started: {why}"]


def test_nor_is_it_one_once_one_could():
    run = Run("web1", policy=rules("approve"))
    run["web1"].watcher, run["web1"].mark = says(), dict(by_watcher(), events=["B"])
    run.show(event("A", ["vm1"], not_before=300.0))
    run.tick(5)
    run["web1"].mark = None
    run.until(run.sent)
    run.show(started(event("A", ["vm1"])))
    run.tick(3)
    run.show()
    run.to_end()
    assert run.problems == []


def test_a_watcher_that_sees_the_end_before_the_run_has_not_undone_its_preparation():
    run = watched("web1")
    run["web1"].mark = by_watcher()
    run.show(event("A", ["vm1"]))
    run.until(lambda: run.sent("A"))
    run.show(started(event("A", ["vm1"])))
    run.tick(3)
    run["web1"].mark = None
    run.tick(3)
    run.show()
    run.to_end()
    assert run.problems == [] and "reverted" not in run.timeline
    assert list(run.result["events"][0]["prepared"]) == list(run.result["events"][0]["recovered"]) == ["web1"]


def test_one_that_its_watcher_does_not_bring_back_is_a_problem():
    run = watched("web1")
    run["web1"].mark = by_watcher()
    run.show(event("A", ["vm1"]))
    run.until(lambda: run.sent("A"))
    run.show()
    run.to_end()
    assert run.problems == [
        "web1 still has the mark of its watcher, since 1970-01-01T00:00:00Z: its watcher has not recovered it yet "
        "(azure-maintenance status)."
    ]


def test_a_watcher_that_only_reports_leaves_all_to_the_run():
    run = watched("web1", mode="observe")
    run.show(event("A", ["vm1"]))
    run.until(lambda: run.sent("A"))
    assert "prepared" in run.goes("web1")


def test_a_watcher_that_is_down_and_has_not_begun_leaves_the_machine_to_the_run():
    run = watched("web1", alive=False)
    run.show(event("A", ["vm1"]))
    run.until(lambda: run.sent("A"))
    assert "prepared" in run.goes("web1")


@pytest.mark.parametrize(
    "is_linux, command",
    [(True, "systemctl start azure-maintenance"), (False, "net start azure-maintenance")],
    ids=["Linux", "Windows"],
)
def test_the_mark_of_a_watcher_that_is_down_is_not_taken_over_nor_approved(is_linux, command):
    """A person starts it there: by the command of the machine's system, whatever the controller's is."""
    run = Run(Machine("web1", is_linux=is_linux), "web2")
    run["web1"].watcher, run["web1"].mark = says(alive=False), by_watcher("preparing")
    run.show(event("A", ["vm1"]))
    run.tick(60)
    assert run.goes("web1") == [] and not run.sent("A")
    assert any(f"start it there ({command})" in problem for problem in run.problems), run.problems
    reasons = {one["reason"]: one["ends_by"] for one in run.reasons()}
    assert reasons["owner_down"] == f"run there: {command}"


@pytest.mark.parametrize("phase", ["preparing", "half"])
def test_what_a_watcher_could_not_prepare_is_not_approved(phase):
    run = watched("web1")
    run["web1"].mark = by_watcher(phase)
    run.show(event("A", ["vm1"]))
    run.tick(30)
    assert not run.sent("A")
    assert ("could not be prepared by its watcher" in run.event("A").against.hold) == (phase == "half")


@pytest.mark.parametrize("event_id", ["A", "B"])
def test_a_machine_whose_steps_its_watcher_lacks_is_refused(event_id):
    run = watched("web1", lacks=["stop the service nginx"])
    run["web1"].mark = mark("watcher", [event_id], phase="prepared", kind="watcher")
    run.show(event("A", ["vm1"]))
    run.tick(30)
    assert not run.sent("A") and run.goes("web1") == []
    assert any(
        "it lacks: stop the service nginx" in problem and "deploy_watcher" in problem for problem in run.problems
    )


def test_what_this_run_has_begun_before_there_was_a_watcher_it_ends_itself():
    run = Run()
    run.show(event("A", ["vm1"]))
    run.until(lambda: run["web1"].mark)
    run["web1"].watcher = says()
    run.until(lambda: run.sent("A"))
    run.show()
    run.to_end()
    assert run.marked() == [] and run.problems == []
