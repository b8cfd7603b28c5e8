# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Outages: what came of what each machine was asked to become. It changes the record, and nothing else.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...module_utils._core.mark_view import COPIED, EXPIRED, NOBODY, OURS, WATCHER
from ...module_utils._core.second_look import SecondLook, second_look
from ...module_utils._steps.sequence import BEGUN, DONE, FAILED, NOT_TAKEN_BACK, TAKEN_BACK, TAKING_BACK
from ...module_utils._text import clause, first_line
from .evaluation import is_given_up, needs_preparation, title
from .event_state import EventState, HostResult
from .lost_marks import undo_words, undone_words
from .machine_state import MachineState, RecoveryTries, StepResult
from .marks import has_restarted, holder_words, mark_keys, phase, whose
from .reports import happened, has_happened, note, report, time_of_day
from .run_events import is_open
from .said_there import note_recovered_by_force
from .state import Record
from .targets import is_due_back, is_undone, lacks_time_to_undo, of_machine, seconds_until_next

NOT_BEGUN = "NOT STARTED"
IN_SERVICE = "IN SERVICE"


def follow(record: Record) -> None:
    """Note since when each machine could be recovered, by what is known of it and its events."""
    for machine in record.hosts.values():
        owner = whose(record, machine)
        if not of_machine(record, machine):
            machine.unbegun = None
        if owner in (OURS, EXPIRED):
            _note_staying_out(record, machine)
        if owner not in (OURS, EXPIRED, WATCHER) or not is_due_back(record, machine):
            machine.recovering = None
        elif machine.recovering is None:
            machine.recovering, machine.tries = record.at, RecoveryTries()


def _note_staying_out(record: Record, machine: MachineState) -> None:
    """Say once that a preparation which failed is not undone before its event, for want of time."""
    host = machine.host
    for key, entry in of_machine(record, machine).items():
        given_up = key in mark_keys(machine) and is_given_up(entry) and entry.started is None
        if not given_up or machine.options.on_failure != "revert" or not lacks_time_to_undo(record, machine):
            continue
        if has_happened(record, "stays", key, host):
            continue
        left = max(seconds_until_next(record, machine), 0.0)
        words = (
            f"{host} out of service until the event is over: no time to undo its preparation (needs {machine.given.undo_needs:.0f} s, "
            f"{left:.0f} s left)"
        )
        happened(record, "stays", words, key, host)


def note_restarts(record: Record) -> None:
    """Whatever was done for an event that is still to come counts no more on a machine that was rebooted since."""
    for host, machine in record.hosts.items():
        for key, entry in record.events.items():
            affected = host in entry.affected or key in mark_keys(machine)
            if host in entry.restarted or not affected or not is_open(entry) or entry.started is not None:
                continue
            if whose(record, machine) in (OURS, EXPIRED, WATCHER) and is_undone(machine, key, record.at):
                entry.restarted[host] = machine.restarted = machine.begun = record.at
                if entry.prepared.pop(host, None):
                    words = f"{host} was rebooted after it was prepared, and counts as in service until its steps are done again"
                    happened(record, "restarted", words, key, host)
                    note(
                        record,
                        f"event {key}: {host} restarted",
                        f"{title(entry)}: at {time_of_day(record, record.at)} {words}.",
                    )


# ---- what came of it ----


_DO, _UNDO = "do", "undo"
_DIRECTION = {BEGUN: _DO, DONE: _DO, FAILED: _DO, TAKING_BACK: _UNDO, TAKEN_BACK: _UNDO, NOT_TAKEN_BACK: _UNDO}


def take_steps(machine: MachineState, answer: Mapping[str, Any]) -> None:
    """How far each step has come, by the machine's mark, or where it has just removed that, by what it says it did."""
    went = [one["steps"] for one in answer.get("answers") or () if one.get("steps")]
    mark = machine.mark or {}
    for entry in went[-1] if went else mark.get("steps") or ():
        direction = _DIRECTION.get(entry["state"])
        if direction:
            done = StepResult(entry["state"], round(entry["seconds"], 1), entry["note"])
            machine.steps_done.setdefault(direction, {})[entry["key"]] = done
    if machine.mark is None and not went:
        machine.steps_done = {}


