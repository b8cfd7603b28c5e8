# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What befalls one machine, whoever handles it: its events, its steps, its policy, and what goes wrong."""

from __future__ import annotations

from typing import Any, NamedTuple

Span = tuple[float, float]


class Coming(NamedTuple):
    """An event of a script, in seconds.

    at: when it is shown
    fate: what becomes of it, as in lives/azure.py
    """

    id: str
    at: float
    kind: str
    notice: float
    fate: dict[str, Any] = {}

    @property
    def over(self) -> float:
        """By when, and for good."""
        once = self.notice + self.fate.get("lasts", 20.0)
        returns = self.fate.get("returns")
        return self.at + once + (0.0 if returns is None else returns + once)


class Work(NamedTuple):
    """A drain step of the machine: seconds that it takes, and its limit; whether it fails, and how often its undoing does."""

    do: float = 1.0
    undo: float = 1.0
    limit: float = 20.0
    fails: bool = False
    undo_fails: int = 0


class Script(NamedTuple):
    """One machine's life but for what is decided in it.

    policy: as users write it
    confirmed: when a person confirms which event
    blind: from when to when its metadata service does not answer
    empty: from when to when its documents show nothing, whatever there is
    damaged: from when to when the first entry of a document can't be read
    restarts: seconds after it is first prepared at which an administrator restarts it; None where nobody does
    """

    events: tuple[Coming, ...]
    policy: tuple[dict[str, Any], ...] = ({"name": "All", "do": "prepare_and_approve"},)
    work: tuple[Work, ...] = (Work(),)
    margin: float = 30.0
    prepare_before: float = 300.0
    confirmed: tuple[tuple[float, str], ...] = ()
    blind: tuple[Span, ...] = ()
    empty: tuple[Span, ...] = ()
    damaged: tuple[Span, ...] = ()
    restarts: float | None = None

    def action(self, coming: Coming) -> str:
        """What the policy says about an event."""
        short = coming.kind == "Freeze" and 0 <= coming.fate.get("duration", -1) < 9
        return str(self.policy[0 if short else -1]["do"])

    @property
    def limits(self) -> float:
        return sum(one.limit for one in self.work)

    @property
    def until(self) -> float:
        """By when all that is planned has happened."""
        return max(event.over for event in self.events)
