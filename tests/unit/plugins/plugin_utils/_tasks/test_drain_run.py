# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosts that are prepared or recovered at a time: who is called, and what becomes of each."""

from __future__ import annotations

import json

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._clock import steady
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.program import lost
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._steps.step_type import Host
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._drain.plan import make_plan
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._tasks import drain_run
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._tasks.between_entries import Answer, Kept
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._tasks.drain_run import Drained, DrainRun
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._tasks.host_variables import Reach

OWN = {"type": "tasks", "do": "/own.yml"}
PLAN = make_plan([OWN], Host("web1", "linux", {"all": []}, str, str))
KEY = PLAN["steps"][0]["key"]
SHOWN = {"lost": "", "answers": [], "mark": None, "number": 0, "uptime": 5.0, "boot_id": "b", "elsewhere": None}


def given(host, is_windows=False, **options):
    """What the user has given for a host."""
    common = {"list": "prepare", "run": "here", "job": "", "controller": "c", "whose": "", "unmarked": False}
    more = {"check_mode": False, "trouble": ""}
    return Drained({"host": host, **common, **more, **options}, PLAN, Reach({"call_timeout": 0}, False), is_windows)


def went(state, number=1, **more):
    answer = {"state": state, "why": "", "ask": [], "elsewhere": None, "steps": []}
    return {**SHOWN, "number": number, "answers": [answer], **more}


def at_own_step(number=1):
    """The machine asks for the user's own task file."""
    entry = {"key": KEY, "before": None, "by": "here", "tries": 1, "limit": 60.0}
    mark = {"since": "12:00", "holder": {"run": "here"}, "steps": [entry]}
    asked = {"key": KEY, "direction": "do", "begun": True, "left": 60.0, "begins": 60.0}
    return went("preparing", number, mark=mark, elsewhere=asked)


class Machines:
    """Stands for the calls: each answers its calls in this order, one machine at a time; the others are never heard of."""

    def __init__(self, *answers):
        self.answers, self.sent, self.called = list(answers), [], set()

    def send(self, host, call, holder, jobs):
        self.sent.append((host, call))
        self.called.add(host)

    def collect(self, seconds):
        if self.answers[0][0] not in self.called:
            return {}  # it is not due yet
        host, came = self.answers.pop(0)
        self.called.remove(host)
        return {host: Answer({"ended": steady(), **came}, [])}

    def requests(self, host):
        return [call["requests"] for name, call in self.sent if name == host]


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """Nobody rests between two calls."""
    monkeypatch.setattr(drain_run.alone, "QUICK", 0.0)


def test_each_host_goes_on_when_it_has_answered():
    machines = Machines(("web1", SHOWN), ("web1", went("prepared")), ("web2", SHOWN), ("web2", went("prepared")))
    run = DrainRun({host: given(host) for host in ("web1", "web2")})
    assert run.go_on(machines) == {} and [host for host, _call in machines.sent] == ["web1", "web2", "web1", "web2"]
    assert all(record["finished"] and record["result"]["ok"] for record in run.records.values())


def test_who_is_finished_is_not_called():
    machines = Machines()
    run = DrainRun({"web1": given("web1", trouble="web1: no such step."), "web2": given("web2", check_mode=True)})
    assert run.go_on(machines) == {} and machines.sent == []
    assert run.records["web1"]["fail"] and run.records["web1"]["result"]["message"] == "web1: no such step."
    assert run.records["web2"]["result"]["ok"]


def test_a_call_that_was_lost_is_made_again_as_long_as_there_is_time(monkeypatch):
    machines = Machines(*[("web1", lost("It hangs"))] * 2)
    run = DrainRun({"web1": given("web1")})
    run.records["web1"]["budget"] = 0.0
    run.go_on(machines)
    assert "could not be asked: It hangs" in run.records["web1"]["result"]["message"] and len(machines.sent) == 1
    machines = Machines(("web1", lost("It hangs")), ("web1", SHOWN), ("web1", went("prepared")))
    run = DrainRun({"web1": given("web1")})
    run.go_on(machines)
    assert run.records["web1"]["result"]["ok"] and len(machines.sent) == 3


def test_a_decision_that_fails_is_that_hosts_failure(monkeypatch):
    ticked = drain_run.alone.ticked

    def fails(record, answer, at):
        return ticked({} if record["host"] == "web1" else record, answer, at)

    monkeypatch.setattr(drain_run.alone, "ticked", fails)
    run = DrainRun({host: given(host) for host in ("web1", "web2")})
    run.go_on(Machines(("web1", SHOWN), ("web2", SHOWN), ("web2", went("prepared"))))
    assert "could not be decided (KeyError" in run.records["web1"]["result"]["message"] and run.records["web1"]["fail"]
    assert run.records["web2"]["result"]["ok"]


def test_seconds_of_a_call_are_those_of_the_machines_system():
    machines = Machines(("web1", went("refused")), ("win1", went("refused")))
    DrainRun({"web1": given("web1"), "win1": given("win1", is_windows=True)}).go_on(machines)
    assert [call["seconds"] for _host, call in machines.sent] == [10.0, 60.0]


def returned():
    """A run that has returned as web1's file is due, with a call of web2 that has answered meanwhile."""
    run = DrainRun({host: given(host) for host in ("web1", "web2")})
    machines = Machines(("web1", SHOWN), ("web1", at_own_step()), ("web2", SHOWN))
    own = run.go_on(machines)
    assert list(own) == ["web1"] and own["web1"]["file"] == "/own.yml" and own["web1"]["seconds"] == 60.0
    return run, json.loads(json.dumps(run.records))


@pytest.mark.parametrize(
    "failures, state", [({}, "done"), ({"web1": {"result": {"msg": "no"}, "secret": False}}, "failed")]
)
def test_it_goes_on_after_the_files_with_all_answers(failures, state):
    run, records = returned()
    again = DrainRun({host: given(host) for host in records}, records, Kept({}, run.answers, failures, []))
    machines = Machines(("web1", went("prepared", 2)), ("web2", went("prepared")))
    assert again.go_on(machines) == {} and {host for host, _call in machines.sent} == {"web1", "web2"}
    assert machines.requests("web1")[0][0]["outcomes"][KEY]["state"] == state
    assert list(again.records["web1"]["jobs"].values()) == ["ran"]


def test_who_has_left_the_play_is_not_called_any_more():
    run, records = returned()
    again = DrainRun({host: given(host) for host in records}, records, Kept({}, run.answers, {}, ["web1"]))
    machines = Machines(("web2", went("prepared")))
    again.go_on(machines)
    assert [host for host, _call in machines.sent] == ["web2"] and not again.records["web1"]["finished"]


def test_what_is_kept_of_a_host_is_the_same():
    assert Drained.kept(json.loads(json.dumps(given("web1")))) == given("web1")
