# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the operations have in common: the first poll, the machine's own name, the result, and how one fails.

An operation is what a module does: options, a Transport and a clock in, the result out. The same code runs in the
module on a Linux machine and on the controller for a Windows one, so it knows neither Ansible nor `requests`.

Private to this collection.
"""

import json
from typing import Any, Callable, Dict, List, Optional, Sequence

from .._clock import Clock, Deadline, iso_utc
from .._errors import ScheduledEventsError
from .._events.document import Document, UnusableEvent
from .._events.event import Event, event_to_dict
from .._imds.client import NAME_TIMEOUT, Client
from .._imds.endpoint import DEFAULT_ENDPOINT, Found
from .._imds.retries import RETRY_FOR, explained
from .._imds.transport import Transport
from .._text import shortened

_LONGEST_RAW = 2000  # characters
MOST_WARNINGS = 10
_ELSEWHERE = ("unreachable", "timeout")  # failures after which the endpoint is looked for elsewhere (discover)


class OperationFailed(ScheduledEventsError):
    """An operation that ended early; `result` is what it would have returned, as far as it got."""

    def __init__(self, error: ScheduledEventsError, result: Dict[str, Any]) -> None:
        super().__init__(error.message, error.kind, error.status, error.url)
        self.result = result


class Operation:
    """What both operations have in common: the first poll, where it goes to, and whose machine it is."""

    def __init__(
        self, options: Dict[str, Any], transport: Transport, clock: Clock, find: Optional[Callable[[], Found]]
    ) -> None:
        self.options = options
        self.clock = clock
        self.document = Document()
        self.name: Optional[str] = options["resource_name"] or None
        self.checked_name: Optional[str] = None  # the same, once the metadata service has said it
        self._transport = transport
        self._find = find
        self._started = clock.now()
        self._earlier_polls = 0
        self.document_url: Optional[str] = None
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
                f"{imds.failures} of the requests to {imds.endpoint} failed on the way, the last one with: "
                f"{imds.last_failure}"
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
                {"position": entry.position, "id": entry.key, "reason": entry.reason, "raw": _raw(entry)}
                for entry in self.document.unusable
            ],
            "resource_name": self.name,
            "api_version": imds.api_version_used,
            "endpoint": imds.endpoint,
            "elapsed": round(self.clock.now() - self._started, 3),
            "polls": self._earlier_polls + imds.polls,
            "looked_at": None if looked_at is None else iso_utc(looked_at),
            "warnings": self.warnings + imds.warnings + _unusable_warnings(self.document),
        }

    def event_dicts(self, events: Sequence[Event]) -> List[Dict[str, Any]]:
        return [event_to_dict(event, self.name, self.imds.looked_at or self.clock.wall()) for event in events]

    def first_poll(self, deadline: Optional[Deadline]) -> None:
        """The first document; from a discovered endpoint if need be and allowed."""
        failure = None
        try:
            final = _ELSEWHERE if self.options["discover"] else ()
            self.document = self.imds.document(deadline, final)
        except ScheduledEventsError as error:
            if not self.options["discover"] or error.kind not in _ELSEWHERE:
                raise
            failure = error
        if failure:
            self._discover(failure, deadline)
        self.document_url = self.imds.last_url

    def learn_name(self, needed: bool, unchecked: bool = True) -> None:
        """The machine's own name, as its metadata service has it; without it where nothing depends on it.

        The one that the caller gave is compared with it: names that got mixed up in an inventory would make one machine
        act for another.

        :arg needed: whether anything depends on it
        :arg unchecked: whether the one that the caller gave will do where the metadata service has none to give
        """
        given = self.options["resource_name"]
        final: Sequence[str] = ("unavailable",)
        timeout = None
        if needed and not (given and unchecked):
            final = ()
        elif given or not unchecked:
            # Who is asked too often answers in a moment: for an approval that is no reason to go on unchecked.
            final = tuple(kind for kind in RETRY_FOR if unchecked or kind != "throttled")
            timeout = NAME_TIMEOUT
        failure = None
        try:
            self.name = self.checked_name = self.imds.resource_name(final, timeout)
        except ScheduledEventsError as error:
            failure = error
        if failure is None:
            self._compare_names(given)
        elif given and self._lacks_names(failure):
            self.checked_name = given
            self.warnings.append(
                f"That this machine is {given}, as the option resource_name says, could not be checked, because {self.imds.endpoint} has no "
                f"/metadata/instance: {failure.message}"
            )
        elif given and (unchecked or not needed):
            self.warnings.append(
                f"That this machine is {given}, as the option resource_name says, could not be checked: "
                f"{failure.message}"
            )
        elif given:
            raise explained(
                failure,
                (
                    f"That this machine is {given}, as the option resource_name says, could not be checked, and an "
                    f"approval depends on it: {failure.message}"
                ),
            )
        elif needed:
            raise failure
        else:
            self.warnings.append(
                "Which events affect this machine is not known, because its own name could not be determined (option "
                f"resource_name): {failure.message}"
            )

    def _lacks_names(self, failure: ScheduledEventsError) -> bool:
        """Whether it is a service that somebody set up for tests, and that knows events only, as Microsoft's mock server."""
        return failure.status == 404 and self.imds.endpoint == self.options["endpoint"] != DEFAULT_ENDPOINT

    def _compare_names(self, given: Optional[str]) -> None:
        own = self.name or ""
        if given and given.lower() != own.lower():
            self.name = self.checked_name = None  # whose events these are is not known
            raise ScheduledEventsError(
                (
                    f"The option resource_name says that this machine is {given}, but the metadata service says that it "
                    f"is {own} ({self.imds.last_url}). Nothing was done, since it might be done for the wrong machine. "
                    "Leave the option out, or correct it; where a task has none, it is azure_maintenance_resource_name of "
                    "the inventory."
                ),
                kind="invalid",
                url=self.imds.last_url,
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
                self.document = self.imds.document(deadline, _ELSEWHERE)
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


def _raw(entry: UnusableEvent) -> str:
    """What stood there, as JSON in ASCII: text from outside that can harm neither a terminal nor Ansible."""
    return shortened(json.dumps(entry.raw), _LONGEST_RAW)


def _unusable_warnings(document: Document) -> List[str]:
    """One for each entry that can't be read, and not too many."""
    warnings = [
        f"Entry {entry.position} of the document{f' (event {entry.key})' if entry.key else ''} can't be read: "
        f"{entry.reason}. It may be maintenance of this machine."
        for entry in document.unusable[:MOST_WARNINGS]
    ]
    more = len(document.unusable) - MOST_WARNINGS
    if more > 0:
        warnings.append(f"{more} more entries of the document can't be read.")
    return warnings
