# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Role watcher on a real machine: as a service of its systemd, deployed, upgraded, removed."""

import json

import pytest
from length import at_length
from machines import host

DEPLOY = "cloudops.azure_maintenance.deploy_watcher"
REMOVE = "cloudops.azure_maintenance.remove_watcher"
SERVICE = "azure-maintenance"
SENDER = "azure-maintenance-reports"
UNIT = f"/etc/systemd/system/{SERVICE}.service"
PROGRAMS = "/usr/local/lib/azure-maintenance"
SETTINGS = "/etc/azure-maintenance/watcher.json"
STATE = "/var/lib/azure-maintenance"
NOTES = "/var/tmp/hooks"
SECRET = "a secret that nobody sees"


def hook(phase, **more):
    note = f"#!/bin/sh\necho {phase} $AZURE_MAINTENANCE_ID >> {NOTES}\n"
    return {"name": "note", "phase": phase, "content": note, "limit": 30, **more}


HOOKS = [hook("prepare"), hook("recover")]


@pytest.fixture(name="lone")
def _lone(on, machines, ansible):
    """lone1, without a watcher before and after the test."""
    machine = on("lone1")
    assert not machine.file(UNIT).exists
    yield machine
    ansible.run(REMOVE, azure_maintenance_hosts="lone1", watcher_force=True).check()
    machine.run(f"rm -f {NOTES}")
    assert not machine.file(STATE).exists


@pytest.fixture(name="deploy")
def _deploy(ansible, lone):
    """deploy(some_variable=1) ends well, and hands back how much was changed."""

    def deploy(*arguments, **variables):
        given = {"azure_maintenance_hosts": "lone1", "watcher_hooks": HOOKS, **variables}
        return ansible.run(DEPLOY, *arguments, **given).check().recap("lone1")["changed"]

    return deploy


@pytest.fixture(name="refused")
def _refused(ansible, lone):
    """refused(DEPLOY, some_variable=1) fails, and hands back what was said."""

    def refused(playbook, **variables):
        done = ansible.run(playbook, azure_maintenance_hosts="lone1", **variables)
        assert done.status != 0 and done.recap("lone1")["changed"] == 0
        return " ".join(done.output.split())

    return refused


def status(machine):
    return json.loads(machine.check_output("azure-maintenance status --json"))


def main_pid(machine, service=SERVICE):
    return machine.check_output(f"systemctl show --value -p MainPID {service}")


@at_length
def test_it_is_installed_once_and_looks(lone, deploy, azure):
    assert deploy("--check") > 0
    for path in (UNIT, PROGRAMS, "/etc/azure-maintenance", STATE):
        assert not lone.file(path).exists

    assert deploy() > 0
    assert lone.service(SERVICE).is_running and lone.service(SERVICE).is_enabled
    assert not lone.service(SENDER).is_enabled  # there is nobody to be notified
    assert status(lone)["looking"]
    before = azure.requests("lone1")
    host.until("three more looks", lambda: azure.requests("lone1") >= before + 3)

    pid = main_pid(lone)
    assert deploy() == 0
    assert deploy("--check") == 0
    assert main_pid(lone) == pid
    assert not lone.file(NOTES).exists


@at_length
def test_what_systemd_thinks_of_it(lone, deploy):
    deploy()
    said = lone.run(f"journalctl -b -o cat _PID=1 | grep -i '{SERVICE}'").stdout
    assert "Unknown" not in said and "ignoring" not in said
    assert lone.check_output(f"systemctl show --value -p NRestarts {SERVICE}") == "0"
    # for people, and to see that the sandbox is there at all: 10 is none
    exposure = lone.check_output(f"systemd-analyze security {SERVICE} | tail -1")
    assert float(exposure.split(":")[1].split()[0]) < 5, exposure


@at_length
def test_files_are_of_root_and_secrets_are_nowhere(lone, deploy, ansible):
    reports = [{"url": "https://127.0.0.1:9/hook", "secret": SECRET}]
    done = ansible.run(
        DEPLOY,
        "-vvv",
        azure_maintenance_hosts="lone1",
        watcher_hooks=[*HOOKS, hook("notify")],
        watcher_reports=reports,
        drain_steps=[{"type": "http", "do": {"url": "http://127.0.0.1/"}, "user": "me", "password": SECRET}],
    ).check()
    # the command line of this test has the variables
    assert SECRET not in done.output.split("\n", 1)[1].split("PLAY [", 1)[1]
    for path, mode in (
        (SETTINGS, 0o600),
        ("/etc/azure-maintenance/secrets", 0o700),
        ("/etc/azure-maintenance/hooks/prepare.d/50-note", 0o700),
        (STATE, 0o711),
    ):
        assert (lone.file(path).user, lone.file(path).mode) == ("root", mode), path
    (secret,) = lone.file("/etc/azure-maintenance/secrets").listdir()
    assert lone.file(f"/etc/azure-maintenance/secrets/{secret}").mode == 0o600
    assert lone.service(SENDER).is_running and lone.service(SENDER).is_enabled
    for command in (f"systemctl cat {SERVICE} {SENDER}", "ps -ef", "journalctl -b -o cat"):
        assert SECRET not in lone.run(command).stdout
    assert lone.run(f"grep -rl '{SECRET}' /run /tmp /var/tmp /var/lib /usr/local").stdout == ""
    # without anybody to be notified its sender goes, and the secret with it
    assert deploy() > 0
    assert not lone.file(f"/etc/systemd/system/{SENDER}.service").exists
    assert lone.file("/etc/azure-maintenance/secrets").listdir() == []


