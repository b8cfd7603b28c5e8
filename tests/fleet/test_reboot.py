# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reboots: of several machines at once, of a machine alone, without notice."""

import judge
from machines import balancer, settings


def test_two_of_four_reboot_together(azure, machines, maintain, user, on):
    boots = machines.boot_ids()
    affected, others = ("web2", "web3"), ("web1", "web10")
    run = maintain()
    event = azure.inject("Reboot", affected, notice=3600, tail=120)
    done = run.wait().check()

    approved, started, gone = judge.approved_once(azure, event, by="web1"), *azure.times(event, "started", "gone")
    judge.prepared_before(machines, affected, approved)
    judge.out_of_use(user, affected, approved, gone)
    judge.rebooted(machines, boots, affected)
    judge.recovered_after(machines, affected, gone)
    judge.untouched(machines, boots, others, user)
    assert approved <= started < gone
    assert balancer.states(machines["lb1"]) == dict.fromkeys(judge.WEB, "UP")
    assert all(on(name).service("nginx").is_running for name in affected)
    assert user.failures() == []
    assert done.result["problems"] == []
    print(
        "shown to approved, less the slowest drain:",
        round(
            approved
            - azure.times(event, "scheduled")[0]
            - max(result["seconds"] for result in done.result["events"][0]["prepared"].values()),
            2,
        ),
        "s",
    )


def test_a_standalone_machine_reboots_itself_away(azure, machines, maintain):
    boots = machines.boot_ids()
    run = maintain("lone", waits=["lone1"])
    event = azure.inject("Reboot", ["lone1"], notice=3600, tail=120)
    done = run.wait().check()
    approved, gone = judge.approved_once(azure, event, by="lone1"), *azure.times(event, "gone")
    judge.prepared_before(machines, ["lone1"], approved)
    judge.rebooted(machines, boots, ["lone1"])
    judge.recovered_after(machines, ["lone1"], gone)
    assert done.result["events"][0]["recovered"]["lone1"]["rebooted"] is True
    assert machines["lone1"].answers(80)
    # nginx is enabled: no boot has started it before the recovery did, whose last step that is
    assert machines["lone1"].began("nginx") > machines["lone1"].times("recovered")[0]
    assert machines["lone1"].inside("systemctl", "show", "--value", "--property=DropInPaths", "nginx").strip() == ""


def test_hardware_of_the_sentinel_fails_without_notice(azure, machines, maintain):
    """The machine that waits on behalf of the others is the one that dies in the middle of its look."""
    boots = machines.boot_ids()
    run = maintain(maintain_recover_timeout=60)
    azure.inject("Reboot", ["web1"], status="Started", tail=400)
    done = run.wait()
    judge.not_approved(azure)
    judge.rebooted(machines, boots, ["web1"])
    judge.struck_in_service(machines, "web1", done)


def test_two_scopes_at_once(azure, machines, maintain, user):
    boots = machines.boot_ids()
    run = maintain("web,lone", waits=["web1", "lone1"], maintain_wait_timeout=300)
    web = azure.inject("Reboot", ["web2"], notice=3600, tail=120)
    lone = azure.inject("Reboot", ["lone1"], notice=3600, tail=120)
    run.wait().check()
    # By one of its own scope that it does not affect: where a busy controller calls web1 too late, it is the next one's turn.
    mine = {web: ["web1", "web3", "web10"], lone: ["lone1"]}
    posts = {post["requests"][0]["event_id"]: post["vm"] for post in azure.posts()}
    assert len(azure.posts()) == 2 and posts.keys() == mine.keys(), azure.posts()
    assert all(vm in [settings.by_name()[name].resource for name in mine[event]] for event, vm in posts.items()), posts
    judge.rebooted(machines, boots, ["web2", "lone1"])
    for name, event in (("web2", web), ("lone1", lone)):
        judge.prepared_before(machines, [name], azure.times(event, "approved")[0])
        judge.recovered_after(machines, [name], azure.times(event, "gone")[0])
    assert user.failures() == []


def test_a_short_freeze_is_not_drained(azure, machines, maintain):
    """By one of those that it does not affect: where a busy controller calls the first one too late, it is the next one's turn."""
    boots = machines.boot_ids()
    run = maintain()
    event = azure.inject("Freeze", ["web3"], duration=3, notice=3600, tail=100)
    run.wait().check()
    judge.approved_once(azure, event, by=["web1", "web2", "web10"])
    judge.untouched(machines, boots, judge.WEB)
