# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requests in, answers out, over kept-alive connections; and answers that are broken on purpose."""

import asyncio
import socket
import struct
import sys
import traceback
from email.utils import formatdate
from http import HTTPStatus
from typing import Any, Callable, List, Optional, Set, Union

from .answers import Answer, Delivery, error
from .http_parser import MAX_BODY, MAX_HEAD, Refused, Request, RequestParser

IDLE = 120  # seconds without a request, then a connection is closed
HELD = 3600  # ... and with one that is never answered
SWEEP = 5
BACKLOG = 1024

Handler = Callable[[Request], Union[Answer, "asyncio.Future[Answer]"]]


def reason(status: int) -> str:
    """The words beside a status."""
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Status"


class HttpServer:
    """A handler on one or more addresses."""

    def __init__(self, loop: asyncio.AbstractEventLoop, handler: Handler, name: str, idle: float = IDLE) -> None:
        self.loop = loop
        self.handler = handler
        self.name = name
        self.idle = idle
        self.connections: Set[Connection] = set()
        self._servers: List[Any] = []
        self._sweeping: Optional[asyncio.TimerHandle] = None
        self._date = (0, "")
        self.asked_at = loop.time()  # the last request

    async def listen(self, host: str, port: int) -> int:
        """Answer there too. Returns the port, which matters when 0 was asked for."""
        server = await self.loop.create_server(lambda: Connection(self), host, port, backlog=BACKLOG)
        self._add(server)
        return int(server.sockets[0].getsockname()[1])

    async def listen_on(self, listener: socket.socket, vm: str = "") -> None:
        """Answer on a socket, too; with `vm`, everybody who asks there is that VM."""
        self._add(await self.loop.create_server(lambda: Connection(self, vm), sock=listener, backlog=BACKLOG))

    def _add(self, server: Any) -> None:
        self._servers.append(server)
        if self._sweeping is None:
            self._sweep()

    def close(self) -> None:
        """Stop listening, drop all connections."""
        for server in self._servers:
            server.close()
        if self._sweeping is not None:
            self._sweeping.cancel()
        for connection in list(self.connections):
            connection.drop()

    def _sweep(self) -> None:
        now = self.loop.time()
        for connection in list(self.connections):
            if now - connection.active_at > (HELD if connection.busy else self.idle):
                connection.drop()
        self._sweeping = self.loop.call_later(min(SWEEP, self.idle), self._sweep)

    def head(self, answer: Answer, keep_alive: bool) -> bytes:
        """Status line and headers."""
        now = int(self.loop.time())
        if self._date[0] != now:
            self._date = (now, formatdate(usegmt=True))
        lines = [f"HTTP/1.1 {answer.status} {reason(answer.status)}"]
        if answer.status not in (204, 304):
            lines.append(f"Content-Length: {len(answer.body)}")
        if answer.content_type:
            lines.append(f"Content-Type: {answer.content_type}")
        lines += [f"{name}: {value}" for name, value in answer.headers]
        lines += [f"Server: {self.name}", f"Date: {self._date[1]}"]
        if not keep_alive:
            lines.append("Connection: close")
        return "\r\n".join(lines + ["", ""]).encode("latin-1")


