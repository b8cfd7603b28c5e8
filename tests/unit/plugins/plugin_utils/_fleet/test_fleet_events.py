# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An event's life: who sees it, whom it affects, when it is gone, and how it ended."""

from __future__ import annotations

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.event_terms import preparation_end
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.scopes import take_differences
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._fleet.runs import (
    NO_ROUTE,
    Machine,
    Run,
    event,
    mark,
    put,
    rules,
    started,
)


def all_prepared(run, *events, to=None):
    run.tick()
    run.show(*events, to=to)
    return run.until(lambda: run.sent("A"))


# ---- gone, and back ----


def test_one_document_without_it_ends_no_event():
    run = all_prepared(Run(), event())
    run.show(started(event()))
    run.until(lambda: run.event().started is not None)
    run.show()
    run.tick()  # 4 s: one look that lacks it
    assert run.event().gone is None
    run.show(started(event()))
    run.tick(5)
    assert run.event().gone is None
    assert run["web1"].mark["phase"] == "prepared"
    assert "recovered" not in run.goes("web1")


def all_started(run=None):
    run = all_prepared(run or Run(), event())
    run.show(started(event()))
    return run.until(lambda: run.event().started is not None)


def test_an_empty_answer_ends_no_event():
    run = all_started()
    for machine in run.machines.values():
        machine.empty = True
    run.tick(10)
    assert run.event().gone is None


def test_it_is_gone_after_two_looks_some_seconds_apart():
    run = all_started()
    run.show()
    run.tick(seconds=1).tick(seconds=1)
    assert run.event().gone is None
    run.tick(2, seconds=4)
    assert run.event().gone is not None


def test_an_event_that_comes_back_is_taken_up_again():
    run = Run(rounds=0, wait_timeout=4000.0)
    all_prepared(run, event())
    run.show()
    run.until(lambda: run.event().gone is not None)
    run.until(lambda: not run.marked())
    assert run.event().recovered["web1"].ok
    run.show(event(not_before=3000))
    run.until(lambda: run.prepared("web1"))
    assert run.event().gone is None
    assert run.event().tracked.reappeared == 1
    assert "it was not gone" in run.timeline


def test_an_event_that_is_scheduled_again_after_it_had_started_and_was_gone_is_a_new_one():
    run = all_started(Run(rounds=0, wait_timeout=4000.0))
    run.show()
    run.until(lambda: run.event().gone is not None)
    run.until(lambda: run.marked() == [])
    since, posts = run.at, len(run.approvals())
    run.show(event("A", ["vm1"], not_before=run.at + 500))
    run.until(lambda: run.event().tracked.reappeared == 1)
    run.until(lambda: run.sent("A"))
    assert "prepared" in run.goes("web1", since=since) and run.prepared("web1")
    assert len(run["web2"].approved + run["web3"].approved + run["web1"].approved) > posts
    assert "Scheduled again after it had started" in run.timeline


def test_an_event_that_goes_back_to_scheduled_without_having_been_gone_is_a_problem():
    run = all_started()
    run.show(event("A", ["vm1"], not_before=run.at + 500))
    run.tick(1, seconds=1.0)
    assert run.problems == [], "documents may differ for a moment"
    run.tick(5)
    assert any("Scheduled again" in said for said in run.problems)
    assert run.event().started is not None


def test_only_a_new_document_shows_that_a_machine_still_lacks_an_event():
    """However long ago the last one came, and however often it is decided meanwhile."""
    run = Run("web1", "web2").tick()
    run.show(event("A", ["vm1"]), to=["web1"])
    run.until(lambda: "A" in run.record.events)
    shown, hosts = run.event().shown, run.record.hosts

    def splits(web1, web2):
        put(hosts["web1"], seen__at=shown + web1)
        put(hosts["web2"], seen__at=shown + web2)
        return take_differences(run.record, {"web1": ["A"], "web2": []})

    assert splits(6.0, -0.1) == [] == splits(12.0, -0.1), "it is older than the event"
    assert splits(12.0, 0.1) == [] == splits(18.0, 0.1), "it is the same"
    assert splits(4.0, 18.0) == [], "the others were shown the event before that"
    assert [split.lacked_by for split in splits(18.0, 18.0)] == ["web2"]


