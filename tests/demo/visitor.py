# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Somebody who asks the proxy all the time, and remembers every answer."""

import http.client
import threading
import time
from typing import NamedTuple

PAUSE = 0.05  # seconds between two requests of one of the
AT_ONCE = 2  # who ask side by side
PATIENCE = 15.0


class Visit(NamedTuple):
    """One request: when it was sent (Unix time), how long it took, and which machine answered, or what went wrong."""

    sent: float
    seconds: float
    machine: str
    failure: str


class Visitor:
    def __init__(self, port: int) -> None:
        self.visits: list[Visit] = []
        self._port = port
        self._over = threading.Event()
        self._threads = [threading.Thread(target=self._go, daemon=True) for _number in range(AT_ONCE)]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        self._over.set()
        for thread in self._threads:
            if thread.is_alive():
                thread.join()

    def failures(self) -> list[Visit]:
        return [visit for visit in self.visits if visit.failure]

    def _go(self) -> None:
        while not self._over.is_set():
            self.visits.append(self.visit())
            self._over.wait(PAUSE)

    def visit(self) -> Visit:
        sent, machine, failure = time.time(), "", ""
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE)
        try:
            connection.request("GET", "/")
            answer = connection.getresponse()
            machine = answer.read().decode(errors="replace")
            failure = "" if answer.status == 200 else f"status {answer.status}"
        except (OSError, http.client.HTTPException) as error:
            failure = f"{type(error).__name__}: {error}"
        finally:
            connection.close()
        return Visit(sent, time.time() - sent, machine, failure)
