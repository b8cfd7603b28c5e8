# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hooks under a real systemd, as units of their own: what begins them is killed, the machine is, the system goes down."""

import json
import pathlib
import shutil
import time

import pytest
from machines import host

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._machine import bundle

HERE = pathlib.Path(__file__).resolve().parent
PYZ = "/usr/local/lib/azure-maintenance/test.pyz"
LOG = "/var/tmp/hooks.log"
UNITS = "azure-maintenance-*.service"
BEGINNER = "beginner"  # the unit of what stands in for the watcher


class Watched:
    """lone1, with hooks, and with what stands in for its watcher."""

    def __init__(self, machine):
        self.machine = machine
        self.hooks = self._at("/etc/azure-maintenance/hooks")
        self.log = self._at(LOG)
        self.answer_file = self._at("/var/tmp/answer.json")

    def _at(self, path):
        return self.machine.root / path.lstrip("/")

    def install(self):
        path = self._at(PYZ)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bundle.packed(bundle.files(bundle.WATCHER, (HERE / "cases/hooks.py").read_text())))

    def remove(self):
        for path in (self.hooks.parent, self._at(PYZ).parent):
            shutil.rmtree(path, ignore_errors=True)
        for path in (self.log, self.answer_file):
            path.unlink(missing_ok=True)

    def hook(self, key, text="true"):
        """A hook that says that it has begun, and does what the text says."""
        path = self.hooks / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\necho {path.name} $AZURE_MAINTENANCE_ATTEMPT >> {LOG}\n{text}\n", encoding="ascii")
        path.chmod(0o755)

    def lines(self):
        return self.log.read_text(encoding="ascii").splitlines() if self.log.exists() else []

    def begin(self, to, *more):
        """The unit of the beginner is started, and left to itself."""
        self.answer_file.unlink(missing_ok=True)
        self._at("/var/tmp/answer.json.waits").unlink(missing_ok=True)
        wait = ["--collect", f"--unit={BEGINNER}", "--property=TimeoutStopSec=20"]
        self.machine.inside("systemd-run", "--quiet", *wait, "python3", "-I", PYZ, to, *more)

    def answer(self):
        host.until("the beginner's answer", self.answer_file.exists)
        host.until("the beginner to be gone", lambda: not self.units(f"{BEGINNER}.service"))
        return json.loads(self.answer_file.read_text(encoding="ascii"))

    def go(self, to, *more):
        self.begin(to, *more)
        return self.answer()

    def kill_beginner(self):
        self.machine.inside("systemctl", "kill", "--signal=KILL", BEGINNER)
        host.until("the beginner to be gone", lambda: not self.units(f"{BEGINNER}.service"))

    def units(self, pattern=UNITS):
        """What systemd has of such units: names and states."""
        return self.machine.inside("systemctl", "list-units", "--all", "--plain", "--no-legend", pattern)

    def reboot(self):
        """It is shut down in order, and comes back."""
        boot = self.machine.boot_id()
        self.machine.reboot()
        time.sleep(5)  # whoever enters a machine that is going down may be kept in it
        host.until("the machine to be up again", lambda: self.machine.boot_id() not in ("", boot))
        self.machine.wait_for_ssh()

    def start_again(self):
        """The power is cut, and comes back."""
        self.machine.pull_plug()
        self.machine.power_on()
        self.machine.wait_for_ssh()


@pytest.fixture(name="lone")
def _lone(machines):
    lone = Watched(machines["lone1"])
    lone.remove()
    lone.install()
    yield lone
    lone.remove()


