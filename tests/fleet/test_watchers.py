# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Machines with watchers of their own: beside a run of maintain, and killed again and again in one event's life."""

import random
import time

import judge
import pytest
from length import at_length
from machines import host

DEPLOY = "cloudops.azure_maintenance.deploy_watcher"
REMOVE = "cloudops.azure_maintenance.remove_watcher"
SERVICE = "azure-maintenance"
NOTES = "/var/tmp/hooks"
STEPS = [
    {
        "type": "command",
        "name": "Note the time",
        "do": ["sh", "-c", "date +%s.%N >> /var/tmp/prepared"],
        "undo": ["sh", "-c", "date +%s.%N >> /var/tmp/recovered"],
    }
]


def hook(phase, seconds=0.0):
    """One that writes down that it has begun and that it has ended."""
    text = f"#!/bin/sh\necho {phase} begins >> {NOTES}\nsleep {seconds}\necho {phase} ends >> {NOTES}\n"
    return {"name": "note", "phase": phase, "content": text, "limit": 60}


@pytest.fixture(name="deploy")
def _deploy(ansible, machines):
    """deploy("web2,web3", some_variable=1): watchers, which are gone again after the test."""
    deployed = []

    def deploy(hosts, **variables):
        deployed.append(hosts)
        ansible.run(DEPLOY, azure_maintenance_hosts=hosts, drain_steps=STEPS, **variables).check()

    yield deploy
    for hosts in deployed:
        ansible.run(REMOVE, azure_maintenance_hosts=hosts, watcher_force=True).check()
        for name in hosts.split(","):
            machines[name].inside("rm", "-f", NOTES)


def test_a_run_waits_for_watchers_and_approves(azure, machines, maintain, deploy):
    """web2's and web3's watchers prepare them and recover them; an event that lists both is the run's to approve."""
    affected = ("web2", "web3")
    deploy("web2,web3", azure_maintenance_prepare_before=86400)
    boots = machines.boot_ids()
    run = maintain(drain_steps=STEPS)
    event = azure.inject("Reboot", affected, notice=3600, tail=60)
    done = run.wait().check()
    approved, gone = judge.approved_once(azure, event, by="web1"), *azure.times(event, "gone")
    judge.prepared_before(machines, affected, approved)
    judge.rebooted(machines, boots, affected)
    judge.recovered_after(machines, affected, gone)
    judge.untouched(machines, boots, ["web1", "web10"])
    assert done.result["problems"] == []
    assert sorted(done.result["events"][0]["prepared"]) == sorted(done.result["events"][0]["recovered"]) == [*affected]


@at_length
def test_a_run_refuses_a_machine_whose_watcher_lacks_a_step(azure, machines, maintain, deploy):
    deploy("web2", azure_maintenance_prepare_before=86400, watcher_approve="never")
    more = [*STEPS, {"type": "service", "service": "nginx"}]
    run = maintain(drain_steps=more)
    event = azure.inject("Reboot", ["web2"], notice=600, tail=60)
    done = run.wait()
    judge.not_approved(azure)
    judge.prepared_before(machines, ["web2"], azure.times(event, "started")[0])
    judge.recovered_after(machines, ["web2"], azure.times(event, "gone")[0])
    assert done.status != 0
    assert any("it lacks: stop the service nginx" in problem for problem in done.result["problems"]), done.result


@at_length
def test_a_watcher_that_is_killed_again_and_again(azure, machines, deploy, on):
    """At random instants of one event's life, 50 at least: each hook and each step is begun once."""
    lone = machines["lone1"]
    # Azure starts it: for approvals early a watcher that is hardly ever there would not see clearly enough.
    policy = [{"name": "Azure starts it", "do": "prepare"}]
    hooks = [hook("prepare", 10), hook("recover", 10)]
    deploy("lone1", watcher_hooks=hooks, azure_maintenance_policy=policy, azure_maintenance_prepare_before=86400)
    lone.inside("sh", "-c", f"mkdir -p /run/systemd/system/{SERVICE}.service.d")
    quick = f"printf '[Service]\\nRestartSec=0.1\\n' > /run/systemd/system/{SERVICE}.service.d/quick.conf && systemctl daemon-reload"
    lone.inside("sh", "-c", quick)
    boot, chance, kills, is_over = lone.boot_id(), random.Random(1), 0, False
    # It does not reboot here: each boot would take from the kills.
    event = azure.inject("Freeze", ["lone1"], duration=30, notice=900, tail=400)
    while not is_over and kills < 200:
        lone.inside("sh", "-c", f"systemctl kill --kill-who=main --signal=KILL {SERVICE} || true")
        kills += 1
        is_over = azure.event(event)["status"] == "Gone" and len(lone.times("recovered")) == 1 and lone.mark() is None
        time.sleep(chance.uniform(0.2, 2.0))  # the moment of the next one
    assert is_over and kills >= 50, (kills, azure.event(event), lone.mark())
    assert lone.boot_id() == boot
    lines = lone.inside("cat", NOTES).splitlines()
    assert lines == ["prepare begins", "prepare ends", "recover begins", "recover ends"]
    judge.not_approved(azure)
    judge.prepared_before(machines, ["lone1"], azure.times(event, "started")[0])
    judge.recovered_after(machines, ["lone1"], azure.times(event, "gone")[0])


def test_a_recover_hook_that_somebody_has_taken_the_rights_from(azure, machines, deploy):
    """It is not approved, and out of service after the event, with a word about why; put right, it comes back by itself."""
    lone, path = machines["lone1"], "/etc/azure-maintenance/hooks/recover.d/50-note"
    deploy("lone1", watcher_hooks=[hook("prepare"), hook("recover")], azure_maintenance_prepare_before=86400)
    lone.inside("chmod", "600", path)
    event = azure.inject("Freeze", ["lone1"], duration=30, notice=36000, tail=60)  # more than anybody waits below
    host.until("it to be prepared", lambda: (lone.mark() or {}).get("phase") == "prepared")
    azure.let_notice_pass(event)
    azure.wait_for(event, "Gone")
    host.until("its recovery to have failed", lambda: (lone.mark() or {}).get("phase") == "half")
    judge.not_approved(azure)
    judge.prepared_before(machines, ["lone1"], azure.times(event, "started")[0])
    assert lone.inside("cat", NOTES).splitlines() == ["prepare begins", "prepare ends"]
    said = " ".join(lone.inside("sh", "-c", "azure-maintenance status; azure-maintenance history").split())
    assert "NOT UNDONE: recover.d/50-note" in said and f"is not executable: chmod +x {path}" in said
    assert "could not be fully recovered" in said and event in said
    assert "recover.d/50-note" in lone.inside("sh", "-c", "azure-maintenance doctor || true")
    lone.inside("test", "-d", "/var/lib/azure-maintenance/hooks/notes")
    lone.inside("chmod", "755", path)
    host.until("it to be recovered", lambda: lone.mark() is None)
    assert lone.inside("cat", NOTES).splitlines()[2:] == ["recover begins", "recover ends"]
