# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the watcher asks its metadata service: the conversations of its threads, which share one limit of requests.

Private to this collection.
"""

import math
from typing import Any, Callable, List, Optional

from .._clock import Clock
from .._imds.client import DEFAULT_VERSION, Client
from .._imds.http_transport import HttpTransport
from .._imds.transport import WATCHER_REQUESTS_PER_SECOND, RateLimit, SharedRateLimit, Transport
from .settings import LEAST_INTERVAL, Configuration

TIMEOUT = 10.0  # seconds for an answer
FIRST_TIMEOUT = 125.0  # and for the first one, for which Azure may take two minutes

Connect = Callable[[Clock, RateLimit], Transport]


class Asking:
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
