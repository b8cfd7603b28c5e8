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
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

from ...module_utils._events.event import event_from_dict
from ...module_utils._events.lifecycle import outcome
from ...module_utils._events.policy import parse_policy
from .entry import (
    APPROVING,
    LEAVES_NOTHING_BEHIND,
    PREPARING,
    is_open,
    is_unwatchable,
    latest_end,
    title,
    waits_for_approval,
)
from .machines import Machine, scopes, sentinels
from .plan import ACTIONABLE, plan_events, plan_to_dict
from .todo import Record, machines_of, next_approver, scope_by_host, todo_of, wait_until, watchers_of

NESTED = 10
"""Task files of a kind that include one another. Every level makes a look dearer, and Ansible ends at about 300 of them."""

FAILURES_IN_A_ROW = 10
"""Looks in a row that may fail on a machine that watches its own event, or be answered with nothing."""


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
    usable = {host: look for host, look in looks.items() if _is_document(look)}
    for host, look in looks.items():
        _count_failure(record, host, look)
    _advance(record, looks, usable, at)
    _plan_new(record, {host: _aged(record, look, at) for host, look in usable.items()}, at)
    _report_unreadable(record, usable)
    _end_blind_watches(record)
    _report_blind_scopes(record, looks)
    _report_unapproved(record)
    lookers = record["todo"]["look"]
    record = _with_todo(record, at)
    _go_on(record, lookers)
    return record


def _go_on(record: Record, lookers: Sequence[str]) -> None:
    """Whether the same machines look again at once, and whether another step follows in the same round.

    Each of them is one more level of included tasks, so from time to time they end though nothing has changed.
    """
    todo = record["todo"]
    record["looks"] += 1
    nothing_new = not (todo["act"] or todo["self_watch"] or record["finished"]) and todo["look"] == lookers
    todo["look_again"] = nothing_new and record["looks"] % NESTED != 0
    if not todo["look_again"]:
        record["steps"] += 1
        todo["step_again"] = record["steps"] % NESTED != 0


def _aged(record: Record, look: Mapping[str, Any], at: float) -> Mapping[str, Any]:
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


def _count_failure(record: Record, host: str, look: Mapping[str, Any]) -> None:
    """A machine that fails as a watcher is not asked again, but one that watches its own event may be away for a while.

    So may one whose service answers with nothing at all: only when that goes on it is no use.
    """
    if _is_document(look):
        record["failures"].pop(host, None)
    elif not (look.get("unreachable") and host in record["todo"]["self_watch"]):
        record["failures"][host] = record["failures"].get(host, 0) + 1
        patient = host in record["todo"]["self_watch"] or not _has_failed(look)
        limit = FAILURES_IN_A_ROW if patient else 1
        if record["failures"][host] >= limit and host not in record["lost"]:
            record["lost"].append(host)


def _end_blind_watches(record: Record) -> None:
    for key, entry in record["events"].items():
        if (
            is_open(entry)
            and entry["verdict"] in ACTIONABLE
            and not is_unwatchable(entry)
            and not watchers_of(record, {key: entry})
        ):
            entry["closed"], entry["failed"] = True, "no machine is left that can see it"
            record["problems"].append(
                f"{title(entry)}: no machine is left that can see it.{_left_prepared(record, entry)}"
            )


def _report_blind_scopes(record: Record, looks: Mapping[str, Mapping[str, Any]]) -> None:
    """Say it when nobody is left to look on behalf of a scope: its events go unseen for the rest of the run."""
    able = sentinels(machines_of(record), record["lost"])
    for scope, members in scopes(machines_of(record)).items():
        left = [machine for machine in members if not _may_be_gone(record, machine.host)]
        if scope in able or scope in record["blind"] or not left:
            continue
        record["blind"].append(scope)
        why = "; ".join(f"{machine.host}: {_why_lost(machine, looks.get(machine.host, {}))}" for machine in left)
        record["problems"].append(
            f"No machine can see the events of scope {scope!r} (any more), so the run did not watch it: {why}"
        )


def _why_lost(machine: Machine, look: Mapping[str, Any]) -> str:
    said = str(look.get("msg") or "").strip().splitlines()
    return machine.problem or (said[0] if said else "it failed earlier, or its service gave no document")


def _may_be_gone(record: Record, host: str) -> bool:
    """Whether an event that deletes machines hits this one, and was approved, has started or is over."""
    return any(
        host in entry["affected"]
        and entry["type"].lower() in LEAVES_NOTHING_BEHIND
        and (entry["approval"]["tried"] or entry["started"] is not None or entry["gone"] is not None)
        for entry in record["events"].values()
    )


def _has_failed(look: Mapping[str, Any]) -> bool:
    """Whether a machine could not look. That a wait ended without a change is no failure, if it had seen a document."""
    if "events" not in look or look.get("unreachable"):
        return True
    kind = (look.get("failure") or {}).get("kind")
    return kind is not None and (kind != "timeout" or look.get("incarnation") is None)


def _is_document(look: Mapping[str, Any]) -> bool:
    """Whether a result tells which events there are. An empty body (no incarnation) tells nothing: S2, S13.9."""
    return not _has_failed(look) and look.get("incarnation") is not None


