# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a PowerShell is held open on a Windows machine over one of Ansible's connections, which logs in as it does for every task.

Private to this collection.

Ansible's connections run a command to its end. Over winrm and ssh its standard input and output stay open here, by the parts of the connection
plugins (winrm of pywinrm 0.5 and newer, ssh) that are the same from ansible-core 2.16 to 2.21. psrp holds a runspace open itself, and is used as
it is: what is defined there stays for its next command.
"""

from __future__ import annotations

import contextlib
import os
import select
import shlex
import subprocess
import time
from typing import Any, Protocol

from . import scripts

STARTED = 60.0
"""Seconds in which the program has said its first word over ssh."""

SHORTEST = 5
"""Seconds by which WinRM's answer has to come before pywinrm stops to wait for one."""

ONE_SEND = 100_000
"""Bytes that are sent at once over WinRM: its envelopes have a limit of 500 kB, and base64 and SOAP come to it."""


class Broken(Exception):
    """Nobody can speak with the program any more."""


class Channel(Protocol):
    """Made of Ansible's connection and the name that its first word has."""

    def send(self, data: bytes) -> None:
        """A line."""

    def receive(self, seconds: float) -> bytes:
        """What has come; nothing after so many seconds at the latest."""

    def close(self) -> None:
        """Let it end; the connection stays. Never fails."""


class WinRM:
    def __init__(self, connection: Any, name: str) -> None:
        from winrm.exceptions import WinRMOperationTimeoutError

        self._nothing_came = WinRMOperationTimeoutError
        connection._connect()
        self._protocol, self._shell = connection.protocol, connection.shell_id
        self._command = self._protocol.run_command(self._shell, scripts.command(name), console_mode_stdin=False)
        try:
            self.send(scripts.first_input())
        except Exception:
            self.receive(SHORTEST)  # one that has ended at once has said why
            raise

    def send(self, data: bytes) -> None:
        for at in range(0, len(data), ONE_SEND):
            self._protocol.send_command_input(self._shell, self._command, data[at : at + ONE_SEND])

    def receive(self, seconds: float) -> bytes:
        before = self._protocol.operation_timeout_sec
        longest = max(1, self._protocol.read_timeout_sec - SHORTEST)
        self._protocol.operation_timeout_sec = max(1, min(round(seconds), longest))
        try:
            out, said, _status, is_over = self._protocol.get_command_output_raw(self._shell, self._command)
        except self._nothing_came:
            return b""
        finally:
            self._protocol.operation_timeout_sec = before
        if is_over and not out:
            raise Broken(said.decode("utf-8", "replace")[:2000] or "PowerShell has ended")
        return bytes(out)

    def close(self) -> None:
        with contextlib.suppress(Exception):
            self._protocol.cleanup_command(self._shell, self._command)


class Psrp:
    """In the runspace of the connection. It has no standard input: whoever waits there waits to the end, and that nobody says a word ends nothing."""

    def __init__(self, connection: Any, name: str) -> None:
        connection._connect()
        self._connection, self._came = connection, b""
        self._run(scripts.kept(name))

    def send(self, data: bytes) -> None:
        if data.strip():
            self._run(scripts.asked(data))

    def _run(self, text: str) -> None:
        _status, out, said = self._connection.exec_command(text, sudoable=False)
        self._came = out.strip() + b"\n"
        if not out.strip():
            raise Broken(said.decode("utf-8", "replace")[:2000] or "PowerShell did not say anything")

    def receive(self, seconds: float) -> bytes:
        came, self._came = self._came, b""
        return came

    def close(self) -> None:
        """The runspace is the connection's."""


class _Pipes:
    """A process here whose standard input and output are the program's."""

    _stdin: Any
    _process: Any
    _came = b""

    def send(self, data: bytes) -> None:
        try:
            self._stdin.write(data)
            self._stdin.flush()
        except (OSError, ValueError) as error:
            raise Broken(f"its process has ended ({error})") from error

    def receive(self, seconds: float) -> bytes:
        came, self._came = self._came, b""
        if came:
            return came
        if not select.select([self._process.stdout], [], [], seconds)[0]:
            return b""
        came = self._process.stdout.read()  # it does not block
        if not came:
            raise Broken("its process has ended")
        return bytes(came)

    def close(self) -> None:
        with contextlib.suppress(Exception):
            self._stdin.close()
            self._process.terminate()
        with contextlib.suppress(Exception):
            self._process.wait(2)


class Ssh(_Pipes):
    """Ansible's own code starts ssh and logs in, up to where it would send all of standard input."""

    def __init__(self, connection: Any, name: str) -> None:
        own = connection._send_initial_data

        def hold(stdin: Any, data: bytes, process: Any) -> None:
            with contextlib.suppress(OSError):
                stdin.write(data)
                stdin.flush()
            self._stdin, self._process = stdin, process
            self._came = _first_words(process)
            if not self._came:
                own(stdin, b"", process)  # Ansible says what is wrong
                return
            raise _Held

        connection._send_initial_data = hold
        try:
            status, out, said = connection.exec_command(
                scripts.command(name), in_data=scripts.first_input(), sudoable=False
            )
            raise Broken(
                (said or out).decode("utf-8", "replace")[:2000] or f"PowerShell has ended with status {status}"
            )
        except _Held:
            pass
        finally:
            del connection._send_initial_data


class _Held(BaseException):
    """Leaves Ansible's code that has started ssh, without its end."""


def _first_words(process: Any) -> bytes:
    """The first line, at least; nothing where the process has ended without one."""
    until, came = time.monotonic() + STARTED, b""
    while b"\n" not in came and time.monotonic() < until:
        if select.select([process.stdout], [], [], 1.0)[0]:
            more = process.stdout.read()  # it does not block: Ansible has set it so
            if not more and process.poll() is not None:
                return b""
            came += more or b""
        elif process.poll() is not None:
            return b""
    return came


class Local(_Pipes):
    """A process of this machine: where ``ansible_connection=local`` has a PowerShell for a shell, as in tests."""

    def __init__(self, _connection: Any, name: str) -> None:
        self._process = subprocess.Popen(
            shlex.split(scripts.command(name)), bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._stdin = self._process.stdin
        os.set_blocking(self._process.stdout.fileno(), False)
        self.send(scripts.first_input())


CHANNELS: dict[str, type[WinRM] | type[Ssh] | type[Psrp] | type[Local]] = {
    "winrm": WinRM,
    "psrp": Psrp,
    "ssh": Ssh,
    "local": Local,
}
"""By the transport of Ansible's connection."""


def refusal(transport: str, becomes: bool) -> str:
    """Why a Windows machine can't be asked, in a sentence; "" where it can.

    :arg transport: of Ansible's connection
    :arg becomes: whether Ansible becomes another user there, which it does within each of its modules only
    """
    if transport not in CHANNELS:
        return f"A Windows machine is reached by winrm, psrp or ssh, and not by {transport} (ansible_connection)."
    if becomes:
        return (
            "ansible_become does not work on a Windows machine, as one PowerShell stays there for all that is asked, whose user is that of the "
            "login: set ansible_become to false there, and log in as a user that may do it."
        )
    if transport == "winrm" and not _is_pywinrm_new_enough():
        return (
            "The controller's pywinrm is too old: install 0.5 or newer for the Python that runs Ansible (pip install "
            "--upgrade pywinrm), or into the execution environment."
        )
    return ""


def _is_pywinrm_new_enough() -> bool:
    try:
        from winrm.protocol import Protocol as Spoken
    except ImportError:  # Ansible says so
        return True
    return hasattr(Spoken, "get_command_output_raw") and hasattr(Spoken, "send_command_input")
