# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What answers as WinRM does (WS-Management's remote shell), on loopback: pywinrm runs its commands on this machine.

No encryption, no quotas; a command is run by sh, where Windows has cmd.exe. Only what pywinrm asks for.
"""

import base64
import contextlib
import os
import signal
import subprocess
import threading
import uuid
import xml.etree.ElementTree as ElementTree
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SHELL = "http://schemas.microsoft.com/wbem/wsman/1/windows/shell"
NAMES = {
    "s": "http://www.w3.org/2003/05/soap-envelope",
    "a": "http://schemas.xmlsoap.org/ws/2004/08/addressing",
    "w": "http://schemas.dmtf.org/wbem/wsman/1/wsman.xsd",
    "f": "http://schemas.microsoft.com/wbem/wsman/1/wsmanfault",
    "rsp": SHELL,
}
XMLNS = " ".join(f'xmlns:{name}="{address}"' for name, address in NAMES.items())
USER, PASSWORD = "user", "password"

# Faults as Windows has them: number, SOAP code, its detail
TIMED_OUT = (2150858793, "s:Receiver", "w:TimedOut")
NO_SHELL = (2150858843, "s:Sender", "w:InvalidSelectors")
NO_COMMAND = (87, "s:Sender", "w:InvalidParameter")
CLOSED = (232, "s:Receiver", "w:InternalError")


class Fault(Exception):
    pass


class Command:
    """A program in a group of its own, whose output waits until it is fetched."""

    def __init__(self, line, environment):
        self._came, self._output, self._errors = threading.Condition(), b"", b""
        self.status = None
        self.process: Any = subprocess.Popen(
            ["sh", "-c", line],
            env=environment,
            bufsize=0,
            start_new_session=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for more in iter(lambda: self.process.stdout.read(65536), b""):
            with self._came:
                self._output += more
                self._came.notify_all()
        errors = self.process.stderr.read()
        with self._came:
            self._errors, self.status = errors, self.process.wait()
            self._came.notify_all()

    def send(self, data, is_last):
        try:
            while data:
                data = data[self.process.stdin.write(data) :]
            if is_last:
                self.process.stdin.close()
        except (OSError, ValueError) as error:
            raise Fault(CLOSED) from error

    def receive(self, seconds):
        """Output, errors, and the status where it has ended."""
        with self._came:
            if not self._came.wait_for(lambda: self._output or self.status is not None, seconds):
                raise Fault(TIMED_OUT)
            output, self._output = self._output, b""
            return output, self._errors, self.status

    def end(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)


class WinRM(ThreadingHTTPServer):
    """To be used in a ``with``. `shells`: the commands of each, by their ids; `asked`: the names of what was asked for."""

    daemon_threads = True
    handler: Any

    def __init__(self, path, **environment):
        super().__init__(("127.0.0.1", 0), self.handler)
        self.environment = dict(
            os.environ, PATH=path, **{name: value for name, value in environment.items() if name != "PATH"}
        )
        self.shells, self.asked, self.refused = {}, [], 0

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()
        self.end_all()

    def end_all(self):
        """As a start of the machine does."""
        for commands in self.shells.values():
            for command in commands.values():
                command.end()
        self.shells.clear()

    def commands(self):
        return [command for commands in self.shells.values() for command in commands.values()]


class Handler(BaseHTTPRequestHandler):
    protocol_version, disable_nagle_algorithm = "HTTP/1.1", True
    allowed = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()

    @property
    def _winrm(self) -> Any:
        return self.server

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers["Authorization"] != self.allowed:
            self._winrm.refused += 1
            self._answer(401, b"")
            return
        envelope = ElementTree.fromstring(body)
        action = envelope.findtext("s:Header/a:Action", "", NAMES).rpartition("/")[2]
        self._winrm.asked.append(action)
        try:
            status, said = 200, getattr(self, "_" + action.lower())(envelope)
        except Fault as fault:
            number, code, detail = fault.args[0]
            status, said = (
                500,
                (
                    f"<s:Fault><s:Code><s:Value>{code}</s:Value><s:Subcode><s:Value>{detail}</s:Value></s:Subcode></s:Code>"
                    f'<s:Reason><s:Text>no</s:Text></s:Reason><s:Detail><f:WSManFault Code="{number}"><f:Message>no</f:Message>'
                    "</f:WSManFault></s:Detail></s:Fault>"
                ),
            )
        related = envelope.findtext("s:Header/a:MessageID", "", NAMES)
        header = f"<s:Header><a:RelatesTo>{related}</a:RelatesTo></s:Header>"
        self._answer(status, f"<s:Envelope {XMLNS}>{header}<s:Body>{said}</s:Body></s:Envelope>".encode())

    def _answer(self, status, body):
        self.send_response(status)
        if status == 401:
            self.send_header("WWW-Authenticate", 'Basic realm="WSMAN"')
        self.send_header("Content-Type", "application/soap+xml;charset=UTF-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _create(self, _envelope):
        name = str(uuid.uuid4()).upper()
        self._winrm.shells[name] = {}
        return f'<w:SelectorSet><w:Selector Name="ShellId">{name}</w:Selector></w:SelectorSet>'

    def _shell(self, envelope):
        name = envelope.findtext("s:Header/w:SelectorSet/w:Selector[@Name='ShellId']", "", NAMES)
        if name not in self._winrm.shells:
            raise Fault(NO_SHELL)
        return self._winrm.shells[name]

    def _of(self, envelope, path):
        """The element of the request that names a command, and the command."""
        element = envelope.find(f"s:Body/{path}", NAMES)
        command = self._shell(envelope).get(element.get("CommandId"))
        if command is None:
            raise Fault(NO_COMMAND)
        return element, command

    def _command(self, envelope):
        line = envelope.find("s:Body/rsp:CommandLine", NAMES)
        name = str(uuid.uuid4()).upper()
        words = " ".join(word.text or "" for word in line)
        self._shell(envelope)[name] = Command(words, self._winrm.environment)
        return f"<rsp:CommandResponse><rsp:CommandId>{name}</rsp:CommandId></rsp:CommandResponse>"

    def _send(self, envelope):
        element, command = self._of(envelope, "rsp:Send/rsp:Stream")
        command.send(base64.b64decode(element.text or ""), element.get("End", "").lower() == "true")
        return "<rsp:SendResponse/>"

    def _receive(self, envelope):
        element, command = self._of(envelope, "rsp:Receive/rsp:DesiredStream")
        seconds = float(envelope.findtext("s:Header/w:OperationTimeout", "PT20S", NAMES)[2:-1])
        output, errors, status = command.receive(seconds)
        name = element.get("CommandId")
        streams = "".join(
            f'<rsp:Stream Name="{kind}" CommandId="{name}">{base64.b64encode(data).decode()}</rsp:Stream>'
            for kind, data in (("stdout", output), ("stderr", errors))
            if data
        )
        state = "Running" if status is None else "Done"
        code = "" if status is None else f"<rsp:ExitCode>{status}</rsp:ExitCode>"
        return (
            f'<rsp:ReceiveResponse>{streams}<rsp:CommandState CommandId="{name}" '
            f'State="{SHELL}/CommandState/{state}">{code}</rsp:CommandState></rsp:ReceiveResponse>'
        )

    def _signal(self, envelope):
        self._of(envelope, "rsp:Signal")[1].end()
        return "<rsp:SignalResponse/>"

    def _delete(self, envelope):
        commands = self._shell(envelope)
        for command in commands.values():
            command.end()
        commands.clear()
        return ""


WinRM.handler = Handler
