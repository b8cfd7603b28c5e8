# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the filter ``drain_tick`` returns, by the names of its parts. Pure.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ansible.module_utils.parsing.convert_bool import boolean

from ...module_utils._errors import ScheduledEventsError
from ...module_utils._text import did_you_mean, listed
from . import orders, own_tasks
from .alone import unfinished
from .tick_file import tick_file


def _own(answer: Mapping[str, Any], known: Mapping[str, Any]) -> list[dict[str, Any]]:
    """As the rounds of one task, which includes it: the file, and since when it is gone through."""
    found = own_tasks.file(answer, known["plan"]["steps"], known["jobs"], boolean(known["allowed"]))
    return [{"file": found, "began": max(known["ended"])}] if found else []


_PARTS: dict[str, Callable[[Any, Mapping[str, Any]], Any]] = {
    "orders": lambda answer, known: orders.orders(answer, known["plan"]["steps"], known["jobs"]),
    "own": _own,
    # A template that nobody has evaluated is taken for a yes.
    "own_failed": lambda answer, known: own_tasks.failed(
        answer, known["plan"]["steps"], known["result"], known["secret"] is not False
    ),
    "ticks": lambda steps, known: tick_file(steps),
    "unfinished": lambda name, known: unfinished(name),
}


def tick_part(value: Any, part: str, known: Mapping[str, Any]) -> Any:
    """One of them; the arguments are the filter's."""
    if part not in _PARTS:
        raise ScheduledEventsError(
            f"drain_tick has no part {part!r}{did_you_mean(part, _PARTS)}; it has {listed(_PARTS)}."
        )
    return _PARTS[part](value, known)
