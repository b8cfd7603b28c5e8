# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The filters that carry a run of role maintain, and those that users call: what templates hand over is taken as it is meant."""

from __future__ import annotations

import time

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.cloudops.azure_maintenance.plugins.filter.maintenance_plan import maintenance_plan
from ansible_collections.cloudops.azure_maintenance.plugins.filter.maintenance_record import maintenance_record
from ansible_collections.cloudops.azure_maintenance.plugins.filter.maintenance_timeline import maintenance_timeline
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._events.policy import DEFAULT_POLICY
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils import _ticking
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils import ticking

# As a template of an old ansible-core hands them over: numbers and truth values are texts.
OPTIONS = {
    "policy": DEFAULT_POLICY,
    "margin": "60",
    "allow_unknown": "False",
    "prepare_before": "3600.0",
    "on_failure": "revert",
    "recover_timeout": "900",
    "max_unavailable": "50%",
    "hold": "wait",
}
SAME = {"event_timeout": "3600", "rounds": "1", "wait_timeout": "1000", "slice": "30", "takeover": "30"}


def facts(host, **more):
    given = {
        "host": host,
        "scope": "web",
        "resource_name": "",
        "is_linux": "True",
        "group": "",
        "steps": "1",
        "needs": "60.0",
    }
    return dict(given, options=OPTIONS, same=SAME, task_seconds="0", **more)


def begun(*hosts):
    return maintenance_record([facts(host) for host in hosts], "begun", check="False")


def ticked(record, answers, present=("web1", "web2")):
    hostvars = {host: {"__maintain_answer": answer} for host, answer in answers.items()}
    record["todo"]["seconds"] = 0.0
    return maintenance_record(record, "ticked", hostvars=hostvars, present=list(present))


@pytest.fixture(autouse=True)
def no_rest(monkeypatch):
    rests = []
    monkeypatch.setattr(time, "sleep", rests.append)
    return rests


def test_a_run_from_its_beginning_to_its_first_work(no_rest):
    record = begun("web1", "web2")
    assert record["same"]["rounds"] == 1 and record["run"]["check"] is False and record["run"]["run"].startswith("run-")
    record = ticked(record, ticking.answers(record, ticking.reboot("vm1")))
    assert record["events"]["A"]["affected"] == ["web1"] and no_rest == [record["todo"]["seconds"]]
    assert [one["do"] for one in record["todo"]["calls"]["web1"]["requests"]] == ["go", "look"]
    assert maintenance_timeline(record, "plan")[0].startswith(
        "Reboot A (Platform) affects vm1 (web1): prepare, then approve"
    )
    assert maintenance_timeline(record, "result")["events"][0]["id"] == "A"


def test_each_run_has_a_name_of_its_own():
    assert begun("web1")["run"]["run"] != begun("web1")["run"]["run"]


def test_an_answer_to_an_earlier_call_is_none():
    record = begun("web1", "web2")
    answers = ticking.answers(record)
    answers["web2"]["number"] -= 1
    record = ticked(record, answers)
    assert record["hosts"]["web1"]["lost"] == "" and "nothing that could be read" in record["hosts"]["web2"]["lost"]


def test_a_number_may_be_a_text():
    record = begun("web1")
    answers = ticking.answers(record)
    answers["web1"]["number"] = str(answers["web1"]["number"])
    assert ticked(record, answers)["hosts"]["web1"]["lost"] == ""


def test_who_has_left_the_play_is_lost_whatever_its_last_answer_was():
    """A machine that leaves the play can't end the run for others, nor is its old answer taken for a new one."""
    record = begun("web1", "web2")
    record = ticked(record, ticking.answers(record), present=["web1"])
    assert "has left the play" in record["hosts"]["web2"]["lost"] and not record["finished"]


@pytest.mark.parametrize("apart, allowed, state", [(0, True, "failed"), (1, True, "done"), (0, False, "pending")])
def test_what_came_of_own_tasks_comes_with_the_answer_to_the_same_call(apart, allowed, state):
    record = begun("web1")
    record["todo"]["tasks_allowed"] = ["web1"] if allowed else []
    step = {"key": "tasks own.yml", "type": "tasks", "do": "/own.yml"}
    mark = {
        "since": "12:00",
        "holder": {"run": "r1"},
        "steps": [{"key": step["key"], "before": None, "tries": 1, "limit": 60.0}],
    }
    asked = {"key": step["key"], "direction": "do", "begun": True, "left": 60.0, "begins": 60.0}
    answer = {**ticking.answers(record)["web1"], "elsewhere": asked, "mark": mark}
    attempt = f"12:00 {step['key']} do 1"
    failed = {"state": "failed", "note": "no", "direction": "do"}
    failure = {"number": answer["number"] - apart, "attempt": attempt, "outcome": failed}
    found = {"__maintain_answer": answer, "__drain_failure": failure, "__drain_plan": {"steps": [step]}}
    brought = _ticking.answers(record, {"web1": found}, ["web1"])["web1"]
    assert brought["outcomes"][step["key"]]["state"] == state
    assert brought["jobs"] == {attempt: "ran" if allowed else "waits"}


