# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Machines that are lost, late, taken away or one too many; several events at once."""

from __future__ import annotations

import re

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.options import PlanError
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._fleet.runs import (
    NO_ROUTE,
    Machine,
    Run,
    event,
    rules,
    started,
)


def lone(*hosts, **facts):
    return [Machine(host, scope=host, **facts) for host in hosts]


# ---- lost ----


def test_a_lost_machine_is_called_again_after_longer_and_longer_pauses():
    run = Run(*lone("web1"), rounds=0, wait_timeout=400.0)
    run["web1"].down = NO_ROUTE
    called = []
    for _number in range(100):
        run.tick(seconds=1.0)
        called = sorted({at for at, _request in run["web1"].asked})
        if len(called) > 8:
            break
    pauses = [round(b - a) for a, b in zip(called, called[1:], strict=False)]
    assert pauses[:3] == sorted(pauses[:3])
    assert pauses[0] <= 5 and 30 <= pauses[-1] <= 35


def test_a_lone_machine_that_can_not_look_once_is_looked_at_again():
    run = Run(*lone("web1", "web2"))
    run.tick(2)
    run["web1"].blind = "the service hangs"
    run.tick(2)
    run["web1"].blind = ""
    run.show(event("A", ["vm1"]), to=["web1"])
    run.until(lambda: run.sent("A"))


def test_one_that_is_down_at_the_beginning_takes_part_later():
    run = Run()
    run["web1"].down = NO_ROUTE
    run.tick(3)
    assert run.problems == [f"web1 could not be asked: {NO_ROUTE}"]
    run["web1"].down = ""
    run.show(event("A", ["vm1"]))
    run.until(lambda: run.sent("A"))
    assert not [problem for problem in run.problems if "could not be asked" in problem]


def test_a_run_without_time_calls_more_than_once():
    run = Run(wait_timeout=0.0)
    run["web2"].down = NO_ROUTE
    run.tick()
    run["web2"].down = ""
    run.to_end()
    assert run.problems == []


def test_one_that_an_event_took_down_in_service_is_called_again():
    run = Run(policy=rules("approve"), rounds=0)
    run.tick()
    run.show(event("A", ["vm2"]))
    run.until(lambda: run.sent("A"))
    run["web2"].down = NO_ROUTE
    run.tick(3)
    run.show()
    run.until(lambda: run.event().gone is not None)
    run["web2"].down, since = "", run.at
    run.until(lambda: not run.record.hosts["web2"].lost)
    assert run.at - since < 70


def test_one_that_can_not_look_is_prepared_all_the_same():
    run = Run()
    run["web1"].blind = "no route to the metadata service"
    run.show(event("A", ["vm1"]), to=["web2", "web3"])
    run.until(lambda: run.prepared("web1"))
    run.until(lambda: run.sent("A"))


def test_a_machine_that_left_the_play_ends_the_run_for_nobody():
    run = Run(*lone("web1", "web2"))
    run["web1"].answer = lambda call, at: {"lost": "it gave no answer: see its errors above"}
    run.tick(2)
    run["web2"].show(event("A", ["vm2"]))
    run.until(lambda: run.sent("A"))
    run["web2"].show()
    run.to_end()
    assert [problem for problem in run.problems if "web1 could not be asked" in problem]


def test_a_run_in_which_nobody_can_look_ends_soon():
    run = Run(*lone("web1", "web2"))
    for machine in run.machines.values():
        machine.blind = "403"
    run.to_end()
    assert 150 < run.at < 250
    said = [problem for problem in run.problems if "can't see" in problem]
    assert said == ["2 machines (web1, web2) can't see their scheduled events: 403"]
    assert run.timeline == "No machine could see its events: whether there are any is not known."


