# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who is called in a tick, with which requests; and when a run is over."""

from __future__ import annotations

import json

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet import record as run_record
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet import tick_planner
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.plain import from_plain, to_plain
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.result import shown
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.state import Record
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.tick_planner import LONGEST_LOOK
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._fleet.runs import (
    NO_ROUTE,
    OPTIONS,
    SAME,
    Machine,
    Run,
    event,
    put,
    rules,
    started,
)


def waits(run):
    """How long each call of the next tick waits, by host."""
    return {
        host: max((request.get("wait", 0) for request in call["requests"]), default=0)
        for host, call in run.record.todo.calls.items()
    }


def windows_called(record):
    return [host for host in record.todo.calls if not record.hosts[host].given.is_linux]


def asked(run, host):
    return [request["do"] for request in run.record.todo.calls.get(host, {"requests": []})["requests"]]


# ---- while nothing is under way ----


def test_everybody_says_hello_and_looks_once():
    run = Run()
    assert {host: asked(run, host) for host in run.machines} == dict.fromkeys(run.machines, ["hello", "look"])
    run.tick()
    assert list(run.record.todo.calls) == ["web1"]


def test_a_call_names_the_machine_as_soon_as_it_is_known():
    """So that its metadata service is not asked for its name in each look."""
    run = Run("web1")
    assert run.record.todo.calls["web1"]["resource_name"] == ""
    run.tick()
    assert run.record.todo.calls["web1"]["resource_name"] == "vm1"


def test_a_call_says_what_was_heard_last_and_when_it_was_decided():
    """By that the machine is told until when it may begin anything: a first call only looks."""
    run = Run("web1")
    first = run.record.todo.calls["web1"]
    assert first["heard"] is None and {request["do"] for request in first["requests"]} == {"hello", "look"}
    run["web1"].heard = {"uptime": 77.0, "boot_id": "boot-1", "at": 5.0}
    run.tick(seconds=3.0)
    assert run.record.todo.calls["web1"]["heard"] == run["web1"].heard
    assert run.record.todo.calls["web1"]["decided"] == run.at
    run["web1"].down = NO_ROUTE
    run.tick()
    assert run.record.hosts["web1"].said.heard == run["web1"].heard


def test_a_machine_of_each_scope_waits_long_for_a_change():
    run = Run("web1", "web2", Machine("db1", "db")).is_proven().tick()
    assert waits(run) == {"web1": LONGEST_LOOK, "db1": LONGEST_LOOK}
    assert run.record.todo.calls["db1"]["requests"][0]["since"] == 1
    assert run.record.todo.calls["db1"]["seconds"] == LONGEST_LOOK + 10.0


def test_what_could_not_be_learned_is_asked_again():
    run = Run()
    run["web1"].nameless = True
    run.tick()
    assert not run.record.hosts["web1"].is_known
    run["web1"].nameless = False
    run.tick(15)
    assert run.record.hosts["web1"].name == "vm1"


# ---- while something is under way ----


def test_nobody_waits_while_there_is_work():
    run = Run("web1", "web2", Machine("db1", "db"))
    run.tick()
    run.show(event("A", ["vm1"]), to=["web1", "web2"])
    run.tick()
    for _number in range(8):
        assert set(waits(run).values()) <= {0}
        run.tick()


def test_other_scopes_are_looked_at_by_turns():
    machines = [Machine(f"db{number}", f"db{number}") for number in range(1, 9)]
    run = Run("web1", "web2", *machines, policy=rules("prepare"))
    run.tick()
    run.show(event("A", ["vm1"]), to=["web1", "web2"])
    run.until(lambda: run.prepared("web1"))
    began = run.at
    run.until(lambda: run.at > began + 200)
    for machine in machines:
        times = [began, *sorted({at for at, _request in machine.asked if at > began})]
        longest = max(b - a for a, b in zip(times, times[1:], strict=False))
        assert longest <= 31


