# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How much a job writes into AWX's database: with 200 machines and a job every five minutes that is what it dies of."""

from __future__ import annotations

import sys

import pytest

from ansible_collections.cloudops.azure_maintenance.tests.awx.awx_job import run
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.action.playing import emulator

MOST = 25


def events_of(folder, number, machines):
    """Of a job over so many machines to which nothing happens."""
    names = [f"web_{one}" for one in range(machines)]
    folder = folder / str(machines)
    folder.mkdir()
    scenario = {"settings": {"rate_limit": 0}, "vms": [{"name": name, "scope": "web"} for name in names]}
    with emulator(folder, scenario) as (address, _control):
        variables = {
            name: {
                "ansible_connection": "local",
                "ansible_python_interpreter": sys.executable,
                "azure_maintenance_endpoint": f"{address}/vm/{name}",
                "azure_maintenance_folder": str(folder / "marks" / name),
                "azure_maintenance_scope": "web",
                "maintain_wait_timeout": 5,
                "drain_steps": [{"type": "command", "do": ["true"]}],
            }
            for name in names
        }
        inventory = {"_meta": {"hostvars": variables}, "all": {"hosts": names}}
        job = run(folder, number, "maintain.yml", {}, inventory=inventory)
    assert job.status == "successful" and "No event was shown." in job.printed, job.printed
    assert not job.artifacts["azure_maintenance"]["problems"]
    return job


@pytest.mark.parametrize("machines", [2, 14])
def test_a_job_without_an_event_is_a_few_events_of_awx_however_many_machines_it_has(tmp_path, machines):
    job = events_of(tmp_path, 60 + machines, machines)
    assert len(job.events) <= MOST, "\n".join(job.events)
