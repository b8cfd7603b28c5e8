# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An event is approved only when all that was done to its machines was looked at a moment ago, and stands."""

from __future__ import annotations

import pytest

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._fleet.runs import (
    Run,
    event,
    rules,
)

STANDS = {"stands": "stands", "unseen": "", "back": []}
UNSEEN = "step 1 (lb) could not be looked at: lb1 did not answer"
UNKNOWN = {"stands": "unknown", "unseen": UNSEEN, "back": []}
BACK = {"stands": "stands", "unseen": "", "back": ["step 1 (nginx): service nginx runs again"]}


@pytest.fixture
def run():
    """Both machines of an event are prepared one after the other."""
    run = Run("web1", "web2", "web3")
    for host in ("web1", "web2"):
        run[host].stands = STANDS
    run["web2"].seconds = 40.0
    run.tick()
    run.show(event("A", ["vm1", "vm2"]))
    run.until(lambda: run.prepared("web1"))
    return run


def test_who_was_ready_long_before_the_others_is_looked_at_once_more_before_the_approval(run):
    run.until(lambda: run.prepared("web2") and run.record.hosts["web2"].second_look.found == "stands")
    since = run.at
    assert not run.approvals()
    run.until(run.approvals, seconds=0.5)
    assert run.goes("web1", since) == ["prepared"]
    assert run.at - since < 3.0


def test_what_can_not_be_looked_at_is_not_approved_and_that_is_said(run):
    run["web1"].stands = UNKNOWN
    run.until(lambda: run.prepared("web2"))
    run.tick(10, seconds=1.0)
    assert not run.approvals()
    (reason,) = run.reasons()
    assert reason["words"] == f"whether web1 is still out of service is not known: {UNSEEN}"
    run["web1"].stands = STANDS
    since = run.at
    run.until(run.approvals, seconds=0.5)
    assert run.at - since < 6.0


def test_what_somebody_put_back_is_said_each_time(run):
    run["web1"].stands = BACK
    run.until(lambda: "IN SERVICE" in run.timeline)
    run["web1"].stands = STANDS
    run.until(run.sent)
    (line,) = [line for line in run.timeline.splitlines() if "IN SERVICE" in line]
    assert "web1, step 1 (nginx): service nginx runs again. It is done again" in line


def test_while_its_event_waits_for_a_person_a_machine_is_looked_at_once_a_minute():
    run = Run("web1", "web2", policy=rules("hold"))
    run["web1"].stands = STANDS
    run.tick()
    run.show(event("A", ["vm1"], not_before=3000.0))
    run.until(lambda: run.prepared("web1"))
    since = run.at
    while run.at < since + 600:
        run.tick()
    assert 9 <= len(run.goes("web1", since)) <= 11
    assert not run.approvals()


def test_of_a_machine_without_anything_to_look_at_nothing_is_asked():
    run = Run("web1", "web2", policy=rules("hold"))
    run.tick()
    run.show(event("A", ["vm1"], not_before=3000.0))
    run.until(lambda: run.prepared("web1"))
    run.tick(5)
    since = run.at
    run.tick(50)
    assert run.goes("web1", since) == []
