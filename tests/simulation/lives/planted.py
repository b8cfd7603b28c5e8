# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults that are planted in the deciding, one for each kind of rule: the simulation has to see every one of them."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from unittest import mock

from .collection import ROOM, part
from .fault import Fault, always
from .windows import planted as windows

LIVES = 500  # each fault is seen within so many


def _no_check_mode(real: Any) -> Any:
    return lambda hosts, options, at, wall: real(hosts, {**options, "check": False}, at, wall)


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
    return lambda tracked, *when: "cancelled" if tracked.started is None else real(tracked, *when)


def _sent_again(real: Any) -> Any:
    def choice_of(record: Any, entry: Any) -> Any:
        tries = entry.approval.tries._replace(accepted="")
        return real(record, replace(entry, approval=replace(entry.approval, sent=False, tries=tries)))

    return choice_of


def _missed_once(real: Any) -> Any:
    def missed(tracked: Any, poll: Any, *args: Any) -> Any:
        own = tracked.sightings[poll.observer]._replace(absent=poll.asked - 60, doubted=True)
        return real(tracked._replace(sightings={**tracked.sightings, poll.observer: own}), poll, *args)

    return missed


def _given_up_when_lost(real: Any) -> Any:
    def count_lost(machine: Any, *args: Any, **more: Any) -> None:
        real(machine, *args, **more)
        machine.again = 1e9

    return count_lost


def _of_any_start(real: Any) -> Any:
    return lambda view, key, _boot_id, *more, **options: real(view, key, view.boot_id, *more, **options)


def _of_any_age(real: Any) -> Any:
    return lambda view, key, boot_id, _age, *more, **options: real(view, key, boot_id, 0.0, *more, **options)


def _sent_late(_real: Any) -> Any:
    return lambda requests, _now: list(requests)


def _nothing_in_background(real: Any) -> Any:
    return lambda name: real(name)._replace(in_background=False)


def _only_who_answers(real: Any) -> Any:
    return lambda record: {host: why for host, why in real(record).items() if why != "can't be reached"}


def _not_by_watchers(real: Any) -> Any:
    def why_not_able(record: Any, key: str, machine: Any) -> str:
        mark = machine.mark or {}
        return "is marked" if mark.get("holder", {}).get("kind") == "watcher" else real(record, key, machine)

    return why_not_able


def _undone_unseen(real: Any) -> Any:
    def against_recovery(record: Any, machine: Any, owner: str) -> str:
        failed = any(entry.failed and entry.started is None for entry in record.events.values())
        return "" if failed and owner == "ours" and not machine.lost else real(record, machine, owner)

    return against_recovery


def _not_in_lock(real: Any) -> Any:
    def look(fence: Any) -> None:
        if not getattr(fence._store, "is_alone", False):
            real(fence)

    return look


def _kept_nothing(_real: Any) -> Any:
    return lambda _record, _machine, answer: answer


def _waits_for_who_left(real: Any) -> Any:
    def is_awaited(record: Any, machine: Any) -> Any:
        return real(record, replace(machine, left=False))

    return is_awaited


def _started_for_ever(real: Any) -> Any:
    return lambda tracked, has_started: real(tracked, has_started)._replace(started=tracked.started)


def _by_first_notice(real: Any) -> Any:
    def preparation_end(entry: Any, machine: Any) -> Any:
        tracked = entry.tracked._replace(deadline_notice=entry.tracked.notice)
        return real(replace(entry, tracked=tracked), machine)

    return preparation_end


def _just_now(_real: Any) -> Any:
    return lambda _call, _answer, at: at


def _by_all(_real: Any) -> Any:
    return lambda hosts, _joined: len(hosts)


