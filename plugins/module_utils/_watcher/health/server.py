# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Answers load balancers: a few connections at a time, each for a few seconds; and waits for all sockets of the process, in one thread.

Private to this collection.
"""

import math
import selectors
import socket
from typing import Callable, Dict, List, NamedTuple, Optional, Tuple

from ..._clock import Clock
from . import protocol
from .addresses import Sources
from .machine_state import Answer


class Watched(NamedTuple):
    """A socket that is waited for."""

    ready: Callable[[], None]
    until: float
    late: Callable[[], None]


class Poller:
    """The sockets of one process."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._selector = selectors.DefaultSelector()
        self._watched: Dict[int, Watched] = {}

    def after(self, seconds: float) -> float:
        """The point in time after so many seconds."""
        return self._clock.now() + seconds

    def watch(
        self,
        one: socket.socket,
        ready: Callable[[], None],
        until: float = math.inf,
        late: Callable[[], None] = lambda: None,
        writes: bool = False,
    ) -> None:
        """Wait until something can be read, or written, in the place of what this socket was waited for before.

        :arg ready: called whenever that is so, or the connection has failed
        :arg until: see :meth:`after`; then `late` is called instead
        """
        number, events = one.fileno(), selectors.EVENT_WRITE if writes else selectors.EVENT_READ
        if number in self._watched:
            self._selector.modify(number, events)
        else:
            self._selector.register(number, events)
        self._watched[number] = Watched(ready, until, late)

    def forget(self, one: socket.socket) -> None:
        """Before it is closed."""
        if self._watched.pop(one.fileno(), None):
            self._selector.unregister(one.fileno())

    def turn(self, most: Optional[float] = None) -> None:
        """Wait once, for whatever comes first, and call who waits for it.

        :arg most: seconds; None for as long as it takes
        """
        next_at = min((one.until for one in self._watched.values()), default=math.inf)
        left = max(0.0, next_at - self._clock.now())
        left = left if most is None else min(left, most)
        for key, _events in self._ready(left):
            found = self._watched.get(key.fd)  # the one before may have closed it
            if found:
                found.ready()
        now = self._clock.now()
        for one in [one for one in self._watched.values() if one.until <= now]:
            if one in self._watched.values():
                one.late()

    def _ready(self, seconds: float) -> List[Tuple[selectors.SelectorKey, int]]:
        if not self._watched:  # Windows does not wait for nothing
            self._clock.sleep(0.0 if seconds == math.inf else seconds)
            return []
        return self._selector.select(None if seconds == math.inf else seconds)


MOST_CONNECTIONS = 8
SECONDS = 2.0
"""For which a client may send its request, and for which it may take its answer."""

Ask = Callable[[Callable[[Answer], None]], None]
"""Calls its argument with the answer, at once or later."""


class Listener(NamedTuple):
    socket: socket.socket
    is_agent: bool = False  # it speaks HAProxy's agent-check, not HTTP


class Audience(NamedTuple):
    """Who gets which answer, beside this machine, which gets all."""

    health: Sources
    metrics: Sources


class Rights(NamedTuple):
    """What one client gets."""

    health: bool
    metrics: bool


class Server:
    """What is answered on some ports.

    :arg ask: gets the answer about health
    :arg patience: seconds that getting it takes at most
    :arg read_metrics: what they are; None where there are none
    """

    def __init__(
        self,
        listeners: List[Listener],
        poller: Poller,
        audience: Audience,
        ask: Ask,
        patience: float,
        read_metrics: Callable[[], Optional[bytes]],
    ) -> None:
        self.poller = poller
        self.ask = ask
        self.patience = patience
        self.read_metrics = read_metrics
        self._audience = audience
        self.connections: List[Connection] = []  # the oldest first
        for listener in listeners:
            self.listen(listener)

    def listen(self, listener: Listener) -> None:
        """Answer there, too."""
        listener.socket.setblocking(False)
        self.poller.watch(listener.socket, self._accepting(listener))

    def _accepting(self, listener: Listener) -> Callable[[], None]:
        def accept() -> None:
            try:
                client, peer = listener.socket.accept()
            except OSError:  # it has gone again
                return
            rights = self._rights(peer[0], client.getsockname()[0])
            if not (rights.health or (rights.metrics and not listener.is_agent)):
                client.close()
                return
            # One that says nothing keeps nobody out: the oldest makes room.
            while len(self.connections) >= MOST_CONNECTIONS:
                self.connections[0].close()
            connection = Connection(self, client, rights)
            self.connections.append(connection)
            connection.begin(listener.is_agent)

        return accept

    def _rights(self, host: str, own: str) -> Rights:
        is_local = host == own  # this machine may ask by any of its addresses
        return Rights(is_local or self._audience.health.answers(host), is_local or self._audience.metrics.answers(host))


class Connection:
    """One client."""

    def __init__(self, server: Server, client: socket.socket, rights: Rights) -> None:
        self._server = server
        self._client = client
        self._rights = rights
        self._received = self._unsent = b""
        self._is_open = True
        client.setblocking(False)

    def begin(self, is_agent: bool) -> None:
        """Afterwards it may be closed already: a client that gives up may have gone before it is accepted."""
        if is_agent:  # it need not say anything
            self._answer_later(protocol.agent_line)
        else:
            poller = self._server.poller
            poller.watch(self._client, self._read, poller.after(SECONDS), self.close)

    def close(self) -> None:
        if self._is_open:
            self._is_open = False
            self._server.poller.forget(self._client)
            self._client.close()
            self._server.connections.remove(self)

    def _read(self) -> None:
        self._received += self._taken(protocol.MOST_BYTES + 1 - len(self._received))
        request = protocol.request_of(self._received)
        if request is None or not self._is_open:
            return
        wants_body = request.wants_body
        if request.refusal:
            self._send(protocol.refused(request.refusal))
        elif not (self._rights.metrics if request.is_for_metrics else self._rights.health):
            self._send(protocol.refused(403))
        elif request.is_for_metrics:
            self._send(protocol.metrics_response(self._server.read_metrics(), wants_body))
        else:
            self._answer_later(lambda answer: protocol.response(answer, wants_body))

    def _answer_later(self, form: Callable[[Answer], bytes]) -> None:
        self._drain_for(self._server.patience + SECONDS)
        self._server.ask(lambda answer: self._send(form(answer)))

    def _send(self, content: bytes) -> None:
        """Closing it before the client has taken the answer would lose that, where something else has come from the client meanwhile."""
        if not self._is_open:
            return
        self._unsent = content
        poller = self._server.poller
        poller.watch(self._client, self._write, poller.after(SECONDS), self.close, writes=True)
        self._write()

    def _write(self) -> None:
        """All of it fits at once into what the system keeps for a connection, but for metrics where that is little."""
        try:
            self._unsent = self._unsent[self._client.send(self._unsent) :]
            if self._unsent:
                return
            self._client.shutdown(socket.SHUT_WR)
        except BlockingIOError:
            return
        except OSError:
            self.close()
            return
        self._drain_for(SECONDS)

    def _drain_for(self, seconds: float) -> None:
        poller = self._server.poller
        poller.watch(self._client, self._drain, poller.after(seconds), self.close)

    def _drain(self) -> None:
        self._taken(65536)

    def _taken(self, most: int) -> bytes:
        """What has come; closes the connection where nothing more will."""
        try:
            found = self._client.recv(most)
        except BlockingIOError:
            return b""
        except OSError:
            found = b""
        if not found:
            self.close()
        return found
