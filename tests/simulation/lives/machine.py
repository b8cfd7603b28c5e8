# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A machine that speaks the machine program's protocol, and fails in every way that machines fail."""

from __future__ import annotations

import email.utils
import math
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from . import collection
from .azure import Azure, Scope
from .clock import Clock, Life, Process, Signal
from .going import Going
from .journal import Journal, copied
from .step import Step, all_out
from .watcher import Watcher

if TYPE_CHECKING:
    from .driver import Run

machine_rate = collection.part("module_utils._machine.machine_rate")
UNBROKEN = collection.part("module_utils._imds.transport").UNBROKEN

WALL = 1_800_000_000.0
PAUSE = 0.2  # seconds between two requests of a line to the metadata service of a Windows machine
STALE = 1.6  # seconds for which some machines are shown what was shown before


def noted(requests: list[float]) -> list[float]:
    """What a call finds of the requests of those before it."""
    return requests


class Machine:
    damage: tuple[str, ...] = ()  # what else than with all machines could hold it up

    def __init__(self, host: str, name: str, clock: Clock, journal: Journal, azure: Azure, scope: Scope) -> None:
        self.host, self.name, self.clock, self.journal, self.azure, self.scope = (
            host,
            name,
            clock,
            journal,
            azure,
            scope,
        )
        self.is_linux, self.priority, self.placement_group = True, "Regular", ""
        self.steps: list[Step] = []
        self.mark: dict[str, Any] | None = None
        self.yes: list[str] = []
        self.put_back: list[str] = []
        self.lost_by = ""  # whose mark went with its disk, as long as he has not restored it
        self.marked_before = ""  # whose mark it bears from the beginning
        self.watcher: Watcher | None = None
        self.faults: list[tuple[float, float, str]] = []  # from, until, what
        self.gone = self.by_hand = self.restless = False
        self.on_phase: dict[str, Callable[[], None]] = {}  # what happens when its mark first says so
        self.disks = 1
        self.ephemeral = False  # its disk does not outlive a reboot by Azure
        self.boots, self.booted = 1, -1000.0 - azure.chance.random() * 1e5
        self.away_until = self.frozen_until = 0.0
        self.programs: list[Process] = []
        self.notes_after = 0.0  # seconds of a step's time that pass before its mark says that it has begun
        self.on_the_way = 0  # calls that hang before they arrive
        self.locked = False  # by a call that hangs while it writes the mark
        self.waited_for = Signal()
        self.asked: dict[str, deque[float]] = {}  # when its metadata service was: of those who count together
        self.requests: list[float] = []  # as the machine program has noted them, by its uptime
        self.polled = -1.0  # when a Windows machine last was
        self.cost = 0.3 + azure.chance.random()  # seconds for a call that only connects and begins
        self.first_cost = 0.0  # seconds that the first one takes longer, which brings the program
        azure.machines[name.lower()] = self

    # ---- how it is ----

    @property
    def is_out(self) -> bool:
        return all_out(self.steps)

    @property
    def is_up(self) -> bool:
        return not self.gone and self.clock.now >= self.away_until

    @property
    def boot_id(self) -> str:
        return f"boot-{self.host}-{self.boots}"

    @property
    def uptime(self) -> float:
        return max(self.clock.now, self.frozen_until) - self.booted

    def left_out(self) -> list[str]:
        return [step.key for step in self.steps if step.is_left_out]

    def fault(self, *kinds: str) -> str:
        for begins, ends, kind in self.faults:
            if kind in kinds and begins <= self.clock.now < ends:
                return kind
        return ""

    # ---- what Azure does to it ----

    def reboot(self, seconds: float) -> None:
        self.boots += 1
        self.journal.add("boot", host=self.host)
        self.booted = self.away_until = self.clock.now + seconds
        self._stop()
        self.clock.at(self.away_until, self._start, self.boots)
        if self.ephemeral:
            self.lost_its_disk()

    def lost_its_disk(self) -> None:
        self.disks += 1
        if self.mark is not None:
            self.journal.add("mark-gone", host=self.host, run="its disk")
            self.lost_by = self.mark.get("holder", {}).get("run", "")
        self.mark, self.yes, self.put_back = None, [], []
        for step in self.steps:
            if not step.elsewhere and step.running != step.originally:
                step.running = step.originally
                self.journal.add("back" if step.running else "out", host=self.host, key=step.key, run="the boot")

    def _start(self, boot: int) -> None:
        if boot == self.boots and not self.gone:
            for step in self.steps:
                step.boot()

    def restart(self, seconds: float) -> None:
        """An administrator, or its own kernel: no event."""
        if self.is_up:
            self.restless = True
            self.journal.add("restarted", host=self.host, until=self.clock.now + seconds)
            self.reboot(seconds)

    def entered(self, phase: str) -> None:
        """Its mark says so from now on."""
        self.on_phase.pop(phase, lambda: None)()

    def recovered_by_hand(self) -> None:
        """Somebody thinks that he knows better: by force, as the playbook recover has it."""
        if self.mark is None or "unreadable" in self.mark or not self.is_up or self.watcher:
            return
        if self.locked:  # a call that hangs while it writes the mark: what it begins then is ended with the rest
            self.waited_for.fire()
            self.clock.after(0.05, self.recovered_by_hand)
            return
        events = [str(event).upper() for event in self.mark["events"]]
        self.put_back, self.yes = [*self.put_back, *events], [event for event in self.yes if event not in events]
        self.mark, self.by_hand = None, True
        self.journal.add("put-back", host=self.host, events=events)
        for step in self.steps:
            step.cut_off()
            step.job = None  # how it once ended says nothing of how it is now
            step.running = step.originally
        self.journal.add("mark-gone", host=self.host, run="a person")

    def say_yes(self, event: str) -> None:
        """A person does, on the machine."""
        self.yes.append(event)

    def controller_killed(self, run: Run) -> None:
        """What it has sent goes on here."""

    def end_calls(self) -> None:
        """At the end of the life: what has not ended is of no interest."""

    def taken_away(self) -> None:
        self.gone = True
        self._stop()

    def freeze(self, seconds: float) -> None:
        """Its uptime stands still meanwhile."""
        until = max(self.frozen_until, self.clock.now + seconds)
        self.booted += until - max(self.frozen_until, self.clock.now)
        self.frozen_until = until

    def _stop(self) -> None:
        for program in self.programs:
            program.end()
        for step in self.steps:
            if not step.elsewhere:
                step.cut_off()

    # ---- a call ----

    def call(self, requests: list[Any], call: dict[str, Any], holder: dict[str, Any], within: Any, run: Run) -> Life:
        """What the controller's action does: it ends in its time, whatever the machine does.

        :arg requests: those of the call that are sent
        :arg within: when it was sent, and until when it is waited for, by the machine's uptime; None where that is not known
        :arg run: who calls
        """
        number, seconds = call["number"], float(call["seconds"])
        began, limit = self.clock.now, seconds
        cost, self.first_cost = self.cost + self.first_cost, 0.0
        yield cost
        how = self.fault("refuses", "hangs") or ("" if self.is_up else "hangs" if self.boots % 2 else "refuses")
        if how or self.clock.now < self.frozen_until:
            if how == "refuses":
                yield 0.5
                return dict(self._lost("it can't be reached: connection refused", began), unsent=True)
            yield limit - (self.clock.now - began)
            return self._lost(f"it did not answer within {limit:g} s", began)
        if not self.is_linux:  # which is asked for its uptime first
            sent = self.uptime - cost
            within = {"uptime": sent, "boot_id": self.boot_id, "until": sent + seconds}
        life = self._program(copied(requests), run.name, number, holder, seconds, within)
        if self.is_linux and self.fault("late"):  # and no reboot ends it
            program = self.clock.begin(self._arriving(life))
        else:
            program = self.clock.begin(life)
            self.programs = [other for other in self.programs if not other.over] + [program]
        if not program.over:
            yield program.done, limit - (self.clock.now - began)
        if not program.over or program.result is None or self.fault("answers-lost"):
            left = limit - (self.clock.now - began)
            if left > 0 and not self.fault("answers-lost"):
                yield left
            return self._lost(f"it did not answer within {limit:g} s", began)
        answer = program.result
        for line in answer.pop("looks"):
            line["heard"] = True
        answer["took"] = self.clock.now - began
        answer["ended"], answer["age"] = self.clock.now, 0.0
        return answer

    def _arriving(self, program: Life) -> Life:
        """A call that hangs on its way goes on when its network does, whatever has become of who sent it."""
        yield self._held_up()
        return (yield from program) if self.is_up else None

    def _held_up(self) -> float:
        """Seconds until it goes on, one such call after the other; what it begins then is part of the life."""
        seconds = self._end_of("late") + 2.0 * self.on_the_way
        self.on_the_way += 1
        self.clock.after(seconds + 5.0, self._arrived)
        return seconds

    def _arrived(self) -> None:
        self.on_the_way -= 1

    def _end_of(self, fault: str) -> float:
        """Seconds until a fault ends."""
        return (
            max(ends for _begins, ends, kind in self.faults if kind == fault and self.clock.now < ends) - self.clock.now
        )

    def _lost(self, why: str, began: float) -> dict[str, Any]:
        return {"lost": why, "took": self.clock.now - began}

    def _program(
        self, requests: list[dict[str, Any]], run: str, number: int, holder: dict[str, Any], seconds: float, within: Any
    ) -> Life:
        began = self.clock.now
        yield 0.1
        if self.fault("stalls"):
            yield self._end_of("stalls")
        self.requests = noted(self.requests)
        going = Going(self, run, number, holder, within)
        yield from going.opened()
        answers: list[dict[str, Any]] = []
        for request in requests:
            yield from self.frozen()
            if request["do"] in ("go", "approve") and not self.is_linux and self.fault("late"):
                yield self._held_up()  # the second request of the call
                began = self.clock.now
            if self.clock.now - began > seconds:
                return None  # it ends itself: nobody waits for it any more
            answers.append((yield from self._answer(request, going, began, seconds)))
        for request, answer in zip(requests, answers, strict=True):
            for look in [answer.get("look"), answer if request["do"] == "look" else None]:
                if look and "at" in look:
                    look["age"] = self.clock.now - look.pop("at")
                    look.update((name, self.clock.now - moment) for name, moment in look.pop("moments").items())
        gone = next((answer for answer in answers if "ask" in answer), {})
        going.shown()
        return {
            "looks": going.looks,
            "lost": "",
            "answers": answers,
            "mark": copied(self.mark),
            "yes": list(self.yes),
            "watcher": self.watcher.said if self.watcher else None,
            "put_back": list(self.put_back),
            "boot_id": self.boot_id,
            "disk": f"disk {self.disks}",
            "uptime": self.uptime,
            "heard": {"uptime": self.uptime, "boot_id": self.boot_id, "at": self.clock.now},
            "number": number,
            "fenced": going.fenced,
            "ask": gone.get("ask", []),
            "elsewhere": gone.get("elsewhere"),
        }

    def frozen(self) -> Iterator[float]:
        while self.clock.now < self.frozen_until:
            yield self.frozen_until - self.clock.now

    def _answer(self, request: dict[str, Any], going: Going, began: float, seconds: float) -> Life:
        do = request["do"]
        if do == "hello":
            return (yield from self._hello())
        if do == "look":
            return (
                yield from self._look(min(float(request.get("wait") or 0), seconds - 1), request.get("since"), going)
            )
        if do == "go":
            return (yield from going.go(request))
        if do == "approve":
            return (yield from self._approve(request, going, began))
        if do == "release":
            return going.release() or {}
        if do == "yes":
            self.yes.append(request["event"])
            return {}
        if do == "no_yes":
            self.yes = [event for event in self.yes if event.upper() != request["event"].upper()]
            return {}
        raise AssertionError(f"the run asks a machine for {request!r}")

    def _hello(self) -> Life:
        for _leaf in range(4):
            yield from self._request()
        problem = self.fault("imds-unreachable", "imds-410", "imds-429", "no-hello")
        known = {
            "resource_name": self.name,
            "placement_group": self.placement_group,
            "vm_id": f"vm-{self.host}",
            "priority": self.priority,
        }
        return {
            **(dict.fromkeys(known, "") if problem else known),
            "problem": f"asking failed: {problem}" if problem else "",
        }

    # ---- looking ----

    def _request(self, approves: bool = False) -> Iterator[float]:
        """One request of the machine program to the metadata service, as soon as it may be sent."""
        if not self.is_linux:  # a line keeps its own pace
            yield max(0.0, self.polled + PAUSE - self.clock.now)
            self.polled = self.clock.now
            return
        most = machine_rate.limits(self.watcher is not None)[approves]
        while True:
            self.requests = machine_rate.recent(self.requests, self.uptime)
            at = machine_rate.sending(self.requests, self.uptime, most, goes_first=approves)
            if at <= self.uptime + machine_rate.SECOND:
                break
            yield 2.0  # it is not sent, and tried again
        self.requests.append(at)
        if at > self.uptime:
            yield at - self.uptime
            yield from self.frozen()
        self.was_asked()
        self.requests = machine_rate.sent(self.requests, at, self.uptime)

    def was_asked(self, by: str = "") -> None:
        """Its metadata service got a request.

        :arg by: who counts his requests by himself
        """
        asked = self.asked.setdefault(by, deque(maxlen=6))
        asked.append(self.clock.now)
        if len(asked) == 6 and self.clock.now - asked[0] < 1 - 1e-6:  # they are added up by two clocks
            self.journal.add("too-many-requests", host=self.host)

    def _look(self, wait: float, since: int | None, going: Going) -> Life:
        began = asked = since_when = self.clock.now
        yield from self._request()
        if self.fault("imds-slow"):
            yield 6.0
        yield 0.02
        look = self._seen(began, since_when, asked)
        yield from self._request()  # for its name
        first = look["incarnation"] if since is None else since
        while wait and look["incarnation"] is not None and look["incarnation"] == first:
            left = began + wait - self.clock.now
            if left <= 0:
                break
            changed: tuple[Signal, float] = (self.scope.changed, left)
            if (yield changed):
                yield min(left, self.azure.chance.random())
            polled = self.clock.now
            yield from self.frozen()
            asked = self.clock.now
            if asked - polled > UNBROKEN:
                since_when = asked
            yield from self._request()
            look = self._seen(began, since_when, asked)
        line = self.journal.add(
            "looked",
            host=self.host,
            run=going.run,
            events=[(event["id"], event["status"], tuple(event["resources"])) for event in look["events"]],
            good=look["incarnation"] is not None,
            began=began,
            heard=False,  # as long as the run has no answer
        )
        going.looks.append(line)
        return look

    def _seen(self, began: float, since: float, asked: float) -> dict[str, Any]:
        problem = self.fault("imds-unreachable", "imds-410", "imds-429")
        look: dict[str, Any] = {
            "incarnation": None,
            "events": [],
            "unusable_events": [],
            "failure": None,
            "msg": "",
            "polls": 1,
            "resource_name": self.name,
            "at": self.clock.now,
            "moments": {"began": began, "since": since, "asked": asked},
        }
        if problem:
            kind = {"imds-unreachable": "unreachable", "imds-410": "updating", "imds-429": "throttled"}[problem]
            look.update(
                failure={"kind": kind, "status": None, "url": ""}, msg=f"The service could not be asked: {kind}."
            )
            return look
        if self.fault("empty-body"):
            return look
        incarnation, entries = self.azure.document(self.scope, self.name, self.sees_stale())
        look["incarnation"] = incarnation
        if self.fault("empty-document"):
            return look
        if self.fault("unreadable") and entries:
            look["unusable_events"] = [{"position": 1, "id": "", "reason": "it has no EventId", "raw": "{}"}]
            entries = entries[1:]
        look["events"] = [self._event(entry) for entry in entries]
        return look

    def sees_stale(self) -> bool:
        """Whether it is still shown what was shown before."""
        return bool(self.fault("stale")) and self.clock.now - self.scope.earlier[0] < STALE

    def _event(self, entry: dict[str, Any]) -> dict[str, Any]:
        not_before, notice = "", None
        if entry["NotBefore"] is not None:
            when = math.floor(WALL + entry["NotBefore"])
            not_before = email.utils.formatdate(when, usegmt=True)
            notice = math.floor(when - (WALL + self.clock.now))
        names = list(entry["Resources"])
        return {
            "id": entry["EventId"],
            "type": entry["EventType"],
            "status": entry["EventStatus"],
            "resource_type": "VirtualMachine",
            "resources": names,
            "raw_resources": list(names),
            "not_before": not_before,
            "not_before_utc": None,
            "notice": notice,
            "source": entry["EventSource"],
            "description": "",
            "duration": entry["DurationInSeconds"],
            "affects_self": self.name.lower() in [name.lower() for name in names],
        }

    # ---- approving ----

    def _runs_again(self) -> bool:
        """Whether somebody has put back one of its own steps."""
        done = {
            note["key"]
            for note in (self.mark or {}).get("steps", ())
            if note["state"] == "done" and note["before"]["ran"]
        }
        return any(step.running for step in self.steps if step.key in done and not step.elsewhere)

    def _is_ready(self, request: dict[str, Any]) -> bool:
        """Whether its watcher has it prepared for what is to be approved."""
        mark = self.mark or {}
        prepared = mark.get("phase") == "prepared" and mark["holder"]["kind"] == "watcher"
        return prepared and set(request["ids"]) <= set(mark["events"])

    def _approve(self, request: dict[str, Any], going: Going, began: float) -> Life:
        answer: dict[str, Any] = {"approved": [], "already": [], "not_approved": [], "failure": None, "msg": ""}
        answer["unanswered"] = []

        def refused(identity: str, reason: str) -> None:
            answer["not_approved"].append({"id": identity, "reason": reason, "message": f"not approved: {reason}"})

        def failed(kind: str, message: str) -> None:
            answer["failure"], answer["msg"] = {"kind": kind, "status": None, "url": ""}, message

        runs_again = bool(request["own"]) and not request["by_watcher"] and self._runs_again()
        before = yield from self._look(0.0, None, going)
        shown = {event["id"].upper(): event for event in before["events"]}
        may = {name.lower() for name in [*request["prepared"], *request["allow_unknown"]]}
        for identity in request["ids"]:
            event = shown.get(identity.upper())
            if going.late():
                refused(identity, "late")
            elif not (self._is_ready(request) if request["by_watcher"] else self.mark is None or going.may_act()):
                refused(identity, "fenced")
            elif identity in request["own"] and not going.is_prepared(identity):
                refused(identity, "not prepared")
            elif runs_again:
                refused(identity, "in service")
            elif before["failure"]:
                refused(identity, "failed")
                answer["failure"], answer["msg"] = before["failure"], before["msg"]
            elif event is None:
                refused(identity, "absent")
            elif event["status"] != "Scheduled":
                answer["already"].append(identity)
            elif any(name.lower() not in may for name in event["resources"]):
                refused(identity, "unknown_resources")
            elif event["type"] == "Terminate" and not event["affects_self"]:
                refused(identity, "terminate_of_another")
            elif self.clock.now - began > 10:
                refused(identity, "late")
            else:
                if not answer["approved"]:  # one request carries all of them
                    yield 0.03
                    yield from self._request(approves=True)
                if self.fault("post-refused"):
                    failed("rejected", "HTTP 400")
                else:
                    self.azure.approve(self.scope, event["id"], self.host, going.run)
                    if self.fault("post-lost"):
                        failed("unreachable", "no answer came")
                        answer["unanswered"].append(identity)
                    else:
                        answer["approved"].append(event["id"])
        yield 0.05
        answer["look"] = yield from self._look(0.0, None, going)
        return answer