def _advance(record: Record, asked: Collection[str], looks: Mapping[str, Mapping[str, Any]], at: float) -> None:
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
        if shown_to and not now and not any(_may_hold(look, key) for look in shown_to):
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


def _may_hold(look: Mapping[str, Any], key: str) -> bool:
    """Whether a document has the event as an entry that can't be read any more: then it is still there."""
    return any(unusable["id"] in ("", key) for unusable in look.get("unusable_events") or ())


def _report_unreadable(record: Record, looks: Mapping[str, Mapping[str, Any]]) -> None:
    scope_of = scope_by_host(record)
    for host, look in looks.items():
        for unusable in look.get("unusable_events") or ():
            known = [scope_of[host], unusable["id"] or unusable["reason"]]
            if known not in record["unreadable"]:
                record["unreadable"].append(known)
                record["problems"].append(
                    f"{host} is shown an event ({unusable['id'] or 'without an id'}) that can't be read, so nothing was done about it: "
                    f"{unusable['reason']}. See unusable_events in the result of scheduled_events_info there."
                )


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
        f"{title(entry)} was still {entry['status']} {record['options']['event_timeout']:.0f} s after its not-before.{_left_prepared(record, entry)}"
    )


def _left_prepared(record: Record, entry: Mapping[str, Any]) -> str:
    held = [
        host for host in entry["affected"] if record["hosts"][host]["state"] in ("prepared", "half_prepared", "hit")
    ]
    record["told"] += held
    return (
        f" {', '.join(held)} stayed prepared: bring them back with the playbook recover once it is over."
        if held
        else ""
    )


def wall_time(record: Record, at: float) -> float:
    """The Unix time of a moment of the run."""
    return record["clock"]["wall"] + at - record["clock"]["mono"]


def _plan_new(record: Record, looks: Mapping[str, Mapping[str, Any]], at: float) -> None:
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
        _report_hold(record, entry)
        _report_nameless(record, entry, known)
        if entry["verdict"] == "watch" and entry["started"] is not None:
            _hit(record, entry)
        if entry["verdict"] in PREPARING:
            for host in entry["affected"]:
                if record["hosts"][host]["state"] == "prepared" and not _is_under_way(record, host):
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
        record["problems"] = [problem for problem in record["problems"] if problem != _hold_problem(known)]
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
        _report_hold(record, known)


def _report_hold(record: Record, entry: Mapping[str, Any]) -> None:
    if (
        entry["hold"]
        and entry["action"] in APPROVING
        and entry["verdict"] in ("prepare", "watch")
        and entry["started"] is None
    ):
        record["problems"].append(_hold_problem(entry))


def _hold_problem(entry: Mapping[str, Any]) -> str:
    return f"{title(entry)} was not approved: {entry['hold']}"


def _report_nameless(record: Record, entry: Mapping[str, Any], known: Mapping[str, Any] | None) -> None:
    """An event that is left alone because none of its machines is ours may be ours all the same."""
    scope_of = scope_by_host(record)
    seen_in = {scope_of[host] for host in entry["seen_by"]}
    nameless = [host for host, name in record["names"].items() if not name and scope_of[host] in seen_in]
    if entry["verdict"] == "not_ours" and nameless and not known:
        record["problems"].append(
            f"{title(entry)} was left alone, but may hit {', '.join(nameless)}: the name of the VM is not known "
            "(azure_maintenance_resource_name)."
        )


def _is_under_way(record: Record, host: str) -> bool:
    """Whether an event that has started still hits the machine."""
    return any(
        host in entry["affected"]
        and entry["started"] is not None
        and entry["gone"] is None
        and entry["verdict"] in ACTIONABLE
        for entry in record["events"].values()
    )


def prepared(record: Record, results: Mapping[str, Mapping[str, Any]], at: float) -> Record:
    """Take in how preparation went, host by host (``ok``, ``seconds``, ``message``, ``reverted`` of role drain)."""
    record = copy.deepcopy(record)
    for host, result in results.items():
        state = record["hosts"][host]
        # Only what was undone wholly counts as being in service again.
        undone = result.get("reverted") and not result.get("revert_errors")
        in_service = "hit" if _is_under_way(record, host) else "in_service"
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
    _report_unapproved(record)
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
        {host: result for host, result in results.items() if _is_document(result) or "approved" not in result},
        at,
    )


def _report_unapproved(record: Record) -> None:
    """Say it once when an event that should be approved can't be: every approver has tried it, or is lost."""
    for entry in record["events"].values():
        approval = entry["approval"]
        if (
            is_open(entry)
            and waits_for_approval(entry)
            and not approval.get("reported")
            and not next_approver(record, entry)
        ):
            approval["reported"] = True
            why = approval["problem"] or "no machine is left that could do it"
            record["problems"].append(f"{title(entry)} could not be approved, and starts by itself: {why}")


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
        _report_left(record)
    return record


def _report_left(record: Record) -> None:
    """No run ends in silence that leaves a machine out of service, unless its event took the machine away."""
    for host, state in record["hosts"].items():
        if (
            state["state"] in ("prepared", "half_prepared")
            and host not in record["told"]
            and not _may_be_gone(record, host)
        ):
            record["told"].append(host)
            record["problems"].append(
                f"{host} stayed prepared: bring it back with the playbook recover once its maintenance is over."
            )
