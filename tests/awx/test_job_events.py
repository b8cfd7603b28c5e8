# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How much a job writes into AWX's database: with 200 machines and a job every five minutes that is what it dies of."""

from __future__ import annotations

import concurrent.futures
import sys

import pytest

from ansible_collections.cloudops.azure_maintenance.tests.awx.awx_job import run
from ansible_collections.cloudops.azure_maintenance.tests.awx.example import DATA
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.action.playing import emulator
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.watching import until

MOST = 25
MOST_OF_THREE = 60
MOST_OF_ANOTHER = 8


def events_of(folder, number, machines, affected=0):
    """Of a job over so many machines, of which so many have an event and are drained, approved and recovered."""
    names = [f"web_{one}" for one in range(machines)]
    folder = folder / f"{machines}-{affected}"
    folder.mkdir()
    event = {"type": "Freeze", "notice": 36000, "tail": 5}  # seconds of which ten are one
    scenario = {
        "settings": {"rate_limit": 0},
        "vms": [{"name": name, "scope": "web"} for name in names],
        **({"resources": names[:affected], "events": [event]} if affected else {}),
    }
    with emulator(folder, scenario, "--speed", "10") as (address, _control):
        variables = {
            name: {
                "ansible_connection": "local",
                "ansible_python_interpreter": sys.executable,
                "azure_maintenance_endpoint": f"{address}/vm/{name}",
                "azure_maintenance_folder": str(folder / "marks" / name),
                "azure_maintenance_policy": [{"name": "Anything", "do": "prepare_and_approve"}],
                "azure_maintenance_scope": "web",
                "maintain_max_unavailable": "100%",
                "maintain_wait_timeout": 5,
                "drain_steps": [{"type": "command", "do": ["true"], "undo": ["true"]}],
            }
            for name in names
        }
        inventory = {"_meta": {"hostvars": variables}, "all": {"hosts": names}}
        job = run(folder, number, "maintain.yml", {"maintain_rounds": 1}, inventory=inventory)
    assert job.status == "successful", job.printed
    assert not job.artifacts["azure_maintenance"]["problems"]
    return job


@pytest.mark.parametrize("machines", [2, 14])
def test_a_job_without_an_event_is_a_few_events_of_awx_however_many_machines_it_has(tmp_path, machines):
    job = events_of(tmp_path, 60 + machines, machines)
    assert "No event was shown." in job.printed, job.printed
    assert len(job.events) <= MOST, "\n".join(job.events)


def test_an_event_costs_a_few_for_each_of_its_machines_and_nothing_for_the_others(tmp_path):
    counts = {}
    for number, (machines, affected) in enumerate([(4, 3), (14, 3), (14, 6)], 80):
        job = events_of(tmp_path, number, machines, affected)
        (event,) = job.artifacts["azure_maintenance"]["events"]
        assert len(event["recovered"]) == affected
        counts[machines, affected] = len(job.events)
    assert counts[14, 3] <= MOST_OF_THREE
    assert counts[14, 6] - counts[14, 3] <= 3 * MOST_OF_ANOTHER
    assert counts[14, 3] - counts[4, 3] <= 10 + 3  # meta: end_host; and lines of output that come or not


def test_a_scheduled_job_that_meets_the_marks_of_another_is_no_failure(tmp_path):
    """It leaves the other's machines alone, names it, and ends well when the maintenance is over."""
    scenario = {
        "settings": {"rate_limit": 0},
        "vms": [{"name": name, "scope": "web"} for name in ("web_0", "web_1")],
        "resources": ["web_0"],
        "events": [{"type": "Freeze", "notice": 36000, "tail": 150}],
    }
    with emulator(tmp_path, scenario, "--speed", "10") as (address, _control):
        variables = {
            name: {
                "ansible_connection": "local",
                "ansible_python_interpreter": sys.executable,
                "azure_maintenance_endpoint": f"{address}/vm/{name}",
                "azure_maintenance_folder": str(tmp_path / "marks" / name),
                "azure_maintenance_policy": [{"name": "Anything", "do": "prepare_and_approve"}],
                "azure_maintenance_scope": "web",
                "drain_steps": [{"type": "command", "do": ["true"], "undo": ["true"]}],
            }
            for name in ("web_0", "web_1")
        }
        inventory = {"_meta": {"hostvars": variables}, "all": {"hosts": list(variables)}}
        (schedule,) = [one for one in DATA["azure_maintenance_controller_schedules"] if "extra_data" in one]
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            first = pool.submit(run, tmp_path, 90, "maintain.yml", {"maintain_rounds": 1}, inventory=inventory)
            until(lambda: (tmp_path / "marks" / "web_0" / "mark.json").exists())
            second = run(tmp_path, 91, "maintain.yml", schedule["extra_data"], inventory=inventory)
            assert second.status == "successful", second.printed
            assert "web_0 is handled by" in second.printed and "job 90" in second.printed, second.printed
            assert first.result().status == "successful", first.result().printed
