# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the watcher asks its metadata service (IMDS): the sessions of its threads, which share one limit of requests; and the first
question, who this machine is.

Private to this collection.

The identity is asked for until the service has said it, beside the polls, the first of which may take two minutes.
"""

import math
import threading
from typing import Any, Callable, List, Optional

from ..._clock import Clock
from ..._errors import ScheduledEventsError
from ..._imds.client import DEFAULT_VERSION, NAME, NAME_TIMEOUT, Client
from ..._imds.http_transport import HttpTransport
from ..._imds.option_names import WATCHER, with_variables
from ..._imds.transport import WATCHER_REQUESTS_PER_SECOND, RateLimit, SharedRateLimit, Transport
from ..._text import one_line
from ..engine.interface import Identity
from ..settings.options import LEAST_INTERVAL, Configuration

TIMEOUT = 10.0  # seconds for an answer
FIRST_TIMEOUT = 125.0  # and for the first one, for which Azure may take two minutes

Connect = Callable[[Clock, RateLimit], Transport]


class ImdsSession:
    """Makes conversations with the service that the configuration names.

    :arg find: looks for the endpoint elsewhere (DHCP option 245); returns what has ``endpoints``
    endpoint: the one that answers, as far as is known; api_version: what it answers to
    """

    def __init__(
        self,
        configuration: Configuration,
        clock: Clock,
        find: Optional[Callable[[], Any]] = None,
        connect: Connect = HttpTransport,
    ) -> None:
        self.configuration = configuration
        self.clock = clock
        self.endpoint = configuration.endpoint
        self.api_version = ""
        self._find = find
        self._connect = connect
        # A tiny interval is for tests, which bring an endpoint of their own.
        tiny = configuration.interval < LEAST_INTERVAL
        most = math.ceil(2.0 / configuration.interval) if tiny else WATCHER_REQUESTS_PER_SECOND
        self._rate = SharedRateLimit(clock, most)

    def transport(self) -> Transport:
        """A connection for one thread."""
        return self._connect(self.clock, self._rate)

    def client(self, transport: Transport, endpoint: str = "", patient: bool = False) -> Client:
        """A conversation over it. One that finds out which version is served, where nobody knows yet.

        :arg patient: whether its first answer may take its time; an approval that hangs is better sent again
        """
        version = self.api_version or self.configuration.api_version or DEFAULT_VERSION
        first = FIRST_TIMEOUT if patient else TIMEOUT
        return Client(transport, endpoint or self.endpoint, version, TIMEOUT, first, self.clock)

    def elsewhere(self) -> List[str]:
        """Other endpoints to try, where the user lets them be looked for."""
        if not self.configuration.discover or self._find is None:
            return []
        return [found for found in self._find().endpoints if found != self.configuration.endpoint]


VM_ID = "vmId"
PAUSES = (1.0, 2.0, 4.0, 8.0, 15.0, 30.0)


class IdentityPoller:
    """The thread that asks.

    :arg woken: called when the answer is there
    identity: None until it is known; problem: why it is not
    """

    def __init__(self, session: ImdsSession, woken: Callable[[], None]) -> None:
        self.identity: Optional[Identity] = None
        self.problem = "The metadata service has not said yet who this machine is."
        self._session = session
        self._woken = woken
        self._tries = 0
        self._transport = session.transport()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="identity", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                pause = self.ask()
            except Exception as error:  # the thread must live until it knows
                self.problem, pause = f"Asking who this machine is failed: {one_line(error)}", PAUSES[-1]
            if pause is None:
                break
            self._stop.wait(pause)
        self._transport.close()

    def ask(self) -> Optional[float]:
        """Ask once; returns the seconds until the next try, None when it is known."""
        client = self._session.client(self._transport)
        try:
            name, vm_id = (client.machine_text(leaf, NAME_TIMEOUT) for leaf in (NAME, VM_ID))
            self.problem = self._objection(name, vm_id)
        except ScheduledEventsError as error:
            self.problem = with_variables(f"Who this machine is could not be asked: {error.message}", WATCHER)
        if self.problem:
            self._tries += 1
            return PAUSES[min(self._tries, len(PAUSES)) - 1]
        if not self._stop.is_set():
            self.identity = Identity(name, vm_id)
            self._woken()
        return None

    def _objection(self, name: str, vm_id: str) -> str:
        """What keeps the answer from being used."""
        given = self._session.configuration.resource_name
        if not name or not vm_id:
            return f"The metadata service gave an empty {'name' if not name else VM_ID} for this machine."
        if given and given.lower() != name.lower():
            return (
                f"resource_name says that this machine is {given}, but the metadata service says that it is {name}. "
                "Nothing is done, since it might be done for the wrong machine: correct resource_name, or leave it out."
            )
        return ""
