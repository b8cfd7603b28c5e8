# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The watcher as a service of Windows: the file that the role installs, begun and ended by the service manager, with hooks, against the
emulator. Started, an event shown, prepared by a batch file, approved, started, over, recovered, ended; and killed in the middle.

Wine's service manager starts and ends services, and does neither shut down nor restart what has crashed.
"""

import itertools
import json
import pathlib
import subprocess
import sys

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.windows.platform import start_of
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._machine import bundle
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.emulated import (
    World,
    address,
)
from ansible_collections.cloudops.azure_maintenance.tests.wine.hooking import content, kill, until

NAME = "azure-maintenance"
NUMBERS = itertools.count(1)  # a VM for each test


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    path = tmp_path_factory.mktemp("program") / "watcher.pyz"
    path.write_bytes(bundle.watcher(for_windows=True).content)
    return path


def said(*command):
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return process.communicate()[0].decode("utf-8", "replace"), process.returncode


class Emulated(World):
    """The emulator that the session has started, and one of its VMs."""

    def __init__(self, name):
        found = json.loads(until(lambda: content(pathlib.Path(r"C:\emulator.json")), "the emulator"))
        self.endpoint = f"{found['metadata'][0]}/vm/{name}"
        self._control = address(found["control"])
        self._name = name

    def event(self, **keys):
        return super().event(resources=[self._name], **keys)


class Machine:
    """A machine with the watcher as its service."""

    def __init__(self, folder, program, name):
        self.folder, self.program = folder, program
        self.state = folder / "state"
        for phase in ("prepare", "recover"):
            (folder / "hooks" / f"{phase}.d").mkdir(parents=True)
        self.world = Emulated(name)
        self.settings = folder / "watcher.json"
        whole = {"format": 1, "folder": str(self.state), "hooks_folder": str(folder / "hooks"), "cooldown": 0}
        self.settings.write_text(json.dumps(dict(whole, endpoint=self.world.endpoint, boot_timeout=0, interval=0.5)))
        command = [sys.executable, "-I", "-S", str(program), "run", "--settings", str(self.settings)]
        words, code = said(
            "sc.exe",
            "create",
            NAME,
            "binPath=",
            subprocess.list2cmdline([*command, "--run-folder", str(folder / "run")]),
        )
        assert code == 0, words

    def hook(self, phase, text=""):
        path = self.folder / "hooks" / f"{phase}.d" / "10-app.cmd"
        path.write_text(f'@echo {phase} %AZURE_MAINTENANCE_TYPE%>>"{self.folder / "done"}"\r\n{text}\r\n')

    def start(self):
        words, code = said("sc.exe", "start", NAME)
        assert code == 0, words
        until(lambda: self.published().get("looking") and self.is_running(), f"the first look: {self.log()}", 40)

    def stop(self):
        words, code = said("sc.exe", "stop", NAME)
        assert code == 0, words
        until(lambda: not self.is_running(), "its end")

    def is_running(self):
        pid = self.published().get("pid")
        return bool(pid) and start_of(pid) == self.published()["start"]

    def published(self):
        return json.loads(content(self.state / "watcher.json") or "{}")

    def mark(self):
        return json.loads(content(self.state / "mark.json") or "{}")

    def log(self):
        return content(self.state / "log" / "azure-maintenance.log")

    def asked(self, command, *words):
        """What a command of people's says, and its exit code."""
        found, code = said(
            sys.executable, "-I", "-S", str(self.program), command, "--settings", str(self.settings), *words
        )
        return " ".join(found.split()), code

    def done(self):
        return content(self.folder / "done").split("\n")[:-1]

    def happened(self):
        return [json.loads(line)["happened"] for line in content(self.state / "history.jsonl").splitlines()]

    def end(self):
        said("sc.exe", "stop", NAME)
        if self.published().get("pid"):
            until(lambda: not self.is_running(), "its end")
        said("sc.exe", "delete", NAME)


@pytest.fixture
def machine(tmp_path, program):
    found = Machine(tmp_path, program, f"web{next(NUMBERS)}")
    yield found
    found.end()


def test_an_event_from_its_start_to_its_end(machine):
    machine.hook("prepare")
    machine.hook("recover")
    machine.start()
    event = machine.world.event(notice=300, tail=600)
    until(lambda: "approved" in machine.happened(), "its approval")
    assert machine.done() == ["prepare Reboot"]
    until(lambda: "started" in machine.happened(), "its start")
    assert event in machine.mark()["events"]
    machine.world.move(event, "complete")
    until(lambda: "recovered" in machine.happened(), "the recovery")
    assert machine.done() == ["prepare Reboot", "recover Reboot"] and not machine.mark()
    machine.stop()
    assert "has started" in machine.log() and "The watcher ends." in machine.log()


WAITS = "import os, time\nwhile not os.path.exists({path!r}): time.sleep(0.05)"


def test_killed_in_the_middle_and_started_again(machine):
    """The hook goes on without it, and is run once; what comes after it is done by the next one."""
    waiting, go_on = machine.folder / "waiting.py", machine.folder / "go on"
    waiting.write_text(WAITS.format(path=str(go_on)))
    machine.hook("prepare", f'@"{sys.executable}" "{waiting}"')
    machine.hook("recover")
    machine.start()
    event = machine.world.event(notice=300, tail=600)
    until(machine.done, "the begin of the hook")
    kill(machine.published()["pid"])
    until(lambda: not machine.is_running(), "its end")
    machine.start()
    go_on.write_text("")
    until(lambda: "approved" in machine.happened(), "its approval")
    assert machine.done() == ["prepare Reboot"]
    machine.world.move(event, "complete")
    until(lambda: "recovered" in machine.happened(), "the recovery")
    assert machine.done() == ["prepare Reboot", "recover Reboot"]


def test_people_ask_it(machine):
    words, code = machine.asked("status")
    assert code == 1 and "NO STATUS in" in words and "sc.exe query azure-maintenance" in words
    machine.start()
    words, code = machine.asked("status", "--json")
    found = json.loads(words)
    assert code == 0 and found["running"] and found["looking"]
    words, code = machine.asked("doctor", "--json")
    found = {(one["what"], one["state"]) for one in json.loads(words)["findings"]}
    assert {("endpoint", "ok"), ("settings", "ok"), ("versions", "ok"), ("rights", "ok")} <= found, words
    assert ("watcher", "fail") in found and code == 1, "the test's service does not start with the machine"
    words, code = machine.asked("hold", "--reason", "a test")
    assert code == 0, words
    words, code = machine.asked("status")
    assert "APPROVALS ARE ON HOLD" in words
    machine.stop()
    words, code = machine.asked("status")
    assert code == 1 and "NOT RUNNING" in words and "net start azure-maintenance" in words