def test_members_whose_documents_differ_for_a_moment_end_no_event():
    run = all_started()
    run.show(to=["web2"])
    run.tick(6)
    assert run.event().gone is None
    assert run["web1"].mark["phase"] == "prepared"


# ---- scopes ----


def undeclared(*hosts):
    return [Machine(host, declared=False) for host in hosts]


def test_machines_that_saw_one_event_are_one_scope():
    run = Run(*undeclared("web1", "web2", "web3", "web4"))
    run.show(started(event("A", ["vm1", "vm2", "vm3"])))
    run.tick(3)
    assert {machine.scope for machine in run.record.hosts.values()} == {"web1"}
    run["web4"].show(started(event("A", ["vm1", "vm2", "vm3"])), event("B", ["vm1", "vm3", "vm4"], not_before=3000))
    run.tick(3)
    assert run.event("B").affected == ("web1", "web3", "web4")
    assert run.event("B").whom.unknown == ()


def test_a_machine_of_the_run_is_never_unknown():
    run = Run(*undeclared("web1", "web4"), allow_unknown=True)
    run["web4"].show(event("B", ["vm1", "vm4"]))
    run.tick(3)
    assert run.event("B").affected == ("web4",)
    run.tick(10)
    assert not run.sent("B"), "web1 is not shown it: another machine of its name may be meant"


def test_what_hits_a_member_of_a_wrongly_declared_scope_is_seen():
    run = Run(event_timeout=600.0)
    run.tick()
    run["web2"].show(event("A", ["vm2"]))  # the others of the scope are never shown it
    run["web1"].down = NO_ROUTE  # the sentinel, so that another one looks
    run.until(lambda: "A" in run.record.events)
    run["web1"].down = ""
    run.until(lambda: run.sent("A"))
    assert run.approvals() == ["web2"]
    assert run.event().gone is None
    assert any("shown different documents" in problem for problem in run.problems)
    assert {machine.scope for machine in run.record.hosts.values()} == {"web1", "web2", "web3"}


def test_where_it_was_never_shown_it_is_not_gone():
    run = Run()
    run.tick()
    run["web1"].show(event("A", ["vm1"]))
    run.until(lambda: run.prepared("web1"))
    run["web1"].down = NO_ROUTE
    run.tick(20)
    assert run.event().gone is None
    assert run["web1"].mark is not None


def test_a_declared_scope_needs_no_placement_group():
    run = Run(*(Machine(host) for host in ("web1", "web2")))
    run["web1"].nameless = True
    run["web1"].facts["resource_name"] = "vm1"
    run = Run(*run.machines.values())
    run.show(event())
    run.until(lambda: run.sent("A"))
    assert run.problems == []


def test_a_name_that_only_the_inventory_says_makes_nobody_a_twin():
    """Two names were mixed up, and the first machine can't say at once who it is."""
    run = Run(Machine("web1", resource_name="vm2"), Machine("web2"))
    run["web1"].nameless = True
    run.tick()
    run.show(event(resources=["vm2"]))
    run.tick(5)
    assert not run.record.hosts["web2"].aside and not run.sent("A")
    run["web1"].nameless = False
    run.until(lambda: run.sent("A"))
    assert run.prepared("web2")
    assert "web1 is the VM 'vm1' by its own metadata service, but 'vm2' by the inventory" in " ".join(run.problems)


# ---- growth ----


def test_who_joins_what_grows_too_large_waits_until_it_is_due():
    run = Run(max_unavailable="1", policy=rules("prepare"))
    run.tick()
    run.show(event("A", ["vm1"]))
    run.until(lambda: run.prepared("web1"))
    run.show(event("A", ["vm1", "vm3"]))
    run.tick(5)
    assert run.event().turn.too_large and run.marked() == ["web1"]
    run.until(lambda: run.prepared("web1", "web3"))
    assert 0 < 900 - run.at < 100