def test_one_that_is_back_from_its_own_event_is_looked_at_again():
    lone = Machine("db1", "db1")
    run = Run("web1", "web2", lone, policy=rules("prepare"))
    run.tick()
    run.show(event("A", ["vm1"]), to=["web1", "web2"])
    run.show(event("B", ["vmdb1"]), to=["db1"])
    run.until(lambda: run.prepared("db1"))
    run.show(started(event("B", ["vmdb1"])), to=["db1"])
    run.until(lambda: run.event("B").started is not None)
    run.show(to=["db1"])
    run.until(lambda: lone.mark is None)
    began = run.at
    run.until(lambda: run.at > began + 100)
    times = [began, *sorted({at for at, _request in lone.asked if at > began})]
    assert len(times) > 1 and max(b - a for a, b in zip(times, times[1:], strict=False)) <= 31


def limits(run, host, ticks):
    """How many seconds each call of the host might take beside what it waited, in so many ticks."""
    found = []
    for _number in range(ticks):
        call = run.record.todo.calls.get(host)
        if call:
            found.append(call["seconds"] - max(request.get("wait") or 0.0 for request in call["requests"]))
        run.tick(seconds=2.0)
    return found


def test_a_call_may_take_as_long_as_the_inventory_says():
    for is_linux in (True, False):
        assert set(limits(Run(Machine("web1", is_linux=is_linux, call_timeout=70.0)).tick(), "web1", 3)) == {70.0}


def test_a_call_that_lasted_until_its_limit_gives_the_next_one_twice_the_time():
    """Not one that failed at once: the machine may be back by then, and a longer call would hang on what was before."""
    run = Run().tick()
    run["web2"].down = "connection refused"
    run.tick(20)
    assert set(limits(run, "web2", 20)) == {10.0}
    run["web2"].down, run["web2"].took = "it did not answer", 50.0
    run.until(lambda: run.record.hosts["web2"].in_vain.hung >= 4)
    assert set(limits(run, "web2", 40)) == {40.0}
    run["web2"].down, run["web2"].took = "", 0.5
    run.until(lambda: not run.record.hosts["web2"].lost)
    run.show(event("A", ["vm2"]))
    assert set(limits(run, "web2", 5)) == {10.0}


def test_numbers_rise_with_every_call():
    run = Run()
    numbers = []
    for _number in range(5):
        numbers += [call["number"] for host, call in run.record.todo.calls.items() if host == "web1"]
        run.tick()
    assert numbers == sorted(set(numbers))


def test_the_first_request_names_events_and_time():
    run = Run()
    run.tick()
    run.show(event("A", ["vm1"], not_before=900))
    run.tick()
    go = run.record.todo.calls["web1"]["requests"][0]
    assert (go["do"], go["to"], go["events"], go["take"], go["no_new_steps"]) == ("go", "prepared", ["A"], "", False)
    assert go["left"] == pytest.approx(900 - 60 - run.at, abs=0.2)
    assert go["lease"] == 120.0
    assert asked(run, "web1") == ["go", "look"], "what renews the mark, and sees the event end"


def test_the_lease_outlasts_the_user_s_own_task_files():
    run = Run(Machine("web1", task_seconds=600.0), "web2")
    run.tick()
    run.show(event("A", ["vm1"]))
    run.tick()
    assert run.record.todo.calls["web1"]["requests"][0]["lease"] == 720.0


def test_what_was_done_elsewhere_is_handed_on():
    run = Run()
    run.tick()
    run.show(event("A", ["vm1"]))
    answer = run["web1"].answer
    run["web1"].answer = lambda call, at: dict(
        answer(call, at), outcomes={"haproxy lb": {"state": "done"}}, before={"haproxy lb": {"servers": {}}}
    )
    run.tick()
    go = run.record.todo.calls["web1"]["requests"][0]
    assert go["outcomes"] == {"haproxy lb": {"state": "done"}}
    assert go["before"] == {"haproxy lb": {"servers": {}}}


def test_a_call_that_came_too_late_is_one_that_was_not_made():
    run = Run("web1").tick()
    run.show(event("A", ["vm1"]))
    answer, go = run["web1"].answer, run["web1"].go
    outcomes = {"haproxy lb": {"state": "done"}}
    run["web1"].answer = lambda call, at: dict(answer(call, at), outcomes=outcomes)
    run.tick()
    run["web1"].answer = answer
    run["web1"].go = lambda *_arguments: run["web1"]._state("skipped", "This call comes too late. Nothing was started.")
    run.tick()
    assert run.record.todo.calls["web1"]["requests"][0]["outcomes"] == outcomes
    assert run.record.hosts["web1"].why == "This call comes too late. Nothing was started."
    assert run.record.events["A"].failed == {}
    run["web1"].go = go
    run.until(lambda: run["web1"].approved == ["A"])


