# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What filters call: the record begun and moved on, and what people see of it.

Private to this collection.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ansible.module_utils.parsing.convert_bool import boolean

from ...module_utils._errors import ScheduledEventsError
from ...module_utils._text import did_you_mean, listed
from . import record as run_record
from .result import end_lines, lines, notes_of, plan_lines, problems_of, result
from .schema import Record

# Before ansible-core 2.19 a template makes strings of numbers and truth values.
_FACTS: dict[str, Callable[[Any], Any]] = {
    "host": str,
    "is_linux": boolean,
    "scope": str,
    "resource_name": str,
    "group": str,
    "steps": int,
    "needs": float,
    "undo_needs": float,
    "task_seconds": float,
    "call_timeout": float,
}
_RUN: dict[str, Callable[[Any], Any]] = {"run": str, "job": str, "controller": str, "check": boolean}
_SHOWN: dict[str, Callable[[Record], Any]] = {
    "result": result,
    "timeline": lines,
    "plan": plan_lines,
    "end": lambda record: end_lines(record, notes_of(record), problems_of(record)),
}


def begun(hosts: Sequence[Mapping[str, Any]], options: Mapping[str, Any], at: float) -> Record:
    """The record of a run that begins.

    :arg hosts: of each machine what :class:`.schema.HostFacts` has
    :arg options: what :class:`.schema.RunOptions` has
    :raises PlanError: options contradict each other, or two hosts are one machine
    """
    typed: Any = [{**facts, **_converted(facts, _FACTS)} for facts in hosts]
    run: Any = _converted(options, _RUN)
    return run_record.begun(typed, run, float(at), wall=time.time())


def after(record: Any, answers: Mapping[str, Mapping[str, Any]], at: float) -> Record:
    """The record after a tick."""
    return run_record.ticked(record, answers, float(at), wall=time.time())


def shown(record: Any, part: str = "result") -> Any:
    """What people see of a record: its ``result``, ``timeline`` or ``plan``, or what is said at its ``end``."""
    if part not in _SHOWN:
        raise ScheduledEventsError(
            f"A record has no part {part!r}{did_you_mean(part, _SHOWN)}; it has {listed(_SHOWN)}."
        )
    return _SHOWN[part](record)


def _converted(values: Mapping[str, Any], types: Mapping[str, Callable[[Any], Any]]) -> dict[str, Any]:
    return {name: convert(values[name]) for name, convert in types.items() if name in values}
