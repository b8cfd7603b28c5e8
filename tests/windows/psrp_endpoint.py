# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What answers as Windows' PowerShell remoting does (PSRP over WS-Management), on loopback: in front of ``pwsh -s``, which speaks PSRP over its
standard streams. A runspace is one of these. Only what pypsrp asks for.
"""

import contextlib
import os
import re
import signal
import subprocess
import threading
import uuid
from typing import Any

from ansible_collections.cloudops.azure_maintenance.tests.windows.winrm_endpoint import (
    NAMES,
    NO_SHELL,
    SHELL,
    TIMED_OUT,
    Fault,
    Handler,
    WinRM,
)

POOL = "00000000-0000-0000-0000-000000000000"
"""What concerns no command, but the runspace."""

_PACKET = re.compile(r"<(\w+) .*?PSGuid='([^']+)'\s*(?:/>|>([^<]*)</Data>)")


class Runspace:
    """What came from it waits until it is fetched, by the command that it is of."""

    def __init__(self, environment):
        self._came = threading.Condition()
        self._data: dict[str, list[str]] = {}
        self._accepted: set[str] = set()
        self.process: Any = subprocess.Popen(
            ["pwsh", "-s", "-NoLogo", "-NoProfile"],
            env=environment,
            start_new_session=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            packet = _PACKET.match(line.decode())
            if packet:
                with self._came:
                    kind, command, data = packet[1], packet[2].lower(), packet[3]
                    if kind == "Data":
                        self._data.setdefault(command, []).append(data)
                    elif kind == "CommandAck":
                        self._accepted.add(command)
                    self._came.notify_all()

    def write(self, packet):
        self.process.stdin.write(packet.encode() + b"\n")
        self.process.stdin.flush()

    def send(self, data, command=POOL):
        self.write(f"<Data Stream='Default' PSGuid='{command}'>{data}</Data>")

    def begin(self, command):
        self.write(f"<Command PSGuid='{command}' />")
        with self._came:
            self._came.wait_for(lambda: command in self._accepted, 60)

    def receive(self, command, seconds):
        with self._came:
            if not self._came.wait_for(lambda: self._data.get(command), seconds):
                raise Fault(TIMED_OUT)
            return self._data.pop(command)

    def end(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


class PSRP(WinRM):
    """To be used in a ``with``. `shells`: the runspaces, by their ids"""

    def end_all(self):
        for runspace in self.shells.values():
            runspace.end()
        self.shells.clear()


class _Handler(Handler):
    def _create(self, envelope):
        shell = envelope.find("s:Body/rsp:Shell", NAMES)
        name = (shell.get("ShellId") or str(uuid.uuid4())).upper()
        runspace = self._winrm.shells[name] = Runspace(self._winrm.environment)
        runspace.send(next(part.text for part in shell.iter() if part.tag.endswith("creationXml")))
        address = NAMES["a"]
        resource = envelope.findtext("s:Header/w:ResourceURI", "", NAMES)
        return (
            '<x:ResourceCreated xmlns:x="http://schemas.xmlsoap.org/ws/2004/09/transfer">'
            f"<a:Address>{address}/role/anonymous</a:Address><a:ReferenceParameters><w:ResourceURI>{resource}</w:ResourceURI>"
            f'<w:SelectorSet><w:Selector Name="ShellId">{name}</w:Selector></w:SelectorSet></a:ReferenceParameters></x:ResourceCreated>'
            f"<rsp:Shell><rsp:ShellId>{name}</rsp:ShellId></rsp:Shell>"
        )

    def _shell(self, envelope):
        name = envelope.findtext("s:Header/w:SelectorSet/w:Selector[@Name='ShellId']", "", NAMES).upper()
        if name not in self._winrm.shells:
            raise Fault(NO_SHELL)
        return self._winrm.shells[name]

    def _command(self, envelope):
        line, runspace = envelope.find("s:Body/rsp:CommandLine", NAMES), self._shell(envelope)
        command = (line.get("CommandId") or str(uuid.uuid4())).lower()
        runspace.begin(command)
        for part in line:
            if part.tag.endswith("Arguments"):
                runspace.send(part.text, command)
        return f"<rsp:CommandResponse><rsp:CommandId>{command.upper()}</rsp:CommandId></rsp:CommandResponse>"

    def _send(self, envelope):
        for part in envelope.find("s:Body/rsp:Send", NAMES):
            self._shell(envelope).send(part.text, (part.get("CommandId") or POOL).lower())
        return "<rsp:SendResponse/>"

    def _receive(self, envelope):
        stream = envelope.find("s:Body/rsp:Receive/rsp:DesiredStream", NAMES)
        command = (stream.get("CommandId") or POOL).lower()
        seconds = float(envelope.findtext("s:Header/w:OperationTimeout", "PT20S", NAMES)[2:-1])
        of = f' CommandId="{command.upper()}"' if command != POOL else ""
        data = "".join(
            f'<rsp:Stream Name="stdout"{of}>{one}</rsp:Stream>'
            for one in self._shell(envelope).receive(command, seconds)
        )
        state = f'<rsp:CommandState{of} State="{SHELL}/CommandState/Running"/>' if of else ""
        return f"<rsp:ReceiveResponse>{data}{state}</rsp:ReceiveResponse>"

    def _signal(self, envelope):
        command = envelope.find("s:Body/rsp:Signal", NAMES).get("CommandId").lower()
        self._shell(envelope).write(f"<Signal PSGuid='{command}' />")
        return "<rsp:SignalResponse/>"

    def _delete(self, envelope):
        runspace = self._shell(envelope)
        runspace.end()
        self._winrm.shells = {name: one for name, one in self._winrm.shells.items() if one is not runspace}
        return ""


PSRP.handler = _Handler
