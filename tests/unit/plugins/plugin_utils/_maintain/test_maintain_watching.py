# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who watches an event, until when, and when its machines are brought back."""

from __future__ import annotations

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._maintain import record as run_record
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._maintain.documents import FAILURES_IN_A_ROW
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._maintain.runs import (
    DENIED,
    UNREACHABLE,
    approval,
    begin,
    done,
    event,
    look,
    machine,
    problems,
    timed_out,
    todo,
)


class TestWatching:
    def test_one_event_that_stays_does_not_hold_up_the_others(self):
        record = begin(machine("web1"), machine("web2"), machine("web3"), rounds=1)
        record = run_record.looked(record, {"web1": look(event("A"), event("B", resources=["vm2"]))}, at=0)
        record = run_record.prepared(record, {"web1": done(), "web2": done()}, at=5)
        record = run_record.approved(record, {"web3": approval("A", "B")}, at=6)
        record = run_record.looked(record, {"web3": look(event("B", resources=["vm2"], status="Started"))}, at=60)
        assert todo(record, "recover", "outstanding") == {"recover": ["web1"], "outstanding": ["B"]}

    def test_a_machine_with_two_events_is_recovered_after_the_last(self):
        record = run_record.looked(begin(), {"web3": look(event("A"), event("B"))}, at=0)
        record = run_record.prepared(record, {"web1": done()}, at=5)
        record = run_record.looked(record, {"web2": look(event("B"))}, at=60)
        assert record["todo"]["recover"] == []
        record = run_record.looked(record, {"web2": look()}, at=90)
        assert record["todo"]["recover"] == ["web1"]

    def test_a_new_event_is_taken_up_while_another_is_watched(self):
        record = run_record.looked(begin(), {"web3": look(event("A"))}, at=0)
        record = run_record.prepared(record, {"web1": done()}, at=5)
        record = run_record.looked(
            record, {"web2": look(event("A", status="Started"), event("B", resources=["vm3"]))}, at=60
        )
        assert list(record["todo"]["prepare"]) == ["web3"]

    def test_hardware_failure_without_notice_is_recovered_once_it_has_left(self):
        record = run_record.looked(begin(), {"web1": look(event(status="Started"))}, at=0)
        assert todo(record, "prepare", "approve", "recover", "watch") == {
            "prepare": {},
            "approve": {},
            "recover": [],
            "watch": ["web2"],
        }
        record = run_record.looked(record, {"web2": look()}, at=60)
        assert record["events"]["A"]["outcome"] == "completed"
        assert record["todo"]["recover"] == ["web1"]

    def test_cancelled_before_it_was_approved(self):
        record = run_record.looked(begin(), {"web1": look(event())}, at=0)
        record = run_record.prepared(record, {"web1": done()}, at=5)
        record = run_record.looked(record, {"web2": look()}, at=6)
        assert record["events"]["A"]["outcome"] == "cancelled"
        assert record["todo"]["recover"] == ["web1"] and record["todo"]["approve"] == {}

    def test_gone_after_its_time_without_being_seen_to_start_is_unknown(self):
        record = run_record.looked(begin(), {"web1": look(event())}, at=0)
        record = run_record.looked(record, {"web2": look()}, at=901)
        assert record["events"]["A"]["outcome"] == "unknown"

    @pytest.mark.parametrize(
        "answer",
        [
            {"events": [], "incarnation": None},
            DENIED,
            UNREACHABLE,
            {"failed": False, "msg": "MODULE FAILURE"},
            look(unusable_events=[{"position": 1, "id": "", "reason": "it has no EventId"}]),
            look(unusable_events=[{"position": 1, "id": "A", "reason": "it has no Resources"}]),
        ],
    )
    def test_an_answer_that_says_nothing_is_not_the_end_of_an_event(self, answer):
        record = run_record.looked(begin(), {"web1": look(event())}, at=0)
        record = run_record.looked(record, {"web2": answer}, at=10)
        assert record["events"]["A"]["gone"] is None

    def test_a_wait_that_gave_up_is_a_good_look(self):
        record = run_record.looked(begin(), {"web1": timed_out(event())}, at=0)
        assert list(record["events"]) == ["A"] and record["lost"] == []

    def test_a_watcher_that_fails_is_replaced(self):
        record = run_record.looked(begin(), {"web1": UNREACHABLE}, at=0)
        assert record["todo"]["look"] == ["web2"]
        record = run_record.looked(record, {"web2": DENIED}, at=0)
        assert record["todo"]["look"] == ["web3"]
        hung = {"failed": False, "failure": {"kind": "timeout"}, "msg": "no answer", "events": [], "incarnation": None}
        record = run_record.looked(record, {"web3": hung}, at=0)
        assert record["todo"]["look"] == [] and record["finished"]

    def test_an_empty_answer_is_no_reason_to_ask_another_machine(self):
        record = run_record.looked(begin(), {"web1": {"events": [], "incarnation": None}}, at=0)
        assert record["todo"]["look"] == ["web1"]

    def test_a_lone_machine_is_asked_again_while_it_is_away(self):
        record = run_record.looked(
            begin(machine("lone1", scope="lone1")), {"lone1": look(event(resources=["solo1"]))}, at=0
        )
        for at in range(1, 40):
            record = run_record.looked(record, {"lone1": UNREACHABLE}, at=at)
        assert record["todo"]["look"] == ["lone1"] and record["todo"]["look_seconds"] == 30
        for at in range(FAILURES_IN_A_ROW):
            record = run_record.looked(record, {"lone1": DENIED}, at=at)
        assert record["finished"]
        assert "no machine is left" in problems(record)[0]

    def test_a_success_forgets_earlier_failures(self):
        record = run_record.looked(
            begin(machine("lone1", scope="lone1")), {"lone1": look(event(resources=["solo1"]))}, at=0
        )
        for at in range(3 * FAILURES_IN_A_ROW):
            record = run_record.looked(record, {"lone1": DENIED if at % 3 else look(event(resources=["solo1"]))}, at=at)
        assert record["lost"] == []

    def test_an_event_that_stays_too_long_ends_the_watch_and_leaves_its_machines_alone(self):
        record = run_record.looked(begin(event_timeout=100.0), {"web1": look(event())}, at=0)
        record = run_record.prepared(record, {"web1": done()}, at=5)
        record = run_record.looked(record, {"web2": timed_out(event(status="Started"))}, at=900)
        assert record["todo"]["look_seconds"] == 100
        record = run_record.looked(record, {"web2": timed_out(event(status="Started"))}, at=999.5)
        assert not record["finished"] and record["todo"]["look_seconds"] == 1
        record = run_record.looked(record, {"web2": timed_out(event(status="Started"))}, at=1000)
        assert record["finished"] and record["todo"]["revert"] == [] and record["todo"]["recover"] == []
        still, left = problems(record)
        assert "was still Started 100 s after its not-before" in still and "web1 stayed prepared" in left

    def test_a_machine_that_does_not_come_back_is_a_problem(self):
        record = run_record.looked(begin(), {"web1": look(event(status="Started"))}, at=0)
        record = run_record.looked(record, {"web2": look()}, at=60)
        record = run_record.recovered(record, {"web1": done(ok=False)}, at=70)
        assert record["finished"] and "web1 is not back" in problems(record)[0]

    @pytest.mark.parametrize("unusable, gone", [("A", None), ("", None), ("X", 10)])
    def test_only_an_entry_that_may_be_the_event_keeps_it(self, unusable, gone):
        record = run_record.looked(begin(), {"web1": look(event())}, at=0)
        broken = look(unusable_events=[{"position": 1, "id": unusable, "reason": "it has no Resources"}])
        record = run_record.looked(record, {"web2": broken}, at=10)
        assert record["events"]["A"]["gone"] == gone

    def test_what_the_approver_can_not_read_any_more_is_not_over(self):
        record = run_record.looked(begin(), {"web1": look(event())}, at=0)
        record = run_record.prepared(record, {"web1": done()}, at=5)
        seen = look(unusable_events=[{"position": 1, "id": "A", "reason": "it has no Resources"}])
        record = run_record.approved(record, {"web2": dict(seen, **approval("A", confirmed=False))}, at=6)
        assert record["events"]["A"]["gone"] is None and record["todo"]["recover"] == []

    def test_what_nobody_saw_may_have_started(self):
        record = run_record.looked(
            begin(machine("lone1", scope="lone1")), {"lone1": look(event(resources=["solo1"]))}, at=0
        )
        record = run_record.prepared(record, {"lone1": done(ok=False)}, at=5)
        record = run_record.looked(record, {"lone1": UNREACHABLE}, at=10)
        record = run_record.looked(record, {"lone1": look()}, at=60)
        assert record["events"]["A"]["outcome"] == "unknown"

    def test_what_was_seen_again_after_a_failure_was_cancelled(self):
        policy = [{"name": "all", "do": "prepare"}]
        record = run_record.looked(
            begin(machine("lone1", scope="lone1"), policy=policy), {"lone1": look(event(resources=["solo1"]))}, at=0
        )
        record = run_record.prepared(record, {"lone1": done()}, at=5)
        record = run_record.looked(record, {"lone1": UNREACHABLE}, at=10)
        record = run_record.looked(record, {"lone1": timed_out(event(resources=["solo1"]))}, at=60)
        record = run_record.looked(record, {"lone1": look()}, at=90)
        assert record["events"]["A"]["outcome"] == "cancelled"

    def test_a_service_that_answers_with_nothing_is_not_asked_for_ever(self):
        record = begin(machine("lone1", scope="lone1"))
        for at in range(FAILURES_IN_A_ROW):
            assert not record["finished"]
            record = run_record.looked(record, {"lone1": {"events": [], "incarnation": None}}, at=at)
        assert record["finished"] and problems(record)