def take_mark(record: Record, machine: MachineState, before: MachineState, asked: bool) -> None:
    """What has become of the machine's mark since it was last seen.

    :arg before: the machine as it was before its answer
    :arg asked: whether it was asked to recover
    """
    owner, host = whose(record, machine), machine.host
    had, keys = whose(record, before), mark_keys(before)
    if had == NOBODY and owner == EXPIRED:
        happened(
            record,
            "found",
            f"{host} is marked by {holder_words(machine)}, whose lease has expired",
            host=host,
        )
    if had == EXPIRED and owner == OURS:
        happened(record, "taken over", f"{host}, from {holder_words(before)}", host=host)
    if had == COPIED and owner == NOBODY:
        words = (
            f"{host}: the mark of {holder_words(before)}, the VM that it was copied from; nothing of it was done here"
        )
        happened(record, "moved aside", words, host=host)
    note_recovered_by_force(record, machine, keys, before.answered)
    if phase(machine) == "recovering" or (had != NOBODY and owner == NOBODY):
        machine.undone = record.at
    if owner in (OURS, WATCHER) and machine.begun is None:
        machine.begun = record.at
    if owner in (OURS, WATCHER) and phase(machine) == "prepared":
        _note_prepared(record, machine)
    if had in (OURS, EXPIRED, WATCHER) and owner == NOBODY:
        if before.recovering is not None or asked or had in (EXPIRED, WATCHER):
            _note_recovered(record, machine, before, True, "", by_watcher=had == WATCHER)
        else:
            _note_removed(record, machine, before)
        machine.recovering, machine.tries, machine.why = None, RecoveryTries(), ""


def _note_prepared(record: Record, machine: MachineState) -> None:
    host = machine.host
    for key in mark_keys(machine):
        entry = record.events.get(key)
        if entry and host in entry.restarted and has_restarted(machine):
            continue
        if entry and entry.gone is None and not _counts(entry, machine):
            entry.prepared[host] = _result(machine, _DO, True, "", machine.begun, record.at)
            entry.restarted.pop(host, None)
            words = _in_seconds(host, entry.prepared[host])
            if host in entry.unprepared:  # what was begun goes on to its limits, but the event has met it in service
                happened(record, "too late", f"{words}, after the event had reached it", key, host)
            else:
                happened(record, "prepared", words, key, host)


def _counts(entry: EventState, machine: MachineState) -> bool:
    """Whether it is noted that the machine was prepared for the event, and that was not undone since."""
    result = entry.prepared.get(machine.host)
    return bool(result and result.ok and (machine.undone is None or machine.undone < result.at))


def _note_recovered(
    record: Record,
    machine: MachineState,
    marked: MachineState,
    ok: bool,
    why: str,
    by_watcher: bool = False,
) -> None:
    """
    :arg marked: the machine as it was with its mark
    """
    host = machine.host
    known = [key for key in mark_keys(marked) if key in record.events]
    for key in known:
        entry = record.events[key]
        # A watcher may have seen that its event is gone before this run.
        reverted = entry.gone is None and not (by_watcher and entry.started is not None)
        result = _result(machine, _UNDO, ok, why, machine.recovering, record.at)
        result = result._replace(reverted=reverted, rebooted=_rebooted(machine, marked.mark))
        entry.prepared.pop(host, None) if reverted and ok and not entry.failed else None
        entry.recovered[host] = result
        words = "NOT BACK" if not ok else "reverted" if reverted else "recovered"
        happened(record, words, _in_seconds(host, result), key, host)
    if not known:
        happened(record, "recovered" if ok else "NOT BACK", f"{host}{f': {why}' if why else ''}", host=host)


