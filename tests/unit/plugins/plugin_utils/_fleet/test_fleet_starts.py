# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Windows machines, where each call takes a start of PowerShell: what goes in one call, and how long is rested between them."""

import copy

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet import record as run_record
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.tick_planner import todo_of
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._fleet.runs import (
    Machine,
    Run,
    event,
    mark,
    rules,
)


def entry(key="W3SVC", state="begun", words="stop W3SVC"):
    return {"key": key, "state": state, "words": words, "unwords": "", "seconds": 0.0, "note": "", "before": None}


DONE = {"W3SVC": {"state": "done", "note": "", "direction": "do"}}


def begun(*others, is_linux=False, steps=None, outcomes=None, **options):
    """The record of a run whose web1 has its last step done by others, and not noted in its mark yet."""
    run = Run(Machine("web1", is_linux=is_linux), *others, **options).is_proven().tick()
    run.show(event("A", ["vm1"]))
    run.until(lambda: run["web1"].mark)
    record = copy.deepcopy(run.record)
    machine = record["hosts"]["web1"]
    machine["mark"]["steps"] = [entry()] if steps is None else steps
    machine["outcomes"] = DONE if outcomes is None else outcomes
    return record


def asked(record, host="web1"):
    todo = todo_of(record, record["at"])
    return [request["do"] for request in todo["calls"][host]["requests"]] if host in todo["calls"] else None


def sent(record):
    """The calls of its next tick are made."""
    record["todo"] = todo_of(record, record["at"])
    return run_record.sent(record)


# --- prepared and approved in one call ---


def test_what_is_noted_last_and_the_approval_are_one_call():
    record = begun()
    assert asked(record) == ["go", "approve"]
    (_go, approve) = todo_of(record, record["at"])["calls"]["web1"]["requests"]
    assert (approve["ids"], approve["own"], approve["prepared"]) == (["A"], ["A"], ["vm1"])


@pytest.mark.parametrize(
    "outcomes", [{}, {"W3SVC": {"state": "pending", "note": ""}}, {"W3SVC": {"state": "failed", "note": ""}}]
)
def test_not_before_others_have_said_that_its_last_step_is_done(outcomes):
    assert asked(begun(outcomes=outcomes)) == ["go", "look"]


@pytest.mark.parametrize(
    "more, requests",
    [
        (entry("next", "waiting", "stop next"), ["go", "look"]),
        (entry("undone", "waiting", ""), ["go", "approve"]),
        (entry("before", "done"), ["go", "approve"]),
        (entry("bad", "failed"), ["go", "look"]),
    ],
)
def test_only_where_no_other_step_is_to_be_done(more, requests):
    assert asked(begun(steps=[entry(), more])) == requests


def test_a_linux_machine_says_first_that_it_is_prepared():
    assert asked(begun(is_linux=True)) == ["go", "look"]


def test_where_another_machine_approves_it_says_so_first():
    assert asked(begun("web2")) == ["go", "look"]


@pytest.mark.parametrize("do", ["prepare", "hold"])
def test_where_the_policy_does_not_approve_it_at_once_there_is_nothing_to_approve(do):
    assert "approve" not in asked(begun(policy=rules(do)))


def test_where_another_machine_of_the_event_is_not_prepared_there_is_nothing_to_approve():
    record = begun(Machine("web2", is_linux=False))
    record["events"]["A"]["affected"] = ["web1", "web2"]
    record["events"]["A"]["actions"]["web2"] = "prepare_and_approve"
    assert "approve" not in asked(record)


def test_a_refusal_by_a_machine_that_did_not_become_prepared_counts_as_no_try():
    """It was asked for in good faith, and the next tick decides anew."""
    record = begun()
    sent(record)
    refused = {
        "approved": [],
        "already": [],
        "not_approved": [{"id": "A", "reason": "fenced", "message": "This machine is not prepared for it any more"}],
        "failure": None,
        "msg": "",
        "look": None,
    }
    answer = {
        "lost": "",
        "number": record["hosts"]["web1"]["flying"]["number"],
        "mark": mark("r1", ["A"], phase="preparing"),
        "boot_id": "boot-1",
    }
    for state, tries in (("refused", 0), ("prepared", 1)):
        went = {"state": state, "why": "", "ask": [], "elsewhere": None, "steps": []}
        after = run_record.ticked(record, {"web1": dict(answer, answers=[went, refused])}, record["at"] + 4.0)
        assert after["events"]["A"]["approval"]["tries"]["count"] == tries


