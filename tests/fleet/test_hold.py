# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Events that wait for a confirmation, which comes from somewhere else."""

import judge
from machines import host

APPROVE = "cloudops.azure_maintenance.approve"
HOLD = [{"name": "A person decides", "do": "hold"}]


def _wait_until_held(azure, machines, event, run):
    """Prepared, and its machine has looked again and again since, and nothing was approved."""
    host.until("web2 to be prepared", lambda: (machines["web2"].mark() or {}).get("phase") == "prepared")
    if run.runs():
        azure.wait_until_waiting("web2", alive=run.check_alive)
    judge.not_approved(azure)
    assert azure.event(event)["status"] == "Scheduled"


def _judge(azure, machines, boots, user, event):
    approved, gone = judge.approved_once(azure, event, by="web1"), *azure.times(event, "gone")
    judge.prepared_before(machines, ["web2"], approved)
    judge.out_of_use(user, ["web2"], approved, gone)
    judge.rebooted(machines, boots, ["web2"])
    judge.recovered_after(machines, ["web2"], gone)
    judge.untouched(machines, boots, ["web1", "web3", "web10"], user)
    assert user.failures() == []


def test_a_living_run_approves_when_the_yes_has_come(azure, machines, maintain, ansible, user):
    boots = machines.boot_ids()
    run = maintain(azure_maintenance_policy=HOLD)
    event = azure.inject("Reboot", ["web2"], notice=36000, tail=60)
    _wait_until_held(azure, machines, event, run)
    ansible.run(APPROVE, azure_maintenance_hosts="web", approve_event=event).check()
    run.wait().check()
    _judge(azure, machines, boots, user, event)


def test_where_no_run_lives_the_yes_approves(azure, machines, maintain, ansible, user):
    """The run has ended with its marks. The yes comes to the machine, and what recovers it is the next run."""
    boots = machines.boot_ids()
    run = maintain(azure_maintenance_policy=HOLD, maintain_hold="leave")
    event = azure.inject("Reboot", ["web2"], notice=36000, tail=400)
    run.wait()
    _wait_until_held(azure, machines, event, run)
    ansible.run(APPROVE, azure_maintenance_hosts="web", approve_event=event).check()
    azure.wait_for_entry("started", event)
    maintain(waits=(), azure_maintenance_policy=HOLD).wait().check()
    _judge(azure, machines, boots, user, event)


def test_a_restart_of_no_event_has_it_prepared_again_before_it_is_approved(azure, machines, maintain, ansible, on):
    """An administrator restarts the machine while its event waits for a yes: its start has started what was stopped."""
    lone, boots = machines["lone1"], machines.boot_ids()
    run = maintain("lone", waits=["lone1"], azure_maintenance_policy=HOLD)
    event = azure.inject("Freeze", ["lone1"], notice=36000, tail=100)
    host.until("lone1 to be prepared", lambda: (lone.mark() or {}).get("phase") == "prepared", timeout=60)
    lone.reset()
    host.until("lone1's new start", lambda: lone.boot_id() not in ("", boots["lone1"]))
    host.until("its steps to be begun again", lambda: (lone.mark() or {}).get("again"))
    host.until("lone1 to be prepared again", lambda: (lone.mark() or {}).get("phase") == "prepared")
    assert lone.mark()["again"] != lone.mark()["boot_id"] and not on("lone1").service("nginx").is_running
    judge.not_approved(azure)

    ansible.run(APPROVE, azure_maintenance_hosts="lone", approve_event=event).check()
    done = run.wait().check()
    approved, gone = judge.approved_once(azure, event, by="lone1"), *azure.times(event, "gone")
    first, again = lone.times("prepared")
    assert first < again < approved
    judge.recovered_after(machines, ["lone1"], gone)
    assert on("lone1").service("nginx").is_running
    assert any("lone1 was rebooted after it was prepared" in line for line in done.result["timeline"])
    assert done.result["problems"] == []
