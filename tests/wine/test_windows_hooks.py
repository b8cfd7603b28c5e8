# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hooks on Windows: how they end, what ends them, and that each is begun once."""

import json
import os
import subprocess

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine import job_runner
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.jobs import (
    CUT_OFF,
    ORDER,
    OVER,
    RUNNING,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.step_runner import (
    ABSENT,
    DONE,
    FAILED,
    PENDING,
    Progress,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.supervisor import MOST
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.windows.platform import (
    argv_of,
    start_of,
)
from ansible_collections.cloudops.azure_maintenance.tests.wine.hooking import (
    LONG,
    PROGRAM,
    Hooking,
    content,
    kill,
    until,
)

SLEEPS = "import time; time.sleep(60)"

# Starts another process that has its streams, and says both their numbers
WITH_GRANDCHILD = """
import os, subprocess, sys
other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
print("last words", flush=True)
with open({log!r} + ".new", "w") as file:
    file.write(f"{{os.getpid()}} {{other.pid}}")
os.rename({log!r} + ".new", {log!r})
"""


@pytest.fixture
def log(tmp_path):
    return tmp_path / "log"


def with_grandchild(tmp_path, log, then):
    return Hooking(tmp_path, WITH_GRANDCHILD.format(log=str(log)) + then)


def pids_in(log):
    return [int(pid) for pid in until(lambda: content(log).split())]


def test_one_in_python_is_told_what_happened(tmp_path, log):
    names = ("PHASE", "HAPPENED", "ID", "TYPE", "NAME", "ATTEMPT", "NOTES")
    found = Hooking(
        tmp_path,
        f"""
import json, os
told = {{name: os.environ["AZURE_MAINTENANCE_" + name] for name in {names!r}}}
with open(os.environ["AZURE_MAINTENANCE_FILE"], encoding="utf-8") as file:
    told["event"] = json.load(file)["event"]["id"]
with open({str(log)!r}, "w") as file:
    json.dump(told, file)
""",
    )
    assert found.did() == Progress(DONE)
    told = json.loads(content(log))
    assert os.path.isdir(told.pop("NOTES"))
    assert told == {
        "PHASE": "prepare",
        "HAPPENED": "scheduled",
        "ID": "E1",
        "TYPE": "Reboot",
        "NAME": "web_1",
        "ATTEMPT": "1",
        "event": "E1",
    }


def test_a_batch_file_that_succeeds(tmp_path, log):
    found = Hooking(tmp_path, f'@echo %AZURE_MAINTENANCE_PHASE% > "{log}"\r\n@echo fine\r\n', ".cmd", "recover")
    assert found.did() == Progress(DONE)
    assert content(log).split() == ["recover"]
    assert (found.result["rc"], found.result["stdout"], found.result["timed_out"]) == (0, "fine\n", False)


@pytest.mark.parametrize(
    "text, ending", [("@echo no room 1>&2\r\n@exit /b 3\r\n", ".cmd"), ("import sys; sys.exit('no room')", ".py")]
)
def test_one_that_fails(tmp_path, text, ending):
    found = Hooking(tmp_path, text, ending)
    progress = found.did()
    assert progress.state == FAILED and "no room" in progress.note
    assert found.result["rc"] == (3 if ending == ".cmd" else 1)


def test_one_that_ends_with_a_number_of_windows(tmp_path):
    found = Hooking(tmp_path, "import os; os._exit(0xC0000005 - 2**32)")
    assert found.did().state == FAILED
    assert found.result["rc"] == 0xC0000005


def test_a_program(tmp_path):
    found = Hooking(tmp_path, "")
    found.step["path"] = r"C:\windows\system32\hostname.exe"
    assert found.did() == Progress(DONE)
    assert found.result["stdout"].strip()


def test_powershell_runs_its_files():
    assert os.path.isfile(argv_of(r"C:\hooks\10 a.PS1")[0])
    assert argv_of(r"C:\hooks\10 a.PS1")[-2:] == ["-File", r"C:\hooks\10 a.PS1"]


def test_what_windows_can_not_run(tmp_path):
    progress = Hooking(tmp_path, "no program", ".exe").did()
    assert progress.state == FAILED and "a hook.exe" in progress.note


def test_one_that_asks_for_another_try(tmp_path):
    found = Hooking(tmp_path, "import sys; sys.exit(75)")
    found.begin()
    until(lambda: found.jobs.poll("job").state == OVER)
    assert found.check() == Progress(PENDING, "it asked for another try (exit code 75)")


def test_as_another_user_nothing_is_run(tmp_path):
    found = Hooking(tmp_path, "")
    found.step["user"] = "somebody"
    progress = found.begin()
    assert progress.state == FAILED and "as another user" in progress.note


def test_at_the_limit_all_of_it_ends(tmp_path, log, monkeypatch):
    at_limit = tmp_path / "at limit"
    monkeypatch.setenv("AT_LIMIT", str(at_limit))  # its keeper's clock is there when the file is: program.py
    found = with_grandchild(tmp_path, log, SLEEPS)
    found.begin()
    pids = pids_in(log)
    assert all(map(start_of, pids))
    assert found.check().state == PENDING
    at_limit.touch()
    assert found.end().state == FAILED
    assert found.result["timed_out"] and found.result["seconds"] >= LONG
    assert found.result["stdout"] == "last words\n"
    assert not any(map(start_of, pids))


def test_a_pipe_that_is_held_open_keeps_nothing_from_ending(tmp_path, log):
    """And what a hook has left running when it ended well is let be."""
    found = with_grandchild(tmp_path, log, "")
    assert found.did() == Progress(DONE)
    assert found.result["seconds"] < 30
    hook, left = pids_in(log)
    try:
        assert start_of(hook) is None and start_of(left)
        kill(found.keeper)
        until(lambda: start_of(found.keeper) is None)
        assert start_of(left)
    finally:
        kill(left)


def test_it_is_stopped(tmp_path, log):
    found = with_grandchild(tmp_path, log, SLEEPS)
    found.begin()
    pids = pids_in(log)
    found.hand.stop(found.step_run())
    assert found.end() == Progress(FAILED, "it was ended before it was over")
    assert not any(map(start_of, pids))


def test_one_that_is_stopped_before_it_began_can_not_begin(tmp_path, log):
    found = Hooking(tmp_path, f"open({str(log)!r}, 'w')")
    found.hand.stop(found.step_run())
    assert found.check().state == ABSENT
    assert not found.jobs.begin("job", None, 1.0, step_run=found.step_run()) or found.check().state == ABSENT
    assert not log.exists()


def test_begun_again_nothing_happens(tmp_path, log):
    found = Hooking(tmp_path, f"open({str(log)!r}, 'a').write('.')")
    assert found.did() == Progress(DONE)
    assert found.begin() == Progress(DONE)
    assert content(log) == "."


def test_of_two_keepers_one_runs_it(tmp_path, log):
    """Both have seen that nobody has begun it."""
    found = Hooking(tmp_path, f"open({str(log)!r}, 'a').write('.')")
    launched = found.jobs._launched
    others = []

    def twice(name):
        others.append(launched(name))
        return launched(name)

    found.jobs._launched = twice
    assert found.did() == Progress(DONE)
    others[0].wait(60)
    assert content(log) == "."


def test_a_keeper_that_is_killed_takes_all_of_it_along(tmp_path, log):
    found = with_grandchild(tmp_path, log, SLEEPS)
    found.begin()
    pids = pids_in(log)
    assert found.jobs.poll("job").state == RUNNING
    kill(found.keeper)
    until(lambda: found.jobs.poll("job").state == CUT_OFF)
    until(lambda: not any(map(start_of, pids)), "the end of what it kept")
    assert found.check() == found.begin() == Progress(FAILED, job_runner._CUT_OFF)


def test_a_recover_hook_that_was_cut_off_is_begun_once_more(tmp_path, log):
    found = Hooking(
        tmp_path,
        f"""
import os, time
attempt = os.environ["AZURE_MAINTENANCE_ATTEMPT"]
open({str(log)!r}, "a").write(attempt)
time.sleep(60 if attempt == "1" else 0)
""",
        phase="recover",
    )
    found.begin()
    until(lambda: content(log))
    kill(found.keeper)
    until(lambda: found.check().state == ABSENT)
    assert found.did() == Progress(DONE)
    assert content(log) == "12"


def test_of_all_that_it_prints_the_end_is_kept(tmp_path):
    found = Hooking(tmp_path, "print('x' * 79, sep='') or [print('y' * 79) for line in range(40000)]; print('the end')")
    assert found.did() == Progress(DONE)
    assert len(found.result["stdout"]) <= MOST
    assert found.result["stdout"].endswith("y\nthe end\n")


def test_what_is_to_be_done_stands_in_no_command_line(tmp_path):
    """Any user can read it there."""
    found = Hooking(tmp_path, "")
    assert found.did() == Progress(DONE)
    folder = os.path.join(found.jobs.folder, "job")
    assert sorted(os.listdir(folder)) == [ORDER, "result", "started"]
    assert json.loads(content(found.folder / "state" / "jobs" / "job" / ORDER))["program"] == list(PROGRAM)


def test_a_keeper_that_can_not_be_started(tmp_path):
    found = Hooking(tmp_path, "")
    found.jobs._program = [r"C:\no\such.exe"]
    progress = found.begin()
    assert progress.state == FAILED and progress.note.startswith("the job could not be started: ")


def test_a_keeper_that_ends_at_once(tmp_path):
    found = Hooking(tmp_path, "")
    found.jobs._program = [PROGRAM[0], "-c", "raise SystemExit(9)"]
    progress = found.begin()
    assert progress == Progress(FAILED, "the job could not be started: its keeper ended with exit code 9")


def test_taskkill_is_there():
    """Else the tests above would kill nobody."""
    sleeper = subprocess.Popen([PROGRAM[0], "-c", SLEEPS])
    kill(sleeper.pid)
    assert sleeper.wait(60) is not None
