# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A life in a few lines, for whoever has to find out what went wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .life import Life


def told(life: Life, wrong: list[str]) -> str:
    """Who there was, what happened when, and what was wrong with it."""
    lines = [f"seed {life.seed}{' mixed' if life.mixed else ''}{' (calm)' if life.calm else ''}"]
    for machine in life.machines.values():
        pieces = ", ".join(f"{piece.key} {piece.does}/{piece.undoes}" for piece in machine.program.pieces.values())
        windows = {what: [(round(a), round(b)) for a, b in spans] for what, spans in machine.windows.items() if spans}
        lines.append(
            f"  {machine.name} ({machine.system}): {machine.first_settings}, yes from {machine.yes_from:.0f}, tick {machine.every}, settles "
            f"{machine.settles:.0f}{'' if machine.dates else ', no dates'}; {pieces}; {windows}; posts {machine.post_faults}"
        )
    return "\n".join([*lines, *_happened(life), *(f"WRONG {sentence}" for sentence in wrong)])


def _happened(life: Life) -> Iterator[str]:
    before: dict[Any, Any] = {}
    for line in life.journal.lines:
        what, machine = line["what"], line.get("machine", "")
        if what in ("look", "go"):
            same = (
                str(sorted((key, entry[0], entry[2]) for key, entry in line["events"].items()))
                if what == "look"
                else (line["to"], line["still"])
            )
            if before.get((machine, what)) == same:
                continue
            before[machine, what] = same
        details = " ".join(f"{key}={value}" for key, value in line.items() if key not in ("at", "what", "machine"))
        yield f"  {line['at']:7.1f}  {machine:4} {what:8} {details}"
