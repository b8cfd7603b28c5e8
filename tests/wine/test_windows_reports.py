# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reports of a Windows machine: the sender as a service beside the watcher's, with a receiver and notify hooks, over a whole event; and how
notify hooks end.

Wine knows no virtual accounts and makes access lists up: that the sender's account reads no more than it needs is not shown here.
"""

import json
import sys
import threading

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._clock import Clock
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine import trust
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.platform import native
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.windows import kernel
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.windows.platform import start_of
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.reports.notify_hooks import (
    NotifyHooks,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.reports.report import line_of
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.reports.report_daemon import (
    ID_HEADER,
    SIGNATURE_HEADER,
    signature,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.reports.report_queue import (
    TAKEN,
    waiting,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.settings.hooks import HooksFound
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._machine.doing import (
    LONG,
    LimitClock,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.receiver import Receiver
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.saying import a_report
from ansible_collections.cloudops.azure_maintenance.tests.wine.hooking import content, until
from ansible_collections.cloudops.azure_maintenance.tests.wine.installed import Machine, Service, build, next_name

NAME = "azure-maintenance-reports"
SECRET = "s3cret-0f-nobody"


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return build(tmp_path_factory.mktemp("program"))


def happened(receiver):
    return [json.loads(body)["happened"] for _headers, body, _path in receiver.requests]


def test_over_a_whole_event_each_report_is_sent_once_signed_and_given_to_the_hooks(program, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text(SECRET + "\n")
    with native._descriptor("D:PAI(A;;FA;;;SY)(A;;FA;;;BA)") as descriptor:
        kernel.did("SetFileSecurityW", str(secret), 0x80000004, descriptor)  # its list, and nothing inherited
    assert trust.secret_objection(str(secret)) == ""
    with Receiver((503, {"Retry-After": "1"})) as receiver:
        reports = [{"url": receiver.url, "secret_file": str(secret)}]
        machine = Machine(tmp_path, program, next_name(), reports=reports, labels={"site": "west"})
        sender = Service(NAME, program, "send", "--settings", machine.settings)
        hook = tmp_path / "hooks" / "notify.d" / "10-chat.cmd"
        hook.write_text(f'@echo %AZURE_MAINTENANCE_HAPPENED%>>"{tmp_path / "chat"}"\r\n@exit /b 3\r\n')
        try:
            machine.hook("prepare")
            machine.start()
            sender.start()
            until(sender.runs, "its start")
            event = machine.world.event(notice=300, tail=600)
            until(lambda: "started" in machine.happened(), "its start")
            until(lambda: "started" in happened(receiver), "the report of that")
            machine.world.move(event, "complete")
            until(lambda: "recovered" in happened(receiver), "the last report")
            until(lambda: not any(map(waiting, map(str, (machine.state / "spool").iterdir()))), "the empty spool")
            headers, body, _path = receiver.requests[-1]
            report = json.loads(body)
            assert (report["watcher"], report["labels"]) == ("windows", {"site": "west"})
            assert report["machine"]["hostname"] == native.host_name()
            assert headers[SIGNATURE_HEADER] == signature(body, SECRET.encode("ascii"))
            assert headers[ID_HEADER] == report["id"]
            assert receiver.ids()[0] == receiver.ids()[1], "the first one was refused for a moment, and sent again"
            assert len(set(receiver.ids())) == len(receiver.ids()) - 1
            assert content(tmp_path / "chat").split() == machine.happened() == happened(receiver)[1:]
            words, code = machine.asked("report", "test")
            assert code == 0 and "accepted" in words
            assert json.loads(receiver.requests[-1][1])["watcher"] == "windows"
            sender.stop()
            assert sender.exit_code() == 0
        finally:
            sender.remove()
            machine.end()


def test_settings_that_are_not_there_end_it(program, tmp_path):
    sender = Service(NAME, program, "send", "--settings", tmp_path / "none.json")
    try:
        sender.start()
        until(lambda: not sender.has_process(), "its end")
        assert sender.exit_code() == 1
    finally:
        sender.remove()


def hook(key, path, limit=60.0, user=""):
    return {"key": key, "path": str(path), "timeout": limit, "user": user}


class Hooks:
    """Notify hooks, run as the sender runs them."""

    def __init__(self, folder):
        self.folder, self.hooks, self.logged, self.clock = folder, [], [], Clock()
        (folder / "spool").mkdir()

    def add(self, name, text, **options):
        path = self.folder / name
        path.write_text(text)
        self.hooks.append(hook(f"notify.d/{name}", path, **options))

    def python(self, name, code, **options):
        """One that runs a program in Python."""
        (self.folder / f"{name}.py").write_text(code)
        self.add(f"{name}.cmd", f'@"{sys.executable}" "{self.folder / name}.py"\r\n', **options)

    def send(self, report=None):
        hooks = NotifyHooks(
            lambda kind: HooksFound(tuple(self.hooks), {}),
            str(self.folder / "spool"),
            str(self.folder),
            self.clock,
            lambda priority, words: self.logged.append(words),
        )
        return hooks.send(line_of(report or a_report()), "")


@pytest.fixture
def hooks(tmp_path):
    return Hooks(tmp_path)


def test_what_a_hook_gets(hooks, tmp_path):
    hooks.python(
        "10-a",
        f"""