def test_who_joins_where_the_capacity_is_used_up_waits_until_it_is_due():
    """Drain has web2, and the event, which only affected a machine of another group when its turn came, web1 as well."""
    web, db = [Machine(host, group="web") for host in ("web1", "web2")], Machine("db1", scope="web", group="db")
    web[1].mark = mark("d1", [], kind="drain")
    run = Run(*web, db, max_unavailable="1", policy=rules("prepare"))
    run.tick()
    run.show(event("A", ["vmdb1"]))
    run.until(lambda: run.prepared("db1"))
    run.show(event("A", ["vmdb1", "vm1"]))
    run.tick(5)
    assert run.event().affected == ("web1", "db1") and run["web1"].mark is None
    assert "it keeps its turn, but is not approved while that is so" in run.timeline
    run.until(lambda: run.prepared("web1"))
    assert 0 < 900 - run.at < 150
    assert "it is prepared now" in run.event().turn.words


def test_what_was_too_large_stays_so_when_it_has_started():
    """Nobody is to be told that it was not approved for who can't be reached under it."""
    run = Run(max_unavailable="1")
    run.tick()
    reboot = event("A", ["vm1", "vm3"], not_before=run.at + 200)
    run.show(reboot)
    run.until(lambda: run.prepared("web1", "web3"))
    run["web1"].down = NO_ROUTE
    run.until(lambda: "can't be reached" in run.event().against.hold)
    run.show(started(reboot))
    run.tick(3)
    run["web1"].down = ""
    run.show()
    run.to_end()
    assert run.problems == []


def test_growth_is_taken_in_before_the_approval():
    run = Run()
    run.tick()
    run.show(event("A", ["vm1"]))
    run.until(lambda: run.prepared("web1"))
    run.show(event("A", ["vm1", "vm3"]))
    run["web2"].refuses = "it also affects vm3"
    run.tick(2)
    assert run.event().affected == ("web1", "web3")
    run["web2"].refuses = ""
    run.until(lambda: run.sent("A"))
    assert run.prepared("web1", "web3")
    assert "it turns out to affect web3, too" in run.timeline


def test_to_be_prepared_for_another_event_too_late_is_not_enough():
    """It is prepared when its next answer comes, but by then the other event has started, nobody knows when."""
    run = Run(policy=rules("prepare"))
    run.tick()
    run.show(event("A"))
    run["web1"].seconds = 30.0
    run.until(lambda: run["web1"].mark is not None)
    run.show(event("A"), event("B", not_before=run.at + 5))
    run.tick()
    run.show(event("A"), started(event("B")))
    run["web1"].mark["phase"] = "prepared"
    run.tick()
    assert any("B (web1) reached web1 unprepared" in problem for problem in run.problems)


def test_growth_after_the_start_is_said_and_nothing_is_put_into_service_under_it():
    run = all_started()
    run.show(started(event("A", ["vm1", "vm3"])))
    run.tick(3)
    assert any("reached web3 unprepared" in problem for problem in run.problems)
    run.show()
    run.to_end()
    assert run.marked() == []
    assert "prepared" not in run.goes("web3")


# ---- how it ended ----


def test_cancelled_needs_an_unbroken_watch():
    run = Run(policy=rules("prepare"))
    run.tick()
    run.show(event())
    run.until(lambda: run.prepared("web1"))
    run.show()
    run.to_end()
    assert run.event().tracked.outcome == "cancelled"
    assert run.problems == []


def test_what_nobody_watched_for_a_while_was_not_cancelled():
    run = Run(policy=rules("prepare"))
    run.tick()
    run.show(event())
    run.until(lambda: run.prepared("web1"))
    for machine in run.machines.values():
        machine.down = NO_ROUTE
    run.tick(10)
    run.show()
    for machine in run.machines.values():
        machine.down = ""
    run.to_end()
    assert run.event().tracked.outcome == "unknown"


def test_what_was_approved_may_have_taken_place():
    run = all_prepared(Run(), event())
    run.show()
    run.to_end()
    assert run.event().tracked.outcome == "unknown"


def test_one_look_that_lacked_it_is_no_unbroken_watch():
    """Its document was empty for a moment; then nobody could poll, and the event started and ended."""
    run = Run(policy=rules("prepare"))
    run.tick()
    run.show(event())
    run.until(lambda: run.prepared("web1"))
    run.show()
    run.tick()
    for machine in run.machines.values():
        machine.down = NO_ROUTE
    run.tick(10)
    for machine in run.machines.values():
        machine.down = ""
    run.to_end()
    assert run.event().tracked.outcome == "unknown"


