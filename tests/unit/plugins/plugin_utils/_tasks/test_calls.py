# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The calls that are under way, over lines that are real processes: what comes together, and what others do for each machine alone."""

from __future__ import annotations

import time
import types

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._steps.step_type import Host
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._drain.orders import ROUND
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._drain.plan import make_plan
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.record import sent
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._lines import lines as lines_module
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._lines.lines import Lines
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._tasks import calls as module
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._tasks.calls import Calls
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._tasks.host_variables import Reach
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._tasks.machine_line import ModuleCall, Target
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils.deciding import begun

LONG = 30.0  # seconds
HAPROXY = {"type": "haproxy", "name": "web1", "load_balancers": ["lb1", "lb2"], "backends": ["www"]}
STEPS = make_plan([HAPROXY], Host("web1", "linux", {"all": ["web1", "lb1", "lb2"]}, str, str))["steps"]
MACHINE = types.SimpleNamespace(reach=Reach({}, False), steps=STEPS)
ASKS = {"ask": [STEPS[0]["key"]], "elsewhere": None, "mark": None}


class Over:
    """The far end of a line, which does so, by machine and place: waits for the file of a name, raises, or answers."""

    def __init__(self, folder, target, answers):
        self.folder, self.target = folder, target
        self.steps = answers[target.place or target.host]

    def call(self, call, _limit):
        for step in self.steps:
            if isinstance(step, Exception):
                raise step
            if isinstance(step, str):
                self.wait_for(step)
        (self.folder / f"{self.target.host} {self.target.place}").touch()
        came = next((step for step in self.steps if isinstance(step, dict)), {})
        return dict(came, number=call["call"]["number"]) if call["kind"] == "machine" else dict(came)

    def wait_for(self, name):
        end = time.monotonic() + LONG
        while not (self.folder / name).exists() and time.monotonic() < end:
            time.sleep(0.01)

    def close(self):
        pass


@pytest.fixture
def run(tmp_path):
    """Sends the first calls of a run over some machines, which answer so; returns its calls."""
    made = []

    def send(**answers):
        record = begun(*(host for host in answers if host.startswith("web")))
        lines = Lines(lambda target, _hung: lambda: Over(tmp_path, target, answers))
        made.append(lines)
        calls = Calls(lines, dict.fromkeys(record.hosts, MACHINE))
        for host, call in sent(record).items():
            calls.send(host, call, {}, {})
        return calls

    yield send
    for lines in made:
        lines.__exit__()


def test_rounds_follow_for_each_machine_alone(run, tmp_path):
    up, down = {"servers": [{"status": "UP"}]}, {"servers": [{"status": "DOWN"}]}
    calls = run(web1=[ASKS], web2=[{"answers": []}], lb1=["lb1 goes on", up], lb2=[down])
    assert list(calls.collect(LONG)) == ["web2"] and calls.busy == 1, "web1 has its first round"
    assert not (tmp_path / "web1 lb2").exists(), "one round after the other"
    (tmp_path / "lb1 goes on").touch()
    (answer,) = calls.collect(LONG).values()
    assert answer.came["ask"] == ASKS["ask"]
    assert [(one[ROUND]["place"], one["servers"][0]["status"]) for one in answer.rounds] == [
        ("lb1", "UP"),
        ("lb2", "DOWN"),
    ]


def test_answers_that_come_together_are_taken_in_together(run, monkeypatch):
    monkeypatch.setattr(module, "TOGETHER", LONG)
    calls = run(web1=[{"answers": []}], web2=["web1 ", {"answers": []}])
    began = time.monotonic()
    assert set(calls.collect(LONG)) == {"web1", "web2"}
    assert time.monotonic() - began < LONG, "nobody is waited for where no call is under way"


def test_one_that_hangs_is_not_waited_for(run):
    calls = run(web1=[{"answers": []}], web2=["never", {}])
    began = time.monotonic()
    assert list(calls.collect(LONG)) == ["web1"] and calls.busy == 1
    assert time.monotonic() - began < LONG and calls.collect(0.0) == {}


@pytest.mark.parametrize(
    "fails, words", [("raises", "ValueError: no such user"), ("hangs", "It gave no answer within")]
)
def test_a_call_that_fails_is_one_from_which_nothing_came_back(run, monkeypatch, fails, words):
    if fails == "hangs":
        monkeypatch.setattr(lines_module, "GRACE", -LONG)  # its time is over at once
    calls = run(web1=["never"] if fails == "hangs" else [ValueError("no such user")])
    assert calls.collect(LONG)["web1"].came["lost"].startswith(words)


def test_modules_are_called_all_at_a_time_but_one_after_the_other_on_a_line(tmp_path):
    answers = {"lb1": [{"from": "lb1"}], "lb2": [{"from": "lb2"}]}
    wanted = [(Target("web1", place), ModuleCall("ping", {}, LONG)) for place in ("lb1", "lb2", "lb1")]
    with Lines(lambda target, _hung: lambda: Over(tmp_path, target, answers)) as lines:
        came = Calls(lines, {}).modules(wanted)
        assert [one["from"] for one in came] == ["lb1", "lb2", "lb1"] and lines.opened == 2


def test_what_machines_answer_while_modules_are_awaited_is_not_lost(run, tmp_path):
    calls = run(web1=[{"answers": []}], lb1=["web1 ", {"from": "lb1"}])
    (came,) = calls.modules([(Target("web1", "lb1"), ModuleCall("ping", {}, LONG))])
    assert came["from"] == "lb1"
    assert list(calls.collect(LONG)) == ["web1"]