def test_what_others_have_gone_about_is_kept_whether_or_not_the_next_answer_comes():
    run = Run()
    run.tick()
    answer = run["web1"].answer
    run["web1"].answer = lambda call, at: dict(answer(call, at), jobs={"first": "j1"})
    run.tick()
    run["web1"].answer = lambda call, at: {"lost": "no route"}
    run.tick()
    run["web1"].answer = lambda call, at: dict(answer(call, at), jobs={"second": None})
    run.until(lambda: "second" in run.record.hosts["web1"].elsewhere.jobs)
    assert run.record.hosts["web1"].elsewhere.jobs == {"first": "j1", "second": None}


def test_the_user_s_tasks_wait_for_another_event_s_deadline():
    run = Run(
        Machine("web1", "a", task_seconds=300.0), Machine("web2", "b", task_seconds=300.0), max_unavailable="100%"
    )
    for machine in run.machines.values():
        machine.seconds = 1000.0
    run.tick()
    run["web1"].show(event("A", ["vm1"], not_before=280))
    run["web2"].show(event("B", ["vm2"], not_before=250))
    run.tick()
    assert run.record.todo.tasks_allowed == ["web2"], "the earlier one goes first"


def test_a_lost_machine_does_not_stop_the_ticks():
    run = Run("web1", "web2", policy=rules("prepare"))
    run.tick()
    run.show(event("A", ["vm1"]))
    run.until(lambda: run.prepared("web1"))
    run["web1"].down = run["web2"].down = NO_ROUTE
    run.tick(6)
    todo = run.record.todo
    assert todo.calls or 0 < todo.seconds <= 3.0


# ---- its end ----


def test_a_run_without_time_handles_what_is_there():
    run = Run(wait_timeout=0.0).to_end()
    assert run.record.ticks == 1 and run.problems == []


def test_an_event_that_stays_too_long_ends_the_run_and_leaves_its_machines():
    run = Run(event_timeout=300.0)
    run.tick()
    run.show(event("A", ["vm1"], not_before=400))
    run.until(lambda: run.sent("A"))
    run.show(started(event("A", ["vm1"])))
    run.to_end()
    assert run.marked() == ["web1"]
    assert any("was not known to be over" in problem for problem in run.problems)
    assert any("web1 is not back in service: its event was not over" in problem for problem in run.problems)
    assert any("the playbook recover" in problem for problem in run.problems)


def test_rounds():
    run = Run(rounds=2, wait_timeout=100000.0)
    for number in range(2):
        assert not run.record.finished
        run.tick(3)
        run.show(event(f"E{number}", ["vm1"], not_before=90000))
        run.until(lambda key=f"E{number}": run.sent(key))
        run.show()
        run.until(lambda number=number: run.record.rounds_done == number + 1)
    assert run.record.finished and run.problems == []


def held(**options):
    run = Run(policy=rules("hold"), **options)
    run.tick()
    run.show(event("A", ["vm1"], not_before=2000))
    return run.until(lambda: run.prepared("web1"))


def test_hold_waits_for_a_person():
    run = held()
    run.tick(20)
    assert run.approvals() == [] and not run.record.finished
    assert "a confirmation" in run.event().against.waits
    run["web1"].yes = ["a"]
    run.tick(3)
    assert run.approvals() != []


@pytest.mark.parametrize("lacking", [["web1"], ["web1", "web2", "web3"]])
def test_hold_leaves_nothing_that_its_machine_s_own_document_lacks(lacking):
    run = Run(policy=rules("hold"), hold="leave")
    run["web1"].seconds = 30.0
    run.tick()
    run.show(event("A", ["vm1"]))
    run.until(lambda: run["web1"].mark)
    run.until(lambda: run.at + 5 >= run["web1"].done_at)
    run.show(to=lacking)  # a document that is late, or it is over
    run.until(lambda: run.prepared("web1"))
    run.tick()
    assert not (run.record.leaving or run.record.finished)
    run.show(event("A", ["vm1"]))
    run.to_end()
    assert run.marked() == ["web1"], "once it is shown again"


