# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The watcher as a service of Windows: the file that the role installs, begun and ended by the service manager, with hooks, against the
emulator. Started, an event shown, prepared by a batch file, approved, started, over, recovered, ended; and killed in the middle.

Wine's service manager starts and ends services, and does neither shut down nor restart what has crashed.
"""

import json
import sys

import pytest

from ansible_collections.cloudops.azure_maintenance.tests.wine.hooking import kill, until
from ansible_collections.cloudops.azure_maintenance.tests.wine.installed import Machine, build, next_name


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return build(tmp_path_factory.mktemp("program"))


@pytest.fixture
def machine(tmp_path, program):
    found = Machine(tmp_path, program, next_name())
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