def test_a_hook_is_a_unit_of_its_own_that_says_nothing_of_the_event(lone):
    lone.hook(
        "prepare.d/10-app",
        "cat /proc/self/cgroup > /var/tmp/hooks.cgroup; until [ -e /var/tmp/hooks.go ]; do sleep 0.1; done",
    )
    go = lone._at("/var/tmp/hooks.go")
    go.unlink(missing_ok=True)
    lone.begin("prepared")
    host.until("the hook to begin", lone.lines)
    (unit,) = [line.split()[0] for line in lone.units().splitlines()]
    own = lone._at("/var/tmp/hooks.cgroup")
    host.until("the hook to say where it is", lambda: own.exists() and unit in own.read_text(encoding="ascii"))
    shown = lone.machine.inside("systemctl", "show", unit) + lone.machine.inside("sh", "-c", "ps -ef")
    assert "EVENT-ID" not in shown and "10-app" not in lone.machine.inside("systemctl", "show", unit)
    assert "KillMode=mixed" in shown and "TimeoutStopUSec=10s" in shown
    modes = lone.machine.inside(
        "sh", "-c", "stat -c %a /var/lib/azure-maintenance/jobs /var/lib/azure-maintenance/jobs/*/order"
    )
    assert modes.split() == ["700", "600"]
    go.touch()
    assert lone.answer()["state"] == "prepared"
    assert lone.lines() == ["10-app 1"]
    host.until("the unit to be gone", lambda: not lone.units())
    assert lone.go("recovered")["state"] == "recovered"


def test_at_once_all_of_them_run_side_by_side(lone):
    all_begun = f'[ "$(grep -c app {LOG})" -ge 3 ]'
    for number in (10, 20, 30):  # each waits a minute for the others to have begun
        waits = f"for tries in $(seq 600); do {all_begun} && break; sleep 0.1; done"
        lone.hook(f"prepare.d/{number}-app", f"{waits}; echo {number} ended >> {LOG}")
    assert lone.go("prepared", "parallel=true")["state"] == "prepared"
    assert sorted(lone.lines()[:3]) == ["10-app 1", "20-app 1", "30-app 1"]
    assert lone.go("recovered")["state"] == "recovered"


def test_what_one_launch_costs(lone):
    """systemd-run beside a call of busctl that does the same: for a look, printed with -s. It is the quickest of ten each, as a busy machine
    can be late with any but hardly with all."""

    def measured(*command):
        timed = "date +%s.%N; " + " ".join(command) + " >/dev/null 2>&1; date +%s.%N"
        times = lone.machine.inside("sh", "-c", f"for number in 1 2 3 4 5 6 7 8 9 10; do {timed}; done").split()
        return min(float(end) - float(begin) for begin, end in zip(times[::2], times[1::2], strict=True))

    run = measured("systemd-run --quiet --no-block --collect --unit=cost-$number.service -- /bin/true")
    call = measured(
        "busctl call --quiet org.freedesktop.systemd1 /org/freedesktop/systemd1 org.freedesktop.systemd1.Manager "
        "StartTransientUnit 'ssa(sv)a(sa(sv))' costs-$number.service fail 2 CollectMode s inactive-or-failed "
        "ExecStart 'a(sasb)' 1 /bin/true 1 /bin/true false 0"
    )
    print(f"systemd-run: {1000 * run:.1f} ms, busctl: {1000 * call:.1f} ms")
    assert run < 10 * call


def test_at_its_limit_all_of_it_is_ended(lone):
    lone.hook("prepare.d/10-app", "trap '' TERM; sleep 1000 & while :; do sleep 1000; done")
    answer = lone.go("prepared", 'hooks={"prepare.d/10-app": {"limit": 1.5}}')
    assert answer["state"] == "failed" and "it did not end within its 1.5 s" in answer["why"]
    host.until("the unit to be gone", lambda: not lone.units())
    assert lone.machine.inside("sh", "-c", "pgrep -fx 'sleep 1000' || true") == ""
    assert lone.go("recovered")["state"] == "recovered"
    assert lone.lines() == ["10-app 1"]


@pytest.mark.parametrize("phase, to", [("prepare", "prepared"), ("recover", "recovered")])
def test_whoever_began_it_is_killed(lone, phase, to):
    go = lone._at("/var/tmp/hooks.go")
    go.unlink(missing_ok=True)
    lone.hook(f"{phase}.d/10-app", "until [ -e /var/tmp/hooks.go ]; do sleep 0.1; done")
    if to == "recovered":
        lone.go("prepared")
    lone.begin(to)
    host.until("the hook to begin", lone.lines)
    lone.kill_beginner()
    calls = lone.machine.mark()["number"]
    lone.begin(to)
    host.until("the next one to have looked at it", lambda: lone.machine.mark()["number"] > calls + 1)
    go.touch()
    assert lone.answer()["state"] == to
    assert lone.lines() == ["10-app 1"]
    assert lone.go("recovered")["state"] == "recovered"


