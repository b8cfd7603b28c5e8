# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Linux machine: the collection's own machine program over what is found there in memory. It fails in every way that machines fail."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from . import collection
from .azure import Azure, Scope
from .clock import Clock, Life, Process, Signal
from .journal import Journal, copied
from .program import performed
from .service import STALE, WALL, Service
from .step import Step, all_out
from .watcher import Watcher

if TYPE_CHECKING:
    from .driver import Run

call_of = collection.part("plugin_utils._machine.call")

NEVER = 1e6  # seconds: until whoever waits gives it up


class Machine:
    damage: tuple[str, ...] = ()  # what else than with all machines could hold it up
    is_linux = True
    service_type: type[Any] = Service

    def __init__(self, host: str, name: str, clock: Clock, journal: Journal, azure: Azure, scope: Scope) -> None:
        self.host, self.name, self.clock, self.journal, self.azure, self.scope = (
            host,
            name,
            clock,
            journal,
            azure,
            scope,
        )
        self.priority, self.placement_group = "Regular", ""
        self.steps: list[Step] = []
        self.mark: dict[str, Any] | None = None
        self.yes: list[str] = []
        self.put_back: list[str] = []
        self.lost_mark: Any = None  # what went with its disk
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
        self.service = self.service_type(self)
        self.on_the_way = 0  # calls that hang before they arrive
        self.locked = False  # by a call that hangs while it writes the mark
        self.waited_for = Signal()
        self.asked: dict[str, deque[float]] = {}  # when its metadata service was: of those who count together
        self.requests: list[float] = []  # as the machine program has noted them, by its uptime
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
        self.lost_mark = self.mark
        if self.mark is not None:
            self.journal.add("mark-gone", host=self.host, run="its disk")
            self.lost_by = self.mark.get("holder", {}).get("run", "")
        self.mark, self.yes, self.put_back = None, [], []
        self.forget_jobs()
        for step in self.steps:
            if not step.elsewhere and step.running != step.originally:
                step.running = step.originally
                self.journal.add("back" if step.running else "out", host=self.host, key=step.key, run="the boot")

    def forget_jobs(self) -> None:
        """What is beside the mark of its own steps is gone."""
        for step in self.steps:
            step.name = ""

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
        """At the end of the life: nobody waits for them any more."""
        for program in self.programs:
            program.end()

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
        began, seconds = self.clock.now, float(call["seconds"])
        cost, self.first_cost = self.cost + self.first_cost, 0.0
        yield cost
        how = self.fault("refuses", "hangs") or ("" if self.is_up else "hangs" if self.boots % 2 else "refuses")
        if how or self.clock.now < self.frozen_until:
            if how == "refuses":
                yield 0.5
                return dict(self._lost("it can't be reached: connection refused", began), unsent=True)
            yield seconds - (self.clock.now - began)
            return self._lost(f"it did not answer within {seconds:g} s", began)
        asked = copied({"options": self.options(call, holder, within), "requests": requests, "steps": self.plan})
        life = self._program(asked, run.name)
        process = self.sent(life)
        if not process.over:
            yield process.done, max(0.0, seconds - (self.clock.now - began))
        if process.result is None or self.fault("answers-lost"):
            yield max(0.0, seconds - (self.clock.now - began))
            return self._lost(f"it did not answer within {seconds:g} s", began)
        return self.answered(process.result, asked, began, run)

    def options(self, call: dict[str, Any], holder: dict[str, Any], within: Any) -> dict[str, Any]:
        """What the program is asked by, beside the requests."""
        known = {name: call[name] for name in ("run", "number", "resource_name", "vm_id") if call.get(name)}
        return {**known, "seconds": float(call["seconds"]), "holder": holder, "within": within}

    def answered(self, said: dict[str, Any], asked: dict[str, Any], began: float, run: Run) -> dict[str, Any]:
        """What the action makes of an answer."""
        now = self.clock.now
        answer = call_of.result(said, asked, now - began, WALL + now + self.clock.error)
        if not answer["lost"]:
            self._journal_looks(answer, run.name)
        return dict(answer, ended=now, heard=call_of.heard(answer, now))

    def _journal_looks(self, answer: dict[str, Any], run: str) -> None:
        for one in answer["answers"]:
            for look in (one, one.get("look")):
                if isinstance(look, dict) and "began" in look:
                    self.journal.add(
                        "looked",
                        host=self.host,
                        run=run,
                        events=[(shown["id"], shown["status"], tuple(shown["resources"])) for shown in look["events"]],
                        good=look["incarnation"] is not None,
                        began=self.clock.now - look["began"],
                    )

    @property
    def plan(self) -> list[dict[str, Any]]:
        return [
            {
                "key": step.key,
                "type": "service",
                "service": step.key,
                "name": step.key,
                "number": number,
                "elsewhere": step.elsewhere or not self.is_linux,
                "does": f"stop {step.key}",
                "undoes": f"start {step.key}",
                "timeout": step.limit,
                "undo_timeout": step.limit,
            }
            for number, step in enumerate(self.steps, 1)
        ]

    def sent(self, program: Life) -> Process:
        """What goes on here with the machine, at once or when the network does."""
        if self.fault("late"):  # and no reboot ends it
            return self.clock.begin(self._arriving(program))
        return self._begun(program)

    def _begun(self, program: Life) -> Process:
        begun = self.clock.begin(program)
        self.programs = [other for other in self.programs if not other.over] + [begun]
        return begun

    def _arriving(self, program: Life) -> Life:
        """A call that hangs on its way goes on when its network does, whatever has become of who sent it."""
        yield self._held_up()
        if not self.is_up:
            return None
        arrived = self._begun(program)
        yield arrived.done, NEVER
        return arrived.result

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

    def _program(self, asked: dict[str, Any], run: str) -> Life:
        yield 0.1
        if self.fault("stalls"):
            yield self._end_of("stalls")
        yield from self.frozen()
        return (yield from performed(self, asked, run))

    def frozen(self) -> Iterator[float]:
        while self.clock.now < self.frozen_until:
            yield self.frozen_until - self.clock.now

    def was_asked(self, by: str = "") -> None:
        """Its metadata service got a request.

        :arg by: who counts his requests by himself
        """
        asked = self.asked.setdefault(by, deque(maxlen=6))
        asked.append(self.clock.now)
        if len(asked) == 6 and self.clock.now - asked[0] < 1 - 1e-6:  # they are added up by two clocks
            self.journal.add("too-many-requests", host=self.host)

    def sees_stale(self) -> bool:
        """Whether it is still shown what was shown before."""
        return bool(self.fault("stale")) and self.clock.now - self.scope.earlier[0] < STALE
