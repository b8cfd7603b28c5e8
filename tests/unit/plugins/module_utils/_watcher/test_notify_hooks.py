# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The hooks in notify.d, as real programs: each begun once for a report, ended at its limit, given nothing of our environment."""

import json
import os
import pathlib
import shutil
import tempfile
import time

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._clock import Clock
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.reports.notify_hooks import (
    NotifyHooks,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.reports.report import line_of
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.reports.report_queue import (
    GIVEN_UP,
    REFUSED,
    TAKEN,
    Outcome,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.settings.hooks import HooksFound
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._machine.doing import (
    LONG,
    LimitClock,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.saying import (
    a_report,
    an_event,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.watching import until


def hook(key, path, limit=60.0, user=""):
    return {"key": key, "path": str(path), "timeout": limit, "user": user}


class Hooks:
    """Programs in a folder, and what is logged of them."""

    def __init__(self, folder):
        self.folder = folder
        self.spool = folder / "spool"
        self.spool.mkdir()
        (folder / "run").mkdir()
        self.hooks, self.refused, self.logged, self.asked = [], {}, [], []
        self.clock = Clock()

    def add(self, name, script, **options):
        path = self.folder / name
        path.write_text(f"#!/bin/sh\n{script}\n", encoding="ascii")
        path.chmod(0o755)
        self.hooks.append(hook(f"notify.d/{name}", path, **options))

    def send(self, report=None):
        def find(kind):
            self.asked.append(kind)
            return HooksFound(tuple(self.hooks), self.refused)

        def log(priority, words):
            self.logged.append(words)

        hooks = NotifyHooks(find, str(self.spool), str(self.folder / "run"), self.clock, log)
        return hooks.send(line_of(a_report() if report is None else report), "")

    def text(self, name):
        path = self.folder / name
        return path.read_text(encoding="utf-8") if path.exists() else ""


@pytest.fixture
def hooks(tmp_path):
    return Hooks(tmp_path)


def test_each_is_run_in_order(hooks, tmp_path):
    hooks.add("10-a", f"echo a >> {tmp_path}/out")
    hooks.add("20-b", f"echo b >> {tmp_path}/out")
    assert hooks.send() == Outcome(TAKEN, "2 hooks run")
    assert hooks.text("out") == "a\nb\n"
    assert hooks.logged == [] and hooks.asked == ["Reboot"]


def test_what_it_gets(hooks, tmp_path, monkeypatch):
    monkeypatch.setenv("A_SECRET", "s3cret")
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", "/run/credentials")
    hooks.add("10-a", f'env > {tmp_path}/env; cat "$AZURE_MAINTENANCE_FILE" > {tmp_path}/file; pwd > {tmp_path}/pwd')
    report = a_report()
    hooks.send(report)
    given = dict(line.split("=", 1) for line in hooks.text("env").splitlines())
    file = given.pop("AZURE_MAINTENANCE_FILE")
    assert os.path.dirname(file) == str(tmp_path / "run") and not os.path.exists(file)
    assert json.loads(hooks.text("file")) == report
    ours = {name[len("AZURE_MAINTENANCE_") :]: value for name, value in given.items() if name.startswith("AZURE_")}
    assert ours == {
        "PHASE": "notify",
        "HAPPENED": "scheduled",
        "MESSAGE": report["message"],
        "ID": an_event().event_id,
        "TYPE": "Reboot",
        "STATUS": "Scheduled",
        "SOURCE": "Platform",
        "RESOURCES": "web1,web2",
        "NAME": "web1",
        "NOT_BEFORE": "2026-01-01T00:15:00Z",
        "DURATION": "-1",
        "ATTEMPT": "1",
        "BUDGET": "60",
        "NOTES": "",
    }
    others = set(given) - {name for name in given if name.startswith("AZURE_")}
    assert others <= {"PATH", "LANG", "HOME", "USER", "LOGNAME", "PWD", "SHLVL", "_", "OLDPWD"}
    assert hooks.text("pwd") == "/\n"


def test_a_report_without_an_event(hooks, tmp_path):
    hooks.add("10-a", f'echo "$AZURE_MAINTENANCE_HAPPENED:$AZURE_MAINTENANCE_ID" > {tmp_path}/out')
    hooks.send(a_report("imds_unreachable", event=None))
    assert hooks.text("out") == "imds_unreachable:\n" and hooks.asked == [""]


def test_one_that_fails_keeps_no_other_from_running(hooks, tmp_path):
    hooks.add("10-a", "echo first; echo it is so >&2; exit 3")
    hooks.add("20-b", "kill -9 $$")
    hooks.add("30-c", f"echo c > {tmp_path}/out")
    assert hooks.send().what == TAKEN
    assert hooks.logged == [
        "hook notify.d/10-a (scheduled): it ended with exit code 3: it is so",
        "hook notify.d/20-b (scheduled): it was ended by signal 9",
    ]
    assert hooks.text("out") == "c\n"


def test_a_report_that_no_hook_may_get_waits(hooks, tmp_path):
    hooks.refused = {"notify.d/10-a": "nobody may run it"}
    assert hooks.send() == Outcome(REFUSED, "hook notify.d/10-a is not run: nobody may run it")
    hooks.add("20-b", f"echo b >> {tmp_path}/out")
    assert hooks.send().what == TAKEN and hooks.text("out") == "b\n"
    assert hooks.logged == ["hook notify.d/10-a is not run: nobody may run it"]


def test_one_that_removes_its_own_file_holds_nothing_up(hooks, tmp_path):
    hooks.add("10-a", f'rm "$AZURE_MAINTENANCE_FILE"; echo a >> {tmp_path}/out')
    hooks.add("20-b", f"echo b >> {tmp_path}/out")
    assert hooks.send().what == TAKEN
    assert hooks.text("out") == "a\nb\n" and hooks.logged == []


def test_a_file_that_can_not_be_removed_is_logged_with_its_hook(hooks, tmp_path):
    """A folder is in its place, which stands for what keeps a file from being removed."""
    hooks.add(
        "10-a", f'rm "$AZURE_MAINTENANCE_FILE"; mkdir "$AZURE_MAINTENANCE_FILE"; echo a >> {tmp_path}/out; exit 3'
    )
    hooks.add("20-b", f"echo b >> {tmp_path}/out")
    assert hooks.send().what == TAKEN
    (left,) = (tmp_path / "run").iterdir()
    assert hooks.text("out") == "a\nb\n"
    assert hooks.logged == [
        f"hook notify.d/10-a: its file {left} can't be removed: Is a directory",
        "hook notify.d/10-a (scheduled): it ended with exit code 3",
    ]


def test_each_is_begun_once_for_a_report(hooks, tmp_path):
    hooks.add("10-a", f"echo a >> {tmp_path}/out; exit 75")
    hooks.add("20-b", f"echo b >> {tmp_path}/out")
    hooks.send()
    hooks.send()
    assert hooks.text("out") == "a\nb\n"
    hooks.send(a_report("started"))
    assert hooks.text("out") == "a\nb\na\nb\n"


def test_after_the_sender_was_killed_in_the_middle_it_goes_on_with_the_next(hooks, tmp_path):
    hooks.add("10-a", f"echo a >> {tmp_path}/out; kill -9 $PPID")
    hooks.add("20-b", f"echo b >> {tmp_path}/out")
    pid = os.fork()
    if not pid:
        hooks.send()
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 9
    until(lambda: hooks.text("out"))
    (tmp_path / "run" / "azure-maintenance-of-somebody-else.json").touch()
    assert len(list((tmp_path / "run").iterdir())) == 2, "it could not remove its file"
    hooks.send()
    assert hooks.text("out") == "a\nb\n"
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["azure-maintenance-of-somebody-else.json"]


def test_one_that_hangs_is_ended_with_all_that_it_started(hooks, tmp_path):
    script = "trap '' TERM; (sleep 600; echo late > {0}/out) & echo $! > {0}/pid; touch {0}/ready; wait"
    hooks.add("10-a", script.format(tmp_path), limit=LONG)
    hooks.clock = LimitClock(tmp_path / "ready")
    hooks.send()
    assert hooks.logged == [f"hook notify.d/10-a (scheduled): it did not end within its {LONG} s, and was ended"]
    until(lambda: not _runs(int(hooks.text("pid"))))


def _runs(pid):
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


def test_a_daemon_that_it_leaves_holds_up_nobody(hooks, tmp_path):
    hooks.add("10-a", f"sleep 600 & echo $! > {tmp_path}/pid", limit=500)
    began = time.monotonic()
    hooks.send()
    assert time.monotonic() - began < 300
    assert _runs(int(hooks.text("pid")))
    os.kill(int(hooks.text("pid")), 9)
    assert hooks.logged == []


def test_one_that_writes_without_end(hooks):
    hooks.add("10-a", "head -c 10000000 /dev/zero | tr '\\0' x; echo; printf 'the\\033[31m end\\n'; exit 1", limit=30)
    hooks.send()
    assert hooks.logged == ["hook notify.d/10-a (scheduled): it ended with exit code 1: the [31m end"]


def test_one_that_closes_what_it_writes_to(hooks, tmp_path):
    hooks.add("10-a", f"exec >&- 2>&-; sleep 0.3; echo done > {tmp_path}/out")
    hooks.send()
    assert hooks.text("out") == "done\n" and hooks.logged == []


def test_what_can_not_be_run(hooks):
    hooks.add("10-a", "true", user="nobody-of-this-name")
    hooks.hooks.append(hook("notify.d/20-b", hooks.folder / "none"))
    (hooks.folder / "30-c").write_text("no program", encoding="ascii")
    (hooks.folder / "30-c").chmod(0o755)
    hooks.hooks.append(hook("notify.d/30-c", hooks.folder / "30-c"))
    hooks.send()
    beginnings = [
        "hook notify.d/10-a (scheduled): this machine has no user nobody-of-this-name",
        "hook notify.d/20-b (scheduled): it can't be run: No such file or directory",
        "hook notify.d/30-c (scheduled): it can't be run: Exec format error",
    ]
    assert [words[: len(begin)] for words, begin in zip(hooks.logged, beginnings)] == beginnings
    assert list((hooks.folder / "run").iterdir()) == []


@pytest.fixture
def open_folder():
    """A folder that other users can come to, unlike those of pytest."""
    folder = pathlib.Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(str(folder))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_user(open_folder):
    hooks = Hooks(open_folder)
    (open_folder / "run").chmod(0o755)
    (open_folder / "theirs").mkdir()
    (open_folder / "theirs").chmod(0o777)
    theirs = open_folder / "theirs"
    hooks.add("10-a", f'id -un > {theirs}/out; cat "$AZURE_MAINTENANCE_FILE" > {theirs}/file', user="nobody")
    hooks.send()
    assert hooks.logged == []
    assert hooks.text("theirs/out") == "nobody\n"
    assert json.loads(hooks.text("theirs/file"))["happened"] == "scheduled"


def test_one_that_is_refused_is_said_once(hooks):
    hooks.refused = {"notify.d/10-a": "everybody can write it"}
    hooks.add("20-b", "true")
    found = NotifyHooks(
        lambda kind: HooksFound(tuple(hooks.hooks), hooks.refused),
        str(hooks.spool),
        "/none",
        Clock(),
        lambda p, w: hooks.logged.append(w),
    )
    for _time in range(3):
        assert found.send(line_of(a_report()), "").what == TAKEN
    assert hooks.logged == ["hook notify.d/10-a is not run: everybody can write it"]


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"id": "1", "event": []}', b"\xff"])
def test_what_is_no_report(hooks, body):
    found = NotifyHooks(lambda kind: HooksFound((), {}), str(hooks.spool), "/none", Clock(), lambda p, w: None)
    assert found.send(body, "").what in (GIVEN_UP, TAKEN)
    assert body == b'{"id": "1", "event": []}' or found.send(body, "").what == GIVEN_UP


def test_what_can_not_be_noted_is_not_begun(hooks, tmp_path):
    hooks.add("10-a", f"echo a > {tmp_path}/out")
    hooks.spool.rmdir()
    outcome = hooks.send()
    assert outcome.what == GIVEN_UP and "can't be written" in outcome.words
    assert hooks.text("out") == ""
