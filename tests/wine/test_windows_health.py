# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The health endpoint as a service of Windows, by the service manager: 200 and 503 by the mark, metrics, and its end; and beside a watcher over
a whole event.

Wine knows no virtual accounts and makes access lists up: that the endpoint's account sees a mark and can't read it is not shown here.
"""

import contextlib
import socket
import threading

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.windows import services
from ansible_collections.cloudops.azure_maintenance.tests.wine.hooking import content, kill, until
from ansible_collections.cloudops.azure_maintenance.tests.wine.installed import Machine, Service, build, next_name

NAME = "azure-maintenance-health"


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return build(tmp_path_factory.mktemp("program"))


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Endpoint:
    """One, as the service that the role makes."""

    def __init__(self, program, folder, *words):
        self.http, self.agent = free_port(), free_port()
        self.state, self.run = folder / "state", folder / "run"
        for each in (self.state, self.run):
            each.mkdir(exist_ok=True)
        addresses = ("--http", f"127.0.0.1:{self.http}", "--agent", f"127.0.0.1:{self.agent}")
        folders = ("--folder", self.state, "--run-folder", self.run)
        self.service = Service(NAME, program, "health", *addresses, *folders, *words)

    def start(self):
        self.service.start()
        until(lambda: self.status() is not None, "its first answer")

    def status(self):
        """What it answers; None where nobody does."""
        found = self.asked()
        return int(found[9:12]) if found.startswith(b"HTTP/1.1 ") else None

    def asked(self, path=b"/", port=None, sends=None):
        request = b"GET " + path + b" HTTP/1.1\r\nHost: web1\r\n\r\n" if sends is None else sends
        found = b""
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port or self.http), 30) as client:
            client.sendall(request)
            while True:
                part = client.recv(65536)
                if not part:
                    break
                found += part
        return found


@pytest.fixture
def endpoint(program, tmp_path):
    made = []

    def make(*words, folder=tmp_path):
        made.append(Endpoint(program, folder, *words))
        return made[-1]

    yield make
    for one in made:
        one.service.remove()


def test_it_answers_by_the_mark_from_its_start_to_its_end(endpoint):
    one = endpoint()
    one.start()
    assert one.service.runs()
    assert one.status() == 200 and one.asked(port=one.agent, sends=b"") == b"100%\n"
    (one.run / "out-of-service").write_text("prepared, since T\n")
    (one.state / "mark.json").write_text("{}")
    assert one.status() == 503 and one.asked().endswith(b"maintenance: prepared, since T\n")
    assert one.asked(port=one.agent, sends=b"") == b"0%\n"
    (one.state / "mark.json").unlink()
    assert one.status() == 200 and one.asked(port=one.agent, sends=b"") == b"100%\n"
    assert b"503" in one.asked(b"/metrics")[:12]
    (one.run / "metrics.prom").write_bytes(b"azure_maintenance_degraded 0\n")
    assert one.asked(b"/metrics").endswith(b"\r\n\r\nazure_maintenance_degraded 0\n")
    one.service.stop()
    assert one.status() is None and one.service.exit_code() == 0


def test_killed_it_is_started_again(endpoint):
    one = endpoint()
    (one.state / "mark.json").write_text("{}")
    one.start()
    kill(one.service.pid())
    until(lambda: not one.service.has_process(), "its end")
    assert one.status() is None
    one.start()
    assert one.status() == 503


def test_a_port_that_somebody_else_has_is_taken_when_it_is_free(endpoint):
    one = endpoint()
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        other.bind(("127.0.0.1", one.http))
        one.service.start()
        until(one.service.runs, "its start")
        until(lambda: one.asked(port=one.agent, sends=b"") == b"100%\n", "the answer by its other port")
    until(lambda: one.status() == 200, "its answer")


def test_options_that_are_wrong_end_it(endpoint):
    one = endpoint("--source", "no network")
    one.service.start()
    until(lambda: services.state_of(NAME) == services.STOPPED, "its end")
    assert one.service.exit_code() == 2


def test_the_application_has_to_answer_too(endpoint):
    port = free_port()
    one = endpoint("--app", f"http://127.0.0.1:{port}/ready", "--app-timeout", "30")
    one.start()
    assert one.status() == 503 and b"the application is down: it can't be reached (" in one.asked()
    with socket.socket() as app:
        app.bind(("127.0.0.1", port))
        app.listen(5)

        def answer():
            connection, _peer = app.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        assert one.status() == 200
        thread.join()


def test_beside_the_watcher_over_a_whole_event(endpoint, program, tmp_path):
    """Out of service from before the first hook until the recovery has ended, for whoever asks all the time."""
    machine = Machine(tmp_path, program, next_name())
    try:
        machine.hook("prepare")
        machine.hook("recover")
        machine.start()
        one = endpoint()
        one.start()
        assert one.status() == 200
        event = machine.world.event(notice=300, tail=600)
        until(machine.done, "the prepare hook")
        assert one.status() == 503
        until(lambda: "started" in machine.happened(), "its start")
        assert one.status() == 503 and b"maintenance: prepared, since" in one.asked()
        found = one.asked(b"/metrics").partition(b"\r\n\r\n")[2]
        assert b"\r" not in found, "Prometheus takes no other end of a line"
        assert b"azure_maintenance_out_of_service 1\n" in found
        machine.world.move(event, "complete")
        until(lambda: "recovered" in machine.happened(), "the recovery")
        until(lambda: one.status() == 200, "its answer")
        until(lambda: b"azure_maintenance_out_of_service 0\n" in one.asked(b"/metrics"), "the metrics")
        assert content(machine.folder / "run" / "in-service") == "" and (machine.folder / "run" / "in-service").exists()
    finally:
        machine.end()
