# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The command: readable at any hour, whatever is there, and orders that the service takes or that are undone."""

import json
import os
import re
import stat
import sys
import threading
import time

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._clock import Clock, Moment, iso_utc
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._imds.client import Client
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine import files
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.mark import first_mark
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.platform import native
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.commands import (
    cli,
    command_client,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.commands.cli import COMMANDS, main
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.commands.status import (
    lives,
    unix_time,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.reports.reporter import History
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.service.command_queue import (
    CommandQueue,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.service.state_files import (
    InstanceLock,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.service.status_file import StatusFile
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.settings.destinations import (
    Destination,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.saying import a_report

URL = "https://eda.example.com/T0KEN"
FINE, WRONG, USAGE, NO_ANSWER, NOT_ROOT = range(5)


class Machine:
    """A state folder and settings; calls the command on them."""

    def __init__(self, folder, capfd):
        self.folder = folder / "state"
        self.hooks = folder / "hooks"
        self.settings = folder / "watcher.json"
        self.capfd = capfd
        self.set(reports=[{"url": URL}])

    def set(self, **more):
        found = {"format": 1, "folder": str(self.folder), "hooks_folder": str(self.hooks)}
        files.replace(str(self.settings), dict(found, **more))

    def state(self, **published):
        """A watcher that runs: this process, as far as anybody can tell."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        about = dict(version="0.2.0", pid=os.getpid(), start=native.start_of(os.getpid()), since="2026-01-01T00:00:00Z")
        about.update(mode="manage", approve="own", name="web1", looking=True, looked_at=iso_utc(time.time()), shown=[])
        about.update(problems=[], orders=[])
        StatusFile(str(self.folder), Clock()).publish(dict(about, **published))
        return self

    def mark(self, phase="prepared", kind="watcher", **step):
        self.folder.mkdir(mode=0o700, exist_ok=True)
        one = {"key": "prepare.d/10-app", "type": "prepare_hook", "does": "run prepare.d/10-app", "undoes": ""}
        call = {"options": {"run": kind, "number": 1, "holder": {"kind": kind}}, "steps": [one]}
        mark = first_mark(call, ["E1"], 60.0, {}, Moment(time.time() - 735, 0.0, "b"))
        mark["phase"] = phase
        mark["steps"][0].update(dict({"state": "done"}, **step))
        files.replace(str(self.folder / "mark.json"), mark)
        return self

    def call(self, *arguments, **environment):
        command, rest = arguments[0], arguments[1:]
        code = main("0.2.0", [command, "--settings", str(self.settings), *rest], environment)
        self.out, self.err = self.capfd.readouterr()
        for line in self.out.splitlines() + self.err.splitlines():
            assert line.isprintable()
            # What is for programs, what argparse says, and escapes of letters that a terminal lacks are as long as they are.
            assert len(line) <= 80 or "--json" in arguments or code == USAGE or "\\x" in line, line
        return code


def an_event(event_id, **more):
    about = {"id": event_id, "type": "Reboot", "status": "Scheduled", "resources": ["web1"]}
    return dict(about, **{"not_before": "2026-01-01T00:15:00Z", "waits": "", **more})


@pytest.fixture
def machine(tmp_path, capfd, monkeypatch):
    monkeypatch.setattr(cli, "_user_number", lambda: 0)
    return Machine(tmp_path, capfd)


# --- what it looks like ---


def test_every_command_explains_itself(machine, capfd):
    assert main("0.2.0", ["--help"], {}) == FINE
    words = capfd.readouterr()[0]
    assert all(f"    {name}" in words for name in COMMANDS)
    assert "4 only root may do that" in " ".join(words.split())
    for name in COMMANDS:
        assert main("0.2.0", [name, "--help"], {}) == FINE
        assert capfd.readouterr()[0].startswith(f"usage: azure-maintenance {name}")


@pytest.mark.parametrize(
    "arguments", [[], ["statsu"], ["hold"], ["approve"], ["hooks", "list", "drain"], ["history", "-n", "x"]]
)
def test_wrong_usage(arguments, capfd):
    assert main("0.2.0", arguments, {}) == USAGE
    assert "usage: azure-maintenance" in capfd.readouterr()[1]


def test_version(machine):
    assert machine.call("version") == FINE
    assert machine.out == "0.2.0\n"


def test_the_settings_may_be_named_in_the_environment(machine, capfd):
    machine.state()
    assert main("0.2.0", ["status"], {"AZURE_MAINTENANCE_SETTINGS": str(machine.settings)}) == FINE
    assert "running" in capfd.readouterr()[0]


def test_where_its_settings_are_gone_the_launcher_says_where_it_is(machine):
    machine.state()
    (machine.hooks / "prepare.d").mkdir(parents=True)
    hook = machine.hooks / "prepare.d" / "10-app"
    hook.write_text("#!/bin/sh\n", encoding="ascii")
    hook.chmod(0o755)
    machine.settings.unlink()
    known = {"AZURE_MAINTENANCE_FOLDER": str(machine.folder), "AZURE_MAINTENANCE_HOOKS_FOLDER": str(machine.hooks)}
    machine.call("status", **known)
    assert "running" in machine.out and "NO STATUS" not in machine.out
    machine.call("hooks", "list", "prepare", **known)
    assert "prepare.d/10-app" in machine.out


def test_a_terminal_without_letters(machine, monkeypatch):
    machine.state(name="web\xe4")

    class Old:
        encoding = "ascii"
        fileno = sys.stdout.fileno

    monkeypatch.setattr(sys, "stdout", Old)
    assert machine.call("status") == FINE
    assert "web\\xe4;" in machine.out


# --- status ---


def test_status_of_a_machine_in_service(machine):
    machine.state()
    assert machine.call("status") == FINE
    lines = machine.out.splitlines()
    assert lines[0].startswith("Watcher    running since 2026-01-01T00:00:00Z (")
    assert "polls its events" in " ".join(machine.out.split())
    assert "Machine    web1; the watcher prepares it and recovers it, and approves events" in lines
    assert "State      in service: no mark" in lines
    assert "Hold       none" in lines
    assert "Events     none in the document" in machine.out
    assert lines[-1] == "Reports    https://eda.example.com/...: nothing waits"


def test_status_of_a_machine_that_is_out(machine):
    machine.state(
        shown=[an_event("E1", status="Started", not_before=None, waits="it has started")], doing="prepared"
    ).mark()
    assert machine.call("status") == FINE
    assert "State      PREPARED by the watcher since " in machine.out
    assert "(12 min), for E1" in " ".join(machine.out.split())
    assert "           done: prepare.d/10-app\n           not verified: prepare.d/10-app\n" in machine.out
    assert "Events     Reboot E1 Started of this machine\n" in machine.out and "not approved" not in machine.out


def test_status_of_events_that_are_to_come(machine):
    others = an_event("E2", resources=["web2", "web3"], status="Started", not_before=None)
    later = an_event("E3", resources=["web1"], not_before="2999-01-01T00:15:00Z")
    machine.state(shown=[an_event("E1", resources=["WEB1"], waits="Reboot E2 of web2 is under way"), others, later])
    machine.call("status")
    words = " ".join(machine.out.split())
    assert re.search(
        r"Events Reboot E1 Scheduled of this machine, not before 2026-01-01T00:15:00Z \(\d+ d ago\)", words
    )
    assert "not before 2999-01-01T00:15:00Z (in " in words
    assert "not approved: Reboot E2 of web2 is under way Reboot E2 Started of web2, web3" in words


def test_status_of_entries_that_can_not_be_read(machine):
    machine.state(unreadable=[1], problems=["Entry 1 of the document (id E7) can't be read: it has no Resources."])
    machine.call("status")
    assert "Events     1 that CAN'T BE READ, see below\nProblem    Entry 1 of the document" in machine.out


def test_status_of_a_machine_that_was_put_back(machine):
    machine.state(shown=[an_event("E1"), an_event("E2")], put_back=["E2"])
    machine.call("status")
    assert machine.out.count("the machine was recovered by force despite it") == 1


def test_status_of_a_step_that_failed(machine):
    machine.state().mark(phase="half", kind="run", state="not_taken_back", note="exit\n\x1b[31m code 1")
    machine.call("status")
    assert "State      HALF by run run since" in machine.out
    assert "           NOT UNDONE: prepare.d/10-app (exit [31m code 1)\n" in machine.out


def test_status_where_none_has_ever_run(machine):
    assert machine.call("status") == WRONG
    assert "Watcher    NO STATUS in" in machine.out
    assert "Events     not known" in machine.out


def test_status_of_one_that_does_not_run(machine):
    machine.state(pid=0, problems=["It was blind."])
    assert machine.call("status") == WRONG
    assert "Watcher    NOT RUNNING (it was version 0.2.0" in machine.out
    assert "systemctl start azure-maintenance" in " ".join(machine.out.split())
    assert "imds_unreachable" not in machine.out


def test_status_of_one_that_hangs(machine):
    machine.state()
    path = machine.folder / "watcher.json"
    published = json.loads(path.read_text(encoding="ascii"))
    path.write_text(json.dumps(dict(published, at=iso_utc(time.time() - 90))), encoding="ascii")
    machine.call("status")
    assert "Watcher    HANGS" in machine.out


def test_status_of_one_that_sees_nothing(machine):
    machine.state(looking=False, problems=["The endpoint does not answer.", "x\x1by"])
    assert machine.call("status") == WRONG
    assert "CAN'T POLL its events" in " ".join(machine.out.split())
    assert "Problem    The endpoint does not answer.\n           x y\n" in machine.out


@pytest.mark.parametrize(
    "content, words",
    [
        (
            {"reason": "audit", "by": "root", "until": None},
            "APPROVALS ARE ON HOLD until it is released, by root: audit",
        ),
        ({"reason": "audit", "by": "root", "until": "2 h from now"}, "ON HOLD for another 2 h, by root: audit"),
        ({"reason": "audit", "by": "root", "until": 5}, "expired "),
        ([], "CAN'T BE READ, so nothing is approved"),
        (
            {"reason": "audit", "format": 2},
            "is of format 2, and this version reads format 1. Remove it: azure-maintenance release",
        ),
    ],
)
def test_status_of_a_hold(machine, content, words):
    if words.startswith("ON HOLD"):
        content = dict(content, until=time.time() + 7300)
    whole = dict({"format": 1}, **content) if content else content
    files.replace(str(machine.state().folder / "hold.json"), whole)
    machine.call("status")
    assert words in " ".join(machine.out.split())


def test_status_of_reports_that_wait(machine):
    place = machine.state().folder / "spool" / Destination(URL).key
    place.mkdir(parents=True)
    for number in range(3):
        files.replace(str(place / f"{number:012}.json"), a_report())
    os.utime(str(place / "000000000000.json"), (time.time() - 4000, time.time() - 4000))
    files.replace(str(place / "last"), {"at": "2026-01-01T00:00:00Z", "words": "HTTP 503"})
    machine.call("status")
    words = "https://eda.example.com/...: 3 WAIT, the oldest for 67 min; last: HTTP 503 (2026-01-01T00:00:00Z)"
    assert words in " ".join(machine.out.split())
    assert "T0KEN" not in machine.out


DAMAGED = [
    b"",
    b"{",
    b"[]",
    b"7",
    b"\xff\xfe",
    b'{"format": 1}',
    b'{"format": 2}',
    b"[" * 100000,
    b'"' + b"x" * 3000000 + b'"',
]


@pytest.mark.parametrize("name", ["mark.json", "watcher.json", "hold.json", "history.jsonl", "spool", "orders"])
@pytest.mark.parametrize("content", DAMAGED)
def test_whatever_is_damaged_there_are_words(machine, name, content):
    machine.state()
    (machine.folder / name).write_bytes(content)
    for command in ("status", "history"):
        assert machine.call(command) in (FINE, WRONG)
        assert machine.out or machine.err
    assert machine.call("status", "--json") in (FINE, WRONG)
    json.loads(machine.out)


def test_a_published_state_of_odd_things(machine):
    odd = dict.fromkeys(
        (
            "mode",
            "shown",
            "put_back",
            "unreadable",
            "problems",
            "orders",
            "name",
            "since",
            "version",
            "looked_at",
            "pid",
        ),
        {"a": [None]},
    )
    machine.state(**odd)
    assert machine.call("status") == WRONG
    keys = ("id", "type", "status", "resources", "not_before", "waits")
    machine.state(shown=[None, {}, dict.fromkeys(keys, {"a": [None]}), dict.fromkeys(keys, [7])])
    assert machine.call("status") == FINE


def test_a_mark_that_can_not_be_read_is_said(machine):
    (machine.state().folder / "mark.json").write_text("{", encoding="ascii")
    machine.call("status")
    assert "State      ITS MARK CAN'T BE READ" in machine.out


def test_status_for_programs(machine):
    machine.state().mark()
    assert machine.call("status", "--json") == FINE
    found = json.loads(machine.out)
    assert (found["running"], found["looking"], found["mark"]["phase"]) == (True, True, "prepared")
    assert found["watcher"]["name"] == "web1"


def test_not_root_is_said(machine, monkeypatch):
    monkeypatch.setattr(cli.CliContext, "sees_state", lambda self: False)
    assert machine.call("status") == NOT_ROOT
    assert "Only root sees what is in" in machine.err


def test_another_process_with_its_number_is_not_the_watcher():
    start = native.start_of(os.getpid())
    assert lives({"pid": os.getpid(), "start": start})
    for other in (
        None,
        {},
        {"pid": os.getpid(), "start": start + 1},
        {"pid": os.getpid()},
        {"pid": True, "start": start},
        {"pid": "1", "start": start},
        {"pid": 2**40, "start": None},
    ):
        assert not lives(other)


def test_times():
    assert unix_time("2026-01-01T00:00:00Z") == 1767225600.0
    for text in (None, "", 5, "yesterday", {}):
        assert unix_time(text) is None


# --- history ---


def test_history(machine):
    machine.state()
    for happened in ("scheduled", "prepared", "recovered"):
        History(str(machine.folder)).add(a_report(happened, message=f"It was {happened}, " + "and so on " * 20))
    assert machine.call("history", "-n", "2") == FINE
    assert machine.out.startswith("2026-01-01 00:00:00Z  prepared             It was prepared, and so on")
    assert "(Reboot C7061BAC-AFDC-4513-B24B-AA5F13A16123)" in " ".join(machine.out.split())
    History(str(machine.folder)).add(a_report("ended", message="Reboot C7061BAC-AFDC-4513-B24B-AA5F13A16123 is over."))
    assert machine.call("history", "-n", "1") == FINE and machine.out.count("C7061BAC") == 1
    assert machine.call("history", "-n", "3") == FINE
    assert "scheduled" not in machine.out
    machine.call("history", "--json")
    assert [json.loads(line)["happened"] for line in machine.out.splitlines()] == [
        "scheduled",
        "prepared",
        "recovered",
        "ended",
    ]


def test_history_that_is_damaged(machine):
    (machine.state().folder / "history.jsonl").write_bytes(
        b'{"happened": "x", "event": 7}\n{\n{"happened": "ended", "at": 5}\n'
    )
    assert machine.call("history") == FINE
    assert "ended" in machine.out and machine.err == "1 line of it can't be read.\n"


# --- orders ---


class Service:
    """Takes orders as the service does, and says what came of them."""

    def __init__(self, machine, outcome="Done.", says=True):
        self.orders, self.machine, self.outcome, self.says = CommandQueue(str(machine.folder)), machine, outcome, says
        self.taken, self._stop = [], threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self):
        while not self._stop.wait(0.05):
            for order in self.orders.take():
                self.taken.append(order)
                if self.says:
                    self.machine.state(
                        orders=[{"name": order.name, "order": order.order, "outcome": self.outcome, "at": ""}]
                    )

    def __enter__(self):
        self.machine.state()
        self._alone = InstanceLock(str(self.machine.folder))
        self._thread.start()
        return self

    def __exit__(self, *_exc_info):
        self._stop.set()
        self._thread.join(5)
        self._alone.release()


def test_an_order_that_is_taken(machine):
    with Service(machine, "No event is approved early until 2026.") as service:
        before = time.time()
        assert machine.call("hold", "--reason", "an\naudit", "--for", "2h", SUDO_USER="operator") == FINE
    assert machine.out == "No event is approved early until 2026.\n"
    order = service.taken[0]
    assert (order.order, order.reason, order.by, order.problem) == ("hold", "an audit", "operator", "")
    assert 7199 < order.until - before < 7210


def test_the_other_orders(machine):
    with Service(machine) as service:
        assert machine.call("release") == FINE
        assert machine.call("approve", "E1") == FINE
        machine.mark()
        assert machine.call("recover") == FINE
        assert machine.call("recover", "--force") == FINE
        assert machine.call("hold", "--reason", "x") == FINE
    found = [(order.order, order.event, order.force, order.until, order.problem) for order in service.taken]
    assert found == [
        ("release", "", False, None, ""),
        ("approve", "E1", False, None, ""),
        ("recover", "", False, None, ""),
        ("recover", "", True, None, ""),
        ("hold", "", False, None, ""),
    ]


def test_an_order_is_whole_and_roots_alone(machine, monkeypatch):
    monkeypatch.setattr(command_client, "WITHIN", 0.2)
    machine.state()
    assert machine.call("hold", "--reason", "x") == NO_ANSWER
    (path,) = (machine.folder / "orders").iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert "It receives it as soon as it runs" in " ".join(machine.err.split())


@pytest.mark.parametrize("arguments", [("approve", "E1"), ("recover",)])
def test_what_would_come_as_a_surprise_later_is_taken_back(machine, monkeypatch, arguments):
    monkeypatch.setattr(command_client, "WITHIN", 0.2)
    machine.state().mark()
    alone = InstanceLock(str(machine.folder))  # it runs, and hangs
    assert machine.call(*arguments) == NO_ANSWER
    alone.release()
    assert list((machine.folder / "orders").iterdir()) == []
    assert "nothing was done" in " ".join(machine.err.split())


def test_an_order_that_takes_its_time(machine, monkeypatch):
    monkeypatch.setattr(command_client, "WITHIN", 0.5)
    with Service(machine.mark(), says=False) as service:
        assert machine.call("recover") == FINE
    assert len(service.taken) == 1
    assert "has received the command and is working on it" in machine.out


def test_there_is_nothing_to_recover(machine):
    machine.state()
    assert machine.call("recover") == FINE
    assert "it is in service" in machine.out
    assert not (machine.folder / "orders").exists()


@pytest.mark.parametrize("arguments", [("hold", "--reason", "x"), ("release",), ("approve", "E1"), ("recover",)])
def test_only_root_gives_orders(machine, monkeypatch, arguments):
    monkeypatch.setattr(cli, "_user_number", lambda: 1000)
    machine.state()
    assert machine.call(*arguments) == NOT_ROOT
    assert "run it again with sudo" in machine.err
    assert not (machine.folder / "orders").exists()


def test_where_no_watcher_ever_ran(machine):
    assert machine.call("release") == NO_ANSWER
    assert "no watcher has ever run here" in " ".join(machine.err.split())


def test_an_order_that_can_not_be_left(machine):
    (machine.state().folder / "orders").write_text("", encoding="ascii")
    assert machine.call("release") == WRONG
    assert "The command can't be left" in machine.err


@pytest.mark.parametrize("text, seconds", [("90", 90), ("90s", 90), ("30m", 1800), ("1.5h", 5400), ("2d", 172800)])
def test_how_long_a_hold_lasts(text, seconds):
    assert command_client.seconds(text) == seconds


@pytest.mark.parametrize("text", ["", "0", "-5m", "2w", "h", "1e9", "500d", "nan"])
def test_what_is_no_time(machine, text):
    assert machine.call("hold", "--reason", "x", f"--for={text}") == USAGE


# --- hooks and settings ---


@pytest.fixture
def hooks(machine):
    for name, mode in (("prepare.d/10-app", 0o755), ("prepare.d/20-db", 0o644), ("prepare.d/Reboot/15-x", 0o755)):
        path = machine.hooks / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n", encoding="ascii")
        path.chmod(mode)
    return machine


def test_hooks_that_are_missing_are_listed(hooks):
    hooks.set(hooks={"recover.d/50-back": {}})
    assert hooks.call("hooks", "list", "recover") == WRONG
    assert "recover.d/50-back  IS NOT RUN\n" in hooks.out and "has no such file" in " ".join(hooks.out.split())
    assert "There is no hook" not in hooks.out


def test_hooks_are_listed(hooks):
    hooks.set(hooks={"prepare.d/10-app": {"limit": 20, "user": "nobody"}}, hook_limit=100)
    assert hooks.call("hooks", "list", "prepare", "--type", "reboot") == WRONG
    lines = hooks.out.splitlines()
    assert lines[:3] == [
        "prepare.d/10-app  (up to 20 s, as nobody)",
        "prepare.d/Reboot/15-x  (up to 100 s)",
        "prepare.d/20-db  IS NOT RUN",
    ]
    assert "is not executable" in " ".join(hooks.out.split())
    assert hooks.call("hooks", "list", "prepare") == WRONG
    assert "15-x" not in hooks.out and "Types with hooks of their own (--type): reboot" in hooks.out
    assert hooks.call("hooks", "list", "recover") == FINE
    assert "There is no hook in" in hooks.out


def test_settings_that_are_fine(machine):
    assert machine.call("check-config", "--offline") == FINE
    assert machine.out.split()[-2:] == ["is", "fine."]


@pytest.mark.parametrize(
    "more, words",
    [
        ({"mode": "manag"}, "line 1: "),
        ({"mode": "manag"}, "did you mean 'manage'?"),
        (
            {"reports": [{"url": URL, "secret_file": "/nowhere/secret"}]},
            "https://eda.example.com/...: the secret file /nowhere/secret can't be read",
        ),
        (
            {"reports": [{"url": URL, "proxy": "http://proxy:3128", "ca_file": "/nowhere/ca"}]},
            "there is no CA file /nowhere/ca",
        ),
        ({"reports": [{"url": "ftp://x/T0KEN"}]}, "does not begin with http:// or https://"),
        ({"hooks": {"prepare.d/none": {}}}, "has no such file"),
    ],
)
def test_settings_that_are_not(machine, more, words):
    machine.set(**more)
    assert machine.call("check-config", "--offline") == WRONG
    assert words in " ".join(machine.err.split()) or words.split(",")[0] in machine.err
    assert "T0KEN" not in machine.out + machine.err


@pytest.mark.parametrize(
    "more, line, words",
    [
        ({"hooks": {"prepare.d/none": {}}}, "prepare.d/none", "has no such file"),
        ({"hooks": {"prepare.d/10-app": {"user": "nobody-of-this-name"}}}, "nobody-of-this-name", "has no user"),
        ({"reports": [{"url": URL, "secret_file": "/nowhere/secret"}]}, "/nowhere/secret", "can't be read"),
        ({"reports": [{"url": URL, "ca_file": "/nowhere/ca"}]}, "/nowhere/ca", "there is no CA file"),
        ({"resource_name": "web2"}, "resource_name", "resource_name says web2, and the service says web1"),
        ({"endpoint": "http://127.0.0.1:9"}, "endpoint", "No connection"),
    ],
)
def test_the_line_to_correct_is_named(hooks, monkeypatch, more, line, words):
    (hooks.hooks / "prepare.d" / "20-db").chmod(0o755)
    text = json.dumps(
        dict({"format": 1, "folder": str(hooks.folder), "hooks_folder": str(hooks.hooks)}, **more), indent=1
    )
    hooks.settings.write_text(text)
    numbers = [number for number, found in enumerate(text.splitlines(), 1) if line in found]
    answers = {"name": "web1", "vmId": "v-1"}
    if "endpoint" not in more:
        monkeypatch.setattr(Client, "machine_text", lambda self, leaf, within: answers[leaf])
    assert hooks.call("check-config") == WRONG
    said = " ".join(hooks.err.split())
    assert f"line {numbers[-1]}: " in said and words in said


def test_the_metadata_service_is_asked_unless_that_is_not_wanted(machine):
    machine.set(endpoint="http://127.0.0.1:9")
    assert machine.call("check-config") == WRONG
    assert machine.err.startswith("FAIL  endpoint") and "line 1: " in " ".join(machine.err.split())
    assert machine.call("check-config", "--offline") == FINE


def test_other_settings_than_the_watchers(machine, tmp_path):
    (tmp_path / "other.json").write_text("{", encoding="ascii")
    assert machine.call("check-config", "--offline", str(tmp_path / "other.json")) == WRONG
    assert "this is no JSON" in " ".join(machine.err.split())


def test_a_hook_that_is_refused_is_wrong(hooks):
    assert hooks.call("check-config", "--offline") == WRONG
    assert "prepare.d/20-db is not run" in " ".join(hooks.err.split())


def test_a_hook_that_is_to_be_removed_is_not_checked(hooks):
    """As role watcher does, which removes it once the settings are found good."""
    assert (
        hooks.call("check-config", "--offline", "--without", "recover.d/10-x", "--without", "prepare.d/20-db") == FINE
    )


STEP = {"key": "s", "name": "s", "does": "x", "undoes": "y", "timeout": 5.0, "elsewhere": False}


def test_a_command_that_is_not_there(machine):
    machine.set(steps=[dict(STEP, type="command", do={"argv": ["/nowhere/program", "x"]})])
    assert machine.call("check-config", "--offline") == WRONG
    assert "s: this machine has no program /nowhere/program" in " ".join(machine.err.split())
