# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the coordinator of a run does with a record: it calls machines over lines, and decides anew whenever some have answered."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from .clock import Clock, Life, Process, Signal
from .journal import Journal, copied
from .machine import Machine
from .service import WALL

LONGEST_PAUSE = 30.0
FIRST = 15.0  # seconds after which it begins without machines that have not answered
TOGETHER = 0.06
GRACE = 6.0  # seconds after its limit until a line is killed on a busy controller
DECIDES = 0.02  # seconds that a decision takes
ORPHANED = 2.0  # seconds within which lines end when ansible-playbook was killed


class Decider(NamedTuple):
    """What is tried here: _fleet's functions of these names."""

    begun: Callable[..., Any]
    sent: Callable[..., Any]
    move_on: Callable[..., Any]
    only_waits: Callable[..., Any]
    seconds_until_due: Callable[..., Any]
    result: Callable[..., Any]
    call: Any  # and how the action machine makes a call of it: _machine/call.py


class Run:
    """One execution of the role against some machines, until it ends or is killed."""

    def __init__(
        self,
        name: str,
        decider: Decider,
        machines: Mapping[str, Machine],
        facts: list[Any],
        check: bool,
        journal: Journal,
        clock: Clock,
        chance: random.Random,
    ) -> None:
        self.name, self.decider, self.machines, self.facts, self.check = name, decider, machines, facts, check
        self.journal, self.clock, self.chance = journal, clock, chance
        self.record: Any = None
        self.answered: set[str] = set()
        self.leaves: dict[str, float] = {}  # when hosts leave the play
        self.result: Any = None
        self.began_at, self.ended_at = clock.now, 1e9
        self.stops: list[tuple[float, float]] = []  # from when to when it was stopped
        self.lines_stop = False  # whether its lines were stopped with it
        self.stops_at_approval = 0.0  # seconds for which it is stopped when it has first decided to approve something
        self.on_stop: Callable[[float], None] = lambda seconds: None
        self._lines: dict[str, Process] = {}  # the call that is under way over each, with what others do after it
        self._came: list[tuple[str, dict[str, Any]]] = []  # answers that have not been taken in
        self._comes = Signal()
        self.process = clock.begin(self._life())

    @property
    def over(self) -> bool:
        return self.process.over

    def kill(self) -> None:
        if not self.over:
            self.ended_at = self.clock.now
            self.journal.add("killed", run=self.name)
            self.process.end()
            # Lines end with their coordinator, which sees that ansible-playbook itself is gone a moment later.
            self.clock.after(self.chance.choice((0.0, self.chance.uniform(0, ORPHANED))), self._end_lines)
            for machine in self.machines.values():
                machine.controller_killed(self)

    def _end_lines(self) -> None:
        for line in self._lines.values():
            line.end()

    def stop(self, seconds: float) -> None:
        """SIGSTOP, and SIGCONT so much later. What it has sent to machines goes on there."""
        if not self.over:
            self.stops.append((self.clock.now, self.clock.now + seconds))
            self.lines_stop = self.chance.random() < 0.5  # they are process groups of their own
            self.journal.add("stopped", run=self.name, seconds=seconds)
            self.on_stop(seconds)

    def _felt(self, at: float) -> float:
        """When it comes to what happens at a moment."""
        return max([at, *(ends for begins, ends in self.stops if begins <= at < ends)])

    def stands_still(self) -> Life:
        while self._felt(self.clock.now) > self.clock.now:
            yield self._felt(self.clock.now) - self.clock.now

    def line_stands_still(self) -> Life:
        if self.lines_stop:
            yield from self.stands_still()

    # ---- the coordinator ----

    def _life(self) -> Life:
        self.journal.add("run", run=self.name, hosts=list(self.machines), check=self.check)
        options = {"run": self.name, "job": "", "controller": "simulated", "check": self.check}
        self.record = self.decider.begun(copied(self.facts), options, self.clock.now, self._wall())
        yield from self._ask_everybody()
        while not self.record.finished:
            yield from self._send()
            answers = yield from self._collect(self._pause())
            yield from self._decide(answers)
        yield from self._let_end()
        self.result = self.decider.result(self.record)
        self.ended_at = self.clock.now
        self.journal.add("ended", run=self.name, problems=list(_texts(self.result["problems"])))
        self._end_lines()

    def _wall(self) -> float:
        return WALL + self.clock.now + self.clock.error

    def _ask_everybody(self) -> Life:
        """The answers to the first calls are taken in together."""
        yield from self._send()
        asked, until = len(self._lines), self.clock.now + (1e9 if self.check else FIRST)
        found: dict[str, Any] = {}
        while len(found) < asked and self.clock.now < until:
            found.update((yield from self._collect(min(LONGEST_PAUSE, until - self.clock.now))))
        yield from self._decide(found)

    def _send(self) -> Life:
        planned = self.record.todo.calls.items()
        calls = {host: call for host, call in planned if call["due"] <= self.clock.now}
        if self.stops_at_approval and any(_approves(call) for call in calls.values()):
            self.stop(self.stops_at_approval)
            self.stops_at_approval = 0.0
            yield from self.stands_still()
        made = self.decider.sent(self.record, list(calls))
        gone = [host for host in made if self._has_left(host)]
        for host, call in made.items():
            if host not in gone:
                self._begin(host, call)
        if gone:
            yield from self._decide({host: {} for host in gone})

    def _begin(self, host: str, call: dict[str, Any]) -> None:
        if host in self._lines:
            self._lines[host].end()  # one that only waits is given up
        marked = [name for name in self.machines if self._bears_mark(name)] if _waits(call) else []
        if marked:
            self.journal.add("waits", run=self.name, host=host, marked=marked)
        self._lines[host] = self.clock.begin(self._line(host, call))

    def _pause(self) -> float:
        todo, now = self.record.todo, self.clock.now
        if todo.calls:
            return max(1e-3, min(call["due"] for call in todo.calls.values()) - now)
        if not todo.idle:
            return float(todo.seconds)
        return max(1.0, min(LONGEST_PAUSE, float(self.decider.seconds_until_due(self.record, now))))

    def _collect(self, seconds: float) -> Life:
        """What has been answered until then; as soon as anything has, with what comes a moment later."""
        until = self.clock.now + seconds
        found: dict[str, Any] = {}
        while True:
            yield from self.stands_still()
            came, self._came = self._came, []
            if came and not found:
                until = min(until, self.clock.now + TOGETHER)
            found.update(came)
            left = until - self.clock.now
            if left <= 1e-6 or (found and all(line.over for line in self._lines.values())):
                return found
            waited: tuple[Signal, float] = (self._comes, left)
            yield waited

    def _decide(self, answers: dict[str, Any]) -> Life:
        yield DECIDES
        yield from self.stands_still()
        for host, answer in answers.items():
            if self._has_left(host):
                answers[host] = {"lost": "it has left the play", "left": True}
            elif not answer["lost"]:
                self.answered.add(host)
        self.decider.move_on(self.record, answers, self.clock.now, self._wall())

    def _let_end(self) -> Life:
        """What was begun by a call ends with it."""
        machines = self.record.hosts
        while not all(self.decider.only_waits(one.flying) for one in machines.values() if one.flying):
            for host in (yield from self._collect(LONGEST_PAUSE)):
                machines[host].flying = None

    def _has_left(self, host: str) -> bool:
        return self.clock.now >= self.leaves.get(host, 1e9)

    def _bears_mark(self, host: str) -> bool:
        """Whether the run knows that a machine is marked, and may hope for it: there is something to do for it."""
        machine = self.machines[host]
        mark = machine.mark or {}
        if not machine.is_up or mark.get("phase") == "half":
            return False
        known = (self.record.hosts[host].mark or {}).get("holder")
        return "holder" in mark and mark["holder"]["run"] == self.name and known == mark["holder"]

    # ---- a line ----

    def _line(self, host: str, call: dict[str, Any]) -> Life:
        """A call, and the rounds of what others do for the machine as soon as it has answered."""
        machine = self.machines[host]
        yield self.chance.uniform(0.02, 0.3)
        yield from self.line_stands_still()
        answer = yield from self._called(machine, call)
        if answer["lost"]:
            self.journal.add("lost", run=self.name, host=host, why=answer["lost"])
        else:
            yield from self.line_stands_still()
            _age(answer, self.clock.now - answer["ended"])
            for one in answer["answers"]:
                for identity in one.get("approved", ()):
                    self.journal.add("taken-approval", run=self.name, event=identity)
            if answer["ask"] or answer["elsewhere"]:
                yield from self.stands_still()  # it is the coordinator that has them begun
                if self.over:
                    return
                yield from self._elsewhere(machine, answer)
        self._came.append((host, answer))
        self._comes.fire()

    def _called(self, machine: Machine, call: dict[str, Any]) -> Life:
        """What the action does: the first call to a machine only looks, all others say until when they may do more."""
        action, now = self.decider.call, self.clock.now
        seconds, heard, requests = float(call["seconds"]), call["heard"], call["requests"]
        requests = action.aged(requests, now - call["decided"])
        sent, within = action.timely(requests, now), None
        if heard:
            within = action.within(heard, now, seconds)
        elif machine.is_linux:
            sent = action.harmless(requests)
        for request in sent:
            if request["do"] in ("go", "approve", "take_off"):
                self.journal.add("sent", run=self.name, host=machine.host, do=request["do"], to=request.get("to", ""))
        holder = {"kind": "run", "run": self.name, "job": "", "controller": "simulated"}
        answer = yield from machine.call(sent, call, holder, within, self)
        if answer["lost"]:
            if self.clock.now - now >= seconds and self.chance.random() < 0.3:
                yield GRACE
            return {**answer, "ended": self.clock.now}
        if len(sent) < len(requests):
            answer["answers"] = action.with_refusals(answer["answers"], requests, action.UNHEARD)
        else:
            answer["answers"] = action.as_asked(answer["answers"], requests, sent)
        return answer

    def _elsewhere(self, machine: Machine, answer: dict[str, Any]) -> Life:
        """Load balancers and delegates: a round for each, one after the other."""
        steps = {step.key: step for step in machine.steps}
        answer.update({"outcomes": {}, "before": {}})
        for key in answer["ask"]:
            yield self._round()
            answer["before"][key] = {"ran": steps[key].running}
        work = answer["elsewhere"]
        if not work:
            return
        step, waited = steps[work["key"]], self.clock.now - answer["ended"]
        if work["begun"] and work["direction"] == "do" and work["begins"] - waited <= 0:
            late = {"state": "failed", "note": "too late to begin", "seconds": 0.0, "direction": "do"}
            answer["outcomes"][step.key] = late
            return
        if work["begun"]:
            step.begin(work["direction"], max(0.5, min(step.limit, float(work["left"]))), self.name)
        yield self._round()
        # What nobody began (its run was killed before) shows in how it is.
        state = step.outcome(work["direction"])
        state = state or ("done" if step.running == (work["direction"] == "undo") else "failed")
        answer["outcomes"][step.key] = {
            "state": state,
            "note": "",
            "seconds": 1.0,
            "direction": work["direction"],
            "left": float(work["left"]),
            "late": waited if work["begun"] else 0.0,
        }

    def _round(self) -> float:
        """Seconds that it takes."""
        return self.chance.uniform(0.3, 1.2)


def _age(answer: dict[str, Any], seconds: float) -> None:
    """An answer that had to wait for its line, with the documents in it."""
    answer.update({name: answer[name] + seconds for name in ("took", "ended", "age")})
    for one in answer["answers"]:
        for look in (one, one.get("look")):
            if look and "age" in look:
                look.update((name, look[name] + seconds) for name in ("age", "asked", "since", "began"))


def _approves(call: Mapping[str, Any]) -> bool:
    return any(request["do"] == "approve" for request in call["requests"])


def _waits(call: Mapping[str, Any]) -> bool:
    return any(request.get("wait") for request in call["requests"])


def _texts(problems: Any) -> list[str]:
    return list(problems.values()) if isinstance(problems, Mapping) else list(problems)