@pytest.mark.parametrize("apart, before", [(0, {"haproxy h": {"servers": {"lb1/www": "UP"}}}), (1, {})])
def test_what_load_balancers_did_in_one_task_comes_with_the_answer_to_the_same_call(apart, before):
    record = begun("web1")
    answer = ticking.answers(record)["web1"]
    step = {"key": "haproxy h", "type": "haproxy"}
    target = {
        "load_balancer": "lb1",
        "place": "lb1",
        "key": "haproxy h",
        "part": "before",
        "number": answer["number"] - apart,
    }
    came = {"servers": [{"backend": "www", "status": "UP"}], "__drain_target": target}
    found = {"__maintain_answer": answer, "__maintain_did": {"results": [came]}, "__drain_plan": {"steps": [step]}}
    after = maintenance_record(record, "ticked", hostvars={"web1": found}, present=["web1"])
    assert after["hosts"]["web1"]["before"] == before


def test_the_first_mark_is_named_while_something_can_be_said(capsys):
    record = begun("web1", "web2")
    record = ticked(record, ticking.answers(record, ticking.reboot("vm1")))
    assert "taken out of service" not in capsys.readouterr().out
    record = ticked(record, ticking.answers(record, ticking.reboot("vm1"), mark_on="web1"))
    said = capsys.readouterr().out
    assert f"web1: taken out of service from here on, with the mark of {record['run']['run']}" in " ".join(said.split())
    assert "begin the same command again" in " ".join(said.split()) and "rehearse" not in said
    ticked(record, ticking.answers(record, ticking.reboot("vm1"), mark_on="web1"))
    assert capsys.readouterr().out == ""


def test_a_rehearsal_is_not_begun_again_but_cleaned_up(capsys):
    record = begun("web1", "web2")
    answers = ticking.answers(record, ticking.reboot("vm1"), mark_on="web1")
    answers["web1"]["mark"]["endpoint"] = "http://10.0.0.11:8780/vm/web1"
    ticked(record, answers)
    assert "rehearse with -e rehearse_state=absent recovers its machines" in " ".join(capsys.readouterr().out.split())


def test_what_happens_is_said_when_it_happens(capsys):
    record = begun("web1", "web2")
    record = ticked(record, ticking.answers(record, ticking.reboot("vm1")))
    said = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in said if line[:2] == "20"] == ["shown", "planned"]
    ticked(record, ticking.answers(record, ticking.reboot("vm1")))
    assert capsys.readouterr().out == ""


def test_the_end_is_the_timeline_then_what_is_left_for_a_person():
    record = begun("web1")
    *timeline, title, problem = maintenance_timeline(record, "end")
    assert timeline == ["No event was shown."] and title == "Left for a person"
    assert problem.strip() == maintenance_timeline(record, "result")["problems"][-1]


def test_a_run_whose_loops_end_before_it_does_is_a_problem():
    record = begun("web1")
    assert "although it was not over" in maintenance_timeline(record, "result")["problems"][-1]


def found(host, *events, scope="web"):
    return {
        "host": host,
        "scope": scope,
        "resource_name": "",
        "is_linux": "True",
        "look": ticking.look(*events, name=host.replace("web", "vm")),
    }


def test_a_plan():
    (planned,) = maintenance_plan([found("web1", ticking.reboot("vm1")), found("web2", ticking.reboot("vm1"))])
    assert planned["verdict"] == "prepare_and_approve" and planned["approvers"] == ["web2", "web1"]
    assert (
        planned["affected"] == ["web1"]
        and planned["budget"] == pytest.approx(540, abs=1)
        and planned["seen_by"] == ["web1", "web2"]
    )


@pytest.mark.parametrize(
    "event, options, verdict",
    [
        (ticking.reboot("vm1", status="Started", notice=None), {}, "watch"),
        (ticking.reboot("vm9"), {}, "not_ours"),
        (ticking.reboot("vm1", "vm9", notice=290), {}, "prepare"),
        (ticking.reboot("vm1", "vm9", notice=7200), {}, "later"),
        (ticking.reboot("vm1"), {"policy": [{"name": "All", "do": "ignore"}]}, "ignore"),
        (ticking.reboot("vm1", "vm9"), {"policy": [{"name": "All", "do": "approve"}]}, "watch"),
        (ticking.reboot("vm1"), {"policy": [{"name": "All", "do": "hold"}]}, "hold"),
    ],
)
def test_what_is_planned(event, options, verdict):
    (planned,) = maintenance_plan([found("web1", event), found("web2", event)], **options)
    assert planned["verdict"] == verdict
    assert ("vm9" in planned["hold"]) is (
        verdict in ("prepare", "later") or options.get("policy", [{}])[0].get("do") == "approve"
    )


def test_a_machine_that_could_not_be_asked_is_named_in_the_plan():
    lost = dict(found("web2"), look={"unreachable": True, "msg": "refused"}, resource_name="vm2")
    (planned,) = maintenance_plan([found("web1", ticking.reboot("vm2")), lost])
    assert planned["unreachable"] == ["web2"]


def test_what_nobody_knows_is_refused():
    with pytest.raises(AnsibleFilterError, match="'looked'; it knows begun and ticked"):
        maintenance_record(begun("web1"), "looked")


def test_a_part_that_there_is_none_of_is_refused():
    with pytest.raises(AnsibleFilterError, match="did you mean 'timeline'"):
        maintenance_timeline({}, "timelines")
