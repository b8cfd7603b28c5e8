# Copyright: (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run leaves for a person is said, and said once."""

from __future__ import annotations

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._maintain import record as run_record
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._maintain.runs import (
    DENIED,
    begin,
    done,
    event,
    look,
    machine,
)


class TestProblems:
    def test_it_is_told_when_nobody_is_left_to_approve(self):
        record = run_record.looked(begin(), {"web3": look(event())}, at=0)
        for host in ("web2", "web3"):
            record = run_record.looked(record, {host: DENIED}, at=1)
        record["lost"].append("web1")
        record = run_record.prepared(record, {"web1": done()}, at=3)
        assert record["todo"]["approve"] == {} and "could not be approved" in record["problems"][0]

    def test_a_scope_that_nobody_sees_is_told(self):
        record = begin()
        for host in ("web1", "web2", "web3"):
            record = run_record.looked(record, {host: DENIED}, at=1)
        assert record["finished"] and "scope 'web'" in record["problems"][0] and "403" in record["problems"][0]
        machines = (machine("web1"), machine("lone1", scope="lone1", problem="no route"))
        record = run_record.looked(begin(*machines), {"web1": look()}, at=1)
        assert len(record["problems"]) == 1 and "lone1: no route" in record["problems"][0]
        assert len(run_record.looked(record, {"web1": look()}, at=2)["problems"]) == 1

    def test_an_event_that_may_hit_a_machine_without_a_name_is_told(self):
        nameless = machine("web2")._replace(resource_name="")
        record = run_record.looked(begin(machine("web1"), nameless), {"web1": look(event(resources=["vm2"]))}, at=0)
        assert len(record["problems"]) == 1 and "web2" in record["problems"][0]

    def test_an_event_that_can_not_be_read_is_told_once(self):
        broken = look(unusable_events=[{"position": 1, "id": "X", "reason": "it has no Resources"}])
        record = run_record.looked(begin(), {"web1": broken}, at=0)
        record = run_record.looked(record, {"web2": broken}, at=10)
        (problem,) = record["problems"]
        assert "web1" in problem and "X" in problem and "it has no Resources" in problem
