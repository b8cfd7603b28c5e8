# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs as real processes: begun once, ended at their limit, outliving who began them, their result found later."""

import os
import pty
import signal
import subprocess
import sys

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine import files
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine import jobs as job_module
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine import supervisor as keeper_module
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.jobs import (
    ABSENT,
    OVER,
    RUNNING,
    Jobs,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.platform import native
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.step_runner import JobFailed
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.supervisor import MOST
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._machine.doing import (
    LONG,
    LimitClock,
    content,
    ended,
    is_gone,
    jobs_in,
    shell,
    started,
    until,
)

LIMIT = LONG


@pytest.fixture
def jobs(tmp_path):
    return jobs_in(tmp_path)


def ran(jobs, work, limit=LIMIT, **options):
    """What a job left."""
    assert jobs.begin("job", work, limit, **options)
    seen = ended(jobs, "job")
    assert seen.state == OVER
    return seen.result


# What it leaves


def test_what_work_returns_is_its_answer(jobs):
    result = ran(jobs, lambda: {"state": "done", "note": "\u00e9"})
    assert (result["answer"], result["problem"], result["rc"]) == ({"state": "done", "note": "\u00e9"}, "", 0)


def test_a_long_answer_comes_whole(jobs):
    assert len(ran(jobs, lambda: {"note": "x" * 300000})["answer"]["note"]) == 300000


def test_what_a_program_leaves(jobs):
    result = ran(jobs, shell("echo out; echo err >&2; exit 3"))
    assert (result["rc"], result["stdout"], result["stderr"]) == (3, "out\n", "err\n")
    assert (result["answer"], result["timed_out"], result["stopped"]) == (None, False, False)
    assert 0 < result["seconds"] < LIMIT


def test_a_program_that_a_signal_ends(jobs):
    assert ran(jobs, shell("kill -9 $$"))["rc"] == -signal.SIGKILL


def test_only_the_end_of_much_output_is_kept(jobs):
    result = ran(jobs, shell("yes 0123456789 | head -n 100000; echo the end"))
    assert len(result["stdout"]) == MOST and result["stdout"].endswith("0123456789\nthe end\n")


def test_of_a_quiet_job_nothing_is_kept(jobs, tmp_path):
    result = ran(jobs, shell("echo secret; echo secret >&2; exit 1"), quiet=True)
    assert (result["rc"], result["stdout"], result["stderr"]) == (1, "", "")
    assert "secret" not in content(tmp_path / "jobs" / "job" / "result")


@pytest.mark.parametrize(
    "work, words",
    [
        (lambda: native.become(["/no/such/program"]), "/no/such/program: No such file or directory"),
        (lambda: native.become(["no such program"]), "no such program: No such file or directory"),
        (lambda: os.chdir("/no/such/folder"), "/no/such/folder: No such file or directory"),
        (lambda: int("x"), "invalid literal for int() with base 10: 'x'"),
    ],
)
def test_work_that_can_not_be_done_says_why(jobs, work, words):
    result = ran(jobs, work)
    assert (result["problem"], result["answer"]) == (words, None)


def test_only_its_user_can_read_what_is_left(jobs, tmp_path):
    ran(jobs, shell("echo out"))
    folder = tmp_path / "jobs" / "job"
    assert sorted(os.listdir(str(folder))) == ["result", "started", "work"]
    assert [oct(os.stat(str(path)).st_mode)[-3:] for path in (folder, folder / "result")] == ["700", "600"]


# Once


def test_what_was_never_begun_is_absent(jobs):
    assert jobs.poll("job").state == ABSENT


def test_a_second_begin_is_refused(jobs, tmp_path):
    assert jobs.begin("job", shell("echo x >> $1; sleep 60", tmp_path / "log"), LIMIT)
    until(lambda: content(tmp_path / "log"))
    assert jobs.poll("job").state == RUNNING
    assert not jobs.begin("job", shell("echo y >> $1", tmp_path / "log"), LIMIT)
    jobs.stop("job")
    assert ended(jobs, "job").result["stopped"]
    assert not jobs.begin("job", shell("echo z >> $1", tmp_path / "log"), LIMIT), "nor when it is over"
    assert content(tmp_path / "log") == "x\n"


def test_of_many_who_begin_it_at_once_one_does(tmp_path):
    children = []
    for number in range(12):
        child = os.fork()
        if not child:
            begun = jobs_in(tmp_path).begin("job", shell("echo $1 >> $2", number, tmp_path / "log"), LIMIT)
            os._exit(10 if begun else 20)
        children.append(child)
    codes = sorted(os.WEXITSTATUS(os.waitpid(child, 0)[1]) for child in children)
    assert codes == [10] + [20] * 11
    ended(jobs_in(tmp_path), "job")
    assert len(content(tmp_path / "log").splitlines()) == 1


def test_one_that_is_slow_to_begin_is_not_given_up(jobs, tmp_path, monkeypatch):
    """It would run all the same, and nobody would wait for it."""
    write_first = files.write_first

    def slowly(path, value):
        until((tmp_path / "go").exists)
        return write_first(path, value)

    monkeypatch.setattr(files, "write_first", slowly)
    monkeypatch.setattr(job_module, "LONGEST_BEGINNING", 0.1)
    for _each in range(2):
        assert jobs.begin("job", shell("echo x >> $1", tmp_path / "log"), LIMIT)
        assert jobs.poll("job").state == ABSENT
    (tmp_path / "go").write_text("")
    until(lambda: jobs.poll("job").state == OVER)
    assert content(tmp_path / "log") == "x\n"


# Its limit


@pytest.fixture
def at_limit(tmp_path, monkeypatch):
    """What a job runs in a shell to be at its limit: once it is ready for that, on a machine of any speed. The line that it writes may
    come too late to be written."""
    monkeypatch.setattr(keeper_module, "Clock", lambda: LimitClock(tmp_path / "at limit"))
    return f"touch '{tmp_path}/at limit'; echo"


def test_at_the_limit_the_whole_group_is_ended(jobs, tmp_path, at_limit):
    log = tmp_path / "log"
    script = "sleep 1000 & echo $! >> $1; (trap '' TERM; echo $(exec sh -c 'echo $PPID') >> $1; %s; sleep 1000) & wait"
    result = ran(jobs, shell(script % at_limit, log))
    assert result["timed_out"] and not result["stopped"]
    assert LIMIT <= result["seconds"] < LIMIT + 500, "the limit, the grace, a last second, and a slow machine"
    pids = [int(pid) for pid in content(log).split()]
    assert len(pids) == 2
    until(lambda: all(is_gone(pid) for pid in pids), "the end of the group")


def test_one_that_does_not_listen_is_killed(jobs, at_limit):
    result = ran(jobs, shell(f"trap '' TERM; {at_limit}; while :; do sleep 1; done"))
    assert (result["timed_out"], result["rc"]) == (True, -signal.SIGKILL)


def test_one_that_listens_may_tidy_up(tmp_path, at_limit):
    script = f"trap 'echo tidy; exit 7' TERM; {at_limit}; while :; do sleep 0.05; done"
    result = ran(jobs_in(tmp_path, grace=LONG), shell(script))
    assert (result["timed_out"], result["rc"], result["stdout"].lstrip()) == (True, 7, "tidy\n")


def test_so_may_the_others_of_its_group(tmp_path, at_limit):
    script = f"(trap 'sleep 0.2; echo tidy; exit' TERM; {at_limit}; while :; do sleep 0.05; done) & exec sleep 1000"
    result = ran(jobs_in(tmp_path, grace=500), shell(script))
    assert (result["rc"], result["stdout"].lstrip()) == (-signal.SIGTERM, "tidy\n")
    assert result["seconds"] < LIMIT + 500, "and nobody waits longer for them"


def test_one_that_never_stops_writing_has_its_limit_too(jobs):
    result = ran(jobs, shell("yes"), limit=0.5)
    assert result["timed_out"] and result["seconds"] < LONG


def test_what_a_program_leaves_running_is_let_be(jobs, tmp_path):
    result = ran(jobs, shell("sleep 1000 & echo $! > $1", tmp_path / "log"), limit=500)
    pid = int(content(tmp_path / "log"))
    try:
        assert result["rc"] == 0 and result["seconds"] < 500
        assert not is_gone(pid)
    finally:
        os.kill(pid, signal.SIGKILL)


def test_what_a_program_leaves_running_can_go_on_writing(jobs, tmp_path):
    """As a service does that an init script has started: it must not end with SIGPIPE when the job has long been over."""
    script = "echo $$ > $1/pid; (while [ ! -e $1/go ]; do sleep 0.05; done; echo x; echo x >&2; echo wrote > $1/log) & "
    result = ran(jobs, shell(script, tmp_path))
    assert result["rc"] == 0
    keeper = started(tmp_path)["pid"]
    (tmp_path / "go").write_text("")
    assert until(lambda: content(tmp_path / "log")) == "wrote\n"
    until(lambda: is_gone(keeper), "the end of who keeps the job")


def test_who_takes_what_is_still_written_ends_at_once_when_the_machine_does(jobs, tmp_path):
    ran(jobs, shell("sleep 60 & echo $! > $1", tmp_path / "log"))
    pid, keeper = int(content(tmp_path / "log")), started(tmp_path)["pid"]
    try:
        until(lambda: os.readlink(f"/proc/{keeper}/cwd") == "/")
        os.kill(keeper, signal.SIGTERM)
        until(lambda: is_gone(keeper), "the end of who keeps the job")
    finally:
        os.kill(pid, signal.SIGKILL)


def test_one_that_was_stopped_before_it_began_never_begins(jobs, tmp_path):
    """On a machine that is very slow its keeper may come later than the call that takes the step back."""
    jobs.stop("job")
    assert not jobs.begin("job", shell("touch $1", tmp_path / "log"), LIMIT)
    assert jobs.poll("job").state == ABSENT and not (tmp_path / "log").exists()


def test_it_can_be_stopped(jobs, tmp_path):
    jobs.begin("job", shell("echo x > $1; exec sleep 60", tmp_path / "log"), LIMIT)
    until(lambda: content(tmp_path / "log"))
    jobs.stop("job")
    result = ended(jobs, "job").result
    assert (result["stopped"], result["timed_out"], result["rc"]) == (True, False, -signal.SIGTERM)
    jobs.stop("job")
    jobs.stop("another")
    assert jobs.poll("job").result == result


# Who began it goes away

BEGINNER = """
import sys, time
sys.path[:0] = {path!r}
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._machine.doing import jobs_in
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine import jobs
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.platform import native
jobs.LONGEST_BEGINNING = 60
script = "ps -o tty= -p $$ > $1/tty; while [ ! -e $1/go ]; do sleep 0.05; done; echo went > $1/log"
jobs_in(sys.argv[1]).begin("job", lambda: native.become(["sh", "-c", script, "sh", sys.argv[1]]), 60)
print("begun", flush=True)
time.sleep(60)
"""


def beginner(tmp_path, **options):
    script = BEGINNER.format(path=[path for path in sys.path if path])
    return subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, **options)


