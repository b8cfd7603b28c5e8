# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One virtual machine: its watcher's process, its clocks, its disk, its network; and everything that befalls them."""

from __future__ import annotations

import json
import random
from typing import Any

from lives.clock import Clock
from lives.journal import Journal

from .azure import Event, Scope
from .collection import parts
from .program import Piece, Program

WALL = 1767225600.0


class Killed(Exception):
    """The watcher is gone, in the middle of whatever it did."""


class Settings:
    """What the user of one machine wants, in plain words."""

    def __init__(
        self, do: str, act: str, approve: str, before: float, spaces: float, limits: float, undo: float
    ) -> None:
        self.do, self.act, self.approve, self.before = do, act, approve, before
        self.spaces, self.limits, self.undo = spaces, limits, undo


class Machine:
    """:arg every: seconds between two ticks"""

    def __init__(
        self,
        name: str,
        scope: Scope,
        clock: Clock,
        journal: Journal,
        chance: random.Random,
        settings: Settings,
        pieces: list[Piece],
        every: float,
    ) -> None:
        self.name, self.vm_id, self.scope, self.clock, self.journal = name, f"id-{name}", scope, clock, journal
        self.chance, self.settings, self.every = chance, settings, every
        self.program = Program(self, pieces, self._place)
        self.windows: dict[str, list[tuple[float, float]]] = {
            "full": [],
            "blind": [],
            "hold": [],
            "nameless": [],
            "caseless": [],
        }
        self.yes_from = 1e9
        self.wall_off = 0.0
        self.dates = True  # its service's answers tell the time
        self.copied_hold = False
        self.post_faults: list[str] = []  # one for each of the first posts: ok, lost, unanswered, refused
        self.settles = 10.0  # seconds from a boot until its jobs are over
        self.first_answers = [
            0.0
        ]  # seconds from a boot until events are answered, boot by boot; the name is known before
        self.up, self.taken, self.going_down = True, False, False
        self.boots, self.booted_at = 1, -500.0
        self.watcher: Any = None
        self.started_at = 0.0
        self.kept: dict[str, Any] = {}  # what /run holds
        self.posted: dict[str, Any] = {}
        self.answer: Any = None
        self.look: Any = None
        self.looks = 0
        self.seen: list[Event] = []  # of the last look
        self.seen_status: dict[str, str] = {}
        self.dies_in: int | None = None  # places until it is killed
        self.dies_with_power = False
        self.process = 0  # which one it is
        self.is_named = False  # it has learned who it is
        self.policy = parts().policy.parse_policy([{"do": settings.do}])
        facts = parts().facts
        self.product_settings = facts.Settings(
            settings.act,
            settings.approve,
            self.policy,
            settings.before,
            settings.limits,
            settings.undo,
            settings.spaces,
        )

    @property
    def boot_id(self) -> str:
        return f"{self.name}-boot-{self.boots}"

    @property
    def mark(self) -> Any:
        return self.program.mark

    def within(self, what: str) -> bool:
        return any(begins <= self.clock.now < ends for begins, ends in self.windows[what])

    @property
    def is_full(self) -> bool:
        return self.within("full")

    def lacks_case(self) -> bool:
        return self.within("caseless")

    def note(self, what: str, **details: Any) -> None:
        self.journal.add(what, machine=self.name, **details)

    @property
    def is_out(self) -> bool:
        """Whether nothing runs any more that a step was to stop."""
        self.program.came_to_pass()
        return not any(piece.running for piece in self.program.pieces.values())

    # ---- the process ----

    def start_watcher(self, forgets: bool = False) -> None:
        if not self.up or self.taken or self.watcher is not None:
            return
        self.watcher = parts().handling.Handling({} if forgets else json.loads(json.dumps(self.kept)))
        self.process += 1
        self.is_named = False
        self.started_at, self.look, self.answer, self.posted = self.clock.now, None, None, {}
        self.note("watching", forgets=forgets or not self.kept)
        self.clock.after(0.05, self._tick, self.process)

    def _place(self) -> None:
        if self.dies_in is not None:
            self.dies_in -= 1
            if self.dies_in <= 0:
                raise Killed

    def kill(self, after_places: int, with_power: bool) -> None:
        """The next time that it does so much; a process that does nothing dies within the second."""
        if self.up and self.watcher is not None:
            self.dies_in, self.dies_with_power = after_places, with_power
            self.clock.after(1.0, self._die, self.process)

    def _die(self, process: int) -> None:
        if self.dies_in is None or process != self.process or self.watcher is None:
            return
        power, self.dies_in = self.dies_with_power, None
        self.note("killed", power=power)
        self.watcher = None
        if power:
            self.lose_power(self.chance.uniform(10, 40))
        else:
            self.clock.after(self.chance.uniform(0.2, 3.0), self.start_watcher, self.chance.random() < 0.15)

    def strike(self, down: float) -> None:
        """An event of Azure's takes the machine down: for a while, or for good."""
        if self.up:
            self.lose_power(down)

    def shut_down(self, takes: float, down: float) -> None:
        """Somebody reboots it in order."""
        if self.up:
            self.going_down = True
            self.note("going-down")
            self.clock.after(takes, self._shut_down, down)

    def _shut_down(self, down: float) -> None:
        if self.going_down:
            self.lose_power(down)

    def lose_power(self, down: float) -> None:
        self.note("down", seconds=down)
        self.program.power_lost()
        self.up, self.going_down, self.watcher, self.kept, self.dies_in = False, False, None, {}, None
        self.seen, self.seen_status = [], {}
        if down > 1e6:
            self.taken = True
            return
        self.clock.after(down, self._boot)

    def _boot(self) -> None:
        self.up, self.boots, self.booted_at = True, self.boots + 1, self.clock.now
        waits = self.first_answers[min(self.boots, len(self.first_answers)) - 1]
        self.windows["blind"].append((self.clock.now, self.clock.now + waits))
        self.note("up")
        self.start_watcher()

    # ---- a tick ----

    def _tick(self, process: int) -> None:
        if self.watcher is None or process != self.process:
            return
        try:
            # Its first tick comes before any answer: without a name.
            self.is_named = self.is_named or (self.clock.now - self.started_at > 0.1 and not self.within("nameless"))
            self._take_look()
            acts = self.watcher.tick(self._facts())
            for act in acts:
                self._place()
                self._do(act)
        except Killed:
            self._die(process)
            return
        busy = self.mark is not None and self.mark["phase"] in ("preparing", "recovering")
        wait = min(self.every, 0.5) if busy else self.every if self.mark is not None or self.seen else 4.0
        self.clock.after(wait, self._tick, process)

    def _take_look(self) -> None:
        if self.within("blind"):
            return
        self.looks += 1
        self.seen = self.scope.shown()
        self.seen_status = {event.id: event.status for event in self.seen}
        events = parts().event
        entries = tuple(
            events.Event(
                event.id,
                event.type,
                event.status,
                "VirtualMachine",
                tuple(event.resources),
                tuple(event.resources),
                "x" if event.status == "Scheduled" else "",
                WALL + event.not_before if event.status == "Scheduled" else None,
                "",
                event.source,
                -1,
            )
            for event in self.seen
        )
        document = parts().document.Document(self.scope.incarnation, entries)
        date = WALL + self.clock.now if self.dates else None
        self.look = parts().facts.Look(document, self.clock.now, date, self.looks)
        self.note(
            "look",
            named=self.is_named,
            is_out=self.is_out,
            events={event.id: (event.status, event.not_before, tuple(event.resources)) for event in self.seen},
        )

    def _facts(self) -> Any:
        facts, now = parts().facts, self.clock.now
        hold = facts.Hold("a freeze", "root", None, "id-another" if self.copied_hold else self.vm_id)
        return facts.Facts(
            now=now,
            moment=parts().lease.Moment(WALL + now + self.wall_off, now - self.booted_at, self.boot_id),
            settings=self.product_settings,
            identity=facts.Identity(self.name, self.vm_id) if self.is_named else None,
            look=self.look,
            blind="no answer" if self.within("blind") else "",
            mark=json.loads(json.dumps(self.mark)),
            unreadable="",
            answer=self.answer,
            posted=dict(self.posted),
            hold=hold if self.within("hold") or self.copied_hold else None,
            yes=frozenset(event.id for event in self.seen) if now >= self.yes_from else frozenset(),
            steps={},
            going_down=self.going_down,
            settled=now - self.booted_at >= self.settles,
            crippled="no space left" if self.is_full else "",
        )

    def _do(self, act: Any) -> None:
        acts = parts().acts
        if isinstance(act, acts.Say):
            event = act.event.event_id if act.event else ""
            self.note("say", happened=act.happened, event=event, outcome=act.outcome)
        elif isinstance(act, acts.Go):
            self.note("go", to=act.to, still=act.still)
            state, why = self.program.go(act)
            self.answer = parts().facts.Answer(act.to, state, why, [], self.clock.now)
        elif isinstance(act, acts.Approve):
            for event in act.events:
                self._post(event)
        elif isinstance(act, acts.PutAside):
            self.note("aside", of=act.what)
            if act.what == "mark":
                self.program.mark = None
                self.program.jobs.clear()
            else:
                self.copied_hold = False
        else:
            self.kept = act.what

    def _post(self, identity: str) -> None:
        fault = self.post_faults.pop(0) if self.post_faults else "ok"
        self.note("posting", event=identity, fault=fault, is_out=self.is_out)
        if fault in ("ok", "unanswered"):
            self.clock.after(self.chance.uniform(0.01, 0.4), self.scope.approve, identity, self.name)
        takes = 5.0 if fault in ("lost", "unanswered") else 0.5
        self.clock.after(takes, self._posted, self.process, identity, fault == "ok")

    def _posted(self, process: int, identity: str, accepted: bool) -> None:
        if process == self.process and self.watcher is not None:
            why = "" if accepted else "no answer"
            self.posted[identity] = parts().facts.Posted(self.clock.now, accepted, why)

    def end_job(self, jobs: dict[Any, Any], name: Any) -> None:
        """What still runs of it is ended."""
        job = jobs.get(name)
        if job is not None and job.ends > self.clock.now:
            jobs[name] = job._replace(ends=self.clock.now, code=143)
