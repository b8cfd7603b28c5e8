# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judges a life by what really happened, and by what the runs said of it. It shares no code with what it judges."""

from __future__ import annotations

from collections.abc import Iterator

from .deeds import DEEDS
from .fleet import Fleet
from .run_facts import RunFacts
from .windows.rules import RULES
from .words import WORDS


def judged(fleet: Fleet) -> list[str]:
    """Everything that was wrong in a life."""
    wrong = [f"ends: {line['runs']} never ended" for line in fleet.journal.of("never-ended")]
    runs = [RunFacts(fleet, run) for run in fleet.runs]
    for facts in runs:
        for rule in (*DEEDS, *RULES, *WORDS):
            wrong += rule(facts)
    wrong += not_his(fleet)
    wrong += overwritten(fleet)
    wrong += too_many_requests(fleet)
    return wrong


def not_his(fleet: Fleet) -> Iterator[str]:
    """Rule 13: what was not running is not started, and nobody undoes without a mark."""
    for machine in fleet.machines.values():
        for step in machine.steps:
            if step.running and not step.originally:
                yield f"undone: {step.key} of {machine.host} runs, which it did not before"
    for line in fleet.journal.of("unmarked"):
        yield f"undone: {line['run']} recovered {line['host']} without a mark"


def too_many_requests(fleet: Fleet) -> Iterator[str]:
    """Rule 9: five a second of one machine, in all runs and its watcher together."""
    for line in fleet.journal.of("too-many-requests"):
        yield f"requests: at {line['at']:.1f} the sixth of {line['host']} within a second"


def overwritten(fleet: Fleet) -> Iterator[str]:
    """A mark never says that a step waits which was begun since it was made, and since the machine's last start: that has it done again.
    So does another outage with what the one before has undone."""
    begun: dict[str, dict[str, float]] = {}
    undone: dict[str, set[str]] = {}
    for line in fleet.journal.of("marked", "mark-gone", "piece", "mark-says", "boot", "phase"):
        steps = begun.setdefault(line["host"], {})
        if line["what"] == "piece":
            steps[line["key"]] = line["at"]
            keys = undone.setdefault(line["host"], set())
            (keys.add if line["direction"] == "undo" else keys.discard)(line["key"])
        elif line["what"] == "phase":
            for key in undone.get(line["host"], ()) if line["phase"] == "preparing" else ():
                steps.pop(key, None)
        elif line["what"] == "mark-says":
            for key in set(line["waiting"]).intersection(steps):
                yield f"overwritten: at {line['at']:.1f} the mark of {line['host']} says that {key} waits, which was begun at {steps[key]:.1f}"
        else:
            steps.clear()
