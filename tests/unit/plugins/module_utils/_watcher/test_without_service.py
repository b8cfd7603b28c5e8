# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A machine that is put back by force while no watcher runs: what is done, what is kept for the watcher, and who is kept out meanwhile."""

import json

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.step_runner import (
    FAILED,
    PENDING,
    Progress,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.store import FolderStore
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.commands import cli, recover
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.commands.cli import main
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.engine.interface import Go
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.service.state_files import (
    AlreadyRunning,
    InstanceLock,
    SuppressedEvents,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.service.wiring import Inside
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.settings.hooks import Found
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.played import Played
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import ScriptedClock, event

FINE, WRONG, USAGE, NO_ANSWER, NOT_ROOT = range(5)
PREPARE = Go("prepared", 600.0, ("ID-1",), {"outage": "o1", "types": {"ID-1": "Reboot"}}, ("reboot",))


class Out:
    """A machine that its watcher has taken out of service, and whose watcher has ended then."""

    def __init__(self, folder, capfd, monkeypatch):
        self.played = Played(folder)
        self.played.metadata.shows(event())
        self.played.tick(PREPARE)
        self.state, self.file, self.hand = self.played.state, self.played.file, self.played.hand
        self.said, self.capfd = [], capfd
        monkeypatch.setattr(cli, "_user_number", lambda: 0)
        real = recover.recover_offline
        monkeypatch.setattr(recover, "recover_offline", lambda here, settings: real(here, settings, self.inside))
        monkeypatch.setattr(
            "ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.commands.cli.Clock",
            ScriptedClock,
        )

    def inside(self, configuration, clock, log, about):
        return Inside(
            store=FolderStore(str(self.state), clock),
            runner_of=lambda step: self.hand,
            end_jobs=lambda: True,
            find=lambda configuration: Found(self.played.steps),
            context=lambda go, facts: {},
            tell=lambda says, identity, keep: self.said.extend(say.happened for say in says),
            degraded=lambda: "",
            make_handling=None,
        )

    def call(self, *arguments):
        code = main("0.2.0", ["recover", "--settings", str(self.file), *arguments], {})
        out, err = self.capfd.readouterr()
        self.words = " ".join((out + err).split())
        return code

    @property
    def is_out(self):
        return (self.state / "mark.json").exists()

    @property
    def undone(self):
        return [name for direction, name, _at in self.hand.begun if direction == "undo"]


@pytest.fixture
def machine(tmp_path, capfd, monkeypatch):
    found = Out(tmp_path, capfd, monkeypatch)
    assert found.is_out
    return found


def test_without_force_nothing_is_done_and_it_is_said_what_to_do(machine):
    assert machine.call() == NO_ANSWER
    assert machine.is_out and machine.undone == [] and not list((machine.state / "orders").iterdir())
    assert machine.words.startswith(
        "The watcher does not run, so it is not known whether the machine's event is over. Nothing was done."
    )
    for words in ("systemctl start azure-maintenance", "journalctl -u", "azure-maintenance recover --force"):
        assert words in machine.words


def test_by_force_it_is_done_by_the_command_itself(machine):
    assert machine.call("--force") == FINE
    assert not machine.is_out and machine.undone == ["10-app"]
    assert "this command recovers the machine itself" in machine.words
    assert "The machine is recovered." in machine.words
    assert machine.said == ["recovered"]


def test_a_mark_that_can_not_be_read_counts_all_steps_as_done(machine):
    (machine.state / "mark.json").write_text("{")
    assert machine.call() == NO_ANSWER
    assert machine.call("--force") == FINE
    assert not machine.is_out and machine.undone == ["10-app"]


def test_a_watcher_that_starts_later_keeps_off_the_event(machine):
    machine.call("--force")
    assert SuppressedEvents(str(machine.state)).read() == {"ID-1"}


def test_nobody_takes_the_command_for_a_watcher(machine):
    before = (machine.state / "watcher.json").read_text()
    machine.call("--force")
    assert (machine.state / "watcher.json").read_text() == before


def test_orders_that_wait_for_the_service_go_on_waiting(machine):
    (machine.state / "orders" / "1.json").write_text('{"format": 1, "order": "release"}')
    machine.call("--force")
    assert [path.name for path in (machine.state / "orders").iterdir()] == ["1.json"]


def test_no_watcher_can_start_meanwhile(machine):
    refused = []

    class Starting(type(machine.hand)):
        def begin(self, step_run):
            with pytest.raises(AlreadyRunning) as caught:
                InstanceLock(str(machine.state))
            refused.append(str(caught.value))
            return super().begin(step_run)

    machine.hand = Starting()
    assert machine.call("--force") == FINE
    assert "Another watcher (process" in refused[0]
    InstanceLock(str(machine.state)).release()


def test_it_waits_for_what_takes_its_time(machine):
    class Slow(type(machine.hand)):
        looks = 0

        def begin(self, step_run):
            super().begin(step_run)
            return Progress(PENDING)

        def check(self, step_run):
            self.looks += 1
            return Progress(PENDING) if self.looks < 3 else super().check(step_run)

    machine.hand = Slow()
    assert machine.call("--force") == FINE
    assert not machine.is_out and machine.hand.looks == 3


def test_what_can_not_be_taken_back_is_said_and_the_mark_stays(machine):
    class Broken(type(machine.hand)):
        def begin(self, step_run):
            super().begin(step_run)
            return Progress(FAILED, "it broke")

    machine.hand = Broken()
    assert machine.call("--force") == WRONG
    assert machine.is_out and "it broke" in machine.words and machine.said == []


def test_the_mark_of_a_run_is_taken_by_force(machine):
    path = machine.state / "mark.json"
    mark = dict(json.loads(path.read_text()), holder={"kind": "run", "run": "run-7", "job": "", "controller": "ctl"})
    path.write_text(json.dumps(mark))
    assert machine.call("--force") == FINE
    assert not machine.is_out


@pytest.mark.parametrize("arguments", [(), ("--force",)])
def test_settings_that_can_not_be_followed_are_named_with_the_line_and_what_comes_next(machine, arguments):
    machine.file.write_text(json.dumps({"format": 1, "folder": str(machine.state), "mode": "manag"}, indent=2))
    assert machine.call(*arguments) == NO_ANSWER
    assert machine.is_out and machine.undone == []
    assert "its settings, which say how to recover the machine, are not valid" in machine.words
    assert "line 4: " in machine.words and "mode must be one of manage, observe" in machine.words
    for words in ("run role watcher again", "systemctl start azure-maintenance", "azure-maintenance recover --force"):
        assert words in machine.words


def test_while_a_watcher_runs_the_order_is_its_own(machine):
    alone = InstanceLock(str(machine.state))
    try:
        assert machine.call("--force") == NO_ANSWER
    finally:
        alone.release()
    assert machine.is_out and machine.undone == [] and "has not received the command" in machine.words


def test_one_that_starts_in_this_moment_wins(machine, monkeypatch):
    monkeypatch.setattr(recover, "is_running", lambda folder: False)
    alone = InstanceLock(str(machine.state))
    try:
        assert machine.call("--force") == NO_ANSWER
    finally:
        alone.release()
    assert machine.is_out and "has just been started. Nothing was done" in machine.words


def test_one_that_never_ends_is_given_up(machine, monkeypatch):
    monkeypatch.setattr(recover, "WITHIN", 10.0)

    class Endless(type(machine.hand)):
        def begin(self, step_run):
            return Progress(PENDING)

        check = begin

    machine.hand = Endless()
    machine.played.steps[""][0]["undo_timeout"] = 1e9
    assert machine.call("--force") == WRONG
    assert "Not finished after 10 s" in machine.words


def test_one_that_is_interrupted_says_what_goes_on(machine):
    class Interrupted(type(machine.hand)):
        def begin(self, step_run):
            raise KeyboardInterrupt

    machine.hand = Interrupted()
    assert machine.call("--force") == 130
    assert "Run the command again, or start the watcher" in machine.words
    InstanceLock(str(machine.state)).release()
