# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a Windows machine does in a tick: the machine program, run here over what look.ps1 does there.

What can be foreseen goes with the first start of PowerShell: the mark, the boot, the document, the machine's name. Another
start writes what has changed, or sends an approval and looks after it; one more is a wait.

Where an earlier call has left what it knows, the program begins with that, and all of it is one start: look.ps1 first compares
what was assumed with what it finds, and does nothing else unless all of that still holds. Then the call begins anew, without.

What one call leaves for the next one needs no start of PowerShell to be learned. It is no more than a guess: the start that changes
something compares all of it first, on the machine.

Private to this collection.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ansible.errors import AnsibleConnectionFailure

from ...module_utils._caller import Caller
from ...module_utils._clock import Clock, Deadline
from ...module_utils._errors import ScheduledEventsError
from ...module_utils._imds.client import NAME, Client
from ...module_utils._imds.transport import Answer
from ...module_utils._machine.beside_mark import lasting, watched
from ...module_utils._machine.imds_requests import AGES, LEAVES
from ...module_utils._machine.program import Parts, lost, perform
from ...module_utils._operations.options import INFO_DEFAULTS
from .boot import Boot
from .connection_errors import connection_problem
from .machine import Execute, Outdated, WindowsMachine, WindowsProblem, find_endpoints, lacking
from .store import FOLDER, WindowsStore
from .transport import Compared, SentTooLate, WindowsTransport

LIMIT = 60.0  # seconds of a call, beside the wait in it
STARTS = 6.0  # seconds of a call that PowerShell may need for its starts; the rest is for what it asks
_LEAST = 2.0
_AT_ONCE = 20.0  # seconds from when the only start of a call is made, after which it changes nothing; at least
_SLOW = 3.0  # so many times what the start before took

_FOR = ("go", "look", "approve", "release")  # requests that may begin with what was known
_LONGEST = 8192  # letters of a document that is kept: it travels through the record of the run


def limit(requests: Iterable[Mapping[str, Any]], longest: float = 0.0) -> float:
    """How many seconds a call with these requests may take.

    :arg longest: beside the wait in it, where the inventory says that
    """
    wait = max((float(request.get("wait") or 0) for request in requests), default=0.0)
    return wait + (longest or LIMIT)


def perform_on_windows(
    name: str, execute: Execute, call: Mapping[str, Any], clock: Clock | None = None, caller: Caller | None = None
) -> dict[str, Any]:
    """Answer one call (``options``, ``requests``, ``steps``) for a Windows machine, as the machine program does.

    :arg name: the host, as the inventory calls it
    :arg execute: runs a module with these arguments there, and returns its result
    """
    clock = clock or Clock()
    began, options = clock.now(), dict(call["options"])
    known = options.pop("known", None)
    if known and is_assumable(call["requests"]):
        with contextlib.suppress(Outdated):
            return _Call(_Machine(name, execute, clock), dict(call, options=options), clock, caller, known).answer()
        seconds = float(options.get("seconds") or limit(call["requests"]))
        options["seconds"] = max(_LEAST, seconds - (clock.now() - began))
    return _Call(_Machine(name, execute, clock), dict(call, options=options), clock, caller).answer()


class _Machine(WindowsMachine):
    """A machine that is not asked again in this call once it could not be.

    along: the store whose changes go with the next start, as all of what they depend on is assumed
    """

    lost: Exception | None = None
    along: WindowsStore | None = None

    def call(self) -> None:
        if self.lost is not None:
            raise self.lost
        along, self.along = self.along, None
        if along and not along.refused and along.is_changed():
            along.write_along()
        try:
            super().call()
        except Exception as error:
            self.lost = error
            raise
        if along:
            along.written()


class _OwnClock(Clock):
    """Durations by the controller's clock, the time of day by the machine's: not-before is reckoned by that, as on Linux machines."""

    def __init__(self, clock: Clock, boot: Boot) -> None:
        self._clock = clock
        self._boot = boot

    def now(self) -> float:
        return self._clock.now()

    def sleep(self, seconds: float) -> None:
        self._clock.sleep(seconds)

    def wall(self) -> float:
        try:
            return self._boot.wall()
        except ValueError:  # it does not say when it was started in words that are known
            return self._clock.wall()