# --- asking first ---


@pytest.mark.parametrize("is_linux, requests", [(False, ["go"]), (True, ["go", "look"])])
def test_a_windows_machine_that_has_just_looked_is_only_asked_for_the_case_before(is_linux, requests):
    run = Run(Machine("web1", is_linux=is_linux)).tick()
    run.show(event("A", ["vm1"]))
    run.tick()
    assert [request["do"] for request in run.record["todo"]["calls"]["web1"]["requests"]] == requests


# --- what is known from call to call ---


def test_what_the_next_call_may_begin_with_is_forgotten_when_a_call_brings_nothing():
    run = Run(Machine("web1", is_linux=False))
    run["web1"].heard = {"uptime": 1.0, "boot_id": "boot-1", "at": 0.0, "known": {"age": 0.0}}
    run.tick()
    assert run.record["todo"]["calls"]["web1"]["heard"]["known"] == {"age": 0.0}
    run["web1"].down = "no route to host"
    run.tick()
    assert run.record["hosts"]["web1"]["heard"] == {"uptime": 1.0, "boot_id": "boot-1", "at": 0.0}


# --- rests ---


@pytest.mark.parametrize("start, rest", [(0.5, 3.0), (2.0, 6.0), (4.0, 5.0), (9.0, 3.0)])
def test_while_only_windows_machines_watch_they_rest_as_long_as_their_starts_cost(start, rest):
    """And no longer than an event needs to begin and end unseen."""
    run = Run(Machine("web1", is_linux=False))
    run["web1"].start = start
    run.tick()
    run.show(event("A", ["vm1"]))
    run.until(run.sent)
    run.tick()
    assert run.record["todo"]["seconds"] == rest


def test_a_linux_machine_beside_it_or_a_spot_machine_is_no_reason_to_rest():
    for machines in (["web2"], []):
        run = Run(Machine("web1", is_linux=False), *machines)
        run["web1"].start, run["web1"].spot = 2.0, not machines
        run.tick()
        run.show(event("A", ["vm1"]))
        run.until(lambda run=run: run.sent())
        run.tick()
        assert run.record["todo"]["seconds"] == 3.0


def test_a_start_is_a_rest_by_itself_while_something_moves():
    run = Run(Machine("web1", is_linux=False))
    run["web1"].start, run["web1"].seconds = 2.0, 100.0
    run.tick()
    run.show(event("A", ["vm1"]))
    run.until(lambda: run["web1"].mark)
    run.tick()
    assert run.record["todo"]["seconds"] == 0.0


# --- how old what a machine says is, when a start of PowerShell came after it ---


def test_a_mark_is_as_old_as_the_machine_says():
    record = begun()
    sent(record)
    said = {"lost": "", "answers": [{}, {}], "mark": mark("r1", ["A"]), "boot_id": "boot-1", "ended": 100.0}
    after = run_record.ticked(record, {"web1": dict(said, age=30.0)}, 100.0)
    assert after["hosts"]["web1"]["mark_at"] == 70.0


def test_a_look_is_as_old_as_the_machine_says():
    """Its notice counts from when the document came, and so do two looks that show that an event is gone."""
    run = Run(Machine("web1", is_linux=False)).tick()
    run.show(event("A", ["vm1"], not_before=900.0))
    look = dict(run["web1"].document(run.at), age=6.0, began=8.0)
    look["events"][0]["notice"] = 500.0
    run_record.sent(run.record)
    said = {"lost": "", "answers": [look], "mark": None, "boot_id": "boot-1", "ended": run.at + 10.0}
    after = run_record.ticked(run.record, {"web1": said}, run.at + 10.0)
    assert after["events"]["A"]["deadline"] == run.at + 4.0 + 500.0 and after["events"]["A"]["shown"] == run.at + 4.0


