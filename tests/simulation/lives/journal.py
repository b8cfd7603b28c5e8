# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What really happened, in order: the only thing that the oracle believes."""

from __future__ import annotations

from typing import Any

from .clock import Clock


class Journal:
    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.lines: list[dict[str, Any]] = []

    def add(self, what: str, **details: Any) -> dict[str, Any]:
        self.lines.append({"at": self.clock.now, "what": what, **details})
        return self.lines[-1]

    def of(self, *kinds: str) -> list[dict[str, Any]]:
        return [line for line in self.lines if line["what"] in kinds]


def copied(data: Any) -> Any:
    """A copy of plain data, in a fraction of what copy.deepcopy takes."""
    if isinstance(data, dict):
        return {key: value if value.__class__ in PLAIN else copied(value) for key, value in data.items()}
    if isinstance(data, list):
        return [value if value.__class__ in PLAIN else copied(value) for value in data]
    return data


PLAIN = frozenset([str, int, float, bool, type(None)])