def test_a_machine_that_never_saw_its_events_is_said_though_its_last_call_was_lost():
    """Another one looks for its scope, which may be declared wrongly."""
    run = Run("web1", "web2")
    run["web2"].blind = "403"
    run.tick(10)
    run["web2"].down = NO_ROUTE
    run.until(lambda: run.record.hosts["web2"].lost)
    assert run.problems == ["web2 can't see its scheduled events: 403"]
    run.until(lambda: run.record.hosts["web2"].in_vain.failures > 1)
    (said,) = run.problems
    assert said.startswith("web2 has not answered since ") and said.endswith(NO_ROUTE)


def test_every_machine_is_called_now_and_then():
    run = Run(wait_timeout=2000.0).to_end()
    for machine in run.machines.values():
        times = sorted({at for at, _request in machine.asked})
        assert max(b - a for a, b in zip(times, times[1:], strict=False)) < 700


def test_a_machine_that_was_lost_when_its_preparation_began_is_named():
    run = Run(*lone("web1"), event_timeout=100.0)
    run.tick()
    run.show(event("A", ["vm1"], not_before=run.at + 400))
    run.until(lambda: "go" in str(run.record.todo.calls))
    run["web1"].down = NO_ROUTE
    run.to_end()
    assert any("its preparation may have begun" in problem for problem in run.problems)


def test_a_started_event_is_watched_from_its_start_on():
    run = Run(*lone("web1"), event_timeout=100.0)
    run.tick()
    run.show(event("A", ["vm1"], not_before=run.at + 400))
    run.until(lambda: run.sent("A"))
    run.show(event("A", ["vm1"], status="Started"))
    run.until(lambda: run.event("A").started is not None)
    started = run.at
    run.until(lambda: run.event("A").closed)
    assert run.at - started < 150
    run.to_end()
    assert any("was not known to be over 100 s after its start" in problem for problem in run.problems)


# ---- two hosts that are one machine, names that contradict ----


def test_two_hosts_that_are_one_machine_by_the_inventory():
    with pytest.raises(PlanError, match="web1 and web2 .* are both the VM"):
        Run(Machine("web1", resource_name="x"), Machine("web2", resource_name="X"))


@pytest.mark.parametrize(
    "names, left_out, named",
    [
        (("", ""), ["web1", "web2"], "neither"),
        (("vm1", ""), ["web2"], "web1 alone"),
        (("", "vm1"), ["web1"], "web2 alone"),
        (("vm1", "vm2"), ["web2"], "web1 alone"),
        (("vm1", "vm1"), ["web1", "web2"], "both"),
    ],
)
@pytest.mark.parametrize("vm_ids", [("id-1", "ID-1"), ("id-1", "id-2"), ("", "")])
@pytest.mark.parametrize("scopes", [("", ""), ("a", "b")])
def test_of_two_hosts_that_say_they_are_one_vm_whom_the_inventory_names_takes_part(
    names, left_out, named, vm_ids, scopes
):
    """One may be there twice, or lie about its name, its vmId, or both."""
    one, other = (
        Machine(host, scope=scope, declared=bool(scope), resource_name=name)
        for host, scope, name in zip(("web1", "web2"), scopes, names, strict=True)
    )
    other.name, (one.vm_id, other.vm_id) = "vm1", vm_ids
    run = Run(one, other, Machine("db1", scope=scopes[0], declared=bool(scopes[0])), allow_unknown=True)
    run.tick()
    run.show(event("A", ["vm1", "vmdb1"]))
    run.tick(2)
    said = [problem for problem in run.problems if problem.startswith(("web1 takes no part", "web2 takes no part"))]
    assert [problem[:4] for problem in said] == left_out
    assert all(f"('vm1'), and the inventory names {named}. " in problem for problem in said)
    assert run.approvals() == []  # it was said before
    run.tick(20)
    assert [host for host in ("web1", "web2") if run.goes(host)] == [h for h in ("web1", "web2") if h not in left_out]
    assert run.sent("A") == (len(left_out) == 1)
    assert not set(left_out).intersection(run.approvals())


