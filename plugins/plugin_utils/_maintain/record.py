# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of one run of role maintain: what was planned, prepared, approved, seen and recovered. Pure.

Private to this collection.

A playbook holds the record as a plain dictionary (schema.py). After everything that happens it hands the results to the
function of that name here, which returns a new record; its ``todo`` says who does what next. So every decision of a run
is made in Python that tests can reach, and the task files only carry it out.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from ...module_utils._events.policy import parse_policy
from .documents import advance, aged, count_failure, plan_new, stop_unwatched
from .facts import is_under_way
from .look import has_document
from .machines import Machine
from .nesting import not_nested
from .problems import (
    report_approved,
    report_failed_preparation,
    report_left_machines,
    report_recovery,
    report_unapproved,
    report_unreadable,
    report_unwatched_scopes,
)
from .schema import AFFECTED, HALF_PREPARED, IN_SERVICE, NOT_RECOVERED, PREPARED, Entry, MachineData, Options, Record
from .todo import todo_of, wait_until


def begun(
    machines: Sequence[Machine], options: Options, at: float, wall: float, disagreements: Sequence[str] = ()
) -> Record:
    """A record in which nothing has happened yet.

    :arg wall: the Unix time of this moment
    :arg disagreements: sentences about machines of one scope that were shown different events
    """
    parse_policy(options["policy"])
    record = cast(
        "Record",  # but for what _with_todo writes
        {
            "machines": [cast(MachineData, machine._asdict()) for machine in machines],
            "names": {machine.host: machine.resource_name for machine in machines},
            "options": options,
            "clock": {"mono": at, "wall": wall},
            "at": at,
            "disagreements": list(disagreements),
            "events": {},
            "hosts": {machine.host: {"state": IN_SERVICE} for machine in machines},
            "lost": [],
            "failures": {},
            "problems": {},
            "busy": False,
            "rounds_done": 0,
            "nesting": not_nested(),
        },
    )
    return _with_todo(record, at)


def looked(record: Record, looks: Mapping[str, Mapping[str, Any]], at: float) -> Record:
    """Take in what some machines were shown: new events are planned for, known ones move on, absent ones have gone.

    :arg looks: results of ``scheduled_events_info`` or ``scheduled_events_approve`` by host. A host whose task failed for
        any reason but a wait that gave up is not asked again in this run, if there is another.
    """
    record = copy.deepcopy(record)
    usable = {host: look for host, look in looks.items() if has_document(look)}
    for host, look in looks.items():
        count_failure(record, host, look)
    advance(record, looks, usable, at)
    plan_new(record, {host: aged(record, look, at) for host, look in usable.items()}, at)
    report_unreadable(record, usable)
    stop_unwatched(record)
    report_unwatched_scopes(record, looks)
    report_unapproved(record)
    return _with_todo(record, at)


def prepared(record: Record, results: Mapping[str, Mapping[str, Any]], at: float) -> Record:
    """Take in how preparation went, host by host (``ok``, ``seconds``, ``message``, ``reverted`` of role drain)."""
    record = copy.deepcopy(record)
    for host, result in results.items():
        record["hosts"][host]["state"] = _state_after_preparation(record, host, result)
        work = record["todo"]["prepare"].get(host)
        for key in _keys(work["ids"] if work else ()):
            record["events"][key]["prepared"][host] = {
                "ok": result["ok"],
                "at": at,
                "seconds": float(result["seconds"]),
                "message": result.get("message", ""),
            }
    for entry in record["events"].values():
        bad = [f"{host}: {result['message']}" for host, result in entry["prepared"].items() if not result["ok"]]
        if bad and not entry["failed"]:
            entry["failed"] = "preparation failed on " + "; ".join(bad)
            entry["closed"] = entry["undo"] = record["options"]["on_failure"] == "revert"
            report_failed_preparation(record, entry)
    report_unapproved(record)
    return _with_todo(record, at)


