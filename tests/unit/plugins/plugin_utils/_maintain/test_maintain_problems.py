# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run leaves for a person is said, and said once."""

from __future__ import annotations

import json

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._maintain import record as run_record
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._maintain.runs import (
    DENIED,
    approval,
    begin,
    done,
    event,
    look,
    machine,
    problems,
    timed_out,
)


class TestProblems:
    def test_that_nobody_is_left_to_approve_is_reported(self):
        record = run_record.looked(begin(), {"web3": look(event())}, at=0)
        for host in ("web2", "web3"):
            record = run_record.looked(record, {host: DENIED}, at=1)
        record["lost"].append("web1")
        record = run_record.prepared(record, {"web1": done()}, at=3)
        assert record["todo"]["approve"] == {} and "could not be approved" in problems(record)[0]

    def test_a_scope_that_nobody_sees_is_reported(self):
        record = begin()
        for host in ("web1", "web2", "web3"):
            record = run_record.looked(record, {host: DENIED}, at=1)
        assert record["finished"] and "scope 'web'" in problems(record)[0] and "403" in problems(record)[0]
        assert problems(run_record.looked(record, {}, at=2)) == problems(record)  # with the reason of that time
        machines = (machine("web1"), machine("lone1", scope="lone1", problem="no route"))
        record = run_record.looked(begin(*machines), {"web1": look()}, at=1)
        assert len(problems(record)) == 1 and "lone1: no route" in problems(record)[0]
        assert len(problems(run_record.looked(record, {"web1": look()}, at=2))) == 1

    def test_an_event_that_may_affect_a_machine_without_a_name_is_reported(self):
        nameless = machine("web2")._replace(resource_name="")
        record = run_record.looked(begin(machine("web1"), nameless), {"web1": look(event(resources=["vm2"]))}, at=0)
        assert len(problems(record)) == 1 and "web2" in problems(record)[0]

    def test_an_event_that_can_not_be_read_is_reported_once(self):
        broken = look(unusable_events=[{"position": 1, "id": "X", "reason": "it has no Resources"}])
        record = run_record.looked(begin(), {"web1": broken}, at=0)
        record = run_record.looked(record, {"web2": broken}, at=10)
        (problem,) = problems(record)
        assert "web1" in problem and "X" in problem and "it has no Resources" in problem


class TestOneSentenceForEachSubject:
    def left_prepared(self):
        """An event that stays longer than the run watches it."""
        record = run_record.looked(begin(event_timeout=100.0), {"web1": look(event("A"), event("B", ["vm2"]))}, at=0)
        record = run_record.prepared(record, {"web1": done(), "web2": done()}, at=5)
        record = run_record.approved(record, {"web3": approval("A", "B")}, at=6)
        both = timed_out(event("A", status="Started"), event("B", ["vm2"], status="Started"))
        return run_record.looked(record, {"web3": both}, at=1000)

    def test_a_machine_that_stayed_prepared_is_named_once(self):
        record = self.left_prepared()
        assert record["finished"]
        assert [sum(f"{host} stayed prepared" in said for said in problems(record)) for host in ("web1", "web2")] == [
            1,
            1,
        ]

    def test_a_machine_that_came_back_after_all_is_not_named(self):
        record = self.left_prepared()
        record = run_record.looked(record, {"web3": look(event("B", ["vm2"], status="Started"))}, at=1010)
        assert record["todo"]["recover"] == ["web1"]
        record = run_record.recovered(record, {"web1": done()}, at=1020)
        assert [said for said in problems(record) if "stayed prepared" in said] == [
            "web2 stayed prepared: bring it back with the playbook recover once its maintenance is over."
        ]

    def test_a_machine_that_did_not_come_back_is_not_also_said_to_have_stayed_prepared(self):
        record = self.left_prepared()
        record = run_record.looked(record, {"web3": look(event("B", ["vm2"], status="Started"))}, at=1010)
        record = run_record.recovered(record, {"web1": done(ok=False, message="no route")}, at=1020)
        assert [said for said in problems(record) if said.startswith("web1")] == [
            "web1 is not back in service: no route"
        ]

    def test_what_failed_to_come_back_and_came_back_later_is_not_named(self):
        record = run_record.looked(begin(rounds=2), {"web1": look(event(status="Started"))}, at=0)
        record = run_record.looked(record, {"web2": look()}, at=60)
        record = run_record.recovered(record, {"web1": done(ok=False)}, at=70)
        assert problems(record) == ["web1 is not back in service: nginx did not stop"]
        record = run_record.looked(record, {"web2": look(event("B"))}, at=80)
        record = run_record.prepared(record, {"web1": done()}, at=90)
        record = run_record.looked(record, {"web2": look()}, at=100)
        record = run_record.recovered(record, {"web1": done()}, at=110)
        assert problems(record) == []

    def test_two_reasons_of_one_event_are_both_said(self):
        machines = (machine("web1"), machine("web2", problem="no route"), machine("web3"))
        record = run_record.looked(begin(*machines), {"web3": look(event(resources=["vm1", "vm2"]))}, at=0)
        record = run_record.prepared(record, {"web1": done(ok=False)}, at=5)
        held, failed = problems(record)
        assert "no route" in held and "nginx did not stop" in failed

    def test_an_event_that_turns_out_to_be_ours_was_not_left_alone(self):
        nameless = machine("web2", scope="web2")._replace(resource_name="")
        record = begin(machine("web1", scope="web1"), nameless)
        shown = event(resources=["vm1"])
        record = run_record.looked(record, {"web2": look(shown)}, at=0)
        assert "was left alone, but may affect web2" in problems(record)[0]
        record = run_record.looked(record, {"web1": look(shown)}, at=5)
        assert problems(record) == [] and list(record["todo"]["prepare"]) == ["web1"]

    def test_what_could_not_be_approved_and_was_after_all_is_not_named(self):
        machines = (machine("web1", scope="web1"), machine("web2", scope="web2"))
        shown = event(resources=["vm1", "vm2"])
        record = run_record.looked(begin(*machines, allow_unknown=True), {"web1": look(shown), "web2": look()}, at=0)
        record["lost"].append("web1")
        record = run_record.prepared(record, {"web1": done()}, at=5)
        assert "could not be approved" in problems(record)[0]
        record = run_record.looked(record, {"web2": look(shown)}, at=10)
        record = run_record.prepared(record, {"web2": done()}, at=15)
        record = run_record.approved(record, {"web2": approval("A")}, at=16)
        assert "could not be approved" not in " ".join(problems(record))

    def test_a_record_is_plain_data(self):
        """A playbook keeps it in a fact: what JSON would change is lost there."""
        record = self.left_prepared()
        assert json.loads(json.dumps(record)) == record