class TestRecovery:
    def test_affected_before_it_could_be_prepared_is_brought_back_all_the_same(self):
        record = run_record.looked(begin(), {"web1": look(event())}, at=0)
        record = run_record.looked(record, {"web2": look(event(status="Started"))}, at=1)
        assert record["todo"]["prepare"] == {}
        record = run_record.looked(record, {"web2": look()}, at=60)
        assert record["todo"]["recover"] == ["web1"]

    def test_too_late_to_prepare_is_brought_back_all_the_same(self):
        record = run_record.looked(begin(), {"web1": look(event(notice=0))}, at=0)
        assert record["events"]["A"]["verdict"] == "watch"
        record = run_record.looked(record, {"web2": look(event(status="Started"))}, at=1)
        record = run_record.looked(record, {"web2": look()}, at=60)
        assert record["todo"]["recover"] == ["web1"]

    def test_no_recovery_under_an_event_that_is_no_longer_watched(self):
        record = run_record.looked(begin(event_timeout=100.0), {"web3": look(event("A", notice=10), event("B"))}, at=0)
        record = run_record.prepared(record, {"web1": done()}, at=5)
        record = run_record.approved(record, {"web2": approval("A", "B")}, at=6)
        record = run_record.looked(
            record, {"web2": look(event("A", status="Started"), event("B", status="Started"))}, at=200
        )
        assert record["events"]["A"]["closed"]
        record = run_record.looked(record, {"web2": look(event("A", status="Started"))}, at=201)
        assert record["todo"]["recover"] == [] and record["finished"]
        assert "web1 stayed prepared" in " ".join(problems(record))

    def test_a_machine_that_survived_a_preempt_is_brought_back_after_its_next_event(self):
        record = run_record.looked(begin(rounds=0), {"web3": look(event("A", type="Preempt"))}, at=0)
        record = run_record.prepared(record, {"web1": done()}, at=1)
        record = run_record.approved(record, {"web2": approval("A", confirmed=False)}, at=2)
        record = run_record.looked(record, {"web2": look()}, at=3)
        assert record["todo"]["recover"] == []
        record = run_record.looked(record, {"web2": look(event("B", status="Started"))}, at=100)
        record = run_record.looked(record, {"web2": look()}, at=200)
        assert record["todo"]["recover"] == ["web1"]


