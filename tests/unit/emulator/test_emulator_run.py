# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""run: programs that find the metadata service at Azure's own address, each in a network namespace of its own."""

import json
import os
import signal
import subprocess
import sys

import pytest
from emulator_harness import until
from emulator_program import PROGRAM
from imds_emulator import namespaces
from imds_emulator.cli import main

WITH_THE_PROGRAM = f"import sys; sys.path.insert(0, {os.path.dirname(PROGRAM)!r})\n"
MAKE = """
from imds_emulator import namespaces
try:
    namespaces.enter_new(["169.254.169.254"])
except namespaces.NoNamespace as problem:
    sys.exit(str(problem))
"""


def by_itself(program):
    """A program that may use the emulator's modules: its exit status, what it printed, its last line on stderr."""
    command = [sys.executable, "-c", WITH_THE_PROGRAM + program]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = process.communicate(timeout=120)
    return process.returncode, out.decode(), err.decode().strip().rpartition("\n")[2]


def why_not():
    """Why this machine can't make a namespace; "" when it can."""
    status, _out, error = by_itself(MAKE)
    return error if status else ""


NO_NAMESPACE = why_not()
needs_namespaces = pytest.mark.skipif(bool(NO_NAMESPACE), reason=f"no network namespace here: {NO_NAMESPACE}")

ASK = """
import http.client, json, sys
def ask(method, path, body=None, address="169.254.169.254"):
    connection = http.client.HTTPConnection(address, timeout=60)
    connection.request(method, path, body, {"Metadata": "true"})
    answer = connection.getresponse()
    return answer.status, answer.read().decode()
def name():
    return ask("GET", "/metadata/instance/compute/name?api-version=2021-02-01&format=text")[1]
EVENTS = "/metadata/scheduledevents?api-version=2020-07-01"
"""


STARTED = []


@pytest.fixture(autouse=True)
def ended():
    """Nothing outlives a test that fails."""
    yield
    for process in STARTED:
        if process.poll() is None:
            process.kill()
            process.communicate(timeout=120)
    del STARTED[:]


def start(*words, **how):
    environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1")
    command = [sys.executable, PROGRAM, "run", *words]
    STARTED.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, **how))
    return STARTED[-1]


def run(*words, **how):
    """Its exit status, and what was printed."""
    process = start(*words, **how)
    out, err = process.communicate(timeout=120)
    return process.returncode, out.decode(), err.decode()


def python(program):
    return ["--", sys.executable, "-c", ASK + program]


@needs_namespaces
def test_the_service_is_at_azures_address():
    assert run("--vm", "web1", *python("print(name(), ask('GET', EVENTS))")) == (
        0,
        'web1 (200, \'{"DocumentIncarnation":1,"Events":[]}\')\n',
        "",
    )


@needs_namespaces
def test_each_vm_has_a_namespace_of_its_own_and_they_share_one_emulator():
    approves = """
import os, time
assert name() == os.environ["AZURE_EMULATOR_VM"]
os.write(1, f"{name()} {os.readlink('/proc/self/ns/net')}\\n".encode())  # in one piece, as two write
if name() == "web2":
    events = []
    while not events:
        time.sleep(0.25)
        events = json.loads(ask("GET", EVENTS)[1])["Events"]
    ask("POST", EVENTS, json.dumps({"StartRequests": [{"EventId": events[0]["EventId"]}]}))
while json.loads(ask("GET", EVENTS)[1])["DocumentIncarnation"] < 3:
    time.sleep(0.25)
"""
    words = ("--vm", "web1,scope=web", "--vm", "web2,scope=web", "--scenario", "user_reboot", "--resources", "web1")
    status, out, err = run("--speed", "100", "--set", "rate_limit=0", *words, *python(approves))
    assert (status, err) == (0, "")
    lines = sorted(line.split() for line in out.splitlines())
    assert [name for name, _namespace in lines] == ["web1", "web2"]
    assert len({namespace for _name, namespace in lines} | {os.readlink("/proc/self/ns/net")}) == 3