class _GuardedTransport(WindowsTransport):
    """A Transport that sends nothing unless the mark can be written, and is what it was.

    posted: when it began to send something
    """

    def __init__(self, machine: WindowsMachine, store: WindowsStore, clock: Clock) -> None:
        super().__init__(machine, clock, after_post=0.0)
        self.posted: float | None = None
        self._store = store

    def post(self, url: str, headers: dict[str, str], body: bytes, timeout: float) -> Answer:
        self.posted = self.clock.now()
        self._store.write_along(guard=True)
        failure: ScheduledEventsError | None = None
        try:
            answer = super().post(url, headers, body, timeout)
        except SentTooLate as error:
            self._store.late = error.message
        except ScheduledEventsError as error:
            failure = error
        self._store.written()
        why = self._store.refused
        if why:
            raise ScheduledEventsError(f"No approval was sent. {why}.", kind="interrupted")
        if failure is not None:
            raise failure
        return answer


class _Call:
    def __init__(
        self,
        machine: _Machine,
        call: Mapping[str, Any],
        clock: Clock,
        caller: Caller | None,
        known: Mapping[str, Any] | None = None,
    ) -> None:
        options = dict(call["options"])
        self._seconds = float(options.get("seconds") or limit(call["requests"]))
        options["seconds"] = max(_LEAST, self._seconds - STARTS)
        self._call = dict(call, options=options)
        self._clock = clock
        self._began = self._performed_at = clock.now()
        self._caller = caller
        self._machine = machine
        self._store = WindowsStore(machine, options.get("folder") or FOLDER)
        self._boot = Boot(machine, self._store, clock)
        self._transport = _GuardedTransport(machine, self._store, clock)
        self._known = known

    def answer(self) -> dict[str, Any]:
        """:raises Outdated: where what was known does not hold any more"""
        problem: Exception | None = None
        try:
            self._foresee()
            self._limit()
            answer = self._performed()
            self._make_ready(answer["answers"])
            self._write()
        except (WindowsProblem, Outdated, AnsibleConnectionFailure) as error:
            problem = error
        problem = self._machine.lost or problem
        if isinstance(problem, Outdated):
            raise problem
        if isinstance(problem, WindowsProblem):
            return lost(problem.message)
        return lost(connection_problem(str(problem))) if problem else self._corrected(answer)

    def _foresee(self) -> None:
        """Have everything that will be asked for go with the first start; make it, unless what it would bring is known."""
        if self._known:
            assume(self._known, self._call["requests"], self._boot, self._store, self._transport)
            self._machine.along, self._machine.start = self._store, self._known["start"]
        self._foresee_document()
        if not self._known:
            self._machine.call()

    def _foresee_document(self) -> None:
        wanted = {request["do"] for request in self._call["requests"]}
        looks = bool(wanted & {"look", "approve"})
        leaves = list(LEAVES.values()) if "hello" in wanted else [NAME] if looks else []
        options = {name: self._call["options"].get(name) or default for name, default in INFO_DEFAULTS.items()}
        within = self._call["options"]["seconds"]
        try:
            client = Client(
                self._transport,
                options["endpoint"],
                options["api_version"],
                min(options["timeout"], within),
                min(options["first_timeout"], within),
                self._clock,
            )
        except ScheduledEventsError:
            return  # what is wrong with an option is said where it is used
        client.foresee(leaves, document=looks)
        self._transport.begin()

    def _limit(self) -> None:
        """Have nothing begun when nobody waits for this call any more: not here, and not by a start of PowerShell that hangs."""
        moment, taken = self._boot.moment(), self._clock.now() - self._began
        sent = moment.uptime - taken
        self._call["options"]["within"] = {
            "uptime": sent,
            "boot_id": moment.boot_id,
            "until": sent + self._seconds,
        }
        left = self._seconds - taken
        if self._known:  # the very first start changes something: it may hang, and its run be ended meanwhile
            left = min(left, max(_AT_ONCE, _SLOW * self._known["start"]))
        self._machine.window = self._boot.window(left)

    def _performed(self) -> dict[str, Any]:
        answer = perform(
            self._call,
            Parts(
                store=self._store,
                clock=_OwnClock(self._clock, self._boot),
                moment=self._boot.moment,
                transport=lambda clock: self._transport,
                find=lambda: find_endpoints(self._machine),
                runner_of=lambda step: None,  # all its steps are carried out elsewhere
                caller=self._caller,
                held=lambda wall: lasting(self._store.hold(), wall),
                watched=lambda steps: watched(self._store.said_of_watcher(), self._boot.moment(), steps),
            ),
        )
        self._performed_at = self._clock.now()
        return answer

    def _make_ready(self, answers: list[dict[str, Any]]) -> None:
        """What only the machine itself can say of whether it could be taken out of service."""
        for request, answer in zip(self._call["requests"], answers, strict=True):
            if request["do"] == "ready" and "lacks" in answer:
                del answer["wall"]  # our own clock's
                with contextlib.suppress(ValueError):
                    answer["wall"] = self._boot.wall()
                if request.get("always") or not any(one.get("events") for one in answers):
                    until = Deadline(self._clock, self._call["options"]["seconds"] / 2)
                    answer["lacks"].update(lacking(self._machine, self._call["steps"], until))

    def _write(self) -> None:
        store = self._store
        # Where others are only asked for the initial state, nothing depends on what is assumed, and all of it is as old as it is.
        is_shown = any(request["do"] != "go" for request in self._call["requests"])
        if self._machine.assumes and (is_shown or store.is_changed()):
            self._machine.call()
        if self._transport.is_unproven:  # it was not waited from after all
            raise Outdated
        if not store.refused and store.is_changed():
            store.write_along()
            self._machine.call()
            store.written()

    # --- what the end of the call makes of the answers ---

    def _corrected(self, answer: dict[str, Any]) -> dict[str, Any]:
        store, now = self._store, self._clock.now()
        answers = [
            self._settled(request, said)
            for request, said in zip(self._call["requests"], answer["answers"], strict=True)
        ]
        for said in answers:
            for look, began in ((said, self._began), (said.get("look"), self._transport.posted or self._began)):
                if isinstance(look, dict) and "age" in look:
                    look.update((key, round(look[key] + now - self._performed_at, 3)) for key in AGES)
                    look["began"] = round(now - began, 3)
        for said in answers:
            if said.get("elsewhere"):  # those who do it hear of it only now
                asked, late = said["elsewhere"], now - (self._began if self._known else self._performed_at)
                less = {name: max(0.0, round(asked[name] - late, 1)) for name in ("left", "begins")}
                said["elsewhere"] = dict(asked, **less)
        gone = [said for said in answers if "elsewhere" in said]
        unreadable = answer["mark"] and "unreadable" in answer["mark"]
        return dict(
            answer,
            answers=answers,
            mark=answer["mark"] if unreadable else store.there(),
            took=round(now - self._began, 3),
            start=round(self._machine.start, 3),
            age=round(store.age(), 3),
            fenced=store.fenced or answer["fenced"],
            ask=gone[-1]["ask"] if gone else [],
            elsewhere=gone[-1]["elsewhere"] if gone else None,
            known=remembered(self._machine.start, self._boot, self._store, self._transport),
        )

    def _settled(self, request: Mapping[str, Any], said: dict[str, Any]) -> dict[str, Any]:
        """The answer, now that it is known whether what changed could be written."""
        store, do = self._store, request["do"]
        why = store.refused
        if not why:
            return said
        if do == "go":
            mark = store.there() or {}
            state = (
                "refused"
                if store.fenced
                else "skipped"
                if store.late or store.busy
                else "failed"
                if request["to"] == "prepared"
                else "half"
            )
            return dict(said, state=state, why=why, ask=[], elsewhere=None, steps=mark.get("steps", []))
        if do == "approve" and (store.fenced or store.late or store.busy) and not said.get("approved"):
            refused = [{"id": event, "reason": "fenced", "message": why} for event in request["ids"]]
            return dict(said, failure=None, msg="", not_approved=refused)
        if do in ("yes", "no_yes", "put_back", "release", "take_off", "put_aside"):
            return {"problem": why}
        if "warnings" in said:
            said["warnings"].append(f"The mark could not be renewed: {why}")
        return said


