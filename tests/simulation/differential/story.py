# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Both lives of a script, for whoever has to find out why they differ."""

from __future__ import annotations

from collections.abc import Iterable

from .milestones import Lived, differences
from .script import Script

TOLD = ("shown", "shown-again", "moved", "grown", "started", "left", "post", "restarted", "lost", "down", "up")


def told(script: Script, lives: tuple[Lived, Lived]) -> str:
    """What was planned, what each of the two did, and where they differ."""
    lines = [f"  {name}: {value}" for name, value in script._asdict().items()]
    for lived in lives:
        lines += [f"  -- {lived.engine}", *_happened(lived)]
        lines += [f"     {key} is {outcome}" for key, outcome in lived.outcomes.items()]
    return "\n".join([*lines, *(f"  DIFFERS {one}" for one in differences(*lives))])


def _happened(lived: Lived) -> Iterable[str]:
    found = [
        (line["at"], f"{line['what']} {line.get('event', '')} {line.get('outcome', '')}".strip())
        for line in lived.journal.of(*TOLD)
    ]
    found += [(mark.at, f"mark {mark.phase or 'gone'} {' '.join(mark.events)}".strip()) for mark in lived.marks]
    return [f"     {at:7.1f}  {words}" for at, words in sorted(found, key=lambda one: one[0])]
