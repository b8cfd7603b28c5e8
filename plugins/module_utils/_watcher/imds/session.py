# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the watcher asks its metadata service (IMDS): sessions, which share one limit of requests; and the two threads that ask, beside the
loop: who this machine is, and once a second for the document. An answer that hangs for two minutes holds up nobody.

Private to this collection.

The identity is asked for until the service has said it, beside the polls, the first of which may take two minutes. A failed poll is never
retried by itself: the next poll is that. What may not be asked every second (429, 410, 5xx, somebody else's answers) makes the pauses longer.
"""

import math
import threading
from typing import Callable, List, Optional

from ..._clock import Clock
from ..._errors import ScheduledEventsError
from ..._events.document import Document
from ..._imds.client import DEFAULT_VERSION, NAME, NAME_TIMEOUT, Client
from ..._imds.http_transport import HttpTransport
from ..._imds.option_names import with_variables
from ..._imds.retries import BACK_OFF, advice, asked_pause, pause_after
from ..._imds.transport import WATCHER_REQUESTS_PER_SECOND, RateLimit, SharedRateLimit, Transport
from ..._text import one_line
from ..engine.interface import Identity, PollResult
from ..settings.options import LEAST_INTERVAL, Configuration

TIMEOUT = 10.0  # seconds for an answer
FIRST_TIMEOUT = 125.0  # and for the first one, for which Azure may take two minutes

Connect = Callable[[Clock, RateLimit], Transport]


class ImdsSession:
    """Makes conversations with the service that the configuration names.

    api_version: what the service answers to, as far as is known
    """

    def __init__(self, configuration: Configuration, clock: Clock, connect: Connect = HttpTransport) -> None:
        self.configuration = configuration
        self.clock = clock
        self.api_version = ""
        self._connect = connect
        # A tiny interval is for tests, which bring an endpoint of their own.
        tiny = configuration.interval < LEAST_INTERVAL
        most = math.ceil(2.0 / configuration.interval) if tiny else WATCHER_REQUESTS_PER_SECOND
        self._rate = SharedRateLimit(clock, most)

    def transport(self) -> Transport:
        """A connection for one thread."""
        return self._connect(self.clock, self._rate)

    def client(self, transport: Transport, patient: bool = False) -> Client:
        """A conversation over it. One that finds out which version is served, where nobody knows yet.

        :arg patient: whether its first answer may take its time; an approval that hangs is better sent again
        """
        version = self.api_version or self.configuration.api_version or DEFAULT_VERSION
        first = FIRST_TIMEOUT if patient else TIMEOUT
        return Client(transport, self.configuration.endpoint, version, TIMEOUT, first, self.clock)


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
            self.problem = with_variables(f"Who this machine is could not be asked: {error.message}")
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


LONGEST_ORDER = 300.0
"""Seconds for which the service may ask to be left alone: to see nothing for longer helps nobody."""

DAY = 86400.0  # without a request, after which the service sleeps, and its first answer takes minutes
_VERSION_EVERY = 3600.0
_SLOWER = {
    "unreachable": (1.0, 1.0, 2.0, 3.0, 5.0),
    "denied": (1.0, 2.0, 5.0, 10.0, 30.0),
    "not_azure": (1.0, 2.0, 5.0, 10.0, 30.0),
    "version_refused": (1.0, 2.0, 5.0, 10.0, 30.0),
    "too_large": (1.0, 2.0, 5.0, 10.0, 30.0),
}


class EventPoller:
    """The thread that polls.

    :arg woken: called when there is a document that differs from the one before, or the first failure after a document
    :arg expects_events: whether a document with events was seen before the watcher was started: an empty body is none then
    :arg number: of the last poll of the one before
    latest: the last document; poll_problem: why the last poll failed; ended: when a poll last ended, whatever came of it; left_alone_until: by order of
    the service; polls, failures: how many there were
    """

    def __init__(
        self,
        session: ImdsSession,
        woken: Callable[[], None],
        expects_events: bool = False,
        latest: Optional[PollResult] = None,
    ) -> None:
        self.latest: Optional[PollResult] = latest
        self.poll_problem = "" if latest else "There was no answer of the metadata service yet."
        self.polls = self.failures = 0
        self.warnings: List[str] = []
        self._session = session
        self._clock = session.clock
        self._woken = woken
        self.ended = self._answered = self._version_chosen = self._clock.now()
        self.left_alone_until = 0.0
        self._in_a_row = 0
        self._transport = session.transport()
        self._client = session.client(self._transport, patient=True)
        if expects_events or latest and latest.document.incarnation is not None:
            self._client.expect_events()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="polling", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """No more polls; one that is under way ends by itself and tells nobody."""
        self._stop.set()

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                pause = self.poll()
            except Exception as error:  # a thread that is gone would poll no more, and say nothing
                pause = self._failed(
                    ScheduledEventsError(f"The poll failed: {type(error).__name__}: {one_line(error)}")
                )
            self._stop.wait(pause)
        self._transport.close()

    def poll(self) -> float:
        """Poll once; returns the seconds until the next poll."""
        began = self._clock.now()
        self.polls += 1
        try:
            document = self._client.poll_once(patient=began - self._answered > DAY)
        except ScheduledEventsError as error:
            return self._failed(error)
        if self._stop.is_set():
            return 0.0
        self._seen(document, began)
        return max(0.0, began + self._session.configuration.interval - self._clock.now())

    def _seen(self, document: Document, asked: float) -> None:
        known, had_failed = self.latest, bool(self.poll_problem)
        at = self.ended = self._answered = self._clock.now()
        number = known.number + 1 if known else 1
        self.latest = PollResult(document, at, self._client.server_time(), number, asked)
        self.poll_problem = ""
        self.warnings = self._client.warnings
        self._in_a_row, self.left_alone_until = 0, 0.0
        self._session.api_version = self._client.api_version_used
        older = self._client.api_version_used != self._session.configuration.api_version
        if (
            older and at - self._version_chosen > _VERSION_EVERY
        ):  # it was chosen while the service was being updated, maybe
            self._version_chosen = at
            self._client.choose_version_anew()
        if had_failed or known is None or known.document != document:
            self._woken()

    def _failed(self, error: ScheduledEventsError) -> float:
        self.failures += 1
        self._in_a_row += 1
        self.ended = self._clock.now()
        first = not self.poll_problem
        to_do = advice(error)
        words = error.message if not to_do or to_do in error.message else f"{error.message} {to_do}"
        self.poll_problem = with_variables(words)
        interval = self._session.configuration.interval
        if error.kind == "version_refused":
            self._client.choose_version_anew()
        ordered = min(asked_pause(error), LONGEST_ORDER)
        if ordered:
            self.left_alone_until = self.ended + ordered
        if first:
            self._woken()
        if ordered or error.kind in BACK_OFF:
            return min(pause_after(error, self._in_a_row, interval), LONGEST_ORDER)
        steps = _SLOWER.get(error.kind, (interval,))
        return max(interval, steps[min(self._in_a_row, len(steps)) - 1])