class Connection(asyncio.Protocol):
    """One client. Requests are answered one after another, in order."""

    def __init__(self, server: HttpServer, vm: str = "") -> None:
        self._server = server
        self._vm = vm
        self._parser = RequestParser()
        self._transport: Any = None
        self._source = ""
        self._paused = False  # the client doesn't read
        self._held = False  # it sends far ahead: not read for now
        self._closing = False
        self._timer: Optional[asyncio.TimerHandle] = None
        self.busy = False  # a request is being answered
        self.active_at = server.loop.time()

    # -- called by asyncio

    def connection_made(self, transport: Any) -> None:
        """A client is there."""
        self._transport = transport
        peer = transport.get_extra_info("peername")
        if peer:
            self._source = peer[0][7:] if peer[0].startswith("::ffff:") else peer[0]
        self._server.connections.add(self)

    def connection_lost(self, exc: Optional[Exception]) -> None:
        """The client is gone."""
        self._closing = True
        if self._timer is not None:
            self._timer.cancel()
        self._server.connections.discard(self)

    def data_received(self, data: bytes) -> None:
        """Bytes from the client."""
        self._parser.feed(data)
        if not (self.busy or self._paused):
            self._work()
        elif self._parser.buffered > MAX_HEAD + MAX_BODY and not self._held:
            self._held = True
            self._transport.pause_reading()

    def pause_writing(self) -> None:
        """The client doesn't read what it asked for."""
        self._paused = True

    def resume_writing(self) -> None:
        """It reads again."""
        self._paused = False
        self._go_on()

    # -- requests

    def _go_on(self) -> None:
        if self._closing or self.busy or self._paused:
            return
        if self._held:
            self._held = False
            self._transport.resume_reading()
        self._work()

    def _work(self) -> None:
        while not (self.busy or self._paused or self._closing):
            try:
                request = self._parser.next()
            except Refused as refused:
                self._finish(error(refused.status, refused.message), keep_alive=False)
                return
            if request is None:
                if self._parser.asks_to_continue:
                    self._parser.asks_to_continue = False
                    self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
                return
            self.active_at = self._server.asked_at = self._server.loop.time()
            request.source, request.vm = self._source, self._vm
            self._answer(request)

    def _answer(self, request: Request) -> None:
        try:
            answer = self._server.handler(request)
        except Exception:  # pylint: disable=broad-except  # a fault of ours must not end the service
            traceback.print_exc(file=sys.stderr)
            answer = error(500, "a fault of the emulator itself; its log has the details")
        if isinstance(answer, Answer):
            self._deliver(request, answer)
            return
        self.busy = True
        answer.add_done_callback(lambda done: self._deliver(request, done.result()) if not done.cancelled() else None)

    # -- answers

    def _deliver(self, request: Request, answer: Answer) -> None:
        if self._closing:
            return
        if request.method == "HEAD":
            answer = answer._replace(body=b"")
        delivery = answer.delivery
        if delivery is None:
            self._finish(answer, request.keep_alive)
            return
        self.busy = True
        if delivery.hang:
            return
        if delivery.reset:
            self._reset()
        elif delivery.delay:
            rest = delivery._replace(delay=0)
            later = answer._replace(delivery=None if rest == Delivery() else rest)
            self._later(delivery.delay, lambda: self._deliver(request, later))
        elif delivery.interval:
            self._transport.write(self._server.head(answer, request.keep_alive))
            self._trickle(request, answer.body, delivery.interval)
        else:
            self._transport.write(self._server.head(answer, request.keep_alive) + answer.body[: delivery.cut])
            self.drop()

    def _later(self, seconds: float, action: Callable[[], None]) -> None:
        self._timer = self._server.loop.call_later(seconds, action)

    def _trickle(self, request: Request, rest: bytes, interval: float) -> None:
        if rest:
            self._transport.write(rest[:1])
            self._later(interval, lambda: self._trickle(request, rest[1:], interval))
        else:
            self._ended(request.keep_alive)

    def _finish(self, answer: Answer, keep_alive: bool) -> None:
        self._transport.write(self._server.head(answer, keep_alive) + answer.body)
        self._ended(keep_alive)

    def _ended(self, keep_alive: bool) -> None:
        was_busy, self.busy = self.busy, False
        if not keep_alive:
            self.drop()
        elif was_busy:
            self._go_on()

    def drop(self) -> None:
        """Send what is written, then end the connection."""
        self._closing = True
        self._transport.close()

    def _reset(self) -> None:
        sock = self._transport.get_extra_info("socket")
        if sock is not None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._closing = True
        self._transport.abort()
