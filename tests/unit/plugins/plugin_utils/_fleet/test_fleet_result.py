# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""maintain_result: it is as docs/maintain_result.schema.json says, and says when, how long, and what was tried."""

from __future__ import annotations

import json

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.progress import awaited
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.result import shown
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._fleet.runs import (
    Machine,
    Run,
    event,
    rules,
    started,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.schemas import RESULT, wrong


def step(key, state, seconds, note=""):
    return {"key": key, "state": state, "seconds": seconds, "note": note}


class WithSteps(Machine):
    """A machine that says how long its steps took, as the machine program does."""

    def _state(self, state, why=""):
        states = {"preparing": "begun", "prepared": "done", "recovering": "taking_back", "recovered": "taken_back"}
        steps = [step("service nginx", states.get(state, "failed"), 4.21)]
        if self.mark:
            self.mark["steps"] = steps
        return dict(super()._state(state, why), steps=steps)


def whole():
    run = Run(WithSteps("web1"), "web2", "web3")
    run.tick()
    reboot = event("A", ["vm1"], not_before=2000)
    run.show(reboot)
    run["web2"].lost_approvals = 1
    run.until(run.sent)
    run.show(started(reboot))
    run.until(lambda: run.event().started is not None)
    run.show()
    return run.to_end()


def test_an_approval_whose_answer_was_lost_is_in_the_timeline():
    run = Run("web1", wait_timeout=0.0)
    run.show(event("A", ["vm1"]))
    run["web1"].lost_approvals = 1
    run.tick()
    run.until(lambda: run.event().approval.maybe)
    run.show()  # its connection breaks, and when it answers again all is over
    run.to_end()
    assert "approved" not in run.timeline
    line = next(line for line in run.timeline.splitlines() if "  tried  " in line)
    assert line.endswith(
        "to approve it, by web1: the approval may have been sent, and its answer was lost: the connection was cut"
    )


def test_an_approver_that_can_not_be_reached_has_sent_nothing():
    """Nobody must count with an approval that nobody can have sent."""
    run = Run("web1")
    run.show(event("A", ["vm1"]))
    run["web1"].unsent_approvals = 1
    run.tick()
    run.until(lambda: run.event().approval.attempts)
    assert run.event().approval.maybe is False
    run.until(lambda: run.event().approval.sent)
    assert "by web1: the approval was not sent: connection refused" in run.timeline


def test_an_event_whose_approval_was_not_answered_is_not_called_unapproved():
    run = Run("web1")
    run.tick()
    run.show(event("A", ["vm1"]))
    run["web1"].lost_approvals = 1
    run.tick()
    run.until(lambda: run.event().approval.maybe)
    run["web1"].down = "no route to host"
    run.until(lambda: run.event().against.hold)
    said = [*run.problems, *awaited(run.record)]
    assert said and all("may have been approved (an approval was sent" in one for one in said), said


def test_an_event_that_was_approved_is_not_called_unapproved_when_its_machine_is_lost():
    run = Run("web1")
    run.tick()
    run.show(event("A", ["vm1"]))
    run.until(run.sent)
    run["web1"].down = "no route to host"
    run.until(lambda: run.event().against.hold)
    assert run.problems == []


def failed():
    run = Run(WithSteps("web1"), "web2")
    run["web1"].fails = "service nginx does not stop"
    run.tick()
    run.show(event("A", ["vm1"], not_before=300))
    return run.to_end()


def unapproved():
    run = Run()
    for machine in run.machines.values():
        machine.service_refuses = "the service answered 410"
    run.tick()
    run.show(event("A", ["vm1"], not_before=300))
    return run.until(lambda: run.at > 200)


def unconfirmed():
    run = Run(policy=rules("hold"))
    run.tick()
    run.show(event("A", ["vm1"], not_before=900))
    run.until(lambda: run.record.events)
    return run.tick(3)


def unknown():
    run = Run()
    run.tick()
    run.show(event("A", ["vm9"]), event("B", ["vm1"], type="", not_before=None))
    return run.tick(3)


@pytest.mark.parametrize("run", [Run, whole, failed, unapproved, unconfirmed, unknown])
def test_it_is_json(run):
    """And as the schema says, which each result that a test asks for is compared with."""
    result = run().result
    assert json.loads(json.dumps(result)) == result


def test_the_check_finds_what_is_wrong():
    data = {**whole().result, "preflight": [], "notifications": []}
    entry = data["events"][0]
    entry["shown"], entry["outcome"], entry["approval"]["tries"] = 12.5, "over", True
    del entry["prepared"]["web1"]["steps"]
    data["more"] = 1
    assert [words.split()[0] for words in wrong(data, RESULT)] == [
        "all.events[0].outcome",
        "all.events[0].shown",
        "all.events[0].prepared.web1",
        "all.events[0].approval.tries",
        "all",
    ]


def test_times_are_of_the_day():
    run = whole()
    (entry,) = run.result["events"]
    assert (run.result["began"], run.result["run"]) == ("1970-01-01T00:00:00Z", "r1")
    assert run.result["ended"] == f"1970-01-01T00:0{int(run.at) // 60}:{int(run.at) % 60:02}Z"
    assert run.result["began"] < entry["shown"] <= entry["started"] < entry["gone"] <= run.result["ended"]
    assert (
        entry["shown"] < entry["prepared"]["web1"]["at"] <= entry["approval"]["at"] < entry["recovered"]["web1"]["at"]
    )


def test_why_it_is_not_approved():
    (entry,) = unconfirmed().result["events"]
    (confirmation,) = [one for one in entry["reasons"] if one["reason"] == "confirmation"]
    assert "azure_maintenance.approve -e approve_event=A" in confirmation["ends_by"]
    (entry,) = whole().result["events"]
    assert entry["reasons"] == []


def test_how_long_each_step_took():
    (entry,) = whole().result["events"]
    assert entry["prepared"]["web1"]["steps"] == {"service nginx": {"state": "done", "seconds": 4.2, "note": ""}}
    assert entry["recovered"]["web1"]["steps"] == {"service nginx": {"state": "taken_back", "seconds": 4.2, "note": ""}}


def test_a_step_that_failed_is_named():
    (entry,) = failed().result["events"]
    assert entry["prepared"]["web1"]["ok"] is False
    assert entry["prepared"]["web1"]["steps"]["service nginx"]["state"] == "failed"


def test_what_was_tried_to_approve_it():
    (entry,) = whole().result["events"]
    lost, accepted = entry["approval"]["attempts"]
    assert (lost["by"], lost["times"]) == ("web2", 1)
    assert lost["answer"] == "the approval may have been sent, and its answer was lost: the connection was cut"
    assert (accepted["by"], accepted["answer"]) == ("web3", "accepted") and accepted["at"] == entry["approval"]["at"]


def test_what_was_tried_in_vain_is_counted():
    (entry,) = unapproved().result["events"]
    attempts = entry["approval"]["attempts"]
    assert sum(one["times"] for one in attempts) == entry["approval"]["tries"] > len(attempts)
    assert {one["answer"] for one in attempts} == {"the service answered 410"}
    assert all(one["at"] <= one["until"] for one in attempts)


# ---- as it is shown ----


def test_the_plan_names_each_event_with_its_machines():
    run = Run("web1", "web2").tick()
    run.show(event("A", ["vm1"]))
    assert shown(run.tick().record, "plan")[0].startswith(
        "Reboot A (Platform) affects vm1 (web1): prepare, then approve"
    )


def test_the_end_of_a_run_that_was_not_over_is_its_timeline_and_what_is_left_for_a_person():
    *timeline, title, problem = shown(Run("web1").record, "end")
    assert timeline == ["No event was shown."] and title == "Left for a person"
    assert problem.strip() == "The run ended although it was not over. Run it again: it goes on by the marks."
