# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Several machines, or several events, at once: nobody waits for another one who is slow, hangs or is away."""

import itertools
import time

import judge
from machines import balancer, host


def test_one_that_stays_down_holds_up_nobody(azure, machines, maintain, user):
    boots = machines.boot_ids()
    run = maintain()
    machines["web3"].stay_down()
    event = azure.inject("Reboot", ["web2", "web3"], notice=3600, tail=60)
    gone = azure.wait_for_entry("gone", event)["wall"]
    recovered = host.until("web2 to be back", lambda: machines["web2"].times("recovered"))
    assert recovered[0] > gone
    user.wait_for_state("web2", "UP")
    assert machines["web3"].boot_id() == "" and run.runs()
    back = time.time()
    machines["web3"].power_on()
    done = run.wait().check()
    judge.approved_once(azure, event, by="web1")
    judge.rebooted(machines, boots, ["web2", "web3"])
    judge.recovered_after(machines, ["web2"], gone)
    judge.recovered_after(machines, ["web3"], back)
    judge.untouched(machines, boots, ["web1", "web10"], user)
    assert user.failures() == []
    assert done.result["problems"] == []


def test_a_drain_that_hangs_holds_up_no_other_event(azure, machines, maintain, user):
    """Meanwhile another machine is preempted, and a third one is rebooted and recovered."""
    boots = machines.boot_ids()
    machines["web2"].hang(True)
    run = maintain(maintain_max_unavailable=3, drain_timeout=300)
    slow = azure.inject("Reboot", ["web2"], notice=36000, tail=60)
    host.until("web2 to be drained, all but the application", lambda: machines["web2"].times("prepared"))

    azure.post("/clock", {"speed": 0.25})  # its 30 seconds are two minutes here, for a machine that is busy
    preempt = azure.inject("Preempt", ["web3"], tail=1)
    azure.wait_for_entry("approved", preempt)
    azure.post("/clock", {"speed": 20})
    reboot = azure.inject("Reboot", ["web10"], notice=36000, tail=60)
    azure.wait_for_entry("gone", reboot)
    host.until("web10 to be back", lambda: machines["web10"].times("recovered"))
    assert azure.posts(slow) == [] and azure.event(slow)["status"] == "Scheduled"
    assert machines["web2"].mark()["phase"] == "preparing"

    machines["web2"].hang(False)
    run.wait().check()
    for name, event in (("web2", slow), ("web3", preempt), ("web10", reboot)):
        judge.prepared_before(machines, [name], azure.times(event, "approved")[0])
        assert [post["status"] for post in azure.posts(event)] == [200], azure.posts(event)
        assert azure.journal("started", event)[0]["cause"] == "approved"
    for name, event in (("web2", slow), ("web10", reboot)):
        judge.rebooted(machines, boots, [name])
        judge.recovered_after(machines, [name], azure.times(event, "gone")[0])
    assert machines["web3"].boot_id() == "" and machines["web3"].times("recovered") == []
    judge.untouched(machines, boots, ["web1"], user)
    assert user.failures() == []


def test_what_somebody_puts_back_while_another_one_drains_is_taken_out_again(azure, machines, maintain, user):
    """An administrator of the load balancer, or its reload, knows nothing of the maintenance."""
    machines["web3"].hang(True)
    run = maintain(drain_timeout=300)
    event = azure.inject("Reboot", ["web2", "web3"], notice=36000, tail=60)
    host.until("web2 to be prepared", lambda: (machines["web2"].mark() or {}).get("phase") == "prepared")
    balancer.command(machines["lb1"], "set server web/web2 state ready")
    put_back = time.time()
    user.wait_for_state("web2", "UP")
    host.until("a look from before to count no more", lambda: time.time() > put_back + 6)
    machines["web3"].hang(False)
    done = run.wait().check()
    approved, gone = judge.approved_once(azure, event, by="web1"), *azure.times(event, "gone")
    judge.out_of_use(user, ["web2", "web3"], approved, gone)
    judge.recovered_after(machines, ["web2", "web3"], gone)
    assert user.failures() == []
    (line,) = [line for line in done.result["timeline"] if "IN SERVICE" in line]
    assert "web2, step 1 (" in line and "lb1 shows web2 of backend web as UP" in line
    assert done.result["problems"] == []


def test_three_events_take_turns(azure, machines, maintain, user):
    boots = machines.boot_ids()
    run = maintain(maintain_max_unavailable=1)
    events = {name: azure.inject("Reboot", [name], notice=36000, tail=30) for name in ("web3", "web1", "web10")}
    run.wait().check()
    outs = []
    for name, event in events.items():
        approved, gone = azure.times(event, "approved", "gone")
        judge.prepared_before(machines, [name], approved)
        judge.recovered_after(machines, [name], gone)
        assert azure.journal("started", event)[0]["cause"] == "approved"
        outs.append((*machines[name].times("prepared"), *machines[name].times("recovered")))
    assert len(azure.posts()) == 3, azure.posts()
    assert all(first[1] <= second[0] for first, second in itertools.pairwise(sorted(outs))), outs
    judge.at_most_out(user, 1)
    judge.rebooted(machines, boots, events)
    judge.untouched(machines, boots, ["web2"], user)
    assert user.failures() == []
