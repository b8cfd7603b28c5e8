# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The watcher's program, or what keeps its hooks, is killed at any instant: each hook is begun once per outage and phase."""

import contextlib
import json
import os
import random
import re
import signal
import time

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._clock import Clock
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.jobs import Jobs
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.step_runners import make_runners
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.store import FolderStore
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._machine.acting import (
    Machine,
    hook,
    step,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._machine.doing import LONG, until

TURN = {"replace_outage": True, "events": ["E2"], "note": {"outage": "another"}}  # beside: prepared
PLACES_THERE, PLACES_BACK = 39, 61  # where the program can be killed that goes the whole way
KEEPERS_PLACES = 8  # and where what keeps a hook can
OTHERS = ("link", "unlink", "replace", "fsync")  # between any two changes of a file

MISSED = r"hook \S+ \S+: (it was interrupted|exit code -9|the job could not be started)"

THERE = ["prepare 10-a 1", "prepare 20-b 1", "do drain"]
BACK = ["undo drain", "recover 10-c 1", "recover 20-d 1"]


class Real(Machine):
    """A machine whose hooks and steps are real processes, and whose watcher goes on call by call."""

    killed = "program"  # or "keeper": which process is killed
    only = ""  # what the keeper's job must be called to be killed

    def __init__(self, folder):
        self.journal_file = folder / "journal"
        (folder / "files").mkdir()
        hooks = [
            self._hook(folder, *found) for found in (("10-a", "prepare"), ("20-b", "prepare"), ("10-c", "recover"))
        ]
        hooks.append(self._hook(folder, "20-d", "recover"))
        argv = {to: ["sh", "-c", f"echo {to} drain >> {self.journal_file}"] for to in ("do", "undo")}
        drain = step("drain", environment={}, ok_codes=[0], no_log=False, **{to: {"argv": argv[to]} for to in argv})
        super().__init__(folder / "marks", *hooks, drain)
        self.clock = Clock()
        self.store = FolderStore(str(self.folder), self.clock, lambda name: self.place())
        self.places_left = 10**6
        self.program = 0

    def _hook(self, folder, name, phase):
        path = folder / "files" / name
        said = f"echo {phase} {name} $AZURE_MAINTENANCE_ATTEMPT >> {self.journal_file}"
        path.write_text(f"#!/bin/sh\n{said}\n[ ! -e {folder}/{name}-hangs ] || exec sleep 600\n")
        path.chmod(0o755)
        return hook(name, phase, path=str(path), context={})

    def parts(self):
        hands = make_runners(Jobs(self.store.jobs, self.boot_id, grace=0.5))
        return super().parts()._replace(runner_of=lambda step: hands[step["type"]])

    def place(self):
        is_program = os.getpid() == self.program
        if is_program == (self.killed == "program"):
            self.places_left -= 1
            if not self.places_left:
                os.kill(os.getpid(), signal.SIGKILL)

    @property
    def journal(self):
        return self.journal_file.read_text().splitlines() if self.journal_file.exists() else []

    def life(self, place, to, monkeypatch, **more):
        """Calls in a process of its own until it is killed at the n-th place; whether it came to its end before that."""
        pid = os.fork()
        if not pid:
            self.program, self.places_left = os.getpid(), place
            for name in OTHERS:
                original = getattr(os, name)
                monkeypatch.setattr(os, name, lambda *args, of=original, **more: self.place() or of(*args, **more))
            try:
                self.goes(to, **more)
            finally:
                os._exit(0)
        self.number += 1000
        return os.waitpid(pid, 0)[1] == 0

    def cut_power(self):
        """Whatever runs of the jobs is gone at once, and the machine started anew."""
        jobs = Jobs(self.store.jobs, self.boot_id)
        for name in ("started", "work"):
            for path in self.folder.glob(f"jobs/*/{name}"):
                note = json.loads(path.read_text())
                if jobs._lives(note):  # its number may be another process's by now
                    with contextlib.suppress(ProcessLookupError):
                        (os.killpg if name == "work" else os.kill)(note["pid"], signal.SIGKILL)
        self.boot_id += "+"

    def goes(self, to, **more):
        """The answer at the end of as many calls as it takes."""
        end = time.monotonic() + LONG
        while True:
            answer = self.go(to, **more)
            if answer["state"] not in ("preparing", "recovering"):
                return answer
            assert time.monotonic() < end, answer
            self.clock.sleep(0.01)


@pytest.fixture
def machine(tmp_path):
    return Real(tmp_path)


@pytest.mark.parametrize("place", range(1, PLACES_THERE + 1))
def test_the_program_is_killed_anywhere_on_the_way_there(machine, monkeypatch, place):
    machine.life(place, "prepared", monkeypatch)
    assert machine.goes("prepared")["state"] == "prepared"
    assert machine.journal == THERE


@pytest.mark.parametrize("place", range(1, PLACES_BACK + 1))
def test_the_program_is_killed_anywhere_on_the_way_back(machine, monkeypatch, place):
    machine.goes("prepared")
    machine.life(place, "recovered", monkeypatch)
    assert machine.goes("recovered")["state"] == "recovered"
    assert machine.journal == THERE + BACK
    assert sorted(path.name for path in machine.folder.iterdir()) == ["lock"]


@pytest.mark.parametrize("place", range(1, PLACES_THERE + 20, 2))
def test_the_program_is_killed_anywhere_where_another_outage_takes_the_place_of_a_recovery(
    machine, monkeypatch, tmp_path, place
):
    machine.goes("prepared")
    (tmp_path / "10-c-hangs").touch()
    until(lambda: machine.go("recovered") and BACK[1] in machine.journal)
    machine.life(place, "prepared", monkeypatch, **TURN)
    assert machine.goes("prepared", **TURN)["state"] == "prepared"
    assert machine.journal == THERE + BACK[:2] + THERE
    (tmp_path / "10-c-hangs").unlink()
    assert machine.goes("recovered")["state"] == "recovered"
    assert machine.journal == THERE + BACK[:2] + THERE + BACK


@pytest.mark.parametrize("place", [16, 19, 23, 29])
def test_it_is_killed_again_and_again(machine, monkeypatch, place):
    for to in ("prepared", "recovered"):
        lives = 0
        while not machine.life(place, to, monkeypatch):
            lives += 1
            assert lives < 100
    assert machine.mark() is None
    assert machine.journal == THERE + BACK


def test_there_are_about_as_many_places(machine, monkeypatch):
    """How often it looks, and so renews its mark, is a matter of how fast the hooks are."""
    for to, most in (("prepared", PLACES_THERE), ("recovered", PLACES_BACK)):
        assert not machine.life(most - 10, to, monkeypatch), to
        machine.goes(to)


@pytest.mark.parametrize("place", range(1, KEEPERS_PLACES + 1))
def test_what_keeps_a_hook_is_killed_anywhere_on_the_way_there(machine, monkeypatch, place):
    """Each keeper is: none of the hooks is begun twice, and what failed is said."""
    machine.killed = "keeper"
    machine.life(place, "prepared", monkeypatch)
    machine.killed = "program"
    answer = machine.goes("prepared")
    assert answer["state"] == "prepared" or re.match(MISSED, answer["why"]), answer
    assert machine.goes("recovered")["state"] == "recovered"
    assert len(set(machine.journal)) == len(machine.journal)


@pytest.mark.parametrize("place", range(1, KEEPERS_PLACES + 1))
def test_what_keeps_a_hook_is_killed_anywhere_on_the_way_back(machine, monkeypatch, place):
    """Each keeper is: both tries of each hook, where it is killed after it began."""
    machine.goes("prepared")
    machine.killed = "keeper"
    machine.life(place, "recovered", monkeypatch)
    machine.killed = "program"
    answer = machine.goes("recovered")
    assert answer["state"] == "recovered" or re.match(MISSED, answer["why"]), answer
    journal = [line for line in machine.journal if line.startswith("recover")]
    assert len(set(journal)) == len(journal), "no try twice"
    assert {line.split()[2] for line in journal} <= {"1", "2"}


@pytest.mark.parametrize("seed", range(8))
def test_the_program_is_killed_at_any_instant(machine, seed):
    """Beside the places that somebody has thought of. What is random is when; the same must come of it."""
    chance = random.Random(seed)
    for to in ("prepared", "recovered"):
        for _life in range(3):
            pid = os.fork()
            if not pid:
                machine.goes(to)
                os._exit(0)
            time.sleep(chance.uniform(0.0, 0.25))
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            machine.number += 1000
        assert machine.goes(to)["state"] == to
    assert machine.journal == THERE + BACK


@pytest.mark.parametrize("place", range(4, PLACES_THERE + 1, 3))
def test_the_power_is_cut_on_the_way_there(machine, monkeypatch, place):
    machine.life(place, "prepared", monkeypatch)
    machine.cut_power()
    answer = machine.goes("prepared")
    assert answer["state"] == "prepared" or "it was interrupted" in answer["why"]
    assert machine.goes("recovered")["state"] == "recovered"
    there = [line for line in machine.journal if line in THERE]
    assert there == THERE[: len(there)], "in order, and each once"
    assert machine.journal[-2:] == BACK[-2:]


@pytest.mark.parametrize("place", range(4, PLACES_BACK + 1, 3))
def test_the_power_is_cut_on_the_way_back(machine, monkeypatch, place):
    machine.goes("prepared")
    is_over = machine.life(place, "recovered", monkeypatch)
    machine.cut_power()
    answer = machine.goes("recovered")
    if answer["state"] == "half":  # a step that may have undone something; whoever goes on tries it again
        assert "step 1 (drain), undone: it was interrupted" in answer["why"]
        answer = machine.goes("recovered")
    assert answer["state"] == "recovered"
    journal = [line for line in machine.journal if line.startswith("recover")]
    firsts = [line for line in journal if line.endswith(" 1")]
    assert set(firsts) <= set(BACK) and len(set(journal)) == len(journal) and len(journal) <= 4
    # A try that had no time to say that it began is followed by the second one.
    assert {line.split()[1] for line in journal} == {"10-c", "20-d"}
    assert not is_over or journal == BACK[1:]
