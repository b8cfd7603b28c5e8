# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests of the machine program share: calls, steps, hands that play a script, a machine whose time is ours."""

import collections

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._clock import Moment
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.program import Parts, perform
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.step_runner import (
    ABSENT,
    DONE,
    FAILED,
    PENDING,
    Progress,
    RunnerFailed,
    StepRunner,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.store import FolderStore
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import (
    ScriptedClock,
    ScriptedTransport,
)


def step(name, kind="command", elsewhere=False, **options):
    """A step as the plan has it."""
    found = {
        "type": kind,
        "key": f"{kind} {name}",
        "number": 1,
        "name": name,
        "does": f"do {name}",
        "undoes": f"undo {name}",
        "timeout": 60.0,
        "undo_timeout": 40.0,
        "elsewhere": elsewhere,
    }
    found.update(options)
    return found


def hook(name, phase="prepare", **options):
    """A hook as the watcher has it."""
    words = {"does": f"run {name}", "undoes": ""}
    if phase == "recover":
        words = {"does": "", "undoes": f"run {name}"}
    return step(name, f"{phase}_hook", **dict(words, key=f"{phase}.d {name}", **options))


class World:
    """What happens on the machine, whichever program does it: the jobs, and the journal of what was begun and stopped."""

    def __init__(self):
        self.jobs = {}
        self.journal = []
        self.initial_states = {}  # by step's name: the initial state, or why that can't be determined
        self.ending = []  # what is seen of a job that is to end, before it has
        self.results = collections.defaultdict(lambda: [Progress(DONE)])  # by (direction, name): one after the other


class ScriptedHand(StepRunner):
    def __init__(self, world):
        self.world = world

    def before(self, step):
        initial = self.world.initial_states.get(step["name"], {})
        if isinstance(initial, str):
            raise RunnerFailed(initial)
        return initial

    def begin(self, step_run):
        if step_run.job not in self.world.jobs:
            self.world.journal.append((step_run.direction, step_run.step["name"]))
            self.world.jobs[step_run.job] = list(self.world.results[step_run.direction, step_run.step["name"]])
            self.world.limit = step_run.limit
        return self.check(step_run)

    def check(self, step_run):
        left = self.world.jobs.get(step_run.job)
        if left is None:
            return Progress(ABSENT)
        return left.pop(0) if len(left) > 1 else left[0]

    def stop(self, step_run):
        self.world.journal.append(("stop", step_run.step["name"]))
        if self.world.jobs.get(step_run.job, [Progress(DONE)])[0].state == PENDING:
            ended = Progress(FAILED, "it was ended before it was over")
            self.world.jobs[step_run.job] = [*self.world.ending, ended]
        return self.check(step_run)


class SharedWorld(StepRunner):
    """The same for several processes: what is begun is written down in files, and ends at once."""

    def __init__(self, folder):
        self._folder = folder
        self._journal = folder / "journal"
        self.initial_states = {}

    @property
    def journal(self):
        """Direction and step of everything that was begun."""
        lines = self._journal.read_text(encoding="ascii").splitlines() if self._journal.exists() else []
        return [tuple(line.split()) for line in lines]

    def before(self, step):
        return self.initial_states.get(step["name"], {})

    def begin(self, step_run):
        if not self._path(step_run).exists():  # the store's lock is held
            with self._journal.open("a", encoding="ascii") as file:
                file.write(f"{step_run.direction} {step_run.step['name']}\n")
            self._path(step_run).touch()
        return Progress(DONE)

    def check(self, step_run):
        return Progress(DONE if self._path(step_run).exists() else ABSENT)

    def stop(self, step_run):
        return self.check(step_run)

    def _path(self, step_run):
        return self._folder / step_run.job


class Machine:
    """A machine in a folder, which is called with one call after the other."""

    def __init__(self, folder, *steps, world=None):
        self.folder = folder
        self.clock = ScriptedClock()
        self.boot_id = "boot-1"
        self.transport = ScriptedTransport()
        self.transport.clock = self.clock
        self.world = world or World()
        self.steps = list(steps)
        self.number = 0
        self.store = FolderStore(str(folder), self.clock)

    def moment(self):
        return Moment(self.clock.wall(), self.clock.now(), self.boot_id)

    def call(self, *requests, **options):
        """One call's whole answer; `number` rises by itself."""
        self.number += 1
        given = {
            "run": "run-1",
            "number": self.number,
            "holder": {"kind": "run", "run": "run-1", "job": "", "controller": "ctl1"},
            "endpoint": "http://imds.test",
        }
        given.update(options)
        call = {"requests": list(requests), "options": given, "steps": self.steps}
        return perform(call, self.parts())

    def parts(self):
        hand = self.world if isinstance(self.world, StepRunner) else ScriptedHand(self.world)
        return Parts(
            store=self.store,
            clock=self.clock,
            moment=self.moment,
            transport=lambda clock: self.transport,
            runner_of=lambda step: None if step["elsewhere"] else hand,
        )

    def go(self, to="prepared", options=None, **request):
        """The answer to one request `go`."""
        asked = dict({"do": "go", "to": to, "left": 600.0, "lease": 120.0, "events": ["E1"], "looks": True}, **request)
        return self.call(asked, **(options or {}))["answers"][0]

    def mark(self):
        return self.store.read()

    def states(self):
        return {entry["key"].partition(" ")[2]: entry["state"] for entry in self.mark()["steps"]}


def another_run(name="run-2", kind="run", number=1):
    return {"run": name, "number": number, "holder": {"kind": kind, "run": name, "job": "", "controller": "ctl2"}}
