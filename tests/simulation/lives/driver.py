# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the role does with a record: a tick is the calls, then what is done elsewhere, then one decision."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from .clock import Clock, Life, Process
from .journal import Journal, copied
from .machine import WALL, Machine


class Decider(NamedTuple):
    """What is tried here: _fleet's functions of these names."""

    begun: Callable[..., Any]
    ticked: Callable[..., Any]
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
    ) -> None:
        self.name, self.decider, self.machines, self.facts, self.check = name, decider, machines, facts, check
        self.journal, self.clock = journal, clock
        self.record: Any = None
        self.ticks: list[
            tuple[float, float, bool]
        ] = []  # when each began and ended, and whether Windows machines were called
        self.answered: set[str] = set()
        self.leaves: dict[str, float] = {}  # when hosts leave the play
        self.elsewhere: dict[str, dict[str, str]] = {}  # by host: what is under way there
        self.result: Any = None
        self.began_at, self.ended_at = clock.now, 1e9
        self.stops: list[tuple[float, float]] = []  # from when to when it was stopped
        self.stops_at_approval = 0.0  # seconds for which it is stopped when it has first decided to approve something
        self.forks = 1000  # how many machines are called at once
        self.on_stop: Callable[[float], None] = lambda seconds: None
        self.process = clock.begin(self._life())

    @property
    def over(self) -> bool:
        return self.process.over

    def kill(self) -> None:
        if not self.over:
            self.ended_at = self.clock.now
            self.journal.add("killed", run=self.name)
            self.process.end()
            for machine in self.machines.values():
                machine.controller_killed(self)

    def stop(self, seconds: float) -> None:
        """SIGSTOP, and SIGCONT so much later. What it has sent to machines goes on there."""
        if not self.over:
            self.stops.append((self.clock.now, self.clock.now + seconds))
            self.journal.add("stopped", run=self.name, seconds=seconds)
            self.on_stop(seconds)

    def _felt(self, at: float) -> float:
        """When it comes to what happens at a moment."""
        return max([at, *(ends for begins, ends in self.stops if begins <= at < ends)])

    def stands_still(self) -> Life:
        if self._felt(self.clock.now) > self.clock.now:
            yield self._felt(self.clock.now) - self.clock.now

    def _life(self) -> Life:
        self.journal.add("run", run=self.name, hosts=list(self.machines), check=self.check)
        options = {"run": self.name, "job": "", "controller": "simulated", "check": self.check}
        self.record = self.decider.begun(
            copied(self.facts), options, self.clock.now, WALL + self.clock.now + self.clock.error
        )
        while not self.record["finished"]:
            todo = self.record["todo"]
            began = self.clock.now
            if todo["seconds"]:
                yield float(todo["seconds"])
            answers: dict[str, Any] = {}
            if todo["calls"]:
                if self.stops_at_approval and any(_approves(call) for call in todo["calls"].values()):
                    self.stop(self.stops_at_approval)
                    self.stops_at_approval = 0.0
                yield 0.2 + 0.02 * len(todo["calls"])  # Ansible itself
                yield from self.stands_still()
                hosts = list(todo["calls"])
                for first in range(0, len(hosts), self.forks):
                    some = {host: todo["calls"][host] for host in hosts[first : first + self.forks]}
                    yield from self._call_some(some, answers)
            yield from self._elsewhere(answers)
            self.answered.update(host for host, answer in answers.items() if not answer["lost"])
            if self.clock.now == began:
                yield 0.3
            yield from self.stands_still()
            wall = WALL + self.clock.now + self.clock.error
            self.record = self.decider.ticked(self.record, answers, self.clock.now, wall)
            self.ticks.append(
                (began, self.clock.now, any(not self.record["hosts"][host]["is_linux"] for host in todo["calls"]))
            )
        self.result = self.decider.result(self.record)
        self.ended_at = self.clock.now
        self.journal.add("ended", run=self.name, problems=list(_texts(self.result["problems"])))

    def _call_some(self, calls: dict[str, Any], answers: dict[str, Any]) -> Life:
        processes: dict[str, Process] = {}
        sent = {host: self.decider.call.timely(call["requests"], self.clock.now) for host, call in calls.items()}
        for host, call in calls.items():
            if self.clock.now >= self.leaves.get(host, 1e9):
                answers[host] = {"lost": "it has left the play", "left": True}
                continue
            machine = self.machines[host]
            for request in sent[host]:
                if request["do"] in ("go", "approve", "take_off"):
                    self.journal.add("sent", run=self.name, host=host, do=request["do"], to=request.get("to", ""))
                marked = [name for name in self.machines if self._bears_mark(name)] if request.get("wait") else []
                if marked:
                    self.journal.add("waits", run=self.name, host=host, marked=marked)
            holder = {"kind": "run", "run": self.name, "job": "", "controller": "simulated"}
            processes[host] = self.clock.begin(self._called(machine, call, sent[host], holder))
        for host, process in processes.items():
            while not process.over:
                yield process.done, 3600.0
            answers[host] = answer = process.result
            if not answer["lost"]:
                _age(answer, self._felt(answer["ended"]) - answer["ended"])
            for one in process.result.get("answers") or ():
                for identity in one.get("approved", ()):
                    self.journal.add("taken-approval", run=self.name, event=identity)
            if process.result["lost"]:
                self.journal.add("lost", run=self.name, host=host, why=process.result["lost"])

    def _called(self, machine: Machine, call: dict[str, Any], sent: list[Any], holder: dict[str, Any]) -> Life:
        """What the action does: the first call to a machine only looks, all others say until when they may do more."""
        seconds, heard, requests = float(call["seconds"]), call["heard"], call["requests"]
        action, within = self.decider.call, None
        if heard:
            within = action.within(heard, self.clock.now, seconds)
        elif machine.is_linux:
            sent = action.harmless(requests)
        answer = yield from machine.call(sent, call, holder, within, self)
        if answer["lost"]:
            return answer
        if len(sent) < len(requests):
            answer["answers"] = action.with_refusals(answer["answers"], requests, action.UNHEARD)
        else:
            answer["answers"] = action.as_asked(answer["answers"], requests, sent)
        return answer

    def _bears_mark(self, host: str) -> bool:
        """Whether the run knows that a machine is marked, and may hope for it: there is something to do for it."""
        machine = self.machines[host]
        mark = machine.mark or {}
        if not machine.is_up or mark.get("phase") == "half":
            return False
        is_prepared = mark.get("phase") == "prepared"
        if is_prepared and not machine.is_linux and machine.boot_id != (mark.get("again") or mark["boot_id"]):
            return False  # it is under its event, whose end is all that is left to be seen, and each look takes a start of PowerShell
        known = (self.record["hosts"][host].get("mark") or {}).get("holder")
        return "holder" in mark and mark["holder"]["run"] == self.name and known == mark["holder"]

    def _elsewhere(self, answers: dict[str, Any]) -> Life:
        """Load balancers and delegates: the second task of a tick."""
        working: list[tuple[str, Any, dict[str, Any]]] = []
        for host, answer in answers.items():
            answer.update({"outcomes": {}, "before": {}})
            if answer["lost"]:
                continue
            steps = {step.key: step for step in self.machines[host].steps}
            for key in answer["ask"]:
                answer["before"][key] = {"ran": steps[key].running}
            work = answer["elsewhere"]
            if work:
                step = steps[work["key"]]
                waited = (
                    self.clock.now - answer["ended"] if self.machines[host].counts_whole_tick else 0.0
                )  # for all answers
                if work["begun"] and work["direction"] == "do" and work["begins"] - waited <= 0:
                    late = {"state": "failed", "note": "too late to begin", "seconds": 0.0, "direction": "do"}
                    answer["outcomes"][step.key] = late
                    continue
                working.append((host, step, {**work, "late": waited if work["begun"] else 0.0}))
                if work["begun"]:
                    step.begin(work["direction"], max(0.5, min(step.limit, float(work["left"]))), self.name)
        if working or any(answer.get("ask") for answer in answers.values()):
            yield 0.8
        for host, step, work in working:
            # What nobody began (its run was killed before) shows in how it is.
            state = step.outcome(work["direction"])
            state = state or ("done" if step.running == (work["direction"] == "undo") else "failed")
            answers[host]["outcomes"][step.key] = {
                "state": state,
                "note": "",
                "seconds": 1.0,
                "direction": work["direction"],
                "left": float(work["left"]),
                "late": work["late"],
            }


def _age(answer: dict[str, Any], seconds: float) -> None:
    """An answer that had to wait for the run, with the documents in it."""
    answer.update({name: answer[name] + seconds for name in ("took", "ended", "age")})
    for one in answer["answers"]:
        for look in (one, one.get("look")):
            if look and "age" in look:
                look.update((name, look[name] + seconds) for name in ("age", "asked", "since", "began"))


def _approves(call: Mapping[str, Any]) -> bool:
    return any(request["do"] == "approve" for request in call["requests"])


def _texts(problems: Any) -> list[str]:
    return list(problems.values()) if isinstance(problems, Mapping) else list(problems)
