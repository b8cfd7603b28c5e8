# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The sender as a process of its own, over loopback: what it sends, in which order, after which answers; and killed at any instant."""

import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine import files
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.engine.interface import Say
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.reports.last_try import read_last_try
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.reports.report import report_of
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.reports.report_daemon import (
    NEEDED,
    signature,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.reports.report_queue import (
    ReportQueue,
    waiting,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.settings.destinations import (
    NOTIFY,
    Destination,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.settings.settings import (
    SettingsError,
    SettingsFile,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.receiver import Receiver
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.saying import (
    IDENTITY,
    MACHINE,
    MOMENT,
    a_report,
)

ROOT = pathlib.Path(__file__).resolve().parents[8]
RUN = (
    "import sys; from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.commands.cli import main; "
    "sys.exit(main('0.2.0', sys.argv[1:]))"
)
SECRET = "s3cret-0f-nobody"


class Machine:
    """A state folder, settings, and senders that run on them."""

    def __init__(self, folder):
        self.folder = folder / "state"
        self.settings = folder / "watcher.json"
        self.log = folder / "log"
        self.hooks = folder / "hooks"
        (self.hooks / "notify.d").mkdir(parents=True)
        self.secret = folder / "eda"
        self.secret.write_text(SECRET + "\n", encoding="ascii")
        self.secret.chmod(0o600)
        self.processes = []

    def set(self, *urls, **more):
        reports = [{"url": url, "secret_file": str(self.secret)} for url in urls]
        found = {"format": 1, "folder": str(self.folder), "hooks_folder": str(self.hooks), "reports": reports}
        files.replace(str(self.settings), dict(found, **more))
        keys = {Destination(url).key: url for url in urls}
        keys[NOTIFY] = "hooks"

        def dropped(words, count, why):
            return report_of(Say("reports_dropped", why, details={"count": count}), IDENTITY, MOMENT, MACHINE)

        self.spool = ReportQueue(str(self.folder), keys, 10**8, dropped)
        return self

    def say(self, count, begin=0):
        reports = [a_report(message=str(number), uptime=float(number)) for number in range(begin, begin + count)]
        for report in reports:
            self.spool.add(report)
        return [report["id"] for report in reports]

    def start(self, **environment):
        with open(str(self.log), "ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-c", RUN, "send", "--settings", str(self.settings)],
                env=dict(os.environ, PYTHONPATH=str(ROOT), **environment),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        self.processes.append(process)
        return process

    def logged(self):
        return self.log.read_text(encoding="utf-8") if self.log.exists() else ""

    def left(self, key):
        return len(waiting(str(self.folder / "spool" / key)))

    def end(self):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()


@pytest.fixture
def machine(tmp_path):
    made = Machine(tmp_path)
    yield made
    made.end()


def until(true, seconds=120.0):
    """Wait for what must come."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.02)


def test_signed_and_in_order(machine):
    with Receiver() as receiver:
        ids = machine.set(receiver.url).say(5)
        machine.start()
        until(lambda: len(receiver.requests) == 5 and not machine.left(Destination(receiver.url).key))
        ids += machine.say(2, 5)  # while it runs
        until(lambda: len(receiver.requests) == 7)
    assert receiver.ids() == ids
    for headers, body, path in receiver.requests:
        assert path == "/hook"
        assert headers["X-Hub-Signature-256"] == signature(body, SECRET.encode("ascii"))
        assert headers["Idempotency-Key"] == json.loads(body.decode("ascii"))["id"]
        assert headers["Content-Type"] == "application/json"
        assert headers["User-Agent"] == "azure-maintenance/0.2.0"
    assert read_last_try(str(machine.folder / "spool" / Destination(receiver.url).key)).words == "HTTP 200 OK"


def test_it_ends_when_it_is_asked_to(machine):
    with Receiver() as receiver:
        machine.set(receiver.url).say(1)
        process = machine.start()
        until(lambda: receiver.requests)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    assert machine.logged() == ""


def drops(handler):
    """No answer, as if the server had died."""


def test_sent_again_until_it_is_taken(machine):
    with Receiver(500, 429, drops, 200, 422, 200) as receiver:
        ids = machine.set(receiver.url).say(3)
        machine.start()
        until(lambda: len(receiver.requests) == 6)
    assert receiver.ids() == [ids[0]] * 4 + ids[1:]
    log = machine.logged()
    assert f"http://127.0.0.1:{receiver.port}/...: HTTP 500 Internal Server Error; 3 reports wait" in log
    assert "reports are taken again; 2 more wait" in log
    assert "is given up: HTTP 422 " in log


def test_who_hangs_holds_up_no_other(machine):
    with Receiver(otherwise=lambda handler: time.sleep(15)) as hangs, Receiver() as receiver:
        ids = machine.set(hangs.url, receiver.url).say(3)
        machine.start()
        until(lambda: len(receiver.requests) == 3)
        assert receiver.ids() == ids and len(hangs.requests) == 1


def test_the_secret_is_nowhere(machine):
    with Receiver(500, otherwise=401) as receiver:
        url = receiver.url.replace("//", "//me:pa55word@") + "?sig=T0KEN"
        machine.set(url).say(2)
        process = machine.start()
        until(lambda: len(receiver.requests) == 3)
        seen = [pathlib.Path(f"/proc/{process.pid}/{name}").read_bytes() for name in ("cmdline", "environ")]
    until(lambda: "HTTP 401" in machine.logged())
    machine.end()
    seen += [machine.log.read_bytes()]
    seen += [path.read_bytes() for path in machine.folder.rglob("*") if path.is_file()]
    assert len(seen) > 3 and b"401" in seen[2]
    for place in seen:
        for secret in (SECRET, "T0KEN", "pa55word"):
            assert secret.encode("ascii") not in place
    names = [str(path) for path in machine.folder.rglob("*")]
    assert not any("T0KEN" in name for name in names)


def test_the_secret_is_read_when_it_is_used(machine):
    with Receiver() as receiver:
        machine.secret.chmod(0o644)
        machine.set(receiver.url).say(1)
        machine.start()
        until(lambda: "others may read or change the secret file" in machine.logged())
        assert receiver.requests == []  # never unsigned
        machine.secret.write_text("another", encoding="ascii")
        machine.secret.chmod(0o600)
        until(lambda: receiver.requests)
        headers, body, _path = receiver.requests[0]
        assert headers["X-Hub-Signature-256"] == signature(body, b"another")


class Guarded(Receiver):
    """Takes what is signed with its secret, and refuses the rest."""

    def __init__(self, secret):
        super().__init__(otherwise=self.answer)
        self.secret, self.taken, self.refused = secret, [], 0

    def answer(self, handler):
        headers, body, _path = self.requests[-1]  # who sends waits for the answer: there is one at a time
        is_ours = headers["X-Hub-Signature-256"] == signature(body, self.secret)
        if is_ours:
            self.taken.append(json.loads(body.decode("ascii"))["id"])
        self.refused += not is_ours
        handler.send_response(200 if is_ours else 401)
        handler.send_header("Content-Length", "0")
        handler.end_headers()
        if len(self.taken) == 300:
            self.secret = b"rotated"


def test_a_secret_that_is_rotated_under_load_loses_no_report(machine):
    with Guarded(SECRET.encode("ascii")) as guarded, Receiver() as other:
        ids = machine.set(guarded.url, other.url).say(100)
        machine.start()
        ids += machine.say(900, 100)
        until(lambda: guarded.refused)
        until(lambda: len(other.requests) > 600)  # who takes them is not held up
        assert guarded.taken == ids[:300]
        rotated = machine.secret.with_name("new")
        rotated.write_text("rotated", encoding="ascii")
        rotated.chmod(0o600)
        os.replace(str(rotated), str(machine.secret))
        until(lambda: len(guarded.taken) == 1000 and len(other.requests) == 1000)
        until(lambda: not machine.left(Destination(guarded.url).key) and not machine.left(Destination(other.url).key))
    assert guarded.taken == ids and other.ids() == ids
    assert "given up" not in machine.logged()


def test_a_credential_of_systemd(machine, tmp_path):
    (tmp_path / "credentials").mkdir()
    (tmp_path / "credentials" / "eda").write_text("credential", encoding="ascii")
    (tmp_path / "credentials" / "eda").chmod(0o400)
    machine.secret.unlink()
    with Receiver() as receiver:
        machine.set(receiver.url).say(1)
        machine.start(CREDENTIALS_DIRECTORY=str(tmp_path / "credentials"))
        until(lambda: receiver.requests)
    headers, body, _path = receiver.requests[0]
    assert headers["X-Hub-Signature-256"] == signature(body, b"credential")


def test_settings_that_change_are_followed(machine):
    with Receiver() as old, Receiver() as new:
        machine.set(old.url).say(1)
        machine.start()
        until(lambda: old.requests)
        machine.settings.write_text("{broken", encoding="ascii")
        until(lambda: "The settings before are kept" in machine.logged())
        machine.say(1, 1)
        until(lambda: len(old.requests) == 2)
        gone = Destination(old.url).key
        (machine.folder / "spool" / gone / "x").write_text("", encoding="ascii")
        ids = machine.set(new.url).say(1, 2)
        until(lambda: new.ids() == ids)
        until(lambda: not (machine.folder / "spool" / gone).exists())
    assert "the settings name no such destination any more" in machine.logged()


def test_two_at_once_are_refused(machine):
    with Receiver() as receiver:
        machine.set(receiver.url).say(1)
        machine.start()
        until(lambda: receiver.requests)
        assert machine.start().wait(60) == 1
    assert "another process sends the reports" in machine.logged()


def test_hooks_are_run_beside(machine, tmp_path):
    hook = machine.hooks / "notify.d" / "10-a"
    hook.write_text(f'#!/bin/sh\necho "$AZURE_MAINTENANCE_HAPPENED" >> {tmp_path}/out\n', encoding="ascii")
    hook.chmod(0o755)
    refused = machine.hooks / "notify.d" / "20-b"
    refused.write_text(f"#!/bin/sh\necho refused >> {tmp_path}/out\n", encoding="ascii")
    refused.chmod(0o777)
    with Receiver() as receiver:
        machine.set(receiver.url).say(3)
        machine.start()
        until(lambda: len(receiver.requests) == 3 and not machine.left(NOTIFY))
    assert (tmp_path / "out").read_text(encoding="ascii") == "scheduled\n" * 3
    assert machine.logged().count("hook notify.d/20-b is not run") == 1


@pytest.mark.parametrize("seed", range(3))
def test_killed_at_any_instant_it_sends_each_at_least_once_and_in_order(machine, seed):
    chance = random.Random(seed)
    with Receiver() as receiver:
        ids = machine.set(receiver.url).say(100)
        key = Destination(receiver.url).key
        for _life in range(200):
            process = machine.start()
            sent = len(receiver.requests)
            # It takes its time to start; then it is killed within its first few reports.
            until(lambda sent=sent: len(receiver.requests) > sent or not machine.left(key))
            time.sleep(chance.random() * 0.01)
            process.kill()
            process.wait()
            if not machine.left(key):
                break
        got = receiver.ids()
    first = sorted(set(got), key=got.index)
    assert first == ids
    # Only what was under way when it was killed comes twice, and right then.
    assert [one for one, before in zip(got, [None] + got) if one != before] == ids
    assert len(machine.processes) > 4


def test_what_is_wrong_with_its_settings(tmp_path):
    path = tmp_path / "watcher.json"

    def found():
        return SettingsFile(str(path), NEEDED).current

    with pytest.raises(SettingsError, match="can't be read: No such file"):
        found()
    for content, words in [
        ("{", "this is no JSON"),
        ("[]", "must be an object"),
        ('{"reports": [{"url": "x"}]}', r"line 1: reports\[1\].url can't be used"),
        ('{"hooks": {"notify.d/a": 1}}', "hooks.notify.d/a must be an object"),
        ('{"folder": "x"}', "folder must be a whole path"),
    ]:
        path.write_text(content, encoding="ascii")
        path.chmod(0o600)
        with pytest.raises(SettingsError, match=words):
            found()
    path.write_text('{"mode": "x", "steps": 1, "aprove": 2}', encoding="ascii")
    assert found().folder == "/var/lib/azure-maintenance", "what is not the sender's is no business of it"
    path.chmod(0o666)
    with pytest.raises(SettingsError, match="everybody may write it"):
        found()