@needs_namespaces
def test_a_vm_can_not_ask_as_another():
    program = "print(ask('GET', '/vm/web2' + EVENTS)[0])"
    assert run("--vm", "web1", "--vm", "web2", "--on", "web1", *python(program)) == (0, "404\n", "")


@needs_namespaces
def test_the_control_api_is_there_for_the_command(tmp_path):
    journal = tmp_path / "journal.jsonl"
    shell = f'"{sys.executable}" "{PROGRAM}" inject Reboot "$AZURE_EMULATOR_VM"'
    status, out, _err = run("--vm", "web1", "--journal", str(journal), "--", "sh", "-c", shell)
    assert status == 0
    first, *entries = [json.loads(line) for line in journal.read_text().splitlines()]
    assert first["kind"] == "requests_logged"
    assert [(entry["kind"], entry["event_id"]) for entry in entries] == [("scheduled", out.strip())]


@needs_namespaces
def test_requests_are_logged_so_that_a_report_can_be_made(tmp_path, capsys):
    journal = tmp_path / "journal.jsonl"
    assert run("--vm", "web1", "--journal", str(journal), *python("name(); name()"))[0] == 0
    assert main(["report", "--json", "--max-rate", "1", str(journal)]) == 3
    assert json.loads(capsys.readouterr().out)["requests"]["web1"]["requests"] == 2


@needs_namespaces
def test_another_address_for_tests_of_discovery():
    program = "print(ask('GET', '/metadata/versions', address='168.63.129.16')[0])"
    assert run("--vm", "web1", "--address", "168.63.129.16", *python(program)) == (0, "200\n", "")


@needs_namespaces
@pytest.mark.parametrize("addresses", [["127.0.0.1"], ["127.0.0.7", "168.63.129.16", "168.63.129.16"]])
def test_an_address_of_the_loopback_interface(addresses):
    program = f"print(ask('GET', '/metadata/versions', address='{addresses[0]}')[0])"
    given = [word for address in addresses for word in ("--address", address)]
    assert run("--vm", "web1", *given, *python(program)) == (0, "200\n", "")


@needs_namespaces
def test_an_address_that_can_not_be_one_is_not_blamed_on_missing_rights():
    status, _out, err = run("--vm", "web1", "--address", "0.0.0.0", *python("name()"))
    assert status == 125 and "root" not in err and "0.0.0.0" in err


@needs_namespaces
def test_a_command_that_asks_nothing_has_sent_no_requests(tmp_path, capsys):
    journal = tmp_path / "journal.jsonl"
    assert run("--vm", "web1", "--journal", str(journal), *python("pass"))[0] == 0
    assert main(["report", "--max-rate", "1", str(journal)]) == 0
    assert "No request was sent." in capsys.readouterr().out


@needs_namespaces
@pytest.mark.parametrize(
    "words, status",
    [
        (["sh", "-c", "exit 7"], 7),
        (["sh", "-c", "kill -KILL $$"], 128 + 9),
        (["/nothing/here"], 127),
        (["/etc/passwd"], 126),
    ],
)
def test_the_commands_status_is_handed_on(words, status):
    assert run("--vm", "web1", "--", *words)[0] == status


@needs_namespaces
def test_of_several_the_first_that_failed_counts_and_all_are_named():
    words = [
        "--vm",
        "a",
        "--vm",
        "b",
        "--vm",
        "c",
        "--",
        "sh",
        "-c",
        "case $AZURE_EMULATOR_VM in a) ;; b) exit 4;; *) exit 5;; esac",
    ]
    assert run(*words) == (
        4,
        "",
        "imds_emulator: on b the command ended with 4\nimds_emulator: on c the command ended with 5\n",
    )


@needs_namespaces
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1])
def test_signals_are_forwarded(number):
    shell = f"trap 'exit 9' {signal.Signals(number).name[3:]}; echo there; while :; do sleep 0.05; done"
    # Whoever runs these tests in the background may have them ignore the signal, and what is ignored is inherited.
    process = start(
        *("--vm", "web1", "--", "sh", "-c", shell),
        start_new_session=True,
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
    )
    assert process.stdout.readline() == b"there\n"
    process.send_signal(number)
    process.communicate(timeout=120)
    assert process.returncode == 9