def test_hold_leaves_nothing_that_is_over():
    run = Run(policy=rules("hold"), hold="leave")
    run["web1"].seconds = 30.0
    run.tick()
    run.show(event("A", ["vm1"]))
    run.until(lambda: run["web1"].mark)
    run.until(lambda: run.at + 5 >= run["web1"].done_at)
    run.show()
    run.to_end()
    assert run.marked() == [] and not any("person" in note for note in run.notes)


def test_hold_may_leave_its_marks_to_another_run():
    run = held(hold="leave")
    run.to_end(most=5)
    assert run.marked() == ["web1"]
    assert run["web1"].mark["lease"]["until"] == run["web1"].mark["lease"]["uptime"], "whoever comes need not wait"
    assert run.problems == []
    assert any("cloudops.azure_maintenance.approve -e approve_event=A" in note for note in run.notes)


@pytest.mark.parametrize("other, leaves", [("leave", True), ("wait", False)])
def test_it_leaves_only_what_all_machines_of_the_event_let_it_leave(other, leaves):
    web2 = Machine("web2")
    web2.options["hold"] = other
    run = Run("web1", web2, policy=rules("hold"), hold="leave", max_unavailable="2")
    run.tick()
    run.show(event("A", ["vm1", "vm2"], not_before=2000))
    run.until(lambda: run.prepared("web1") and run.prepared("web2"))
    run.tick(3)
    assert run.record.finished is leaves


def test_one_that_can_not_be_let_go_any_more_does_not_keep_the_run():
    run = held(hold="leave")
    run.until(lambda: run.record.leaving)
    assert asked(run, "web1") == ["release"] and list(run.record.todo.calls) == ["web1"]
    run["web1"].down = NO_ROUTE
    run.tick()
    assert run.record.finished and len(run.problems) == 1 and "web1, which can't be reached" in run.problems[0]


def test_a_scope_that_nobody_looked_at_is_a_problem():
    run = Run("web1", Machine("db1", "db"), wait_timeout=1000.0)
    run.tick(2)
    run["db1"].blind = "the service hangs"
    run.until(lambda: run.at > 300)
    run["db1"].blind = ""
    run.to_end()
    said = [problem for problem in run.problems if "No machine polled the events of scope 'db'" in problem]
    assert said and all("No machine" in problem for problem in run.problems)


@pytest.mark.parametrize("kind, said", [("SpotRebalanceRecommendation", True), ("Redeploy", False)])
def test_maintenance_explains_that_a_machine_is_silent_and_advice_does_not(kind, said):
    run = Run("web1", policy=rules("notify"), wait_timeout=1000.0)
    run.tick()
    run.show(event(type=kind, resources=["vm1"], not_before=60.0))
    run.until(lambda: run.at > 60)
    run["web1"].down = NO_ROUTE
    run.until(lambda: run.at > 400)
    assert any("No machine polled" in problem for problem in run.problems) is said


def test_a_scope_that_nobody_looked_at_names_its_machines():
    """Its name alone tells nobody over whom something may have come."""
    run = Run(wait_timeout=1000.0).tick(2)
    for machine in run.machines.values():
        machine.blind = "the service hangs"
    run.until(lambda: run.at > 400)
    assert any("the events of scope 'web' (web1, web2, web3) for" in problem for problem in run.problems)


def test_a_machine_away_for_its_own_event_is_no_unwatched_scope():
    run = Run(Machine("web1", "a"), Machine("web2", "b"))
    run.tick()
    run["web1"].show(event("A", ["vm1"]))
    run.until(lambda: run.sent("A"))
    run["web1"].show(started(event("A", ["vm1"])))
    run["web1"].down = NO_ROUTE
    run.tick(80)
    run["web1"].show()
    run["web1"].down = ""
    run.to_end()
    assert run.problems == []


def test_an_incarnation_that_went_back_is_a_note():
    run = Run()
    run["web1"].incarnation = 700
    run.tick(2)
    run["web1"].incarnation = 3
    run.tick(2)
    assert run.problems == []
    assert any("from 700 back to 3" in note for note in run.notes)


