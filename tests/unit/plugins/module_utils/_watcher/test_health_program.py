# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The health endpoint as the installed program, with the sockets that systemd would give it, and beside a watcher that is killed."""

import contextlib
import os
import pathlib
import socket
import subprocess
import sys
import threading

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.installed import (
    Machine,
    build,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.test_health_server import (
    GET,
    SCRAPE,
    listening,
    whole,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.watching import until

ROOT = pathlib.Path(__file__).resolve().parents[8]
PROGRAM = """
import os, sys
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="2")
for number, given in enumerate(map(int, sys.argv[2:4])):
    os.dup2(given, 3 + number)
os.execv(sys.executable, [sys.executable, "-I", "-B", sys.argv[1], "health", *sys.argv[4:]])
"""


def test_its_ports_outlive_it(tmp_path):
    """The sockets are another process's, as systemd's are: who connects while it is not there is answered by the next one."""
    pyz = build(tmp_path / "watcher.pyz")
    with listening() as http, listening() as agent:
        numbers = [http.fileno(), agent.fileno()]
        command = [sys.executable, "-I", "-c", PROGRAM, pyz, *map(str, numbers), "--folder", str(tmp_path)]
        command += ["--http", f"127.0.0.1:{http.getsockname()[1]}"]
        command += ["--agent", f"127.0.0.1:{agent.getsockname()[1]}"]

        def asked(one, sends):
            with socket.create_connection(one.getsockname(), 30) as client:
                client.sendall(sends)
                process = subprocess.Popen(command, pass_fds=numbers)
                try:
                    return whole(client)
                finally:
                    process.kill()
                    process.wait()

        assert asked(http, GET).startswith(b"HTTP/1.1 200")
        (tmp_path / "mark.json").write_text("{}")
        assert asked(http, GET).startswith(b"HTTP/1.1 503")
        assert asked(agent, b"") == b"0%\n"


OF_ONE = """
import os, sys
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.health import main
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1")
os.dup2(int(sys.argv[1]), 3)
main.TRY_AGAIN_AFTER = 0.2
sys.exit(main.main(sys.argv[2:]))
"""


def test_it_ends_after_a_while_where_systemd_lacks_an_address(tmp_path):
    """systemd tries that again when it starts the process again."""
    with listening() as http:
        command = [sys.executable, "-c", OF_ONE, str(http.fileno()), "--folder", str(tmp_path)]
        command += ["--http", f"127.0.0.1:{http.getsockname()[1]}", "--agent", "127.0.0.1:9"]
        environment = dict(os.environ, PYTHONPATH=str(ROOT))
        done = subprocess.run(command, pass_fds=[http.fileno()], env=environment, timeout=120, check=False)
        assert done.returncode == 0


class Asking:
    """Asks a health endpoint all the time, until it is left.

    wrong: answers that the machine is in service, while it was marked before and after; asked: how often it was marked
    """

    def __init__(self, address, mark):
        self.wrong, self.asked = [], 0
        self._address, self._mark, self._stop = address, mark, threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_unused):
        self._stop.set()
        self._thread.join()

    def _run(self):
        while not self._stop.wait(0.005):
            was_marked = self._mark.exists()
            with contextlib.suppress(OSError), socket.create_connection(self._address, 30) as client:
                client.sendall(GET)
                answer = client.recv(1000)
                if was_marked and self._mark.exists():
                    self.asked += 1
                    self.wrong += [] if answer.startswith(b"HTTP/1.1 503") else [answer]


def test_a_watcher_that_is_killed_in_every_phase_is_never_in_service_while_it_is_marked(tmp_path):
    pyz = build(tmp_path / "watcher.pyz")
    machine = Machine(tmp_path, pyz)
    with listening() as one:
        address = one.getsockname()
    command = [sys.executable, "-I", "-B", pyz, "health", "--http", f"127.0.0.1:{address[1]}"]
    command += ["--folder", str(machine.state), "--run-folder", str(tmp_path / "run")]
    health = subprocess.Popen(command)
    try:
        for phase in ("prepare", "recover"):
            machine.hook(phase, "10-wait", f"until [ -e {tmp_path}/{phase} ]; do sleep 0.05; done")
        process = machine.start()
        until(machine.is_watching)
        with Asking(address, machine.state / "mark.json") as asking:
            event = machine.event()
            for phase, is_there, then in (
                ("preparing", lambda: machine.hooks() == ["prepare 10-wait"], (tmp_path / "prepare").touch),
                ("prepared", lambda: machine.is_prepared_for(event), lambda: machine.cancel(event)),
                ("recovering", lambda: len(machine.hooks()) == 2, (tmp_path / "recover").touch),
            ):
                until(is_there)
                process.kill()
                process.wait()
                asked = asking.asked
                until(lambda asked=asked: asking.asked > asked + 20)
                assert asking.wrong == [], phase
                process = machine.start()
                then()
            until(lambda: not (machine.state / "mark.json").exists() and "recovered" in machine.happened())
        assert asking.wrong == [] and asking.asked > 60

        def scraped():
            with socket.create_connection(address, 30) as client:
                client.sendall(SCRAPE)
                return b"".join(iter(lambda: client.recv(65536), b""))

        recovered = b'azure_maintenance_outages_total{outcome="recovered"} 1'
        until(lambda: recovered in scraped())
    finally:
        health.kill()
        health.wait()
        machine.end()
    assert "Traceback" not in machine.log()
