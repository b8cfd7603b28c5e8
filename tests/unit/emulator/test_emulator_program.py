# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The program: its commands, its start and its end, what it says when something is wrong, and the file it is packed into."""

import json
import signal
import socket
import stat
import subprocess
import sys

import pytest
from emulator_harness import FILES, METADATA, address, exchange
from emulator_program import PATH, VM, cli
from imds_emulator import service
from imds_emulator.cli import main
from imds_emulator.problems import InvalidInput
from imds_emulator.scenario import Scenario
from imds_emulator.words import host_and_port


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_starts_answers_and_ends(run, number):
    running = run(*VM)
    written = json.loads(running.addresses.read_text())
    assert written == {"pid": running.process.pid, "metadata": [running.metadata], "control": running.control}
    with socket.create_connection(address(running.metadata), 10) as kept:
        kept.sendall(f"GET {PATH} HTTP/1.1\r\nMetadata: true\r\n\r\n".encode())
        assert kept.recv(1000).startswith(b"HTTP/1.1 200")
        assert running.stop(number) == (0, b"", b"")
        assert kept.recv(1000) == b""


def test_it_ends_by_itself_when_nobody_asks_it(run):
    assert run("--idle", "0.5", *VM).process.wait(60) == 0


def test_whoever_asks_keeps_it():
    class Loop:
        now, ended, later = 100.0, False, ()

        def time(self):
            return self.now

        def call_later(self, *later):
            self.later = later

        def end(self):
            self.ended = True

    loop = Loop()
    idle = service.Service(loop, Scenario(), service.Options((), None, idle=3600.0))
    idle.end_when_idle(loop.end)
    assert loop.later[0] == 3600.0
    idle._metadata.asked_at = 2100.0  # the last request
    loop.now = 3700.0
    loop.later[1](*loop.later[2:])
    assert loop.later[0] == 2000.0 and not loop.ended
    loop.now = 5700.0
    loop.later[1](*loop.later[2:])
    assert loop.ended


def test_commands(run, capsys, monkeypatch):
    running = run("--speed", "0", *VM)
    monkeypatch.setenv("AZURE_EMULATOR_CONTROL", running.control)

    def command(*words):
        assert main(list(words)) == 0
        return capsys.readouterr().out

    event_id = command(
        "inject", "Reboot", "web1", "web2", "name=mine", "--notice", "60", "duration=5", "description=1"
    ).strip()
    event = json.loads(command("events"))["events"][0]
    assert (event["id"], event["name"], event["notice"], event["duration"], event["description"]) == (
        event_id,
        "mine",
        60,
        5,
        "1",
    )
    assert json.loads(command("approve", "mine", "--as", "co_tenant"))["status"] == "Scheduled"
    assert json.loads(command("approve", event_id))["status"] == "Started"
    assert json.loads(command("complete", event_id))["status"] == "Gone"
    command("inject", "Freeze", "web1", "name=other")
    assert json.loads(command("cancel", "other"))["outcome"] == "cancelled"
    command("inject", "Freeze", "web1", "name=third")
    assert json.loads(command("start", "third"))["status"] == "Started"
    fault = json.loads(
        command("fault", "add", "status", "status=410", "--vm", "web1,web2", "--method", "GET", "--count", "2")
    )
    assert (fault["status"], fault["vm"], fault["count"]) == (410, ["web1", "web2"], 2)
    assert len(json.loads(command("fault", "list"))["faults"]) == 1
    command("fault", "clear", fault["id"])
    command("fault", "clear")
    assert json.loads(command("clock", "--advance", "5"))["elapsed"] == 5
    assert json.loads(command("clock", "--speed", "2"))["speed"] == 2
    assert json.loads(command("clock", "--pause"))["speed"] == 0
    assert json.loads(command("load", "preempt", "--resources", "web2"))["events"][0]["name"] == "preempt"
    assert "Preempt" not in command("journal")
    assert json.loads(command("clock", "--next"))
    entries = [json.loads(line) for line in command("journal", "--kind", "scheduled", "--vm", "web2").splitlines()]
    assert [entry["event_type"] for entry in entries] == ["Reboot", "Preempt"]
    assert json.loads(command("state"))["scopes"]["web"]["vms"] == ["web1", "web2"]
    assert json.loads(command("vm", "stop", "web2"))["running"] is False
    assert json.loads(command("vm", "start", "web2"))["running"] is True
    command("reset")
    assert command("journal") == ""
    assert "terminate" in command("scenario", "list")
    assert json.loads(command("scenario", "show", "terminate"))["resources"] == ["vmss_1", "vmss_2"]


@pytest.mark.parametrize(
    "words, message",
    [
        (["cancel", "nothing"], "there is no event 'nothing'"),
        (["inject", "Reboot", "nobody"], "resources[0]: 'nobody' is no VM here"),
        (["load", "nothing"], "there is no scenario 'nothing'"),
        (["fault", "clear", "f1"], "there is no fault 'f1'"),
    ],
)
def test_commands_that_fail_say_why(emulator, capsys, monkeypatch, words, message):
    monkeypatch.setenv("AZURE_EMULATOR_CONTROL", emulator.service.urls["control"])
    assert main(words) == 1
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("text", ["127.0.0.1:8081", "http://127.0.0.1:8081", "http://127.0.0.1:8081/"])
def test_an_address_may_be_a_url(text):
    assert host_and_port(text, "--control") == ("127.0.0.1", 8081)