def test_an_approval_is_tried_until_not_before():
    run = Run()
    for machine in run.machines.values():
        machine.service_refuses = "the service answered 410"
    run.tick()
    run.show(event("A", ["vm1"], not_before=300))
    run.until(lambda: run.at > 200)
    assert run.event().approval.tries.times > 10
    assert any("could not be approved: web" in problem and "410" in problem for problem in run.problems)
    run["web2"].service_refuses = ""
    run.until(lambda: run.sent("A"), most=20)
    assert not any("could not be approved" in problem for problem in run.problems)


def watcher(**more):
    return dict({"mode": "manage", "version": "0.2.0", "alive": True, "lacks": [], "prepares": True}, **more)


def test_a_machine_that_must_have_steps_and_has_none_is_not_approved_for():
    run = Run(Machine("web1", steps=0, require_steps=True), "web2")
    run.tick()
    run.show(event("A", ["vm1"]))
    run.tick(10)
    assert not run.sent("A") and run.goes("web1") == []
    assert "web1, which has no steps, and maintain_require_steps is true: say in drain_steps" in " ".join(run.problems)
    assert run.result["notes"] == []


def test_a_watcher_that_goes_down_leaves_its_machine_without_steps():
    run = Run(Machine("web1", steps=0, require_steps=True), "web2")
    run["web1"].watcher = watcher()
    run.tick()
    run.show(event("A", ["vm1"]))
    run["web1"].watcher = watcher(alive=False)
    run.tick(10)
    assert not run.sent("A") and run.goes("web1") == []


def test_no_steps_of_its_own_are_prepared_in_a_moment():
    run = Run(Machine("web1", steps=0, needs=0.0), "web2")
    run["web1"].seconds = 0.0
    run.tick()
    run.show(event("A", ["vm1"]))
    run.until(lambda: run.sent("A"), most=4)
    assert [words for words in run.result["notes"] if "web1" in words] == [
        "No step of drain_steps is for web1: it counts as prepared for its events while it is in service."
    ]
    assert not any("web2" in words for words in run.result["notes"])


# ---- as filters see it ----


def test_a_record_that_was_plain_data_meanwhile_goes_on_as_it_was():
    hours = [{"do": "prepare_and_approve", "hours": "00:00-24:00", "zone": "+02:00"}]
    run = Run(policy=hours)
    run.tick()
    run.show(event("A", ["vm1"]))
    run["web1"].lost_approvals = run["web2"].lost_approvals = 1
    run.until(lambda: run.event().approval.attempts if run.record.events else False)
    before = json.dumps(to_plain(run.record))
    again = from_plain(Record, json.loads(before))
    assert json.dumps(to_plain(again)) == before
    for record in (run.record, again):
        run_record.move_on(record, {}, run.at + 5)
    assert to_plain(again) == to_plain(run.record)
    assert shown(again)["timeline"] == shown(again, "timeline")


def test_nothing_depends_on_the_order_of_a_set():
    """Sets of texts come in another order in every process; a run that is played again must be the same."""
    run = Run(*(Machine(f"web{number}", f"s{number % 3}") for number in range(12)))
    assert list(run.record.todo.calls) == list(run.machines)
    run.tick()
    run.show(event("A", ["vm1", "vm4"]), to=["web1", "web4", "web7", "web10"])
    for _number in range(8):
        run.tick()
        calls = run.record.todo.calls
        approves = [host for host, call in calls.items() if any(one["do"] == "approve" for one in call["requests"])]
        assert list(calls) == [*approves, *(host for host in run.machines if host in calls and host not in approves)]
    assert run.approvals() == ["web7"]


def test_texts_are_as_good_as_numbers_and_truth_values():
    facts = {
        "host": "a",
        "is_linux": "False",
        "scope": "",
        "resource_name": "",
        "group": "",
        "steps": "2",
        "needs": "30",
        "require_steps": "yes",
    }
    options = {**OPTIONS, "margin": "60", "allow_unknown": "no"}
    same = {**SAME, "rounds": "1"}
    run = {"run": "r", "job": "", "controller": "c", "check": "no"}
    record = run_record.begun([{**facts, "options": options, "same": same}], run, 5.0, 0.0)
    assert windows_called(record) == ["a"]
    assert record.hosts["a"].given.needs == 30.0 and record.hosts["a"].given.require_steps is True
    assert record.run.check is False


