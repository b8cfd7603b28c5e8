# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The watcher as it is installed: one file, run as a process, with hooks and the real handling, against the emulator."""

import json
import os
import signal
import subprocess
import sys

import pytest

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.installed import (
    Machine,
    build,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.watching import until


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return build(tmp_path_factory.mktemp("program") / "watcher.pyz")


@pytest.fixture
def machine(tmp_path, program):
    tmp_path.chmod(0o755)
    found = Machine(tmp_path, program)
    yield found
    found.end()


def test_an_outage_from_its_announcement_to_its_end(machine):
    for phase in ("prepare", "recover"):
        for name in ("20-b", "10-a"):
            machine.hook(phase, name)
    process = machine.start()
    until(lambda: machine.published().get("looking") and machine.published().get("name") == "web1")
    event = machine.event()
    until(lambda: machine.published().get("doing") == "prepared")
    assert machine.lines() == [f"prepare 10-a {event}", f"prepare 20-b {event}"]
    machine.cancel(event)
    until(lambda: machine.published().get("doing") == "watching" and "recovered" in machine.happened())
    assert [line.rsplit(" ", 1)[0] for line in machine.lines()[2:]] == ["recover 10-a", "recover 20-b"]
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0
    happened = machine.happened()
    for word in ("scheduled", "prepared", "ended", "recovered"):
        assert happened.count(word) == 1, happened
    assert "Traceback" not in machine.log()


def test_one_that_is_killed_is_gone_on_with(machine):
    for phase in ("prepare", "recover"):
        machine.hook(phase, "10-a", f"until [ -e {machine.folder}/{phase} ]; do sleep 0.05; done")
    for phase, wanted in (("prepare", "prepared"), ("recover", "watching")):
        process = machine.start()
        if phase == "prepare":
            until(lambda: machine.published().get("name") == "web1")
            event = machine.event()
        else:
            machine.cancel(event)
        until(lambda phase=phase: [line for line in machine.lines() if line.startswith(phase)])
        process.kill()
        process.wait()
        process = machine.start()
        (machine.folder / phase).touch()
        until(lambda wanted=wanted: machine.published().get("doing") == wanted)
        process.kill()
        process.wait()
    assert [line.split()[0] for line in machine.lines()] == ["prepare", "recover"], "each was run once"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives orders")
def test_while_none_runs_a_machine_is_put_back_by_force(machine):
    """The watcher is gone, and its settings are wrong; a person corrects them, puts the machine back, and starts the watcher."""
    machine.hook("prepare", "10-a")
    machine.hook("recover", "10-a")
    process = machine.start()
    until(lambda: machine.published().get("name") == "web1")
    event = machine.event(type="Reboot", notice=250)
    until(lambda: machine.published().get("doing") == "prepared")
    process.kill()
    process.wait()
    good = machine.settings.read_text()
    machine.settings.write_text(good.replace("{", '{"mode": "nothing", ', 1))
    assert machine.start().wait(60) == 78

    def call(word, *words):
        command = [sys.executable, "-I", "-B", machine.program, word, "--settings", str(machine.settings), *words]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120, check=False)
        return done.returncode, " ".join(done.stdout.decode().split())

    code, words = call("recover", "--force")
    assert code == 3 and "mode must be one of" in words and "Correct that" in words, words
    machine.settings.write_text(good)
    code, words = call("recover")
    assert code == 3 and "azure-maintenance recover --force" in words, words
    assert len(machine.lines()) == 1
    code, words = call("recover", "--force")
    assert code == 0 and "The machine is recovered" in words, words
    assert machine.lines() == [f"prepare 10-a {event}", f"recover 10-a {event}"]
    before = machine.published()["pid"]
    machine.start()
    until(lambda: machine.published().get("pid") != before and machine.published().get("put_back") == [event])
    assert call("hold", "--reason", "another tick")[0] == 0
    assert machine.published()["doing"] == "watching" and len(machine.lines()) == 2, "it is not prepared again"
    assert "Traceback" not in machine.log()


def test_while_a_look_hangs_it_still_ends_in_time(machine):
    machine.world.fault("hang", path="any")
    process = machine.start()
    until(lambda: machine.published().get("problems"))
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0


def test_settings_that_are_wrong_at_the_start(machine):
    machine.settings.write_text('{"format": 1,\n "mode": "nothing"}')
    assert machine.start().wait(60) == 78
    assert "watcher.json, line 2: mode must be one of" in machine.log() and "Traceback" not in machine.log()


def test_a_second_one_does_not_start(machine):
    first = machine.start()
    until(machine.published)
    assert machine.start().wait(60) == 75
    assert f"Another watcher (process {first.pid}) runs" in machine.log()


def test_settings_are_read_again_on_demand(machine):
    process = machine.start()
    until(lambda: machine.published().get("name") == "web1")
    process.send_signal(signal.SIGHUP)
    machine.write(approve="never")
    until(lambda: machine.published().get("approve") == "never")
    assert process.poll() is None


def test_it_tells_the_service_manager(machine, monkeypatch):
    import socket

    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(str(machine.folder / "notify"))
        listener.settimeout(60)
        monkeypatch.setenv("NOTIFY_SOCKET", str(machine.folder / "notify"))
        monkeypatch.setenv("WATCHDOG_USEC", "3000000")
        process = machine.start()
        said = [listener.recv(1000).decode() for _each in range(4)]
        assert said[0] == "READY=1" and "WATCHDOG=1" in said
        process.send_signal(signal.SIGTERM)
        while said[-1] != "STOPPING=1":
            said.append(listener.recv(1000).decode())
        assert process.wait(60) == 0


def test_its_other_words(program, tmp_path):
    def run(*words, **more):
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-B", program, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        out, err = process.communicate(more.get("stdin", b""), timeout=120)
        return process.returncode, out.decode(), err.decode()

    call = json.dumps({"options": {"folder": str(tmp_path), "number": 3}, "requests": [], "steps": []}).encode()
    code, out, _err = run("machine", stdin=call)
    assert code == 0 and json.loads(out.splitlines()[-1])["number"] == 3
    code, _out, err = run("job", str(tmp_path / "nothing"))
    assert code == 2 and "no order of a job" in err
    assert run("--help")[0] == 0
    assert run("nonsense")[0] == 2
    assert os.listdir(str(tmp_path)) == []
