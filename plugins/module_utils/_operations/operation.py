# Copyright: (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the modules do: options, a Transport and a clock in, the result out.

The same code runs in the module on a Linux machine and on the controller for a Windows one, so it knows neither
Ansible nor `requests`.

Private to this collection.
"""

from typing import Any, Callable, Dict, List, Mapping, NoReturn, Optional, Sequence, Set, Tuple

from .._clock import Clock, Deadline, iso_utc
from .._errors import ScheduledEventsError
from .._events.document import Document
from .._events.event import Event, event_to_dict
from .._events.lifecycle import Transition, transitions
from .._imds.client import Client
from .._imds.discovery import Found
from .._imds.retries import asked_pause, explained, may_pass, pause_after
from .._imds.transport import Transport
from .._text import listed, sentence
from .options import approve_options, info_options

_ELSEWHERE = ("unreachable", "timeout")  # failures after which the endpoint is looked for elsewhere (discover)


class OperationFailed(ScheduledEventsError):
    """An operation that ended early; `result` is what it would have returned, as far as it got."""

    def __init__(self, error: ScheduledEventsError, result: Dict[str, Any]) -> None:
        super().__init__(error.message, error.kind, error.status, error.url)
        self.result = result


def info(
    options: Mapping[str, Any], transport: Transport, clock: Clock, find: Optional[Callable[[], Found]] = None
) -> Dict[str, Any]:
    """Look, or look until something is the case.

    :arg find: finds endpoints where the option endpoint can't be reached (option discover)
    """
    return _run(_Info(info_options(options), transport, clock, find))


def approve(
    options: Mapping[str, Any],
    transport: Transport,
    clock: Clock,
    check_mode: bool = False,
    find: Optional[Callable[[], Found]] = None,
) -> Dict[str, Any]:
    """Approve the named events that may be approved, and see that it worked."""
    return _run(_Approval(approve_options(options), transport, clock, find, check_mode))


def _run(operation: "_Operation") -> Dict[str, Any]:
    try:
        operation.run()
    except ScheduledEventsError as error:
        raise OperationFailed(error, operation.result()) from error
    imds = operation.imds
    if imds.failures and not any(imds.last_failure in warning for warning in operation.warnings):
        operation.warnings.append(
            "%d of the requests to %s failed on the way, the last one with: %s"
            % (imds.failures, imds.endpoint, imds.last_failure)
        )
    return operation.result()


class _Operation:
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


# --- info ---


class _Info(_Operation):
    def __init__(self, *args) -> None:
        super().__init__(*args)
        self.placement_group: Optional[str] = None
        self.seen: List[
            Transition
        ] = []  # The events whose end is waited for: one that can't be read any more is not over.
        self._watched = {event_id.upper() for event_id in self.options["event_ids"] or ()}

    def run(self) -> None:
        options = self.options
        deadline = Deadline(self.clock, options["wait_timeout"]) if options["wait"] else None
        self.first_look(deadline)
        self.learn_name(needed=options["affecting"] == "self")
        if options["placement_group"]:
            self.placement_group = self.imds.placement_group()
        if deadline:
            self._wait(deadline)

    def result(self) -> Dict[str, Any]:
        result = super().result()
        result.update(
            events=self.event_dicts(self._chosen()),
            placement_group=self.placement_group,
            transitions=[self._transition_dict(transition) for transition in self.seen],
        )
        return result

    def _wait(self, deadline: Deadline) -> None:
        known = self.options["since_incarnation"]
        if known is None:
            known = self.document.incarnation
        while not self._is_met(known):
            before = self.document
            if deadline.passed() or not self.change(deadline, self.options["wait_sleep"]):
                self._give_up()
            self.seen.extend(
                transition
                for transition in transitions(before, self.document, now=self.imds.looked_at)
                if self._passes(transition.event, with_status=False)
            )

    def _is_met(self, known: Optional[int]) -> bool:
        wanted = self.options["wait_for"]
        if self.document.incarnation is None:  # an empty answer: nothing has come, gone or changed by that
            return False
        chosen = self._chosen()
        if wanted == "change":
            return self.document.incarnation != known
        if wanted == "event":
            return bool(chosen)
        self._watched.update(event.key for event in chosen)
        unreadable = self._watched.intersection(entry.key for entry in self.document.unusable)
        if wanted == "gone":
            return not chosen and not unreadable
        started = any(event.has_started for event in chosen)
        # A named event that is gone will never start.
        named = self.options["event_ids"] is not None
        return started or (named and not unreadable and not self._named_events())

    def _give_up(self) -> NoReturn:
        options = self.options
        if self.document.incarnation is None:
            raise ScheduledEventsError(
                f"{self.imds.endpoint} sent no document within {options['wait_timeout']:g} s, only empty answers: "
                "whether there are events is unknown.",
                kind="timeout",
                url=self.imds.last_url,
            )
        outcome = {
            "event": "No event came within",
            "started": "No event had started after",
            "gone": "An event was still there after",
            "change": "The document did not change within",
        }[options["wait_for"]]
        filters = ", ".join(
            f"{name}={listed(options[name])}" for name in ("event_ids", "types", "statuses", "sources") if options[name]
        )
        if options["affecting"] == "self":
            filters += f"{', ' if filters else ''}affecting {self.name}"
        document = self.document
        raise ScheduledEventsError(
            "%s %g s at %s%s. The last document (incarnation %s) held %s."
            % (
                outcome,
                options["wait_timeout"],
                self.imds.endpoint,
                " (%s)" % filters if filters else "",
                document.incarnation,
                _described(document),
            ),
            kind="timeout",
            url=self.imds.last_url,
        )

    def _chosen(self) -> List[Event]:
        return [event for event in self.document.events if self._passes(event)]

    def _named_events(self) -> List[Event]:
        return [event for event in self.document.events if _among(event.event_id, self.options["event_ids"])]

    def _passes(self, event: Event, with_status: bool = True) -> bool:
        options = self.options
        return (
            _among(event.event_id, options["event_ids"])
            and _among(event.event_type, options["types"])
            and (not with_status or _among(event.event_status, options["statuses"]))
            and _among(event.source, options["sources"])
            and (options["affecting"] == "any" or event.affects(self.name))
        )

    def _transition_dict(self, transition: Transition) -> Dict[str, Any]:
        event = transition.event
        return {
            "kind": transition.kind,
            "id": event.event_id,
            "type": event.event_type,
            "outcome": transition.outcome,
            "affects_self": event.affects(self.name) if self.name else None,
        }


# --- approve ---


class _Approval(_Operation):
    def __init__(self, options, transport, clock, find, check_mode: bool) -> None:
        super().__init__(options, transport, clock, find)
        self._check_mode = check_mode
        self._ids = _distinct(options["event_ids"])  # as the caller wrote them
        self._prepared = {name.lower() for name in options["prepared_resources"]}
        self._lost = 0
        self._before: Dict[str, str] = {}
        self.approved: Dict[str, str] = {}  # key -> id as Azure writes it
        self.confirmed: Dict[str, str] = {}
        self.already: Dict[str, str] = {}
        self.not_approved: Dict[str, Dict[str, str]] = {}

    def run(self) -> None:
        self.first_look(None)
        self.learn_name(needed=self._needs_name())
        pending = self._sort()
        options = self.options
        if self._check_mode:
            self._note_approved(pending)
            return
        pending = self._leave_it_to_others(pending, Deadline(self.clock, options["rank"] * options["takeover"]))
        deadline = Deadline(self.clock, options["wait_timeout"])
        while pending:
            pending = self._send(pending, deadline)
        if self.approved and options["wait"]:
            self._confirm(deadline)

    def result(self) -> Dict[str, Any]:
        result = super().result()
        result.update(
            changed=bool(self.approved),
            approved=list(self.approved.values()),
            already=list(self.already.values()),
            not_approved=list(self.not_approved.values()),
            confirmed=list(self.confirmed.values()),
            events=self.event_dicts(self.document.events),
            diff={
                "before": {"events": {self.approved[key]: self._before[key] for key in self.approved}},
                "after": {"events": dict.fromkeys(self.approved.values(), "approved")},
            },
        )
        return result

    def _needs_name(self) -> bool:
        """Whether one of the events can't be judged without knowing which machine this is."""
        if self.name:
            return False
        for event in self._named().values():
            if event.has_started or event.is_advice:
                continue
            if event.is_terminate or (not self.options["force"] and self._unknown(event)):
                return True
        return False

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
                self.not_approved[key] = {
                    "id": event.event_id if event else event_id,
                    "reason": objection[0],
                    "message": f"Event {event.event_id if event else event_id} was not approved: {objection[1]}.",
                }
            elif event:
                pending.append(event)
        return pending

    def _absence(self, key: str) -> Optional[Tuple[str, str]]:
        for entry in self.document.unusable:
            if entry.key == key:
                return "unknown_machines", "which machines it affects can't be read: " + entry.reason
        if key in self.already:
            return None
        return "gone", "the document does not hold it: it is over, was cancelled, or belongs to other machines"

    def _objection(self, event: Event) -> Optional[Tuple[str, str]]:
        """What speaks against approving the event: the reason, and a sentence."""
        if event.is_advice:
            return "advice", "it is advice, and an approval has no effect"
        if event.is_terminate and not event.affects(self.name):
            return (
                "not_own_terminate",
                f"it deletes {listed(event.resources)}, and only a machine itself approves its deletion; this is {self.name}",
            )
        unknown = self._unknown(event)
        if unknown and not self.options["force"]:
            return "unknown_machines", (
                f"it affects {listed(unknown)}, too: prepare these machines and name them in prepared_resources, or set force"
            )
        return None

    def _unknown(self, event: Event) -> List[str]:
        own = (self.name or "").lower()
        return [name for name in event.resources if name.lower() not in self._prepared and name.lower() != own]

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
            if failure:  # at the very moment of our turn: an approver of the last resort looks again
                self.document = self.imds.document()
            pending = self._sort()
        return pending

    def _send(self, pending: Sequence[Event], deadline: Deadline) -> List[Event]:
        """One POST. Returns what must be sent again, because only a later document could tell, and it said no."""
        failure = None
        try:
            self.imds.approve([event.event_id for event in pending])
        except ScheduledEventsError as error:
            failure = error
        if failure is None:
            self._note_approved(pending)
            return []
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
                        f"{what}{failure.message} It asks to be left alone for {pause:g} s, longer than wait_timeout allows."
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
        still_open = self._open_keys()
        arrived = [event for event in pending if event.key not in still_open]
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
                    + f" It was tried for {self.options['wait_timeout']:g} s, and may or may not have arrived; the document still holds the event as not started. Running this again does no harm."
                ),
            )
        return again

    def _open_keys(self) -> Set[str]:
        """The events that have neither started nor left."""
        return {event.key for event in self.document.events if not event.has_started}.union(
            entry.key for entry in self.document.unusable
        )

    def _note_approved(self, events: Sequence[Event]) -> None:
        for event in events:
            self.approved[event.key] = event.event_id
            self._before[event.key] = event.event_status

    def _confirm(self, deadline: Deadline) -> None:
        """Wait until every approved event has started, or left."""
        while True:
            open_keys = self._open_keys()
            self.confirmed = {key: event_id for key, event_id in self.approved.items() if key not in open_keys}
            missing = [event_id for key, event_id in self.approved.items() if key in open_keys]
            if not missing:
                return
            try:
                changed = self.change(deadline, self.options["wait_sleep"])
            except ScheduledEventsError as error:
                raise explained(
                    error,
                    f"{self.imds.endpoint} took the approval of {listed(missing)}; whether the maintenance has started can't be seen: {error.message}",
                ) from error
            if not changed:
                raise ScheduledEventsError(
                    f"{self.imds.endpoint} took the approval of {listed(missing)}, but after {self.options['wait_timeout']:g} s the document (incarnation {self.document.incarnation}) does not show it started. Azure waits until others on the same host agree, or until the event's not-before: the approval stands and must not be repeated. To wait longer, set wait_timeout.",
                    kind="timeout",
                    url=self.imds.last_url,
                )


# --- small helpers ---


def _distinct(event_ids: Sequence[str]) -> Dict[str, str]:
    distinct: Dict[str, str] = {}
    for event_id in event_ids:
        distinct.setdefault(event_id.upper(), event_id)
    return distinct


def _among(text: str, wanted: Optional[Sequence[str]]) -> bool:
    return not wanted or text.lower() in {item.lower() for item in wanted}


def _described(document: Document) -> str:
    described = [
        f"{event.event_type} {event.event_id} {event.event_status} of {listed(event.resources)}"
        for event in document.events
    ]
    described.extend(
        "entry %d, which can't be read: %s" % (entry.position, entry.reason) for entry in document.unusable
    )
    return "; ".join(described) or "no event"
