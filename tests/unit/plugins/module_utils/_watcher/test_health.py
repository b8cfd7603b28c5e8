# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The health endpoint without its sockets: what is answered, who is answered, what a request is."""

import builtins
import os

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._clock import Clock
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.health import addresses, protocol
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.health.machine_state import (
    REPLACED_WITHIN,
    Answer,
    MachineState,
    StateFiles,
    answer_of,
)


@pytest.mark.parametrize(
    ("state", "app_problem", "is_in_service", "words"),
    [
        (MachineState(), "", True, "in service"),
        (MachineState(True, "prepared"), "", False, "out of service for maintenance: prepared"),
        (
            MachineState(True),
            "",
            False,
            "out of service for maintenance: marked, and the watcher has not reported since the boot",
        ),
        (MachineState(True, "prepared"), "refused", False, "out of service for maintenance: prepared"),
        (MachineState(), "refused", False, "the application is down: refused"),
        (MachineState(problem="Denied"), "", True, "in service, but its maintenance mark can't be checked: Denied"),
    ],
)
def test_the_mark_decides_and_what_is_unknown_is_in_service(state, app_problem, is_in_service, words):
    assert answer_of(state, app_problem) == Answer(is_in_service, words)


@pytest.fixture(name="folders")
def _folders(tmp_path):
    state, run = tmp_path / "state", tmp_path / "run"
    state.mkdir()
    run.mkdir()
    return state, run


def test_without_a_mark_it_is_in_service_whatever_was_published(folders):
    state, run = folders
    (run / "out-of-service").write_text("prepared")
    assert StateFiles(str(state), str(run)).read() == MachineState()
    assert StateFiles(str(state / "missing"), str(run)).read() == MachineState()


def test_a_mark_is_one_whatever_is_in_it_and_however_long_the_watcher_is_dead(folders):
    state, run = folders
    (state / "mark.json").write_bytes(b"\xff garbage")
    (state / "mark.json").chmod(0)
    assert StateFiles(str(state), str(run)).read() == MachineState(True)


@pytest.mark.parametrize(
    ("content", "phase"),
    [
        (b"prepared since 2026-01-01T00:00:00Z\nmore\n", "prepared since 2026-01-01T00:00:00Z"),
        (b"", ""),
        (b"\x1b[2J", ""),
        (b"x" * 5000, "x" * 200),
    ],
)
def test_of_what_the_watcher_has_published_one_short_line_is_shown(folders, content, phase):
    state, run = folders
    (state / "mark.json").write_bytes(b"{}")
    (run / "out-of-service").write_bytes(content)
    assert StateFiles(str(state), str(run)).read() == MachineState(True, phase)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may look everywhere")
def test_a_folder_that_is_closed_to_it_is_reported(folders):
    state, run = folders
    state.chmod(0)
    assert StateFiles(str(state), str(run)).read().problem == "Permission denied"
    state.chmod(0o711)
    assert StateFiles(str(state), str(run)).read() == MachineState()


class Set(Clock):
    at = 100.0

    def now(self):
        return self.at

    def sleep(self, seconds):
        self.at += seconds


@pytest.fixture(name="refused")
def _refused(monkeypatch):
    """What the system does not let anybody look at, or open."""
    found = set()

    def refusing(real):
        def asked(path, *arguments, **options):
            if str(path) in found:
                raise PermissionError(13, "Permission denied", path)
            return real(path, *arguments, **options)

        return asked

    monkeypatch.setattr(os, "stat", refusing(os.stat))
    monkeypatch.setattr(builtins, "open", refusing(open))
    return found


def test_a_mark_that_can_not_be_seen_in_the_moment_that_it_is_replaced_is_there(folders, refused):
    """So it is on Windows."""
    state, run = folders
    clock, mark = Set(), state / "mark.json"
    files = StateFiles(str(state), str(run), clock)
    refused.add(str(mark))
    assert files.read() == MachineState(problem="Permission denied"), "it was never seen"
    refused.clear()
    mark.write_bytes(b"{}")
    assert files.read().is_marked
    refused.add(str(mark))
    clock.at += REPLACED_WITHIN
    assert files.read() == MachineState(True)
    clock.at += 0.1
    assert files.read() == MachineState(problem="Permission denied"), "a fault of the deployment takes out nobody"
    refused.clear()
    mark.unlink()
    assert files.read() == MachineState()
    refused.add(str(mark))
    assert files.read() == MachineState(problem="Permission denied"), "it was gone"


def test_metrics_that_are_replaced_in_this_moment_are_read_a_moment_later(folders, refused):
    state, run = folders

    class Replacing(Set):
        def sleep(self, seconds):
            refused.clear()

    (run / "metrics.prom").write_bytes(b"x 1\n")
    refused.add(str(run / "metrics.prom"))
    assert StateFiles(str(state), str(run), Set()).metrics() is None
    assert StateFiles(str(state), str(run), Replacing()).metrics() == b"x 1\n"


