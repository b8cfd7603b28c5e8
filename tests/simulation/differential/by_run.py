# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A script as a run of ``maintain`` lives it, against this one machine."""

from __future__ import annotations

import random
from typing import Any

from lives.azure import Azure, Event
from lives.clock import Clock, Life
from lives.driver import Decider, Run
from lives.journal import Journal
from lives.machine import Machine
from lives.step import Step

from .ending import live
from .milestones import Lived, MarkAt
from .script import Script

HOST, NAME = "h0", "vm0"

WAITS, HANGS = 8.0, 15.0
"""Seconds for which a call waits for a change at most, and hangs where the machine reboots meanwhile: in minutes a run would miss what
the watcher sees, and no decision would be compared."""


class Called(Machine):
    """Its calls are short."""

    def call(self, requests: Any, call: Any, holder: Any, within: Any, run: Run) -> Life:
        requests = [{**one, "wait": min(one["wait"], WAITS)} if one.get("wait") else one for one in requests]
        call = {**call, "seconds": min(float(call["seconds"]), HANGS)}
        return (yield from super().call(requests, call, holder, within, run))


def lived(script: Script, decider: Decider) -> Lived:
    """What a run decided in it."""
    clock = Clock()
    journal = Journal(clock)
    azure = Azure(clock, journal, random.Random(1))
    machine = Called(HOST, NAME, clock, journal, azure, azure.scope("scope"))
    machine.steps = [_step(clock, journal, number, one) for number, one in enumerate(script.work)]
    faults = {"imds-unreachable": script.blind, "empty-document": script.empty, "unreadable": script.damaged}
    machine.faults = [(*span, kind) for kind, spans in faults.items() for span in spans]
    if script.restarts is not None:
        machine.on_phase["prepared"] = lambda: clock.after(script.restarts, machine.restart, 10.0)
    events = {}
    for one in script.events:
        event = events[one.id] = Event(one.id, one.kind, [NAME], one.notice, **one.fate)
        clock.at(one.at, azure.announce, machine.scope, event)
    for at, identity in script.confirmed:
        clock.at(at, machine.yes.append, identity)
    run = Run("run", decider, {HOST: machine}, [_facts(script)], False, journal, clock, random.Random(2))
    live(clock, script, events.values(), lambda: machine.gone or machine.mark is None)
    outcomes = {key: entry.tracked.outcome for key, entry in run.record.events.items() if entry.gone is not None}
    return Lived("run", journal, events, list(_marks(journal)), outcomes, machine.gone)


def _step(clock: Clock, journal: Journal, number: int, one: Any) -> Step:
    step = Step(
        clock,
        journal,
        HOST,
        f"service {number}",
        do_seconds=one.do,
        undo_seconds=one.undo,
        limit=one.limit,
        do_fails="unchanged" if one.fails else "",
        undo_fails=one.undo_fails,
    )
    step.at_boot = True
    return step


def _facts(script: Script) -> dict[str, Any]:
    options = {
        "policy": [dict(rule) for rule in script.policy],
        "margin": script.margin,
        "allow_unknown": False,
        "prepare_before": script.prepare_before,
        "on_failure": "revert",
        "recover_timeout": 150.0,
        "max_unavailable": "50%",
        "max_domains": 0,
        "settle": 0.0,
        "hold": "wait",
    }
    same = {"rounds": 0, "wait_timeout": 1e6, "event_timeout": 600.0}
    return {
        "host": HOST,
        "is_linux": True,
        "scope": "",
        "resource_name": "",
        "group": "",
        "steps": len(script.work),
        "needs": script.limits,
        "options": options,
        "same": same,
    }


def _marks(journal: Journal) -> Any:
    phase, events = "", []
    for line in journal.of("marked", "joined", "phase", "mark-gone"):
        if line["what"] == "marked":
            phase, events = "preparing", []
        elif line["what"] == "joined":
            events = [*events, line["event"]]
        elif line["what"] == "phase":
            phase, events = line["phase"], line["events"]
        else:
            phase, events = "", []
        yield MarkAt(line["at"], phase, tuple(events))
