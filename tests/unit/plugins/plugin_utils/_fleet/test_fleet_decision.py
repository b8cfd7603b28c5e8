# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run hands to the one decision that it shares with the watcher, and what comes of that."""

from __future__ import annotations

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._core.decision import AGAIN
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._fleet.runs import (
    Run,
    event,
    rules,
    started,
)

HOUR = 3600.0


def codes(run, key="A"):
    return [reason.code for reason in run.event(key).against.reasons]


# ---- a person's word where the policy leaves the approval to Azure ----


def only_prepares(**options):
    run = Run(policy=rules("prepare"), prepare_before=60.0, **options)
    run.tick()
    run.show(event(not_before=2000.0))
    return run.tick(3)


def test_what_the_policy_only_prepares_is_prepared_and_approved_once_a_person_says_so():
    run = only_prepares()
    assert (run.event().turn.state, run.marked()) == ("later", [])
    run["web1"].yes = ["A"]
    run.until(run.sent)
    assert run.prepared("web1") and run.at < 700, "long before it has to be prepared"


def test_without_that_it_is_prepared_in_time_and_never_approved():
    run = only_prepares()
    run.until(lambda: run.at > 1990)
    assert run.prepared("web1") and run.approvals() == []


def test_what_a_person_has_confirmed_is_approved_within_its_hours():
    run = Run(policy=[{"do": "prepare", "hours": "01:00-05:00"}])
    run["web1"].yes = ["A"]
    run.tick()
    run.show(event(not_before=2 * HOUR))
    run.until(lambda: run.at > 1000)
    assert run.marked() == [] and codes(run) == ["outside_hours", "not_prepared"]
    assert run.reasons()[0]["ends_by"].startswith("by itself Thu 01:00 UTC")
    run.until(run.sent)
    assert HOUR <= run.at < HOUR + 60


def test_what_is_left_alone_stays_so_whatever_a_person_says():
    run = Run(policy=rules("notify"))
    run["web1"].yes = ["A"]
    run.tick()
    run.show(event())
    run.until(lambda: run.at > 800)
    assert run.approvals() == [] and run.marked() == []


# ---- entries that can't be read ----


@pytest.mark.parametrize("most, waits", [("1", True), ("50%", True), ("100%", False)])
def test_where_a_capacity_is_kept_nothing_is_approved_beside_an_entry_that_can_not_be_read(most, waits):
    run = Run(policy=rules("prepare_and_approve"), max_unavailable=most, prepare_before=60.0)
    run["web2"].unreadable = [{"id": "", "position": 2, "reason": "it has no EventId"}]
    run.tick()
    run.show(event(not_before=2 * HOUR))
    run.tick(20)
    assert (run.approvals() == []) is waits and (run.marked() == []) is waits
    if waits:
        assert codes(run)[0] == "unreadable_entry" and "web2" in run.event().against.hold
        run["web2"].unreadable = []
        run.until(run.sent)
        assert run.at < HOUR, "its document is looked at again and again"


# ---- approvals that Azure has accepted ----


def test_what_azure_has_accepted_is_sent_again_after_a_minute_while_it_is_still_scheduled():
    run = Run()
    run.tick()
    run.show(event(not_before=2000.0))
    run.until(run.sent)
    sent = run.event().approval.at
    run.until(lambda: run.at > sent + AGAIN - 5)
    assert len(run.approvals()) == 1
    run.until(lambda: len(run.approvals()) == 2)
    assert AGAIN <= run.at - sent < AGAIN + 15
    assert "again: it was still Scheduled" in run.timeline
    run.show(started(event()))
    run.until(lambda: run.at > sent + 4 * AGAIN)
    assert len(run.approvals()) == 2, "a document confirms it"


# ---- a preparation that could not begin ----


def test_a_preparation_that_could_not_begin_is_tried_again():
    run = Run()
    run["web1"].unknown = "Could not determine the initial state of step 1: busy"
    run.tick()
    run.show(event())
    run.until(lambda: run.goes("web1"))
    run.tick(12)
    assert 1 < len(run.goes("web1")) < 12, "not in every tick"
    assert "not_begun" in codes(run) and run.event().failed == {}
    (said,) = [said for said in run.problems if "so far" in said]
    assert said.startswith("web1 could not be prepared so far: Could not determine the initial state of step 1")
    assert run.timeline.count("NOT STARTED") == 1
    run["web1"].unknown = ""
    run.until(run.sent)
    assert not [said for said in run.problems if "so far" in said]


def test_one_that_never_could_begin_is_reached_in_service_and_that_is_said():
    run = Run()
    run["web1"].unknown = "busy"
    run.tick()
    run.show(event())
    run.until(lambda: run.at > 890)
    run.show(started(event()))
    run.tick(3)
    run.show()
    run.to_end()
    assert run.approvals() == [] and any("web1 could not be prepared (busy)" in said for said in run.problems)


# ---- what was decided stays ----


def test_what_was_decided_by_its_status_stays_so_once_it_has_started():
    run = Run(policy=[{"do": "prepare", "when": {"statuses": ["Scheduled"]}}, {"do": "notify"}], prepare_before=60.0)
    run.tick()
    run.show(event(not_before=2000.0))
    run.tick(2)
    run.show(started(event()))
    run.tick(3)
    run.show()
    run.to_end()
    assert any("reached web1 unprepared" in said for said in run.problems)


def test_what_was_decided_before_its_notice_was_known_stays_so():
    run = Run(policy=[{"do": "notify", "when": {"notice_below": 60}}, {"do": "prepare"}])
    run.tick()
    run.show(event(not_before=None))
    run.tick(2)
    run.show(event(not_before=run.at + 50))
    run.tick(2)
    assert run.event().decided.action == "prepare"


def test_outside_of_its_hours_it_is_prepared_when_its_notice_falls_to_what_the_option_says():
    run = Run(policy=[{"do": "prepare_and_approve", "hours": "05:00-06:00"}], prepare_before=300.0)
    run.tick()
    run.show(event(not_before=1800.0))
    run.until(run.marked)
    assert 1500 <= run.at < 1510
