# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One seed's life: what there is, what befalls it, and how long it lasts."""

from __future__ import annotations

import functools
import random
from typing import Any

from lives.clock import Clock
from lives.journal import Journal

from .azure import ADVICE, TAKES_AWAY, Event, Scope
from .machine import Machine, Settings
from .program import Piece
from .windows import SHARES, WindowsMachine

BEGIN = 40.0  # seconds until the first event is shown
CALM = 0.15  # share of lives in which nothing goes wrong that is not in the document


class Life:
    """A scope, its machines, and a plan of what happens.

    :arg mixed: whether Windows machines are among them; all else is drawn as without
    """

    def __init__(self, seed: int, mixed: bool = False) -> None:
        self.seed, self.mixed = seed, mixed
        self.oddities = random.Random(seed + 4)  # dice of its own: what differs on Windows changes nothing else
        self.share = self.oddities.choice(SHARES) if mixed else 0.0
        self.chance = random.Random(seed)
        self.clock = Clock()
        self.journal = Journal(self.clock)
        self.calm = self.chance.random() < CALM
        self.scope = Scope(self.clock, self.journal, random.Random(seed + 1))
        number = self.chance.choice((1, 1, 1, 2, 2, 3))
        self.all_at_once = self.chance.random() < 0.03
        if self.all_at_once:
            number = 5
        self.first_windows = self.oddities.randint(1, number) if mixed else 0
        same = self._settings()
        self.machines = {
            name: self._machine(name, same if self.chance.random() < 0.7 else self._settings())
            for name in [f"vm{index + 1}" for index in range(number)]
        }
        self.scope.strike = lambda name, down: self.machines[name].strike(down) if name in self.machines else None
        self.scope.pause = self._pause
        self.scope.damage = self._damage
        self.last = BEGIN
        self.shown_at: list[float] = []
        # Of an event's entry, in seconds since it was shown; whether the id is lost; whether it starts meanwhile
        self.damages: list[tuple[float, float, bool, bool]] = []
        self._plan_events()
        if not self.calm:
            self._plan_faults()
            self._plan_orders()
            self._plan_damage()
            for machine in self.machines.values():
                machine.get_in_the_way(self.last)

    def live(self) -> None:
        for machine in self.machines.values():
            machine.start_watcher()
        self.clock.run(self.last + 600.0, self._is_over)

    def _is_over(self) -> bool:
        if self.clock.now < self.last or any(event.left is None for event in self.scope.events):
            return False
        ended = max((event.left or 0.0 for event in self.scope.events), default=0.0)
        quiet = all(
            machine.taken or (machine.up and machine.watcher and machine.mark is None)
            for machine in self.machines.values()
        )
        return self.clock.now > ended + (12.0 if quiet else 300.0)

    # ---- machines ----

    def _settings(self, known: Settings | None = None) -> Settings:
        chance = self.chance
        if known and chance.random() < 0.5:
            return known
        do = chance.choice(("prepare_and_approve",) * 6 + ("approve", "prepare", "hold", "notify", "ignore"))
        mode = "observe" if chance.random() < 0.04 else "manage"
        approve = "never" if chance.random() < 0.08 else "own"
        return Settings(
            do,
            mode,
            approve,
            chance.choice((20.0, 40.0)),
            chance.choice((15.0, 30.0)),
            chance.choice((5.0, 30.0)),
            chance.choice((5.0, 15.0)),
        )

    def _machine(self, name: str, settings: Settings) -> Machine:
        chance = self.chance
        machine = self._made(
            name,
            self.scope,
            self.clock,
            self.journal,
            random.Random(chance.random()),
            settings,
            self._pieces(),
            chance.choice((0.5, 1.0, 1.0)),
        )
        machine.settles = chance.uniform(2, 15)
        machine.dates = chance.random() < 0.8
        machine.names_after = [chance.choice((0.0, 0.3, 0.3, 1.2, 4.0)) for _each in range(4)]
        machine.spells_oddly = chance.random() < 0.1
        if chance.random() < 0.3:
            machine.yes_from = chance.uniform(BEGIN, BEGIN + 120)
        return machine

    def _made(self, name: str, *arguments: Any) -> Machine:
        if name == f"vm{self.first_windows}" or self.oddities.random() < self.share:
            return WindowsMachine(name, *arguments, oddities=random.Random(self.oddities.random()))
        return Machine(name, *arguments)

    def _pieces(self) -> list[Piece]:
        chance = self.chance
        pieces = [
            Piece(f"prepare.d/{index}", "prepare", self._tries(0.12), [(0.0, 0)])
            for index in range(chance.choice((0, 1, 1, 2)))
        ]
        pieces += [
            Piece(f"service {index}", "step", self._tries(0.06, hooks=False), self._tries(0.1, hooks=False))
            for index in range(chance.choice((0, 1, 1, 2)))
        ]
        pieces += [
            Piece(f"recover.d/{index}", "recover", [(0.0, 0)], self._tries(0.08))
            for index in range(chance.choice((0, 1, 1)))
        ]
        return pieces or [Piece("service 0", "step", [(1.0, 0)], [(1.0, 0)])]

    def _tries(self, fails: float, hooks: bool = True) -> list[tuple[float, int]]:
        chance = self.chance
        seconds = chance.choice((0.0, 0.3, 2.0, 6.0, 15.0))
        if self.calm or chance.random() > fails + 0.08 * hooks:
            return [(seconds, 0)]
        if hooks and chance.random() < 0.5:
            return [(seconds, 75)] * chance.choice((1, 2)) + [(seconds, 0)]
        if chance.random() < 0.4:
            return [(1e6, 0)]  # it hangs
        return [(seconds, 1)] * chance.choice((1, 2, 99))

    # ---- events ----

    def _plan_events(self) -> None:
        chance, at = self.chance, BEGIN
        names = list(self.machines)
        if self.all_at_once:
            for index, name in enumerate(chance.sample(names, len(names))):
                self._plan(at, f"E{index}", [name], 150.0)
            return
        for index in range(chance.choice((1, 1, 2, 2, 3))):
            resources = chance.sample(names, 1)
            if chance.random() < 0.2:
                resources = chance.sample([*names, "stranger"], min(2, len(names) + 1))
            elif chance.random() < 0.12:
                resources = ["stranger"]
            self._plan(at, f"E{chance.randrange(10)}{index}", resources, chance.choice((30.0, 60.0, 120.0, 200.0)))
            at += chance.choice((0.0, 5.0, 30.0, 90.0, 180.0))

    def _plan(self, at: float, identity: str, resources: list[str], notice: float) -> None:
        chance = self.chance
        kind = chance.choice(("Reboot", "Reboot", "Redeploy", "Freeze", "Terminate", "Preempt"))
        if chance.random() < 0.03:
            kind = ADVICE
        notice = 15.0 if kind == "Preempt" else notice
        lasts = chance.choice((4.0, 15.0, 40.0))
        fate: dict[str, object] = {"lasts": lasts, "delay": chance.choice((0.0, 0.5, 3.0, 25.0))}
        if kind in TAKES_AWAY:
            fate["down"] = 1e9 if chance.random() < 0.7 else 0.0
        elif kind != "Freeze" and chance.random() < 0.7:
            fate["down"] = chance.uniform(3, 45)
        if kind == "Freeze" and not self.calm:
            fate["still"] = chance.choice((0.0, 3.0, 12.0))
        if chance.random() < 0.2:
            fate["cancelled_after"] = chance.uniform(0.1, notice)
        if chance.random() < (0.3 if kind == "Freeze" else 0.12):
            fate["approved_by_other"] = chance.uniform(0.1, chance.choice((notice, min(notice, 15.0))))
        if kind == ADVICE:
            fate["names_a_time"] = chance.random() < 0.5
        elif chance.random() < 0.08:
            fate["born_started"] = True
        if chance.random() < 0.08:
            fate["grows"] = (chance.uniform(0.1, notice), chance.choice([*self.machines, "stranger"]))
        self.shown_at.append(at)
        self.clock.at(at, self.scope.show, Event(identity, kind, resources, notice, **fate))
        self.last = max(self.last, at + notice + lasts)

    def _pause(self, name: str, seconds: float) -> None:
        if name in self.machines:
            self.machines[name].stand_still(seconds, self.chance.random() < 0.2, self.chance.choice((0.5, 5.0, 60.0)))

    def _damage(self, event: Event) -> None:
        """Its entry has just been shown for the first time."""
        if self.damages:
            begins, ends, lost, starts = self.damages.pop()
            event.damage.append((event.shown + begins, event.shown + ends, lost))
            if starts and ends - begins > 10.0:  # and is over before anybody can read it again
                event.approved_by_other, event.lasts = begins + 1.0, ends - begins - 3.0

    def _surprise(self, name: str) -> None:
        """One more event, at the worst of moments."""
        chance = self.chance
        kind = chance.choice(("Preempt", "Preempt", "Reboot", "Freeze"))
        fate: dict[str, object] = {"lasts": chance.choice((4.0, 15.0)), "born_started": chance.random() < 0.4}
        if kind != "Freeze":
            fate["down"] = 1e9 if kind == "Preempt" and chance.random() < 0.5 else chance.choice((0.0, 8.0))
        notice = 15.0 if kind == "Preempt" else chance.choice((30.0, 120.0))
        resources = [name] if chance.random() < 0.8 else ["stranger", name]
        self.scope.show(Event(f"S{chance.randrange(10)}{len(self.scope.events)}", kind, resources, notice, **fate))

    # ---- what people do ----

    def _plan_orders(self) -> None:
        chance = random.Random(self.seed + 2)  # dice of its own: lives of old seeds stay as they were
        for machine in self.machines.values():
            if chance.random() < 0.15:
                self.clock.at(chance.uniform(BEGIN, self.last), machine.force)

    # ---- what can't be read, or run ----

    def _plan_damage(self) -> None:
        chance = random.Random(self.seed + 3)  # dice of its own, too

        def span(begins: float) -> tuple[float, float]:
            return begins, begins + chance.choice((2.0, 12.0, 60.0)) * chance.uniform(0.5, 1.0)

        for machine in self.machines.values():
            if chance.random() < 0.3:
                machine.windows["unfit"].append(span(chance.choice((0.0, chance.uniform(0.0, self.last))) + BEGIN - 10))
            for share, what in ((0.12, machine.damage_mark), (0.15, machine.take_rights)):
                if chance.random() < share:
                    phase = chance.choice(("preparing", "prepared", "recovering", "half"))
                    after = chance.choice((0.0, 2.0)) * chance.random()
                    machine.troubles.append((phase, after, what, (chance.choice((1.0, 8.0, 40.0, 90.0)),)))
        if chance.random() < 0.2:
            for begins, lost in [(chance.uniform(0.0, 60.0), chance.random() < 0.5) for _each in range(2)]:
                ends = begins + chance.choice((3.0, 15.0, 60.0))
                self.damages.append((begins, ends, lost, chance.random() < 0.3))
        if chance.random() < 0.1:
            self.scope.strays.append((*span(chance.uniform(BEGIN - 30, self.last)), chance.choice(("", "", "X1"))))

    # ---- what goes wrong ----

    def _plan_faults(self) -> None:
        chance = self.chance

        def some(share: float, most: int) -> range:
            return range(chance.randint(1, most) if chance.random() < share else 0)

        for machine in self.machines.values():
            for _each in some(0.5, 5):
                self.clock.at(self._moment(), machine.kill, chance.randint(1, 12), chance.random() < 0.2)
            for _each in some(0.25, 2):
                self.clock.at(self._moment(), machine.shut_down, chance.uniform(0.5, 8), chance.uniform(5, 30))
            for what, share, longest in (
                ("full", 0.12, 40),
                ("blind", 0.25, 40),
                ("hold", 0.12, 100),
                ("nameless", 0.06, 30),
                ("caseless", 0.08, 20),
                ("slow", 0.1, 60),
                ("lagging", 0.1, 60),
                ("forgetful", 0.06, 60),
                ("unwritable", 0.06, 20),
            ):
                for _each in some(share, 2):
                    begins = chance.choice((0.0, self._moment(), self._moment()))
                    machine.windows[what].append((begins, begins + chance.uniform(1, longest)))
            for _each in some(0.12, 2):
                self.clock.at(self._moment(), self._set_clock, machine, chance.choice((-3600.0, 3600.0, 7.0)))
            if chance.random() < 0.3:
                machine.post_faults = [chance.choice(("ok", "lost", "unanswered", "refused")) for _each in range(3)]
            if chance.random() < 0.4:
                machine.first_answers = [chance.choice((0.0, 2.0, 30.0, 100.0)) for _each in range(4)]
            for _each in some(0.3, 2):
                phase = chance.choice(("preparing", "prepared", "recovering", "recovering", "half", "gone"))
                after = chance.choice((0.0, 0.2, 2.0, 10.0)) * chance.random()
                what, *arguments = chance.choice(
                    (
                        (machine.kill, chance.randint(1, 4), False),
                        (machine.kill, chance.randint(1, 4), True),
                        (machine.lose_power_now, chance.uniform(5, 30)),
                        (machine.shut_down, chance.uniform(0.5, 8), chance.uniform(5, 30)),
                        (machine.stand_still, 12.0, False, 5.0),
                        (self._surprise, machine.name),
                        (self._surprise, machine.name),
                    )
                )
                machine.troubles.append((phase, after, what, tuple(arguments)))
            for _each in some(0.05, 1):
                self.scope.surprises.append(functools.partial(self._surprise, machine.name))
            for begins, ends in machine.windows["slow"]:
                if chance.random() < 0.6:
                    begins = chance.uniform(begins, ends)
                    self.scope.blips.append((begins, begins + 3.0))
            for _each in some(0.12, 2):
                seconds, corrected_after = chance.choice((3.0, 12.0, 40.0)), chance.choice((0.5, 5.0, 60.0))
                self.clock.at(self._moment(), machine.stand_still, seconds, chance.random() < 0.3, corrected_after)
            for _each in some(0.08, 1):
                more = [piece for piece in self._pieces() if chance.random() < 0.3]
                self.clock.at(self._moment(), machine.reload, self._settings(machine.settings), more)
            for _each in some(0.04, 1):
                self.clock.at(self._moment(), machine.take_off_the_mark)
            for _each in some(0.1, 1):
                self.clock.at(self._moment(), machine.hold_by_a_run, chance.uniform(5, 60))
            if chance.random() < 0.05:
                self._make_copy(machine)
        more = random.Random(self.seed + 4)  # and here
        for machine in self.machines.values():
            if more.random() < 0.2:
                machine.troubles.append(("prepared", 30.0 * more.random(), machine.put_back_steps, ()))
        for _each in some(0.15, 2):
            begins = self._moment()
            self.scope.blips.append((begins, begins + chance.uniform(0.1, 3.0)))
        # Two that meet would be one that is longer than any that was ever seen.
        apart: list[tuple[float, float]] = []
        for begins, ends in sorted(self.scope.blips):
            if not apart or begins > apart[-1][1] + 10.0:
                apart.append((begins, ends))
        self.scope.blips = apart

    def _moment(self) -> float:
        """Any, or one at which something is under way."""
        if self.chance.random() < 0.4:
            return self.chance.uniform(5, self.last + 20)
        return self.chance.choice(self.shown_at) + self.chance.choice((1.0, 5.0, 20.0, 100.0)) * self.chance.random()

    def _set_clock(self, machine: Machine, seconds: float) -> None:
        machine.wall_off += seconds
        machine.note("clock", seconds=seconds)

    def _make_copy(self, machine: Machine) -> None:
        machine.copied_hold = self.chance.random() < 0.5
        machine.program.mark = {
            "vm_id": "id-another",
            "boot_id": "another-boot",
            "events": ["OLD"],
            "steps": [],
            "holder": {"kind": "watcher", "run": "watcher", "job": "", "controller": "another"},
            "since": "then",
            "phase": "prepared",
            "note": {"outage": "of-another"},
        }
