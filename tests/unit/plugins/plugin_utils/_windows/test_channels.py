# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A program held open over what plays Ansible's connections; tests/windows has the real ones."""

import fcntl
import os
import subprocess
import types

import pytest
import winrm.protocol
from winrm.exceptions import WinRMOperationTimeoutError

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._windows import channels, scripts
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._windows.channels import (
    Broken,
    Local,
    Psrp,
    Ssh,
    WinRM,
    refusal,
)

LONG = 30.0


@pytest.fixture(autouse=True)
def first(monkeypatch):
    monkeypatch.setattr(scripts, "first_input", lambda: b"first\n")


class Protocol:
    """pywinrm's. `outputs`: what comes, one after the other: (output, errors, status, whether it is over); exceptions are raised"""

    operation_timeout_sec, read_timeout_sec = 20, 30

    def __init__(self, *outputs, refuses=()):
        self.outputs, self.refuses = list(outputs), list(refuses)
        self.sent, self.limits, self.ended = [], [], 0

    def run_command(self, shell, command, console_mode_stdin):
        assert (shell, console_mode_stdin) == ("shell", False)
        return command

    def send_command_input(self, shell, command, data):
        if self.refuses:
            raise self.refuses.pop(0)
        self.sent.append(data)

    def get_command_output_raw(self, shell, command):
        self.limits.append(self.operation_timeout_sec)
        came = self.outputs.pop(0)
        if isinstance(came, Exception):
            raise came
        return came

    def cleanup_command(self, shell, command):
        self.ended += 1
        raise OSError("the machine is gone")


def over(protocol):
    connection = types.SimpleNamespace(_connect=lambda: None, protocol=protocol, shell_id="shell")
    return WinRM(connection, "name")


def test_winrm():
    protocol = Protocol((b"hello\n", b"", 0, False), WinRMOperationTimeoutError(), (b"", b"no memory", 1, True))
    channel = over(protocol)
    channel.send(b"x" * (channels.ONE_SEND + 1))
    assert list(map(len, protocol.sent)) == [6, channels.ONE_SEND, 1], "its envelopes have a limit"
    assert channel.receive(LONG) == b"hello\n"
    assert channel.receive(0.1) == b""
    with pytest.raises(Broken, match="no memory"):
        channel.receive(3.0)
    assert protocol.limits == [25, 1, 3], "in time for pywinrm, which waits for 30 s, and never 0"
    assert protocol.operation_timeout_sec == 20, "as Ansible's own commands have it"
    channel.close()
    assert protocol.ended == 1


def test_over_winrm_one_that_has_ended_at_once_has_said_why():
    with pytest.raises(Broken, match="blocked by group policy"):
        over(Protocol((b"", b"blocked by group policy", 1, True), refuses=[OSError("the pipe is being closed")]))
    with pytest.raises(OSError, match="no route"):
        over(Protocol((b"", b"", 0, False), refuses=[OSError("no route")]))


class Connection:
    """Ansible's ssh, as far as a command gets its standard input: it starts this script in the place of ssh."""

    def __init__(self, script):
        self.script, self.process = script, None

    def exec_command(self, command, in_data, sudoable):
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        self.process = subprocess.Popen(["sh", "-c", self.script], bufsize=0, **pipes)
        output = self.process.stdout.fileno()
        fcntl.fcntl(output, fcntl.F_SETFL, fcntl.fcntl(output, fcntl.F_GETFL) | os.O_NONBLOCK)
        self._send_initial_data(self.process.stdin, in_data, self.process)
        return self.process.wait(), b"", self.process.stderr.read()

    def _send_initial_data(self, stdin, data, process):
        stdin.close()


def test_ssh():
    connection = Connection("read first; echo hello $first; while read line; do echo $line; done")
    channel = Ssh(connection, "name")
    assert channel.receive(LONG) == b"hello first\n"
    assert channel.receive(0.01) == b""
    channel.send(b"second\n")
    assert channel.receive(LONG) == b"second\n"
    assert "_send_initial_data" not in vars(connection), "Ansible's own commands go as before"
    channel.close()
    assert connection.process.returncode is not None
    with pytest.raises(Broken, match="its process has ended"):
        channel.send(b"third\n")


def test_ssh_that_ends():
    connection = Connection("read first; echo hello; read second; exit 1")
    channel = Ssh(connection, "name")
    assert channel.receive(LONG) == b"hello\n"
    channel.send(b"second\n")
    with pytest.raises(Broken, match="its process has ended"):
        channel.receive(LONG)


@pytest.mark.parametrize(
    "script", ["echo 'no such host' >&2; exit 255", "exec >&-; sleep 1.5; echo 'no such host' >&2"]
)
def test_an_ssh_that_ends_without_a_word_says_why(script):
    with pytest.raises(Broken, match="no such host"):
        Ssh(Connection(script), "name")


class Runspace:
    """Ansible's psrp: what is run in the runspace that it holds open, and what that prints."""

    def __init__(self, *outputs):
        self.outputs, self.run, self.connected = list(outputs), [], 0

    def _connect(self):
        self.connected += 1

    def exec_command(self, command, sudoable):
        self.run.append(command)
        return self.outputs.pop(0)


def test_psrp():
    runspace = Runspace((0, b'{"line": "name"}\r\n', b""), (0, b'{"id": 1}', b""), (1, b"", b"no memory"))
    channel = Psrp(runspace, "name")
    assert runspace.connected and channel.receive(LONG) == b'{"line": "name"}\n'
    channel.send(b"\n")  # nobody there would hear it
    channel.send(b'{"id": 1, "of": "it\'s"}\n')
    assert channel.receive(LONG) == b'{"id": 1}\n'
    assert runspace.run[1:] == [scripts.ASK + '\'{"id": 1, "of": "it\'\'s"}\'']
    assert "$global:AzureMaintenanceLook = " in runspace.run[0] and runspace.run[0].endswith('\'{"line": "name"}\'')
    with pytest.raises(Broken, match="no memory"):
        channel.send(b"{}\n")
    channel.close()
    assert len(runspace.run) == 3, "the runspace is the connection's"


def test_local(monkeypatch):
    monkeypatch.setattr(scripts, "command", lambda name: f"sh -c 'while read line; do echo $line {name}; done'")
    channel = Local(None, "here")
    assert channel.receive(LONG) == b"first here\n"
    channel.send(b"second\n")
    assert channel.receive(LONG) == b"second here\n"
    channel.close()
    with pytest.raises(Broken):
        channel.send(b"third\n")


@pytest.mark.parametrize("transport", ["winrm", "psrp", "ssh", "local"])
def test_what_a_windows_machine_may_be_reached_by(transport, monkeypatch):
    assert refusal(transport, False) == ""
    assert "ansible_become" in refusal(transport, True)
    monkeypatch.delattr(winrm.protocol.Protocol, "get_command_output_raw")
    assert ("0.5" in refusal(transport, False)) == (transport == "winrm")


@pytest.mark.parametrize("transport", ["paramiko", "aws_ssm", ""])
def test_what_not(transport):
    assert "winrm, psrp or ssh" in refusal(transport, False)
