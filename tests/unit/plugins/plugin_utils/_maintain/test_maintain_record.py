# Copyright: (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of a run, step by step: who is asked to do what, and what is left at the end."""

from __future__ import annotations

import copy

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._errors import ScheduledEventsError
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._events.policy import DEFAULT_POLICY
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._maintain import record as run_record
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._maintain.machines import Machine

NOT_BEFORE = "Thu, 01 Jan 1970 00:15:00 GMT"  # 900 s after the runs of these tests begin


def event(event_id="A", resources=("vm1",), status="Scheduled", notice=900, **more):
    data = {
        "id": event_id,
        "type": "Reboot",
        "status": status,
        "resource_type": "VirtualMachine",
        "resources": list(resources),
        "raw_resources": list(resources),
        "not_before": NOT_BEFORE if status == "Scheduled" else "",
        "notice": notice if status == "Scheduled" else None,
        "source": "Platform",
        "description": "",
        "duration": -1,
    }
    data.update(more)
    return data


def look(*events, **more):
    return dict({"events": list(events), "incarnation": 7}, **more)


def timed_out(*events):
    return look(*events, failed=False, failure={"kind": "timeout", "status": None, "url": "u"}, msg="nothing changed")


UNREACHABLE = {"unreachable": True, "msg": "no route to host"}
DENIED = {
    "failed": False,
    "failure": {"kind": "denied", "status": 403, "url": "u"},
    "msg": "403",
    "events": [],
    "incarnation": 7,
}


def machine(host, scope="web", **more):
    return Machine(
        host,
        host.replace("web", "vm").replace("lone", "solo"),
        scope,
        more.get("is_linux", True),
        more.get("problem", ""),
    )


def begin(*machines, **options):
    defaults = {
        "policy": DEFAULT_POLICY,
        "margin": 60.0,
        "allow_unknown": False,
        "prepare_within": 3600.0,
        "event_timeout": 3600.0,
        "on_failure": "revert",
        "rounds": 1,
        "wait_timeout": 1000.0,
        "slice": 30.0,
    }
    defaults.update(options)
    return run_record.begin(machines or (machine("web1"), machine("web2"), machine("web3")), defaults, at=0.0, wall=0.0)


def done(ok=True, **more):
    return dict(
        {
            "ok": ok,
            "seconds": 2.0,
            "message": "" if ok else "nginx did not stop",
            "reverted": not ok,
            "revert_errors": [],
        },
        **more,
    )


def approval(*ids, confirmed=True, **more):
    return dict(
        {
            "approved": list(ids),
            "already": [],
            "not_approved": [],
            "confirmed": list(ids) if confirmed else [],
            "failed": False,
        },
        **more,
    )


def todo(record, *names):
    return {name: record["todo"][name] for name in names}


class TestAWholeReboot:
    """Two of three machines of one scope, from the first look to the end."""

    def test_step_by_step(self):
        record = begin()
        assert todo(record, "look", "crew", "act") == {"look": ["web1"], "crew": ["web1"], "act": False}
        assert record["todo"]["look_seconds"] == 180

        record = run_record.looked(record, {"web1": look(event(resources=["vm1", "vm2"]))}, at=10)
        assert record["todo"]["prepare"] == {
            "web1": {"deadline": 850, "ids": ["A"]},
            "web2": {"deadline": 850, "ids": ["A"]},
        }
        assert todo(record, "approve", "look", "crew") == {
            "approve": {},
            "look": ["web3"],
            "crew": ["web1", "web2", "web3"],
        }

        record = run_record.prepared(record, {"web1": done(), "web2": done()}, at=20)
        assert record["todo"]["prepare"] == {}
        assert record["todo"]["approve"] == {
            "web3": {"ids": ["A"], "prepared_resources": ["vm1", "vm2"], "force": False, "wait": True}
        }

        record = run_record.approved(record, {"web3": approval("A")}, at=21)
        assert todo(record, "approve", "recover", "watch", "self_watch") == {
            "approve": {},
            "recover": [],
            "watch": ["web3"],
            "self_watch": [],
        }

        record = run_record.looked(record, {"web3": look(event(resources=["vm1", "vm2"], status="Started"))}, at=22)
        assert todo(record, "act", "recover") == {"act": False, "recover": []}

        record = run_record.looked(record, {"web3": look()}, at=300)
        assert todo(record, "recover", "revert") == {"recover": ["web1", "web2"], "revert": []}
        assert not record["finished"]

        record = run_record.recovered(record, {"web1": done(rebooted=True), "web2": done(rebooted=True)}, at=310)
        assert record["finished"] and record["rounds_done"] == 1 and record["problems"] == []
        entry = record["events"]["A"]
        assert (entry["shown"], entry["started"], entry["gone"], entry["outcome"]) == (10, 22, 300, "completed")
        assert {host: result["ok"] for host, result in entry["recovered"].items()} == {"web1": True, "web2": True}

    def test_records_are_not_changed_in_place(self):
        record = begin()
        before = copy.deepcopy(record)
        run_record.looked(record, {"web1": look(event())}, at=1)
        assert record == before


