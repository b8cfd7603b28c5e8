# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole runs, as they should go."""

from __future__ import annotations

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.result import plan_lines
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._fleet.runs import (
    Run,
    event,
    started,
)


def test_an_event_from_its_first_sight_to_the_end():
    run = Run()
    run.tick(2)
    assert run.record.todo.idle
    reboot = event("A", ["vm1"], not_before=2000)
    run.show(reboot)
    run.until(lambda: run.sent("A"))
    assert run.approvals() == ["web2"]
    assert run["web1"].mark["phase"] == "prepared"
    run.show(started(reboot))
    run["web1"].down = "no route to host"
    run.until(lambda: run.event().started is not None)
    run.tick(10)
    run.show()
    run["web1"].down, run["web1"].boot = "", "boot-2"
    run.to_end()
    assert run.problems == []
    assert run.marked() == []
    assert run.result["rounds"] == 1
    assert run.event().tracked.outcome == "completed"
    assert run.event().recovered["web1"].rebooted is True
    assert "approved   by web2" in run.timeline


def test_what_the_approvers_look_shows_comes_after_its_approval():
    run = Run()
    reboot = event("A", ["vm1"], not_before=2000)
    run.show(reboot)
    approve = run["web2"].approve

    def approve_and_start(request, call, at):
        answer = approve(request, call, at)
        run.show(started(reboot))
        return dict(answer, look=run["web2"].document(at))

    run["web2"].approve = approve_and_start
    run.until(lambda: run.sent("A"))
    words = [line.split()[1] for line in run.result["timeline"][1:]]
    assert words[-2:] == ["approved", "started"]


def test_without_an_event_it_waits_and_ends():
    run = Run(wait_timeout=1000.0).is_proven().to_end()
    assert run.problems == []
    assert 1000 <= run.at < 1010
    assert run.result["timeline"] == ["No event was shown."]
    looks = [host for host in run.machines if len(run[host].asked) > 15]
    assert looks == []


def test_a_check_asks_once_and_changes_nothing():
    run = Run(check=True)
    run.show(event("A", ["vm1"]))
    run.to_end()
    assert run.record.ticks == 1
    assert run.marked() == [] and run.approvals() == []
    assert "prepare, then approve" in plan_lines(run.record)[0]
