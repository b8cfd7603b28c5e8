# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults that are planted in the deciding, one for each kind of rule: the simulation has to see every one of them."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from unittest import mock

from .collection import ROOM


class Fault(NamedTuple):
    """What is changed: file and name, and what stands there instead, given what stood there."""

    rule: str  # of the oracle, which sees it
    words: str
    changes: list[tuple[str, str, Callable[[Any], Any]]]


def _always(value: Any) -> Callable[[Any], Any]:
    return lambda _real: lambda *_args, **_kwargs: value


def _no_check_mode(real: Any) -> Any:
    return lambda hosts, options, at, wall: real(hosts, {**options, "check": False}, at, wall)


def _without_unknown(real: Any) -> Any:
    def readiness(event: Any, action: Any, standings: Any, _unknown: Any, *args: Any, **kwargs: Any) -> Any:
        return real(event, action, standings, (), *args, **kwargs)

    return readiness


def _everybodys_turn(real: Any) -> Any:
    def turns(*args: Any) -> Any:
        return {key: turn._replace(state="turn", prepare=True, approve=True) for key, turn in real(*args).items()}

    return turns


def _all_ran_before(real: Any) -> Any:
    def go(*args: Any) -> Any:
        request = real(*args)
        return {**request, "before": {key: {"ran": True} for key in request["before"]}}

    return go


def _never_recovers(real: Any) -> Any:
    def target(*args: Any) -> Any:
        found = real(*args)
        return None if found and found.to == "recovered" else found

    return target


def _cancelled(real: Any) -> Any:
    return lambda entry, at: "cancelled" if entry["started"] is None else real(entry, at)


def _sent_again(real: Any) -> Any:
    def choice_of(record: Any, key: str, entry: Any, at: float) -> Any:
        approval = {**entry["approval"], "sent": False, "tries": {**entry["approval"]["tries"], "accepted": ""}}
        return real(record, key, {**entry, "approval": approval}, at)

    return choice_of


def _missed_once(real: Any) -> Any:
    def miss(record: Any, key: str, entry: Any, look: Any, at: float) -> None:
        entry["sightings"][look.host]["absent"] = look.began - 60
        real(record, key, entry, look, at)

    return miss


def _given_up_when_lost(real: Any) -> Any:
    def count_lost(machine: Any, *args: Any) -> None:
        real(machine, *args)
        machine["again"] = 1e9

    return count_lost


FAULTS = {
    "barrier": Fault("barrier", "every machine passes for prepared", [("approving", "is_prepared", _always(True))]),
    "unknown": Fault("approval", "unknown machines don't count", [("approving", "readiness", _without_unknown)]),
    "yes": Fault("approval", "nobody has to say yes", [("approving", "said_yes", _always("somebody"))]),
    "capacity": Fault("capacity", "it is always everybody's turn", [("judging", "turns", _everybodys_turn)]),
    "hours": Fault("hours", "hours are always open", [("judging", "closed", _always(None))]),
    "kept": Fault(
        "early",
        "no event keeps a machine out of service",
        [("outages", "is_kept", _always(False)), ("outages", "_may_recover", _always(True))],
    ),
    "one-look": Fault("claim", "one look shows that an event is gone", [("life", "_miss", _missed_once)]),
    "cancelled": Fault("claim", "what was not seen to start was cancelled", [("life", "outcome", _cancelled)]),
    "check": Fault("check", "check mode is forgotten", [("record", "begun", _no_check_mode)]),
    "missed": Fault("missed", "nobody says what came over whom", [("problems", "note_reached", _always(None))]),
    "lost": Fault("forgotten", "who was lost is not called again", [("record", "count_lost", _given_up_when_lost)]),
    "before": Fault("undone", "all services are said to have run", [("calls", "_go", _all_ran_before)]),
    "idle": Fault("waits", "it waits though machines are out", [("calls", "is_under_way", _always(False))]),
    "again": Fault("repeated", "what Azure took is sent again", [("approving", "choice_of", _sent_again)]),
    "slow": Fault("prompt", "it rests between ticks", [("calls", "_rest", _always(25.0))]),
    "never-back": Fault("forgotten", "nobody is brought back", [("calls", "target", _never_recovers)]),
    "never-over": Fault("ends", "the run never thinks that it is over", [("ending", "_is_over", _always(False))]),
}


@contextlib.contextmanager
def planted(name: str) -> Iterator[None]:
    """With one of FAULTS, or with none."""
    with contextlib.ExitStack() as stack:
        for file, attribute, change in FAULTS[name].changes if name else ():
            module = importlib.import_module(f"{ROOM}.{file}")
            stack.enter_context(mock.patch.object(module, attribute, change(getattr(module, attribute))))
        yield