def test_an_approval_that_was_never_sent_leaves_it_cancelled():
    run = Run()
    run["web2"].refuses = run["web3"].refuses = run["web1"].refuses = "it is not allowed"
    run.tick()
    run.show(event())
    run.until(lambda: run.event().approval.tries.times > 0 if "A" in run.record.events else False)
    run.show()
    run.to_end()
    assert run.event().tracked.outcome == "cancelled"


def watched_until(moment):
    """An event whose not-before is 900 s after the run's begin."""
    run = Run(policy=rules("prepare"))
    run.tick()
    run.show(event())
    return run.until(lambda: run.at > moment, seconds=1.0)


def test_what_may_have_started_between_the_two_looks_that_lack_it_was_not_cancelled():
    run = watched_until(895)
    run.show()
    run.until(lambda: run.event().gone is not None)
    assert run.event().tracked.outcome == "unknown"


def test_two_looks_that_lack_it_with_nobody_looking_in_between_end_nothing():
    run = watched_until(60)
    run.show()
    run.tick(seconds=2.0)
    absent = run.at
    for machine in run.machines.values():
        machine.down = NO_ROUTE
    run.until(lambda: run.at > absent + 30)
    for machine in run.machines.values():
        machine.down = ""
    run.until(lambda: any(one.absent and one.absent > absent + 1 for one in run.event().sightings.values()))
    assert run.event().gone is None, "it is counted anew"
    run.until(lambda: run.event().gone is not None)
    assert run.event().tracked.outcome == "unknown"


def test_a_document_that_took_its_time_may_be_of_the_same_moment_as_the_one_before():
    run = Run("web1", policy=rules("prepare"))
    run.tick()
    run.show(event())
    run.until(lambda: run.prepared("web1"))
    run.show()
    run.tick(seconds=1.0)
    absent, look = run.at, run["web1"].look
    run["web1"].took, run["web1"].look = 6.0, lambda *args: dict(look(*args), began=5.5)
    run.tick(seconds=6.0)
    assert run.at - absent > 5 and run.event().gone is None, "it was asked for a second after the one before"
    run["web1"].took, run["web1"].look = 0.5, look
    run.tick()
    assert run.event().gone is not None


def test_a_duration_of_nothing_is_no_duration_that_is_left_out():
    run = Run("web1", "web2", policy=rules("approve", duration_below=9))
    run.tick()
    run.show(event(duration=9))
    run.tick(2)
    assert run.event().decided.action == "ignore"
    run.show(event(duration=None))
    run.tick(2)
    assert run.event().event.duration == 9
    run.show(event(duration=0))
    run.until(lambda: run.sent("A"))


def test_notice_is_taken_at_the_look_and_ages():
    """A slow look of another machine must not make the notice of this one stale."""
    run = Run("web1", Machine("db1", "db"))
    run["db1"].took = 20.0
    run.tick(2)
    run.show(event("A", ["vm1"], not_before=130.0), to=["web1"])
    run.tick()
    assert abs(run.event().tracked.deadline - 130.0) < 0.3
    run.tick()
    lefts = [request["left"] for _at, request in run["web1"].asked if request["do"] == "go"]
    assert lefts[0] < 130 - run.at + 4, "the margin comes off, too"


def test_a_not_before_that_is_put_off_counts_and_one_that_is_left_out_does_not():
    run = Run(policy=rules("prepare"), prepare_before=60.0)
    run.tick()
    run.show(event("A", ["vm1"], not_before=900.0))
    run.tick()
    run.show(event("A", ["vm1"], not_before=1200.0))
    run.tick()
    assert abs(run.event().tracked.deadline - 1200) < 0.5
    run.show(event("A", ["vm1"], not_before=None))
    run.tick(2)
    assert abs(run.event().tracked.deadline - 1200) < 0.5


@pytest.mark.parametrize("needs, not_before, latest", [(30.0, 900.0, 605.0), (500.0, 900.0, 330.0), (30.0, None, 15.0)])
def test_a_run_that_waits_wakes_up_when_it_has_to_prepare(needs, not_before, latest):
    """Also for steps that take longer than prepare_before; where no time is named, at once."""
    run = Run(Machine("web1", needs=needs), "web2", policy=rules("prepare"), wait_timeout=20000.0)
    run.tick()
    run.show(event("A", ["vm1"], not_before=not_before))
    run.until(lambda: run.prepared("web1"))
    begun = min(at for at, request in run["web1"].asked if request["do"] == "go")
    assert latest - 35 < begun < latest


