# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Types, statuses and ids mean the same in every case of letters: what an event is, Event says."""

from __future__ import annotations

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._maintain import record as run_record
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._maintain.runs import (
    all_prepared,
    approval,
    begin,
    done,
    event,
    look,
    machine,
)

STARTED = ("Started", "started", "STARTED")


def started(status, **more):
    """An event that has started, with its status in some case of letters."""
    return event(**more) | {"status": status, "not_before": "", "notice": None}


@pytest.mark.parametrize("status", STARTED)
class TestStarted:
    def test_seen_so_at_first_its_machines_are_brought_back_when_it_is_over(self, status):
        record = run_record.looked(begin(), {"web1": look(started(status))}, at=1)
        assert record["events"]["A"]["verdict"] == "watch" and record["events"]["A"]["started"] == 1
        assert record["hosts"]["web1"]["state"] == "affected"
        record = run_record.looked(record, {"web2": look()}, at=60)
        assert record["events"]["A"]["outcome"] == "completed" and record["todo"]["recover"] == ["web1"]

    def test_it_starts_under_our_eyes(self, status):
        record = run_record.approved(all_prepared(), {"web2": approval("A", confirmed=False)}, at=6)
        record = run_record.looked(record, {"web2": look(started(status))}, at=7)
        entry = record["events"]["A"]
        assert entry["started"] == 7 and entry["status"] == status and entry["approval"]["confirmed"]
        record = run_record.looked(record, {"web2": look()}, at=60)
        assert record["events"]["A"]["outcome"] == "completed"

    def test_it_is_neither_prepared_for_nor_approved_any_more(self, status):
        record = run_record.looked(begin(), {"web1": look(event())}, at=0)
        record = run_record.looked(record, {"web2": look(started(status))}, at=1)
        assert record["todo"]["prepare"] == {} and record["todo"]["approve"] == {}


@pytest.mark.parametrize("event_type", ["Terminate", "terminate", "TERMINATE"])
class TestTerminate:
    def test_only_the_machine_that_it_deletes_approves_it(self, event_type):
        record = all_prepared(type=event_type)
        assert list(record["todo"]["approve"]) == ["web1"]
        record = run_record.approved(record, {"web1": {}}, at=6)
        assert record["todo"]["approve"] == {}

    def test_its_machine_is_not_brought_back_and_not_missed(self, event_type):
        record = run_record.approved(all_prepared(type=event_type), {"web1": approval("A")}, at=6)
        record = run_record.looked(record, {"web2": look(started("STARTED", type=event_type))}, at=7)
        record = run_record.looked(record, {"web2": look()}, at=8)
        assert record["finished"] and record["todo"]["recover"] == [] and record["problems"] == {}

    def test_the_last_machine_of_a_scope_is_not_waited_for(self, event_type):
        lone = machine("lone1", scope="lone1")
        record = all_prepared(lone, resources=["solo1"], type=event_type)
        assert run_record.approved(record, {"lone1": approval("A", confirmed=False)}, at=6)["finished"]


@pytest.mark.parametrize("event_type", ["Preempt", "preempt", "PREEMPT"])
def test_an_evicted_machine_is_not_brought_back(event_type):
    record = run_record.looked(begin(), {"web3": look(event(type=event_type))}, at=0)
    record = run_record.prepared(record, {"web1": done()}, at=1)
    record = run_record.approved(record, {"web2": approval("A", confirmed=False)}, at=2)
    record = run_record.looked(record, {"web2": look()}, at=3)
    assert record["todo"]["recover"] == [] and record["finished"]


@pytest.mark.parametrize("event_id", ["a1b2", "A1B2"])
def test_an_id_is_one_event(event_id):
    record = run_record.looked(begin(), {"web1": look(event("a1B2"))}, at=0)
    record = run_record.looked(record, {"web2": look(event(event_id))}, at=1)
    assert list(record["events"]) == ["A1B2"] and record["events"]["A1B2"]["gone"] is None