class TestBarrier:
    def one_fails(self, **options):
        record = run_record.looked(begin(**options), {"web3": look(event(resources=["vm1", "vm2"]))}, at=0)
        return run_record.prepared(record, {"web1": done(), "web2": done(ok=False)}, at=5)

    def test_a_failed_preparation_is_never_approved_and_all_is_reverted(self):
        record = self.one_fails()
        assert todo(record, "approve", "revert", "recover", "outstanding") == {
            "approve": {},
            "revert": ["web1"],
            "recover": [],
            "outstanding": [],
        }
        assert "web2: nginx did not stop" in record["problems"][0] and "was not approved" in record["problems"][0]
        record = run_record.recovered(record, {"web1": done()}, at=8)
        assert record["finished"]
        assert record["events"]["A"]["recovered"]["web1"]["reverted"]

    def test_hold_keeps_the_others_prepared_until_the_event_is_over(self):
        record = self.one_fails(on_failure="hold")
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
        assert "web2" in record["problems"][0] and "not approved" in record["problems"][0]
        record = run_record.looked(record, {"web3": look()}, at=2000)
        assert record["todo"]["recover"] == ["web1"]


class TestApproval:
    def prepared(self, *machines, **event_keys):
        record = run_record.looked(
            begin(*machines), {(machines or [machine("web3")])[-1].host: look(event(**event_keys))}, at=0
        )
        return run_record.prepared(record, {host: done() for host in record["todo"]["prepare"]}, at=5)

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
        record = run_record.approved(self.prepared(), {"web2": result}, at=6)
        assert list(record["todo"]["approve"]) == ["web3"]
        assert record["problems"] == []
        record = run_record.approved(record, {"web3": result}, at=7)
        assert record["todo"]["approve"] == {}
        assert len(record["problems"]) == 1 and text in record["problems"][0]
        assert record["todo"]["outstanding"] == ["A"]  # it starts by itself, and its machines are brought back then

    def test_what_was_sent_is_not_sent_again_though_unconfirmed(self):
        record = run_record.approved(self.prepared(), {"web2": approval("a", confirmed=False, failed=True)}, at=6)
        assert record["todo"]["approve"] == {}
        assert record["events"]["A"]["approval"]["by"] == "web2"
        assert record["problems"] == []

    def test_what_had_started_needs_none(self):
        record = run_record.approved(self.prepared(), {"web2": approval(already=["A"])}, at=6)
        assert record["todo"]["approve"] == {} and record["problems"] == []

    def test_a_lone_machine_approves_and_does_not_stay_to_confirm(self):
        record = self.prepared(machine("lone1", scope="lone1"), resources=["solo1"])
        assert record["todo"]["approve"]["lone1"]["wait"] is False
        assert record["todo"]["self_watch"] == ["lone1"]

    def test_what_the_approver_saw_counts_as_a_look(self):
        record = run_record.approved(self.prepared(), {"web2": approval("A", **look(event(status="Started")))}, at=6)
        assert record["events"]["A"]["started"] == 6

    def test_at_once_without_preparation(self):
        record = run_record.looked(begin(), {"web1": look(event(source="User"))}, at=0)
        assert todo(record, "prepare") == {"prepare": {}} and list(record["todo"]["approve"]) == ["web2"]
        record = run_record.approved(record, {"web2": approval("A")}, at=1)
        record = run_record.looked(record, {"web2": look()}, at=60)
        assert record["finished"] and record["todo"]["recover"] == []

    def test_terminate_is_approved_by_the_machine_itself_and_not_recovered(self):
        record = self.prepared(type="Terminate")
        assert list(record["todo"]["approve"]) == ["web1"]
        record = run_record.approved(record, {"web1": approval("A")}, at=6)
        record = run_record.looked(record, {"web2": look(event(type="Terminate", status="Started"))}, at=7)
        record = run_record.looked(record, {"web2": look()}, at=8)
        assert record["finished"] and record["todo"]["recover"] == [] and record["problems"] == []

    def test_a_cancelled_terminate_is_recovered(self):
        record = self.prepared(type="Terminate")
        record = run_record.looked(record, {"web2": look()}, at=8)
        assert record["events"]["A"]["outcome"] == "cancelled"
        assert record["todo"]["recover"] == ["web1"]

    def test_the_last_machine_of_a_scope_that_is_deleted_is_not_waited_for(self):
        record = self.prepared(machine("lone1", scope="lone1"), resources=["solo1"], type="Terminate")
        record = run_record.approved(record, {"lone1": approval("A", confirmed=False)}, at=6)
        assert record["finished"]


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
        "nothing_said",
        [
            {"events": [], "incarnation": None},
            DENIED,
            UNREACHABLE,
            {"failed": False, "msg": "MODULE FAILURE"},
            look(unusable_events=[{"position": 1, "id": "", "reason": "it has no EventId"}]),
            look(unusable_events=[{"position": 1, "id": "A", "reason": "it has no Resources"}]),
        ],
    )
    def test_an_answer_that_tells_nothing_is_not_the_end_of_an_event(self, nothing_said):
        record = run_record.looked(begin(), {"web1": look(event())}, at=0)
        record = run_record.looked(record, {"web2": nothing_said}, at=10)
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
        for at in range(run_record.FAILURES_IN_A_ROW):
            record = run_record.looked(record, {"lone1": DENIED}, at=at)
        assert record["finished"]
        assert "no machine is left" in record["problems"][0]

    def test_a_success_forgets_earlier_failures(self):
        record = run_record.looked(
            begin(machine("lone1", scope="lone1")), {"lone1": look(event(resources=["solo1"]))}, at=0
        )
        for at in range(3 * run_record.FAILURES_IN_A_ROW):
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
        assert "web1 stayed prepared" in record["problems"][0]

    def test_a_machine_that_does_not_come_back_is_a_problem(self):
        record = run_record.looked(begin(), {"web1": look(event(status="Started"))}, at=0)
        record = run_record.looked(record, {"web2": look()}, at=60)
        record = run_record.recovered(record, {"web1": done(ok=False)}, at=70)
        assert record["finished"] and "web1 is not back" in record["problems"][0]