def test_what_is_first_seen_late_is_said_without_odd_numbers():
    run = Run("web1", "web2")
    run.tick()
    run.show(event("LATE", ["vm1"], not_before=run.at - 100.0), started(event("BEGUN", ["vm2"])))
    run.tick()
    assert "its time is over" in run.timeline
    assert "before it was first seen" in run.timeline
    assert " -" not in run.timeline.replace("--", "")


def test_a_not_before_that_moves_earlier_leaves_time_for_a_drain_that_fits():
    """The margin of 60 s was that of a notice of 900 s; of one of 40 s it is 10."""
    run = Run("web1", "web2")
    run["web1"].seconds = 15.0
    run.tick()
    run.show(event())
    run.tick(2)
    run.show(event(not_before=run.at + 40))
    run.until(lambda: run.sent("A"))
    assert run.event().failed == {} and run.problems == []


def test_a_not_before_that_moves_later_has_the_whole_margin_again():
    run = Run("web1", "web2", policy=rules("prepare"))
    run.tick()
    run.show(event(not_before=44))
    run.tick()
    machine = run.record.hosts["web1"]
    assert preparation_end(run.event(), machine) == pytest.approx(34, abs=1)
    run.show(event(not_before=900))
    run.tick()
    assert preparation_end(run.event(), machine) == pytest.approx(840, abs=1)


def test_a_notice_counts_from_the_end_of_its_call_however_many_were_made_before_it():
    """Of 300 hosts the last ones are called minutes after the first: a notice of 100 s is none that is over."""
    run = Run("web1")
    run.tick()
    machine = run["web1"]
    answered = machine.answer
    machine.answer = lambda call, at: dict(answered(call, run.at + 119.5), ended=run.at + 120.0)
    run.show(event(not_before=run.at + 219.5))
    run.tick(seconds=120.0)
    assert run.event().tracked.deadline == pytest.approx(run.at + 99.5, abs=1.5)
    assert run.event().shown == pytest.approx(run.at, abs=1)


def test_what_hits_a_machine_of_a_wrongly_declared_scope_that_does_not_look_is_seen_within_its_notice():
    """Nothing has shown yet that the two are one scope: the other one waits for a change in vain."""
    run = Run("web1", "web2", wait_timeout=3000.0)
    run.tick(3)
    before = run.at
    run.show(event("A", ["vm2"], not_before=run.at + 120), to=["web2"])
    run.until(lambda: "A" in run.record.events)
    assert run.at - before <= 62
    run.until(lambda: run.prepared("web2"))
    assert run.at - before < 120


def test_who_was_shown_an_event_that_is_left_for_later_looks_for_its_scope_from_then_on():
    """web1, which looked before, is not shown it, and would never see that it has started."""
    run = Run("web1", "web2", "web3", policy=rules("prepare"), prepare_before=40.0, rounds=0)
    run.tick(3)
    later = event("A", ["vm2", "vm3"], not_before=run.at + 900)
    run.show(later, to=["web2", "web3"])
    run.until(lambda: "A" in run.record.events and len(run.event().sightings) == 2)
    before = run.at
    run.show(started(later), to=["web2", "web3"])
    run.until(lambda: any("reached web2 unprepared" in problem for problem in run.problems))
    assert run.at - before <= 60


def calls_since(run, host, since):
    return len({at for at, _request in run[host].asked if at > since})


def test_a_declared_scope_that_is_a_placement_group_costs_one_call_at_a_time():
    run = Run("web1", "web2", "web3", wait_timeout=3000.0).is_proven()
    run.tick(3)
    since = run.at
    run.until(lambda: run.at > since + 1000)
    assert max(calls_since(run, host, since) for host in ("web2", "web3")) <= 4


