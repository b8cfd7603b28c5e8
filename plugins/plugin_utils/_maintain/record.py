# Copyright: (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of one run of role maintain: what was planned, prepared, approved, seen and recovered. Pure.

Private to this collection.

A playbook holds the record as a plain dictionary. After every step it hands the step's results to the function of the
same name here, which returns a new record; its ``todo`` says who does what next. So every decision of a run is made in
Python that tests can reach, and the task files only carry it out.

Times (``at``) are the controller's monotonic seconds; ``clock`` ties them to the time of day for the reader.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...module_utils._events.policy import parse_policy
from .documents import advance, aged, count_failure, end_blind_watches, plan_new
from .entry import title
from .facts import Record, is_under_way
from .look import is_document
from .machines import Machine
from .nesting import go_on
from .problems import report_blind_scopes, report_left, report_unapproved, report_unreadable
from .todo import todo_of, wait_until


def begin(machines: Sequence[Machine], options: Mapping[str, Any], at: float, wall: float) -> Record:
    """A record in which nothing has happened yet.

    :arg options: policy (list of rules); margin, prepare_within, event_timeout (seconds); allow_unknown (bool); slice (seconds of
        a look when there are several);
        on_failure (``revert`` or ``hold``); rounds (0: as many as come); wait_timeout (seconds for which new events are awaited)
    """
    parse_policy(options["policy"])
    record: Record = {
        "machines": [machine._asdict() for machine in machines],
        "names": {machine.host: machine.resource_name for machine in machines},
        "options": dict(options),
        "clock": {"mono": at, "wall": wall},
        "at": at,
        "lost": [],
        "blind": [],
        "unreadable": [],
        "told": [],
        "failures": {},
        "events": {},
        "hosts": {machine.host: {"state": "in_service"} for machine in machines},
        "problems": [],
        "busy": False,
        "rounds_done": 0,
        "looks": 0,
        "steps": 0,
    }
    return _with_todo(record, at)


def looked(record: Record, looks: Mapping[str, Mapping[str, Any]], at: float) -> Record:
    """Take in what some machines were shown: new events are planned for, known ones move on, absent ones have gone.

    :arg looks: results of ``scheduled_events_info`` or ``scheduled_events_approve`` by host. A host whose task failed for
        any reason but a wait that gave up is not asked again in this run, if there is another.
    """
    record = copy.deepcopy(record)
    usable = {host: look for host, look in looks.items() if is_document(look)}
    for host, look in looks.items():
        count_failure(record, host, look)
    advance(record, looks, usable, at)
    plan_new(record, {host: aged(record, look, at) for host, look in usable.items()}, at)
    report_unreadable(record, usable)
    end_blind_watches(record)
    report_blind_scopes(record, looks)
    report_unapproved(record)
    lookers = record["todo"]["look"]
    record = _with_todo(record, at)
    go_on(record, lookers)
    return record


def prepared(record: Record, results: Mapping[str, Mapping[str, Any]], at: float) -> Record:
    """Take in how preparation went, host by host (``ok``, ``seconds``, ``message``, ``reverted`` of role drain)."""
    record = copy.deepcopy(record)
    for host, result in results.items():
        state = record["hosts"][host]
        # Only what was undone wholly counts as being in service again.
        undone = result.get("reverted") and not result.get("revert_errors")
        in_service = "hit" if is_under_way(record, host) else "in_service"
        state["state"] = "prepared" if result["ok"] else in_service if undone else "half_prepared"
        asked_for = _upper(record["todo"]["prepare"].get(host, {}).get("ids"))
        for key, entry in record["events"].items():
            if key in asked_for:
                entry["prepared"][host] = {
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
            record["problems"].append(f"{title(entry)} was not approved: {entry['failed']}")
    report_unapproved(record)
    return _with_todo(record, at)


def approved(record: Record, results: Mapping[str, Mapping[str, Any]], at: float) -> Record:
    """Take in what the approvers' tasks returned."""
    record = copy.deepcopy(record)
    for host, result in results.items():
        for key in [event_id.upper() for event_id in record["todo"]["approve"].get(host, {}).get("ids", ())]:
            entry = record["events"][key]
            approval = entry["approval"]
            approval["tried"].append(host)
            if key in _upper(result.get("approved")):
                approval.update(sent=True, by=host, at=at, problem="", confirmed=key in _upper(result.get("confirmed")))
            elif key in _upper(result.get("already")):
                approval.update(sent=False, problem="", note="it had started already")
            else:
                approval["problem"] = f"{host}: {_why_not_approved(key, result)}"
    # Who was not reached, or hung, is not asked to watch next either.
    return looked(
        record,
        {host: result for host, result in results.items() if is_document(result) or "approved" not in result},
        at,
    )


def _upper(ids: Iterable[str] | None) -> list[str]:
    return [event_id.upper() for event_id in ids or ()]


def _why_not_approved(key: str, result: Mapping[str, Any]) -> str:
    for entry in result.get("not_approved") or ():
        if entry["id"].upper() == key:
            return entry["message"]
    if result.get("unreachable"):
        return "the connection was lost while it approved"
    return str(result.get("msg") or "it returned nothing").strip()


def recovered(record: Record, results: Mapping[str, Mapping[str, Any]], at: float) -> Record:
    """Take in how recovery, or the undoing of a preparation, went."""
    record = copy.deepcopy(record)
    for host, result in results.items():
        reverting = host in record["todo"]["revert"] and host not in record["todo"]["recover"]
        record["hosts"][host]["state"] = "in_service" if result["ok"] else "not_recovered"
        for entry in record["events"].values():
            touched = host in entry["affected"] and (entry["prepared"] or entry["verdict"] == "watch")
            if touched and host not in entry["recovered"] and (entry["gone"] is not None or entry["failed"]):
                entry["recovered"][host] = {
                    "ok": result["ok"],
                    "at": at,
                    "seconds": float(result["seconds"]),
                    "reverted": reverting,
                    "rebooted": result.get("rebooted"),
                    "message": result.get("message", ""),
                }
        if not result["ok"]:
            record["problems"].append(
                f"{host} is not back in service: {result.get('message') or 'no reason was given'}"
            )
    return _with_todo(record, at)


def _with_todo(record: Record, at: float) -> Record:
    """Write who does what next, and whether the run is at its end."""
    todo = dict(todo_of(record, at), look_again=False, step_again=True)
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
        report_left(record)
    return record
