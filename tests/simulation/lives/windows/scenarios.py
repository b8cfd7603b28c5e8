# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lives of Windows machines that lead up to one situation."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from ..machine import Machine
from ..scenarios import Scenario, choose, event, healthy
from . import troubles
from .machine import WindowsMachine

if TYPE_CHECKING:
    from ..fleet import Fleet


def lone(fleet: Fleet, chance: random.Random) -> None:
    """One machine with one step of a second, whose PowerShell takes 2 s to start: what a run costs."""
    (machine,) = _windows(fleet, chance, 1)
    machine.takes, machine.steps = 2.0, machine.steps[:1]
    machine.steps[0].do_seconds = machine.steps[0].undo_seconds = 1.0
    choose(fleet)
    event(fleet, chance, [machine], "Reboot", down=30.0, lasts=75.0, delay=3.0)


def two_runs(fleet: Fleet, chance: random.Random) -> None:
    """Two runs deal with the same machines, one of them from the beginning or once they are prepared; nobody approves."""
    made = _windows(fleet, chance, chance.choice((1, 2)))
    choose(fleet, "prepare")
    at = event(fleet, chance, made, notice=chance.choice((240.0, 600.0)))
    fleet.second_run(chance.choice((0.0, 0.0, at + chance.uniform(0, 150))))


def removed(fleet: Fleet, chance: random.Random) -> None:
    """Somebody removes the mark at any moment from its making to the approval."""
    made = _windows(fleet, chance, chance.choice((1, 2)))
    choose(fleet)
    event(fleet, chance, made)
    machine = chance.choice(made)
    after = chance.uniform(0, chance.choice((1.5, 12)))  # the approval goes out a second after it is prepared
    fleet.when(machine, chance.choice(("preparing", "prepared")), after, machine.mark_deleted)


def put_back(fleet: Fleet, chance: random.Random) -> None:
    """Somebody recovers a machine by force while it is being prepared, or is prepared; nobody approves."""
    made = _windows(fleet, chance, chance.choice((1, 2)))
    choose(fleet, "prepare")
    event(fleet, chance, made, notice=240.0)
    fleet.when(made[0], chance.choice(("preparing", "prepared")), chance.uniform(0, 12), made[0].recovered_by_hand)


def restarted(fleet: Fleet, chance: random.Random) -> None:
    """A machine that is prepared is restarted, once or twice, while another one is not prepared yet; its services start with it."""
    made = _windows(fleet, chance, 2)
    choose(fleet)
    made[1].steps[0].do_seconds, made[1].steps[0].limit = 75.0, 90.0
    for machine in made:
        machine.has_id = chance.random() < 0.5
        for step in machine.steps:
            step.at_boot = True
    fleet.when(made[0], "prepared", 0.0, made[0].restart, 5.0)
    if chance.random() < 0.5:
        fleet.when(made[0], "preparing", 0.1, made[0].restart, 5.0)
    event(fleet, chance, made)


def confirmed(fleet: Fleet, chance: random.Random) -> None:
    """An event that a person is to confirm, and does."""
    made = _windows(fleet, chance, chance.choice((1, 2)))
    choose(fleet, "hold")
    at = event(fleet, chance, made, notice=900.0)
    found = next(iter(fleet.events.values()))
    fleet.clock.at(at + chance.uniform(20, 120), fleet.say_yes, found)


def hung(fleet: Fleet, chance: random.Random) -> None:
    """Requests hang on their way when an event comes, and arrive when their run has been killed."""
    made = _windows(fleet, chance, chance.choice((1, 2)))
    choose(fleet, chance.choice(("prepare", "prepare_and_approve")))
    at = event(fleet, chance, made)
    for machine in made:
        begins = at + chance.uniform(0, 30)
        machine.faults.append((begins, begins + chance.choice((90.0, 120.0)), "late"))
        machine.dies_with_run = True
    fleet.clock.at(begins + chance.uniform(0.5, 20), fleet.kill_last)