def is_assumable(requests: Iterable[Mapping[str, Any]]) -> bool:
    """Whether a call with these requests may begin with what was known."""
    return all(request["do"] in _FOR for request in requests)


def remembered(start: float, boot: Boot, store: WindowsStore, transport: WindowsTransport) -> dict[str, Any] | None:
    """What the next call may begin with, and how old that is; None where nothing is sure enough.

    :arg start: seconds that the last start of PowerShell took
    """
    known = store.known()
    if known is None or not boot.has_id:
        return None
    seen = {url: said for url, said in transport.seen.items() if len(said["body"]) <= _LONGEST}
    return dict(known, boot=boot.said, seen=seen, age=boot.age, start=start)


def assume(
    known: Mapping[str, Any],
    requests: Sequence[Mapping[str, Any]],
    boot: Boot,
    store: WindowsStore,
    transport: WindowsTransport,
) -> None:
    """Begin with what was known. A document only where it is compared before an approval, or waited from: else it is looked at."""
    boot.assume(known["boot"], known["age"])
    store.assume(known, known["age"])
    document = None
    if any(request["do"] == "approve" for request in requests):
        document = Compared.FIRST
    elif any(request.get("wait") for request in requests):
        document = Compared.BY_WAITING
    transport.begin_with(known["seen"], document)
