# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a program is held open on a Windows machine over one of Ansible's connections, which logs in as it does for every task.

Private to this collection.

Ansible's connections run a command to its end. Here its standard input and output stay open, by the parts of the connection plugins (winrm of
pywinrm 0.5 and newer, ssh) that are the same from ansible-core 2.16 to 2.21.
"""

from __future__ import annotations

import contextlib
import select
import time
from typing import Any, Protocol

STARTED = 60.0
"""Seconds in which the program has said its first word over ssh."""

SHORTEST = 5
"""Seconds by which WinRM's answer has to come before pywinrm stops to wait for one."""

ONE_SEND = 100_000
"""Bytes that are sent at once over WinRM: its envelopes have a limit of 500 kB, and base64 and SOAP come to it."""


class Broken(Exception):
    """Nobody can speak with the program any more."""


class Channel(Protocol):
    def send(self, data: bytes) -> None:
        """To its standard input."""

    def receive(self, seconds: float) -> bytes:
        """What has come on its standard output; nothing after so many seconds at the latest."""

    def close(self) -> None:
        """Let it end; the connection stays. Never fails."""


class WinRM:
    """
    :arg connection: Ansible's
    :arg command: of the program
    :arg first: what is sent at once
    """

    def __init__(self, connection: Any, command: str, first: bytes) -> None:
        from winrm.exceptions import WinRMOperationTimeoutError

        self._nothing_came = WinRMOperationTimeoutError
        connection._connect()
        self._protocol, self._shell = connection.protocol, connection.shell_id
        self._command = self._protocol.run_command(self._shell, command, console_mode_stdin=False)
        try:
            self.send(first)
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


class Ssh:
    """The same over ssh: Ansible's own code starts it and logs in, up to where it would send all of standard input."""

    def __init__(self, connection: Any, command: str, first: bytes) -> None:
        self._came = b""
        self._process: Any = None
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
            status, out, said = connection.exec_command(command, in_data=first, sudoable=False)
            raise Broken(
                (said or out).decode("utf-8", "replace")[:2000] or f"PowerShell has ended with status {status}"
            )
        except _Held:
            pass
        finally:
            del connection._send_initial_data

    def send(self, data: bytes) -> None:
        try:
            self._stdin.write(data)
            self._stdin.flush()
        except (OSError, ValueError) as error:
            raise Broken(f"ssh has ended ({error})") from error

    def receive(self, seconds: float) -> bytes:
        came, self._came = self._came, b""
        if came:
            return came
        if not select.select([self._process.stdout], [], [], seconds)[0]:
            return b""
        came = self._process.stdout.read()
        if not came:
            raise Broken("ssh has ended")
        return bytes(came)

    def close(self) -> None:
        with contextlib.suppress(Exception):
            self._stdin.close()
            self._process.terminate()
        with contextlib.suppress(Exception):
            self._process.wait(2)


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


CHANNELS: dict[str, type[WinRM] | type[Ssh]] = {"winrm": WinRM, "ssh": Ssh}
"""By the transport of Ansible's connection."""


def may_hold(connection: Any) -> bool:
    """Whether a program can be held open over this connection."""
    if connection.transport not in CHANNELS:
        return False
    if connection.transport != "winrm":
        return True
    try:
        from winrm.protocol import Protocol as Spoken
    except ImportError:  # Ansible says so
        return False
    return hasattr(Spoken, "get_command_output_raw") and hasattr(Spoken, "send_command_input")
