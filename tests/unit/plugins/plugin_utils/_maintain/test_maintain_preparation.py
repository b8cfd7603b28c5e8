# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which machines a run prepares, and what follows when one of them could not be."""

from __future__ import annotations

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._maintain import record as run_record
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._maintain.runs import (
    approval,
    begin,
    done,
    event,
    look,
    machine,
    one_fails,
    problems,
    todo,
)


class TestBarrier:
    def test_a_failed_preparation_is_never_approved_and_all_is_reverted(self):
        record = one_fails()
        assert todo(record, "approve", "revert", "recover", "outstanding") == {
            "approve": {},
            "revert": ["web1"],
            "recover": [],
            "outstanding": [],
        }
        assert "web2: nginx did not stop" in problems(record)[0] and "was not approved" in problems(record)[0]
        record = run_record.recovered(record, {"web1": done()}, at=8)
        assert record["finished"]
        assert record["events"]["A"]["recovered"]["web1"]["reverted"]

    def test_hold_keeps_the_others_prepared_until_the_event_is_over(self):
        record = one_fails(on_failure="hold")
        assert todo(record, "approve", "revert", "watch") == {"approve": {}, "revert": [], "watch": ["web3"]}
        record = run_record.looked(record, {"web3": look()}, at=2000)
        assert record["todo"]["recover"] == ["web1"]

    def test_a_half_undone_machine_is_recovered_with_the_rest(self):
        record = run_record.looked(begin(on_failure="hold"), {"web3": look(event(resources=["vm1"]))}, at=0)
        record = run_record.prepared(record, {"web1": done(ok=False, revert_errors=["haproxy"])}, at=5)
        record = run_record.looked(record, {"web3": look()}, at=2000)
        assert record["todo"]["recover"] == ["web1"]

    def test_an_unreachable_machine_holds_the_approval(self):
        machines = (machine("web1"), machine("web2", problem="no route"), machine("web3"))
        record = run_record.looked(begin(*machines), {"web3": look(event(resources=["vm1", "vm2"]))}, at=0)
        assert list(record["todo"]["prepare"]) == ["web1"]
        record = run_record.prepared(record, {"web1": done()}, at=5)
        assert record["todo"]["approve"] == {}
        assert "web2" in problems(record)[0] and "not approved" in problems(record)[0]
        record = run_record.looked(record, {"web3": look()}, at=2000)
        assert record["todo"]["recover"] == ["web1"]

    def test_an_event_that_starts_before_its_machines_are_reverted_is_watched_to_its_end(self):
        record = one_fails()
        record = run_record.looked(record, {"web3": look(event(resources=["vm1", "vm2"], status="Started"))}, at=6)
        assert todo(record, "revert", "recover", "outstanding") == {"revert": [], "recover": [], "outstanding": ["A"]}
        record = run_record.looked(record, {"web3": look()}, at=60)
        assert record["todo"]["recover"] == ["web1", "web2"]


class TestSecondEvent:
    def test_a_prepared_machine_is_not_prepared_again_for_a_second_event(self):
        record = run_record.looked(begin(), {"web3": look(event("A"))}, at=0)
        record = run_record.prepared(record, {"web1": done()}, at=5)
        record = run_record.approved(record, {"web2": approval("A", confirmed=False)}, at=6)
        record = run_record.looked(record, {"web2": look(event("A"), event("B"))}, at=10)
        assert record["todo"]["prepare"] == {} and list(record["todo"]["approve"].values())[0]["ids"] == ["B"]

    def test_a_failed_preparation_for_a_second_event_says_nothing_about_the_first(self):
        record = run_record.looked(begin(), {"web3": look(event("A"))}, at=0)
        record = run_record.prepared(record, {"web1": done()}, at=5)
        record = run_record.approved(record, {"web2": approval("A", **look(event("A", status="Started")))}, at=6)
        record = run_record.looked(record, {"web2": look(event("A", status="Started"), event("B"))}, at=60)
        record = run_record.prepared(record, {"web1": done(ok=False)}, at=70)
        assert not record["events"]["A"]["failed"] and record["todo"]["outstanding"] == ["A"]
        record = run_record.looked(record, {"web2": look(event("B"))}, at=90)
        assert record["todo"]["recover"] == ["web1"]  # the revert may have come too early for A


class TestTime:
    def test_the_notice_is_less_by_the_age_of_the_look(self):
        record = begin(machine("web1"), machine("lone1", scope="lone1"))
        seen = look(event(resources=["vm1"], notice=900), looked_at="1970-01-01T00:00:05Z")
        record = run_record.looked(record, {"web1": seen, "lone1": look()}, at=60)
        assert record["todo"]["prepare"]["web1"]["deadline"] == 845  # 900 s after 5, less the margin
        # A clock that is wrong can't make it older than the look.
        wrong = look(event("B", resources=["solo1"], notice=900), looked_at="1969-01-01T00:00:05Z")
        record = run_record.looked(record, {"lone1": wrong}, at=70)
        assert record["events"]["B"]["notice"] == 890

    def test_what_was_left_alone_is_judged_anew_when_its_time_comes_near(self):
        policy = [
            {"name": "far", "when": {"notice_at_least": 600}, "do": "notify"},
            {"name": "near", "do": "prepare_and_approve"},
        ]
        record = run_record.looked(begin(policy=policy), {"web3": look(event(notice=900))}, at=0)
        assert record["events"]["A"]["verdict"] == "notify"
        record = run_record.looked(record, {"web1": look(event(notice=500))}, at=400)
        assert list(record["todo"]["prepare"]) == ["web1"]

    def test_everybody_who_prepares_is_a_participant(self):
        machines = (machine("web1"), machine("web2"))
        record = run_record.looked(
            begin(*machines), {"web1": look(event(resources=["vm1", "vm2"], type="Preempt"))}, at=0
        )
        record = run_record.prepared(record, {"web1": done()}, at=1)
        assert set(record["todo"]["prepare"]) <= set(record["todo"]["participants"])