@pytest.mark.parametrize(
    "text", ["https://127.0.0.1:8081", "http://127.0.0.1", "http://127.0.0.1:8081/x", "127.0.0.1:\u00b2"]
)
def test_but_not_any_url(text):
    with pytest.raises(InvalidInput, match="is not ADDRESS:PORT"):
        host_and_port(text, "--control")


def test_a_command_without_an_emulator(capsys):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
        assert main(["state", "--control", url]) == 1
    assert "no emulator answers at " + url in capsys.readouterr().err


@pytest.mark.parametrize(
    "words, message",
    [
        (["--listen", "8080"], "--listen: '8080' is not ADDRESS:PORT"),
        (["--listen", "127.0.0.1:99999"], "--listen: "),
        (["--speed", "-1"], "--speed: "),
        (["--scenario", "nothing"], "there is no scenario 'nothing'"),
        (["--scenario", "/nothing.json"], "can't be read"),
        (["--scenario", "reboot", "--vm", "other"], "reboot.events[0].resources[0]: 'vm1' is no VM here"),
        (["--vm", "a", "--vm", "A"], "there is already a VM 'a'"),
        (["--vm", "a,adress=x"], "adress: unknown key"),
        (["--vm", "a,x"], "x: KEY=VALUE is needed"),
        (["--resources", "a"], "--resources: "),
        (["--on-change", "'x"], "--on-change: "),
        (
            ["--set", "rate_limt=0"],
            "--set: rate_limt: unknown key (did you mean 'rate_limit'?); known here: default_vm, ",
        ),
        (["--set", "rate_limit=fast"], "--set: rate_limit: a number is needed, not 'fast'"),
        (
            ["--set", "not_before_format=rfc1132"],
            "--set: not_before_format: 'rfc1132' (did you mean 'rfc1123'?) is none of",
        ),
        (["--set", "rate_limit"], "--set: rate_limit: KEY=VALUE is needed"),
        (["--set", "default_vm=1"], "settings.default_vm: '1' is no VM here"),
        (["--journal", "/nothing/x"], "--journal: "),
        (["--vm", "a,address=10.0.0.1", "--vm", "b,address=10.0.0.1"], "10.0.0.1 is already the address of 'a'"),
    ],
)
def test_a_start_that_fails_says_why(capsys, words, message):
    assert main(["serve", "--listen", "127.0.0.1:0", "--control", "none"] + words) == 1
    error = capsys.readouterr().err
    assert error.splitlines()[-1].startswith("imds_emulator: ") and message in error


def test_a_port_in_use(capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen(1)
        where = f"127.0.0.1:{taken.getsockname()[1]}"
        assert main(["serve", "--listen", where, "--control", "none", "--vm", "a"]) == 1
    assert capsys.readouterr().err == f"imds_emulator: {where}: can't listen there: Address already in use\n"


def test_checking_only(capsys):
    assert main(["serve", "--check", "--scenario", "reboot"]) == 0
    assert main(["serve", "--check", "--scenario", "reboot", "--vm", "other"]) == 1


def test_settings_win_over_the_scenario_and_the_last_one_counts(run, tmp_path):
    scenario = tmp_path / "slow.json"
    scenario.write_text('{"settings": {"rate_limit": 1}, "vms": [{"name": "web1"}]}')
    running = run("--scenario", str(scenario), "--set", "rate_limit=3", "--set", "rate_limit=0")
    statuses = [exchange(address(running.metadata), "GET", PATH, METADATA).status for _number in range(10)]
    assert statuses == [200] * 10


def test_the_journal_as_a_file(run, tmp_path):
    journal = tmp_path / "journal.jsonl"
    journal.write_text('{"seq": 0}\n')
    running = run("--speed", "0", "--journal", str(journal), *VM)
    event_id = cli(running, "inject", "Reboot", "web1").strip()
    exchange(address(running.metadata), "POST", PATH, METADATA, json.dumps({"StartRequests": [{"EventId": event_id}]}))
    entries = [json.loads(line) for line in journal.read_text().splitlines()]
    assert [entry.get("kind") for entry in entries] == [None, "scheduled", "approved", "started", "post"]


# -- readiness and the packed file


def test_systemd_is_notified(run, tmp_path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
        notify.bind(str(tmp_path / "notify"))
        notify.settimeout(60)
        running = run(*VM, environment={"NOTIFY_SOCKET": str(tmp_path / "notify")})
        assert notify.recv(100) == b"READY=1"
        running.stop()
        assert notify.recv(100) == b"STOPPING=1"


def test_without_systemd_nobody_is_notified(monkeypatch):
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    service.notify_systemd("READY=1")


def test_packed(run, tmp_path):
    build = [sys.executable, str(FILES / "build_zipapp.py")]
    packed = [tmp_path / "one.pyz", tmp_path / "two.pyz"]
    for target in packed:
        subprocess.run(build + [str(target)], check=True)
    assert packed[0].read_bytes() == packed[1].read_bytes()
    assert packed[0].stat().st_mode & stat.S_IXUSR
    alone = tmp_path / "elsewhere"
    alone.mkdir()
    program = str(alone / "imds_emulator.pyz")
    packed[0].rename(program)
    shown = subprocess.run(
        [sys.executable, "-I", program, "scenario", "show", "reboot"], stdout=subprocess.PIPE, check=True
    )
    assert json.loads(shown.stdout.decode())["resources"] == ["vm1"]
    running = run("--scenario", "reboot", "--resources", "web1", "--speed", "0", program=program)
    assert exchange(address(running.metadata), "GET", PATH, METADATA).status == 200
    assert exchange(address(running.control), "GET", "/").body.startswith(b"<!DOCTYPE html>")
    assert running.stop() == (0, b"", b"")
