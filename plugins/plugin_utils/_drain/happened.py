# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a playbook says has happened in role ``drain``, handed to the function that takes it in.

Private to this collection.
"""

from __future__ import annotations

import platform
import secrets
import time
from collections.abc import Callable, Mapping
from typing import Any

from ansible.module_utils.parsing.convert_bool import boolean

from ...module_utils._clock import steady
from ...module_utils._errors import ScheduledEventsError
from . import alone, orders, own_tasks


def _begin(options: Mapping[str, Any], known: Mapping[str, Any]) -> alone.Record:
    # Before ansible-core 2.19 a template makes strings of numbers and truth values.
    typed = {
        "host": str(options["host"]),
        "list": str(options["list"]),
        "run": f"drain-{secrets.token_hex(4)}",
        "job": str(options["job"]),
        "controller": platform.node(),
        "whose": str(options["whose"]),
        "unmarked": boolean(options["unmarked"]),
        "trouble": str(options.get("trouble") or ""),
        "budgets": {name: float(seconds) for name, seconds in options["budgets"].items()},
        "check_mode": boolean(options["check_mode"]),
        "may_fail": boolean(options["may_fail"]),
    }
    return alone.begun(typed, known["plan"], steady())


def _tick(record: alone.Record, known: Mapping[str, Any]) -> alone.Record:
    answer = known["result"]
    number = record["call"]["number"] if record["call"] else None
    if answer.get("lost") or str(answer.get("number")) != str(number):
        answer = {"lost": answer.get("lost") or answer.get("msg") or "its task returned nothing that could be read"}
    else:
        steps = (known["plan"] or {}).get("steps", ())
        own = own_tasks.came(answer, steps, record["jobs"], True, known["failure"] or {})
        answer = orders.with_others(answer, steps, known["rounds"], own, record["jobs"])
    after = alone.ticked(record, answer, steady())
    if not after["finished"]:
        time.sleep(after["rest"])
    return after


def _own(answer: Mapping[str, Any], known: Mapping[str, Any]) -> list[dict[str, Any]]:
    """As the rounds of one task, which includes it: the file, and since when it is gone through."""
    found = own_tasks.file(answer, known["plan"]["steps"], known["jobs"], boolean(known["allowed"]))
    return [{"file": found, "began": max(known["ended"])}] if found else []


_HAPPENED: dict[str, Callable[[Any, Mapping[str, Any]], Any]] = {
    "begun": _begin,
    "ticked": _tick,
    "orders": lambda answer, known: orders.orders(answer, known["plan"]["steps"], known["jobs"]),
    "own": _own,
    # A template that nobody has evaluated is taken for a yes.
    "own_failed": lambda answer, known: own_tasks.failed(
        answer, known["plan"]["steps"], known["result"], known["secret"] is not False
    ),
}


def after(value: Any, happened: str, known: Mapping[str, Any]) -> Any:
    """What is known after something has happened; see the filter ``drain_record``."""
    if happened not in _HAPPENED:
        raise ScheduledEventsError(f"drain_record knows no {happened!r}; it knows {', '.join(_HAPPENED)}.")
    return _HAPPENED[happened](value, known)
