# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a run begins, as a table for people: a line for each machine, and below it the steps. Pure.

Private to this collection.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ...module_utils._core.mark_view import NOBODY
from ...module_utils._text import listed, one_line
from .._fleet.marks import watcher_prepares, whose
from .._fleet.schema import MachineState, Record
from .._fleet.scopes import can_look, members, sentinels
from .sentences import Asked

OWN = "HOST"
"""What stands for the machine's own name in steps of several machines."""


def table(record: Record, asked: Mapping[str, Asked], at: float) -> list[str]:
    """A line for each machine: its name in Azure, who polls its events, how many there are, its steps, its mark."""
    chosen = sentinels(record)
    rows = [
        (
            host,
            one_line(machine["resource_name"]) or "(name not known)",
            _watch(record, machine, chosen),
            _events(machine),
            _count(len(asked[host].steps), "step") or ("its watcher's" if watcher_prepares(machine) else "NO STEPS"),
            _mark(record, machine, at),
        )
        for host, machine in record["hosts"].items()
    ]
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    lines = ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return [*lines, *_steps(asked)]


def _watch(record: Record, machine: MachineState, chosen: Mapping[str, str]) -> str:
    if machine["aside"]:
        return "TAKES NO PART"
    host, scope = machine["host"], machine["scope"]
    sentinel = chosen[scope]
    blind = "NOT REACHED, " if machine["lost"] else "BLIND, " if machine["look_problem"] else ""
    if not can_look(record["hosts"][sentinel]):
        return f"{blind}watched by nobody"
    if sentinel != host:
        return f"{blind}watched by {sentinel}"
    return f"watches scope {one_line(scope, 60)}" if len(members(record)[scope]) > 1 else "watches itself"


def _events(machine: MachineState) -> str:
    if machine["looked"] is None:
        return "events not known"
    return _count(len(machine["shows"]), "event") or "no event"


def _mark(record: Record, machine: MachineState, at: float) -> str:
    if machine["answered"] is None:
        return "mark not known"
    return "no mark" if whose(record, machine, at) == NOBODY else "HAS A MARK"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}" if number else ""


def _steps(asked: Mapping[str, Asked]) -> list[str]:
    """The steps in their words, once for several machines where they differ only by the machine's own name."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for host, one in asked.items():
        own = re.compile(rf"(?<![\w.-]){re.escape(host)}(?![\w.-])")
        alike.setdefault(tuple(own.sub(OWN, words) for words in _words(one)), []).append(host)
    return [
        f"{listed(hosts)}: {'; then '.join(words if len(hosts) > 1 else _words(asked[hosts[0]]))}"
        for words, hosts in alike.items()
        if words
    ]


def _words(one: Asked) -> tuple[str, ...]:
    """What it does in order; what is only done afterwards comes last."""
    doing: Sequence[str] = [one_line(step["does"], 300) for step in one.steps if step["does"]]
    after = [f"afterwards {one_line(step['undoes'], 300)}" for step in one.steps if step["undoes"] and not step["does"]]
    return (*doing, *after)
