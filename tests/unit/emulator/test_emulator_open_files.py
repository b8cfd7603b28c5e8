# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The limit of open files: used to the full, and one line when that isn't enough."""

import asyncio
import errno
import json
import resource
import signal
import socket

import pytest
from emulator_harness import METADATA, address, exchange, until
from emulator_program import PATH, VM
from imds_emulator import open_files

GET = f"GET {PATH} HTTP/1.1\r\nMetadata: true\r\n\r\n".encode()


def limited(soft, hard):
    return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.fixture
def connect():
    opened = []

    def connect_to(url, count):
        for _number in range(count):
            opened.append(socket.create_connection(address(url), 10))
        return opened

    yield connect_to
    for connection in opened:
        connection.close()


def test_the_soft_limit_is_raised(run, connect):
    running = run("--set", "rate_limit=0", *VM, preexec_fn=limited(40, 300))
    for connection in connect(running.metadata, 100):
        connection.sendall(GET)
        assert connection.recv(1000).startswith(b"HTTP/1.1 200 ")
    assert running.stop() == (0, b"", b"")


def test_exhaustion_is_said_once_and_ends_with_its_cause(run, connect):
    running = run("--set", "rate_limit=0", *VM, preexec_fn=limited(40, 40))
    opened = connect(running.metadata, 60)
    message = running.process.stderr.readline().decode()
    assert message.startswith("imds_emulator: a connection could not be accepted: ") and "40 files" in message
    opened[0].settimeout(0.5)
    with pytest.raises(socket.timeout):  # time for asyncio to try again, and to say it again
        for _number in range(5):
            opened[0].recv(1)
    for connection in opened:
        connection.close()
    until(lambda: json.loads(exchange(address(running.metadata), "GET", PATH, METADATA).body.decode()))
    assert running.stop(signal.SIGTERM) == (0, b"", b"")


def test_what_asyncio_does_late_is_no_news(capfd, caplog):
    """It tries again to accept where nobody listens any more, once for each that had waited."""
    loop, says = asyncio.new_event_loop(), open_files.Exhaustion()
    closed = socket.socket()
    closed.close()
    try:
        with pytest.raises(ValueError) as late:
            loop.add_reader(closed.fileno(), int)
        says(loop, {"message": "late", "exception": late.value})
        assert [record.message for record in caplog.records] == ["late"], "nothing was exhausted: it is a fault"
        says(loop, {"message": "socket.accept() out of system resource", "exception": OSError(errno.EMFILE, "many")})
        says(loop, {"message": "late", "exception": late.value})
        assert len(caplog.records) == 1 and capfd.readouterr().err.count("\n") == 1
    finally:
        loop.close()