def test_it_survives_who_began_it(jobs, tmp_path):
    process = beginner(tmp_path, start_new_session=True)
    assert process.stdout.readline() == b"begun\n"
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert process.stdout.read() == b"", "the job holds no end of the pipe"
    process.stdout.close()
    assert jobs.poll("job").state == RUNNING
    (tmp_path / "go").write_text("")
    assert ended(jobs, "job").result["rc"] == 0 and content(tmp_path / "log") == "went\n"


def test_it_survives_the_end_of_the_terminal(jobs, tmp_path):
    """As of a connection by ssh with a terminal: everything in its session gets a SIGHUP."""
    ours, theirs = pty.openpty()
    script = (
        "import fcntl, os, signal, sys, termios; signal.signal(signal.SIGHUP, signal.SIG_DFL); os.setsid(); "
        "fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execvp(sys.argv[1], sys.argv[1:])"
    )
    inner = BEGINNER.format(path=[path for path in sys.path if path])
    process = subprocess.Popen(
        [sys.executable, "-c", script, sys.executable, "-c", inner, str(tmp_path)],
        stdin=theirs,
        stdout=subprocess.PIPE,
    )
    os.close(theirs)
    assert process.stdout.readline() == b"begun\n"
    os.close(ours)
    assert process.wait() == -signal.SIGHUP
    process.stdout.close()
    (tmp_path / "go").write_text("")
    assert ended(jobs, "job").result["rc"] == 0 and content(tmp_path / "log") == "went\n"
    assert content(tmp_path / "tty").strip() in ("?", "")