FAULTS = {
    "restart": Fault(
        "barrier",
        "a machine that was rebooted passes for prepared",
        [("module_utils._core.mark_view", "why_not_prepared_for", _of_any_start)],
        seed=4,
        scenario="restarted",
    ),
    "stopped": Fault(
        "barrier",
        "a run that was stopped sends what it had decided before",
        [("plugin_utils._machine.call", "timely", _sent_late)],
        scenario="stopped",
    ),
    "old": Fault(
        "barrier",
        "what a mark said once counts for ever",
        [("module_utils._core.mark_view", "why_not_prepared_for", _of_any_age)],
        seed=318,
        scenario="stopped",
    ),
    "barrier": Fault(
        "barrier",
        "every machine passes for prepared",
        [(file, "is_prepared", always(True)) for file in ("approval_reasons", "approving")],
        seed=5,
    ),
    "unknown": Fault(
        "approval", "unknown machines don't count", [("approval_reasons", "unknown_machines", always([]))], seed=1
    ),
    "yes": Fault("approval", "nobody has to say yes", [("approval_reasons", "is_agreed", always(True))], seed=18),
    "capacity": Fault(
        "capacity", "it is always everybody's turn", [("evaluation", "turns", _everybodys_turn)], seed=29
    ),
    "hours": Fault(
        "hours",
        "hours are always open",
        [(file, "closed", always(None)) for file in ("evaluation", "approval_reasons")],
        seed=30,
    ),
    "kept": Fault(
        "early",
        "no event keeps a machine out of service",
        [("module_utils._core.transitions", "is_held", always(False)), ("targets", "against_recovery", always(""))],
        seed=13,
    ),
    "one-look": Fault(
        "early",
        "one look shows that an event is gone",
        [("module_utils._core.tracked_event", "_missed", _missed_once)],
        scenario="blinked",
    ),
    "cancelled": Fault(
        "claim",
        "what was not seen to start was cancelled",
        [("module_utils._core.tracked_event", "_outcome", _cancelled)],
        seed=10,
    ),
    "check": Fault("check", "check mode is forgotten", [("record", "begun", _no_check_mode)]),
    "missed": Fault("missed", "nobody says what came over whom", [("record", "note_reached", always(None))], seed=28),
    "lost": Fault(
        "forgotten", "who was lost is not called again", [("answers", "count_lost", _given_up_when_lost)], seed=1
    ),
    "before": Fault("undone", "all services are said to have run", [("tick_planner", "_go", _all_ran_before)], seed=7),
    "idle": Fault(
        "waits", "it waits though machines are out", [("tick_planner", "is_under_way", always(False))], seed=1
    ),
    "again": Fault("repeated", "what Azure took is sent again", [("approving", "choice_of", _sent_again)], seed=73),
    "slow": Fault("prompt", "it rests between ticks", [("tick_planner", "_rest", always(25.0))], seed=43),
    "never-back": Fault("forgotten", "nobody is recovered", [("tick_planner", "target", _never_recovers)], seed=1),
    "undone-early": Fault(
        "left-out",
        "what others still do is undone at once",
        [("module_utils._steps.sequence", "type_of", _nothing_in_background)],
        seed=116,
    ),
    "unreachable": Fault(
        "capacity",
        "an unreachable machine counts as in service",
        [("evaluation", "who_is_out", _only_who_answers)],
        seed=5,
        scenario="unreachable",
    ),
    "by-watcher": Fault(
        "prompt",
        "no machine that its watcher has prepared approves",
        [("approving", "_why_not_able", _not_by_watchers)],
        seed=405,
    ),
    "watched": Fault("kept-off", "it does a watcher's work", [("targets", "is_its_watchers", always(False))], seed=33),
    "unseen": Fault(
        "early",
        "a failed preparation is undone without a look",
        [("targets", "against_recovery", _undone_unseen)],
        seed=285,
    ),
    "no-limit": Fault(
        "late",
        "a call may begin anything whenever it arrives",
        [("plugin_utils._machine.call", "within", always(None))],
        seed=20,
    ),
    "lock": Fault(
        "overwritten",
        "a call goes by the mark, and by the time, as they were before the lock was waited for",
        [("module_utils._machine.fence", f"Fence.{name}", _not_in_lock) for name in ("refresh", "check_time")],
        seed=10,
    ),
    "disk": Fault(
        "restored",
        "a mark goes with the disk",
        [("answers", "with_lost_mark", _kept_nothing)],
        seed=1,
        scenario="lost-disk",
    ),
    "put-back": Fault(
        "put-back",
        "nobody hears of recoveries by force, nor does the machine know",
        [("record", "keep_off", always(None)), ("module_utils._machine.fence", "Fence.suppressed", always([]))],
        seed=65,
    ),
    "returned": Fault(
        "returned",
        "what has started once has started for ever",
        [("module_utils._core.tracked_event", "_back", _started_for_ever)],
        scenario="returned",
    ),
    "margin": Fault(
        "moved",
        "the margin is that of the first notice",
        [(file, "preparation_end", _by_first_notice) for file in ("evaluation", "targets")],
        scenario="moved",
    ),
    "overdue": Fault(
        "late",
        "nothing is prepared once its time has come",
        [("targets", "may_come_now", always(False))],
        scenario="overdue",
    ),
    "clock": Fault(
        "hours", "the time is read once, when the run begins", [("record", "note_clock", always(None))], seed=163
    ),
    "second-look": Fault(
        "barrier",
        "what was done once stands for good",
        [("approving", "stands", always(True))],
        scenario="put-back",
    ),
    "left-play": Fault(
        "waited",
        "who has left the play may come back",
        [("termination", "is_awaited", _waits_for_who_left)],
        scenario="left-play",
    ),
    "taken-late": Fault(
        "barrier",
        "an answer is as old as if it had come when it is taken in",
        [("answers", "_ended", _just_now)],
        seed=35,
        scenario="stopped",
    ),
    "unproven": Fault(
        "missed",
        "a declared scope is believed",
        [("call_schedule", "_unproven", always([]))],
        seed=4,
        scenario="misdeclared",
    ),
    "joined": Fault(
        "capacity",
        "a machine that an event was shown to as well enlarges a group",
        [("capacity", "_size", _by_all)],
        scenario="joined",
    ),
    "never-over": Fault(
        "ends", "the run never thinks that it is over", [("termination", "_is_over", always(False))], seed=1
    ),
    "stolen": Fault(
        "stolen",
        "a machine gives its mark to whoever asks",
        [("module_utils._machine.fence", "objection", always(""))],
        seed=70,
    ),
    "not-kept": Fault(
        "overwritten",
        "a machine does steps, and its mark does not say so",
        [("module_utils._machine.local_runner", "MarkEditor.keep", always(None))],
        seed=1,
    ),
    "requests": Fault(
        "requests",
        "no call knows what those before it have just asked",
        [("module_utils._machine.machine_rate", "recent", always([]))],
        seed=5,
    ),
    **windows.FAULTS,
}


def _module(file: str) -> Any:
    if file.startswith("lives."):
        return importlib.import_module(file)
    return part(file if "." in file else f"{ROOM}.{file}")


@contextlib.contextmanager
def planted(name: str) -> Iterator[None]:
    """With one of FAULTS, or with none."""
    with contextlib.ExitStack() as stack:
        for file, attribute, change in FAULTS[name].changes if name else ():
            of, _dot, name = attribute.rpartition(".")
            owner = getattr(_module(file), of) if of else _module(file)
            stack.enter_context(mock.patch.object(owner, name, change(getattr(owner, name))))
        yield