def test_what_keeps_it_is_killed_and_systemd_ends_the_rest(lone):
    lone.hook("prepare.d/10-app", "sleep 1000")
    lone.begin("prepared")
    host.until("the hook to begin", lone.lines)
    lone.machine.inside("systemctl", "kill", "--kill-who=main", "--signal=KILL", UNITS)
    answer = lone.answer()
    assert answer["state"] == "failed" and "it was interrupted" in answer["why"]
    assert lone.machine.inside("sh", "-c", "pgrep -fx 'sleep 1000' || true") == ""
    assert lone.go("recovered")["state"] == "recovered"
    assert lone.lines() == ["10-app 1"]


def test_a_power_cut_in_a_prepare_hook_has_failed_it(lone):
    lone.hook("prepare.d/10-app", "sleep 1000")
    lone.hook("recover.d/10-app-back")
    lone.begin("prepared")
    host.until("the hook to begin", lone.lines)
    lone.start_again()
    answer = lone.go("prepared")
    assert answer["state"] == "failed" and "it was interrupted" in answer["why"]
    assert lone.go("recovered")["state"] == "recovered"
    assert lone.lines() == ["10-app 1", "10-app-back 1"]


def test_a_recover_hook_is_begun_once_more_after_a_power_cut_and_not_a_third_time(lone):
    lone.hook("recover.d/10-app", "[ -e /var/tmp/hooks.fine ] || sleep 1000")
    lone.hook("recover.d/20-more")
    lone._at("/var/tmp/hooks.fine").unlink(missing_ok=True)
    lone.go("prepared")
    for tries in (1, 2):
        lone.begin("recovered")
        host.until(f"try {tries}", lambda tries=tries: len(lone.lines()) == tries)
        lone.start_again()
    answer = lone.go("recovered")
    assert answer["state"] == "half" and "hook recover.d/10-app: it was interrupted" in answer["why"]
    assert lone.lines() == ["10-app 1", "10-app 2", "20-more 1"]
    lone._at("/var/tmp/hooks.fine").touch()
    assert lone.go("recovered", "retry_hooks=true")["state"] == "recovered"
    assert lone.lines()[3:] == ["10-app 1"]


def test_what_a_hook_leaves_running_is_let_be_and_asked_to_end_with_its_unit(lone):
    lone.hook(
        "prepare.d/10-app",
        "setsid sh -c 'trap \"echo asked >> /var/tmp/hooks.log; exit\" TERM; while :; do sleep 0.2; done' >/dev/null 2>&1 &",
    )
    assert lone.go("prepared")["state"] == "prepared"
    time.sleep(3)  # in which systemd would have ended it, were the unit's main process gone
    (unit,) = [line.split()[0] for line in lone.units().splitlines()]
    lone.machine.inside("systemctl", "stop", unit)
    assert lone.lines() == ["10-app 1", "asked"]
    assert lone.go("recovered")["state"] == "recovered"


def test_while_the_system_goes_down_nothing_is_begun_and_nothing_failed(lone):
    lone.hook("prepare.d/10-app")
    lone.begin("prepared", "going_down")
    host.until("the beginner to wait for that", lone._at("/var/tmp/answer.json.waits").exists)
    lone.reboot()
    answer = lone.answer()
    assert (answer["state"], lone.lines()) == ("preparing", [])
    assert answer["steps"][0]["note"] == "it was not started: the system is going down"
    assert lone.go("prepared")["state"] == "prepared"
    assert lone.lines() == ["10-app 1"]
    assert lone.go("recovered")["state"] == "recovered"


def test_a_recover_hook_that_the_system_ends_when_it_goes_down_is_begun_once_more(lone):
    lone.hook("recover.d/10-app", "[ -e /var/tmp/hooks.fine ] || sleep 1000")
    fine = lone._at("/var/tmp/hooks.fine")
    fine.unlink(missing_ok=True)
    lone.go("prepared")
    lone.begin("recovered")
    host.until("the hook to begin", lone.lines)
    fine.touch()
    lone.reboot()
    assert lone.go("recovered")["state"] == "recovered"
    assert lone.lines() == ["10-app 1", "10-app 2"]
