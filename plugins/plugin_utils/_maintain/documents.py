# Copyright: (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What new documents change in the record of a run: known events move on or have gone, new ones are planned for. Pure.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime, timezone
from typing import Any

from ...module_utils._events.event import event_from_dict
from ...module_utils._events.lifecycle import outcome
from ...module_utils._events.policy import parse_policy
from .entry import PREPARING, is_open, is_unwatchable, latest_end, title
from .facts import Record, is_under_way, machines_of, scope_by_host, wall_time
from .look import has_failed, is_document, may_hold
from .plan import ACTIONABLE, plan_events, plan_to_dict
from .problems import hold_problem, left_prepared, report_hold, report_nameless
from .todo import watchers_of

FAILURES_IN_A_ROW = 10
"""Looks in a row that may fail on a machine that watches its own event, or be answered with nothing."""


def count_failure(record: Record, host: str, look: Mapping[str, Any]) -> None:
    """A machine that fails as a watcher is not asked again, but one that watches its own event may be away for a while.

    So may one whose service answers with nothing at all: only when that goes on it is no use.
    """
    if is_document(look):
        record["failures"].pop(host, None)
    elif not (look.get("unreachable") and host in record["todo"]["self_watch"]):
        record["failures"][host] = record["failures"].get(host, 0) + 1
        patient = host in record["todo"]["self_watch"] or not has_failed(look)
        limit = FAILURES_IN_A_ROW if patient else 1
        if record["failures"][host] >= limit and host not in record["lost"]:
            record["lost"].append(host)


def aged(record: Record, look: Mapping[str, Any], at: float) -> Mapping[str, Any]:
    """The look with the notice that is left now: a look of several scopes is taken in when the slowest has ended.

    The machine's clock says when it looked. It may be wrong, but no look began before the record was last moved on.
    """
    looked_at = look.get("looked_at")
    if not looked_at:
        return look
    seen = datetime.strptime(looked_at, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc).timestamp()
    age = min(max(wall_time(record, at) - seen, 0.0), max(at - record["at"], 0.0))
    events = [
        event if event.get("notice") is None else dict(event, notice=event["notice"] - age) for event in look["events"]
    ]
    return dict(look, events=events)


def advance(record: Record, asked: Collection[str], looks: Mapping[str, Mapping[str, Any]], at: float) -> None:
    scope_of = scope_by_host(record)
    for key, entry in record["events"].items():
        if entry["gone"] is not None:
            continue
        scopes_of_event = {scope_of[host] for host in entry["seen_by"]}
        shown_to = [look for host, look in looks.items() if scope_of.get(host) in scopes_of_event]
        now = [event for look in shown_to for event in look["events"] if event["id"].upper() == key]
        if any(event["status"] == "Started" for event in now) and entry["started"] is None:
            entry["started"], entry["status"] = at, "Started"
            _note_start(record, entry)
        # Where a look failed, it may have been approved by somebody else and have started meanwhile.
        entry["unseen"] = not now and (
            entry["unseen"] or not shown_to and any(scope_of.get(host) in scopes_of_event for host in asked)
        )
        if shown_to and not now and not any(may_hold(look, key) for look in shown_to):
            could_have_started = [key] if entry["approval"]["tried"] or entry["unseen"] else []
            entry["gone"] = at
            entry["approval"]["confirmed"] = entry["approval"]["sent"]
            entry["outcome"] = outcome(event_from_dict(entry), could_have_started, wall_time(record, at))
        elif (
            is_open(entry)
            and entry["verdict"] in ACTIONABLE
            and at >= latest_end(entry, record["options"]["event_timeout"])
        ):
            _give_up(record, entry)


def _note_start(record: Record, entry: Record) -> None:
    entry["approval"]["confirmed"] = entry["approval"]["sent"]
    if entry["undo"] and any(record["hosts"][host]["state"] == "prepared" for host in entry["affected"]):
        # It came before its machines were brought back: that has to wait now until it is over.
        entry["closed"] = entry["undo"] = False
    if is_open(entry) and (entry["verdict"] == "watch" or entry["verdict"] in PREPARING):
        _hit(record, entry)


