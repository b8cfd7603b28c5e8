# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a seed makes: a fleet with its faults, what Azure has in store for it, and who runs when."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from . import hours
from .azure import Azure, Event
from .clock import Clock, Life
from .driver import Decider, Run
from .journal import Journal
from .machine import Machine
from .marks import other_mark, step_entry
from .scenarios import SCENARIOS
from .step import Step
from .watcher import Watcher
from .windows import troubles
from .windows.machine import WindowsMachine
from .windows.scenarios import SCENARIOS as WINDOWS_SCENARIOS
from .windows.watcher import WindowsWatcher

LONGEST = 3000.0  # virtual seconds: whoever has not ended by then never will

BRIEF_FAULTS = (
    "imds-unreachable",
    "imds-410",
    "imds-429",
    "imds-slow",
    "empty-body",
    "stale",
    "post-refused",
    "post-lost",
    "answers-lost",
)
FAULTS = (*BRIEF_FAULTS, "refuses", "hangs", "stalls", "mark-readonly", "no-hello", "empty-document", "unreadable")
PHASES = ("preparing", "prepared", "recovering")
WINDOWS = "windows"
"""The scenario in which all is drawn as without one, and about a third of the machines are Windows machines."""
MIXED = "mixed"
"""The same, and most machines of both systems have watchers of their own."""
DRAWN = ("", WINDOWS, MIXED)
WINDOWS_SHARES = (0.15, 0.2, 0.25, 0.3, 0.3, 1.0)
ACTIONS = ("prepare_and_approve", "prepare", "hold", "notify", "ignore", "approve")


