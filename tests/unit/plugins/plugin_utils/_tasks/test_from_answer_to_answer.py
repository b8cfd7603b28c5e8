# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a run goes on from answer to answer: for whom it waits, and for whom it does not."""

from __future__ import annotations

import types

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._clock import steady
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._tasks import fleet_run, maintaining
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._tasks.calls import Answer
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils import ticking
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._fleet.runs import put
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils.deciding import begun


class Machines:
    """Stands for the calls of a run: each machine answers when its turn comes, in this order, and any other is never heard of."""

    waiting = 0

    def __init__(self, *order, events=()):
        self.order, self.events, self.sent, self.flying = list(order), events, {}, {}

    def send(self, host, call, holder, jobs):
        self.sent[host] = call["requests"]
        asked = [request for request in call["requests"] if request["do"] != "ready"]
        todo = types.SimpleNamespace(calls={host: dict(call, requests=asked)})
        self.flying[host] = types.SimpleNamespace(todo=todo, run=types.SimpleNamespace(name=holder["run"]))

    def collect(self, seconds):
        for host in self.order:
            if host in self.flying:
                self.order.remove(host)
                return {host: Answer(ticking.answers(self.flying.pop(host), *self.events)[host], [])}
        return {}


def run_of(*hosts, present=None, check=False):
    record = begun(*hosts)
    put(record, run__check=check)
    given = {host: types.SimpleNamespace(steps=[]) for host in hosts}
    left = [] if present is None else set(hosts) - set(present)
    return fleet_run.FleetRun(None, {}, given, left, record, {}, list)


@pytest.fixture
def clock(monkeypatch):
    """Seconds go by with each look at it."""
    passed = [0.0]

    def look():
        passed[0] += 1.0
        return start + passed[0]

    start = steady()
    monkeypatch.setattr(fleet_run, "steady", look)
    return passed


def test_a_run_begins_without_a_machine_that_does_not_answer(clock):
    run, calls = run_of("web1", "web2", "web3"), Machines("web3", "web1")
    answers = run.ask_everybody(calls, [{"do": "ready"}])
    assert set(answers) == {"web1", "web3"} and all(asked[-1] == {"do": "ready"} for asked in calls.sent.values())
    hosts = run.record.hosts
    assert hosts["web2"].flying and not hosts["web2"].lost and clock[0] < 2 * fleet_run.FIRST
    calls.order.append("web2")
    assert set(calls.collect(1.0)) == {"web2"}, "its answer is taken in when it comes"


def test_while_some_are_still_to_be_called_it_waits_for_them(clock):
    run, calls = run_of("web1", "web2"), Machines("web1")
    calls.waiting = 1

    def collect(seconds, before=calls.collect):
        if clock[0] > 3 * fleet_run.FIRST:
            calls.waiting = 0
            calls.order.append("web2")
        return before(seconds)

    calls.collect = collect
    assert set(run.ask_everybody(calls, [])) == {"web1", "web2"}


def test_an_event_does_not_wait_for_those_that_are_still_to_be_called(clock):
    run, calls = run_of("web1", "web2"), Machines("web1", events=[ticking.reboot("vm1")])
    calls.waiting = 1

    def collect(seconds, before=calls.collect):
        calls.waiting = int(clock[0] < 3 * fleet_run.FIRST)
        return before(seconds)

    calls.collect = collect
    assert set(run.ask_everybody(calls, [])) == {"web1"} and clock[0] < 2 * fleet_run.FIRST


def test_in_check_mode_it_waits_for_all(clock):
    run, calls = run_of("web1", "web2", check=True), Machines("web1")

    def collect(seconds, before=calls.collect):
        if clock[0] > 3 * fleet_run.FIRST:
            calls.order.append("web2")
        return before(seconds)

    calls.collect = collect
    assert set(run.ask_everybody(calls, [])) == {"web1", "web2"}


def test_a_machine_that_has_left_the_play_is_not_called():
    run, calls = run_of("web1", "web2", present=["web1"]), Machines()
    run._send(calls)
    assert set(calls.sent) == {"web1"}
    assert run.record.hosts["web2"].lost == fleet_run.LEFT


def test_before_the_users_own_files_nobody_is_left_under_way_but_who_only_waits(monkeypatch):
    run, calls = run_of("web1", "web2", "web3"), Machines("web2")
    run._send(calls)
    hosts = run.record.hosts
    hosts["web3"].flying = dict(hosts["web3"].flying, requests=[{"do": "look", "wait": 60.0}])
    monkeypatch.setattr(run, "_own_file", lambda host, answer: "own.yml" if host in ("web1", "web2") else "")
    monkeypatch.setattr(fleet_run, "wanted", lambda file, answer: file)
    assert run._settled(calls, {"web1": Answer({}, [])}) == {"web1": "own.yml", "web2": "own.yml"}
    assert set(run.answers) == {"web1", "web2"} and hosts["web3"].flying is None


def test_where_nothing_can_be_decided_what_was_done_is_shown_with_the_runs_name(monkeypatch, capsys):
    run = run_of("web1")
    monkeypatch.setattr(fleet_run, "move_on", lambda record, _answers: {}[record.run.name])
    task = maintaining._Task(None, {})
    found = task._until_own(run, Machines("web1"), [])
    assert found["failed"] and found["run"] == run.record.run.name and "No event was shown." in capsys.readouterr().out
    assert "could not be decided on (" in found["msg"] and "Traceback" in found["exception"]
