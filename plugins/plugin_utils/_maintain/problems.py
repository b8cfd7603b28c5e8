# Copyright: (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run leaves for a person, said once. Pure.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .entry import APPROVING, is_open, title, waits_for_approval
from .facts import Record, machines_of, may_be_gone, scope_by_host
from .machines import Machine, scopes, sentinels
from .todo import next_approver


def report_blind_scopes(record: Record, looks: Mapping[str, Mapping[str, Any]]) -> None:
    """Say it when nobody is left to look on behalf of a scope: its events go unseen for the rest of the run."""
    able = sentinels(machines_of(record), record["lost"])
    for scope, members in scopes(machines_of(record)).items():
        left = [machine for machine in members if not may_be_gone(record, machine.host)]
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


def report_unreadable(record: Record, looks: Mapping[str, Mapping[str, Any]]) -> None:
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


def left_prepared(record: Record, entry: Mapping[str, Any]) -> str:
    held = [
        host for host in entry["affected"] if record["hosts"][host]["state"] in ("prepared", "half_prepared", "hit")
    ]
    record["told"] += held
    return (
        f" {', '.join(held)} stayed prepared: bring them back with the playbook recover once it is over."
        if held
        else ""
    )


def report_hold(record: Record, entry: Mapping[str, Any]) -> None:
    if (
        entry["hold"]
        and entry["action"] in APPROVING
        and entry["verdict"] in ("prepare", "watch")
        and entry["started"] is None
    ):
        record["problems"].append(hold_problem(entry))


def hold_problem(entry: Mapping[str, Any]) -> str:
    return f"{title(entry)} was not approved: {entry['hold']}"


def report_nameless(record: Record, entry: Mapping[str, Any], known: Mapping[str, Any] | None) -> None:
    """An event that is left alone because none of its machines is ours may be ours all the same."""
    scope_of = scope_by_host(record)
    seen_in = {scope_of[host] for host in entry["seen_by"]}
    nameless = [host for host, name in record["names"].items() if not name and scope_of[host] in seen_in]
    if entry["verdict"] == "not_ours" and nameless and not known:
        record["problems"].append(
            f"{title(entry)} was left alone, but may hit {', '.join(nameless)}: the name of the VM is not known "
            "(azure_maintenance_resource_name)."
        )


def report_unapproved(record: Record) -> None:
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


def report_left(record: Record) -> None:
    """No run ends in silence that leaves a machine out of service, unless its event took the machine away."""
    for host, state in record["hosts"].items():
        if (
            state["state"] in ("prepared", "half_prepared")
            and host not in record["told"]
            and not may_be_gone(record, host)
        ):
            record["told"].append(host)
            record["problems"].append(
                f"{host} stayed prepared: bring it back with the playbook recover once its maintenance is over."
            )
