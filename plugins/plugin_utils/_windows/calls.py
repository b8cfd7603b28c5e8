# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a Windows machine does in a tick: the machine program, run here over what look.ps1 does there.

What can be foreseen goes with the first start of PowerShell: the mark, the boot, the document, the machine's name. Another
start writes what has changed, or sends an approval and looks after it; one more is a wait.

Private to this collection.
"""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Iterable, Mapping
from typing import Any

from ansible.errors import AnsibleConnectionFailure

from ...module_utils._caller import Caller
from ...module_utils._clock import Clock, Deadline
from ...module_utils._core.lease import Moment
from ...module_utils._errors import ScheduledEventsError
from ...module_utils._imds.client import NAME, Client
from ...module_utils._imds.transport import Answer
from ...module_utils._machine.looks import AGES, LEAVES
from ...module_utils._machine.program import Parts, lost, perform
from ...module_utils._machine.said_here import lasting
from ...module_utils._machine.watched import watched
from ...module_utils._operations.options import INFO_DEFAULTS
from ...module_utils._text import one_line
from .connection_errors import connection_problem
from .lacking import lacking
from .machine import Execute, WindowsMachine, WindowsProblem, find_endpoints
from .store import FOLDER, WindowsStore
from .transport import SentTooLate, WindowsTransport

LIMIT = 60.0  # seconds of a call, beside the wait in it
STARTS = 6.0  # seconds of a call that PowerShell may need for its starts; the rest is for what it asks
_LEAST = 2.0
_DRIFT = 120.0  # seconds by which the moment of a boot may seem to move when the clock is set


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
    return _Call(_Machine(name, execute, clock), call, clock, caller).answer()


class _Machine(WindowsMachine):
    """A machine that is not asked again in this call once it could not be."""

    lost: Exception | None = None

    def call(self) -> None:
        if self.lost is not None:
            raise self.lost
        try:
            super().call()
        except Exception as error:
            self.lost = error
            raise


class _Boot:
    """When the machine was started, by its own clock."""

    def __init__(self, machine: WindowsMachine, store: WindowsStore, clock: Clock) -> None:
        self._machine = machine
        self._store = store
        self._clock = clock
        self._asked = machine.later(Do="boot")

    def moment(self) -> Moment:
        said = self._asked.answer()
        booted, uptime = said.get("booted"), said.get("uptime_ms")
        if not isinstance(booted, str) or not isinstance(uptime, int) or not isinstance(said.get("clock_ms"), int):
            raise WindowsProblem(
                f"{self._machine.name}: when the machine was started can't be learned from Win32_OperatingSystem "
                f"({one_line(said.get('message'), 200) or 'it did not say'}): see whether WMI works there."
            )
        seconds = uptime / 1000.0 + self._machine.age(self._asked)
        return Moment(self._clock.wall(), seconds, said.get("id") or self._boot_id(booted, seconds))

    def window(self, seconds: float) -> dict[str, int]:
        """So many seconds from now, by a clock of the machine that nobody sets: in no other boot, and after no sleep of ours."""
        shown = int(self._asked.answer()["clock_ms"])
        return {"FromMs": shown, "UntilMs": shown + round(1000 * (seconds + self._machine.age(self._asked)))}

    def wall(self) -> float:
        """The Unix time by the machine's own clock."""
        return _unix_time(str(self._asked.answer()["booted"])) + self.moment().uptime

    def _boot_id(self, booted: str, uptime: float) -> str:
        """Where the user may not give the boot an id: its moment, or what the mark calls it, if that is the same.

        The moment seems to move when Windows' clock is set.
        """
        mark = self._store.there()
        if mark and uptime >= mark["lease"]["uptime"] and _apart(mark["lease"]["boot_id"], booted) <= _DRIFT:
            return str(mark["lease"]["boot_id"])
        return booted


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
    def __init__(self, machine: _Machine, call: Mapping[str, Any], clock: Clock, caller: Caller | None) -> None:
        options = dict(call["options"])
        self._seconds = float(options.get("seconds") or limit(call["requests"]))
        options["seconds"] = max(_LEAST, self._seconds - STARTS)
        self._call = dict(call, options=options)
        self._clock = clock
        self._began = self._performed_at = clock.now()
        self._caller = caller
        self._machine = machine
        self._store = WindowsStore(machine, options.get("folder") or FOLDER)
        self._boot = _Boot(machine, self._store, clock)
        self._transport = _GuardedTransport(machine, self._store, clock)

    def answer(self) -> dict[str, Any]:
        problem: Exception | None = None
        try:
            self._foresee()
            self._machine.call()
            self._limit()
            answer = self._performed()
            self._make_ready(answer["answers"])
            self._write()
        except (WindowsProblem, AnsibleConnectionFailure) as error:
            problem = error
        problem = self._machine.lost or problem
        if isinstance(problem, WindowsProblem):
            return lost(problem.message)
        return lost(connection_problem(str(problem))) if problem else self._corrected(answer)

    def _foresee(self) -> None:
        """Have everything that will be asked for go with the first start."""
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
        self._machine.window = self._boot.window(self._seconds - taken)

    def _performed(self) -> dict[str, Any]:
        answer = perform(
            self._call,
            Parts(
                store=self._store,
                clock=self._clock,
                moment=self._boot.moment,
                transport=lambda clock: self._transport,
                find=lambda: find_endpoints(self._machine),
                hand_of=lambda step: None,  # all its steps are carried out elsewhere
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
                left = said["elsewhere"]["left"] - (now - self._performed_at)
                said["elsewhere"] = dict(said["elsewhere"], left=max(0.0, round(left, 1)))
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


def _unix_time(moment: str) -> float:
    return datetime.datetime.fromisoformat(moment).replace(tzinfo=datetime.timezone.utc).timestamp()


def _apart(boot_id: str, booted: str) -> float:
    """Seconds between two moments of a boot; infinite where one of them is none."""
    try:
        return abs(_unix_time(boot_id) - _unix_time(booted))
    except (TypeError, ValueError):
        return float("inf")
