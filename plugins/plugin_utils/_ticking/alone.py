# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of role drain by itself, as the actions ``decide`` and ``tick`` keep it: begun, and moved on by the answer of a tick.

Private to this collection.

Each host has its own, in its variables.
"""

from __future__ import annotations

import platform
import secrets
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from ansible.module_utils.parsing.convert_bool import boolean

from ...module_utils._clock import steady
from ...module_utils._steps.step_type import Step
from .._ansible import plain
from .._drain import alone, orders, own_tasks
from .._drain.tick_file import tick_file
from .run import checked

RECORD, PLAN = "__drain_record", "__drain_plan"
SILENT = "its task returned nothing that could be read"
_KEYS = frozenset(alone.Record.__annotations__)


def begun(task_vars: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """A record of a name of its own.

    :arg given: ``host``, ``list``, ``budgets``, ``job``, ``whose``, ``unmarked``, ``check_mode``, ``may_fail``, and as ``trouble``
        why the steps of the host's plan can't be run
    """
    trouble = str(given.get("trouble") or "")
    # Before ansible-core 2.19 a template makes strings of numbers and truth values.
    typed = {
        "host": str(given["host"]),
        "list": str(given["list"]),
        "run": f"drain-{secrets.token_hex(4)}",
        "job": str(given["job"]),
        "controller": platform.node(),
        "whose": str(given["whose"]),
        "unmarked": boolean(given["unmarked"]),
        "trouble": trouble,
        "budgets": {name: float(seconds) for name, seconds in given["budgets"].items()},
        "check_mode": boolean(given["check_mode"]),
        "may_fail": boolean(given["may_fail"]),
        "tick_file": tick_file(_steps_beside(task_vars)),
    }
    return dict(alone.begun(typed, None if trouble else plain(task_vars[PLAN]), steady()), changed=False)


def ticked(task_vars: Mapping[str, Any]) -> dict[str, Any]:
    """The record after a tick, when the next one is due."""
    record = _record(task_vars)
    return _decided(record, lambda: _answer(record, task_vars))


def decided(task_vars: Mapping[str, Any], came: Mapping[str, Any]) -> dict[str, Any]:
    """The same, of a tick in which the machine has just returned this result, and nobody else has a part."""
    record = _record(task_vars)
    return _decided(record, lambda: _checked(record, came))


def unchanged(task_vars: Mapping[str, Any]) -> dict[str, Any]:
    """The record, of a task that has nothing to do."""
    return dict(_record(task_vars), changed=False, skipped=True)


def goes_on(task_vars: Mapping[str, Any]) -> bool:
    """Whether the host is not finished."""
    return not task_vars[RECORD]["finished"]


def _steps_beside(task_vars: Mapping[str, Any]) -> Iterator[Step]:
    """The steps of all hosts of the play; one that does not take part has none, or those of an earlier run."""
    for host in task_vars["ansible_play_batch"]:
        yield from (task_vars["hostvars"].raw_get(host).get(PLAN) or {}).get("steps", ())


def _decided(record: alone.Record, bring: Callable[[], Mapping[str, Any]]) -> dict[str, Any]:
    try:
        after = alone.ticked(record, bring(), steady())
    except Exception as error:  # the record stays, and the mark says what was done
        words = f"What comes next could not be decided ({type(error).__name__}: {error})."
        return dict(record, changed=False, failed=True, msg=words, exception=traceback.format_exc())
    if not after["finished"]:
        time.sleep(after["rest"])
    return dict(after, changed=False)


def _record(task_vars: Mapping[str, Any]) -> alone.Record:
    """Without what Ansible has added to the result of the task that returned it."""
    return cast("alone.Record", {key: plain(value) for key, value in task_vars[RECORD].items() if key in _KEYS})


def _checked(record: alone.Record, answer: Mapping[str, Any]) -> dict[str, Any]:
    return checked(record["call"]["number"] if record["call"] else None, answer, SILENT)


def _answer(record: alone.Record, task_vars: Mapping[str, Any]) -> dict[str, Any]:
    answer = _checked(record, plain(task_vars.get("__drain_answer") or {}))
    if answer.get("lost"):
        return answer
    steps = (plain(task_vars.get(PLAN)) or {}).get("steps", ())
    # Nothing else of it: in that of an empty loop ansible-core 2.19 warns of a key of its own, as soon as that is read.
    rounds = plain((task_vars.get("__drain_did") or {}).get("results") or [])
    own = own_tasks.came(answer, steps, record["jobs"], True, plain(task_vars.get("__drain_failure") or {}))
    return orders.with_others(answer, steps, rounds, own, record["jobs"])