def test_scopes_that_nobody_looked_at_for_the_same_reason_are_one_problem():
    """A fault of Azure's, or of the network, blinds all machines at once."""
    run = Run(*(Machine(f"web{number}", f"s{number}") for number in range(1, 9)), wait_timeout=1000.0).tick(2)
    for machine in run.machines.values():
        machine.blind = "The service hangs (5 times in 12.0 s)."
    run.until(lambda: run.at > 400)
    run["web8"].blind = ""
    run.tick(20)
    said = [problem for problem in run.problems if "No machine polled" in problem]
    assert len(said) == 1 and said[0].startswith(
        "No machine polled the events of 8 scopes (s1, s2, s3, s4, s5 and 3 more) for "
    )
    assert said[0].endswith(" on: The service hangs (5 times in 12.0 s).")
    lines = [line for line in run.timeline.splitlines() if "No machine polled" in line]
    assert len(lines) <= 1


def test_scopes_that_nobody_looked_at_for_reasons_of_their_own_are_told_apart():
    run = Run("web1", Machine("db1", "db"), Machine("db2", "db"), wait_timeout=1000.0).tick(2)
    run["web1"].blind = "the service hangs"
    run["db1"].blind = run["db2"].blind = "a firewall keeps it off"
    run.until(lambda: run.at > 400)
    web, db = sorted(
        (problem for problem in run.problems if "No machine polled" in problem), key=lambda one: "'db'" in one
    )
    assert "of scope 'web' (web1) for" in web and web.endswith(": web1: the service hangs.")
    assert "of scope 'db' (db1, db2) for" in db and db.endswith(": 2 machines (db1, db2): a firewall keeps it off.")


def test_a_scope_that_was_not_looked_at_twice_has_two_problems():
    run = Run("web1", wait_timeout=2000.0).tick(2)
    for _time in range(2):
        run["web1"].blind = "the service hangs"
        run.until(lambda until=run.at + 300: run.at > until)
        run["web1"].blind = ""
        run.until(lambda until=run.at + 100: run.at > until)
    said = [problem for problem in run.problems if "No machine polled" in problem]
    assert len(said) == 2 and all(": web1: the service hangs." in problem for problem in said)


def test_a_scope_that_was_not_looked_at_twice_while_another_was_not_at_all():
    run = Run("web1", Machine("db1", "db"), wait_timeout=2000.0).tick(2)
    run["db1"].blind = "the service hangs"
    for seconds in (400, 200):
        run["web1"].blind = "the service hangs"
        run.until(lambda until=run.at + seconds: run.at > until)
        run["web1"].blind = ""
        run.until(lambda until=run.at + 100: run.at > until)
    both, again = (problem for problem in run.problems if "No machine polled" in problem)
    assert "of 2 scopes (web, db) for up to" in both or "of 2 scopes (db, web) for up to" in both
    assert "of scope 'web' (web1) for" in again
    assert all(gap.scopes["web"].until - gap.scopes["web"].since > 120 for gap in run.record.gaps.values())
    assert len({gap.scopes["web"].since for gap in run.record.gaps.values()}) == 2


def test_one_that_is_lost_again_and_again_does_not_keep_another_one_uncalled():
    """Else the run never ends: it does not before who was never seen has been called some times."""
    run = Run(Machine("web1", is_linux=False), Machine("web2", is_linux=False), policy=[{"do": "prepare"}])
    run["web2"].down = NO_ROUTE
    run.show(event("A", ["vm1"], not_before=250.0), to=["web1"])
    run.until(lambda: run.prepared("web1"))
    record, called = run.record, 0
    for _number in range(200):
        run.at += 3.0
        put(record.hosts["web1"], lost="it has left the play", in_vain__failures=9, again=run.at + 30.0)
        record.ticks += 1
        record.at = run.at
        called += "web2" in tick_planner.todo_of(record).calls
    assert called