def stopped(fleet: Fleet, chance: random.Random) -> None:
    """The run is stopped while Windows machines are prepared, and somebody puts them back meanwhile; another one approves."""
    made = _windows(fleet, chance, chance.choice((1, 2)))
    other = healthy(fleet, chance, 1, made[0].scope, chance.choice((Machine, WindowsMachine)), first=len(made))[-1]
    choose(fleet)
    event(fleet, chance, made)
    seconds, fleet.meanwhile = chance.choice((20.0, 40.0)), chance.uniform(0.5, 4)
    if chance.random() < 0.3:
        fleet.stops_at_approval = seconds
    else:
        for machine in [*made, other]:
            fleet.when(machine, "prepared", chance.uniform(0, 8), fleet.stop_last, seconds)


def unwritable(fleet: Fleet, chance: random.Random) -> None:
    """Marks can't be written for a while, or what was written is not known."""
    made = _windows(fleet, chance, chance.choice((1, 2)))
    choose(fleet)
    at = event(fleet, chance, made)
    for machine in made:
        begins = at + chance.uniform(0, 20)
        kind = chance.choice(("file-busy", "lock-busy", "denied", "disk-full", "cut", "cut-after", "answers-lost"))
        machine.faults.append((begins, begins + chance.choice((8.0, 30.0)), kind))


def not_taken(fleet: Fleet, chance: random.Random) -> None:
    """The service refuses approvals for a while."""
    made = _windows(fleet, chance, chance.choice((1, 2)))
    choose(fleet)
    at = event(fleet, chance, made)
    for machine in made:
        machine.faults.append((at, at + chance.choice((25.0, 35.0)), chance.choice(("post-refused", "post-lost"))))


def grown(fleet: Fleet, chance: random.Random) -> None:
    """The event of a lone machine turns out to affect another one, of which nobody knows, at any moment until it is approved."""
    (machine,) = _windows(fleet, chance, 1)
    choose(fleet)
    machine.steps = machine.steps[:1]
    machine.steps[0].do_seconds = 1.0
    event(fleet, chance, [machine], grows=(chance.uniform(5, 25), "stranger2"))


def troubled(fleet: Fleet, chance: random.Random) -> None:
    """Everything goes wrong that can, while machines are prepared and approve."""
    fleet.calm = False
    made = _windows(fleet, chance, chance.choice((1, 2, 2)))
    if chance.random() < 0.3:
        healthy(fleet, chance, 1, made[0].scope, first=len(made))
    choose(fleet, chance.choice(("prepare", "hold", "prepare_and_approve", "prepare_and_approve")))
    at = event(fleet, chance, list(fleet.machines.values()), notice=chance.choice((240.0, 900.0)))
    if chance.random() < 0.5:
        fleet.clock.at(at + chance.uniform(5, 60), fleet.say_yes, next(iter(fleet.events.values())))
    for machine in made:
        machine.dies_with_run, machine.has_id = chance.random() < 0.7, chance.random() < 0.7
        for step in machine.steps:
            step.at_boot = chance.random() < 0.7
        troubles.trouble(fleet, machine, chance, at, 90.0)
    if chance.random() < 0.25:
        killed = at + chance.uniform(3, 60)
        fleet.clock.at(killed, fleet.kill_last)
        fleet.second_run(killed + chance.choice((1.0, 30.0, 150.0)))
    elif chance.random() < 0.15:
        fleet.second_run(at + chance.uniform(-20, 60))
    elif chance.random() < 0.2:
        fleet.when(made[0], chance.choice(("preparing", "prepared")), chance.uniform(0, 8), fleet.stop_last, 30.0)
        fleet.meanwhile = chance.choice((0.0, 2.0))


def _windows(fleet: Fleet, chance: random.Random, number: int) -> list[WindowsMachine]:
    made = healthy(fleet, chance, number, None, WindowsMachine)
    for machine in made:
        machine.takes = chance.uniform(1.5, 4.0)
        for step in machine.steps:
            step.elsewhere = True
    return made


SCENARIOS: dict[str, Scenario] = {
    "windows-confirmed": confirmed,
    "windows-grown": grown,
    "windows-hung": hung,
    "windows-lone": lone,
    "windows-not-taken": not_taken,
    "windows-put-back": put_back,
    "windows-removed": removed,
    "windows-restarted": restarted,
    "windows-stopped": stopped,
    "windows-troubled": troubled,
    "windows-two-runs": two_runs,
    "windows-unwritable": unwritable,
}
