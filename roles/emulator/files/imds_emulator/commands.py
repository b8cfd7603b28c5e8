# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A command in a network namespace of its own, as if it ran on a VM: the metadata service is at Azure's address.

The command's process makes the namespace and the listening sockets in it, and hands these to the emulator, which stays
outside and answers on them. So nothing is forwarded, and only what was made here is ever asked by that address.
"""

import array
import json
import os
import signal
import socket
import sys
from typing import Any, Dict, List, NoReturn, Optional, Sequence, Tuple

from . import namespaces
from .problems import Problem

AZURE = "169.254.169.254"
METADATA_PORT = 80
NOT_STARTED, NOT_EXECUTABLE, NOT_FOUND, BY_SIGNAL = 125, 126, 127, 128
GO = b"go"


class Command:
    """One command for one VM: forked at once, begun by `begin`."""

    def __init__(self, vm: str, words: Sequence[str], addresses: Sequence[str]) -> None:
        self.vm = vm
        self.status: Optional[int] = None  # as a shell counts: 128 and a signal's number when that ended it
        self._parent, child = socket.socketpair()
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if self.pid == 0:
            self._parent.close()
            _run_child(child, vm, words, addresses)
        child.close()
        head, listeners = _receive(self._parent, len(addresses) + 1)
        if "error" in head:
            os.waitpid(self.pid, 0)
            raise Problem(head["error"])
        self.namespace: str = head["namespace"]
        self.metadata, self.control = listeners[:-1], listeners[-1]

    def begin(self) -> None:
        """The emulator answers: let it run."""
        with self._parent:
            try:
                self._parent.sendall(GO)
            except OSError:  # it was killed before it began
                pass

    def reap(self) -> bool:
        """Has it ended?"""
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                killed = os.WIFSIGNALED(status)
                self.status = BY_SIGNAL + os.WTERMSIG(status) if killed else os.WEXITSTATUS(status)
        return self.status is not None

    def send(self, signal_number: int) -> None:
        """A signal, as long as it runs."""
        if self.status is None:
            os.kill(self.pid, signal_number)

    def left_behind(self) -> List[int]:
        """What it started and did not end."""
        return namespaces.processes_in(self.namespace)


def _run_child(parent: socket.socket, vm: str, words: Sequence[str], addresses: Sequence[str]) -> NoReturn:
    """Become the command. Whatever happens, this process does not go on as a second emulator."""
    status = NOT_STARTED
    try:
        environment = _prepare(parent, vm, addresses)
        namespaces.end_with_parent(signal.SIGTERM)
        if parent.recv(len(GO)) == GO:
            status = _become(words, environment)
    except Problem as problem:
        _send(parent, {"error": str(problem)}, [])
    except OSError as error:
        _send(parent, {"error": f"the network namespace of {vm} can't be set up: {error}"}, [])
    finally:
        os._exit(status)


def _prepare(parent: socket.socket, vm: str, addresses: Sequence[str]) -> Dict[str, str]:
    namespace = namespaces.enter_new(addresses)
    metadata = namespaces.listen(addresses, METADATA_PORT)
    control = namespaces.listen(["127.0.0.1"], 0)
    _send(parent, {"namespace": namespace}, metadata + control)
    host, port = control[0].getsockname()
    return dict(os.environ, AZURE_EMULATOR_VM=vm, AZURE_EMULATOR_CONTROL=f"http://{host}:{port}")


def _become(words: Sequence[str], environment: Dict[str, str]) -> int:
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, and a command would inherit that
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvpe(words[0], list(words), environment)
    except OSError as error:
        print(f"imds_emulator: {words[0]} can't be run: {error.strerror}", file=sys.stderr, flush=True)
        return NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_EXECUTABLE


def _send(peer: socket.socket, head: Dict[str, Any], sockets: Sequence[socket.socket]) -> None:
    numbers = array.array("i", [one.fileno() for one in sockets])
    attached = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, numbers)] if sockets else []
    try:
        peer.sendmsg([json.dumps(head).encode("utf-8")], attached)
    except OSError:  # the emulator has ended
        pass


def _receive(peer: socket.socket, most: int) -> Tuple[Dict[str, Any], List[socket.socket]]:
    numbers = array.array("i")
    data, attached, _flags, _address = peer.recvmsg(65536, socket.CMSG_SPACE(most * numbers.itemsize))
    for level, kind, content in attached:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            numbers.frombytes(content[: len(content) - len(content) % numbers.itemsize])
    sockets = [socket.socket(socket.AF_INET, socket.SOCK_STREAM, fileno=number) for number in numbers]
    return json.loads(data.decode("utf-8")) if data else {"error": "a command's process ended at once"}, sockets
