# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbook recover, from verdict to verdict: who is waited for, what is undone, and what is given up."""

from __future__ import annotations

import json
import types

import pytest
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.inspection import Asked
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._tasks import handlers
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._tasks import recover as module
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._fleet.asked_machines import (
    LOST,
    answer,
    event,
    mark,
    step,
)

LEFT = answer(mark=mark("A-1", steps=[step("service nginx")]), uptime=500.0)
HALF = answer(mark=dict(mark("A-1", phase="half"), steps=[step("service nginx", "not_taken_back")]), uptime=500.0)


class Machines:
    """Those of a test: by host what each answers, time after time; the last one stays."""

    def __init__(self, said):
        self.hosts, self.said, self.called = list(said), {host: list(answers) for host, answers in said.items()}, []
        self.answers = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    @property
    def asked(self):
        return [Asked(host, True, "", self.answers.get(host, {})) for host in self.hosts]

    def ask(self, hosts=None, again=lambda *_: None):
        waiting = list(self.hosts if hosts is None else hosts)
        while waiting:
            for host in waiting:
                self.answers[host] = self.said[host].pop(0) if len(self.said[host]) > 1 else self.said[host][0]
            waiting = [host for host in waiting if again(host, self.answers[host], 1) is not None]

    def call(self, calls):
        self.called += [(host, [request["do"] for request in call.requests]) for host, call in calls.items()]


class Undoing:
    """Of a test: what can be undone."""

    fails: tuple[str, ...] = ()
    turns: list[dict[str, object]]
    files: dict[str, dict[str, object]] = {}

    def __init__(self, _action, _task_vars, before):
        self.data, self.own, self.became = before or {}, {}, {}

    def begin(self, takes):
        Undoing.turns.append(takes)
        self.own = self.files
        self.go_on(takes)

    def returned(self, data):
        return json.loads(json.dumps({"finished": False, **data}))

    def go_on(self, takes=()):
        takes = takes or Undoing.turns[-1]
        self.became = {
            host: {
                "ok": host not in self.fails,
                "message": "nginx did not start",
                "show": [f"{host}: done"],
                "changed": True,
            }
            for host in takes
        }


@pytest.fixture
def recovered(monkeypatch):
    def go(said, fails=(), seconds=900.0, files=None, **overrides):
        machines = Machines(said)
        Undoing.fails, Undoing.files = fails, files or {}
        if not overrides.get("before"):
            Undoing.turns = []
        monkeypatch.setattr(module, "Machines", lambda *_: machines)
        monkeypatch.setattr(module, "Undoing", Undoing)
        monkeypatch.setattr(module._Recovery, "_seconds", lambda *_: seconds)
        action = types.SimpleNamespace(
            _task=types.SimpleNamespace(check_mode=overrides.pop("check", False), _parent=None)
        )
        given = {"force": False, "take": "", "unmarked": False, "before": None, **overrides}
        came = module.work(action, {}, given)
        machines.topics = came.get("topics")
        return came.get("hosts", came), machines

    return go


def test_what_becomes_of_each(recovered):
    held = answer(event("B-2", "vm3"), mark=mark("B-2"), uptime=500.0, name="vm3")
    hosts, machines = recovered({"web1": [LEFT], "web2": [answer()], "web3": [held]})
    assert {host: (one["failed"], one["changed"]) for host, one in hosts.items()} == {
        "web1": (False, True),
        "web2": (False, False),
        "web3": (True, False),
    }
    assert hosts["web1"]["words"].startswith("web1 is recovered from") and hosts["web1"]["show"] == ["web1: done"]
    assert [list(turn) for turn in Undoing.turns] == [["web1"]] and machines.called == []
    assert Undoing.turns[0]["web1"] == ("any", False), "whosever mark it is by then, as long as nobody goes on with it"


def test_one_that_can_not_be_undone_says_why(recovered):
    hosts, _machines = recovered({"web1": [LEFT]}, fails=["web1"])
    assert hosts["web1"]["failed"] and hosts["web1"]["words"] == "nginx did not start"


def test_handlers_are_notified_of_those_that_were_recovered(recovered, monkeypatch):
    monkeypatch.setattr(handlers, "listened", lambda _task, _topic: True)
    _hosts, machines = recovered({"web1": [LEFT], "web2": [LEFT], "web3": [answer()]}, fails=["web2"])
    assert machines.topics == {"web1": [handlers.RECOVERED]}


def test_one_that_could_not_be_reached_is_recovered_as_soon_as_it_answers(recovered):
    hosts, _machines = recovered({"web1": [LEFT], "web2": [LOST, LOST, LEFT], "web3": [LOST, LOST, LOST, LOST, LEFT]})
    assert [list(turn) for turn in Undoing.turns] == [["web1"], ["web2"], ["web3"]], "none waits for another"
    assert not any(one["failed"] for one in hosts.values())


def test_one_that_is_not_reached_in_time_has_failed(recovered):
    hosts, _machines = recovered({"web1": [LEFT], "web2": [LOST]}, seconds=0.0)
    assert [list(turn) for turn in Undoing.turns] == [["web1"]] and not hosts["web1"]["failed"]
    assert hosts["web2"]["failed"] and hosts["web2"]["words"].startswith("web2 could not be asked: ")


def test_with_force_runs_that_live_keep_off_and_what_can_not_be_undone_is_given_up(recovered):
    hosts, machines = recovered({"web1": [LEFT, HALF]}, fails=["web1"], force=True)
    assert machines.called == [("web1", ["put_back"]), ("web1", ["take_off"])]
    assert hosts["web1"]["failed"]


def test_it_goes_on_after_the_users_own_task_files(recovered):
    said = {"web1": [LEFT], "web2": [answer()], "web3": [LOST]}
    before, _machines = recovered(said, files={"web1": {}}, force=True)
    assert before["finished"] is False and [list(turn) for turn in Undoing.turns] == [["web1"]]
    hosts, machines = recovered({"web1": [HALF], "web2": [answer()], "web3": [LOST, LEFT]}, ["web1"], before=before)
    assert [list(turn) for turn in Undoing.turns] == [["web1"], ["web3"]]
    assert machines.called == [("web1", ["take_off"]), ("web3", ["put_back"])], "forced, as it was said at first"
    assert {host: one["failed"] for host, one in hosts.items()} == {"web1": True, "web2": False, "web3": False}
    assert "is not marked" in hosts["web2"]["words"]


def test_check_mode_only_shows(recovered):
    hosts, machines = recovered({"web1": [LEFT]}, force=True, check=True)
    assert machines.called == [] and not hosts["web1"]["changed"]


@pytest.mark.parametrize("force, wanted", [("false", False), ("true", True), (True, True), ("no", False)])
def test_what_is_said_on_a_command_line_is_text(force, wanted):
    given = {"force": force, "take": 7, "unmarked": "False"}
    found = ArgumentSpecValidator(module.ARGUMENTS).validate(given).validated_parameters
    assert (found["force"], found["take"], found["unmarked"]) == (wanted, "7", False)