def test_what_says_another_machines_vm_id_harms_nobody_whom_the_inventory_names():
    run = Run(*(Machine(host, resource_name=host.replace("web", "vm")) for host in ("web1", "web2")))
    run["web1"].vm_id = run["web2"].vm_id = "id-1"
    run.show(event("A", ["vm1"]))
    run.until(lambda: run.sent("A"))
    assert run["web1"].mark and not run["web2"].mark
    assert run.problems == []


def test_a_machine_that_says_another_ones_placement_group_joins_no_scope_of_the_inventory():
    run = Run(Machine("web1", scope="web"), Machine("evil", scope="", declared=False))
    run["web1"].group = run["evil"].group = "group"
    run.tick(2)
    assert [machine.scope for machine in run.record.hosts.values()] == ["web", "placement group group"]


def test_a_machine_that_was_drained_before_another_one_claimed_its_name_is_a_problem():
    run = Run(allow_unknown=True)
    run["web2"].nameless = True
    run.show(event("A", ["vm1"], not_before=run.at + 400))
    run.until(lambda: run["web1"].mark)
    run["web2"].name, run["web2"].nameless = "vm1", False
    run.until(lambda: run.record.hosts["web1"].aside)
    run.show()
    run.to_end()
    assert any("web1 is not back in service" in problem for problem in run.problems)


def test_a_machine_with_the_name_of_a_host_that_has_not_said_who_it_is_is_not_approved_for():
    evil = Machine("evil")
    evil.name = "web1"
    run = Run(evil, "web1")
    run["web1"].down, run["web1"].name = NO_ROUTE, "web1"
    run.show(event("A", ["web1"]))
    run.tick(20)
    assert run.approvals() == []
    assert "evil says that it is the VM 'web1', and web1 has not said yet which VM it is" in str(run.problems)


def test_names_that_were_swapped_are_never_approved_by():
    run = Run(Machine("web1", resource_name="vm2"), Machine("web2", resource_name="vm1"), Machine("web3"))
    run.show(event("A", ["vm1"]))
    run.tick(10)
    assert run["web1"].mark and not run["web2"].mark
    assert run.approvals() == []
    assert any("web1 is the VM 'vm1' by its own metadata service, but 'vm2'" in problem for problem in run.problems)


def test_what_may_be_ours_is_held():
    run = Run(*lone("web1", "web2"), allow_unknown=True)
    run["web2"].down = NO_ROUTE
    run["web1"].show(event("A", ["vm1", "vm2"]))
    run.tick(10)
    assert run.approvals() == []
    assert any("of web2 the VM's name is not known" in problem for problem in run.problems)


def started_while_nameless(*resources):
    """A run in which web1, of web1 and web2, has no name while an event comes and goes."""
    run = Run(Machine("web1"), Machine("web2", "web"))
    run["web1"].nameless = True
    run.tick()
    run.show(started(event("A", resources)))
    run.tick(2)
    run.show()
    return run.until(lambda: run.event().gone is not None)


def test_an_event_that_started_before_a_name_was_known_is_a_problem():
    run = started_while_nameless("vm1")
    assert any("may affect web1: the name of the VM is not known" in problem for problem in run.problems)
    run["web1"].nameless = False
    run.until(lambda: run.record.hosts["web1"].name)
    assert run.problems == ["Reboot A (vm1) reached web1 unprepared: the name of the VM was not known in time."]


def test_what_affects_others_too_may_have_reached_one_without_a_name():
    run = started_while_nameless("vm1", "vm2")
    assert any("A (web2) may have reached web1, too: the name of the VM is not known" in one for one in run.problems)


def test_who_was_reached_without_a_name_stays_a_problem_when_the_event_is_scheduled_again():
    run = started_while_nameless("vm1")
    run["web1"].nameless = False
    run.until(lambda: run.record.hosts["web1"].name)
    run.show(event("A", ["vm1"], not_before=run.at + 900))
    run.until(lambda: run.event().started is None)
    run.tick(2)
    assert "Reboot A (vm1) reached web1 unprepared: the name of the VM was not known in time." in run.problems


