# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who does what next, by the record of a run. Everything here follows from what the record holds. Pure.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from .entry import event_of, is_handled, is_open, is_unwatchable, latest_end, took_away, waits_for_approval
from .facts import machines_of, scope_by_host
from .machines import sentinels
from .plan import PREPARING
from .schema import AFFECTED, HALF_PREPARED, PREPARED, ApproveWork, Entry, PrepareWork, Record, Todo

LONGEST_LOOK = 180.0
"""Seconds for which a task may look: a connection that is silent for longer is cut on its way (Azure's own NAT: 4 minutes)."""


def todo_of(record: Record, at: float) -> Todo:
    """The work that is due at this time (monotonic seconds), by kind and host, and who looks for how long."""
    entries = {key: entry for key, entry in record["events"].items() if is_handled(entry)}
    watched = {key: entry for key, entry in entries.items() if not is_unwatchable(entry)}
    affected = {host for entry in watched.values() for host in entry["affected"]}
    threatened = affected.union(_under_unwatched(record))
    prepare, approve = _to_prepare(entries), _to_approve(record, entries)
    revert, recover = _to_revert(record, threatened), _to_recover(record, threatened)
    watch = watchers_of(record, watched)
    self_watch = sorted(affected.intersection(watch))
    look = _lookers(record, watch, affected)
    approvers = [host for entry in watched.values() for host in entry["approvers"]]
    return {
        "prepare": prepare,
        "approve": approve,
        "revert": revert,
        "recover": recover,
        "watch": watch,
        "self_watch": self_watch,
        "look": look,
        "look_seconds": _look_seconds(record, at, look, bool(self_watch), bool(watched)),
        "outstanding": sorted(watched),
        "act": bool(prepare or approve or revert or recover),
        "participants": sorted({*look, *approve, *prepare, *affected, *revert, *recover, *approvers}),
    }


def wait_until(record: Record) -> float:
    """Until when new events are awaited."""
    return record["clock"]["mono"] + record["options"]["wait_timeout"]


def _look_seconds(record: Record, at: float, look: Sequence[str], self_watch: bool, outstanding: bool) -> float:
    """For how many seconds a task looks at most.

    The linear strategy ends a task when its slowest host ends. So a machine that looks alone waits until it sees something, and
    several wait in slices; so does one that may be rebooted meanwhile.
    """
    alone = len(look) == 1 and not self_watch
    longest = LONGEST_LOOK if alone else record["options"]["slice"]
    seconds = min(longest, _until_due(record, at))
    return seconds if outstanding else min(seconds, max(wait_until(record) - at, 0.0))


def _until_due(record: Record, at: float) -> float:
    """Seconds until something is due though the document stays the same: a watch ends, or a later event comes near enough."""
    due = [LONGEST_LOOK]
    for entry in record["events"].values():
        if is_handled(entry):
            due.append(latest_end(entry, record["options"]["event_timeout"]) - at)
        elif is_open(entry) and entry["verdict"] == "later" and entry["notice"] is not None:
            left = entry["planned"] + entry["notice"] - record["options"]["prepare_within"] - at
            # What is due, but was not planned anew, is in a scope that nobody can look at: no reason to hurry the others.
            due.append(left if left > 0 else LONGEST_LOOK)
    return max(min(due), 1.0)


def _lookers(record: Record, watchers: Sequence[str], affected: Collection[str]) -> list[str]:
    """One machine of every scope: its watcher where there are open events, else its sentinel, unless an open event affects that.

    Machines of an availability set that nobody declared each look for themselves: what affects one of them next is only known to
    be ours when that one sees it.
    """
    scope_of = scope_by_host(record)
    covered = {scope_of[host] for host in [*watchers, *affected]}
    idle = [host for scope, host in sentinels(machines_of(record), record["lost"]).items() if scope not in covered]
    return sorted({*watchers, *idle})