def test_a_declared_scope_that_was_shown_one_event_costs_one_call_at_a_time():
    run = Run("web1", "web2", rounds=0, wait_timeout=3000.0)
    all_prepared(run, event())
    run.show()
    run.until(lambda: run.event().gone is not None and not run.marked())
    run.tick(2)
    since = run.at
    run.until(lambda: run.at > since + 1000)
    assert min(calls_since(run, host, since) for host in run.machines) <= 4


def test_of_a_large_declared_scope_only_some_are_asked_in_a_minute_and_all_in_turn():
    run = Run(*(f"web{number}" for number in range(1, 81)), wait_timeout=3000.0)
    run.tick(3)
    since = run.at
    run.until(lambda: run.at > since + 240)
    counts = [calls_since(run, host, since) for host in run.machines]
    assert 80 <= sum(counts) - max(counts) <= 4 * 45 and min(counts) >= 1  # the sentinel polls besides


def test_scopes_that_an_event_joins_are_warned_of_and_count_together():
    run = Run("web1", "web2", Machine("web3", scope="wbe"), max_unavailable="50%")
    run.tick()
    run.show(event("A", ["vm1"]), event("B", ["vm3"], not_before=1000.0))
    run.tick(3)
    (note,) = [words for words in run.result["notes"] if "scope" in words]
    assert note.startswith(
        "WARNING: The scopes 'wbe', 'web' were shown the same event, Reboot A, so Azure takes them for one ('wbe' is web3; 'web' is web1, "
        "web2)."
    )
    assert run.event("A").turn.state == "turn" and run.event("B").turn.state == "waits"
    assert "of the 3 machines of group wbe and web, one scope by an event at most 1" in run.event("B").turn.words


def test_machines_that_an_event_makes_one_scope_are_nothing_to_warn_of():
    run = Run(Machine("web1", declared=False), Machine("web2", declared=False), Machine("web3", scope="web"))
    run.tick()
    run.show(event("A", ["vm1"]))
    run.tick(3)
    assert run.result["notes"] == []


def test_who_joins_a_group_by_an_event_does_not_enlarge_it():
    """Of a declared scope of three one may be out; with the fourth, which may turn out to be none of it, that is not two."""
    run = Run("web1", "web2", "web3", Machine("web4", declared=False), max_unavailable="50%")
    run.tick(2)
    run["web3"].down = NO_ROUTE
    run.until(lambda: run.record.hosts["web3"].lost)
    run.show(event("A", ["vm1", "vm4"], type="Freeze"), event("B", ["vm2"]))
    run.tick(12)
    assert run.record.hosts["web4"].scope == "web", "both were shown the same event"
    assert run.approvals("A") == run.approvals("B") == [] and run.marked() == []


def test_who_is_ready_for_one_event_is_not_named_as_ready_for_another():
    """A request of one machine approves all of its events by one list: each goes with a list of its own."""
    run = Run("web1", "web2", "web3")
    run.tick()
    run.show(event("A", ["vm1"]), event("B", ["vm2"]))
    run.until(lambda: run.sent("A") and run.sent("B"))
    requests = [request for _at, request in run["web3"].asked if request["do"] == "approve"]
    assert [(request["ids"], request["prepared"]) for request in requests] == [(["A"], ["vm1"]), (["B"], ["vm2"])]


def test_a_round_does_not_end_with_an_event_that_is_left_for_later():
    """Its machines are another run's. Once that run has shown that it lives, nothing is left to be learned; but it may die."""
    run = Run()
    run.show(event(resources=["vm2", "vm3"], not_before=2000.0))
    for number in range(6):
        for name in ("web2", "web3"):
            run[name].mark = mark("other", ["A"], until=1500.0 + number)
        run.tick()
    assert run.event().turn.state == "later" and not run.record.finished and run.record.rounds_done == 0
    run.until(lambda: run.prepared("web2", "web3"))
    run.show()
    run.until(lambda: run.record.finished)
    assert run.record.rounds_done == 1


def test_a_run_that_ends_before_an_event_has_to_be_prepared_for_says_so():
    run = Run(policy=rules("prepare"), wait_timeout=60.0)
    run.show(event(not_before=2000.0))
    run.until(lambda: run.record.finished)
    (words,) = run.result["notes"]
    assert words.startswith("Reboot A (web1) is not over: it was too early to prepare web1 for it.")
    assert run.problems == []
