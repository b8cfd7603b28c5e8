# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The limit of open files: used to the full, and one line when that isn't enough."""

import json
import resource
import signal
import socket

import pytest
from emulator_harness import METADATA, address, exchange, until
from emulator_program import PATH, VM

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
