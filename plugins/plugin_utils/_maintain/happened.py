# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a playbook says has happened in a run, handed to the function of the record that takes it in.

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
from .machines import disagreements, identify
from .nesting import count_look
from .schema import Record

# Before ansible-core 2.19 a template makes strings of numbers and truth values.
_OPTION_TYPES: dict[str, Callable[[Any], Any]] = {
    "policy": list,
    "margin": float,
    "allow_unknown": boolean,
    "prepare_within": float,
    "event_timeout": float,
    "on_failure": str,
    "rounds": int,
    "wait_timeout": float,
    "slice": float,
}

_HAPPENED: dict[str, Callable[..., Record]] = {
    "looked": run_record.looked,
    "prepared": run_record.prepared,
    "approved": run_record.approved,
    "recovered": run_record.recovered,
}


def _begun(found: Sequence[Mapping[str, Any]], options: Mapping[str, Any], at: float) -> Record:
    machines = identify(found)
    typed: Any = {name: convert(options[name]) for name, convert in _OPTION_TYPES.items()}
    looks = {item["host"]: item["look"] for item in found if item.get("look")}
    return run_record.begun(machines, typed, at, wall=time.time(), disagreements=disagreements(machines, looks))


def after(
    value: Any,
    happened: str,
    results: Mapping[str, Mapping[str, Any]] | None = None,
    at: float = 0.0,
    options: Mapping[str, Any] | None = None,
) -> Record:
    """The record after something has happened; the arguments are those of the filter ``maintenance_record``."""
    if happened == "begun":
        return _begun(value, options or {}, float(at))
    if happened not in _HAPPENED:
        known = ["begun", *_HAPPENED]
        raise ScheduledEventsError(
            f"maintenance_record knows nothing that is called {happened!r}{did_you_mean(happened, known)}; it knows "
            f"{listed(known)}."
        )
    record = _HAPPENED[happened](value, results or {}, float(at))
    return count_look(record, value["todo"]["look"]) if happened == "looked" else record