@at_length
def test_another_version_takes_over_and_runs_no_hook(lone, deploy):
    deploy(__watcher_version="1.0.0")
    before = main_pid(lone)
    old, new = f"{PROGRAMS}/1.0.0.pyz", f"{PROGRAMS}/1.1.0.pyz"
    # a hook that the old one has begun, as far as the role can see
    lone.check_output(f"systemd-run --unit=azure-test-hook sh -c 'sleep 600' {old}")
    assert deploy(__watcher_version="1.1.0") > 0
    assert main_pid(lone) != before and status(lone)["watcher"]["program"] == new
    assert lone.file(old).exists
    lone.check_output("systemctl stop azure-test-hook")
    assert deploy(__watcher_version="1.1.0") == 1
    assert not lone.file(old).exists
    assert deploy(__watcher_version="1.1.0") == 0
    assert not lone.file(NOTES).exists


@at_length
def test_bad_input_changes_nothing(lone, refused):
    """What the probe finds on a real machine; what is wrong with a variable is told before that."""
    assert "has no user nobody-here" in refused(DEPLOY, watcher_hooks=[hook("prepare", user="nobody-here")])
    lone.check_output("mkdir /opt/azcmagent")
    assert "Azure Arc manages" in refused(DEPLOY, azure_maintenance_endpoint="http://127.0.0.1:9")
    lone.check_output("rmdir /opt/azcmagent")
    lone.check_output("touch /run/.containerenv")
    assert "is a container (podman)" in refused(DEPLOY)
    lone.check_output("rm /run/.containerenv")
    for path in (UNIT, PROGRAMS, "/etc/azure-maintenance"):
        assert not lone.file(path).exists


@at_length
def test_an_image_has_it_enabled_and_no_state(lone, deploy):
    assert deploy(watcher_image=True, azure_maintenance_endpoint="http://127.0.0.1:9") > 0
    assert lone.service(SERVICE).is_enabled and not lone.service(SERVICE).is_running
    assert not lone.file(STATE).exists
    assert deploy(watcher_image=True, azure_maintenance_endpoint="http://127.0.0.1:9") == 0


def test_a_machine_that_is_out_of_service_keeps_its_watcher(azure, machines, lone, deploy, refused, ansible):
    """From the event to the forced removal: what recovers the machine is not taken from it."""
    deploy(
        azure_maintenance_policy=[{"name": "Azure starts it", "do": "prepare"}], azure_maintenance_prepare_before=86400
    )
    event = azure.inject("Reboot", ["lone1"], notice=80000)
    host.until("the mark", lambda: (machines["lone1"].mark() or {}).get("phase") == "prepared")
    assert lone.check_output(f"cat {NOTES}").splitlines() == [f"prepare {event}"]
    assert not lone.service("nginx").is_running

    assert "out of service by the watcher" in refused(REMOVE)
    assert "is not among its new hooks and steps" in refused(DEPLOY, watcher_hooks=[])
    assert "is not among its new hooks and steps" in refused(DEPLOY, watcher_hooks=HOOKS, drain_steps=[])
    # a restart by a new version in the middle of it runs nothing
    deploy(__watcher_version="1.1.0", azure_maintenance_policy=[{"name": "Azure starts it", "do": "prepare"}])
    assert lone.check_output(f"cat {NOTES}").splitlines() == [f"prepare {event}"]

    ansible.run(REMOVE, azure_maintenance_hosts="lone1", watcher_force=True).check()
    assert lone.check_output(f"cat {NOTES}").splitlines() == [f"prepare {event}", f"recover {event}"]
    assert lone.service("nginx").is_running
    assert machines["lone1"].mark() is None and not lone.service(SERVICE).is_running
    assert len(machines["lone1"].times("prepared")) == len(machines["lone1"].times("recovered")) == 1


@at_length
def test_through_its_own_reboot(azure, machines, lone, deploy):
    deploy(watcher_cooldown=0)  # else it is begun by Azure before the watcher knows that it is its turn
    boot = machines["lone1"].boot_id()
    event = azure.inject("Reboot", ["lone1"], notice=600, tail=60)
    azure.wait_for(event, "Gone")
    host.until("the recovery", lambda: len(machines["lone1"].times("recovered")) == 1)
    machines["lone1"].wait_for_ssh()
    assert machines["lone1"].boot_id() not in ("", boot)
    assert [post["status"] for post in azure.posts(event) if post["status"] != 429] == [200]
    host.until("no mark", lambda: machines["lone1"].mark() is None)
    assert lone.check_output(f"cat {NOTES}").splitlines() == [f"prepare {event}", f"recover {event}"]
    assert lone.service("nginx").is_running
    # nginx is enabled: its boot has not started it, but the last step of the recovery
    assert machines["lone1"].began("nginx") > machines["lone1"].times("recovered")[0]
