# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs as transient units: what systemd is asked, what its answers mean; and the unit's own process, which is real."""

import json
import os
import signal
import stat
import subprocess
import sys

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._clock import Clock
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine import step_runners, systemd_jobs
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.jobs import (
    ABSENT,
    CUT_OFF,
    OVER,
    RUNNING,
    Jobs,
    step_run_in,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.step_runner import ABSENT as NOT_YET
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.step_runner import (
    DONE,
    FAILED,
    PENDING,
    JobFailed,
    NotBegun,
    Progress,
    StepRun,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.step_runners import CommandRunner
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.systemd_jobs import (
    MOST_LAUNCHES,
    Said,
    SystemdJobs,
    asked,
    jobs_of,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._machine.acting import hook, step
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._machine.doing import (
    LONG,
    content,
    ended,
    is_gone,
    started,
    until,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._machine.hooking import CONTEXT
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import ScriptedClock

MAIN = """
import sys
sys.path[:0] = {path!r}
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine import systemd_jobs
sys.exit(systemd_jobs.main(sys.argv[2:]))
"""
PROGRAM = [sys.executable, "-c", MAIN.format(path=[path for path in sys.path if path])]

OK = Said(0, "")
THERE = Said(
    1,
    "Failed to start transient service unit: Unit azure-maintenance-job.service was already loaded or has a fragment file.\n",
)
DESTRUCTIVE = Said(
    1,
    "Failed to start transient service unit: Transaction for azure-maintenance-job.service/start is destructive "
    "(poweroff.target has 'start' job queued, but 'stop' is included in transaction).\n",
)


class Systemd:
    """Answers as the test says, and writes down what it was asked."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = []

    def __call__(self, command):
        self.asked.append(list(command))
        return self.answers.pop(0)


def a_step_run(text="true", **options):
    argv = {to: {"argv": ["sh", "-c", text]} for to in ("do", "undo")}
    found = step("drain", environment={}, ok_codes=[0], no_log=False, **argv)
    return StepRun(dict(found, **options), "do", "job", 60.0, float("inf"), {"ran": True})


def unit_jobs(tmp_path, systemd, program=("python3", "-I", "/x.pyz"), clock=None):
    return SystemdJobs(str(tmp_path / "jobs"), "this boot", program, grace=0.5, ask=systemd, clock=clock)


def begun(jobs, step_run=None):
    step_run = step_run or a_step_run()
    return jobs.begin(step_run.job, None, step_run.limit, "", False, step_run)


# What systemd is asked


def test_the_unit_says_nothing_of_what_it_does(tmp_path):
    systemd = Systemd(OK)
    assert begun(unit_jobs(tmp_path, systemd), a_step_run("secret", environment={"TOKEN": "secret"}))
    (command,) = systemd.asked
    assert command == [
        "systemd-run",
        "--quiet",
        "--no-block",
        "--collect",
        "--unit=azure-maintenance-job.service",
        "--description=A job of the watcher azure-maintenance",
        "--property=KillMode=mixed",
        "--property=Before=azure-maintenance.service",
        "--property=TimeoutStopSec=10",
        "--",
        "python3",
        "-I",
        "/x.pyz",
        "job",
        str(tmp_path / "jobs/job"),
    ]
    order = tmp_path / "jobs/job/order"
    assert "secret" in content(order)
    assert [stat.S_IMODE(path.stat().st_mode) for path in (order, order.parent)] == [0o600, 0o700]


def test_what_is_on_its_way_is_not_begun_twice(tmp_path):
    systemd, clock = Systemd(OK, THERE), ScriptedClock()
    jobs = unit_jobs(tmp_path, systemd, clock=clock)
    assert begun(jobs) and not begun(jobs)
    assert jobs.poll("job").state == RUNNING and len(systemd.asked) == 1
    clock.sleep(2)
    assert jobs.poll("job").state == ABSENT
    assert not begun(jobs) and len(systemd.asked) == 2, "systemd says that it is there already"


def test_who_has_not_started_it_does_not_take_it_for_running(tmp_path):
    """As after a restart of the watcher."""
    begun(unit_jobs(tmp_path, Systemd(OK)))
    jobs = unit_jobs(tmp_path, Systemd(THERE))
    assert jobs.poll("job").state == ABSENT and not begun(jobs)


def test_one_that_is_stopped_on_its_way_is_not_running(tmp_path):
    jobs = unit_jobs(tmp_path, Systemd(OK))
    begun(jobs)
    jobs.stop("job")
    assert jobs.poll("job").state == ABSENT
    assert not Jobs(str(tmp_path / "jobs"), "this boot").begin("job", dict, 60)


def test_what_has_begun_is_not_asked_for_again(tmp_path):
    systemd = Systemd()
    Jobs(str(tmp_path / "jobs"), "this boot", grace=0.5).begin("job", dict, 60)
    assert not begun(unit_jobs(tmp_path, systemd)) and systemd.asked == []


@pytest.mark.parametrize("answers", [[DESTRUCTIVE], [Said(1, "Failed to connect to bus\n"), Said(1, "stopping\n")]])
def test_a_system_that_goes_down_has_not_failed_it(tmp_path, answers):
    jobs = unit_jobs(tmp_path, Systemd(*answers, OK))
    with pytest.raises(NotBegun, match="it was not started: the system is going down"):
        begun(jobs)
    assert begun(jobs), "after the next start of the machine, say"


def test_what_a_hand_says_of_it(tmp_path):
    jobs = unit_jobs(tmp_path, Systemd(DESTRUCTIVE))
    assert CommandRunner(jobs).begin(a_step_run()) == Progress(NOT_YET, "it was not started: the system is going down")


def test_a_refusal_of_another_kind_fails_it_and_it_can_not_begin_later(tmp_path):
    systemd = Systemd(Said(1, "Access denied\n"), Said(0, "running\n"))
    jobs = unit_jobs(tmp_path, systemd)
    with pytest.raises(JobFailed, match="systemd could not begin it: Access denied") as error:
        begun(jobs)
    assert not isinstance(error.value, NotBegun)
    assert not Jobs(str(tmp_path / "jobs"), "this boot").begin("job", dict, 60)


def test_a_system_that_does_not_answer_is_asked_again(tmp_path):
    systemd, clock = Systemd(Said(None, "no answer"), OK), ScriptedClock()
    jobs = unit_jobs(tmp_path, systemd, clock=clock)
    assert begun(jobs)
    clock.sleep(2)
    assert begun(jobs) and systemd.answers == []


def test_a_unit_that_never_begins_is_given_up(tmp_path):
    """As where its program is damaged: systemd starts it, and it is gone at once."""
    clock = ScriptedClock()
    jobs = unit_jobs(tmp_path, Systemd(*[OK] * (MOST_LAUNCHES + 1)), clock=clock)
    for _count in range(MOST_LAUNCHES):
        assert begun(jobs)
        clock.sleep(2)
    with pytest.raises(JobFailed, match="`journalctl --unit=azure-maintenance-job.service` says more"):
        begun(jobs)


def test_one_that_begins_just_then_has_begun(tmp_path):
    def late(command):
        Jobs(str(tmp_path / "jobs"), "this boot", grace=0.5).begin("job", dict, 60)
        return Said(0 if command[0] == "systemctl" else 1, "odd")

    assert begun(unit_jobs(tmp_path, late))


def test_a_user_that_is_not_there_and_a_step_run_that_is_not(tmp_path):
    jobs = unit_jobs(tmp_path, Systemd())
    with pytest.raises(JobFailed, match="no user nobody-at-all"):
        jobs.begin("job", None, 60, "nobody-at-all", False, a_step_run())
    with pytest.raises(JobFailed, match="can't be handed to a unit"):
        jobs.begin("job", None, 60)


def test_no_room_for_the_order(tmp_path):
    jobs = unit_jobs(tmp_path, Systemd())
    (tmp_path / "jobs/job/order").mkdir(parents=True)
    with pytest.raises(JobFailed, match="its order can't be written: Is a directory"):
        begun(jobs)


def test_what_a_command_of_systemds_comes_to(monkeypatch):
    assert asked(["sh", "-c", "echo $LC_ALL; exit 3"]) == Said(3, "C\n")
    missing = asked(["/no/such"])
    assert missing.rc == 127 and missing.output.startswith("/no/such: No such file or directory")
    monkeypatch.setattr(systemd_jobs, "ANSWERS_WITHIN", 0.1)
    assert asked(["sleep", "60"]) == Said(None, "sleep did not answer within 0.1 s")


@pytest.mark.parametrize("has, kind", [(True, SystemdJobs), (False, Jobs)])
def test_units_where_systemd_runs_the_machine_and_processes_elsewhere(tmp_path, monkeypatch, has, kind):
    monkeypatch.setattr(systemd_jobs, "_SYSTEMD", str(tmp_path if has else tmp_path / "nowhere"))
    assert jobs_of(str(tmp_path), "this boot", ["x"]).__class__ is kind


# The unit's process, as systemd would start it


class Started:
    """A systemd that starts the unit's command, and nothing else."""

    def __init__(self):
        self.processes = []

    def __call__(self, command):
        told = command[command.index("--") + 1 :]
        self.processes.append(subprocess.Popen(told, start_new_session=True))
        return OK


@pytest.fixture
def systemd():
    started_by_it = Started()
    yield started_by_it
    for process in started_by_it.processes:
        process.kill()
        process.wait()


@pytest.fixture
def jobs(tmp_path, systemd):
    return unit_jobs(tmp_path, systemd, PROGRAM)


def test_it_does_what_its_order_says(jobs, tmp_path, systemd):
    hand = CommandRunner(jobs)
    hand.begin(a_step_run(f"echo $TOKEN > {tmp_path}/log; echo the end; exit 4", environment={"TOKEN": "secret"}))
    until(lambda: jobs.poll("job").state == OVER)
    assert hand.check(a_step_run()) == Progress(FAILED, "exit code 4: the end")
    assert content(tmp_path / "log") == "secret\n"
    assert systemd.processes[0].wait(LONG) == 0


def test_it_runs_a_hook(jobs, tmp_path):
    path = tmp_path / "10-app"
    path.write_text(f"#!/bin/sh\necho $AZURE_MAINTENANCE_ID > {tmp_path}/log")
    path.chmod(0o755)
    hand = step_runners.make_runners(jobs)["prepare_hook"]
    step_run = StepRun(hook("10-app", path=str(path), context=CONTEXT), "do", "job", 60.0, 0.0, {})
    hand.begin(step_run)
    until(lambda: hand.check(step_run).state == DONE)
    assert content(tmp_path / "log") == "E1\n"


def test_it_keeps_the_limit(jobs):
    step_run = a_step_run("sleep 60")._replace(limit=0.5)
    begun(jobs, step_run)
    until(lambda: jobs.poll("job").state == OVER)
    assert jobs.poll("job").result["timed_out"]


def test_it_is_stopped_as_any_job(jobs, tmp_path):
    begun(jobs, a_step_run("sleep 60"))
    until(lambda: content(tmp_path / "jobs/job/work"))
    jobs.stop("job")
    assert ended(jobs, "job").result["stopped"]


def test_one_that_is_stopped_before_it_has_begun_does_not_begin(jobs, tmp_path, systemd):
    jobs.stop("job")
    systemd(["--", *PROGRAM, "job", str(tmp_path / "jobs/job")])
    (tmp_path / "jobs/job/order").write_text(
        json.dumps(systemd_jobs.order_of(a_step_run(f"touch {tmp_path}/log"), 60, "", False, "b", 1))
    )
    systemd.processes[0].wait(LONG)
    systemd(["--", *PROGRAM, "job", str(tmp_path / "jobs/job")])
    assert systemd.processes[1].wait(LONG) == 0
    assert not (tmp_path / "log").exists()


def test_two_processes_of_one_job_do_it_once(jobs, tmp_path, systemd):
    begun(jobs, a_step_run(f"echo x >> {tmp_path}/log"))
    systemd(["--", *PROGRAM, "job", str(tmp_path / "jobs/job")])
    assert [process.wait(LONG) for process in systemd.processes] == [0, 0]
    assert content(tmp_path / "log") == "x\n"


def test_it_was_cut_off_when_all_of_it_is_gone(jobs, tmp_path):
    begun(jobs, a_step_run("sleep 60"))
    until(lambda: content(tmp_path / "jobs/job/work"))
    for pid in (started(tmp_path)["pid"], json.loads(content(tmp_path / "jobs/job/work"))["pid"]):
        os.kill(pid, signal.SIGKILL)
        until(lambda pid=pid: is_gone(pid))
    assert jobs.poll("job").state == CUT_OFF
    assert not begun(jobs)


def test_an_order_that_the_program_wrote_before_an_upgrade():
    order = systemd_jobs.order_of(a_step_run()._replace(initial={"ran": True}), 60, "", False, "b", 1)
    assert step_run_in(order) == a_step_run()._replace(initial={"ran": True}, elapsed=step_run_in(order).elapsed)
    named_then = dict(order["step_run"])
    named_then["case"] = named_then.pop("initial")
    assert step_run_in({"piece": named_then}) == step_run_in(order)


def test_a_folder_without_an_order(tmp_path):
    process = subprocess.Popen([*PROGRAM, "job", str(tmp_path)], stderr=subprocess.PIPE)
    assert b"holds no order of a job" in process.communicate()[1] and process.returncode == 2


def test_a_hand_that_has_no_job(tmp_path, monkeypatch):
    (tmp_path / "order").write_text(json.dumps(systemd_jobs.order_of(a_step_run(), 60, "", False, "b", 1)))
    monkeypatch.setattr(step_runners, "make_runners", lambda jobs: {"command": object()})
    with pytest.raises(TypeError, match="a step of type command is no job"):
        systemd_jobs.main([str(tmp_path)])


# What the work leaves running


def a_unit(tmp_path, lines, folder, pids):
    """The unit of job `job`, in control groups that are files of the test's."""
    (tmp_path / "cgroup").write_text("".join(f"{line}\n" for line in lines))
    inside = tmp_path / "sys" / folder
    inside.mkdir(parents=True)
    (inside / "cgroup.procs").write_text("".join(f"{pid}\n" for pid in pids))
    return systemd_jobs.Unit("job", str(tmp_path / "cgroup"), str(tmp_path / "sys"))


OURS = "/system.slice/azure-maintenance-job.service"


@pytest.mark.parametrize(
    "lines, folder",
    [
        ([f"0::{OURS}"], OURS[1:]),
        (["12:pids:/system.slice", f"1:name=systemd:{OURS}", f"0::{OURS}"], "systemd" + OURS),
        (["4:memory:/", f"1:name=systemd:{OURS}"], "systemd" + OURS),
        (["1:name=systemd:/", f"0::{OURS}"], OURS[1:]),
    ],
    ids=["v2", "both", "v1", "v2 with an empty v1"],
)
def test_who_is_in_the_unit(tmp_path, lines, folder):
    assert a_unit(tmp_path, lines, folder, [os.getpid(), 5, 6]).others() == [5, 6]


@pytest.mark.parametrize(
    "line", ["0::/", "0::/system.slice/other.service", "0::/system.slice/x-azure-maintenance-job.service"]
)
def test_elsewhere_nobody_is_waited_for_and_nobody_asked_to_end(tmp_path, line):
    """As in a container, where the processes of one group are all there are."""
    unit = a_unit(tmp_path, [line], line[4:], [1, os.getpid()])
    assert unit.others() == []
    unit.pass_on()
    unit.stay(Clock())


def test_it_stays_as_long_as_somebody_is_left_and_has_him_asked_to_end(tmp_path):
    with subprocess.Popen(["sleep", "60"]) as process:
        unit = a_unit(tmp_path, [f"0::{OURS}"], OURS[1:], [os.getpid(), process.pid])

        class Ending(Clock):
            sleeps = []

            def sleep(self, seconds):
                self.sleeps.append(seconds)
                if len(self.sleeps) == 7:
                    unit.pass_on()
                    assert process.wait(LONG) == -signal.SIGTERM
                    (tmp_path / "sys" / OURS[1:] / "cgroup.procs").write_text(f"{os.getpid()}\n")

        unit.stay(Ending())
        assert Ending.sleeps == [1, 2, 4, 8, 16, 30, 30]
    (tmp_path / "sys" / OURS[1:] / "cgroup.procs").write_text("99999999\n")
    unit.pass_on()


def test_a_hand_says_of_what_is_on_its_way_that_it_is_pending(tmp_path):
    assert CommandRunner(unit_jobs(tmp_path, Systemd(OK))).begin(a_step_run()) == Progress(PENDING)
