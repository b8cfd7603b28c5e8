# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What new documents change in the record of a run: known events move on or have gone, new ones are planned for. Pure.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from ...module_utils._events.event import Event, event_from_dict
from ...module_utils._events.lifecycle import outcome
from ...module_utils._events.policy import parse_policy
from .entry import event_of, is_handled, is_open, is_unwatchable, latest_end
from .facts import is_under_way, machines_of, scope_by_host, wall_time
from .look import events_of, has_document, has_failed, looked_at, may_hold
from .plan import ACTIONABLE, PREPARING, PlannedEvent, plan_events, plan_to_dict
from .problems import report_end_of_watch, report_hold, report_nameless
from .schema import AFFECTED, IN_SERVICE, PREPARED, Entry, PlannedDict, Record
from .todo import watchers_of

FAILURES_IN_A_ROW = 10
"""Looks in a row that may fail on a machine that watches its own event, or be answered with nothing."""


def count_failure(record: Record, host: str, look: Mapping[str, Any]) -> None:
    """A machine that fails as a watcher is not asked again, but one that watches its own event may be away for a while.

    So may one whose service answers with nothing at all: only when that goes on it is no use.
    """
    own_event = host in record["todo"]["self_watch"]
    if has_document(look):
        record["failures"].pop(host, None)
    elif not (look.get("unreachable") and own_event):
        record["failures"][host] = record["failures"].get(host, 0) + 1
        limit = FAILURES_IN_A_ROW if own_event or not has_failed(look) else 1
        if record["failures"][host] >= limit and host not in record["lost"]:
            record["lost"].append(host)


def aged(record: Record, look: Mapping[str, Any], at: float) -> Mapping[str, Any]:
    """The look with the notice that is left now: a look of several scopes is taken in when the slowest has ended.

    The machine's clock says when it looked. It may be wrong, but no look began before the record was last moved on.
    """
    seen = looked_at(look)
    if seen is None:
        return look
    age = min(max(wall_time(record, at) - seen, 0.0), max(at - record["at"], 0.0))
    events = [
        event if event.get("notice") is None else dict(event, notice=event["notice"] - age) for event in look["events"]
    ]
    return dict(look, events=events)


# ---- events that are known ----


def advance(record: Record, asked: Collection[str], looks: Mapping[str, Mapping[str, Any]], at: float) -> None:
    """Move the known events on by what was seen of them.

    :arg asked: hosts that were to look
    :arg looks: of those the ones that have a document, by host
    """
    scope_of = scope_by_host(record)
    for key, entry in record["events"].items():
        if entry["gone"] is not None:
            continue
        scopes_of_event = {scope_of[host] for host in entry["seen_by"]}
        shown_to = [look for host, look in looks.items() if scope_of.get(host) in scopes_of_event]
        now = [event for look in shown_to for event in events_of(look) if event.key == key]
        _take_start(record, entry, now, at)
        # Where a look failed, it may have been approved by somebody else and have started meanwhile.
        missed = not shown_to and any(scope_of.get(host) in scopes_of_event for host in asked)
        entry["unseen"] = not now and (entry["unseen"] or missed)
        if shown_to and not now and not any(may_hold(look, key) for look in shown_to):
            could_have_started = [key] if entry["approval"]["tried"] or entry["unseen"] else []
            entry["gone"] = at
            entry["approval"]["confirmed"] = entry["approval"]["sent"]
            entry["outcome"] = outcome(event_of(entry), could_have_started, wall_time(record, at))
        elif is_handled(entry) and at >= latest_end(entry, record["options"]["event_timeout"]):
            _stop_watching(record, entry)


def _take_start(record: Record, entry: Entry, now: Collection[Event], at: float) -> None:
    started = [event for event in now if event.has_started]
    if not started or entry["started"] is not None:
        return
    entry["started"], entry["status"] = at, started[0].event_status
    entry["approval"]["confirmed"] = entry["approval"]["sent"]
    if entry["undo"] and any(record["hosts"][host]["state"] == PREPARED for host in entry["affected"]):
        # It came before its machines were brought back: that has to wait now until it is over.
        entry["closed"] = entry["undo"] = False
    if is_open(entry) and (entry["verdict"] == "watch" or entry["verdict"] in PREPARING):
        _mark_affected(record, entry)


