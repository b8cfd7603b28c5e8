# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Step ``service``, with a script in the place of systemctl."""

import os

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine import (
    step_runners,
    supervisor,
    systemd_services,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.step_runner import (
    CUT_OFF,
    DONE,
    FAILED,
    PENDING,
    Progress,
    RunnerFailed,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._machine.doing import (
    LONG,
    Doing,
    LimitClock,
    content,
    jobs_in,
    until,
)

NEEDS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root changes units of the system")

# A unit is a file that holds its state; one named slow takes its time, one named stuck refuses.
SYSTEMCTL = """#!/bin/sh
cd "$(dirname "$0")"
echo "$*" >> log
case $1 in
show)
    [ "$4" = mute ] && { echo "Failed to connect to bus: No such file or directory"; exit 1; }
    [ "$4" = hung ] && exec sleep 60
    [ -e "units/$4" ] && echo "LoadState=loaded" || echo "LoadState=not-found"
    echo "ActiveState=$(cat "units/$4" 2>/dev/null || echo inactive)"
    echo "Id=$4.service"
    [ -e "enabled/$4" ] && echo UnitFileState=enabled
    [ -e reads ] && cat reads
    exit 0;;
daemon-reload) rm -f reads; exit 0;;
esac
[ -e "units/$3" ] || { echo "Failed to $1 $3.service: Unit $3.service not loaded." >&2; exit 5; }
[ "$3" = slow ] && { until [ -e go ]; do sleep 0.05; done; echo; sleep 60; }
[ "$3" = stuck ] && { echo "Job for $3.service failed." >&2; echo 'See "journalctl -xe" for details.' >&2; exit 1; }
[ "$1" = stop ] && echo inactive > "units/$3" || echo active > "units/$3"
"""


@pytest.fixture
def units(tmp_path, monkeypatch):
    """The folder of units, where this systemctl is the first to be found."""
    program = tmp_path / "systemctl"
    program.write_text(SYSTEMCTL)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    (tmp_path / "units").mkdir()
    (tmp_path / "enabled").mkdir()
    (tmp_path / "etc").mkdir()
    monkeypatch.setattr(systemd_services, "UNITS", str(tmp_path / "etc"))
    return tmp_path / "units"


@pytest.fixture
def doing(tmp_path):
    return Doing("service", tmp_path)


@pytest.mark.parametrize(
    "state, ran",
    [
        ("active", True),
        ("activating", True),
        ("reloading", True),
        ("inactive", False),
        ("failed", False),
        ("deactivating", False),
    ],
)
def test_the_case_before_is_whether_it_ran(units, doing, state, ran):
    (units / "nginx").write_text(state)
    assert doing.hand.before(doing.step(service="nginx")) == {"ran": ran}
    assert content(units / "nginx") == state, "nothing is changed"


def test_it_is_stopped_and_started(units, doing):
    (units / "nginx").write_text("active")
    assert doing.did(service="nginx") == Progress(DONE)
    assert content(units / "nginx") == "inactive\n"
    assert doing.did("undo", service="nginx") == Progress(DONE)
    assert content(units / "nginx") == "active\n"
    changes = [line for line in content(units.parent / "log").splitlines() if not line.startswith("show")]
    assert changes == ["stop -- nginx", "start -- nginx"]


def enabled(units, service="nginx"):
    (units / service).write_text("active")
    (units.parent / "enabled" / service).touch()


@NEEDS_ROOT
def test_a_boot_does_not_start_one_that_is_enabled_while_the_machine_is_marked(units, doing):
    enabled(units)
    step = doing.step(service="nginx")
    initial = doing.hand.before(step)
    assert initial == {"ran": True, "at_boot": True}
    doing.hand.begin(doing.step_run(step)._replace(job="do", initial=initial))
    assert doing.end_of(doing.step_run(step)._replace(job="do", initial=initial)) == Progress(DONE)
    drop_in = units.parent / "etc" / "nginx.service.d" / "azure-maintenance.conf"
    mark = os.path.join(os.path.dirname(doing.jobs.folder), "mark.json")
    assert content(drop_in).splitlines()[1:] == ["[Unit]", f"ConditionPathExists=!{mark}"]
    assert drop_in.stat().st_mode & 0o777 == 0o644 and os.listdir(str(drop_in.parent)) == [drop_in.name]
    assert doing.did("undo", service="nginx") == Progress(DONE)
    assert not drop_in.parent.exists()
    changes = [line for line in content(units.parent / "log").splitlines() if not line.startswith("show")]
    assert changes == ["daemon-reload", "stop -- nginx", "daemon-reload", "start -- nginx"], (
        "read anew before it starts"
    )


@NEEDS_ROOT
def test_an_undo_that_was_cut_off_before_systemd_read_it_goes_on_there(units, doing):
    enabled(units)
    (units.parent / "reads").write_text("NeedDaemonReload=yes\n")
    assert doing.did("undo", service="nginx") == Progress(DONE)
    assert content(units.parent / "log").splitlines()[1:] == ["daemon-reload", "start -- nginx"]


@pytest.mark.parametrize("options, is_enabled", [({"stay_stopped": False}, True), ({}, False)])
def test_what_is_not_to_be_kept_or_starts_at_no_boot_is_only_stopped(units, doing, options, is_enabled):
    (units / "nginx").write_text("active")
    if is_enabled:
        enabled(units)
    step = doing.step(service="nginx", **options)
    assert doing.hand.before(step) == {"ran": True}
    assert doing.did(service="nginx", **options) == Progress(DONE)
    assert os.listdir(str(units.parent / "etc")) == []


def test_without_root_the_step_says_that_it_is_not_kept(units, doing):
    step_run = doing.step_run(doing.step(service="nginx", become=False))._replace(
        initial={"ran": True, "at_boot": True}
    )
    assert doing.hand.judged(step_run, {"rc": 0}) == Progress(DONE, step_runners.NOT_KEPT)


@NEEDS_ROOT
def test_where_nothing_can_be_written_for_it_the_way_out_is_named(units, doing, monkeypatch):
    enabled(units)
    monkeypatch.setattr(systemd_services, "UNITS", os.devnull)
    why = doing.hand.lacks(doing.step(service="nginx"))
    assert why.startswith(
        "service nginx can't be kept from starting at boot: /dev/null can't be written (Not a directory"
    )
    assert why.endswith("). Set stay_stopped to false in the step to do without that")
    assert doing.hand.lacks(doing.step(service="nginx", stay_stopped=False)) == ""
    step = doing.step(service="nginx")
    initial = doing.hand.before(
        step
    )  # the watcher asks from within a sandbox of its own, in which /etc can't be written
    step_run = doing.step_run(step)._replace(initial=initial)
    doing.hand.begin(step_run)
    assert doing.end_of(step_run) == Progress(FAILED, why)
    assert content(units / "nginx") == "active", "it is not stopped either"


def test_one_that_is_not_there_is_named(units, doing):
    with pytest.raises(RunnerFailed, match="^this machine has no service nginks$"):
        doing.hand.before(doing.step(service="nginks"))
    progress = doing.did(service="nginks")
    assert progress == Progress(FAILED, "exit code 5: Failed to stop nginks.service: Unit nginks.service not loaded.")


def test_a_failure_has_the_words_of_systemctl(units, doing):
    (units / "stuck").write_text("active")
    words = 'exit code 1: Job for stuck.service failed. See "journalctl -xe" for details.'
    assert doing.did(service="stuck") == Progress(FAILED, words)


def test_one_that_takes_its_time_holds_up_nobody_and_has_its_limit(units, doing, monkeypatch):
    monkeypatch.setattr(supervisor, "Clock", lambda: LimitClock(units.parent / "go"))
    (units / "slow").write_text("active")
    step_run = doing.step_run(dict(doing.step(service="slow"), timeout=2.0 * LONG))
    assert doing.hand.begin(step_run) == Progress(PENDING)
    until(lambda: content(units.parent / "log"))
    assert doing.hand.check(step_run) == Progress(PENDING)
    (units.parent / "go").touch()
    assert doing.end_of(step_run) == Progress(FAILED, f"it did not end within the {LONG} s that were left for it")


def test_systemctl_that_can_not_say(units, doing, monkeypatch):
    (units / "mute").write_text("active")
    with pytest.raises(
        RunnerFailed, match="systemctl could not say how service mute is: exit code 1: Failed to connect"
    ):
        doing.hand.before(doing.step(service="mute"))
    monkeypatch.setattr(systemd_services, "ANSWERS_WITHIN", 0.2)
    with pytest.raises(RunnerFailed, match="systemctl did not say how service hung is within 0.2 s"):
        doing.hand.before(doing.step(service="hung"))


def test_no_systemd(tmp_path, doing, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RunnerFailed, match="this machine has no systemctl: step service needs systemd"):
        doing.hand.before(doing.step(service="nginx"))
    assert doing.did(service="nginx").note == "this machine has no systemctl: step service needs systemd"


def test_what_it_lacks_is_seen_by_a_look(units, doing):
    (units / "nginx").write_text("inactive")
    assert doing.hand.lacks(doing.step(service="nginx")) == ""
    assert doing.hand.lacks(doing.step(service="nginks")) == "this machine has no service nginks"
    asked = [line.split() for line in content(units.parent / "log").splitlines()]
    assert [(words[0], words[-1]) for words in asked] == [("show", "nginx"), ("show", "nginks")]


@pytest.mark.parametrize(
    "direction, elapsed, state",
    [
        ("do", float("inf"), CUT_OFF),
        ("do", 5.0, FAILED),  # something killed it
        ("undo", float("inf"), FAILED),
    ],
)
def test_one_that_a_start_of_the_machine_has_ended_may_be_done_again(doing, units, direction, elapsed, state):
    (units / "slow").write_text("active")
    step_run = doing.begun(direction, service="slow")
    after = step_runners.ServiceRunner(jobs_in(units.parent, "next boot")).check(step_run._replace(elapsed=elapsed))
    assert after.state == state and "it was interrupted" in after.note
    doing.hand.stop(step_run)
    doing.end_of(step_run)
