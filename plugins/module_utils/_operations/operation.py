# Copyright: (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the operations have in common: the first look, the machine's own name, the result, and how one fails.

An operation is what a module does: options, a Transport and a clock in, the result out. The same code runs in the
module on a Linux machine and on the controller for a Windows one, so it knows neither Ansible nor `requests`.

Private to this collection.
"""

from typing import Any, Callable, Dict, List, Optional, Sequence

from .._clock import Clock, Deadline, iso_utc
from .._errors import ScheduledEventsError
from .._events.document import Document
from .._events.event import Event, event_to_dict
from .._imds.client import Client
from .._imds.discovery import Found
from .._imds.retries import explained
from .._imds.transport import Transport

_ELSEWHERE = ("unreachable", "timeout")  # failures after which the endpoint is looked for elsewhere (discover)


class OperationFailed(ScheduledEventsError):
    """An operation that ended early; `result` is what it would have returned, as far as it got."""

    def __init__(self, error: ScheduledEventsError, result: Dict[str, Any]) -> None:
        super().__init__(error.message, error.kind, error.status, error.url)
        self.result = result


class Operation:
    """What both operations have in common: the first look, where it goes to, and whose machine it is."""

    def __init__(
        self, options: Dict[str, Any], transport: Transport, clock: Clock, find: Optional[Callable[[], Found]]
    ) -> None:
        self.options = options
        self.clock = clock
        self.document = Document()
        self.name: Optional[str] = options["resource_name"] or None
        self._transport = transport
        self._find = find
        self._started = clock.now()
        self._earlier_polls = 0
        self.warnings: List[str] = []
        self.imds = self._conversation(options["endpoint"])

    def perform(self) -> Dict[str, Any]:
        """Do it, and return what came of it.

        :raises OperationFailed: with what there is to return nevertheless
        """
        try:
            self.run()
        except ScheduledEventsError as error:
            raise OperationFailed(error, self.result()) from error
        imds = self.imds
        if imds.failures and not any(imds.last_failure in warning for warning in self.warnings):
            self.warnings.append(
                "%d of the requests to %s failed on the way, the last one with: %s"
                % (imds.failures, imds.endpoint, imds.last_failure)
            )
        return self.result()

    def run(self) -> None:
        raise NotImplementedError

    def result(self) -> Dict[str, Any]:
        """The common part of what is returned, complete however far the operation got."""
        imds = self.imds
        looked_at = imds.looked_at
        return {
            "changed": False,
            "incarnation": self.document.incarnation,
            "unusable_events": [
                {"position": entry.position, "id": entry.key, "reason": entry.reason, "raw": entry.raw}
                for entry in self.document.unusable
            ],
            "resource_name": self.name,
            "api_version": imds.api_version_used,
            "endpoint": imds.endpoint,
            "elapsed": round(self.clock.now() - self._started, 3),
            "polls": self._earlier_polls + imds.polls,
            "looked_at": None if looked_at is None else iso_utc(looked_at),
            "warnings": self.warnings + imds.warnings,
        }

    def event_dicts(self, events: Sequence[Event]) -> List[Dict[str, Any]]:
        return [event_to_dict(event, self.name, self.imds.looked_at or self.clock.wall()) for event in events]

    def first_look(self, deadline: Optional[Deadline]) -> None:
        """The first document; from a discovered endpoint if need be and allowed."""
        failure = None
        try:
            self.document = self.imds.document(deadline, final=_ELSEWHERE if self.options["discover"] else ())
        except ScheduledEventsError as error:
            if not self.options["discover"] or error.kind not in _ELSEWHERE:
                raise
            failure = error
        if failure:
            self._discover(failure, deadline)

    def learn_name(self, needed: bool) -> None:
        """The machine's own name; without it where nothing depends on it."""
        if self.name:
            return
        failure = None
        try:
            self.name = self.imds.resource_name(final=() if needed else ("unavailable",))
        except ScheduledEventsError as error:
            if needed:
                raise
            failure = error
        if failure:
            self.warnings.append(
                f"Which events affect this machine can't be told, because its own name could not be learned (option resource_name): {failure.message}"
            )

    def change(self, deadline: Deadline, interval: float) -> bool:
        """Wait for the next document; whether there was one before the deadline."""
        before = self.document
        self.document = self.imds.changed_document(before, interval, deadline)
        return self.document != before

    def _conversation(self, endpoint: str) -> Client:
        options = self.options
        return Client(
            self._transport, endpoint, options["api_version"], options["timeout"], options["first_timeout"], self.clock
        )

    def _discover(self, failure: ScheduledEventsError, deadline: Optional[Deadline]) -> None:
        found = self._find() if self._find else Found((), ())
        tried = []
        for endpoint in found.endpoints:
            self._earlier_polls += self.imds.polls
            self.imds = self._conversation(endpoint)
            try:
                self.document = self.imds.document(deadline, final=_ELSEWHERE)
            except ScheduledEventsError as error:
                tried.append(f"{endpoint} ({error.kind})")
                continue
            self.warnings.append(f"{self.options['endpoint']} could not be reached; DHCP option 245 led to {endpoint}.")
            return
        self._earlier_polls += self.imds.polls
        self.imds = self._conversation(self.options["endpoint"])
        outcome = (
            "no DHCP lease with option 245 was found"
            if not found.endpoints
            else "the endpoints of DHCP option 245 gave no document: " + ", ".join(tried)
        )
        if found.skipped:
            outcome += "; could not be read: " + ", ".join(found.skipped)
        raise explained(failure, f"{failure.message} Discovery was tried: {outcome}.")