def test_a_name_that_is_learned_takes_back_what_may_have_been():
    run = started_while_nameless("vm9")
    assert any("may affect web1" in problem for problem in run.problems)
    run["web1"].nameless = False
    run.until(lambda: run.record.hosts["web1"].name)
    assert run.problems == []


def test_a_machine_whose_name_came_late_was_not_to_be_prepared_by_its_own_policy():
    web1 = Machine("web1")
    web1.options = {"policy": rules("notify")}
    web1.nameless = True
    run = Run(web1, "web2").tick()
    run.show(started(event("A", ["vm1"])))
    run.tick(2)
    run.show()
    run.until(lambda: run.event().gone is not None)
    web1.nameless = False
    run.until(lambda: run.record.hosts["web1"].name)
    assert run.problems == []


# ---- taken away ----


@pytest.mark.parametrize("kind", ["Preempt", "Terminate"])
def test_nothing_is_claimed_of_a_machine_that_was_taken_away(kind):
    run = Run(*lone("web1"))
    run.tick()
    run.show(event("A", ["vm1"], type=kind, not_before=run.at + 300))
    run.until(lambda: run.sent("A"))
    run["web1"].down = NO_ROUTE
    run.to_end()
    assert run.problems == []
    assert run.at < 300
    assert "no answer from web1 since" in run.timeline
    assert "recovered" not in run.goes("web1")


@pytest.mark.parametrize("kind, asks", [("Preempt", False), ("Terminate", False), ("Reboot", True)])
def test_nobody_is_asked_to_bring_back_what_is_being_taken_away(kind, asks):
    web1, web2 = lone("web1", "web2")
    web2.scope = web1.scope
    run = Run(web1, web2)
    run.tick()
    shown = event("A", ["vm1"], type=kind, not_before=run.at + 300)
    run.show(shown)
    run.until(lambda: "go" in str(run.record.todo.calls.get("web1")))
    web1.down = NO_ROUTE  # what it is asked next may have reached it
    run.tick()
    run.show(started(shown))
    run.until(lambda: run.event().started is not None)
    run.tick(2)
    assert run.record.hosts["web1"].begun is not None
    said = [problem for problem in run.problems if "its preparation may have begun" in problem]
    assert bool(said) is asks


def test_a_machine_that_a_reboot_put_back_was_not_prepared_when_it_is_deleted():
    web1, web2 = lone("web1", "web2")
    web2.scope = web1.scope
    run = Run(web1, web2, policy=rules("prepare"))
    run.tick()
    run.show(event("A", ["vm1"]))
    run.until(lambda: run.prepared("web1"))
    run.show(started(event("A", ["vm1"])))
    run.tick(2)
    web1.boot = "boot-2"
    run.tick(5)
    web1.down = NO_ROUTE
    run.show(event("B", ["vm1"], type="Terminate", not_before=run.at + 120))
    run.tick(5)
    web2.down = NO_ROUTE
    run.until(lambda: run.event("B").closed != "")
    assert any("web1 was not prepared for Terminate B" in problem for problem in run.problems)


@pytest.mark.parametrize("kind", ["Preempt", "Terminate"])
def test_a_machine_that_still_looks_is_brought_back(kind):
    run = Run(*lone("web1"), policy=rules("prepare_and_approve"))
    run.tick()
    run.show(event("A", ["vm1"], type=kind, not_before=run.at + 300))
    run.until(lambda: run.sent("A"))
    run.tick(5)
    assert run["web1"].mark is not None, "drained a moment before, and the event still there"
    run.show()
    run.to_end()
    assert run.marked() == [] and run.problems == []


def test_it_is_not_brought_back_before_its_event_is_over():
    run = Run(*lone("web1"), policy=rules("prepare"))
    run.tick()
    run.show(event("A", ["vm1"], type="Terminate"))
    run.until(lambda: run.prepared("web1"))
    run.tick(30)
    assert run.prepared("web1") and "recovered" not in run.goes("web1")


