# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lives that lead up to one situation, which lives where everything is drawn show once in a thousand. The seed draws the rest."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .azure import Event, Scope
from .machine import Machine
from .step import Step

if TYPE_CHECKING:
    from .fleet import Fleet

Scenario = Callable[["Fleet", random.Random], None]


def restarted(fleet: Fleet, chance: random.Random) -> None:
    """An administrator starts a machine anew that is prepared, while another one is not yet; its services start with it."""
    machines = healthy(fleet, chance, chance.choice((2, 3)))
    choose(fleet)
    machines[1].steps[0].do_seconds = 10.0
    for machine in machines:
        for step in machine.steps:
            step.at_boot = True
    fleet.when(machines[0], "prepared", 0.0, machines[0].restart, 2.0)
    event(fleet, chance, machines[:2])


def put_back(fleet: Fleet, chance: random.Random) -> None:
    """Somebody puts back what was done to a machine, here or elsewhere, while another one is not prepared yet."""
    machines = healthy(fleet, chance, chance.choice((2, 3)))
    choose(fleet)
    machines[1].steps[0].do_seconds = 12.0
    step = chance.choice(machines[0].steps)
    step.elsewhere = chance.random() < 0.5
    fleet.when(machines[0], "prepared", chance.uniform(0.0, 8.0), step.put_back)
    event(fleet, chance, machines[:2])


def stopped(fleet: Fleet, chance: random.Random) -> None:
    """The run is stopped right before it approves, and somebody puts the machines back meanwhile."""
    machines = healthy(fleet, chance, chance.choice((2, 3)))
    choose(fleet)
    event(fleet, chance, machines[: len(machines) - 1])
    seconds, fleet.meanwhile = chance.choice((20.0, 40.0)), chance.uniform(0.5, 4)
    if chance.random() < 0.5:
        fleet.stops_at_approval = seconds
    else:
        for machine in machines:
            fleet.when(machine, "prepared", chance.uniform(0, 1), fleet.stop_last, seconds)


def lost_disk(fleet: Fleet, chance: random.Random) -> None:
    """A mark goes with the disk of a machine for which something was done elsewhere."""
    machines = healthy(fleet, chance, chance.choice((1, 2)))
    for machine in machines:
        machine.ephemeral, machine.steps[0].elsewhere = True, True
    choose(fleet)
    event(fleet, chance, machines, chance.choice(("Reboot", "Redeploy")), lasts=chance.choice((20.0, 60.0)))


def returned(fleet: Fleet, chance: random.Random) -> None:
    """An event is Scheduled again after it was over."""
    machines = healthy(fleet, chance, chance.choice((1, 2)))
    choose(fleet, chance.choice(("prepare", "prepare_and_approve")), rounds=2)
    event(fleet, chance, machines[:1], notice=240.0, lasts=12.0, returns=chance.uniform(8, 60))


def moved(fleet: Fleet, chance: random.Random) -> None:
    """Not-before is moved earlier, into what was the margin."""
    machines = healthy(fleet, chance, chance.choice((1, 2)))
    choose(fleet, "prepare", margin=60.0, prepare_before=40.0)
    event(fleet, chance, machines[:1], moves=(chance.uniform(8, 20), chance.choice((45.0, 60.0))))


def overdue(fleet: Fleet, chance: random.Random) -> None:
    """An event is Scheduled though its time has come when it is first seen."""
    machines = healthy(fleet, chance, chance.choice((1, 2)))
    choose(fleet)
    event(fleet, chance, machines[:1], notice=0.0, overdue=400.0)


def blinked(fleet: Fleet, chance: random.Random) -> None:
    """The documents are empty for a moment."""
    machines = healthy(fleet, chance, chance.choice((1, 2)))
    choose(fleet, "prepare")
    begins = event(fleet, chance, machines, notice=240.0) + chance.uniform(20, 200)
    for machine in machines:
        machine.faults.append((begins, begins + 3.0, "empty-document"))


def many_hosts(fleet: Fleet, chance: random.Random) -> None:
    """The first calls to many machines are slow, and two of them, of which one may be out, have events meanwhile."""
    machines = healthy(fleet, chance, 16)
    for machine in machines:
        machine.first_cost = chance.uniform(6, 7.5)
    choose(fleet, "prepare", max_unavailable=1)
    for machine in chance.sample(machines, 2):
        event(fleet, chance, [machine], notice=chance.uniform(235, 275), at=1.0)


def misdeclared(fleet: Fleet, chance: random.Random) -> None:
    """Machines that were declared as one scope are shown different documents, and an event hits one that others look for."""
    scope = fleet.azure.scope("scope0", each_its_own=chance.random() < 0.5)
    machines = healthy(fleet, chance, chance.choice((2, 3)), scope)
    if not scope.each_its_own:
        machines[-1].scope = fleet.azure.scope("scope0b")
    choose(fleet)
    event(fleet, chance, machines[-1:], chance.choice(("Reboot", "Terminate")), notice=120.0, lasts=60.0)


