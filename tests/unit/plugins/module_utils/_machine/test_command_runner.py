# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Step ``command``, with real commands."""

import os
import subprocess
import sys

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._clock import Clock, Deadline
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine import job_runner, posix
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.step_looks import look
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.step_runner import (
    ABSENT,
    DONE,
    FAILED,
    PENDING,
    Progress,
    RunnerFailed,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._steps.commands import COMMAND
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._machine.doing import (
    LONG,
    Doing,
    content,
    is_gone,
    jobs_in,
    until,
)


@pytest.fixture
def doing(tmp_path):
    return Doing("command", tmp_path)


def script(text, *arguments):
    return ["sh", "-c", text, "sh"] + [str(argument) for argument in arguments]


def test_it_is_done_and_taken_back(doing, tmp_path):
    commands = {"do": script("echo do > $1", tmp_path / "log"), "undo": script("echo undo > $1", tmp_path / "log")}
    assert doing.did(**commands) == Progress(DONE)
    assert content(tmp_path / "log") == "do\n"
    assert doing.did("undo", **commands) == Progress(DONE)
    assert content(tmp_path / "log") == "undo\n"


@pytest.mark.parametrize(
    "text, words",
    [
        ("echo first >&2; echo last >&2; exit 3", "exit code 3: last"),
        ("echo only out; exit 3", "exit code 3: only out"),
        ("exit 3", "exit code 3"),
        ("kill -9 $$", "exit code -9"),
    ],
)
def test_a_failure_has_its_exit_code_and_its_last_words(doing, text, words):
    assert doing.did(do=script(text)) == Progress(FAILED, words)


def test_other_exit_codes_may_be_fine(doing):
    assert doing.did(do=script("exit 3"), ok_codes=[0, 3]) == Progress(DONE)
    assert doing.did(do=script("true"), ok_codes=[3]) == Progress(FAILED, "exit code 0")


def test_a_program_that_is_not_there(doing):
    assert doing.did(do=["/no/such", "x"]) == Progress(FAILED, "/no/such: No such file or directory")


def test_its_folder_and_its_environment(doing, tmp_path):
    (tmp_path / "folder").mkdir()
    doing.did(
        do=script('echo "$(pwd) $GREETING" > ../log'),
        chdir=str(tmp_path / "folder"),
        environment={"GREETING": "hello there", "NUMBER": 1},
    )
    assert content(tmp_path / "log") == f"{tmp_path / 'folder'} hello there\n"
    assert doing.did(do=["true"], chdir="/no/such") == Progress(FAILED, "/no/such: No such file or directory")


def test_no_shell_but_variables_and_home_as_with_the_module(doing, tmp_path, monkeypatch):
    monkeypatch.setenv("WHERE", str(tmp_path))
    environment = {"HOME": str(tmp_path)}
    doing.did(do=["touch", "$WHERE/one; two", "~/three", "$(four)"], chdir=str(tmp_path), environment=environment)
    assert {"one; two", "three", "$(four)"} <= set(os.listdir(str(tmp_path)))


def test_a_variable_of_the_step_itself_reaches_the_command_by_its_environment_alone(doing, tmp_path):
    """It may be a secret, and everybody on the machine sees a command line."""
    doing.did(
        do=["sh", "-c", "tr '\\0' ' ' </proc/$$/cmdline >line; echo $TOKEN ${TOKEN} >said"],
        chdir="$WHERE",
        environment={"TOKEN": "secret", "WHERE": str(tmp_path)},
    )
    assert "secret" not in content(tmp_path / "line") and "${TOKEN}" in content(tmp_path / "line")
    assert content(tmp_path / "said") == "secret secret\n"


LOCALE_C = """
import sys
sys.path[:0] = {path!r}
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._machine.doing import Doing
name = chr(0xfc) + chr(0x4e2d)
words = ["sh", "-c", 'echo "$1 $GREETING" > log', "sh", name]
progress = Doing("command", sys.argv[1]).did(
    do=words, environment={{"GREETING": name}}, chdir=sys.argv[1] + "/" + name, creates=name
)
print(ascii(tuple(progress)))
"""


def test_letters_that_the_locale_does_not_have(tmp_path):
    """A connection without a language, as sudo leaves it: the locale C, which Python 3.6 takes for ASCII."""
    name = "\u00fc\u4e2d"
    (tmp_path / name).mkdir()
    code = LOCALE_C.format(path=[path for path in sys.path if path])
    environment = dict(os.environ, LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    said = subprocess.check_output([sys.executable, "-c", code, str(tmp_path)], env=environment)
    assert said.decode() == "('done', '')\n"
    assert (tmp_path / name / "log").read_bytes().decode("utf-8") == f"{name} {name}\n"


@pytest.mark.parametrize("direction, there, runs", [("do", False, True), ("do", True, False), ("undo", True, True)])
def test_creates(doing, tmp_path, direction, there, runs):
    if there:
        (tmp_path / "app.drained").write_text("")
    command = script("touch $1", tmp_path / "log")
    progress = doing.did(direction, do=command, undo=command, creates=str(tmp_path / "app.*"))
    assert progress == Progress(DONE, "" if runs else f"skipped, since {tmp_path}/app.* exists")
    assert (tmp_path / "log").exists() is runs


def test_there_is_nothing_to_undo_where_nothing_was_created(doing, tmp_path):
    progress = doing.did("undo", do=["true"], undo=["false"], creates="drained", chdir=str(tmp_path))
    assert progress == Progress(DONE, "skipped, since drained does not exist")


def test_a_secret_one_says_nothing(doing, tmp_path):
    command = script("echo secret; echo secret >&2; exit 4")
    assert doing.did(do=command, no_log=True) == Progress(FAILED, "it failed with 4; its words are kept back (no_log)")
    gone = doing.did(do=["/secret"], no_log=True)
    assert gone == Progress(FAILED, "it failed; its words are kept back (no_log)")
    (tmp_path / "secret").write_text("")
    assert doing.did(do=["true"], creates=str(tmp_path / "secret"), no_log=True) == Progress(DONE)


def test_its_limit(doing):
    """As long as the step may take, or less where less is left."""
    (step,) = [doing.step(do=["sleep", "60"], undo=["sleep", "60"])]
    for direction, limits, words in (
        ("do", {"timeout": 0.5}, "it did not end within its 0.5 s"),
        ("undo", {"undo_timeout": 0.5}, "it did not end within its 0.5 s"),
        ("do", {"timeout": 2.0}, "it did not end within the 0.5 s that were left for it"),
    ):
        step_run = doing.step_run(dict(step, **limits), direction, limit=0.5)
        doing.hand.begin(step_run)
        assert doing.end_of(step_run) == Progress(FAILED, words)


def test_one_that_goes_on_is_pending_and_begun_once(doing, tmp_path):
    step_run = doing.begun(do=script("echo x >> $1; sleep 60", tmp_path / "log"))
    until(lambda: content(tmp_path / "log"))
    assert doing.hand.begin(step_run) == Progress(PENDING)
    assert doing.hand.stop(step_run).state in (PENDING, FAILED)
    assert doing.end_of(step_run) == Progress(FAILED, "it was ended before it was over")
    assert content(tmp_path / "log") == "x\n"


def test_one_that_ended_in_time_is_done_when_it_is_stopped(doing):
    step_run = doing.begun(do=["true"])
    doing.end_of(step_run)
    assert doing.hand.stop(step_run) == Progress(DONE)


def test_one_that_was_never_begun(doing):
    step_run = doing.step_run(doing.step(do=["true"]))
    assert doing.hand.check(step_run) == doing.hand.stop(step_run) == Progress(ABSENT)


def test_one_that_was_cut_off_by_a_reboot(doing, tmp_path):
    step_run = doing.begun(do=["sleep", "60"])
    after = job_runner.JobRunner(jobs_in(tmp_path, "next boot")).check(step_run)
    assert after.state == FAILED and "it was interrupted: the machine was rebooted" in after.note
    doing.hand.stop(step_run)
    doing.end_of(step_run)


def test_a_machine_without_room_for_its_job(doing, tmp_path):
    (tmp_path / "jobs").write_text("")
    progress = doing.did(do=["true"])
    assert progress.state == FAILED and progress.note.startswith("the folder of the job can't be made")


# As whom


def test_without_become_it_runs_as_the_program_does(doing, tmp_path):
    doing.did(do=script("id -u > $1", tmp_path / "log"))
    assert content(tmp_path / "log") == f"{os.geteuid()}\n"


def test_with_become_false_it_runs_as_the_user_of_the_connection(tmp_path):
    doing = Doing("command", tmp_path, user="nobody")
    progress = doing.did(do=script('[ "$(id -un)" = nobody ]'), become=False)
    if os.geteuid() == 0:
        assert progress == Progress(DONE)
    else:
        assert progress.state == FAILED and "only root can run it as user nobody" in progress.note


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize(
    "login, sudo, user",
    [("65534", "", "nobody"), ("4294967295", "nobody", "nobody"), ("0", "nobody", "root"), ("4294967295", "", None)],
)
def test_with_become_false_it_does_not_run_as_root_because_nobody_says_who_connects(
    doing, tmp_path, monkeypatch, login, sudo, user
):
    (tmp_path / "loginuid").write_text(login)
    monkeypatch.setattr(posix, "LOGIN_UID", str(tmp_path / "loginuid"))
    monkeypatch.setenv("SUDO_USER", sudo)
    progress = doing.did(do=script('[ "$(id -un)" = $1 ]', user or "root"), become=False)
    if user:
        assert progress == Progress(DONE)
    else:
        assert progress.state == FAILED and progress.note.endswith("is not known here: set ansible_user")


def test_with_become_it_needs_root(doing, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    progress = doing.did(do=["true"], become=True)
    assert progress.state == FAILED and progress.note.startswith("the step has become: true, and Ansible runs this as")
    assert doing.jobs.poll("job1").state == "absent"
    monkeypatch.undo()
    if os.geteuid() == 0:
        assert doing.did(do=["true"], become=True, timeout=LONG) == Progress(DONE)


@pytest.mark.parametrize(
    "options, lacks",
    [
        ({"do": ["sh", "-c", "true"], "undo": "ls"}, ""),
        ({"do": "nosuchprogram --now"}, "this machine has no program nosuchprogram"),
        ({"do": "ls", "undo": ["/opt/nosuch"]}, "this machine has no program /opt/nosuch"),
        ({"do": "./own", "chdir": "~"}, ""),
        ({"do": "$HOME/own"}, ""),
        ({"do": "./own", "chdir": "/"}, "this machine has no program ./own"),
        ({"do": "own", "environment": {"PATH": "/nowhere"}}, "this machine has no program own"),
        ({"do": "ls", "chdir": "/no/such/folder"}, "this machine has no folder /no/such/folder"),
    ],
)
def test_what_it_lacks_is_seen_by_a_look(doing, tmp_path, monkeypatch, options, lacks):
    (tmp_path / "own").write_text("#!/bin/sh\necho ran > ran\n")
    (tmp_path / "own").chmod(0o755)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert doing.hand.lacks(doing.step(**options)) == lacks
    assert not (tmp_path / "ran").exists() and not (tmp_path / "jobs").exists()


def test_it_lacks_who_it_is_to_run_as(doing, monkeypatch):
    monkeypatch.setattr(posix.os, "geteuid", lambda: 1000)
    assert doing.hand.lacks(doing.step(do="ls", become=True)).startswith("the step has become: true, and Ansible runs")


def held(doing, within=LONG, **options):
    """What of a step does not stand, by its check."""
    step = doing.step(do=["true"], **options)
    return COMMAND.holds(step, doing.hand.state(step, within))


def test_its_check_says_whether_what_was_done_still_stands(doing, tmp_path):
    out = tmp_path / "out of service"
    check = script('echo "$(pwd) $GREETING" >&2; test -e "$1"', out)
    environment = {"GREETING": "in service"}
    words = f"its check ended with exit code 1: {tmp_path} in service"
    assert held(doing, check=check, chdir=str(tmp_path), environment=environment) == words
    assert held(doing, check=check, no_log=True) == "its check ended with exit code 1"
    out.write_text("")
    assert held(doing, check=check) == ""
    assert os.listdir(doing.jobs.folder) == [], "nothing is left of looks"


def test_the_initial_state_is_not_asked_for_by_its_check(doing):
    assert doing.hand.before(doing.step(do=["true"], check=["/no/such"])) == {}


@pytest.mark.parametrize("secret, words", [(False, "/no/such: No such file or directory"), (True, "kept back")])
def test_a_check_that_can_not_be_run_says_nothing(doing, secret, words):
    with pytest.raises(RunnerFailed, match=f"its check gave no answer: .*{words}"):
        held(doing, check=["/no/such"], no_log=secret)
    assert doing.hand.lacks(doing.step(do=["true"], check=["/no/such"])) == "this machine has no program /no/such"


def test_a_check_that_does_not_end_says_nothing_and_is_ended(doing, tmp_path):
    with pytest.raises(RunnerFailed, match="its check gave no answer: it did not end within"):
        held(doing, within=1.0, check=script("echo $$ > $1; exec sleep 300", tmp_path / "pid"))
    pid = int(content(tmp_path / "pid"))
    until(lambda: is_gone(pid), "the end of the check")


@pytest.mark.parametrize("code, back", [(0, {}), (3, {"it": "step 1 (it): its check ended with exit code 3"})])
def test_the_second_look_goes_by_it(doing, code, back):
    step = dict(
        doing.step(do=["true"], check=script(f"exit {code}")), type="command", number=1, name="it", does="run it"
    )
    marked = {"key": "it", "type": "command", "state": DONE, "before": {}}
    asking = Deadline(Clock(), LONG)
    assert look([marked], {"it": step}, lambda step: doing.hand, asking, (), {}, {}).back == back