@pytest.mark.parametrize("notice, said", [(70.0, True), (400.0, False)])
def test_a_failed_preparation_that_can_not_be_undone_in_time_is_said_to_stay_out(notice, said):
    run = Run(Machine("web1", needs=60.0), "web2")
    run["web1"].fails = "nginx did not stop"
    run.tick()
    run.show(event("A", ["vm1"], not_before=run.at + notice))
    run.until(lambda: "A" in run.record.events and run.event().failed)
    run.tick(5)
    lines = [line for line in run.result["timeline"] if "no time to undo" in line]
    assert len(lines) == (1 if said else 0)
    if said:
        assert re.search(
            r" stays      web1 out of service until the event is over: no time to undo its preparation \(needs 60 s, \d\d s left\)",
            lines[0],
        )


def given_up_and_out_for_another(second_type):
    """A run that has given a Terminate up, as a preparation failed, and has prepared the machine for a later event."""
    web1, web2 = lone("web1", "web2")
    web2.scope = web1.scope
    run = Run(web1, web2, policy=rules("prepare"), rounds=2)
    run.tick()
    deletion = event("A", ["vm1"], type="Terminate", not_before=run.at + 300)
    web1.fails = "nginx did not stop"
    run.show(deletion)
    run.tick(2).until(lambda: run.event().closed != "")
    web1.fails = ""
    second = event("B", ["vm1"], type=second_type, not_before=run.at + 60)
    run.show(deletion, second)
    run.until(lambda: run.prepared("web1"))
    return run, deletion, second


def test_what_was_given_up_is_watched_again_when_it_comes_over_a_machine_that_is_out():
    run, deletion, second = given_up_and_out_for_another("Preempt")
    run.show(deletion, started(second))
    run.tick(2)
    run["web1"].down = NO_ROUTE
    run.show(deletion)
    run.until(lambda: run.event("B").gone is not None)
    run.show(started(deletion))
    run.until(lambda: run.event("A").started is not None)
    run.show()
    run.to_end()
    assert run.event("A").tracked.outcome == "completed"
    assert not any("had the mark" in problem for problem in run.problems)


def test_a_machine_that_was_given_up_may_be_taken_away():
    run, deletion, second = given_up_and_out_for_another("Reboot")
    run.show(deletion, started(second))
    run.tick(2)
    for machine in run.machines.values():
        machine.down = NO_ROUTE
    run.to_end()
    assert "no answer from web1 since" in run.timeline
    assert not any("had the mark" in problem or "web1 was not prepared" in problem for problem in run.problems)


def test_a_machine_that_is_silent_together_with_others_may_not_have_been_taken_away():
    web1, web2 = lone("web1", "web2")
    web2.scope = web1.scope
    run = Run(web1, web2)
    run.tick()
    run.show(event("A", ["vm1"], type="Terminate", not_before=run.at + 300))
    run.until(lambda: run.sent("A"))
    web1.down = web2.down = NO_ROUTE
    run.to_end()
    assert any("nor from web2. Check in Azure whether its machines were deleted" in problem for problem in run.problems)


def test_only_the_machine_itself_approves_its_deletion():
    run = Run()
    run.tick()
    run.show(event("A", ["vm1"], type="Terminate"))
    run.until(lambda: run.sent("A"))
    assert run.approvals() == ["web1"]


# ---- several events ----


def test_one_that_is_ready_does_not_wait_for_another_one_s_drain():
    run = Run(*lone("web1", "web2"))
    run["web1"].seconds = 300.0
    run.tick()
    run["web1"].show(event("A", ["vm1"]))
    run["web2"].show(event("B", ["vm2"]))
    run.until(lambda: run.sent("B"), most=20)
    assert not run.sent("A")


def test_a_preempt_is_seen_while_another_machine_drains():
    run = Run(*lone("web1", "web2"))
    run["web1"].seconds, run["web2"].spot, run["web2"].seconds = 300.0, True, 2.0
    run.tick()
    run["web1"].show(event("A", ["vm1"]))
    run.until(lambda: run["web1"].mark is not None)
    run.tick(5)
    shown = run.at
    run["web2"].show(event("B", ["vm2"], type="Preempt", not_before=run.at + 30))
    run.until(lambda: run.sent("B"))
    assert run.at - shown < 30