def joined(fleet: Fleet, chance: random.Random) -> None:
    """An event shows that a machine belongs to a declared scope, which gets no larger by that, while two are to be out."""
    machines = healthy(fleet, chance, 4)
    fleet.declared[machines[-1].host] = ""
    choose(fleet, max_unavailable="50%")
    at = chance.uniform(1, 60)
    for machine in chance.sample(machines[:3], 2):
        event(fleet, chance, [machine], at=at)


def unreachable(fleet: Fleet, chance: random.Random) -> None:
    """An event comes over a machine of a group of which one may be out, while another one of it can't be reached."""
    machines = healthy(fleet, chance, chance.choice((2, 3)))
    fleet.groups = dict.fromkeys(fleet.groups, "web")
    choose(fleet, max_unavailable=1)
    machines[-1].faults.append((chance.choice((0.0, 40.0)), 1e6, chance.choice(("refuses", "hangs"))))
    event(fleet, chance, machines[:1], notice=240.0, at=chance.uniform(100, 150))


def left_play(fleet: Fleet, chance: random.Random) -> None:
    """A host leaves the play when it has been taken out of service."""
    machines = healthy(fleet, chance, chance.choice((2, 3)))
    choose(fleet, "prepare")
    event(fleet, chance, machines[:1], notice=60.0, lasts=12.0)
    fleet.clock.begin(fleet.leaves(machines[0], chance.uniform(0, 20)))


SCENARIOS: dict[str, Scenario] = {
    "blinked": blinked,
    "joined": joined,
    "left-play": left_play,
    "lost-disk": lost_disk,
    "many-hosts": many_hosts,
    "misdeclared": misdeclared,
    "moved": moved,
    "overdue": overdue,
    "restarted": restarted,
    "put-back": put_back,
    "returned": returned,
    "stopped": stopped,
    "unreachable": unreachable,
}


# ---- what they are made of ----


def healthy(
    fleet: Fleet,
    chance: random.Random,
    number: int,
    scope: Scope | None = None,
    made: type[Machine] = Machine,
    first: int = 0,
) -> list[Any]:
    """Healthy machines, by default Linux ones, declared as one scope.

    :arg first: how many there are already
    """
    scope = scope or fleet.azure.scope("scope0")
    for index in range(first, first + number):
        host = f"h0{'abcdefghijklmnop'[index]}"
        machine = made(host, f"vm0{index}", fleet.clock, fleet.journal, fleet.azure, scope)
        fleet.machines[host], fleet.declared[host], fleet.groups[host] = machine, "declared0", ""
        machine.steps = [
            Step(
                fleet.clock,
                fleet.journal,
                host,
                f"service {host}{number}",
                do_seconds=chance.choice((0.1, 0.5, 2.0)),
                undo_seconds=chance.choice((0.1, 0.5, 2.0)),
                limit=15.0,
            )
            for number in range(chance.choice((1, 2)))
        ]
    return list(fleet.machines.values())


def choose(fleet: Fleet, do: str = "prepare_and_approve", rounds: int = 1, **others: Any) -> None:
    """The options of all machines."""
    options = {
        "policy": [{"name": "Anything else", "do": do}],
        "margin": 10.0,
        "allow_unknown": False,
        "prepare_before": 3600.0,
        "on_failure": "revert",
        "recover_timeout": 150.0,
        "max_unavailable": "100%",
        "max_domains": 0,
        "settle": 0.0,
        "hold": "wait",
        **others,
    }
    fleet.options = {host: dict(options) for host in fleet.machines}
    fleet.same = {"rounds": rounds, "wait_timeout": 300.0, "event_timeout": 600.0}


def event(
    fleet: Fleet,
    chance: random.Random,
    machines: Sequence[Machine],
    kind: str = "",
    notice: float = 900.0,
    at: float | None = None,
    **fate: Any,
) -> float:
    """Something that comes over machines of one scope; returns when it is announced."""
    kind = kind or chance.choice(("Reboot", "Redeploy", "Freeze"))
    if kind != "Freeze":
        fate.setdefault("down", 5.0)
    number = len(fleet.events)
    names = [machine.name for machine in machines]
    event = Event(f"{kind.upper()[:4]}-{number}-{fleet.seed}", kind, names, notice, **fate)
    fleet.events[event.id] = event
    at = fleet.announced[event.id] = (chance.uniform(1, 60) if at is None else at) + number * 0.1
    fleet.clock.at(at, fleet.azure.announce, machines[0].scope, event)
    return at
