# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""VMs that are stopped, and what Azure does when none of a scope runs (S4.16)."""

import pytest


def stop(emulator, *names):
    for name in names:
        emulator.control("POST", f"/vms/{name}/stop")


def causes(emulator):
    return [(entry["kind"], entry.get("by") or entry.get("cause")) for entry in emulator.journal("approved", "started")]


APPROVED = [("approved", "all_instances_down"), ("started", "approved")]


def test_an_event_is_approved_when_all_instances_are_down(emulator):
    stop(emulator, "web1", "WEB2")
    emulator.inject("Reboot")
    assert emulator.statuses() == ["Started"]
    assert causes(emulator) == APPROVED


def test_one_that_is_shown_already_is_approved_when_the_last_one_goes_down(emulator):
    emulator.inject("Reboot")
    stop(emulator, "web1")
    assert emulator.statuses() == ["Scheduled"]
    stop(emulator, "web2")
    assert emulator.statuses() == ["Started"]


def test_while_one_runs_nobody_approves(emulator):
    stop(emulator, "web1", "web2", "lone")
    emulator.control("POST", "/vms/web2/start")
    emulator.inject("Reboot")
    assert emulator.statuses() == ["Scheduled"]


def test_other_tenants_of_the_host_are_waited_for_all_the_same(emulator):
    stop(emulator, "web1", "web2")
    emulator.inject("Reboot", co_tenant_delay=60)
    assert emulator.statuses() == ["Scheduled"]
    emulator.advance(60)
    assert emulator.statuses() == ["Started"]


def test_a_scope_may_be_set_not_to(start):
    emulator = start(scopes={"web": {"approve_when_all_down": False}})
    stop(emulator, "web1", "web2")
    emulator.inject("Reboot")
    assert emulator.statuses() == ["Scheduled"]


def test_a_scenario_may_begin_with_stopped_vms_and_a_reset_goes_back_to_that(start):
    emulator = start(
        vms=[{"name": "web1", "scope": "web", "running": False}, {"name": "web2", "scope": "web", "running": False}],
        events=[{"type": "Reboot", "resources": ["web1"]}],
    )
    assert causes(emulator) == APPROVED
    emulator.control("POST", "/vms/web1/start")
    emulator.control("POST", "/reset")
    assert [vm["running"] for vm in emulator.control("GET", "/vms")["vms"]] == [False, False]


def test_the_journal_says_so_once(emulator):
    stop(emulator, "web1", "web1")
    emulator.control("POST", "/vms/web1/start")
    assert [(entry["vm"], entry["scope"], entry["running"]) for entry in emulator.journal("vm")] == [
        ("web1", "web", False),
        ("web1", "web", True),
    ]
    assert emulator.control("GET", "/vms/web1")["running"] is True


@pytest.mark.parametrize("path, status", [("/vms/nobody/stop", 404), ("/vms/web1/pause", 404)])
def test_what_is_not_there(emulator, path, status):
    assert "error" in emulator.control("POST", path, status=status)


def test_a_body_says_nothing(emulator):
    assert "now: unknown key" in emulator.control("POST", "/vms/web1/stop", {"now": True}, status=400)["error"]