class Fleet:
    """One life: everything that there is in it.

    :arg scenario: one of scenarios.py's, which it leads up to; "", `WINDOWS` and `MIXED` where everything is drawn
    """

    def __init__(self, seed: int, decider: Decider, scenario: str = "") -> None:
        self.seed, self.decider, self.scenario = seed, decider, scenario
        self.chance = random.Random(seed)
        self.clock = Clock()
        self.journal = Journal(self.clock)
        self.azure = Azure(self.clock, self.journal, random.Random(seed + 1))
        self.machines: dict[str, Machine] = {}
        self.declared: dict[str, str] = {}
        self.groups: dict[str, str] = {}
        self.named: dict[str, str] = {}  # what the inventory says that machines are called in Azure
        self.options: dict[str, dict[str, Any]] = {}
        self.hours: dict[str, hours.Spans] = {}  # of the last rule of each policy
        self.events: dict[str, Event] = {}
        self.announced: dict[str, float] = {}
        self.leavers: dict[str, float] = {}  # when a host leaves the play, as by an end_host in own tasks
        self.runs: list[Run] = []
        self.planned_runs = 0
        self.stops_at_approval = self.meanwhile = 0.0
        self.oddities = random.Random(seed + 9)  # of its own: what is added here changes no other life
        self.calm = self.chance.random() < 0.3  # nothing fails but what Azure does: all must go well
        self.windows = random.Random(seed + 20)  # of its own, too
        if scenario not in DRAWN:
            self.calm = True
            {**SCENARIOS, **WINDOWS_SCENARIOS}[scenario](self, self.chance)
            self._begin_run(0.0, list(self.machines), False)
        else:
            self._draw(seed)

    def _draw(self, seed: int) -> None:
        self._make_machines()
        self._slow_down_others()
        if not self.calm:
            self._lose_one()
        self._choose_options()
        if not self.calm:
            self._break_machines()
        self._give_watchers()
        self._make_events()
        if not self.calm:
            self._fail_unseen()
        self._plan_runs()
        self._plan_restarts(random.Random(seed + 3))
        if not self.calm:
            self._hold_calls_up(random.Random(seed + 8))
        troubles.draw(self, self.windows)

    # ---- machines ----

    def _make_machines(self) -> None:
        chance = self.chance
        windows = chance.random() < 0.2
        share = self.windows.choice(WINDOWS_SHARES) if self.scenario in (WINDOWS, MIXED) else 0.0
        for number in range(chance.choice((1, 1, 1, 2, 2, 3))):
            kind = chance.choices(
                ("set", "undeclared", "placement", "each", "each-declared", "wrong"), (8, 3, 4, 3, 1, 1)
            )[0]
            if self.calm and kind in ("each-declared", "wrong"):
                kind = "set"
            scope = self.azure.scope(f"scope{number}", each_its_own=kind.startswith("each"))
            other = self.azure.scope(f"scope{number}b") if kind == "wrong" else scope
            for index in range(chance.choice((1, 2, 2, 3, 3, 4))):
                host = f"h{number}{'abcd'[index]}"
                name = chance.choice((f"vm{number}{index}", f"VM{number}{index}", f"set{number}_{index}"))
                is_windows = self.windows.random() < share
                if self.scenario not in (WINDOWS, MIXED):
                    is_windows = windows and chance.random() < 0.4
                made = WindowsMachine if is_windows else Machine
                machine = made(host, name, self.clock, self.journal, self.azure, other if index == 1 else scope)
                machine.placement_group = f"pg{number}" if kind in ("placement", "each") else ""
                machine.priority = "Spot" if kind in ("placement", "each") and chance.random() < 0.2 else "Regular"
                self.machines[host] = machine
                self.declared[host] = f"declared{number}" if kind in ("set", "each-declared", "wrong") else ""
                self.groups[host] = chance.choice(("", "", "web"))
                if chance.random() < 0.2:
                    self.named[host] = name
                machine.steps = [self._step(host, index, machine) for index in range(chance.choice((1, 1, 2, 3)))]

    def _step(self, host: str, index: int, machine: Machine) -> Step:
        chance = self.chance
        nature: dict[str, Any] = {
            "elsewhere": not machine.is_linux or chance.random() < 0.25,
            "running": chance.random() > 0.05,
            "do_seconds": chance.choice((0.1, 0.5, 2.0, 5.0, 12.0)),
            "undo_seconds": chance.choice((0.1, 0.5, 2.0, 6.0)),
            "limit": chance.choice((15.0, 25.0)),
        }
        if not self.calm:
            if chance.random() < 0.08:
                nature["do_fails"] = chance.choice(("unchanged", "changed"))
            if chance.random() < 0.08:
                nature["undo_fails"] = chance.choice((1, 2, 100))
            if chance.random() < 0.05:
                nature["do_seconds"] = 200.0  # hangs
            if chance.random() < 0.05:
                nature["undo_seconds"] = 200.0
        return Step(self.clock, self.journal, host, f"service {host}{index}", **nature)

    def _slow_down_others(self) -> None:
        """What others do may end long after it is of no use any more."""
        chance = random.Random(self.seed + 3)
        for machine in self.machines.values():
            for step in machine.steps:
                if step.elsewhere and step.do_seconds < 100 and chance.random() < 0.3:
                    step.do_seconds = chance.choice((20.0, 35.0, 50.0))
                    step.limit = step.do_seconds + 15.0

    def _lose_one(self) -> None:
        """A machine of a group that others of it need capacity of can't be reached all the time."""
        chance = random.Random(self.seed + 5)
        if len(self.machines) > 1 and chance.random() < 0.08:
            self.groups = dict.fromkeys(self.machines, "web")
            machine = self.machines[chance.choice(list(self.machines))]
            machine.faults.append((chance.choice((0.0, 40.0)), 1e6, chance.choice(("refuses", "hangs"))))

    def _break_machines(self) -> None:
        chance = self.chance
        if chance.random() < 0.03 and len(self.machines) > 1:  # somebody has mixed up two names
            one, other = chance.sample(list(self.machines), 2)
            self.named.update({one: self.machines[other].name, other: self.machines[one].name})
        if chance.random() < 0.06:  # the controller is cut off
            begins = chance.uniform(10, 200)
            for machine in self.machines.values():
                machine.faults.append((begins, begins + 40.0, chance.choice(("hangs", "refuses"))))
        if self.oddities.random() < 0.2:
            leaver = self.machines[self.oddities.choice(list(self.machines))]
            self.clock.begin(self.leaves(leaver, self.oddities.uniform(0, 20)))
        for machine in self.machines.values():
            machine.ephemeral = self.oddities.random() < 0.15
            if self.oddities.random() < 0.2:
                self.clock.begin(self._put_back(machine, self.oddities.uniform(0, 200), self.oddities.uniform(0.5, 25)))
        for machine in self.machines.values():
            if chance.random() < 0.02:
                self.clock.at(chance.uniform(20, 250), machine.recovered_by_hand)
            for _turn in range(chance.choice((0, 0, 0, 1, 1, 2))):
                kind = chance.choice(FAULTS)
                begins = chance.choice((0.0, chance.uniform(0, 250)))
                seconds = chance.choice((3.0, 8.0, 30.0, 75.0)) if kind != "stale" else 1e6
                if kind in ("empty-document", "unreadable"):
                    seconds = 3.0
                if chance.random() < 0.06:
                    seconds = 1e6
                if kind in ("empty-document", "stale", "unreadable") and begins < 1:
                    begins = 20.0
                machine.faults.append(
                    (begins, begins + min(seconds, 1e6 if kind not in ("empty-document", "unreadable") else 3.0), kind)
                )
            if chance.random() < 0.04:
                self._mark_by_somebody_else(machine)

    def _give_watchers(self) -> None:
        """Machines with a watcher of their own, which does what they can do themselves."""
        if self.scenario == MIXED:
            self._give_watchers_of_both_systems()
            return
        chance = random.Random(self.seed + 6)
        if chance.random() > 0.3:
            return
        everywhere = chance.random() < 0.5
        for host, machine in self.machines.items():
            if everywhere:  # and then nobody but such a machine may be there to approve
                self.options[host]["max_unavailable"] = "100%"
                for step in machine.steps:
                    step.elsewhere = step.elsewhere and not machine.is_linux
            able = machine.is_linux and not machine.marked_before and not any(step.elsewhere for step in machine.steps)
            if able and (everywhere or chance.random() < 0.5):
                machine.watcher = Watcher(machine, chance.choice((1.0, 1.0, 5.0, 10.0)))
                self.clock.begin(machine.watcher.life())

    def _give_watchers_of_both_systems(self) -> None:
        """A few machines have none: there a run does everything."""
        for host, machine in self.machines.items():
            self.options[host]["max_unavailable"] = "100%"
            if machine.marked_before or self.windows.random() < 0.25:
                continue
            for step in machine.steps:
                step.elsewhere = False
            made = WindowsWatcher if isinstance(machine, WindowsMachine) else Watcher
            machine.watcher = made(machine, self.windows.choice((1.0, 1.0, 5.0, 10.0)))
            self.clock.begin(machine.watcher.life())

    def _hold_calls_up(self, chance: random.Random) -> None:
        """Calls that arrive when nobody waits for them any more, and calls that hang while they write the mark."""
        if chance.random() > 0.6 or not self.announced:
            return
        kind, shown = chance.choice(("late", "lock")), chance.choice(list(self.announced.values()))
        begins = shown + (chance.uniform(0, 12) if kind == "late" else 0)
        for machine in chance.sample(list(self.machines.values()), min(3, len(self.machines))):
            machine.faults.append((begins, begins + chance.choice((40.0, 90.0)), kind))
        if kind == "late" and chance.random() < 0.6:
            killed = begins + chance.uniform(1, 10)
            self.clock.at(killed, self.kill_last)
            for machine in self.machines.values():
                self.clock.at(killed + chance.uniform(5, 30), machine.recovered_by_hand)

    def _mark_by_somebody_else(self, machine: Machine) -> None:
        chance = self.chance
        kind = chance.choice(("watcher", "run", "drain", "unreadable"))
        if kind == "unreadable":
            machine.mark = {"unreadable": "it is no JSON"}
            machine.marked_before = "nobody knows whom"
            return
        mark = other_mark(kind, machine.host, machine.uptime, machine.boot_id)
        renewed_until = chance.choice((0.0, 100.0, 1e6))
        self.clock.begin(self._renewed(machine, renewed_until))
        mark["steps"] = [step_entry(step, "done") for step in machine.steps]
        machine.mark, machine.marked_before = mark, mark["holder"]["run"]
        for step in machine.steps:
            step.running = False

    def _put_back(self, machine: Machine, since: float, after: float) -> Life:
        """A person recovers by force what some run has just taken out of service."""
        yield since
        while machine.mark is None and self.clock.now < 600:
            yield 3.0
        yield after
        machine.recovered_by_hand()

    def leaves(self, machine: Machine, after: float) -> Life:
        """Its own tasks, which run when it is taken out of service, end it for the play."""
        while machine.mark is None and self.clock.now < 600:
            yield 3.0
        yield after
        self.leavers[machine.host] = self.clock.now

    def _renewed(self, machine: Machine, until: float) -> Life:
        """Its holder lives for a while yet."""
        while self.clock.now < until:
            mark = machine.mark
            if mark is None or mark["holder"]["run"] != machine.marked_before:
                return
            if machine.is_up and mark["lease"]["boot_id"] == machine.boot_id:
                mark["number"] += 1
                mark["lease"].update(uptime=machine.uptime, until=machine.uptime + 120.0)
                machine.mark = mark
            yield 20.0

    # ---- options ----

    def _choose_options(self) -> None:
        chance = self.chance
        action = chance.choices(ACTIONS, (14, 2, 3, 1, 1, 1))[0]
        max_unavailable: dict[str, Any] = {}
        long_margin = not self.calm and self.oddities.random() < 0.5
        margin, within = chance.choice((3.0, 10.0)), chance.choice((40.0, 300.0))
        on_failure, hold = chance.choice(("revert", "revert", "hold")), chance.choice(("wait", "wait", "leave"))
        allow_unknown = chance.random() < 0.3
        mixed = chance.random() < 0.2
        clock = random.Random(self.seed + 2)
        for host in self._strays():
            self.declared[host] = self.machines[host].placement_group = ""
        self.hours = hours.drawn(clock, self.machines)
        if self.hours and self.oddities.random() < 0.4:
            self.clock.wrong = (self.oddities.choice((-180.0, -90.0, 90.0, 180.0)), self.oddities.uniform(20, 200))
        for host in self.machines:
            group = self.group_of(host)
            max_unavailable.setdefault(group, chance.choice(("50%", "50%", 1, 2, "100%", "100%")))
            mine = chance.choice(ACTIONS) if mixed and chance.random() < 0.4 else action
            last = {"name": "Anything else", "do": mine}
            if host in self.hours and mine not in ("ignore", "notify"):
                last.update(hours.as_rule(clock, self.hours[host]))
            policy = [
                {
                    "name": "An administrator's own",
                    "when": {"sources": ["User"], "types": ["Reboot", "Redeploy", "Freeze"]},
                    "do": "approve",
                }
            ]
            policy = (policy if chance.random() < 0.5 else []) + [last]
            self.options[host] = {
                "policy": policy,
                "margin": 60.0 if long_margin else margin,
                "allow_unknown": allow_unknown,
                "prepare_before": within,
                "on_failure": on_failure,
                "recover_timeout": chance.choice((60.0, 150.0)),
                "max_unavailable": max_unavailable[group],
                "max_domains": 0,
                "settle": 0.0,
                "hold": hold,
            }
        self.same = {
            "rounds": chance.choice((0, 0, 1, 1, 2)),
            "wait_timeout": chance.choice((60.0, 200.0, 300.0)),
            "event_timeout": chance.choice((200.0, 600.0)),
        }
        chance.choice((10.0, 30.0))  # once an option: so the lives of a seed are what they were

    def _strays(self) -> list[str]:
        """The last of four machines of a scope in some lives: nobody has declared it, so only an event shows where it belongs."""
        return [
            host
            for host, machine in self.machines.items()
            if host.endswith("d") and not self.groups[host] and machine.is_linux and self.oddities.random() < 0.5
        ]

    def group_of(self, host: str) -> str:
        """Whose capacity counts: an odd name where the scope's does and only the run knows that."""
        return self.groups[host] or "?"

    def facts(self, hosts: list[str]) -> list[dict[str, Any]]:
        return [
            {
                "host": host,
                "is_linux": self.machines[host].is_linux,
                "scope": self.declared[host],
                "resource_name": self.named.get(host, ""),
                "group": self.groups[host],
                "steps": len(self.machines[host].steps),
                "needs": sum(step.limit for step in self.machines[host].steps),
                "options": self.options[host],
                "same": self.same,
            }
            for host in hosts
        ]

    # ---- events ----

    def _make_events(self) -> None:
        chance = self.chance
        scopes = list(self.azure.scopes.values())
        together = chance.random() < 0.3
        at = chance.uniform(1, 80)
        for number in range(chance.choice((1, 1, 2, 2, 3, 4))):
            scope = chance.choice(scopes)
            members = [machine for machine in self.machines.values() if machine.scope is scope]
            if not members:
                continue
            if not together:
                at = chance.uniform(1, min(self.same["wait_timeout"], 200.0))
            event = self._event(number, members)
            self.events[event.id] = event
            self.announced[event.id] = at + number * 0.1
            self.clock.at(self.announced[event.id], self.azure.announce, scope, event)
            if chance.random() < 0.6:
                self.clock.at(at + chance.uniform(5, 120), self.say_yes, event)

    def _fail_unseen(self) -> None:
        """Somebody else approves an event while nobody of its scope can poll, and one of its machines fails after that."""
        chance = random.Random(self.seed + 4)
        found = [event for event in self.events.values() if event.type == "Freeze" and event.notice >= 120]
        if not found or chance.random() < 0.6:
            return
        event = chance.choice(found)
        announced = self.announced[event.id]
        scope = next(machine.scope for machine in self.machines.values() if event.affects(machine.name))
        for machine in self.machines.values():
            if machine.scope is scope:
                machine.faults.append((announced + 15, announced + 65, "imds-unreachable"))
            if event.affects(machine.name):
                machine.steps[0].do_seconds, machine.steps[0].do_fails, machine.steps[0].limit = 30.0, "changed", 40.0
        event.approved_by_other, event.cancelled_after, event.lasts = 16.0, None, 60.0

    def _event(self, number: int, members: list[Machine]) -> Event:
        chance = self.chance
        kind = chance.choices(
            ("Reboot", "Redeploy", "Freeze", "Preempt", "Terminate", "SpotRebalanceRecommendation", "Hibernate"),
            (8, 3, 5, 2, 2, 1, 1),
        )[0]
        affected = chance.sample(members, min(len(members), chance.choice((1, 1, 1, 2, 3))))
        if kind == "Preempt" or (kind == "Terminate" and chance.random() < 0.7):
            affected = affected[:1]
        names = [machine.name if chance.random() < 0.8 else machine.name.swapcase() for machine in affected]
        if chance.random() < 0.08 and kind not in ("Terminate", "Preempt"):
            names.append("stranger1")
        notice = {"Preempt": 30.0, "Terminate": 120.0}.get(kind, chance.choice((60.0, 120.0, 240.0, 900.0)))
        fate: dict[str, Any] = {
            "source": chance.choice(("Platform", "Platform", "Platform", "User")),
            "lasts": chance.choice((12.0, 20.0, 60.0)),
            "delay": chance.choice((0.0, 0.0, 1.0, 15.0)),
            "timeless": chance.random() < 0.02,
            "duration": 5 if kind == "Freeze" and chance.random() < 0.5 else -1,
        }
        if kind in ("Reboot", "Redeploy"):
            fate["down"] = chance.choice((5.0, 15.0, 40.0))
            if not self.calm and chance.random() < 0.1:
                fate["down"] = chance.choice((200.0, 1e6))
        elif kind == "Freeze":
            fate["down"] = chance.choice((0.5, 4.0, 14.0))
        if kind not in ("Terminate", "Preempt") and chance.random() < 0.05:
            notice = 0.0
        elif chance.random() < 0.12:
            fate["cancelled_after"] = chance.uniform(1, notice)
        elif chance.random() < 0.06:
            fate["approved_by_other"] = chance.uniform(1, notice)
        elif not self.calm and chance.random() < 0.06 and kind not in ("Terminate", "Preempt"):
            others = [machine.name for machine in members if machine not in affected]
            fate["grows"] = (chance.uniform(1, notice + 30), chance.choice([*others, "stranger2"]))
        if not self.calm and notice and kind in ("Reboot", "Redeploy", "Freeze") and self.oddities.random() < 0.1:
            fate["returns"] = self.oddities.uniform(8, 60)
        elif not self.calm and notice and kind in ("Reboot", "Redeploy", "Freeze") and self.oddities.random() < 0.3:
            notice = 900.0
            fate["moves"] = (self.oddities.uniform(1, 12), self.oddities.choice((45.0, 60.0, 600.0)))
        return Event(f"{kind.upper()[:4]}-{number}-{self.seed}", kind, names, notice, **fate)

    def say_yes(self, event: Event) -> None:
        for machine in self.machines.values():
            if event.open and event.affects(machine.name) and machine.is_up:
                machine.say_yes(event.id.upper())
                self.journal.add("yes", event=event.id, host=machine.host)
                return

    # ---- runs ----

    def _plan_runs(self) -> None:
        chance = self.chance
        check = chance.random() < 0.03
        hosts = list(self.machines)
        self._begin_run(0.0, hosts, check)
        if self.calm or check:
            return
        if chance.random() < 0.3:
            at = 0.0
            for _turn in range(chance.choice((1, 1, 2, 4))):
                at += chance.uniform(2, 120)
                self.clock.at(at, self.kill_last)
                at += chance.choice((1.0, 10.0, 60.0, 150.0))
                self._begin_run(at, hosts, False)
        elif chance.random() < 0.1:
            self._begin_run(chance.uniform(0, 100), chance.sample(hosts, max(1, len(hosts) - 1)), False)

    def _plan_restarts(self, chance: random.Random) -> None:
        """Machines that are started anew by no event, and a controller that is stopped and goes on, in any phase of a mark."""
        for machine in self.machines.values():
            for step in machine.steps:
                step.at_boot = (not step.elsewhere or not machine.is_linux) and chance.random() < 0.6
        if self.calm:
            return
        often = chance.choice((0.0, 0.1, 0.4))
        for machine in self.machines.values():
            if chance.random() < often:
                phase, seconds = chance.choice(("", "prepared", *PHASES)), chance.choice((5.0, 15.0, 40.0))
                after = chance.choice((0.0, chance.uniform(0, 8))) if phase else chance.uniform(5, 250)
                self.when(machine, phase, after, machine.restart, seconds)
        if chance.random() < 0.25:
            seconds = chance.choice((8.0, 20.0, 40.0))
            self.stops_at_approval = seconds if chance.random() < 0.6 else 0.0
            if not self.stops_at_approval:
                phase, after = chance.choice(("prepared", *PHASES)), chance.choice((0.0, chance.uniform(0, 4)))
                for machine in self.machines.values():  # whichever comes to that
                    self.when(machine, phase, after, self.stop_last, seconds)
            self.meanwhile = chance.uniform(0.5, 4) if chance.random() < 0.7 else 0.0

    def when(self, machine: Machine, phase: str, after: float, what: Callable[..., None], *arguments: Any) -> None:
        if phase:
            machine.on_phase[phase] = lambda: self.clock.after(after, what, *arguments)
        else:
            self.clock.at(after, what, *arguments)

    def stop_last(self, seconds: float) -> None:
        if self.runs:
            self.runs[-1].stop(seconds)

    def _stopped(self, _seconds: float) -> None:
        """Somebody sees that nothing goes on, and helps himself."""
        if self.meanwhile:
            for machine in self.machines.values():
                if (machine.mark or {}).get("phase") == "prepared":
                    self.clock.after(self.meanwhile, machine.recovered_by_hand)

    def second_run(self, at: float) -> None:
        """One beside that which all lives have."""
        self._begin_run(at, list(self.machines), False)

    def _begin_run(self, at: float, hosts: list[str], check: bool) -> None:
        self.planned_runs += 1
        self.clock.at(at, self._run, hosts, check)

    def _run(self, hosts: list[str], check: bool) -> None:
        machines = {host: self.machines[host] for host in hosts}
        name = f"run{len(self.runs) + 1}"
        run = Run(
            name,
            self.decider,
            machines,
            self.facts(hosts),
            check,
            self.journal,
            self.clock,
            random.Random(f"{self.seed} {name}"),
        )
        run.on_stop, run.stops_at_approval = self._stopped, self.stops_at_approval
        self.runs.append(run)
        run.leaves = self.leavers

    def kill_last(self) -> None:
        if self.runs:
            self.runs[-1].kill()

    @property
    def over(self) -> bool:
        if len(self.runs) != self.planned_runs:
            return False
        for run in self.runs:  # it is asked after whatever happens: a generator would cost more than all else here
            if not run.process.over:
                return False
        return not any(machine.on_the_way for machine in self.machines.values())

    def live(self) -> None:
        """Let everything happen, until all runs are over."""
        try:
            if not self.clock.run(LONGEST, lambda: self.over):
                self.journal.add("never-ended", runs=[run.name for run in self.runs if not run.over])
        finally:
            for machine in self.machines.values():
                machine.end_calls()
