# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of a run as lines for a person. Pure.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...module_utils._clock import iso_utc
from ...module_utils._errors import ScheduledEventsError
from ...module_utils._text import did_you_mean, listed
from .._windows.connection_errors import connection_problem
from .facts import wall_time
from .look import has_failed, message_of
from .plan import APPROVING, PREPARING
from .schema import Entry, Preparation, Record, Recovery

VERDICT_WORDS = {
    "approve": "approve at once",
    "prepare_and_approve": "prepare, then approve",
    "prepare": "prepare, do not approve",
    "watch": "watch, then recover",
    "later": "nothing yet",
    "notify": "only show",
    "ignore": "ignore",
    "not_ours": "leave alone",
}


def timeline(record: Record) -> list[str]:
    """Every event of the run, oldest first: what happened when, to which machine."""
    lines: list[str] = []
    for entry in sorted(record["events"].values(), key=lambda entry: entry["shown"]):
        lines.append(_title(entry))
        lines.extend(f"  {_clock(record, at)}  {what:<9}  {text}".rstrip() for at, what, text in _happenings(entry))
    return lines or ["No event was shown."]


def plan_lines(record: Record) -> list[str]:
    """What the run is about to do, before it does it."""
    lines: list[str] = []
    for entry in record["events"].values():
        if entry["gone"] is None:
            lines.append(f"{_title(entry)}: {_decision(entry)}")
    return lines or ["No event is shown: there is nothing to do."]


def status_lines(hosts: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """What each machine sees now.

    :arg hosts: results of ``scheduled_events_info`` by host
    """
    lines: list[str] = []
    width = max([len(host) for host in hosts] or [0])
    for host, look in hosts.items():
        lead = f"{host:<{width}}"
        if look.get("unreachable"):
            lines.append(f"{lead}  NOT REACHED: {connection_problem(str(look.get('msg') or ''))}")
            continue
        if has_failed(look):
            lines.append(f"{lead}  CANNOT LOOK: {message_of(look) or 'no reason was given'}")
            continue
        name = look.get("resource_name") or "(VM's name not known)"
        events = look.get("events") or []
        lines.append(f"{lead}  {name}: {len(events) or 'no'} event{'' if len(events) == 1 else 's'}")
        lines.extend(f"{' ' * width}    {_seen(event)}" for event in events)
        lines.extend(
            f"{' ' * width}    CAN'T BE READ: entry {unusable['position']} of its document: {unusable['reason']}"
            for unusable in look.get("unusable_events") or ()
        )
    return lines or ["There is no host."]


def _seen(event: Mapping[str, Any]) -> str:
    when = f"in {event['notice']} s ({event['not_before']})" if event["notice"] is not None else "no time given"
    whom = "this machine" if event["affects_self"] else listed(event["resources"])
    return f"{event['type']} {event['status']}, {when}, {event['source'] or 'source unknown'}, affects {whom}, id {event['id']}"


def _title(entry: Entry) -> str:
    machines = listed(entry["affected"]) or "none of ours"
    source = entry["source"] or "source unknown"
    return f"{entry['type']} {entry['id']} ({source}) affects {listed(entry['resources'])} ({machines})"


def _decision(entry: Entry) -> str:
    parts = [VERDICT_WORDS[entry["verdict"]]]
    if entry["verdict"] in PREPARING:
        parts.append(f"within {entry['budget']:.0f} s")
    if entry["verdict"] in APPROVING:
        parts.append("approver " + ", then ".join(entry["approvers"]))
    return f"{listed(parts)} [policy: {entry['rule']}; {entry['why']}]"


def _happenings(entry: Entry) -> list[tuple[float, str, str]]:
    notice = "no notice" if entry["notice"] is None else f"{entry['notice']:.0f} s notice"
    found = [
        (entry["shown"], "shown", f"not before {entry['not_before'] or '(no time)'}, {notice}"),
        (entry["planned"], "planned", _decision(entry)),
    ]
    for host, result in entry["prepared"].items():
        found.append((result["at"], "prepared" if result["ok"] else "FAILED", _host_result(host, result)))
    approval = entry["approval"]
    if approval["sent"] and approval["at"] is not None:
        found.append(
            (approval["at"], "approved", f"by {approval['by']}{', confirmed' if approval['confirmed'] else ''}")
        )
    if entry["started"] is not None:
        by_itself = "" if approval["sent"] else " (not by our approval)"
        found.append(
            (entry["started"], "started", f"{entry['started'] - entry['shown']:.1f} s after it was shown{by_itself}")
        )
    if entry["gone"] is not None:
        found.append((entry["gone"], "gone", entry["outcome"]))
    for host, back in entry["recovered"].items():
        what = "NOT BACK" if not back["ok"] else "reverted" if back["reverted"] else "recovered"
        rebooted = {True: ", it had rebooted", False: ", without a reboot", None: ""}[back["rebooted"]]
        found.append((back["at"], what, _host_result(host, back) + rebooted))
    return sorted(found, key=lambda item: item[0])


def _host_result(host: str, result: Preparation | Recovery) -> str:
    said = f": {result['message']}" if result["message"] and not result["ok"] else ""
    return f"{host} in {result['seconds']:.1f} s{said}"


def _clock(record: Record, at: float) -> str:
    return iso_utc(wall_time(record, at))


_PARTS: dict[str, Callable[[Any], list[str]]] = {"timeline": timeline, "plan": plan_lines, "status": status_lines}


def lines(value: Any, part: str = "timeline") -> list[str]:
    """One of the three, by its name."""
    if part not in _PARTS:
        raise ScheduledEventsError(
            f"maintenance_timeline knows no part {part!r}{did_you_mean(part, _PARTS)}; it knows {listed(_PARTS)}."
        )
    return _PARTS[part](value)