def _mark_affected(record: Record, entry: Entry) -> None:
    """Machines that an event affects unprepared are brought back like the others when it is over."""
    for host in entry["affected"]:
        if record["hosts"][host]["state"] == IN_SERVICE:
            record["hosts"][host]["state"] = AFFECTED


def _stop_watching(record: Record, entry: Entry) -> None:
    """An event stays longer than the user allowed. Its machines stay as they are: it may still affect them."""
    entry["closed"], entry["failed"] = True, "it stayed longer than this run watched"
    limit = record["options"]["event_timeout"]
    report_end_of_watch(record, entry, f" was still {entry['status']} {limit:.0f} s after its not-before.")


def stop_unwatched(record: Record) -> None:
    """Close the events that no machine is left to watch."""
    for key, entry in record["events"].items():
        if is_handled(entry) and not is_unwatchable(entry) and not watchers_of(record, {key: entry}):
            entry["closed"], entry["failed"] = True, "no machine is left that can see it"
            report_end_of_watch(record, entry, f": {entry['failed']}.")


# ---- events that are new, or to be judged anew ----


def plan_new(record: Record, looks: Mapping[str, Mapping[str, Any]], at: float) -> None:
    """Plan for the events that are not known yet, and again for those that were left alone."""
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
        entry = _new_entry(planned, known, at)
        record["events"][planned.event.key] = entry
        report_hold(record, entry)
        report_nameless(record, entry)
        if entry["verdict"] == "watch" and entry["started"] is not None:
            _mark_affected(record, entry)
        if entry["verdict"] in PREPARING:
            _take_what_is_prepared(record, entry, at)


def _new_entry(planned: PlannedEvent, known: Entry | None, at: float) -> Entry:
    same_plan = known and known["verdict"] == planned.verdict != "later"
    return {
        **plan_to_dict(planned),
        "shown": known["shown"] if known else at,
        "planned": known["planned"] if known and same_plan else at,
        "started": at if planned.event.has_started else None,
        "gone": None,
        "outcome": "",
        "unseen": False,
        "closed": False,
        "undo": False,
        "failed": "",
        "prepared": {},
        "recovered": {},
        "approval": {
            "sent": False,
            "by": "",
            "at": None,
            "confirmed": False,
            "tried": [],
            "problem": "",
            "note": "",
        },
    }


def _take_what_is_prepared(record: Record, entry: Entry, at: float) -> None:
    for host in entry["affected"]:
        if record["hosts"][host]["state"] == PREPARED and not is_under_way(record, host):
            # Preparing it again could fail, and a failure would put it into service under the other event.
            entry["prepared"][host] = {"ok": True, "at": at, "seconds": 0.0, "message": "it was prepared already"}


def _with_earlier_sightings(record: Record, looks: Mapping[str, Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """The looks, in which those who saw an event before still see it: a machine of an undeclared set may see it later than others."""
    seen = dict(looks)
    for look in looks.values():
        for data in look["events"]:
            known = record["events"].get(event_from_dict(data).key)
            for host in set(known["seen_by"]).difference(looks) if known else ():
                seen[host] = {"events": [*seen.get(host, {"events": []})["events"], data]}
    return seen


def _widen(record: Record, known: Entry, wider: PlannedDict) -> None:
    """Plan anew for an event that turns out to affect more of our machines, as long as nothing has been decided by the smaller number."""
    undecided = is_open(known) and known["started"] is None and not known["approval"]["tried"]
    if undecided and wider["verdict"] in ACTIONABLE and set(wider["affected"]) > set(known["affected"]):
        known.update(
            {
                "verdict": wider["verdict"],
                "why": wider["why"],
                "hold": wider["hold"],
                "affected": wider["affected"],
                "unknown": wider["unknown"],
                "unreachable": wider["unreachable"],
                "seen_by": wider["seen_by"],
                "watchers": wider["watchers"],
                "approvers": wider["approvers"],
            }
        )
        report_hold(record, known)