def _state_after_preparation(record: Record, host: str, result: Mapping[str, Any]) -> str:
    if result["ok"]:
        return PREPARED
    # Only what was undone wholly counts as being in service again.
    if not result.get("reverted") or result.get("revert_errors"):
        return HALF_PREPARED
    return AFFECTED if is_under_way(record, host) else IN_SERVICE


def approved(record: Record, results: Mapping[str, Mapping[str, Any]], at: float) -> Record:
    """Take in what the approvers' tasks returned."""
    record = copy.deepcopy(record)
    for host, result in results.items():
        work = record["todo"]["approve"].get(host)
        for key in _keys(work["ids"] if work else ()):
            _take_approval(record, key, host, result, at)
    # Who was not reached, or hung, is not asked to watch next either.
    looks = {host: result for host, result in results.items() if has_document(result) or "approved" not in result}
    return looked(record, looks, at)


def _take_approval(record: Record, key: str, host: str, result: Mapping[str, Any], at: float) -> None:
    entry = record["events"][key]
    approval = entry["approval"]
    approval["tried"].append(host)
    if key in _keys(result.get("approved")):
        confirmed = key in _keys(result.get("confirmed"))
        approval.update({"sent": True, "by": host, "at": at, "problem": "", "confirmed": confirmed})
        report_approved(record, entry)
    elif key in _keys(result.get("already")):
        approval.update({"sent": False, "problem": "", "note": "it had started already"})
    else:
        approval["problem"] = f"{host}: {_why_not_approved(key, result)}"


def _why_not_approved(key: str, result: Mapping[str, Any]) -> str:
    for refused in result.get("not_approved") or ():
        if _keys([refused["id"]]) == [key]:
            return str(refused["message"])
    if result.get("unreachable"):
        return "the connection was lost while it approved"
    return str(result.get("msg") or "it returned nothing").strip()


def recovered(record: Record, results: Mapping[str, Mapping[str, Any]], at: float) -> Record:
    """Take in how recovery, or the undoing of a preparation, went."""
    record = copy.deepcopy(record)
    for host, result in results.items():
        reverting = host in record["todo"]["revert"] and host not in record["todo"]["recover"]
        rebooted = result.get("rebooted")
        record["hosts"][host]["state"] = IN_SERVICE if result["ok"] else NOT_RECOVERED
        for entry in record["events"].values():
            if _was_out_for(entry, host) and host not in entry["recovered"]:
                entry["recovered"][host] = {
                    "ok": result["ok"],
                    "at": at,
                    "seconds": float(result["seconds"]),
                    "reverted": reverting,
                    # Before ansible-core 2.19 a template makes "" of none.
                    "rebooted": rebooted if isinstance(rebooted, bool) else None,
                    "message": result.get("message", ""),
                }
        report_recovery(record, host, result)
    return _with_todo(record, at)


def _was_out_for(entry: Entry, host: str) -> bool:
    """Whether the event, which is over or was given up, is one that the machine was taken out of service for."""
    was_out = host in entry["affected"] and (bool(entry["prepared"]) or entry["verdict"] == "watch")
    return was_out and (entry["gone"] is not None or bool(entry["failed"]))


def _keys(event_ids: Iterable[str] | None) -> list[str]:
    """Ids as events are known by: see Event.key."""
    return [event_id.upper() for event_id in event_ids or ()]


def _with_todo(record: Record, at: float) -> Record:
    """Write who does what next, and whether the run is at its end."""
    todo = todo_of(record, at)
    busy = bool(todo["outstanding"]) or todo["act"]
    if record["busy"] and not busy:
        record["rounds_done"] += 1
    record["busy"] = busy
    record["todo"], record["at"] = todo, at
    rounds = record["options"]["rounds"]
    record["finished"] = not busy and (
        at >= wait_until(record) or not todo["look"] or 0 < rounds <= record["rounds_done"]
    )
    if record["finished"]:
        report_left_machines(record)
    return record