def test_what_is_found_in_an_approval_s_answer_is_prepared_at_once():
    run = Run()
    run.tick()
    run.show(event("A", ["vm1"]))
    run.until(lambda: run.record.todo.calls and "approve" in str(run.record.todo.calls))
    run.show(event("A", ["vm1"]), event("B", ["vm3"], not_before=run.at + 200))
    run.tick(2)
    assert run["web3"].mark is not None


def test_three_events_take_turns():
    run = Run(max_unavailable="1", rounds=0, wait_timeout=3000.0)
    run.tick()
    run.show(*(event(key, [f"vm{number}"], not_before=3000) for number, key in enumerate("ABC", 1)))
    for _number in range(100):
        run.tick()
        assert len(run.marked()) <= 1
        sent = [key for key in "ABC" if run.sent(key)]
        gone = [key for key in sent if run.event(key).approval.at < run.at - 30]
        left = [event(key, [f"vm{number}"], not_before=3000) for number, key in enumerate("ABC", 1) if key not in gone]
        run.show(*left)
    assert all(run.sent(key) for key in "ABC")
    waits = [line for line in run.timeline.splitlines() if "  waits  " in line]
    assert len(waits) == 2, "once for each that did not come first, not in every tick"
    assert "at most 1 may be out of service voluntarily, and web1 is about to be, for Reboot A" in waits[0]


def test_one_that_can_not_be_reached_counts_as_out():
    run = Run(max_unavailable=1)
    run["web3"].down = NO_ROUTE
    run.tick()
    run.show(event("A", ["vm1"]), to=["web1", "web2"])
    run.tick(10)
    assert run.marked() == [] and "web3 can't be reached" in run.event().turn.words
    run["web3"].down = ""
    run.until(lambda: run.sent("A"))


def test_one_that_is_not_back_holds_the_next_one():
    run = Run(max_unavailable="1", rounds=0)
    run.tick()
    run.show(event("A", ["vm1"], not_before=3000))
    run.until(lambda: run.sent("A"))
    run["web1"].down = NO_ROUTE
    run.show(event("B", ["vm2"], not_before=3000))
    run.tick(50)
    assert run["web2"].mark is None
    run["web1"].down = ""
    run.until(lambda: run.sent("B"))
    assert run["web1"].mark is None


# ---- policies of several machines ----


def test_each_machine_goes_by_its_own_policy_and_the_approval_by_the_strictest():
    machines = [Machine("app1"), Machine("db1"), Machine("app2")]
    machines[1].options = {"policy": rules("prepare")}
    run = Run(*machines, policy=rules("prepare_and_approve"))
    run.tick()
    run.show(event("A", ["app1", "vmdb1"]))
    run.until(lambda: run.prepared("app1", "db1"))
    run.tick(10)
    assert run.approvals() == []


def test_an_event_that_is_ignored_on_one_machine_is_not_approved_for_the_other():
    machines = [Machine("app1"), Machine("db1"), Machine("app2")]
    machines[1].options = {"policy": rules("ignore")}
    run = Run(*machines, policy=rules("prepare_and_approve"))
    run.tick()
    run.show(event("A", ["app1", "vmdb1"]))
    run.until(lambda: run.prepared("app1"))
    run.tick(10)
    assert run.approvals() == [] and run["db1"].mark is None


def test_what_is_far_away_and_not_to_be_approved_waits_without_haste():
    run = Run(policy=rules("prepare"), prepare_before=600.0, wait_timeout=20000.0)
    run.tick()
    run.show(event("A", ["vm1"], not_before=10000))
    run.tick(3)
    assert run.record.todo.idle and run.marked() == []
    run.until(lambda: run["web1"].mark is not None)
    assert 9390 < run.at < 9450