class TestHowLong:
    def test_rounds(self):
        record = begin(rounds=2)
        for number, event_id in enumerate(["A", "B"]):
            record = run_record.looked(record, {"web1": look(event(event_id, source="User"))}, at=number)
            assert not record["finished"]
            record = run_record.looked(record, {"web2": look()}, at=number)
        assert record["finished"] and record["rounds_done"] == 2

    def test_as_many_as_come_until_the_time_is_over(self):
        record = begin(rounds=0, wait_timeout=100.0)
        record = run_record.looked(record, {"web1": look(event("A", source="User"))}, at=1)
        record = run_record.looked(record, {"web2": look()}, at=99)
        assert not record["finished"] and record["todo"]["look_seconds"] == 1
        record = run_record.looked(record, {"web1": timed_out()}, at=100)
        assert record["finished"]

    def test_waiting_for_nothing_looks_once(self):
        assert begin(wait_timeout=0.0)["finished"]

    def test_what_has_begun_is_never_cut_short(self):
        record = run_record.looked(begin(wait_timeout=0.0), {"web1": look(event())}, at=5)
        assert not record["finished"]
        record = run_record.prepared(record, {"web1": done()}, at=6)
        assert record["todo"]["look_seconds"] == 180

    def test_several_scopes_look_in_slices(self):
        record = begin(machine("web1"), machine("lone1", scope="lone1"))
        assert todo(record, "look", "look_seconds") == {"look": ["lone1", "web1"], "look_seconds": 30}

    def test_the_same_machines_look_again_only_while_there_is_nothing_to_do(self):
        record = run_record.looked(begin(), {"web1": timed_out()}, at=1)
        assert record["todo"]["look_again"]
        assert not run_record.looked(record, {"web1": UNREACHABLE}, at=2)["todo"]["look_again"]  # another one looks now
        assert not run_record.looked(record, {"web1": look(event())}, at=2)["todo"]["look_again"]
        assert not run_record.looked(record, {"web1": timed_out()}, at=1000)["todo"]["look_again"]

    def test_an_event_that_is_only_told_does_not_end_the_wait(self):
        record = run_record.looked(begin(), {"web1": look(event(resources=["stranger"]))}, at=1)
        assert todo(record, "act", "outstanding") == {"act": False, "outstanding": []} and not record["finished"]

    def test_an_event_for_later_is_planned_anew_when_its_time_comes(self):
        record = begin(policy=[{"name": "never", "do": "prepare"}])
        record = run_record.looked(record, {"web1": look(event(notice=4000))}, at=1)
        assert record["events"]["A"]["verdict"] == "later"
        record = run_record.looked(record, {"web1": timed_out(event(notice=3650))}, at=351)
        assert record["events"]["A"]["verdict"] == "later" and record["todo"]["look_seconds"] == 50
        record = run_record.looked(record, {"web1": look(event(notice=3500))}, at=501)
        assert list(record["todo"]["prepare"]) == ["web1"] and record["events"]["A"]["shown"] == 1

    def test_a_policy_that_is_none_is_refused_before_anything_happens(self):
        with pytest.raises(ScheduledEventsError):
            begin(policy=[{"name": "no end", "do": "approve", "when": {"types": ["Freeze"]}}])