class TestUndeclaredSets:
    """Machines of one availability set that the inventory does not declare: each is a scope of its own, and all see every event."""

    MACHINES = (machine("web1", scope="web1"), machine("web2", scope="web2"), machine("web3", scope="web3"))

    def test_the_others_go_on_looking_for_themselves(self):
        record = run_record.looked(
            begin(*self.MACHINES), {name: look(event("A", ["vm3"])) for name in ("web1", "web2", "web3")}, at=0
        )
        assert record["todo"]["look"] == ["web1", "web2"]
        record = run_record.prepared(record, {"web3": done()}, at=5)
        both = look(event("A", ["vm3"]), event("B", ["vm2"]))
        record = run_record.looked(record, {"web1": both, "web2": both}, at=10)
        assert record["events"]["B"]["affected"] == ["web2"] and list(record["todo"]["prepare"]) == ["web2"]

    def test_a_machine_that_sees_an_event_later_is_prepared_too(self):
        record = run_record.looked(begin(*self.MACHINES), {name: look() for name in ("web1", "web2", "web3")}, at=0)
        shown = event("A", ["vm1", "vm2"])
        record = run_record.looked(record, {"web1": look(shown), "web2": timed_out(), "web3": timed_out()}, at=10)
        assert (
            list(record["todo"]["prepare"]) == ["web1"]
            and "vm2, which this run knows nothing about" in problems(record)[0]
        )
        record = run_record.prepared(record, {"web1": done()}, at=15)
        assert record["todo"]["approve"] == {}
        record = run_record.looked(record, {"web2": look(shown), "web3": look(shown)}, at=20)
        assert list(record["todo"]["prepare"]) == ["web2"] and problems(record) == []
        record = run_record.prepared(record, {"web2": done()}, at=25)
        assert record["todo"]["approve"]["web3"]["prepared_resources"] == ["vm1", "vm2"]

    def test_what_has_started_is_not_planned_anew(self):
        record = run_record.looked(
            begin(*self.MACHINES), {"web1": look(event("A", ["vm1", "vm2"], status="Started"))}, at=0
        )
        record = run_record.looked(record, {"web2": look(event("A", ["vm1", "vm2"], status="Started"))}, at=5)
        assert record["events"]["A"]["affected"] == ["web1"]