def test_started_text_says_whose_approval_it_was():
    run = Run()
    run["web2"].lost_approvals = run["web3"].lost_approvals = run["web1"].lost_approvals = 100
    run.tick()
    run.show(event("A", ["vm1"]))
    run.until(run.approvals)
    run.show(started(event("A", ["vm1"])))
    for machine in run.machines.values():
        machine.lost_approvals = 0
    run.until(lambda: run.event().started is not None)
    assert "perhaps by an approval of this run that was not answered" in run.timeline
    run.show()
    run.to_end()
    assert run.problems == []


def test_an_approval_that_azure_has_refused_is_none_by_which_it_may_have_started():
    """The run must not end green, with a start that it calls perhaps its own."""
    run = Run()
    for machine in run.machines.values():
        machine.service_refuses = "the service answered 410"
    run.tick()
    run.show(event("A", ["vm1"], not_before=300))
    run.until(lambda: run.at > 305)
    run.show(started(event("A", ["vm1"])))
    run.until(lambda: run.event().started is not None)
    assert run.event().approval.tries.times > 10 and "(not by an approval of this run)" in run.timeline
    run.show()
    run.to_end()
    (problem,) = run.problems
    assert "was not approved by this run, and" in problem and "the service answered 410" in problem


@pytest.mark.parametrize("answer", [{"problem": "OSError"}, {"failure": {"kind": "timeout"}, "unanswered": ["a"]}])
def test_an_approval_whose_answer_does_not_tell_may_have_been_taken(answer):
    run = Run()
    for machine in run.machines.values():
        machine.approve = lambda request, call, at: dict(answer)
    run.tick()
    run.show(event("A", ["vm1"]))
    run.until(lambda: "A" in run.record.events and run.event().approval.tries.times > 0)
    assert run.event().approval.maybe and not run.event().approval.sent


# ---- hosts that leave the play ----

LEFT = {"lost": "It has left the play", "left": True}


@pytest.mark.parametrize("scope", ["web", ""])
def test_who_has_left_the_play_is_not_waited_for(scope):
    """In a scope another machine sees the end of its event; alone nobody does."""
    run = Run(Machine("web1", scope=scope or "own"), Machine("web2"), recover_timeout=3000.0, event_timeout=3600.0)
    run.tick()
    run.show(event("A", ["vm1"]), to=["web1", "web2"] if scope else ["web1"])
    run.until(lambda: run.prepared("web1"))
    run["web1"].answer = lambda call, at: dict(LEFT)
    run.tick(2)
    run.show()
    run.until(lambda: run.record.finished, most=20)
    assert any("web1 had the mark" in said and "left the play" in said for said in run.problems)


def test_what_only_who_has_left_the_play_was_shown_is_not_waited_for():
    """web2 is taken for one of the same scope, and its documents have lacked the event ever since."""
    run = Run("web1", "web2", event_timeout=3600.0)
    run.tick()
    run.show(event("A", ["vm1"]), to=["web1"])
    run.until(lambda: "A" in run.record.events)
    run["web1"].answer = lambda call, at: dict(LEFT)
    run.until(lambda: run.record.finished, most=20)
    assert any("web1" in said for said in run.problems)


def test_what_only_who_has_left_the_play_was_shown_is_watched_again_when_another_one_shows_it():
    run = Run("web1", "web2", rounds=0)
    run.tick()
    run.show(event("A", ["vm1"]), to=["web1"])
    run.until(lambda: "A" in run.record.events)
    run["web1"].answer = lambda call, at: dict(LEFT)
    run.until(lambda: run.event().closed)
    run.show(event("A", ["vm1"]), to=["web2"])
    run.until(lambda: not run.event().closed)
    run.show()
    run.until(lambda: run.event().gone is not None)


def test_who_leaves_the_play_before_he_was_heard_of_holds_nothing_up():
    run = Run("web1", "web2", wait_timeout=0.0)
    run["web1"].answer = lambda call, at: dict(LEFT)
    run.until(lambda: run.record.finished, most=2)
    assert any("web1 could not be asked" in said for said in run.problems)