def test_a_path_that_is_no_folder_is_reported(tmp_path):
    (tmp_path / "file").write_text("")
    assert StateFiles(str(tmp_path / "file"), str(tmp_path)).read().problem == "Not a directory"


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [("127.0.0.1:8009", "127.0.0.1", 8009), ("[::1]:80", "::1", 80), ("0.0.0.0:65535", "0.0.0.0", 65535)],
)
def test_addresses_to_listen_on(text, host, port):
    assert addresses.listen_address(text) == (host, port)


@pytest.mark.parametrize(
    "text", ["8009", "127.0.0.1", "localhost:80", "::1:80", "1.2.3.4:0", "1.2.3.256:1", "[::1]:99999"]
)
def test_what_is_no_address_is_refused(text):
    with pytest.raises(addresses.AddressError, match="no IP address with a port"):
        addresses.listen_address(text)


def test_loopback_addresses():
    texts = ("127.0.0.1:1", "127.9.9.9:1", "[::1]:1", "0.0.0.0:1", "10.0.0.1:1", "[::]:1")
    assert [addresses.listen_address(text).is_loopback for text in texts] == [True, True, True, False, False, False]


@pytest.mark.parametrize(
    ("text", "host", "port", "path"),
    [
        ("http://localhost", "127.0.0.1", 80, "/"),
        ("http://127.0.0.2:8080/ready?deep=1", "127.0.0.2", 8080, "/ready?deep=1"),
        ("http://[::1]:81/", "::1", 81, "/"),
    ],
)
def test_urls_of_the_application(text, host, port, path):
    assert addresses.app_url(text) == ((host, port), path)


@pytest.mark.parametrize(
    "text",
    ["https://127.0.0.1/", "http://10.0.0.1/", "http://127.0.0.1:0/", "http://127.0.0.1/a b", "http://127.1/\r\n"],
)
def test_a_url_beyond_this_machine_is_refused(text):
    with pytest.raises(addresses.AddressError, match="no URL of this machine"):
        addresses.app_url(text)


def test_this_machine_and_who_was_named_are_answered():
    sources = addresses.Sources(["168.63.129.16", "10.1.0.0/20", "fd00:1::/64"])
    answered = ("127.0.0.1", "::1", "168.63.129.16", "10.1.15.255", "fd00:1::5", "::ffff:10.1.0.1", "fd00:1::5%eth0")
    others = ("168.63.129.17", "10.1.16.0", "fd00:2::5", "::ffff:10.2.0.1", "")
    assert [host for host in answered if not sources.answers(host)] == []
    assert [host for host in others if sources.answers(host)] == []


@pytest.mark.parametrize("text", ["10.0.0.0/33", "10.0.0.0/", "10.0.0/8", "example.com", "", "::/129", "10.0.0.0/-1"])
def test_what_is_no_network_is_refused(text):
    with pytest.raises(addresses.AddressError, match="no IP address or network"):
        addresses.network(text)


@pytest.mark.parametrize(
    ("received", "request_"),
    [
        (b"", None),
        (b"GET / HTTP/1.1\r\nHost: x\r\n", None),
        (b"x" * 1024, None),
        (b"x" * 1025, protocol.Request(refusal=431)),
        (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", protocol.Request()),
        (b"OPTIONS / HTTP/1.0\r\n\r\n", protocol.Request()),
        (b"GET /any?path HTTP/1.0\n\n", protocol.Request()),
        (b"HEAD / HTTP/1.1\r\n\r\n", protocol.Request(wants_body=False)),
        (b"POST / HTTP/1.1\r\n\r\n", protocol.Request(refusal=405)),
        (b"PRI * HTTP/2.0\r\n\r\n", protocol.Request(refusal=400)),
        (b"\x16\x03\x01\r\n\r\n", protocol.Request(refusal=400)),
        (b"GET /\r\n\r\n", protocol.Request(refusal=400)),
    ],
)
def test_requests(received, request_):
    assert protocol.request_of(received) == request_


def test_what_is_sent():
    out, well = Answer(False, "out"), Answer(True, "in service")
    head, _empty, body = protocol.response(out, True).partition(b"\r\n\r\n")
    assert (
        head.split(b"\r\n")[0] == b"HTTP/1.1 503 Service Unavailable"
        and b"Content-Length: 4" in head
        and body == b"out\n"
    )
    assert protocol.response(out, False) == head + b"\r\n\r\n"
    assert protocol.response(well, True).startswith(b"HTTP/1.1 200 OK\r\n")
    assert (protocol.agent_line(well), protocol.agent_line(out)) == (b"100%\n", b"0%\n")
    assert protocol.refused(431).startswith(b"HTTP/1.1 431 Request Header Fields Too Large\r\n")


@pytest.mark.parametrize(
    ("received", "status"),
    [(b"HTTP/1.1 204 No", 204), (b"HTTP/1.0 50", None), (b"", None), (b"SSH-2.0-OpenSSH", 0), (b"HTTP/1.1 abc", 0)],
)
def test_the_status_of_an_application(received, status):
    assert protocol.status_of(received) == status
