# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hooks as real processes: what they are told, how they end, when they are tried again, what is not run."""

import json
import os
import pathlib
import signal
import stat
import tempfile

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine import (
    hook_runner,
    job_runner,
    supervisor,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.jobs import RUNNING, Seen
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.mark import NotWritten
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.step_runner import (
    ABSENT,
    AGAIN,
    DONE,
    FAILED,
    PENDING,
    REFUSED,
    Progress,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.store import FolderStore
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._machine.acting import Machine
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._machine.doing import (
    LONG,
    LimitClock,
    content,
    ended,
    is_gone,
    started,
    until,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._machine.hooking import (
    CONTEXT,
    Hooking,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import ScriptedClock

NEEDS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


def a_hook(tmp_path, text, *args, **options):
    return Hooking(tmp_path, text.replace("LOG", str(tmp_path / "log")), *args, **options)


def pid_in(path):
    return int(until(lambda: content(path).strip()))


# What it is told


def test_what_it_is_told(tmp_path):
    found = a_hook(
        tmp_path, 'env | grep ^AZURE_ > LOG; cat "$AZURE_MAINTENANCE_FILE" > LOG.file; pwd > LOG.pwd; umask > LOG.umask'
    )
    assert found.did(limit=40.0) == Progress(DONE)
    told = dict(line.split("=", 1) for line in content(tmp_path / "log").splitlines())
    assert {name[len("AZURE_MAINTENANCE_") :]: told[name] for name in told} == {
        "PHASE": "prepare",
        "HAPPENED": "scheduled",
        "MESSAGE": "",
        "ID": "E1",
        "TYPE": "Reboot",
        "STATUS": "",
        "SOURCE": "",
        "RESOURCES": "web_1",
        "NAME": "web_1",
        "NOT_BEFORE": "2026-01-01T00:15:00Z",
        "DURATION": "-1",
        "BUDGET": "40",
        "ATTEMPT": "1",
        "FILE": str(tmp_path / "state/hooks/job.json"),
        "NOTES": str(tmp_path / "state/hooks/notes"),
    }
    assert json.loads(content(tmp_path / "log.file")) == CONTEXT
    assert (content(tmp_path / "log.pwd"), content(tmp_path / "log.umask")) == ("/\n", "0022\n")


@pytest.mark.parametrize("budget, words", [(12.0, "12"), (40.0, "30"), (-1.0, "0")])
def test_its_budget_is_what_the_event_leaves_it_of_its_limit(tmp_path, budget, words):
    """It may go on to its limit; what has to be done before the event goes by this."""
    found = a_hook(tmp_path, 'echo "$AZURE_MAINTENANCE_BUDGET" > LOG')
    assert found.did(limit=30.0, budget=budget).state == DONE
    assert content(tmp_path / "log") == f"{words}\n"


def test_its_notes_last_from_prepare_to_recover_and_go_with_the_mark(tmp_path):
    assert a_hook(tmp_path, 'echo noted > "$AZURE_MAINTENANCE_NOTES/x"').did().state == DONE
    back = a_hook(tmp_path, 'cat "$AZURE_MAINTENANCE_NOTES/x" > LOG', "recover", name="10-back")
    back.jobs.folder += "-of-recovery"  # by the same name it would be the same job
    assert back.did().state == DONE
    assert content(tmp_path / "log") == "noted\n"
    machine = Machine(tmp_path / "state")
    machine.go()
    assert (tmp_path / "state/hooks").exists()
    machine.go("recovered")
    assert not (tmp_path / "state/hooks").exists() and not (tmp_path / "state/jobs").exists()


@NEEDS_ROOT
def test_another_user_reads_her_own_file_and_notes_and_nothing_else(tmp_path):
    with tempfile.TemporaryDirectory() as folder:  # pytest's own are closed
        check_another_user(pathlib.Path(folder))


def check_another_user(tmp_path):
    tmp_path.chmod(0o711)
    (tmp_path / "out").mkdir()
    (tmp_path / "out").chmod(0o777)
    a_hook(tmp_path, 'echo secret > "$AZURE_MAINTENANCE_NOTES/x"', name="05-root").did()
    text = (
        'cat "$AZURE_MAINTENANCE_FILE" && echo mine > "$AZURE_MAINTENANCE_NOTES/x" && id -un > OUT && echo $HOME >> OUT\n'
        "for path in STATE STATE/hooks STATE/hooks/notes STATE/jobs; do ls $path && exit 9; done; exit 0"
    )
    text = text.replace("OUT", str(tmp_path / "out/log")).replace("STATE", str(tmp_path / "state"))
    hers = Hooking(tmp_path, text, user="nobody")
    hers.step["key"] = "prepare.d hers"
    hers.jobs.folder += "-of-hers"
    assert hers.did() == Progress(DONE)
    assert content(tmp_path / "out/log").splitlines()[0] == "nobody"
    assert stat.S_IMODE((tmp_path / "state/hooks/notes-nobody").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "state/hooks/job.json").stat().st_mode) == 0o600


@NEEDS_ROOT
def test_the_folder_of_the_mark_is_still_fine_then(tmp_path):
    Hooking(tmp_path, "true", user="nobody").did()
    assert stat.S_IMODE((tmp_path / "state").stat().st_mode) == 0o711
    try:
        FolderStore(str(tmp_path / "state"), ScriptedClock()).confirm_event("E1", "me", "now")
    except NotWritten as error:
        pytest.fail(str(error))


def test_a_user_that_is_not_there(tmp_path):
    progress = Hooking(tmp_path, "true", user="nobody-at-all").begin()
    assert progress == Progress(FAILED, "this machine has no user nobody-at-all")


# How it ends


@pytest.mark.parametrize(
    "text, words",
    [
        ("echo out; echo err >&2; exit 3", "exit code 3: err"),
        ("echo out; exit 3", "exit code 3: out"),
        ("kill -9 $$", "exit code -9"),
    ],
)
def test_a_failure_has_its_exit_code_and_its_last_words(tmp_path, text, words):
    assert a_hook(tmp_path, text).did() == Progress(FAILED, words)


def test_one_that_is_no_program_at_all(tmp_path):
    found = a_hook(tmp_path, "")
    found.path.write_bytes(bytes([0, 1, 2]))
    assert found.did() == Progress(FAILED, f"{found.path}: Exec format error")


def test_one_that_hangs_and_one_that_ignores_the_request_to_end(tmp_path, monkeypatch):
    def did(name, text, limit):
        (tmp_path / name).mkdir()
        found = a_hook(tmp_path / name, text)
        found.step["timeout"] = limit
        return found.did(limit=limit)

    assert did("hangs", "sleep 60", 0.5) == Progress(FAILED, "it did not end within its 0.5 s")
    monkeypatch.setattr(supervisor, "Clock", lambda: LimitClock(tmp_path / "deaf" / "log"))
    deaf = "trap '' TERM; echo $$ > LOG; echo; while :; do sleep 1; done"
    assert did("deaf", deaf, LONG) == Progress(FAILED, f"it did not end within its {LONG} s")
    assert is_gone(pid_in(tmp_path / "deaf" / "log"))


def test_one_that_leaves_a_daemon_is_done_and_the_daemon_lives(tmp_path):
    found = a_hook(tmp_path, "setsid sh -c 'echo $$ > LOG; exec sleep 60' >/dev/null 2>&1 & exit 0")
    assert found.did() == Progress(DONE)
    pid = pid_in(tmp_path / "log")
    assert not is_gone(pid)
    os.kill(pid, signal.SIGKILL)


def test_one_that_prints_10_mb(tmp_path):
    found = a_hook(tmp_path, "head -c 10000000 /dev/zero | tr '\\0' x; echo; echo the end; exit 1")
    assert found.did() == Progress(FAILED, "exit code 1: the end")
    assert os.path.getsize(str(tmp_path / "state/jobs/job/result")) < 10000


def test_one_that_is_stopped(tmp_path):
    found = a_hook(tmp_path, "echo $$ > LOG; exec sleep 60")
    found.begin()
    pid = pid_in(tmp_path / "log")
    found.hand.stop(found.step_run())
    assert found.end() == Progress(FAILED, "it was ended before it was over")
    assert is_gone(pid)


# Another try


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(hook_runner, "FIRST_PAUSE", 0.2)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("phase", ["prepare", "recover"])
def test_one_that_asks_for_another_try_and_then_is_done(tmp_path, phase):
    found = a_hook(
        tmp_path, "echo $AZURE_MAINTENANCE_ATTEMPT >> LOG; [ $AZURE_MAINTENANCE_ATTEMPT = 3 ] || exit 75", phase
    )
    found.begin()
    tries = 1
    while True:
        progress = found.end()
        if progress.state != AGAIN:
            break
        assert progress.note == "it asked for another try (exit code 75)"
        found.begin()
        tries += 1
    assert (progress, tries) == (Progress(DONE), 3)
    assert content(tmp_path / "log") == "1\n2\n3\n"


def asking(tmp_path, phase="prepare"):
    """A hook that has just asked for another try; time is the test's from then on."""
    found = a_hook(tmp_path, "echo x >> LOG; echo not yet; exit 75", phase)
    found.begin()
    ended(found.jobs, "job")
    clock = ScriptedClock()
    path = tmp_path / "state/jobs/job/result"
    result = json.loads(content(path))
    path.write_text(json.dumps(dict(result, ended=clock.now())))
    found.hand._clock = clock
    return found, clock


def at(found, clock, limit=300.0):
    return found.step_run(limit)._replace(elapsed=clock.elapsed)


def test_one_that_asks_for_another_try_while_it_is_looked_at_has_not_failed(tmp_path, monkeypatch):
    found = a_hook(tmp_path, "exit 75")
    found.begin()
    ended(found.jobs, "job")
    over = found.jobs.poll
    looks = [Seen(RUNNING, {}), over("job-2")]
    monkeypatch.setattr(found.jobs, "poll", lambda name: looks.pop(0) if looks else over(name))
    assert found.check().state == PENDING


WORDS = "it asked for another try (exit code 75: not yet)"


def test_it_gets_another_try_after_5_10_20_and_at_most_60_seconds(tmp_path):
    found, clock = asking(tmp_path)
    last = found.jobs.poll("job")
    pauses = []
    for count in range(1, 7):
        while found.hand._seen(at(found, clock, 9e9), [last] * count).state == PENDING:
            clock.sleep(1)
        pauses.append(clock.elapsed)
        clock.elapsed = 0.0
    assert pauses == [5, 10, 20, 40, 60, 60]


def test_it_gets_none_when_no_time_is_left_for_one(tmp_path):
    found, clock = asking(tmp_path)
    assert found.hand.check(at(found, clock, 5.5)) == Progress(PENDING, WORDS)
    assert found.hand.check(at(found, clock, 5.0)) == Progress(FAILED, WORDS + ", and no time is left for that")
    clock.sleep(6)
    assert found.hand.check(at(found, clock, 6.5)) == Progress(AGAIN, WORDS)
    assert found.hand.check(at(found, clock, 6.0)).state == FAILED


def test_another_try_has_what_is_left_of_the_time(tmp_path):
    found, clock = asking(tmp_path)
    clock.sleep(10)
    found.hand.begin(at(found, clock, 30.0))
    assert started(tmp_path / "state", "job-2")["limit"] == 20.0
    assert json.loads(content(tmp_path / "state/hooks/job-2.json")) == CONTEXT


def test_one_try_is_begun_once(tmp_path):
    found, clock = asking(tmp_path)
    for _count in range(3):
        assert found.hand.begin(at(found, clock)) == Progress(PENDING, WORDS)
    clock.sleep(6)
    for _count in range(3):
        found.hand.begin(at(found, clock))
    assert content(tmp_path / "log").count("x") <= 2


def test_one_that_waits_for_another_try_can_be_stopped_and_is_not_begun_after_that(tmp_path):
    found, clock = asking(tmp_path)
    assert found.hand.stop(at(found, clock)) == Progress(FAILED, "it was ended while it waited for another try")
    clock.sleep(6)
    found.hand.begin(at(found, clock))
    assert content(tmp_path / "log") == "x\n" and found.jobs.poll("job-2").state == "absent"


@pytest.mark.parametrize("phase, state", [("prepare", FAILED), ("recover", ABSENT)])
def test_the_machine_is_started_anew_before_another_try(tmp_path, phase, state):
    found, clock = asking(tmp_path, phase)
    found.start_machine("next boot")
    progress = found.hand.check(at(found, clock)._replace(elapsed=float("inf")))
    assert (progress.state, progress.note.startswith(WORDS)) == (state, True)


# Cut off


def cut_off(tmp_path, phase):
    found = a_hook(tmp_path, "echo $AZURE_MAINTENANCE_ATTEMPT >> LOG; exec sleep 60", phase)
    found.begin()
    until(lambda: content(tmp_path / "log"))
    pid = json.loads(content(tmp_path / "state/jobs/job/work"))["pid"]
    for one in (started(tmp_path / "state")["pid"], pid):  # as by a power cut, all at once
        os.kill(one, signal.SIGKILL)
        until(lambda one=one: is_gone(one))
    found.start_machine("next boot")
    return found


def test_a_prepare_hook_that_was_cut_off_has_failed_and_is_not_begun_again(tmp_path):
    found = cut_off(tmp_path, "prepare")
    assert found.check() == Progress(FAILED, job_runner._CUT_OFF)
    assert found.begin() == Progress(FAILED, job_runner._CUT_OFF)
    assert content(tmp_path / "log") == "1\n"


def test_a_recover_hook_that_was_cut_off_is_begun_once_more_and_not_a_third_time(tmp_path):
    found = cut_off(tmp_path, "recover")
    assert found.check() == Progress(ABSENT, "it was interrupted, and is started once more")
    assert found.begin() == Progress(PENDING)
    until(lambda: content(tmp_path / "log") == "1\n2\n")
    pid = json.loads(until(lambda: content(tmp_path / "state/jobs/job-2/work")))["pid"]
    for one in (started(tmp_path / "state", "job-2")["pid"], pid):
        os.kill(one, signal.SIGKILL)
        until(lambda one=one: is_gone(one))
    assert found.check() == Progress(FAILED, job_runner._CUT_OFF)
    assert found.begin() == Progress(FAILED, job_runner._CUT_OFF)
    assert content(tmp_path / "log") == "1\n2\n"


def test_a_recover_hook_that_somebody_ended_was_cut_off_too(tmp_path):
    """As systemd does when the system goes down."""
    found = a_hook(tmp_path, "echo $AZURE_MAINTENANCE_ATTEMPT >> LOG; exec sleep 60", "recover")
    for number, name in enumerate(("job", "job-2"), 1):
        found.begin()
        until(lambda number=number: len(content(tmp_path / "log").split()) == number)
        os.kill(started(tmp_path / "state", name)["pid"], signal.SIGTERM)
        ended(found.jobs, name)
        progress = found.check()
        assert progress.state == (ABSENT if number == 1 else FAILED)
    assert progress == found.begin() == Progress(FAILED, "it was ended before it was over")


# What is not run


def test_one_that_is_not_executable(tmp_path):
    found = a_hook(tmp_path, "touch LOG")
    found.path.chmod(0o644)
    words = f"{found.path} is not executable: chmod +x {found.path}"
    assert found.begin() == Progress(REFUSED, f"it was not run: {words}")
    assert found.hand.lacks(found.step) == words
    assert found.jobs.poll("job").state == "absent"


def test_one_that_others_can_write(tmp_path):
    """Also when that is so only since it was found."""
    found = a_hook(tmp_path, "touch LOG")
    assert found.hand.lacks(found.step) == ""
    found.path.chmod(0o777)
    progress = found.begin()
    assert progress.state == REFUSED and "is writable by users other than root (mode 0777)" in progress.note
    assert not (tmp_path / "log").exists()


def test_one_that_is_missing_is_not_run_whatever_its_path_leads_to(tmp_path):
    found = a_hook(tmp_path, "touch LOG")
    found.step["refused"] = "there is no such file"
    assert found.begin() == Progress(REFUSED, "it was not run: there is no such file")
    assert not (tmp_path / "log").exists()


@pytest.mark.usefixtures("quick")
def test_one_that_asked_for_another_try_and_is_refused_then_has_failed(tmp_path):
    found = a_hook(tmp_path, "exit 75")
    progress = found.did()
    assert progress.state == AGAIN, progress.note
    found.path.chmod(0o644)
    assert found.begin().state == FAILED


def test_one_whose_files_can_not_be_written(tmp_path):
    found = a_hook(tmp_path, "touch LOG")
    (tmp_path / "state").mkdir()
    (tmp_path / "state/hooks").write_text("")
    assert found.begin() == Progress(FAILED, "its files can't be written: Not a directory")
