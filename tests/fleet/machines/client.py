# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A user of the web service who never rests, and a look at the load balancer's own view of its servers.

Four threads: short requests on fresh connections, short requests on a kept-alive one, slow downloads (about two seconds
each, several at a time), and the samples of HAProxy's statistics. A request failed when its whole answer did not come,
or came with another status than 200.
"""

import csv
import http.client
import io
import threading
import time
from collections.abc import Callable
from typing import NamedTuple

from . import services, settings
from .host import LONG, FleetError, until

_TIMEOUT = 20.0
_PAUSE = 0.2  # seconds between two short requests: more of them find no more, the downloads are always under way


class Request(NamedTuple):
    kind: str  # fresh, kept, slow
    started: float  # Unix time
    ended: float
    server: str  # which web machine answered, as HAProxy says
    error: str  # empty when all went well


class Sample(NamedTuple):
    at: float
    states: dict[str, str]  # web machine -> HAProxy's word for it: UP, DRAIN, MAINT, DOWN ...
    sessions: dict[str, int]  # ... -> requests under way


class Client:
    """Use it as a context manager; `requests` and `samples` hold what was seen, also afterwards."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.requests: list[Request] = []
        self.samples: list[Sample] = []
        self.broken: list[str] = []
        self._stop = threading.Event()
        loops: list[Callable[[], None]] = [self._fresh, self._kept, self._watch, *[self._slow] * 4]
        self._threads = [threading.Thread(target=self._guarded, args=(loop,), daemon=True) for loop in loops]

    def __enter__(self) -> "Client":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_unused: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(_TIMEOUT + 5)

    # --- what was seen ---

    def failures(self) -> list[Request]:
        if self.broken:
            raise FleetError(f"the client itself broke: {self.broken}")
        return [request for request in self.requests if request.error]

    def served(self, server: str, since: float, end: float) -> list[Request]:
        """Requests that this web machine was given in that time."""
        return [request for request in self.requests if request.server == server and since <= request.started <= end]

    def sample(self, at: float) -> Sample:
        """HAProxy's view at that time: the last sample before it."""
        before = [sample for sample in self.samples if sample.at <= at]
        if not before:
            raise FleetError("the client was not yet watching then")
        return before[-1]

    def states(self, server: str) -> list[str]:
        """The states of a server in their order, without repetitions."""
        seen: list[str] = []
        for sample in self.samples:
            if not seen or seen[-1] != sample.states[server]:
                seen.append(sample.states[server])
        return seen

    def wait_for_state(self, server: str, state: str, timeout: float = LONG) -> None:
        until(
            f"HAProxy to show {server} as {state}",
            lambda: bool(self.samples) and self.samples[-1].states[server] == state,
            timeout,
            pause=0.05,
        )

    # --- the loops ---

    def _fresh(self) -> None:
        while not self._stop.wait(_PAUSE):
            self._request("fresh", http.client.HTTPConnection(self.address, timeout=_TIMEOUT), "/", close=True)

    def _kept(self) -> None:
        connection = http.client.HTTPConnection(self.address, timeout=_TIMEOUT)
        while not self._stop.wait(_PAUSE):
            self._request("kept", connection, "/", close=False)
        connection.close()

    def _slow(self) -> None:
        while not self._stop.wait(0.1):
            self._request("slow", http.client.HTTPConnection(self.address, timeout=_TIMEOUT), "/slow", close=True)

    def _request(self, kind: str, connection: http.client.HTTPConnection, path: str, close: bool) -> None:
        started, server, error = time.time(), "", ""
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            server = answer.getheader("X-Served-By", "")
            answer.read()
            if answer.status != 200:
                error = f"status {answer.status}"
        except (OSError, http.client.HTTPException) as problem:
            error = repr(problem)
            connection.close()
        if close:
            connection.close()
        self.requests.append(Request(kind, started, time.time(), server, error))

    def _watch(self) -> None:
        connection = http.client.HTTPConnection(self.address, services.STATISTICS_PORT, timeout=_TIMEOUT)
        while not self._stop.wait(0.1):
            connection.request("GET", "/;csv")
            rows = csv.DictReader(io.StringIO(connection.getresponse().read().decode().lstrip("# ")))
            servers = [row for row in rows if row["pxname"] == services.BACKEND and row["svname"] != "BACKEND"]
            self.samples.append(
                Sample(
                    time.time(),
                    {row["svname"]: row["status"] for row in servers},
                    {row["svname"]: int(row["scur"]) for row in servers},
                )
            )
        connection.close()

    def _guarded(self, loop: Callable[[], None]) -> None:
        try:
            loop()
        except Exception as problem:  # noqa: BLE001  a thread's exception is nobody's; failures() raises it
            self.broken.append(repr(problem))


def of_fleet() -> Client:
    return Client(settings.by_name()["lb1"].address)
