# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The demo's processes: all are started here, and ended here by their pids."""

import os
import pathlib
import signal
import socket
import subprocess
import sys
import threading
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
BOOT_TAKES = 3.0  # seconds


def free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _number in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def end(process: subprocess.Popen) -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(3)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def start(words: list[str], log: pathlib.Path, **options: Any) -> subprocess.Popen:
    """A process of its own session: Ctrl-C reaches the demo alone, which then ends it in order."""
    with log.open("ab") as output:
        return subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True, **options
        )


class Machine:
    """One "virtual machine": a process, which is started again a moment after it dies, as a host boots its VM again."""

    def __init__(self, name: str, port: int, folder: pathlib.Path) -> None:
        self.name, self.port, self.folder = name, port, folder
        self._over = threading.Event()
        folder.mkdir()
        self._process = self._boot()
        self._keeper = threading.Thread(target=self._keep, daemon=True)
        self._keeper.start()

    def _boot(self) -> subprocess.Popen:
        process = start(
            [sys.executable, str(HERE / "app.py"), self.name, str(self.port), str(self.folder)],
            self.folder / "output.log",
        )
        (self.folder / "pid").write_text(str(process.pid))
        return process

    def _keep(self) -> None:
        while not self._over.is_set():
            self._process.wait()
            if not self._over.wait(BOOT_TAKES):
                self._process = self._boot()

    def end(self) -> None:
        self._over.set()
        self._process.kill()  # also when it is frozen
        self._keeper.join()
        self._process.wait()


class Playbook:
    """ansible-playbook, with its output in a log."""

    def __init__(self, arguments: list[str], log: pathlib.Path, environment: dict[str, str]) -> None:
        self._process = start(["ansible-playbook", *arguments], log, env=dict(os.environ, **environment))

    def status(self) -> Any:
        """Its exit status; None while it runs."""
        return self._process.poll()

    def end(self) -> None:
        """Interrupt it as Ctrl-C would, and end what it leaves of its session."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            try:
                self._process.wait(5)
            except subprocess.TimeoutExpired:
                os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()
