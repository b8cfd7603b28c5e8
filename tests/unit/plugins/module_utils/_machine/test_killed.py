# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A program that is killed at any instant: the next call goes on by the mark, and nothing is done twice or forgotten."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._machine.acting import (
    Machine,
    SharedWorld,
    step,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._machine.doing import LONG, until

PLACES_THERE, PLACES_BACK = 33, 36  # where a call can be killed that goes the whole way

GO = {"do": "go", "to": "prepared", "left": 600.0, "lease": 120.0, "events": ["E1"], "before": {}}
BACK = dict(GO, to="recovered")


class Killed(SharedWorld):
    """A world in which the program is killed at the n-th place where anything is, or was just, changed."""

    places_left = 10**6

    def begin(self, step_run):
        self.place("before begin")
        progress = super().begin(step_run)
        self.place("after begin")
        return progress

    def place(self, _name):
        self.places_left -= 1
        if not self.places_left:
            os.kill(os.getpid(), signal.SIGKILL)


def a_machine(folder):
    steps = [step("one", "service"), step("left", "service"), step("two"), step("three")]
    machine = Machine(folder / "marks", *steps, world=Killed(folder))
    machine.world.initial_states = {"one": {"ran": True}, "left": {"ran": False}}
    machine.store._at = machine.world.place
    return machine


def life(machine, place, request, monkeypatch):
    """One call in a process of its own, killed at the n-th place; whether it came to its end before that."""
    pid = os.fork()
    if not pid:
        machine.world.places_left = place
        for name in ("link", "unlink", "replace", "fsync"):  # and between any two changes of a file
            original = getattr(os, name)
            monkeypatch.setattr(os, name, lambda *args, of=original: machine.world.place("") or of(*args))
        try:
            machine.call(request)
        finally:
            os._exit(0)
    machine.number += 1
    machine.clock.elapsed += 1
    return os.waitpid(pid, 0)[1] == 0


def lives(machine, place, request, monkeypatch, most=400):
    """Lives, all of which end at the n-th place, but for the last one; it must come to an end all the same."""
    count = 0
    while not life(machine, place, request, monkeypatch):
        count += 1
        if count == most:
            return count
    return count


@pytest.mark.parametrize("place", range(1, PLACES_THERE + 1))
def test_killed_once_anywhere_it_goes_on(tmp_path, monkeypatch, place):
    machine = a_machine(tmp_path)
    assert not life(machine, place, GO, monkeypatch)
    there = machine.mark()
    if there:
        assert [entry["before"] for entry in there["steps"]] == [{"ran": True}, {"ran": False}, {}, {}]
    else:
        assert machine.world.journal == []
    # The initial state is what it was, whatever a later call would find now.
    machine.world.initial_states = (
        {"one": {"ran": False}, "left": {"ran": True}} if there else machine.world.initial_states
    )
    assert machine.go()["state"] == "prepared"
    assert machine.world.journal == [("do", "one"), ("do", "two"), ("do", "three")]


@pytest.mark.parametrize("place", range(1, PLACES_BACK + 1))
def test_killed_once_anywhere_on_the_way_back_it_goes_on(tmp_path, monkeypatch, place):
    machine = a_machine(tmp_path)
    machine.go()
    assert not life(machine, place, BACK, monkeypatch)
    assert machine.go("recovered")["state"] == "recovered"
    assert machine.world.journal[3:] == [("undo", "three"), ("undo", "two"), ("undo", "one")]
    assert machine.mark() is None
    assert sorted(path.name for path in machine.folder.iterdir()) == ["lock"]


@pytest.mark.parametrize("place", [12, 13, 14, 15, 17, 19, 23, 29])
def test_killed_again_and_again_it_ends(tmp_path, monkeypatch, place):
    """Each life is ended after as many changes as the one before."""
    machine = a_machine(tmp_path)
    assert lives(machine, place, GO, monkeypatch) < 400
    assert machine.mark()["phase"] == "prepared"
    assert lives(machine, place, BACK, monkeypatch) < 400
    assert machine.mark() is None
    there, back = machine.world.journal[:3], machine.world.journal[3:]
    assert there == [("do", "one"), ("do", "two"), ("do", "three")]
    assert back == [("undo", "three"), ("undo", "two"), ("undo", "one")]


def test_there_are_no_more_places(tmp_path, monkeypatch):
    machine = a_machine(tmp_path)
    assert life(machine, PLACES_THERE + 1, GO, monkeypatch)
    assert life(machine, PLACES_BACK + 1, BACK, monkeypatch)


PROGRAM = "ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.process"


@pytest.mark.parametrize("delay", [0.02 * count for count in range(5, 12, 2)])
def test_the_real_program_is_killed_with_its_jobs_under_way(tmp_path, delay):
    """Commands as real jobs: each is run once, though the program that began it was killed."""
    journal = tmp_path / "journal"
    steps = []
    for name in ("one", "two", "three"):
        argv = {to: ["sh", "-c", f"echo {to} {name} >> {journal}; sleep 0.1"] for to in ("do", "undo")}
        steps.append(step(name, environment={}, ok_codes=[0], no_log=False, **{to: {"argv": argv[to]} for to in argv}))
    number = [0]

    def call(request, kill_after=None):
        number[0] += 1
        options = {"run": "r", "number": number[0], "folder": str(tmp_path / "marks"), "holder": {"kind": "run"}}
        process = subprocess.Popen(
            [sys.executable, "-m", PROGRAM, "answer:"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)),
        )
        said = json.dumps({"options": options, "requests": [request], "steps": steps}).encode("ascii")
        if kill_after is not None:
            process.stdin.write(said)
            process.stdin.close()
            time.sleep(kill_after)
            process.kill()
            process.stdout.close()
            process.wait()
            return None
        output = process.communicate(said, timeout=LONG)[0].decode("ascii")
        (line,) = [line for line in output.splitlines() if line.startswith("answer:")]
        return json.loads(line[len("answer:") :])["answers"][0]["state"]

    def ends(request, state):
        until(lambda: call(request) == state, state)

    call(GO, kill_after=delay)
    ends(GO, "prepared")
    call(BACK, kill_after=delay)
    ends(BACK, "recovered")
    assert journal.read_text(encoding="ascii").splitlines() == [
        "do one",
        "do two",
        "do three",
        "undo three",
        "undo two",
        "undo one",
    ]