def _hit(record: Record, entry: Mapping[str, Any]) -> None:
    """Machines that an event hits unprepared are brought back like the others when it is over."""
    for host in entry["affected"]:
        if record["hosts"][host]["state"] == "in_service":
            record["hosts"][host]["state"] = "hit"


def _give_up(record: Record, entry: Record) -> None:
    """End the watch of an event that stays longer than the user allowed. Its machines stay as they are: it may still hit them."""
    entry["closed"], entry["failed"] = True, "it stayed longer than this run watched"
    record["problems"].append(
        f"{title(entry)} was still {entry['status']} {record['options']['event_timeout']:.0f} s after its not-before.{left_prepared(record, entry)}"
    )


def end_blind_watches(record: Record) -> None:
    for key, entry in record["events"].items():
        if (
            is_open(entry)
            and entry["verdict"] in ACTIONABLE
            and not is_unwatchable(entry)
            and not watchers_of(record, {key: entry})
        ):
            entry["closed"], entry["failed"] = True, "no machine is left that can see it"
            record["problems"].append(
                f"{title(entry)}: no machine is left that can see it.{left_prepared(record, entry)}"
            )


def plan_new(record: Record, looks: Mapping[str, Mapping[str, Any]], at: float) -> None:
    options = record["options"]
    planned_events = plan_events(
        machines_of(record),
        _with_earlier_sightings(record, looks),
        parse_policy(options["policy"]),
        margin=options["margin"],
        allow_unknown=options["allow_unknown"],
        prepare_within=options["prepare_within"],
    )
    for planned in planned_events:
        known = record["events"].get(planned.event.key)
        # What was left alone is judged anew: its notice, its status, or who sees it may have changed.
        if known and (known["verdict"] in ACTIONABLE or known["gone"] is not None):
            _widen(record, known, plan_to_dict(planned))
            continue
        entry = plan_to_dict(planned)
        entry.update(
            shown=known["shown"] if known else at,
            planned=known["planned"] if known and known["verdict"] == planned.verdict != "later" else at,
            started=at if planned.event.event_status == "Started" else None,
            gone=None,
            outcome="",
            unseen=False,
            closed=False,
            undo=False,
            failed="",
            prepared={},
            recovered={},
            approval={"sent": False, "by": "", "at": None, "confirmed": False, "tried": [], "problem": ""},
        )
        record["events"][planned.event.key] = entry
        report_hold(record, entry)
        report_nameless(record, entry, known)
        if entry["verdict"] == "watch" and entry["started"] is not None:
            _hit(record, entry)
        if entry["verdict"] in PREPARING:
            for host in entry["affected"]:
                if record["hosts"][host]["state"] == "prepared" and not is_under_way(record, host):
                    # Preparing it again could fail, and a failure would put it into service under the other event.
                    entry["prepared"][host] = {
                        "ok": True,
                        "at": at,
                        "seconds": 0.0,
                        "message": "it was prepared already",
                    }


def _with_earlier_sightings(record: Record, looks: Mapping[str, Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """The looks, in which those who saw an event before still see it: a machine of an undeclared set may see it later than others."""
    seen = dict(looks)
    for look in looks.values():
        for event in look["events"]:
            known = record["events"].get(event["id"].upper(), {"seen_by": []})
            for host in set(known["seen_by"]).difference(looks):
                seen[host] = {"events": [*seen.get(host, {"events": []})["events"], event]}
    return seen


def _widen(record: Record, known: Record, wider: Mapping[str, Any]) -> None:
    """Plan anew for an event that turns out to hit more of our machines, as long as nothing has been decided by the smaller number."""
    undecided = is_open(known) and known["started"] is None and not known["approval"]["tried"]
    if undecided and wider["verdict"] in ACTIONABLE and set(wider["affected"]) > set(known["affected"]):
        record["problems"] = [problem for problem in record["problems"] if problem != hold_problem(known)]
        known.update(
            {
                name: wider[name]
                for name in (
                    "verdict",
                    "why",
                    "hold",
                    "affected",
                    "unknown",
                    "unreachable",
                    "seen_by",
                    "watchers",
                    "approvers",
                )
            }
        )
        report_hold(record, known)