class TestFaultsFoundByReview:
    """Sequences that once ended badly."""

    def test_hit_before_it_could_be_prepared_is_brought_back_all_the_same(self):
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

    def test_an_event_that_starts_before_its_machines_are_reverted_is_watched_to_its_end(self):
        record = TestBarrier().one_fails()
        record = run_record.looked(record, {"web3": look(event(resources=["vm1", "vm2"], status="Started"))}, at=6)
        assert todo(record, "revert", "recover", "outstanding") == {"revert": [], "recover": [], "outstanding": ["A"]}
        record = run_record.looked(record, {"web3": look()}, at=60)
        assert record["todo"]["recover"] == ["web1", "web2"]

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
        assert "web1 stayed prepared" in " ".join(record["problems"])

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

    def test_lost_approvers_are_replaced(self):
        machines = [machine(f"web{number}") for number in range(1, 6)]
        record = begin(*machines)
        for host in ("web1", "web2", "web3"):
            record = run_record.looked(record, {host: DENIED}, at=1)
        record = run_record.looked(record, {"web4": look(event(resources=["vm1"]))}, at=2)
        record = run_record.prepared(record, {"web1": done()}, at=3)
        assert list(record["todo"]["approve"]) == ["web4"]

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

    def test_a_service_that_answers_with_nothing_is_not_asked_for_ever(self):
        record = begin(machine("lone1", scope="lone1"))
        for at in range(run_record.FAILURES_IN_A_ROW):
            assert not record["finished"]
            record = run_record.looked(record, {"lone1": {"events": [], "incarnation": None}}, at=at)
        assert record["finished"] and record["problems"]

    def test_an_approval_is_confirmed_by_a_later_document(self):
        record = TestApproval().prepared(machine("lone1", scope="lone1"), resources=["solo1"])
        record = run_record.approved(record, {"lone1": approval("A", confirmed=False)}, at=6)
        record = run_record.looked(record, {"lone1": look(event(resources=["solo1"], status="Started"))}, at=9)
        assert record["events"]["A"]["approval"]["confirmed"]

    def test_everybody_who_prepares_is_in_the_crew(self):
        machines = (machine("web1"), machine("web2"))
        record = run_record.looked(
            begin(*machines), {"web1": look(event(resources=["vm1", "vm2"], type="Preempt"))}, at=0
        )
        record = run_record.prepared(record, {"web1": done()}, at=1)
        assert set(record["todo"]["prepare"]) <= set(record["todo"]["crew"])

    def test_the_notice_is_less_by_the_age_of_the_look(self):
        record = begin(machine("web1"), machine("lone1", scope="lone1"))
        seen = look(event(resources=["vm1"], notice=900), looked_at="1970-01-01T00:00:05Z")
        record = run_record.looked(record, {"web1": seen, "lone1": look()}, at=60)
        assert record["todo"]["prepare"]["web1"]["deadline"] == 845  # 900 s after 5, less the margin
        # A clock that is wrong can't make it older than the look.
        wrong = look(event("B", resources=["solo1"], notice=900), looked_at="1969-01-01T00:00:05Z")
        record = run_record.looked(record, {"lone1": wrong}, at=70)
        assert record["events"]["B"]["notice"] == 890

    def test_a_machine_that_survived_a_preempt_is_brought_back_after_its_next_event(self):
        record = run_record.looked(begin(rounds=0), {"web3": look(event("A", type="Preempt"))}, at=0)
        record = run_record.prepared(record, {"web1": done()}, at=1)
        record = run_record.approved(record, {"web2": approval("A", confirmed=False)}, at=2)
        record = run_record.looked(record, {"web2": look()}, at=3)
        assert record["todo"]["recover"] == []
        record = run_record.looked(record, {"web2": look(event("B", status="Started"))}, at=100)
        record = run_record.looked(record, {"web2": look()}, at=200)
        assert record["todo"]["recover"] == ["web1"]

    def test_what_was_left_alone_is_judged_anew_when_its_time_comes_near(self):
        policy = [
            {"name": "far", "when": {"notice_at_least": 600}, "do": "notify"},
            {"name": "near", "do": "prepare_and_approve"},
        ]
        record = run_record.looked(begin(policy=policy), {"web3": look(event(notice=900))}, at=0)
        assert record["events"]["A"]["verdict"] == "notify"
        record = run_record.looked(record, {"web1": look(event(notice=500))}, at=400)
        assert list(record["todo"]["prepare"]) == ["web1"]

    def test_an_event_that_may_hit_a_machine_without_a_name_is_told(self):
        nameless = machine("web2")._replace(resource_name="")
        record = run_record.looked(begin(machine("web1"), nameless), {"web1": look(event(resources=["vm2"]))}, at=0)
        assert len(record["problems"]) == 1 and "web2" in record["problems"][0]

    def test_a_later_event_in_a_scope_that_is_lost_does_not_hurry_the_others(self):
        record = begin(
            machine("web1"),
            machine("lone1", scope="lone1"),
            policy=[{"name": "all", "do": "prepare"}],
            wait_timeout=9999.0,
        )
        record = run_record.looked(
            record, {"web1": look(), "lone1": look(event(resources=["solo1"], notice=3700))}, at=0
        )
        record = run_record.looked(record, {"lone1": DENIED, "web1": timed_out()}, at=50)
        record = run_record.looked(record, {"web1": timed_out()}, at=500)
        assert record["todo"]["look_seconds"] > 1

    def test_an_approver_that_hangs_is_not_the_next_watcher(self):
        record = TestApproval().prepared()
        assert record["todo"]["watch"] == ["web2"]
        record = run_record.approved(record, {"web2": {"failed": True, "msg": "Timed out after 45 second(s)."}}, at=50)
        assert record["todo"]["watch"] == ["web3"] and list(record["todo"]["approve"]) == ["web3"]

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

    def test_an_event_that_can_not_be_read_is_told_once(self):
        broken = look(unusable_events=[{"position": 1, "id": "X", "reason": "it has no Resources"}])
        record = run_record.looked(begin(), {"web1": broken}, at=0)
        record = run_record.looked(record, {"web2": broken}, at=10)
        (problem,) = record["problems"]
        assert "web1" in problem and "X" in problem and "it has no Resources" in problem

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
            and "vm2, which this run knows nothing about" in record["problems"][0]
        )
        record = run_record.prepared(record, {"web1": done()}, at=15)
        assert record["todo"]["approve"] == {}
        record = run_record.looked(record, {"web2": look(shown), "web3": look(shown)}, at=20)
        assert list(record["todo"]["prepare"]) == ["web2"] and record["problems"] == []
        record = run_record.prepared(record, {"web2": done()}, at=25)
        assert record["todo"]["approve"]["web3"]["prepared_resources"] == ["vm1", "vm2"]

    def test_what_has_started_is_not_planned_anew(self):
        record = run_record.looked(
            begin(*self.MACHINES), {"web1": look(event("A", ["vm1", "vm2"], status="Started"))}, at=0
        )
        record = run_record.looked(record, {"web2": look(event("A", ["vm1", "vm2"], status="Started"))}, at=5)
        assert record["events"]["A"]["affected"] == ["web1"]


def test_a_long_watch_does_not_nest_without_end():
    record = begin(wait_timeout=1e6)
    again, step_again = [], []
    for at in range(1, 2000):
        record = run_record.looked(record, {"web1": timed_out()}, at=at)
        again.append(record["todo"]["look_again"])
        if not again[-1]:
            step_again.append(record["todo"]["step_again"])
    assert again.count(False) == len(step_again) == 1999 // run_record.NESTED
    assert step_again.count(False) == len(step_again) // run_record.NESTED
