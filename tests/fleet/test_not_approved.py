# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What must never be approved: a machine is not prepared, not reachable, or not ours."""

import judge
import pytest
from machines import balancer, host, settings

MAINTAIN = "cloudops.azure_maintenance.maintain"


AT_ONCE = {"azure_maintenance_prepare_before": 36000}
"""So that what is not approved is prepared for as soon as it is shown."""


def _let_notice_pass_when_prepared(azure, run, event, name):
    """However long that takes here; 15 minutes of Azure's would be 45 seconds."""
    host.until(f"the run to have prepared {name}", lambda: f"  prepared   {name} " in run.output())
    azure.let_notice_pass(event)


def test_a_failing_drain_leaves_everything_as_it_was(azure, machines, maintain, user):
    boots = machines.boot_ids()
    machines["web3"].refuse()
    run = maintain()
    event = azure.inject("Reboot", ["web2", "web3"], notice=6000)
    done = run.wait()
    assert done.status != 0
    assert azure.event(event)["status"] == "Scheduled"
    judge.not_approved(azure)
    assert len(machines["web3"].times("prepared")) == 1 and "DRAIN" in user.states("web3")
    for name in ("web2", "web3"):  # web2 may have been stopped before it came as far
        assert len(machines[name].times("prepared")) == len(machines[name].times("recovered")), name
        assert user.states(name)[-1] == "UP", user.states(name)
    judge.untouched(machines, boots, ["web1", "web10"], user)
    assert machines.boot_ids() == boots
    assert user.failures() == []
    assert any("web3" in problem and "Ask the application" in problem for problem in done.result["problems"]), (
        done.result
    )


def test_an_affected_machine_that_is_unreachable(azure, machines, ansible):
    boots = machines.boot_ids()
    machines["web2"].stop_sshd()
    event = azure.inject("Reboot", ["web2", "web3"], notice=36000, tail=120)
    run = ansible.start(MAINTAIN, azure_maintenance_hosts="web", maintain_recover_timeout=30, **AT_ONCE)
    _let_notice_pass_when_prepared(azure, run, event, "web3")
    done = run.wait()
    assert done.status != 0
    judge.not_approved(azure)
    assert azure.journal("started", event)[0]["cause"] == "not_before"
    said = " ".join(done.result["problems"])
    assert "it affects web2, which can't be reached" in said and "reached web2 unprepared" in said, said
    judge.rebooted(machines, boots, ["web2", "web3"])
    judge.recovered_after(machines, ["web3"], azure.times(event, "gone")[0])
    judge.untouched(machines, boots, ["web1", "web10"])


def test_an_event_that_also_affects_an_unknown_machine_is_prepared_for_but_not_approved(azure, machines, ansible, user):
    boots = machines.boot_ids()
    event = azure.inject("Reboot", ["web3", settings.UNKNOWN_VM], notice=36000, tail=120)
    run = ansible.start(MAINTAIN, azure_maintenance_hosts="web", **AT_ONCE)
    _let_notice_pass_when_prepared(azure, run, event, "web3")
    done = run.wait()
    assert done.status != 0 and settings.UNKNOWN_VM in " ".join(done.result["problems"])
    judge.not_approved(azure)
    started, gone = azure.times(event, "started", "gone")
    judge.prepared_before(machines, ["web3"], started)
    judge.rebooted(machines, boots, ["web3"])
    judge.recovered_after(machines, ["web3"], gone)
    judge.untouched(machines, boots, ["web1", "web2", "web10"], user)
    assert user.failures() == []


@pytest.mark.parametrize("when", ["before the approval", "after the approval"])
def test_a_cancelled_event(azure, machines, maintain, user, when):
    boots = machines.boot_ids()
    machines["web2"].hang(when == "before the approval")
    run = maintain()
    event = azure.inject("Reboot", ["web2"], notice=6000, co_tenant_delay="never")
    if when == "before the approval":  # in the middle of its last step: what was not started is not undone
        host.until("web2's last step", lambda: machines["web2"].times("prepared"), timeout=60)
    else:
        azure.wait_for_entry("approved", event)
    azure.post(f"/events/{event}/cancel")
    host.until("the run to see that it is gone", lambda: "  gone  " in run.output(), timeout=60)
    machines["web2"].hang(False)
    run.wait().check()
    assert len(azure.posts()) == (0 if when == "before the approval" else 1), azure.posts()
    judge.recovered_after(machines, ["web2"], azure.times(event, "gone")[0])
    assert machines.boot_ids() == boots
    assert balancer.states(machines["lb1"])["web2"] == "UP"
    assert user.failures() == []
