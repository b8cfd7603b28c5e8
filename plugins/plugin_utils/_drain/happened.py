# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a playbook says has happened in a run of role ``drain``, handed to the function of the record that takes it in.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ansible.module_utils.parsing.convert_bool import boolean

from ...module_utils._errors import ScheduledEventsError
from . import record as run_record


def _begin(options: Mapping[str, Any], at: float) -> run_record.Record:
    # Before ansible-core 2.19 a template makes strings of numbers and truth values.
    typed = {
        "host": str(options["host"]),
        "list": str(options["list"]),
        "budgets": {name: float(seconds) for name, seconds in options["budgets"].items()},
        "check_mode": boolean(options["check_mode"]),
        "may_fail": boolean(options["may_fail"]),
    }
    return run_record.begin(typed, at)


_Move = tuple[Callable[..., run_record.Record], tuple[str, ...]]  # the function, and what it needs to know
_HAPPENED: dict[str, _Move] = {
    "begun": (_begin, ()),
    "planned": (run_record.planned, ("plan",)),
    "stopped": (run_record.stopped, ("result",)),
    "started": (run_record.started, ()),
    "saw": (run_record.saw, ("step", "result", "about")),
    "did": (run_record.did, ("step", "result")),
    "failed": (run_record.failed, ("step", "result")),
    "reverting": (run_record.reverting, ()),
    "waited": (run_record.waited, ()),
    "ended": (run_record.ended, ()),
}


def after(value: Any, happened: str, at: float, known: Mapping[str, Any]) -> run_record.Record:
    """The record after something has happened, with what is known of that; see the filter ``drain_record``."""
    if happened not in _HAPPENED:
        raise ScheduledEventsError(f"drain_record knows no {happened!r}; it knows {', '.join(_HAPPENED)}.")
    function, needs = _HAPPENED[happened]
    return function(value, *(known[name] for name in needs), at=float(at))
