# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Approve the named events that may be approved, and see that it worked: what scheduled_events_approve does.

Private to this collection.
"""

from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Set, Tuple

from .._caller import Caller
from .._clock import Clock, Deadline
from .._errors import ScheduledEventsError
from .._events.event import Event
from .._imds.endpoint import Found
from .._imds.retries import asked_pause, explained, may_pass, pause_after
from .._imds.transport import Transport
from .._text import duration, listed, sentence
from .operation import MOST_WARNINGS, Operation
from .options import approve_options

REFUSALS = ("rejected", "denied", "throttled", "updating", "version_refused", "not_azure", "interrupted", "invalid")
"""Kinds of a POST's failure by which it is certain that Azure has approved nothing."""


def approve(
    options: Mapping[str, Any],
    transport: Transport,
    clock: Clock,
    check_mode: bool = False,
    find: Optional[Callable[[], Found]] = None,
    caller: Optional[Caller] = None,
) -> Dict[str, Any]:
    """Approve the named events that may be approved, and see that it worked.

    :arg caller: without whom nothing is sent any more
    """
    return Approval(approve_options(options), transport, clock, find, check_mode, caller).perform()


class Approval(Operation):
    def __init__(
        self,
        options: Dict[str, Any],
        transport: Transport,
        clock: Clock,
        find: Optional[Callable[[], Found]],
        check_mode: bool,
        caller: Optional[Caller],
    ) -> None:
        super().__init__(options, transport, clock, find)
        self._check_mode = check_mode
        self._caller = caller
        self._ids = _distinct(options["event_ids"])  # as the caller wrote them
        prepared: Optional[List[str]] = options["prepared_resources"]
        # Whoever says which machines are prepared says it of this one, too.
        self._own_counts = prepared is None
        self._accepted = {name.lower() for name in (prepared or []) + options["allow_unknown"]}
        self._lost = 0
        self._before: Dict[str, str] = {}
        self.approved: Dict[str, str] = {}  # key -> id as Azure writes it
        self.confirmed: Dict[str, str] = {}
        self.already: Dict[str, str] = {}
        self.not_approved: Dict[str, Dict[str, str]] = {}
        self.unanswered: Dict[str, str] = {}  # sent, and nobody knows whether Azure got it
        self._is_failure = False  # that something was not approved: the error says it

    def run(self) -> None:
        self.first_poll(None)
        polled_at = self.clock.now()
        self.learn_name(needed=self._needs_name(), unchecked=False)
        if self.clock.now() - polled_at > self.options["timeout"]:
            self.document = self.imds.document()  # the events may list other machines by now
        pending = self._sort()
        options = self.options
        if not self._check_mode:
            pending = self._leave_it_to_others(pending, Deadline(self.clock, options["rank"] * options["takeover"]))
        self._require_all(pending)
        if self._check_mode:
            self._note_approved(pending)
            return
        deadline = Deadline(self.clock, options["wait_timeout"])
        while pending:
            pending = self._send(pending, deadline)
            self._require_all(pending)
        if self.approved and options["wait"]:
            self._confirm(deadline)

    def result(self) -> Dict[str, Any]:
        result = super().result()
        if not self._is_failure:
            result["warnings"] += _messages(self.not_approved.values())
        result.update(
            changed=bool(self.approved),
            approved=list(self.approved.values()),
            already=list(self.already.values()),
            not_approved=list(self.not_approved.values()),
            confirmed=list(self.confirmed.values()),
            events=self.event_dicts(self.document.events),
            diff={
                "before": {
                    "events": [{"id": self.approved[key], "status": self._before[key]} for key in self.approved]
                },
                "after": {"events": [{"id": event_id, "status": "approved"} for event_id in self.approved.values()]},
            },
        )
        return result

    def _needs_name(self) -> bool:
        """Whether one of the events can't be judged without knowing which machine this is."""
        return any(
            event.may_terminate or (self._own_counts and self._unaccepted(event))
            for event in self._named().values()
            if not event.has_started and not event.is_advice
        )

    def _named(self) -> Dict[str, Event]:
        unusable = {entry.key for entry in self.document.unusable}
        events = {event.key: event for event in self.document.events if event.key not in unusable}
        return {key: events[key] for key in self._ids if key in events}

    def _sort(self) -> List[Event]:
        """Put every named event where it belongs; returns those that are to be approved now."""
        named = self._named()
        pending = []
        for key, event_id in self._ids.items():
            if key in self.approved:
                continue
            self.not_approved.pop(key, None)
            event = named.get(key)
            if event and event.has_started:
                self.already[key] = event.event_id
                continue
            objection = self._objection(event) if event else self._absence(key)
            if objection:
                self._note_not_approved(key, event.event_id if event else event_id, *objection)
            elif event:
                pending.append(event)
        return pending

    def _note_not_approved(self, key: str, event_id: str, reason: str, why: str) -> None:
        again = " again (whether the first approval arrived is not known)" if key in self.unanswered else ""
        message = f"Event {event_id} was not approved{again}: {why}."
        self.not_approved[key] = {"id": event_id, "reason": reason, "message": message}

    def _require_all(self, pending: Sequence[Event]) -> None:
        """With fail_on_not_approved, send nothing more and fail where a named event may not be approved. One that is gone needs no approval.

        :arg pending: those that may be approved
        :raises ScheduledEventsError: of the kind not_approved
        """
        refused = [entry for entry in self.not_approved.values() if entry["reason"] != "gone"]
        if not refused or not self.options["fail_on_not_approved"]:
            return
        sent = {**self.unanswered, **self.approved}
        for event in pending:
            self._note_not_approved(event.key, event.event_id, "not_all", "another named event may not be approved")
        self._is_failure = True
        raise ScheduledEventsError(
            f"No approval was sent{f' after that of {listed(sent.values())}' if sent else ''}, because not every named event may be "
            f"approved, and fail_on_not_approved is set. {' '.join(_messages(refused))} Correct what is named, or leave these events out of event_ids.",
            kind="not_approved",
            url=self.document_url,
        )

    def _absence(self, key: str) -> Optional[Tuple[str, str]]:
        for entry in self.document.unusable:
            if entry.key == key:
                return "unreadable", f"its entry in the document can't be read: {entry.reason}"
        if key in self.already:
            return None
        if key not in self.document.lacks([key]):
            return "unreadable", "an entry of the document has lost its id, and may be this event"
        return "gone", "the document does not hold it: it is over, was cancelled, or belongs to other machines"

    def _objection(self, event: Event) -> Optional[Tuple[str, str]]:
        """What speaks against approving the event: the reason, and a sentence."""
        if event.is_advice:
            return "advice", "it is advice, and an approval has no effect"
        # A name that could not be checked may be another machine's.
        own = self.checked_name or ""
        if event.may_terminate and not event.affects(own):
            deletes = "deletes" if event.is_terminate else "has no type that can be read, so it may delete"
            return (
                "not_own_terminate",
                (
                    f"it {deletes} {listed(event.resources)}, and only a machine itself approves its deletion; this is "
                    f"{own or 'a machine whose name is not known'}"
                ),
            )
        unknown = [name for name in self._unaccepted(event) if not (self._own_counts and name.lower() == own.lower())]
        if unknown:
            return "unknown_machines", (
                f"it affects {listed(unknown)}, too: prepare these machines and name them in prepared_resources, or "
                "name them in allow_unknown"
            )
        return None

    def _unaccepted(self, event: Event) -> List[str]:
        """Its machines of which the caller has said nothing."""
        return [name for name in event.resources if name.lower() not in self._accepted]

    def _leave_it_to_others(self, pending: List[Event], deadline: Deadline) -> List[Event]:
        """Let the approvers of a lower rank go first: until none is left to approve, or our turn has come."""
        while pending and not deadline.passed():
            failure = None
            try:
                self.change(deadline, self.options["wait_sleep"])
            except ScheduledEventsError as error:
                if not may_pass(error):
                    raise
                failure = error
            if failure:  # at the very moment of our turn: an approver of the last resort polls again
                self.document = self.imds.document()
            pending = self._sort()
        return pending

    def _send(self, pending: Sequence[Event], deadline: Deadline) -> List[Event]:
        """One POST. Returns what must be sent again, because only a later document could tell, and it said no."""
        if self._caller and self._caller.is_gone():
            raise ScheduledEventsError(
                (
                    f"{listed(event.event_id for event in pending)}: no approval was sent, because the run that asked "
                    "for it has been interrupted."
                ),
                kind="interrupted",
            )
        failure = None
        try:
            self.imds.approve([event.event_id for event in pending])
        except ScheduledEventsError as error:
            failure = error
        if failure is None:
            self._note_approved(pending)
            return []
        if failure.kind not in REFUSALS:
            self.unanswered.update((event.key, event.event_id) for event in pending)
        what = f"approving {listed([event.event_id for event in pending])} failed: "
        if failure.kind != "rejected" and not may_pass(failure):
            raise explained(failure, sentence(what + failure.message))
        return self._look_after(failure, what, pending, deadline)

    def _look_after(
        self, failure: ScheduledEventsError, what: str, pending: Sequence[Event], deadline: Deadline
    ) -> List[Event]:
        """What became of a POST that got no 200: the events tell."""
        left = deadline.remaining()
        if failure.kind != "rejected":
            self._lost += 1
            pause = pause_after(failure, self._lost)
            if asked_pause(failure) > left:
                raise explained(
                    failure,
                    sentence(
                        f"{what}{failure.message} It asks to be left alone for {duration(pause)}, longer than "
                        "wait_timeout allows."
                    ),
                )
            self.clock.sleep(min(pause, left))
        try:
            self.document = self.imds.document(deadline)
        except ScheduledEventsError as error:
            raise explained(
                error, sentence(f"{what}{failure.message} Whether it arrived can't be seen: {error.message}")
            ) from error
        again = self._sort()
        if failure.kind == "rejected":
            if len(again) == len(pending):
                raise explained(
                    failure,
                    sentence(
                        what
                        + failure.message
                        + f" The document still holds {'it' if len(again) == 1 else 'all of them'} as not started."
                    ),
                )
            return again
        # A POST whose answer was lost may have done its work.
        over = self._started_or_gone(event.key for event in pending)
        arrived = [event for event in pending if event.key in over]
        for event in arrived:
            self.already.pop(event.key, None)
            self.not_approved.pop(event.key, None)
        self._note_approved(arrived)
        if again and left <= 0:
            raise explained(
                failure,
                sentence(
                    what
                    + failure.message
                    + (
                        f" {self._tried()}, and may or may not have arrived; the document still holds the event as not "
                        "started. Running this again does no harm."
                    )
                ),
            )
        return again

    def _tried(self) -> str:
        seconds = self.options["wait_timeout"]
        return f"It was tried for {seconds:g} s" if seconds else "It was sent once"

    def _started_or_gone(self, keys: Iterable[str]) -> Set[str]:
        """Those of the events that have started or left for certain."""
        unreadable = {entry.key for entry in self.document.unusable}
        started = {event.key for event in self.document.events if event.has_started}
        return self.document.lacks(keys).union(started - unreadable)

    def _note_approved(self, events: Sequence[Event]) -> None:
        for event in events:
            self.approved[event.key] = event.event_id
            self._before[event.key] = event.event_status

    def _confirm(self, deadline: Deadline) -> None:
        """Wait until every approved event has started, or left."""
        while True:
            over = self._started_or_gone(self.approved)
            self.confirmed = {key: event_id for key, event_id in self.approved.items() if key in over}
            missing = [event_id for key, event_id in self.approved.items() if key not in over]
            if not missing:
                return
            try:
                changed = self.change(deadline, self.options["wait_sleep"])
            except ScheduledEventsError as error:
                raise explained(
                    error,
                    (
                        f"{self.imds.endpoint} took the approval of {listed(missing)}; whether the maintenance has "
                        f"started can't be seen: {error.message}"
                    ),
                ) from error
            if not changed:
                raise ScheduledEventsError(
                    (
                        f"{self.imds.endpoint} took the approval of {listed(missing)}, but after "
                        f"{self.options['wait_timeout']:g} s the document (incarnation {self.document.incarnation}) "
                        "does not show it started. Azure waits until others on the same host agree, or until the "
                        "event's not-before: the approval stands and must not be repeated. To wait longer, set "
                        "wait_timeout."
                    ),
                    kind="timeout",
                    url=self.document_url,
                )


def _messages(entries: Iterable[Mapping[str, str]]) -> List[str]:
    """What a person should read about events that were not approved, and not too many."""
    messages = [entry["message"] for entry in entries]
    more = len(messages) - MOST_WARNINGS
    return messages[:MOST_WARNINGS] + ([f"{more} more named events were not approved."] if more > 0 else [])


def _distinct(event_ids: Sequence[str]) -> Dict[str, str]:
    distinct: Dict[str, str] = {}
    for event_id in event_ids:
        distinct.setdefault(event_id.upper(), event_id)
    return distinct
