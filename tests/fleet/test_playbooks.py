# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The other playbooks, and role emulator, on the same machines."""

import re

import judge
from length import at_length

STATUS = "cloudops.azure_maintenance.status"
REHEARSE = "cloudops.azure_maintenance.rehearse"
SERVICE = "azure-imds-emulator"
REHEARSAL = "azure-imds-rehearsal"
NAME = "http://127.0.0.1:8780/metadata/instance/compute/name?api-version=2021-02-01&format=text"


def test_status_tells_what_each_machine_sees(azure, machines, ansible):
    event = azure.inject("Redeploy", ["web3"], notice=6000)
    machines["web10"].stop_sshd()
    done = ansible.run(STATUS, azure_maintenance_hosts="machines")
    assert done.status == 2 and "The state of some machines is not known: not reached: web10" in done.output
    said = {line.split()[0].strip('",'): line for line in done.output.splitlines() if line.startswith(" " * 8 + '"')}
    assert "Lone-VM: no event" in said["lone1"]
    assert "prod_web_3: 1 event" in said["web3"] and "prod_web_1: 1 event" in said["web1"]
    assert "NOT REACHED" in said["web10"]
    assert done.output.count(event) == 3
    assert set(re.findall(r"changed=(\d+)", done.output)) == {"0"}
    judge.not_approved(azure)


@at_length
def test_a_rehearsal_drains_and_brings_back_and_leaves_nothing(azure, machines, ansible, user, on):
    boots = machines.boot_ids()
    ansible.run(
        REHEARSE,
        azure_maintenance_hosts="web",
        rehearse_affected=["web2"],
        rehearse_speed=20,
        rehearse_scenario="reboot",
        maintain_wait_timeout=60,
    ).check()
    assert "DRAIN" in user.states("web2") and user.states("web2")[-1] == "UP"
    assert len(machines["web2"].times("prepared")) == 1 and len(machines["web2"].times("recovered")) == 1
    assert machines.boot_ids() == boots
    judge.untouched(machines, boots, ["web1", "web3", "web10"], user)
    judge.not_approved(azure)  # the real service was not spoken to
    assert not on("web1").file(f"/etc/systemd/system/{REHEARSAL}.service").exists
    assert not on("web1").socket("tcp://8780").is_listening
    assert user.failures() == []


@at_length
def test_each_machine_is_rehearsed(azure, machines, ansible, user, on):
    """At this speed what their steps may take leaves no time to go in turn: all are prepared at once, which the run says."""
    boots = machines.boot_ids()
    ansible.run(REHEARSE, limit=600, azure_maintenance_hosts="web", rehearse_affected="all", rehearse_speed=20).check()
    for name in judge.WEB:
        assert len(machines[name].times("prepared")) == len(machines[name].times("recovered")) == 1, name
        assert "DRAIN" in user.states(name) and user.states(name)[-1] == "UP", name
    assert machines.boot_ids() == boots
    judge.not_approved(azure)  # the real service was not spoken to
    assert not on("web1").socket("tcp://8780").is_listening


def test_role_emulator(ansible, on):
    lone = on("lone1")
    playbook = "cases/emulator.yml"

    checked = ansible.run(playbook, "--check").check()
    assert checked.recap("lone1")["changed"] > 0
    assert not lone.file(f"/etc/systemd/system/{SERVICE}.service").exists

    ansible.run(playbook).check()
    assert lone.service(SERVICE).is_running and lone.service(SERVICE).is_enabled
    name = lone.check_output(f"curl -sS --max-time 5 --retry 5 --retry-connrefused -H Metadata:true '{NAME}'")
    assert name == "rehearsed"
    assert lone.check_output(f"ps -o user= -p $(systemctl show --value -p MainPID {SERVICE})") != "root"

    assert ansible.run(playbook).check().recap("lone1")["changed"] == 0

    ansible.run(playbook, emulator_state="absent").check()
    assert not lone.service(SERVICE).is_running
    assert not lone.file(f"/etc/systemd/system/{SERVICE}.service").exists
