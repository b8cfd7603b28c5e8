# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Machines that do not come back, and approvers that do not answer."""

import judge
import pytest
from machines import host


def test_terminate_is_approved_by_the_machine_it_deletes(azure, machines, maintain, user):
    boots = machines.boot_ids()
    run = maintain()
    event = azure.inject("Terminate", ["web3"], notice=3600, tail=100)
    run.wait().check()
    approved = judge.approved_once(azure, event, by="web3")
    judge.prepared_before(machines, ["web3"], approved)
    host.until("web3 to be gone", lambda: machines["web3"].boot_id() == "")
    assert machines["web3"].times("recovered") == []
    assert user.states("web3")[-1] != "UP"
    judge.untouched(machines, boots, ["web1", "web2", "web10"], user)
    assert user.failures() == []


def test_preempt_gives_thirty_seconds(azure, machines, maintain, user):
    boots = machines.boot_ids()
    azure.post("/clock", {"speed": 0.25})  # they are two minutes here, for a machine that is busy
    run = maintain()
    event = azure.inject("Preempt", ["web3"], tail=1)
    run.wait().check()
    approved = judge.approved_once(azure, event, by="web1")
    judge.prepared_before(machines, ["web3"], approved)
    host.until("web3 to be gone", lambda: machines["web3"].boot_id() == "")
    assert machines["web3"].times("recovered") == []
    judge.untouched(machines, boots, ["web1", "web2", "web10"], user)
    assert user.failures() == []


@pytest.mark.parametrize("how", ["its machine dies", "its approval is lost"])
def test_the_second_approver_takes_over(azure, machines, maintain, user, how):
    boots = machines.boot_ids()
    # The approver that dies is out, too: more than half of the machines would be.
    run = maintain(maintain_max_unavailable=3)
    if how == "its approval is lost":
        azure.post("/faults", {"kind": "hang", "vm": "prod_web_1", "method": "POST"})
    event = azure.inject("Reboot", ["web2", "web3"], notice=3600, tail=120)
    if how == "its machine dies":
        user.wait_for_state("web2", "DRAIN")
        machines["web1"].pull_plug()
    run.wait()
    executed = [post for post in azure.posts() if post["executed"]]
    assert [post["vm"] for post in executed] == ["prod_web_10"], azure.posts()
    judge.prepared_before(machines, ["web2", "web3"], azure.times(event, "approved")[0])
    judge.rebooted(machines, boots, ["web2", "web3"])
    judge.recovered_after(machines, ["web2", "web3"], azure.times(event, "gone")[0])
    assert machines["web10"].boot_id() == boots["web10"]
