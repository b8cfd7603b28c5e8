# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How deep the task files of a run nest: Ansible has no loop over several tasks, so they include one another.

Private to this collection.

Every level makes a look dearer, and Ansible ends at about 300 of them. So from time to time a level ends though nothing
has changed, and the level above goes on.
"""

from __future__ import annotations

from collections.abc import Sequence

from .schema import Nesting, Record

NESTED = 10
"""Task files of a kind that include one another."""


def not_nested() -> Nesting:
    """Before the first look."""
    return {"looks": 0, "passes": 0, "look_again": False, "pass_again": True}


def count_look(record: Record, lookers: Sequence[str]) -> Record:
    """Note whether the same machines look again at once, and whether another pass follows in the same round.

    :arg record: as it is after the look
    :arg lookers: who looked
    """
    todo, before = record["todo"], record["nesting"]
    looks, passes = before["looks"] + 1, before["passes"]
    nothing_new = not (todo["act"] or todo["self_watch"] or record["finished"]) and todo["look"] == lookers
    look_again = nothing_new and looks % NESTED != 0
    if not look_again:
        passes += 1
    pass_again = look_again or passes % NESTED != 0
    return {
        **record,
        "nesting": {"looks": looks, "passes": passes, "look_again": look_again, "pass_again": pass_again},
    }