# --- an event that starts at once after its approval ---


def answered(record, state, event_status, phase="prepared"):
    """The answer to what was asked last, whose look shows the event so."""
    approve = {"approved": ["A"], "already": [], "not_approved": [], "failure": None, "msg": ""}
    look = {"events": [dict(event("A", ["vm1"], event_status), notice=None)], "incarnation": 9, "unusable_events": []}
    look["events"][0].pop("starts")
    went = {"state": state, "why": "", "ask": [], "elsewhere": None, "steps": []}
    answers = [went, dict(approve, look=dict(look, began=1.0, age=0.0))]
    number = record["hosts"]["web1"]["flying"]["number"]
    said = {
        "lost": "",
        "number": number,
        "mark": mark("r1", ["A"], phase=phase),
        "boot_id": "boot-1",
        "answers": answers,
    }
    return {"web1": said}


def test_an_event_that_starts_in_the_tick_of_its_approval_has_not_reached_it_unprepared():
    record = begun()
    sent(record)
    after = run_record.ticked(record, answered(record, "prepared", "Started"), record["at"] + 4.0)
    entry = after["events"]["A"]
    assert entry["prepared"]["web1"]["ok"] and entry["unprepared"] == {"web1": ""} and after["problems"] == {}
    assert [one["what"] for one in after["happenings"]][-3:] == ["prepared", "approved", "started"]


def test_nor_one_whose_approval_was_the_last_that_was_heard_of_it():
    """The connection is cut by the maintenance."""
    record = begun()
    sent(record)
    lost = run_record.ticked(record, {"web1": {"lost": "cut"}}, record["at"] + 4.0)
    assert lost["events"]["A"]["prepared"]["web1"]["ok"] and lost["events"]["A"]["approval"]["maybe"]
    lost["hosts"]["web1"]["flying"] = record["hosts"]["web1"]["flying"]
    after = run_record.ticked(lost, answered(record, "prepared", "Started"), lost["at"] + 40.0)
    assert after["events"]["A"]["unprepared"] == {"web1": ""}


def test_one_that_did_not_become_prepared_has_been_reached():
    record = begun()
    sent(record)
    after = run_record.ticked(record, answered(record, "preparing", "Started", "preparing"), record["at"] + 4.0)
    assert after["events"]["A"]["unprepared"]["web1"] and len(after["problems"]) == 1


# --- under its event ---


def under_its_event(*others, boot="boot-2", **show):
    run = Run(Machine("web1", is_linux=False), *others)
    run["web1"].start = 2.0
    run.tick()
    run.show(event("A", ["vm1"]))
    run.until(run.sent)
    run["web1"].boot = boot
    run.show(dict(event("A", ["vm1"], "Started"), starts=None), *show.get("more", ()))
    return run.tick()


def waits(run):
    return [
        (call["requests"][0].get("wait"), run.record["todo"]["seconds"])
        for call in run.record["todo"]["calls"].values()
    ]


def test_a_machine_that_was_started_anew_under_its_event_is_waited_at():
    """No maintenance cuts the connection any more, and nothing else is to be done."""
    assert waits(under_its_event()) == [(30.0, 0.0)]


def test_before_that_it_is_looked_at():
    assert waits(under_its_event(boot="boot-1")) == [(0.0, 6.0)]


def test_others_do_not_wait_for_it():
    assert {wait for wait, _rest in waits(under_its_event("web2"))} == {0.0}


def test_with_another_event_to_come_it_is_looked_at():
    assert waits(under_its_event(more=[event("B", ["vm1"], not_before=5000.0)]))[0][0] != 30.0


def test_the_end_of_its_event_is_seen_twice():
    run = under_its_event()
    run.show()
    run.tick()
    assert waits(run)[0][0] == 0.0
    run.until(lambda: run.event()["gone"] is not None)


def test_an_event_that_is_scheduled_again_names_its_machines():
    run = under_its_event(boot="boot-1")
    run.tick(4)
    run.show(event("A", ["vm1"], not_before=5000.0))
    run.tick(3)
    assert any("See whether its machines are in service: web1." in problem for problem in run.problems)