import json, os, pathlib
found = {{name: value for name, value in os.environ.items() if name.startswith("AZURE_MAINTENANCE_")}}
found["report"] = json.loads(pathlib.Path(found["AZURE_MAINTENANCE_FILE"]).read_text())
pathlib.Path({str(tmp_path / "got")!r}).write_text(json.dumps(found))
""",
    )
    report = a_report()
    assert hooks.send(report).what == TAKEN and hooks.logged == []
    found = json.loads(content(tmp_path / "got"))
    assert found["report"] == report
    assert (found["AZURE_MAINTENANCE_PHASE"], found["AZURE_MAINTENANCE_TYPE"]) == ("notify", "Reboot")
    assert not content_of(found["AZURE_MAINTENANCE_FILE"]), "it is gone again"


def content_of(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def test_one_that_fails_and_one_that_can_not_be_run(hooks, tmp_path):
    hooks.add("10-a.cmd", "@echo it is so 1>&2\r\n@exit /b 3\r\n")
    hooks.add("20-b.exe", "no program")
    hooks.add("30-c.cmd", f'@echo c>"{tmp_path / "out"}"\r\n')
    hooks.add("40-d.cmd", "@rem\r\n", user="somebody")
    assert hooks.send().what == TAKEN
    assert hooks.logged[0] == "hook notify.d/10-a.cmd (scheduled): it ended with exit code 3: it is so"
    assert hooks.logged[1].startswith("hook notify.d/20-b.exe (scheduled): it can't be run: ")
    assert "as another user, such as somebody: leave user out" in hooks.logged[2]
    assert content(tmp_path / "out").split() == ["c"] and len(hooks.logged) == 3


WAITS = """
import os, pathlib, time
folder = pathlib.Path({folder!r})
folder.joinpath("name.new").write_text(os.environ["AZURE_MAINTENANCE_FILE"])
folder.joinpath("name.new").rename(folder / "name")
while not folder.joinpath("held").exists():
    time.sleep(0.05)
"""


def test_a_file_that_somebody_has_open_is_removed_as_soon_as_it_is_closed(hooks, tmp_path, refused):
    """A virus scanner, as a rule."""
    hooks.python("10-a", WAITS.format(folder=str(tmp_path)))

    def scan():
        with open(until(lambda: content(tmp_path / "name"), "the name of its file"), encoding="utf-8"):
            (tmp_path / "held").touch()
            refused.wait(LONG)

    thread = threading.Thread(target=scan)
    thread.start()
    assert hooks.send().what == TAKEN and hooks.logged == []
    thread.join()
    assert refused.is_set(), "nobody had it open"
    assert not content_of(content(tmp_path / "name"))


STARTS = """
import os, subprocess, sys, time
other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
with open({path!r} + ".new", "w") as file:
    file.write(str(other.pid))
os.rename({path!r} + ".new", {path!r})
print("last words", flush=True)
{then}
"""


@pytest.mark.parametrize(("then", "says"), [("time.sleep(600)", True), ("", False)])
def test_all_that_a_hook_has_started_ends_with_it(hooks, tmp_path, then, says):
    """At its limit, and when it has ended by itself."""
    hooks.python("10-a", STARTS.format(path=str(tmp_path / "pid"), then=then), limit=LONG)
    if says:
        hooks.clock = LimitClock(tmp_path / "pid")  # its limit has come when its process is there
    assert hooks.send().what == TAKEN
    assert start_of(int(until(lambda: content(tmp_path / "pid"), "the number of its process"))) is None
    words = f"hook notify.d/10-a.cmd (scheduled): it did not end within its {LONG} s, and was ended"
    assert [logged[: len(words)] for logged in hooks.logged] == ([words] if says else [])


def test_one_that_writes_without_end(hooks):
    hooks.python("10-a", "import sys\nprint('x' * 3000000)\nprint('the end')\nsys.exit(1)", limit=60.0)
    hooks.send()
    assert hooks.logged == ["hook notify.d/10-a.cmd (scheduled): it ended with exit code 1: the end"]


def test_many_leave_no_handle_behind(hooks):
    import ctypes

    def handles():
        found = ctypes.c_uint32()
        assert ctypes.windll.kernel32.GetProcessHandleCount(ctypes.c_void_p(-1), ctypes.byref(found))
        return found.value

    hooks.add("10-a.cmd", "@rem\r\n")
    hooks.send(a_report(uptime=1.0))
    before = handles()
    for number in range(8):
        hooks.send(a_report(uptime=2.0 + number))
    assert handles() < before + 8, "each run of a hook would leave its job object"