def _to_prepare(entries: Mapping[str, Entry]) -> dict[str, PrepareWork]:
    work: dict[str, PrepareWork] = {}
    for entry in entries.values():
        if entry["verdict"] not in PREPARING or entry["started"] is not None:
            continue
        deadline = entry["planned"] + entry["budget"]
        for host in entry["affected"]:
            if host in entry["unreachable"] or host in entry["prepared"]:
                continue
            mine = work.setdefault(host, {"deadline": deadline, "ids": []})
            mine["deadline"] = min(mine["deadline"], deadline)
            mine["ids"].append(entry["id"])
    return work


def _to_approve(record: Record, entries: Mapping[str, Entry]) -> dict[str, ApproveWork]:
    work: dict[str, ApproveWork] = {}
    for entry in entries.values():
        host = next_approver(record, entry)
        if not host or not waits_for_approval(entry):
            continue
        mine = work.setdefault(host, {"ids": [], "prepared_resources": [], "allow_unknown": [], "wait": True})
        mine["ids"].append(entry["id"])
        mine["prepared_resources"] += [record["names"][affected] for affected in entry["affected"]]
        mine["allow_unknown"] += entry["unknown"]
        # A machine that is affected may be gone a moment after its approval: it does not stay to confirm.
        mine["wait"] = mine["wait"] and host not in entry["affected"]
    return work


def next_approver(record: Record, entry: Entry) -> str:
    """The machine whose turn it is to approve an event; empty when each has tried it or is lost."""
    tried = entry["approval"]["tried"]
    candidates = list(entry["approvers"])
    if not event_of(entry).is_terminate and len(tried) < 2:
        # Others take the place of approvers that were lost before they could try.
        candidates += entry["watchers"] + [host for host in entry["affected"] if host not in entry["unreachable"]]
    for host in candidates:
        if host not in tried and host not in record["lost"]:
            return host
    return ""


def _to_revert(record: Record, threatened: Collection[str]) -> list[str]:
    """Machines that were prepared for nothing: the event stays unapproved because another machine was not ready."""
    given_up = [
        entry
        for entry in record["events"].values()
        if entry["undo"] and entry["gone"] is None and entry["started"] is None
    ]
    return sorted(
        {
            host
            for entry in given_up
            for host, result in entry["prepared"].items()
            if result["ok"] and record["hosts"][host]["state"] == PREPARED and host not in threatened
        }
    )


def _under_unwatched(record: Record) -> set[str]:
    """Machines of events that nobody watches any more, but that were still there when last seen: they may yet start.

    Except where a preparation was given up: there the user wants the machines in service until the event starts.
    """
    return {
        host
        for entry in record["events"].values()
        if entry["closed"] and entry["gone"] is None and (entry["started"] is not None or not entry["undo"])
        for host in entry["affected"]
    }


def watchers_of(record: Record, entries: Mapping[str, Entry]) -> list[str]:
    """For each open event one machine that no open event affects; where there is none, those that it affects."""
    affected = {host for entry in entries.values() for host in entry["affected"]}
    chosen: set[str] = set()
    for entry in entries.values():
        free = [host for host in entry["watchers"] if host not in affected and host not in record["lost"]]
        own = [host for host in entry["affected"] if host not in entry["unreachable"] and host not in record["lost"]]
        chosen.update(free[:1] or own)
    return sorted(chosen)


def _to_recover(record: Record, threatened: Collection[str]) -> list[str]:
    """Machines that were prepared, or affected unprepared, when no open event is left that names them."""
    ready = []
    for host, state in record["hosts"].items():
        if state["state"] not in (PREPARED, HALF_PREPARED, AFFECTED) or host in threatened:
            continue
        over = [entry for entry in record["events"].values() if host in entry["affected"] and entry["gone"] is not None]
        # What was planned for after its machine should have been gone shows that it was not.
        newest = max((entry["planned"] for entry in over), default=0.0)
        if over and not any(took_away(entry) and (entry["gone"] or 0.0) >= newest for entry in over):
            ready.append(host)
    return sorted(ready)
