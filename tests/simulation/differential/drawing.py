# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The script that a seed makes."""

from __future__ import annotations

import random
from typing import Any

from .script import Coming, Script, Span, Work

ACTIONS = ("prepare_and_approve", "prepare", "hold", "approve", "notify")  # a watcher says nothing of what is ignored
KINDS = ("Reboot", "Redeploy", "Freeze", "Preempt", "Terminate", "SpotRebalanceRecommendation")
REBOOTS = ("Reboot", "Redeploy")


def drawn(seed: int) -> Script:
    """The script of a seed."""
    chance, odd = random.Random(seed), random.Random(-seed - 1)
    action = chance.choices(ACTIONS, (12, 4, 3, 1, 1))[0]
    events = _events(chance)
    first = events[0]
    blind = [_span(chance, first, (4.0, 15.0, 40.0))] if chance.random() < 0.2 else []
    asks = {"hold": 0.7, "prepare": 0.15}.get(action, 0.05)
    confirmed = [(event.at + chance.uniform(3, 200), event.id) for event in events if chance.random() < asks]
    policy = [{"name": "All", "do": action}]
    if chance.random() < 0.2:
        policy.insert(
            0, {"name": "A short freeze", "when": {"duration_below": 9, "types": ["Freeze"]}, "do": "approve"}
        )
    return Script(
        events=tuple(events),
        policy=tuple(policy),
        work=tuple(_work(chance) for _each in range(chance.choice((1, 1, 2)))),
        margin=chance.choice((10.0, 30.0)),
        prepare_before=chance.choice((60.0, 300.0)),
        confirmed=tuple(confirmed),
        blind=tuple(blind),
        restarts=chance.uniform(0.5, 20) if chance.random() < 0.06 else None,
        empty=(_span(odd, first, (3.0,)),) if odd.random() < 0.1 else (),
        damaged=(_span(odd, first, (3.0, 20.0, 60.0)),) if odd.random() < 0.08 else (),
    )


def _span(chance: random.Random, event: Coming, lasts: tuple[float, ...]) -> Span:
    """A while in the life of an event."""
    begins = event.at + chance.uniform(0, event.notice + 40)
    return begins, begins + chance.choice(lasts)


def _work(chance: random.Random) -> Work:
    hangs = chance.random() < 0.04
    return Work(
        do=200.0 if hangs else chance.choice((0.1, 0.5, 2.0, 6.0, 12.0)),
        undo=chance.choice((0.1, 0.5, 2.0, 6.0)),
        limit=chance.choice((15.0, 25.0, 60.0)),
        fails=chance.random() < 0.06,
        undo_fails=chance.choice((1, 2, 99)) if chance.random() < 0.04 else 0,
    )


def _events(chance: random.Random) -> list[Coming]:
    at, events = chance.uniform(20, 60), []
    number = chance.choice((1, 1, 2))
    for index in range(number):
        events.append(_event(chance, index, at, index == number - 1))
        at += chance.choice((5.0, 60.0, 150.0, 400.0)) * chance.uniform(0.5, 1.5)
    return events


def _event(chance: random.Random, index: int, at: float, is_last: bool) -> Coming:
    """Only the last one may take the machine away."""
    kind = chance.choices(KINDS, (8, 3, 5, 2 * is_last, 2 * is_last, 1))[0]
    notice = {"Preempt": 30.0, "Terminate": 300.0}.get(kind, chance.choice((60.0, 120.0, 300.0, 300.0, 600.0)))
    fate: dict[str, Any] = {
        "source": chance.choice(("Platform", "Platform", "User")),
        "delay": chance.choice((0.0, 1.0, 15.0)),
        "duration": 5 if kind == "Freeze" and chance.random() < 0.5 else -1,
    }
    if kind in REBOOTS:
        fate["down"] = chance.choice((2.0, 8.0, 20.0))
    elif kind == "Freeze":
        fate["down"] = chance.choice((0.5, 4.0))
    # A run calls a machine that was away again after up to 30 s: by then it must still see what has happened.
    fate["lasts"] = chance.choice((15.0, 45.0)) + 2 * fate.get("down", 0.0)
    what = chance.random()
    if what < 0.06:
        notice, fate["down"] = 0.0, 0.0  # it has started when it is first shown
    elif what < 0.18 and kind != "Preempt":
        fate["cancelled_after"] = chance.uniform(1, notice)
    elif what < 0.24:
        fate["approved_by_other"] = chance.uniform(1, notice)
    elif what < 0.28 and kind in (*REBOOTS, "Freeze"):
        fate["returns"] = chance.uniform(20, 60)
    elif what < 0.32 and kind in (*REBOOTS, "Freeze"):
        notice = 900.0
        fate["moves"] = (chance.uniform(1, 30), chance.choice((45.0, 120.0, 400.0)))
    elif what < 0.35:
        fate["timeless"] = True
    elif what < 0.38 and kind in (*REBOOTS, "Freeze"):
        fate["grows"] = (chance.uniform(1, notice), "stranger")
    return Coming(f"{kind.upper()[:4]}-{index}", at, kind, notice, fate)
