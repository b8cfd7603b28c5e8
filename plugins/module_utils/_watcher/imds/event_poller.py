# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Polls the document once a second, beside the loop: an answer that hangs for two minutes holds up nobody.

Private to this collection.

A failed poll is never retried by itself: the next poll is that. What may not be asked every second (429, 410, 5xx, somebody else's
answers) makes the pauses longer.
"""

import threading
from typing import Callable, List, Optional

from ..._errors import ScheduledEventsError
from ..._events.document import Document
from ..._imds.client import Client
from ..._imds.option_names import WATCHER, with_variables
from ..._imds.retries import ADVICE, BACK_OFF, asked_pause, pause_after
from ..._text import one_line
from ..engine.interface import PollResult
from .session import ImdsSession

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
        self._expects_events = expects_events or bool(latest and latest.document.incarnation is not None)
        self._transport = session.transport()
        self._client = self._conversation(session.endpoint)
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
        self._session.endpoint, self._session.api_version = self._client.endpoint, self._client.api_version_used
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
        advice = ADVICE.get(error.kind, "")
        words = error.message if not advice or advice in error.message else f"{error.message} {advice}"
        self.poll_problem = with_variables(words, WATCHER)
        interval = self._session.configuration.interval
        if error.kind == "version_refused":
            self._client.choose_version_anew()
        elif error.kind in ("unreachable", "timeout") and self.failures == self.polls:
            self._try_elsewhere()
        ordered = min(asked_pause(error), LONGEST_ORDER)
        if ordered:
            self.left_alone_until = self.ended + ordered
        if first:
            self._woken()
        if ordered or error.kind in BACK_OFF:
            return min(pause_after(error, self._in_a_row, interval), LONGEST_ORDER)
        steps = _SLOWER.get(error.kind, (interval,))
        return max(interval, steps[min(self._in_a_row, len(steps)) - 1])

    def _try_elsewhere(self) -> None:
        """The next poll goes to the next of the addresses that may be the service's."""
        candidates = [self._session.configuration.endpoint, *self._session.elsewhere()]
        now = self._client.endpoint
        following = candidates[(candidates.index(now) + 1) % len(candidates)] if now in candidates else candidates[0]
        if following != now:
            self._client = self._conversation(following)

    def _conversation(self, endpoint: str) -> Client:
        client = self._session.client(self._transport, endpoint, patient=True)
        if self._expects_events:
            client.expect_events()
        return client