@needs_namespaces
def test_what_the_command_leaves_behind_is_ended():
    # It heeds no SIGTERM, and holds no pipe of this test; nor is it waited for, which would be longer than `run` waits.
    shell = "sh -c 'trap \"\" TERM; sleep 1000 & wait' >/dev/null 2>&1 & readlink /proc/self/ns/net"
    status, out, _err = run("--vm", "web1", "--", "sh", "-c", shell)
    assert status == 0 and out.startswith("net:[")
    assert namespaces.processes_in(out.strip()) == []


@needs_namespaces
def test_the_command_ends_when_the_emulator_is_killed():
    process = start("--vm", "web1", "--", "sh", "-c", "readlink /proc/self/ns/net; exec sleep 1000")
    namespace = process.stdout.readline().decode().strip()
    assert namespaces.processes_in(namespace) != []
    process.kill()
    process.communicate(timeout=120)
    until(lambda: namespaces.processes_in(namespace) == [])


@needs_namespaces
def test_the_command_has_the_limits_and_signals_that_it_would_have_without():
    import resource

    def few():
        resource.setrlimit(resource.RLIMIT_NOFILE, (100, 200))

    program = "import resource; print(resource.getrlimit(resource.RLIMIT_NOFILE))"
    assert run("--vm", "web1", "--", sys.executable, "-c", program, preexec_fn=few)[1] == "(100, 200)\n"
    assert run("--vm", "web1", "--", "sh", "-c", "kill -PIPE $$")[0] == 128 + signal.SIGPIPE


NOBODY = """
import ctypes, os
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
ctypes.CDLL(None).prctl(4, 1)  # PR_SET_DUMPABLE, as an exec would (nobody may not read this Python): /proc/self is its own
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="not root: the other tests do this")
def test_without_root_by_a_user_namespace():
    listens = "namespaces.listen(['169.254.169.254'], 80); print(os.geteuid())"
    status, out, error = by_itself("from imds_emulator import namespaces\n" + NOBODY + MAKE + listens)
    if "network namespace" in error:
        pytest.skip(f"only root can make one here: {error}")
    assert (status, out, error) == (0, "65534\n", "")


@pytest.mark.parametrize(
    "words, message",
    [
        (["--vm", "a"], "run: there is no command: give it behind --"),
        (["--", "true"], "there is no VM that the command could run on"),
        (["--vm", "a", "--on", "b", "--", "true"], "--on: 'b' is no VM here"),
        (["--vm", "a", "--address", "::1", "--", "true"], "--address: '::1' is no IPv4 address"),
        (["--scenario", "nothing", "--", "true"], "there is no scenario 'nothing'"),
    ],
)
def test_what_can_not_be_run_is_125_and_says_why(capsys, words, message):
    assert main(["run"] + words) == 125
    assert capsys.readouterr().err.startswith("imds_emulator: " + message)


def test_a_machine_that_can_not_says_what_to_do():
    program = """
from imds_emulator import cli, namespaces
def refuse():
    raise PermissionError(1, "Operation not permitted")
namespaces._unshare = refuse
sys.exit(cli.main(["run", "--vm", "a", "--", "true"]))
"""
    status, _out, error = by_itself(program)
    assert status == 125
    assert error.startswith("imds_emulator: can't make a network namespace") and "Operation not permitted" in error
    assert "sudo" in error and "use `serve`" in error


def test_nothing_is_done_in_the_namespace_that_is_there(monkeypatch):
    """Were the address added to a machine's own loopback interface, its real metadata service would be out of reach."""
    monkeypatch.setattr(namespaces, "_unshare", lambda: None)
    monkeypatch.setattr(namespaces, "_add_address", lambda *words: pytest.fail("in the machine's own namespace"))
    with pytest.raises(namespaces.NoNamespace):
        namespaces.enter_new(["169.254.169.254"])
