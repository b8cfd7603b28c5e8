# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Step ``connections``, with real sockets, and with the kernel's tables as other machines show them."""

import contextlib
import ipaddress
import socket

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine import step_runners
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.step_runner import (
    DONE,
    FAILED,
    PENDING,
    Progress,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._machine.doing import (
    Doing,
    content,
    until,
)

pytestmark = pytest.mark.usefixtures("only_by_its_own_limit")

ENDLESS = 1e6


@pytest.fixture
def doing(tmp_path):
    return Doing("connections", tmp_path)


@contextlib.contextmanager
def listening(family=socket.AF_INET, address="127.0.0.1", port=0):
    with socket.socket(family) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, port))
        listener.listen(5)
        yield listener


@contextlib.contextmanager
def connected(listener, address="127.0.0.1"):
    """A client's end; it closes first, so that the server's end is gone at once."""
    with socket.create_connection((address, port_of(listener))) as client:
        accepted = listener.accept()[0]
        try:
            yield client
        finally:
            client.close()
            accepted.close()


def port_of(listener):
    return listener.getsockname()[1]


def test_a_port_without_connections(doing):
    with listening() as listener:
        assert doing.did(port=port_of(listener)) == Progress(DONE)


def test_it_waits_until_the_last_connection_has_ended(doing, rests):
    with listening() as listener:
        with connected(listener):
            step_run = doing.begun(port=port_of(listener), limit=ENDLESS)
            until(lambda: content(rests))
            assert doing.hand.check(step_run) == Progress(PENDING)
        assert doing.end_of(step_run) == Progress(DONE)


def test_it_looks_for_at_least_so_long_although_there_are_none(doing, rests):
    with listening() as listener:
        assert doing.did(port=port_of(listener), at_least=7, interval=2) == Progress(DONE)
    assert content(rests).split() == ["2"] * 4  # a look every 2 s, and 7 s have passed with the one after 8 s


def test_less_time_than_at_least(doing, rests):
    words = "there was time for 4 s only, not for at_least: 7 s"
    with listening() as listener:
        options = {"port": port_of(listener), "at_least": 7, "interval": 2, "limit": 5}
        assert doing.did(**options) == Progress(FAILED, words)
        assert doing.did(at_limit="continue", **options) == Progress(DONE, f"went on although {words}")


@pytest.mark.parametrize(
    "at_limit, expected",
    [
        ("fail", (FAILED, "port {} still has established connections")),
        ("continue", (DONE, "went on although port {} still had established connections")),
    ],
)
def test_what_is_left_at_the_limit(doing, at_limit, expected):
    with listening() as listener, connected(listener):
        progress = doing.did(port=port_of(listener), at_limit=at_limit, limit=1)
        assert progress == Progress(expected[0], expected[1].format(port_of(listener)))


def test_connections_of_other_ports_do_not_count(doing):
    with listening() as listener, connected(listener) as client:
        with listening() as other:
            assert doing.did(port=port_of(other)) == Progress(DONE)
        # nor does the client's end, whose remote port it is
        assert client.getpeername()[1] == port_of(listener)
        assert step_runners.established(port_of(listener), set()) == 1


@pytest.mark.parametrize("exclude, done", [(["127.0.0.1"], True), (["localhost"], True), (["10.0.0.5"], False)])
def test_hosts_that_never_let_go_can_be_left_out(doing, exclude, done):
    with listening() as listener, connected(listener):
        progress = doing.did(port=port_of(listener), exclude=exclude, limit=1)
        assert (progress.state == DONE) is done


def test_a_host_that_is_not_known(doing):
    progress = doing.did(port=1, exclude=["not..a.host"])
    assert progress.state == FAILED and progress.note.startswith("host not..a.host of exclude is not known")


def test_ipv6_and_ipv4_over_it(doing):
    try:
        socket.socket(socket.AF_INET6).close()
    except OSError as error:
        pytest.skip(f"no IPv6 on this machine: {error}")
    with listening(socket.AF_INET6, "::") as listener, connected(listener):
        port = port_of(listener)
        assert step_runners.established(port, set()) == 1
        assert step_runners.established(port, {ipaddress.ip_address("127.0.0.1")}) == 0


# What Linux shows on a little-endian machine: 10.1.2.3:443 from 10.0.0.5, listening, and closing; then over IPv6.
TCP = """  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0302010A:01BB 0500000A:C001 01 00000000:00000000 00:00000000 00000000     0        0 1 1 0000000000000000
   1: 00000000:01BB 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 2 1 0000000000000000
   2: 0302010A:01BB 0600000A:C002 06 00000000:00000000 00:00000000 00000000     0        0 3 1 0000000000000000
"""
TCP6 = """  sl  local_address                         remote_address                        st tx_queue rx_queue
   0: B80D0120000000000000000001000000:01BB B80D0120000000000000000002000000:C001 01 00000000:00000000 00:00000000
   1: 0000000000000000FFFF00000302010A:01BB 0000000000000000FFFF00000500000A:C002 01 00000000:00000000 00:00000000
"""


def test_the_tables_of_the_kernel(tmp_path, monkeypatch):
    (tmp_path / "tcp").write_text(TCP)
    (tmp_path / "tcp6").write_text(TCP6)
    monkeypatch.setattr(step_runners, "TABLES", [str(tmp_path / "tcp"), str(tmp_path / "tcp6")])
    monkeypatch.setattr(step_runners.sys, "byteorder", "little")
    monitor, other = ipaddress.ip_address("10.0.0.5"), ipaddress.ip_address("2001:db8::2")
    assert step_runners.established(443, set()) == 3
    assert step_runners.established(443, {monitor}) == 1
    assert step_runners.established(443, {monitor, other}) == 0
    assert step_runners.established(80, set()) == 0
    monkeypatch.setattr(step_runners, "TABLES", [str(tmp_path / "tcp"), str(tmp_path / "no IPv6")])
    assert step_runners.established(443, set()) == 1


# Afterwards


def test_it_waits_until_the_port_listens_again(doing, rests):
    with listening() as listener:
        port = port_of(listener)
    step_run = doing.begun("undo", port=port, listen_again=True, limit=ENDLESS)
    until(lambda: content(rests))
    assert doing.hand.check(step_run) == Progress(PENDING)
    with listening(port=port):
        assert doing.end_of(step_run) == Progress(DONE)


def test_a_port_that_does_not_listen_again(doing):
    with listening() as listener:
        port = port_of(listener)
    progress = doing.did("undo", port=port, listen_again=True, limit=1)
    assert progress == Progress(FAILED, f"nothing listens on 127.0.0.1:{port}")


def test_it_has_to_listen_where_it_is_asked_for(doing):
    with listening(address="127.0.0.2") as listener:
        options = {"port": port_of(listener), "listen_again": True}
        assert doing.did("undo", limit=1, **options).state == FAILED
        assert doing.did("undo", listen_address="127.0.0.2", **options) == Progress(DONE)
