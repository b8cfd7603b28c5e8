# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which machine approves an event, which one takes over, and when nobody does."""

from __future__ import annotations

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._maintain import record as run_record
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._maintain.runs import (
    DENIED,
    UNREACHABLE,
    all_prepared,
    approval,
    begin,
    done,
    event,
    look,
    machine,
    problems,
    todo,
)


class TestApproval:
    @pytest.mark.parametrize(
        "result, text",
        [
            (UNREACHABLE, "connection was lost"),
            ({"failed": False, "msg": "MODULE FAILURE"}, "MODULE FAILURE"),
            ({}, "returned nothing"),
            (approval(not_approved=[{"id": "a", "reason": "unknown_machines", "message": "lists vm9"}]), "lists vm9"),
        ],
    )
    def test_the_second_takes_over_once(self, result, text):
        record = run_record.approved(all_prepared(), {"web2": result}, at=6)
        assert list(record["todo"]["approve"]) == ["web3"]
        assert problems(record) == []
        record = run_record.approved(record, {"web3": result}, at=7)
        assert record["todo"]["approve"] == {}
        assert len(problems(record)) == 1 and text in problems(record)[0]
        assert record["todo"]["outstanding"] == ["A"]  # it starts by itself, and its machines are brought back then

    def test_what_was_sent_is_not_sent_again_though_unconfirmed(self):
        record = run_record.approved(all_prepared(), {"web2": approval("a", confirmed=False, failed=True)}, at=6)
        assert record["todo"]["approve"] == {}
        assert record["events"]["A"]["approval"]["by"] == "web2"
        assert problems(record) == []

    def test_what_had_started_needs_none(self):
        record = run_record.approved(all_prepared(), {"web2": approval(already=["A"])}, at=6)
        assert record["todo"]["approve"] == {} and problems(record) == []

    def test_a_lone_machine_approves_and_does_not_stay_to_confirm(self):
        record = all_prepared(machine("lone1", scope="lone1"), resources=["solo1"])
        assert record["todo"]["approve"]["lone1"]["wait"] is False
        assert record["todo"]["self_watch"] == ["lone1"]

    def test_what_the_approver_saw_counts_as_a_look(self):
        record = run_record.approved(all_prepared(), {"web2": approval("A", **look(event(status="Started")))}, at=6)
        assert record["events"]["A"]["started"] == 6

    def test_at_once_without_preparation(self):
        record = run_record.looked(begin(), {"web1": look(event(source="User"))}, at=0)
        assert todo(record, "prepare") == {"prepare": {}} and list(record["todo"]["approve"]) == ["web2"]
        record = run_record.approved(record, {"web2": approval("A")}, at=1)
        record = run_record.looked(record, {"web2": look()}, at=60)
        assert record["finished"] and record["todo"]["recover"] == []

    def test_terminate_is_approved_by_the_machine_itself_and_not_recovered(self):
        record = all_prepared(type="Terminate")
        assert list(record["todo"]["approve"]) == ["web1"]
        record = run_record.approved(record, {"web1": approval("A")}, at=6)
        record = run_record.looked(record, {"web2": look(event(type="Terminate", status="Started"))}, at=7)
        record = run_record.looked(record, {"web2": look()}, at=8)
        assert record["finished"] and record["todo"]["recover"] == [] and problems(record) == []

    def test_a_cancelled_terminate_is_recovered(self):
        record = all_prepared(type="Terminate")
        record = run_record.looked(record, {"web2": look()}, at=8)
        assert record["events"]["A"]["outcome"] == "cancelled"
        assert record["todo"]["recover"] == ["web1"]

    def test_the_last_machine_of_a_scope_that_is_deleted_is_not_waited_for(self):
        record = all_prepared(machine("lone1", scope="lone1"), resources=["solo1"], type="Terminate")
        record = run_record.approved(record, {"lone1": approval("A", confirmed=False)}, at=6)
        assert record["finished"]

    def test_lost_approvers_are_replaced(self):
        machines = [machine(f"web{number}") for number in range(1, 6)]
        record = begin(*machines)
        for host in ("web1", "web2", "web3"):
            record = run_record.looked(record, {host: DENIED}, at=1)
        record = run_record.looked(record, {"web4": look(event(resources=["vm1"]))}, at=2)
        record = run_record.prepared(record, {"web1": done()}, at=3)
        assert list(record["todo"]["approve"]) == ["web4"]

    def test_an_approval_is_confirmed_by_a_later_document(self):
        record = all_prepared(machine("lone1", scope="lone1"), resources=["solo1"])
        record = run_record.approved(record, {"lone1": approval("A", confirmed=False)}, at=6)
        record = run_record.looked(record, {"lone1": look(event(resources=["solo1"], status="Started"))}, at=9)
        assert record["events"]["A"]["approval"]["confirmed"]

    def test_an_approver_that_hangs_is_not_the_next_watcher(self):
        record = all_prepared()
        assert record["todo"]["watch"] == ["web2"]
        record = run_record.approved(record, {"web2": {"failed": True, "msg": "Timed out after 45 second(s)."}}, at=50)
        assert record["todo"]["watch"] == ["web3"] and list(record["todo"]["approve"]) == ["web3"]
