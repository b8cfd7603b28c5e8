# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The watcher as a service of Windows: the file that the role installs, begun and ended by the service manager, with hooks, against the
emulator. Started, an event shown, prepared by a batch file, approved, started, over, recovered, ended; and killed in the middle.

Wine's service manager starts and ends services, and does neither shut down nor restart what has crashed.
"""

import json

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.windows import services
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.service import windows_service
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.service.service import BAD_SETTINGS
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.service.state_files import (
    InstanceLock,
)
from ansible_collections.cloudops.azure_maintenance.tests.wine.hooking import until


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


def test_killed_in_the_middle_and_started_again(machine):
    """The hook goes on without it, and is run once; what comes after it is done by the next one."""
    go_on = machine.waiting_hook("prepare")
    machine.hook("recover")
    machine.start()
    event = machine.world.event(notice=300, tail=600)
    until(machine.done, "the begin of the hook")
    machine.kill()
    machine.start()
    go_on.write_text("")
    until(lambda: "approved" in machine.happened(), "its approval")
    assert machine.done() == ["prepare Reboot"]
    machine.world.move(event, "complete")
    until(lambda: "recovered" in machine.happened(), "the recovery")
    assert machine.done() == ["prepare Reboot", "recover Reboot"]


def test_while_somebody_else_has_its_lock_it_ends_as_by_a_crash(machine):
    """As beside a recovery by hand: Windows, unlike Wine, starts it again until it can have the lock."""
    machine.start()
    machine.stop()
    lock = InstanceLock(str(machine.state))
    machine.service.start()
    until(lambda: "Another watcher (process" in machine.log() and not machine.service.has_process(), "its end")
    assert services.state_of("azure-maintenance") != services.STOPPED
    lock.release()


def test_settings_that_can_not_be_used_stop_it(machine):
    machine.settings.write_text("{")
    machine.service.start()
    until(lambda: services.state_of("azure-maintenance") == services.STOPPED, "its end")
    assert machine.service.exit_code() == BAD_SETTINGS


class Stopped:
    """A loop and its system, of which somebody wants something."""

    def __init__(self):
        self.asked, self.going_down = [], False

    def stop(self):
        self.asked.append("stop")

    def hang_up(self):
        self.asked.append("hang up")


@pytest.mark.parametrize(
    "what, going_down",
    [(services.PRESHUTDOWN, True), (services.SHUTDOWN, True), (services.STOP, False)],
    ids=["preshutdown", "shutdown", "stop"],
)
def test_the_system_goes_down(what, going_down):
    """Wine sends no such notice: what follows from one is shown by handing it to the part that hears it."""
    service, states, loop = services.ServiceProgram("a service", 20000), [], Stopped()
    service.say = lambda state, code=0: states.append((state, code))
    windows_service.ServiceManager(service).connect(loop, loop)
    assert service.hears(services.PARAMCHANGE) == services.DONE and loop.asked == ["hang up"]
    assert service.hears(what) == services.DONE
    assert loop.asked == ["hang up", "stop"] and loop.going_down is going_down
    assert states == [(services.STOP_PENDING, 0)]


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
