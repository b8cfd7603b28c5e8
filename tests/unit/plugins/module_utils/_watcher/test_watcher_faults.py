# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What goes wrong round the installed watcher, with real processes, hooks, files and HTTP: each outage still ends as it should."""

import json
import os
import pathlib
import subprocess
import sys
import zipfile

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.settings.destinations import (
    Destination,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._imds.loopback import (
    Server,
    answers,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.installed import (
    Machine,
    build,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.watching import until

PREPARED, RECOVERED = "prepare 10-a", "recover 10-a"


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return build(tmp_path_factory.mktemp("program") / "watcher.pyz")


@pytest.fixture
def machine(tmp_path, program):
    tmp_path.chmod(0o755)
    found = Machine(tmp_path, program, "--set", "rate_limit=0", "--log-requests")
    yield found
    found.end()
    assert "Traceback" not in found.log(), found.log()


def watching(machine, **environment):
    """It runs, and has looked."""
    machine.start(**environment)
    until(machine.is_watching)


def prepared(machine, **keys):
    """It is out of service for an event; its id."""
    machine.hook("prepare", "10-a")
    machine.hook("recover", "10-a")
    watching(machine)
    event = machine.event(**keys)
    until(lambda: machine.does("prepared"))
    return event


def back(machine):
    """It is in service again."""
    until(lambda: machine.does("watching") and machine.happened().count("recovered") == 1)


# --- kills ---

KILLED_AT = """
import json, os, runpy, signal, sys

machine, place = sys.argv[0].rpartition("/")[0], int(os.environ["KILL_AT"])
reached, history = 0, set()

def here():
    global reached
    reached += os.path.exists(machine + "/armed")
    if reached == place:
        os.kill(os.getpid(), signal.SIGKILL)

def watched(name):
    real = getattr(os, name)

    def call(what, *arguments, **more):
        if what in history or any(one in str(what) for one in ("remembered.json", "/spool/", "history.jsonl")):
            here()
        found = real(what, *arguments, **more)
        if name == "open" and "history.jsonl" in str(what):
            history.add(found)
        if name == "close":
            history.discard(what)
        return found

    setattr(os, name, call)

for name in ("open", "write", "close", "replace"):
    watched(name)
runpy.run_path(os.environ["PROGRAM"], run_name="__main__")
"""
PLACES = 10  # on a report's way: what is remembered, the queue, the history, and what is remembered next


def test_killed_at_each_place_of_a_reports_way_it_loses_none_and_reports_none_twice(machine, program):
    url = "https://example.com/x"
    machine.write(interval=0.1, approve="never", reports=[{"url": url}])
    killer, armed = machine.folder / "killer.py", machine.folder / "armed"
    killer.write_text(KILLED_AT)
    events = []
    for place in range(1, PLACES + 1):
        process = machine.start(str(killer), PROGRAM=program, KILL_AT=str(place))
        until(lambda process=process: machine.published().get("pid") == process.pid and machine.is_watching())
        armed.touch()
        events.append(machine.event(notice=3000))
        assert process.wait(120) == -9
        armed.unlink()
    watching(machine)
    history, spool = machine.state / "history.jsonl", machine.state / "spool" / Destination(url).key

    def reports():
        return [json.loads(line) for line in history.read_text().splitlines()]

    def shown(found):
        return sorted(one["event"]["id"] for one in found if one["happened"] == "scheduled")

    until(lambda: set(shown(reports())) == set(events))
    until(lambda: machine.published().get("pid") == machine.processes[-1].pid)
    machine.stop()
    assert shown(reports()) == sorted(events), "each once, under one id"
    ids = [one["id"] for one in reports()]
    assert len(set(ids)) == len(ids)
    queued = [json.loads(path.read_text())["id"] for path in sorted(spool.glob("*.json"))]
    assert set(queued) == set(ids)
    twice = {one for one in queued if queued.count(one) > 1}
    assert len(queued) == len(ids) + len(twice), "again only where it was killed between queue and history"


# --- answers ---


def wrong_answers(world):
    """Each may be the answer to any look. The redirect leads to a machine that has no event."""
    return [
        *(dict(kind="status", status=status) for status in (404, 410, 429, 500, 503)),
        dict(kind="redirect", location=world.endpoint_of("web2") + "/metadata/scheduledevents?api-version=2020-07-01"),
        dict(kind="reset"),
        dict(kind="empty"),
        dict(kind="truncated"),
        dict(kind="html"),
        dict(kind="control_characters"),
        dict(kind="body", body='{"DocumentIncarnation": 9, "Events": null}'),
        dict(kind="body", body="{}"),
        dict(kind="hang"),
    ]


def test_wrong_answers_in_the_middle_of_an_outage(machine):
    machine.write(interval=0.1)
    event = prepared(machine)
    for number, fault in enumerate(wrong_answers(machine.world)):
        machine.world.fault(method="GET", count=1, skip=number, **fault)

    def are_over():
        assert machine.published()["events"] == [event]
        return not machine.world.faults()

    until(are_over, 240)
    until(lambda: machine.published().get("looking"))
    assert machine.hooks() == [PREPARED] and machine.does("prepared")
    assert "ended" not in machine.happened()
    machine.cancel(event)
    back(machine)
    assert machine.hooks() == [PREPARED, RECOVERED]


def test_proxies_in_its_environment(machine):
    names = ("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy", "ALL_PROXY")
    with Server(answers(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")) as proxy:
        machine.hook("prepare", "10-a")
        watching(machine, **dict.fromkeys(names, proxy.url))
        machine.event()
        until(lambda: machine.does("prepared"))
        assert proxy.connections == 0


# --- cancelled ---


# --- restarts of the machine ---


def noting(machine):
    """A drain step, as the role checks it, that writes down each time that it is done."""

    def note(word):
        return {"argv": ["sh", "-c", f"echo {word} >> {machine.folder}/steps"]}

    words = {"does": "note it", "undoes": "note that it is back", "timeout": 20.0, "undo_timeout": 20.0}
    options = {"do": note("do"), "undo": note("undo"), "environment": {}, "ok_codes": [0], "no_log": False}
    return dict(words, **options, type="command", key="command note", number=1, name="note", elsewhere=False)


def steps(machine):
    return (machine.folder / "steps").read_text().split()


def test_rebooted_by_its_event_and_the_first_answer_takes_longer_than_any_other(machine):
    machine.write(steps=[noting(machine)])
    event = prepared(machine, tail=600)
    machine.world.move(event, "start")
    until(lambda: "started" in machine.happened())
    machine.cut_power()
    machine.world.fault("delay", method="GET", delay=11, count=1)  # others are given ten seconds
    machine.start()
    until(lambda: machine.is_watching() and not machine.world.faults())
    assert machine.hooks() == [PREPARED] and steps(machine) == ["do"]
    machine.world.move(event, "complete")
    back(machine)
    assert machine.hooks() == [PREPARED, RECOVERED] and steps(machine) == ["do", "undo"]


def test_a_power_cut_in_the_middle_of_a_prepare_hook(machine):
    machine.write(hook_limit=20)
    machine.hook("prepare", "10-a", "exec sleep 600")
    machine.hook("recover", "10-a")
    watching(machine)
    machine.event()
    until(machine.lines)
    machine.cut_power()
    machine.start()
    back(machine)
    assert machine.hooks() == [PREPARED, RECOVERED]
    assert machine.happened().count("prepare_failed") == 1 and "it was interrupted" in machine.log()
    assert machine.world.journal("post") == []


def test_a_power_cut_in_the_middle_of_a_recover_hook(machine):
    event = prepared(machine)
    machine.hook("recover", "10-a", "[ $AZURE_MAINTENANCE_ATTEMPT = 2 ] || exec sleep 600")
    machine.cancel(event)
    until(lambda: RECOVERED in machine.hooks())
    machine.cut_power()
    machine.start()
    back(machine)
    assert machine.hooks() == [PREPARED, RECOVERED, RECOVERED]


@pytest.mark.parametrize("is_killed", [False, True], ids=["", "killed meanwhile"])
def test_a_preempt_in_the_middle_of_a_recovery(machine, is_killed):
    """What came up is in service again: it is drained once more before the machine is taken away."""
    machine.write(steps=[noting(machine)], hook_limit=600, approve="never")
    event = prepared(machine)
    machine.hook("recover", "10-a", f"[ -e {machine.folder}/go ] || exec sleep 600")
    machine.cancel(event)
    until(lambda: RECOVERED in machine.hooks())
    if is_killed:
        machine.processes[-1].kill()
        machine.processes[-1].wait()
    preempt = machine.event(type="Preempt", notice=300)
    if is_killed:
        machine.start()
    until(lambda: machine.is_prepared_for(preempt), 240)
    (shown,) = machine.world.document()["Events"]
    assert shown["EventStatus"] == "Scheduled", "it was in time: the recover hook would have taken twice as long"
    assert machine.hooks() == [PREPARED, RECOVERED, PREPARED]
    assert machine.lines()[2] == f"prepare 10-a {preempt}" and steps(machine) == ["do", "undo", "do"]
    until(lambda: "recovery_interrupted" in machine.happened())
    assert "recovery_failed" not in machine.happened()
    (machine.folder / "go").touch()
    machine.cancel(preempt)
    back(machine)
    assert machine.hooks() == [PREPARED, RECOVERED, PREPARED, RECOVERED]
    assert steps(machine) == ["do", "undo", "do", "undo"]


# --- disk and state ---


@pytest.fixture
def small_disk(machine):
    """A command that runs another one whose state is on a disk of 4 MB."""
    machine.state.mkdir(mode=0o700)
    mount = f"mount -t tmpfs -o size=4m,mode=0700 none {machine.state}"
    if os.geteuid() != 0 or subprocess.call(["unshare", "-m", "sh", "-c", f"{mount} 2>/dev/null"]) != 0:
        pytest.skip("a small disk can be mounted by root alone, and not in every container")
    return ["unshare", "-m", "sh", "-c", f'{mount} && exec "$0" "$@"']


def fill(folder):
    """Leave no room; returns what takes it."""
    filler = folder / "filler"
    with open(str(filler), "wb", buffering=0) as file, pytest.raises(OSError, match="No space"):
        while True:
            file.write(bytes(4096))
    return filler


def test_a_full_disk(machine, small_disk):
    for phase in ("prepare", "recover"):
        machine.hook(phase, "10-a")
    process = machine.start(inside=small_disk)
    machine.state = pathlib.Path(f"/proc/{process.pid}/root{machine.state}")
    until(machine.is_watching)
    filler = fill(machine.state)
    until(lambda: "can't write its state" in machine.log())
    event = machine.event()
    until(lambda: "of this machine may start in" in machine.log())
    looks = len(machine.world.journal("request"))
    until(lambda: len(machine.world.journal("request")) > looks + 2)
    assert machine.lines() == [] and not (machine.state / "mark.json").exists()
    filler.unlink()
    until(lambda: machine.does("prepared"))
    assert machine.hooks() == [PREPARED]

    filler = fill(machine.state)
    until(lambda: machine.log().count("can't write its state") == 2)
    machine.cancel(event)
    until(lambda: "was cancelled" in machine.log())
    assert machine.hooks() == [PREPARED]
    filler.unlink()
    until(lambda: machine.does("watching"))
    assert machine.hooks() == [PREPARED, RECOVERED]


def test_on_a_full_disk_a_person_can_recover_the_machine(machine, small_disk):
    """From the room that is kept, with little room for the command itself, as the report says."""
    machine.hook("recover", "10-a")
    process = machine.start(inside=small_disk)
    machine.state = pathlib.Path(f"/proc/{process.pid}/root{machine.state}")
    until(machine.is_watching)
    event = machine.event()
    until(lambda: machine.is_prepared_for(event))
    filler = fill(machine.state)
    os.truncate(str(filler), filler.stat().st_size - 8192)
    until(lambda: "enough to recover this machine: azure-maintenance recover" in machine.log())
    machine.cancel(event)
    until(lambda: "was cancelled" in machine.log())
    assert machine.hooks() == []
    command = ["nsenter", "-t", str(process.pid), "-m", sys.executable, "-I", "-B", machine.program]
    assert subprocess.call([*command, "recover", "--settings", str(machine.settings)]) == 0
    until(lambda: not (machine.state / "mark.json").exists())
    assert machine.hooks() == [RECOVERED]


@pytest.mark.parametrize("mark", ["", "{", '{"format": 99}'], ids=["empty", "cut", "of a newer version"])
def test_a_mark_that_can_not_be_read(machine, mark):
    machine.hook("prepare", "10-a")
    machine.state.mkdir(mode=0o700)
    (machine.state / "mark.json").write_text(mark)
    watching(machine)
    machine.event()
    until(lambda: {"scheduled", "degraded"} <= set(machine.happened()))
    until(lambda: machine.does("has an unreadable mark"))
    assert machine.lines() == [] and (machine.state / "mark.json").read_text() == mark
    (machine.state / "mark.json").unlink()
    until(lambda: machine.does("prepared"))
    assert machine.hooks() == [PREPARED]


def test_all_else_that_it_keeps_is_damaged(machine):
    event = prepared(machine)
    machine.processes[-1].kill()
    machine.processes[-1].wait()
    damaged = [machine.folder / "run" / "remembered.json"]
    damaged += [machine.state / name for name in ("watcher.json", "history.jsonl", "reserve", "hold.json")]
    damaged += [machine.state / "orders" / "20260101T000000Z-1", machine.state / "watcher.lock"]
    for path in damaged:
        path.write_bytes(b'\xff{"format"')
        path.chmod(0o600)
    watching(machine)
    assert machine.does("prepared")
    machine.cancel(event)
    until(lambda: machine.does("watching"))
    assert machine.hooks() == [PREPARED, RECOVERED]


def test_what_came_of_a_hook_is_damaged(machine):
    """Nobody knows then what came of it: it has failed."""
    machine.write(hook_limit=60)
    machine.hook("prepare", "10-a", f"until [ -e {machine.folder}/go ]; do sleep 0.1; done")
    machine.hook("recover", "10-a")
    watching(machine)
    machine.event()
    until(machine.lines)
    machine.processes[-1].kill()
    machine.processes[-1].wait()
    (machine.folder / "go").touch()
    (result,) = until(lambda: list((machine.state / "jobs").glob("*/result")))
    result.write_text("{")
    machine.start()
    back(machine)
    assert machine.hooks() == [PREPARED, RECOVERED] and machine.happened().count("prepare_failed") == 1


def test_a_clone_of_a_machine_that_is_out_of_service(machine):
    """It has the other one's disk, and another vmId."""
    event = prepared(machine)
    machine.cut_power()
    machine.write(endpoint=machine.world.endpoint_of("web2"))
    machine.start()
    until(lambda: machine.published().get("name") == "web2" and machine.does("watching"))
    until(lambda: "clone_detected" in machine.happened())
    assert "ended" not in machine.happened()
    assert (machine.state / "aside" / "mark.json").exists()
    own = machine.event(resources=["web2"])
    until(lambda: machine.does("prepared"))
    assert machine.lines() == [f"prepare 10-a {event}", f"prepare 10-a {own}"]


# --- rights ---


def test_what_others_may_write_is_not_run(machine):
    machine.hook("prepare", "10-a").chmod(0o777)
    machine.hook("prepare", "20-b")
    machine.hook("recover", "10-a")
    (machine.folder / "hooks" / "recover.d").chmod(0o777)
    watching(machine)
    (hook, folder) = until(lambda: machine.published().get("problems"))
    assert "prepare.d/10-a is not run" in hook and "chmod go-w" in hook
    assert "recover.d/10-a is not run" in folder and "recover.d is writable by users other than root" in folder
    event = machine.event()
    until(lambda: machine.does("prepared"))
    machine.cancel(event)
    until(lambda: "recovery_failed" in machine.happened())
    assert machine.does("half") and machine.hooks() == ["prepare 20-b"]
    (machine.folder / "hooks" / "recover.d").chmod(0o755)
    back(machine)
    assert machine.hooks() == ["prepare 20-b", "recover 10-a"]


# --- versions ---


@pytest.fixture(scope="module")
def other_version(program, tmp_path_factory):
    """The same program, which says that it is another version."""
    other = tmp_path_factory.mktemp("other") / "watcher.pyz"
    with zipfile.ZipFile(program) as old, zipfile.ZipFile(str(other), "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "__main__.py":
                head, call, rest = content.decode().partition("main(")
                content = f"{head}{call}'99.0.0',{rest.partition(',')[2]}".encode()
            new.writestr(name, content)
    return str(other)


def test_upgraded_and_downgraded_in_the_middle_of_hooks(machine, other_version):
    for phase in ("prepare", "recover"):
        machine.hook(phase, "10-a", f"until [ -e {machine.folder}/{phase} ]; do sleep 0.1; done")
    watching(machine)
    version = machine.published()["version"]
    event = machine.event()
    until(machine.lines)
    machine.stop()
    machine.start(program=other_version)
    until(lambda: machine.published().get("version") == "99.0.0")
    (machine.folder / "prepare").touch()
    until(lambda: machine.does("prepared"))
    machine.cancel(event)
    until(lambda: RECOVERED in machine.hooks())
    machine.stop()
    machine.start()
    until(lambda: machine.published().get("version") == version)
    (machine.folder / "recover").touch()
    back(machine)
    assert machine.hooks() == [PREPARED, RECOVERED]
    happened = machine.happened()
    assert [happened.count(word) for word in ("scheduled", "changed", "prepared", "ended", "recovered")] == [
        1,
        0,
        1,
        1,
        1,
    ]
