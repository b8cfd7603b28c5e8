# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The example's job templates by ansible-runner, with AWX's arguments: survey, limit, credentials, inventory of the recorded machines.

The machines are this one, and the emulator is their metadata service: what a connection, a service and a load balancer do is the integration's
and the fleet's business. Each test continues where the one before it ended, as the nodes of a workflow do.
"""

from __future__ import annotations

import re
import socket
import sys

import pytest

from ansible_collections.cloudops.azure_maintenance.tests.awx.awx_job import run
from ansible_collections.cloudops.azure_maintenance.tests.awx.test_inventory import exported
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.action.playing import emulator

ID = "0B7D7A24-9C1A-4B8E-8E5C-0B8C2A8F0C11"
WEB = ["web_0", "web_1"]
SCENARIO = {
    "settings": {"rate_limit": 0},
    "vms": [{"name": name, "scope": "web"} for name in WEB],
    "resources": ["web_0"],
    "events": [{"type": "Reboot", "id": ID, "notice": 36000, "tail": 20}],  # seconds of which ten are one
}


class Awx:
    """A controller's inventory and its next job."""

    def __init__(self, folder, address):
        self.folder, self.number = folder, 40
        self.inventory = exported(folder)
        self.drained = folder / "drained"
        self.home = {"HOME": str(folder / "home")}
        variables = self.inventory["_meta"]["hostvars"]
        for name in variables:
            (folder / "home" / name).mkdir(parents=True)
            variables[name].update(
                ansible_connection="local",
                ansible_host="127.0.0.1",
                ansible_become=False,
                ansible_python_interpreter=sys.executable,
                azure_maintenance_endpoint=f"{address}/vm/{name}",
                azure_maintenance_folder=str(folder / "home" / name / "marks"),
                azure_maintenance_policy=[{"name": "A person decides", "do": "hold"}],
                watcher_systemd=False,
                drain_steps=[
                    {"type": "command", "do": ["touch", str(self.drained)], "undo": ["rm", str(self.drained)]}
                ],
            )

    def job(self, playbook, answers, **more):
        self.number += 1
        return run(self.folder, self.number, playbook, answers, inventory=self.inventory, **more)


@pytest.fixture(scope="module")
def awx(tmp_path_factory):
    folder = tmp_path_factory.mktemp("jobs")
    with emulator(folder, SCENARIO, "--speed", "10") as (address, _control):
        yield Awx(folder, address)


def test_status_within_a_limit(awx):
    job = awx.job("status.yml", {"azure_maintenance_hosts": "linux"}, limit="scope_rg_web_web")
    assert job.status == "successful", job.printed
    assert set(re.findall(r'"(\w+_\d) ', job.printed)) == set(WEB), job.printed
    assert ID in job.printed


def test_maintain_prepares_for_an_approval_and_its_result_is_in_the_artifacts(awx):
    job = awx.job("maintain.yml", {"azure_maintenance_hosts": "scope_rg_web_web", "maintain_hold": "leave"})
    assert job.status == "successful", job.printed
    result = job.artifacts["azure_maintenance"]
    assert str(result["job"]) == "42"
    (event,) = result["events"]
    assert (event["id"], event["action"], list(event["prepared"]), event["affected"]) == (
        ID,
        "hold",
        ["web_0"],
        ["web_0"],
    )
    assert awx.drained.exists()


def test_approve_with_the_event_as_the_survey_asks_for_it(awx):
    job = awx.job("approve.yml", {"approve_event": ID, "azure_maintenance_hosts": "scope_rg_web_web"})
    assert job.status == "successful", job.printed


def test_maintain_again_recovers_what_the_job_before_has_left(awx):
    job = awx.job("maintain.yml", {"azure_maintenance_hosts": "all"}, limit="scope_rg_web_web")
    assert job.status == "successful", job.printed
    (event,) = job.artifacts["azure_maintenance"]["events"]
    assert (event["id"], list(event["recovered"])) == (ID, ["web_0"])
    assert event["outcome"] in ("completed", "unknown")  # by whether this job began early enough to see it Started
    assert not awx.drained.exists()


def test_recover_of_the_workflows_machines(awx):
    """The workflow's answer and the artifacts of the job before are variables of the next one."""
    left = {"azure_maintenance": {"problems": ["text with {{ braces }}"]}}
    job = awx.job("recover.yml", {"azure_maintenance_hosts": "scope_rg_web_web"}, variables=left)
    assert job.status == "successful", job.printed
    assert job.hosts >= set(WEB)


def test_rehearse_with_what_the_survey_offers(awx):
    with socket.socket() as one:
        one.bind(("0.0.0.0", 0))
        port = one.getsockname()[1]
    by_choice = {"rehearse_port": port, "azure_maintenance_policy": [{"name": "Anything", "do": "prepare_and_approve"}]}
    fast = {"rehearse_scenario": "freeze_live_migration", "rehearse_speed": 10}  # 90 s of notice, and 30 s more
    no_service = {"__maintain_emulator_systemd": False}
    job = awx.job(
        "rehearse.yml",
        {"azure_maintenance_hosts": "web_1", **fast},
        variables={**by_choice, **no_service, "maintain_margin": 0},
        environment=awx.home,
    )
    assert job.status == "successful", job.printed
    (event,) = job.artifacts["azure_maintenance"]["events"]
    assert (event["outcome"], list(event["recovered"])) == ("completed", ["web_1"])


def test_deploy_watcher_as_a_check(awx):
    job = awx.job(
        "deploy_watcher.yml",
        {"azure_maintenance_hosts": "scope_rg_web_web"},
        limit="web_1",
        check=True,
        environment=awx.home,
    )
    assert job.status == "successful", job.printed
    assert "web_1" in job.hosts and "web_0" not in job.hosts
