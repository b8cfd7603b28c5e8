# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the doctor finds on a Windows machine, by stand-ins for its programs, its registry, its services and its access lists: answers as they
are documented, exit codes, garbage, and no answer."""

import struct

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.windows.access_list import (
    HEALTH_SID,
    REPORTS_SID,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.commands import check_windows
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.commands.check_report import (
    FAIL,
    OK,
    WARN,
    Said,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.commands.check_windows import (
    clock,
    cluster,
    proxy,
    scripts,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.host.windows_host import (
    WINDOWS,
    folders,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.settings.destinations import (
    Destination,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.settings.options import Configuration

STOPPED, RUNNING = 1, 4


@pytest.fixture(autouse=True)
def _windows(monkeypatch):
    monkeypatch.setattr(check_windows, "HOST", WINDOWS)


class Machine:
    """The stand-ins."""

    def __init__(self, said="", code=0, registry=None, states=None, lists=None):
        self.commands = []
        self._said, self._registry = Said(code, said), registry or {}
        self._states, self._lists = states or {}, lists or {}

    def ask(self, command, seconds=5.0):
        self.commands.append(command)
        return self._said

    def read(self, key, name):
        return self._registry.get(name, self._registry.get((key.rsplit("\\", 1)[-1], name)))

    def state_of(self, name):
        found = self._states.get(name)
        if isinstance(found, OSError):
            raise found
        return found

    def list_of(self, path):
        found = self._lists.get(path, FileNotFoundError(2, "no such file", path))
        if isinstance(found, OSError):
            raise found
        return found


def only(findings):
    (found,) = findings
    return found


# --- the failover cluster ---


def of_cluster(said, code=0, state=RUNNING, has_step=True):
    machine = Machine(said, code, states={"ClusSvc": state})
    return cluster(machine.ask, has_step, machine.state_of), machine


def test_a_machine_without_a_cluster_is_asked_nothing():
    found, machine = of_cluster("", state=None)
    assert found == [] and machine.commands == []


@pytest.mark.parametrize("number", [0, 1])
def test_a_cluster_that_leaves_events_to_the_watcher(number):
    found, machine = of_cluster(f"azure-maintenance:{number}\r\n")
    assert only(found).state == OK and f"DetectManagedEvents is {number}" in only(found).words
    assert machine.commands[0][0].endswith("powershell.exe") and "Get-Cluster" in machine.commands[0][-1]


@pytest.mark.parametrize(
    ("number", "has_step", "state", "words"),
    [
        (2, True, WARN, "moves no role to a node with a scheduled event (DetectManagedEvents is 2)"),
        (
            3,
            True,
            FAIL,
            "pauses and drains a node with a scheduled event (DetectManagedEvents is 3), beside the watcher",
        ),
        (
            3,
            False,
            WARN,
            "pauses and drains a node with a scheduled event (DetectManagedEvents is 3), beside the watcher",
        ),
        (
            4,
            True,
            FAIL,
            "and moves its roles back (DetectManagedEvents is 4), beside the watcher and its step",
        ),
        (9, True, WARN, "may drain nodes in a way that this version does not know (DetectManagedEvents is 9)"),
    ],
)
def test_a_cluster_that_drains_by_itself_is_a_second_owner(number, has_step, state, words):
    found = only(of_cluster(f"WARNING: something\nazure-maintenance:{number}\n", has_step=has_step)[0])
    assert (found.state, found.what) == (state, "cluster") and words in found.words
    assert "(Get-Cluster).DetectManagedEvents = 1" in found.advice


def test_a_cluster_of_an_older_windows_has_no_such_property():
    found = only(of_cluster("azure-maintenance:\r\n")[0])
    assert found.state == OK and "DetectManagedEvents is not there" in found.words


@pytest.mark.parametrize(
    ("said", "code", "words"),
    [
        ("", -1, "could not be asked: its program is not there, or did not answer in time"),
        ("", 0, "(exit code 0): nothing"),
        ("Get-Cluster : The term 'Get-Cluster' is not recognized\r\n", 1, "(exit code 1): Get-Cluster : The term"),
        ("azure-maintenance:x y\n\x1b[31m\0", 0, "(exit code 0): "),
    ],
)
def test_a_cluster_that_does_not_say(said, code, words):
    found = only(of_cluster(said, code)[0])
    assert found.state == WARN and words in found.words and "Get-Cluster" in found.advice
    assert found.words.isprintable()


def test_a_cluster_whose_service_does_not_run():
    found, machine = of_cluster("", state=STOPPED)
    assert only(found).state == WARN and "is stopped" in only(found).words and machine.commands == []
    refused = Machine(states={"ClusSvc": OSError(5, "Access is denied")})
    assert "does not say how ClusSvc is: Access is denied" in only(cluster(refused.ask, True, refused.state_of)).words


# --- which scripts run ---


@pytest.mark.parametrize(
    ("enabled", "policy", "state", "words"),
    [
        (1, "AllSigned", WARN, "which PowerShell scripts run (AllSigned)"),
        (1, "Restricted", FAIL, "which PowerShell scripts run (Restricted)"),
        (0, None, FAIL, "run (Restricted)"),
        (0, "Unrestricted", FAIL, "run (Restricted)"),
        (1, "RemoteSigned", OK, "the policy RemoteSigned lets hooks in PowerShell run"),
        (1, "Unrestricted", OK, "the policy Unrestricted lets"),
        (None, "Bypass", OK, "the policy Bypass lets"),
        (1, None, WARN, "run (none named)"),
        ("x", 7, WARN, "run (7)"),
    ],
)
def test_a_policy_for_scripts(enabled, policy, state, words):
    machine = Machine(registry={"EnableScripts": enabled, "ExecutionPolicy": policy})
    found = only(scripts([r"C:\hooks\10-app.PS1"], machine.read))
    assert found.state == state and words in found.words
    assert scripts([r"C:\hooks\10-app.cmd"], machine.read) == [], "there is no script"


def test_without_a_policy_nothing_is_said():
    assert scripts([r"C:\hooks\10-app.ps1"], Machine().read) == []


# --- the proxy of WinHTTP ---


def blob(flags, *texts):
    found = struct.pack("<III", 0x18, 0, flags)
    for text in texts:
        found += struct.pack("<I", len(text)) + text
    return found


DIRECT = bytes.fromhex("1800000000000000010000000000000000000000")  # as Microsoft's documentation has it
PROXY = blob(3, b"proxy.example.com:8080", b"localhost;*.example.com")


@pytest.mark.parametrize("value", [None, b"", DIRECT, DIRECT[:11], blob(1, b"left.over:1", b"")])
def test_no_proxy(value):
    found = only(proxy(Machine(registry={"WinHttpSettings": value}).read))
    assert (found.state, found.words) == (OK, "WinHTTP has no proxy")


def of_proxy(value):
    return only(proxy(Machine(registry={"WinHttpSettings": value}).read))


@pytest.mark.parametrize("value", [PROXY, PROXY[:14], blob(3), "text", 7])
def test_a_proxy_that_leads_the_metadata_service_astray(value):
    found = of_proxy(value)
    assert found.state == WARN and "ask 169.254.169.254 through it, which Azure refuses" in found.words
    assert "169.254.169.254 and 168.63.129.16 in its bypass-list" in found.advice


@pytest.mark.parametrize(
    "bypass", [b"169.254.169.254", b"<local>;169.254.*", b"a;169.254.169.*", b"localhost 169.254.169.254"]
)
def test_a_proxy_that_the_metadata_service_is_kept_off_from(bypass):
    found = of_proxy(blob(3, b"p:1", bypass))
    assert (found.state, found.words) == (OK, "WinHTTP has a proxy; the watcher uses none")


# --- the clock ---


def of_clock(said="VM IC Time Synchronization Provider \r\n", code=0, state=RUNNING, kind="NTP"):
    machine = Machine(said, code, registry={"Type": kind}, states={"w32time": state})
    return only(clock(machine.ask, machine.read, machine.state_of))


@pytest.mark.parametrize("source", ["VM IC Time Synchronization Provider", "dc1.example.com", "time.windows.com,0x8"])
def test_a_clock_that_is_set(source):
    found = of_clock(f"{source} \r\n")
    assert (found.state, found.words) == (OK, f"w32time sets the clock by {source}")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"state": None}, "w32time, which sets the clock, is not there"),
        ({"state": STOPPED}, "w32time, which sets the clock, is stopped"),
        ({"state": OSError(5, "Access is denied")}, "does not say how w32time is: Access is denied"),
        ({"kind": "NoSync"}, "its settings have it set nothing (NoSync)"),
        ({"said": "Local CMOS Clock\r\n"}, "it has no source (Local CMOS Clock)".replace("it", "w32time")),
        ({"said": "Free-running System Clock\r\n"}, "nothing sets the clock: w32time has no source"),
        (
            {"said": "The following error occurred: Access is denied. (0x80070005)\r\n", "code": 5},
            "(exit code 5): The f",
        ),
        ({"said": "", "code": -1}, "could not be asked: its program is not there, or did not answer in time"),
        ({"said": "\r\n"}, "(exit code 0): nothing"),
    ],
)
def test_a_clock_that_nobody_sets(given, words):
    found = of_clock(**given)
    assert (found.state, found.what) == (WARN, "time") and words in found.words and found.advice


# --- services and their accounts ---

KEYS = {"Start": 2, "FailureActions": b"x"}


def of_services(states=None, needs=(True, True), **accounts):
    names = ("azure-maintenance", "azure-maintenance-reports", "azure-maintenance-health")
    registry = dict(KEYS)
    for one in check_windows.HOST.watcher, check_windows.HOST.reports, check_windows.HOST.health:
        registry[(one.name, "ObjectName")] = accounts.get(one.word, one.account)
    machine = Machine(registry=registry, states=dict.fromkeys(names, RUNNING) if states is None else states)
    return check_windows.services(machine.ask, *needs, state_of=machine.state_of, read=machine.read)


def test_each_service_runs_as_its_own_account():
    found = of_services()
    assert [one.state for one in found] == [OK] * 3
    assert r"azure-maintenance-health runs as NT SERVICE\azure-maintenance-health" in found[2].words
    assert len(of_services(needs=(False, False))) == 1


@pytest.mark.parametrize(
    ("word", "account"), [("health", "LocalSystem"), ("send", r".\admin"), ("run", r"NT SERVICE\x")]
)
def test_one_that_runs_as_somebody_else(word, account):
    found = [one for one in of_services(**{word: account}) if one.state != OK]
    assert only(found).state == FAIL and f"runs as {account}, and should as " in only(found).words
    assert 'obj= "' in only(found).advice


def test_services_that_do_not_run():
    found = of_services(
        states={"azure-maintenance": STOPPED, "azure-maintenance-health": OSError(5, "Access is denied")}
    )
    assert [(one.state, one.what) for one in found] == [(FAIL, "watcher"), (FAIL, "reports"), (WARN, "health")]
    assert "azure-maintenance is stopped" in found[0].words and "net start azure-maintenance;" in found[0].advice
    assert "there is no service azure-maintenance-reports" in found[1].words


# --- who may do what ---

STATE = r"C:\ProgramData\AzureMaintenance"
OF_ADMINISTRATORS = "O:BAD:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)"


def of_health(monkeypatch, lists):
    monkeypatch.setattr(check_windows.os.path, "join", lambda *parts: "\\".join(parts))
    return check_windows.health_account(STATE, Machine(lists=lists).list_of)


def test_the_account_of_the_health_endpoint_sees_the_mark(monkeypatch):
    assert of_health(monkeypatch, {}) == [], "there is no state yet"
    assert only(of_health(monkeypatch, {STATE: "O:BA" + folders()[STATE]})).state == OK
    closed = only(of_health(monkeypatch, {STATE: OF_ADMINISTRATORS}))
    assert closed.state == FAIL and "can't see whether there is a mark" in closed.words
    assert closed.advice.startswith("powershell Restart-Service azure-maintenance; when it starts, the watcher lets")


def test_of_a_mark_that_is_there_its_own_list_counts(monkeypatch):
    state, mark = "O:BA" + folders()[STATE], STATE + r"\mark.json"
    seen = f"O:SYD:AI(A;ID;FA;;;SY)(A;ID;FA;;;BA)(A;ID;0x100080;;;{HEALTH_SID})"
    for own, expected in ((seen, OK), ("O:SYD:AI(A;ID;FA;;;SY)", FAIL), ("O:SYD:AI(A;ID;FR;;;BU)", WARN)):
        assert only(of_health(monkeypatch, {STATE: state, mark: own})).state == expected
    for path in (STATE, mark):
        found = only(of_health(monkeypatch, {path: OSError(5, "Access is denied")}))
        assert found.state == WARN and "can't be seen: Access is denied" in found.words


def test_the_account_of_the_sender_reads_settings_and_secrets():
    settings, secret = STATE + r"\config\watcher.json", STATE + r"\config\secrets\report-1"
    wanted = Configuration(reports=(Destination("https://example.com/", secret), Destination("https://example.org/")))
    reads = OF_ADMINISTRATORS + f"(A;;FR;;;{REPORTS_SID})"
    for lists, expected in (
        ({settings: reads, secret: reads}, []),
        ({settings: reads}, []),
        ({settings: OF_ADMINISTRATORS, secret: reads}, [(FAIL, settings)]),
        ({settings: reads, secret: OF_ADMINISTRATORS}, [(FAIL, secret)]),
        ({settings: OSError(5, "Access is denied"), secret: reads}, [(WARN, settings)]),
    ):
        found = check_windows.sender_account(settings, wanted, Machine(lists=lists).list_of)
        assert [(one.state, path) for one, (_state, path) in zip(found, expected)] == expected
        assert all(path in one.words for one, (_state, path) in zip(found, expected)) and len(found) == len(expected)