def _note_removed(record: Record, machine: MachineState, before: MachineState) -> None:
    host, keys = machine.host, mark_keys(before)
    if all(key in machine.said.recovered_by_force for key in keys):
        return  # by a person, despite its events: that is said of each of them
    if undone := undone_words(before):
        words = (
            f"Somebody else removed the mark of {host}, so this run undoes nothing there. {undo_words(host, undone)}"
        )
        report(record, f"machine {host}: removed", words)
    for key in keys:
        entry = record.events.get(key)
        if entry and entry.gone is None:
            entry.prepared.pop(host, None)
            entry.failed.setdefault(host, "somebody else removed its mark, so this run leaves it alone")
            happened(record, "removed", f"{host}: somebody else removed its mark", key, host)


def take_go(
    record: Record, machine: MachineState, request: Mapping[str, Any], answer: Mapping[str, Any], seen: float
) -> None:
    """What the machine answered to what it was asked to become.

    :arg seen: when it, or whoever was asked elsewhere, has looked at its steps
    """
    state = answer.get("state")
    if request["to"] == "prepared":
        _take_second_look(record, machine, answer, seen)
    if state in ("failed", "half", "refused", "skipped") or answer.get("problem"):
        machine.why = first_line(answer.get("why") or answer.get("problem"), 1000)
    if not answer.get("ask") and not answer.get("problem") and state != "skipped":
        machine.elsewhere = machine.elsewhere._replace(before={}, outcomes={})
    if request["to"] == "prepared" and state == "failed":
        ids = [str(event_id).upper() for event_id in request["events"]]
        # Before its mark says that, nothing was done that could have failed: it may come about the next time.
        has_failed = phase(machine) == "half"
        (_note_failure if has_failed else _note_not_begun)(record, machine, ids)
    elif request["to"] == "prepared" and state in ("preparing", "prepared") and not answer.get("ask"):
        machine.unbegun = None
    elif request["to"] == "recovered" and state in ("failed", "half"):
        if machine.tries.at is None:
            _note_recovered(record, machine, machine, False, machine.why or "no reason was given")
        machine.tries = RecoveryTries(record.at, machine.tries.times + 1)


def _take_second_look(record: Record, machine: MachineState, answer: Mapping[str, Any], seen: float) -> None:
    for words in answer.get("back") or ():
        for key in mark_keys(machine):
            happened(record, IN_SERVICE, f"{machine.host}, {words}. It is done again", key, machine.host)
    if answer.get("state") != "prepared":
        machine.second_look = SecondLook()
    elif not answer.get("ask"):  # else it is not over
        machine.second_look = second_look(answer, seen)


def _note_failure(record: Record, machine: MachineState, asked: list[str]) -> None:
    host, why = machine.host, machine.why or "no reason was given"
    for key in dict.fromkeys([*asked, *mark_keys(machine)]):
        entry = record.events.get(key)
        if entry and entry.gone is None and host not in entry.failed and needs_preparation(entry, host):
            entry.failed[host] = why
            entry.prepared[host] = _result(machine, _DO, False, why, machine.begun, record.at)
            happened(record, "FAILED", _in_seconds(host, entry.prepared[host]), key, host)


def _note_not_begun(record: Record, machine: MachineState, asked: list[str]) -> None:
    host, machine.unbegun = machine.host, record.at
    for key in asked:
        if key in record.events and not has_happened(record, NOT_BEGUN, key, host):
            why = clause(machine.why or "no reason was given", 1000)
            happened(record, NOT_BEGUN, f"{host}: {why}. It is retried", key, host)


def _result(machine: MachineState, direction: str, ok: bool, why: str, since: float | None, at: float) -> HostResult:
    seconds = round(at - since, 1) if since is not None else 0.0
    return HostResult(ok, at, seconds, why, dict(machine.steps_done.get(direction, {})))


def _rebooted(machine: MachineState, mark: Mapping[str, Any] | None) -> bool | None:
    """Whether it was rebooted since it got this mark; None where nobody knows."""
    before = (mark or {}).get("boot_id")
    return machine.said.boot_id != before if machine.said.boot_id and before else None


def _in_seconds(host: str, result: HostResult) -> str:
    said = f": {clause(result.message, 1000)}" if result.message and not result.ok else ""
    rebooted = {True: ", it had rebooted", False: ", without a reboot", None: ""}[result.rebooted]
    return f"{host} in {result.seconds:.1f} s{said}{rebooted}"
