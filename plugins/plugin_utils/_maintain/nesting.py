# Copyright: (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How deep the task files of a run nest. Pure.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Sequence

from .facts import Record

NESTED = 10
"""Task files of a kind that include one another. Every level makes a look dearer, and Ansible ends at about 300 of them."""


def go_on(record: Record, lookers: Sequence[str]) -> None:
    """Whether the same machines look again at once, and whether another step follows in the same round.

    Each of them is one more level of included tasks, so from time to time they end though nothing has changed.
    """
    todo = record["todo"]
    record["looks"] += 1
    nothing_new = not (todo["act"] or todo["self_watch"] or record["finished"]) and todo["look"] == lookers
    todo["look_again"] = nothing_new and record["looks"] % NESTED != 0
    if not todo["look_again"]:
        record["steps"] += 1
        todo["step_again"] = record["steps"] % NESTED != 0
