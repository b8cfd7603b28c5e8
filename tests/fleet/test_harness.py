# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The machines themselves, before anything is concluded from them."""

import subprocess

import pytest
from machines import host, network, settings

WEB = ("web1", "web2", "web3", "web10")


@pytest.mark.parametrize("name", sorted(settings.by_name()))
def test_a_machine_runs_systemd_and_its_service(on, machines, name):
    service = settings.by_name()[name].service
    assert on(name).check_output("hostname") == name
    assert on(name).check_output("systemctl is-system-running --wait") == "running"
    assert on(name).service(service).is_running


def test_the_load_balancer_uses_all_web_machines(user):
    host.until(
        "an answer from each of them", lambda: {request.server for request in user.requests} >= set(WEB), timeout=60
    )
    assert user.failures() == []


def test_azures_address_answers_each_machine_with_its_own_name(on, azure):
    url = f"http://{settings.IMDS_ADDRESS}/metadata/instance/compute/name?api-version=2021-02-01&format=text"
    for spec in settings.MACHINES:
        assert (
            on(spec.name).check_output(f"curl -sS --max-time 5 --noproxy '*' -H Metadata:true '{url}'") == spec.resource
        )


def test_azures_address_is_nowhere_else(machines):
    """Not in the controller's namespace, and the box's own routes know nothing of the fleet."""
    there = subprocess.run(["ip", "route", "get", settings.IMDS_ADDRESS], capture_output=True, text=True, check=False)
    assert there.returncode != 0, there.stdout
    outside = host.run("nsenter", f"--net={machines.outside}", "ip", "route", "show", "table", "all").stdout
    assert "10.77." not in outside and settings.IMDS_ADDRESS not in outside


def start_anew(machine, way):
    before = machine.boot_id()
    getattr(machine, way)()
    host.until("another boot id", lambda: machine.boot_id() not in ("", before))
    machine.wait_for_ssh()


@pytest.mark.parametrize("way", ["reboot", "reset"])
def test_a_reboot_is_a_real_one(machines, way):
    start_anew(machines["web2"], way)


def test_without_a_drain_a_reset_is_noticed_by_the_user(machines, user):
    """Else "0 failed requests" in the other tests would mean nothing."""
    for _each in range(10):  # a download may end right before
        host.until("a download from web2", lambda: user.samples and user.samples[-1].sessions["web2"] > 0)
        start_anew(machines["web2"], "reset")
        if user.failures():
            break
    assert user.failures()


def test_power_and_cable(machines):
    machines["web3"].power_off()
    assert machines["web3"].boot_id() == "" and not machines["web3"].answers(22)
    network.set_cable("web10", False)
    assert machines["web10"].boot_id() != "" and not machines["web10"].answers(22)
    machines["web2"].stop_sshd()
    assert not machines["web2"].answers(22) and machines["web2"].answers(80)
    machines.restore()
    assert all(machines[name].answers(22) and machines[name].answers(80) for name in WEB)


def test_a_started_event_does_to_the_machines_what_azure_would(azure, machines):
    before = {name: machines[name].boot_id() for name in WEB}
    reboot = azure.inject("Reboot", ["web1"], notice=20, tail=60)
    preempt = azure.inject("Preempt", ["web3"], notice=20, tail=60)
    azure.wait_for(reboot, "Started", "Gone")
    azure.wait_for(preempt, "Started", "Gone")
    host.until("web1's reboot", lambda: machines["web1"].boot_id() not in ("", before["web1"]))
    host.until("web3 to be gone", lambda: machines["web3"].boot_id() == "")
    assert machines["web10"].boot_id() == before["web10"]
    assert azure.posts() == []
    assert [entry["status"] for entry in azure.journal("command")] and all(
        entry["status"] == 0 for entry in azure.journal("command")
    ), azure.journal("command")


def test_ansible_reaches_all_machines(ansible):
    done = ansible.run("cases/ping.yml").check()
    assert done.output.count("ok=1") == len(settings.MACHINES)
