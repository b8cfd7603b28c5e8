# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A server on loopback that plays what a test wants of it, byte by byte."""

import contextlib
import re
import socket
import struct
import threading
import time

LONG = 60
"""Seconds in which anything here has happened."""


class Server:
    """A listener on loopback that plays one function per connection, and counts connections.

    :arg context: of TLS, for an https endpoint
    """

    def __init__(self, *plays, **options):
        self.context = options.get("context")
        self.listener = socket.socket()
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(5)
        port = self.listener.getsockname()[1]
        self.url = f"https://localhost:{port}/x" if self.context else f"http://127.0.0.1:{port}/x"
        self.connections = 0
        self.closed = threading.Semaphore(0)  # once for each connection that was played to its end
        self.stop = threading.Event()
        self._open = None
        self.threads = [threading.Thread(target=self._serve, args=(plays,), daemon=True)]

    def _serve(self, plays):
        for play in plays:
            with contextlib.suppress(OSError):
                connection = self.listener.accept()[0]
                self.connections += 1
                self._open = connection
                connection.settimeout(LONG)
                if self.context:
                    connection = self.context.wrap_socket(connection, server_side=True)
                with contextlib.closing(connection), contextlib.suppress(OSError):
                    play(self, connection)
            self.closed.release()

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *exc_info):
        self.stop.set()
        # wakes up an accept() that nobody came for
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        # and a play whose bytes, or whose silence, nobody reads any more
        with contextlib.suppress(AttributeError, OSError):
            self._open.shutdown(socket.SHUT_RDWR)
        for thread in self.threads:
            thread.join(LONG)


def request_of(connection):
    """The whole request, with its body: what is left unread when a connection is closed resets it."""
    received = b""
    while True:
        head, end, body = received.partition(b"\r\n\r\n")
        length = re.search(rb"(?i)content-length: *(\d+)", head)
        if end and len(body) >= int(length.group(1) if length else 0):
            return received
        piece = connection.recv(4096)
        if not piece:
            raise OSError("closed")
        received += piece


def answers(*contents):
    """Answer each request on the connection with the next of these bytes, then close."""

    def play(server, connection):
        for content in contents:
            request_of(connection)
            connection.sendall(content)

    return play


def trickles(start, forever):
    def play(server, connection):
        request_of(connection)
        connection.sendall(start)
        while not server.stop.wait(0.05):
            connection.sendall(forever)

    return play


def stalls(start):
    def play(server, connection):
        request_of(connection)
        connection.sendall(start)
        server.stop.wait(LONG)

    return play


def resets(start):
    def play(server, connection):
        request_of(connection)
        connection.sendall(start)
        time.sleep(0.05)  # so that the start is read before the reset takes it away
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    return play