def test_it_holds_nothing_of_who_began_it(jobs):
    """A lock among others, which would hold up every later call."""
    reader, writer = os.pipe()
    os.set_inheritable(writer, True)
    jobs.begin("job", shell("sleep 60"), LIMIT)
    os.close(writer)
    assert os.read(reader, 1) == b"" and jobs.poll("job").state == RUNNING
    os.close(reader)
    jobs.stop("job")
    ended(jobs, "job")


LIBC = 0b11 << 31
"""Signals 32 and 33, which the C library keeps for itself."""


def test_a_program_gets_signals_as_usual(jobs):
    """Python ignores some, and what a process ignores its programs ignore, too."""
    result = ran(jobs, lambda: native.become(["grep", "-E", "Sig(Ign|Blk)", "/proc/self/status"]))
    unusual = [int(line.split()[1], 16) & ~LIBC for line in result["stdout"].splitlines()]
    assert unusual == [0, 0]


# Whose it is


def test_a_user_that_is_not_there(jobs):
    with pytest.raises(JobFailed, match="this machine has no user nobody-at-all"):
        jobs.begin("job", shell("true"), LIMIT, user="nobody-at-all")
    assert jobs.poll("job").state == ABSENT


def test_another_user(jobs):
    def begin():
        return ran(jobs, shell("id -un; id -Gn; echo $HOME $USER $LOGNAME"), user="nobody")

    if os.geteuid() != 0:
        with pytest.raises(JobFailed, match="only root can run it as user nobody, and this runs as user number"):
            begin()
        return
    mine = os.getgroups()
    os.setgroups([0])
    try:
        user, groups, variables = begin()["stdout"].splitlines()
    finally:
        os.setgroups(mine)
    assert user == "nobody" and "root" not in groups.split()
    assert variables.split()[1:] == ["nobody", "nobody"]


def test_a_folder_that_can_not_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(JobFailed, match="the folder of the job can't be made: .*Not a directory"):
        Jobs(str(tmp_path / "file" / "jobs"), "this boot").begin("job", shell("true"), LIMIT)
