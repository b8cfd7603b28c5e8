# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The events that every machine sees, and its mark, as lines for a person. Pure.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

from ...module_utils._core.mark_view import COPIED, NOBODY, UNREADABLE, holder_since, is_made_for_azure, service_words
from ...module_utils._core.second_look import not_verified
from ...module_utils._steps.sequence import (
    BEGUN,
    DONE,
    FAILED,
    NOT_TAKEN_BACK,
    TAKEN_BACK,
    TAKING_BACK,
    WAITING,
)
from ...module_utils._text import duration, listed, one_line, seconds_until
from .inspection import Asked, Inspection, inspected, may_come
from .reports import by_reason, counted
from .scopes import members, wrong_scopes

_STEPS = {
    DONE: "done",
    BEGUN: "under way",
    FAILED: "FAILED",
    TAKING_BACK: "being undone",
    NOT_TAKEN_BACK: "NOT UNDONE",
    TAKEN_BACK: "undone",
    WAITING: "not started",
}
"""What is said of a step in each state, in the order in which it is said."""

NO_MARK = "no mark"
CANNOT_BE_READ = "MARK CAN'T BE READ"
OF_ANOTHER_VM = "MARK OF ANOTHER VM"


def status_lines(machines: Sequence[Asked], wall: float) -> list[str]:
    """A line for each machine, and below it its events and its mark.

    :arg wall: the controller's Unix time
    """
    if not machines:
        return ["There is no host."]
    found = inspected(machines)
    width = max(map(len, found.machines))
    reached = [host for host, machine in found.machines.items() if not machine.lost]
    sights = max((len(_sight(found, host)) for host in reached if found.mark(host) or not found.blind(host)), default=0)
    below = " " * (width + 4)
    why = by_reason({host: found.blind(host) for host in reached if found.blind(host)})
    alone = {one.hosts[0] for one in why if len(one.hosts) == 1}
    lines: list[str] = []
    for host, machine in found.machines.items():
        if machine.lost:
            lines.append(f"{host:<{width}}  NOT REACHED: {machine.lost}")
            continue
        lines.append(f"{host:<{width}}  {_sight(found, host):<{sights}}  {_in_short(found, host)}".rstrip())
        lines.extend(below + line for line in _below(found, host, wall, host in alone))
    lines += [f"CANNOT POLL, {counted(one.hosts)}: {one.words}" for one in why if len(one.hosts) > 1]
    lines += _scopes(found)
    if len(reached) < len(machines):
        lost = listed(host for host in found.machines if host not in reached)
        lines.append(f"Not reached, so nothing is known of their events and marks: {lost}.")
    return lines


def _scopes(found: Inspection) -> list[str]:
    """Which machines are one scope, by whom, and where they are; and what contradicts that."""
    lines = []
    for scope, hosts in members(found.record).items():
        machines = [found.machines[host] for host in hosts]
        declared = any(machine.given.scope for machine in machines)
        if len(hosts) > 1 or declared:
            by = "by the inventory" if declared else "by Azure" if machines[0].who.placement_group else "by an event"
            where = (f"{one.host} ({one.who.domain})" if one.who.domain else one.host for one in machines)
            lines.append(f"scope {one_line(scope, 60)} {by}: {listed(where)}")
    return lines + [f"CHECK: {sentence}" for sentence in wrong_scopes(found.record)]


def _sight(found: Inspection, host: str) -> str:
    name = found.machines[host].name or "(name in Azure not known)"
    if found.blind(host):
        return f"{name}: CANNOT POLL"
    count = len(found.events(host) or ())
    return f"{name}: {count or 'no'} event{'' if count == 1 else 's'}"


def _in_short(found: Inspection, host: str) -> str:
    owner = found.owner(host)
    if owner == NOBODY:
        return NO_MARK
    if owner == UNREADABLE:
        return CANNOT_BE_READ
    if owner == COPIED:
        return OF_ANOTHER_VM
    phase = found.view(host).phase.upper()
    if found.is_drains_own(host):
        return f"{phase} by role drain"
    return f"{phase}, its owner {'has EXPIRED' if found.is_left(host) else 'may be alive'}"


def unknown(machines: Sequence[Asked]) -> list[str]:
    """What keeps anybody from knowing how the machines are, for monitors: a sentence for each kind."""
    found = inspected(machines)
    kinds = {
        "not reached": [host for host, machine in found.machines.items() if machine.lost],
        "can't poll": [host for host, machine in found.machines.items() if found.blind(host) and not machine.lost],
        "mark can't be read": [host for host in found.machines if found.owner(host) == UNREADABLE],
    }
    return [f"{what}: {counted(hosts)} of {len(machines)}" for what, hosts in kinds.items() if hosts]


def _below(found: Inspection, host: str, wall: float, says_why: bool) -> list[str]:
    answer, mark = found.answers[host], found.mark(host)
    lines = [f"why: {found.blind(host)}"] if found.blind(host) and says_why else []
    watcher = answer.get("watcher") or {}
    waits = (watcher.get("waits") or {}) if watcher.get("alive") else {}
    for event in found.events(host) or ():
        lines += [_seen(event), *_waits(waits.get(event["id"].upper()))]
    lines += [
        f"CAN'T BE READ: entry {unusable['position']} of its document: {unusable['reason']}"
        for unusable in found.polls[host].get("unusable_events") or ()
    ]
    if mark is not None:
        lines += _mark_lines(found, host, mark, wall)
    if answer.get("yes"):
        lines.append(f"confirmed by a person: {listed(answer['yes'])}")
    return lines


def _waits(said: Sequence[str] | None) -> list[str]:
    """Why its watcher does not approve an event, and what ends that."""
    if not said:
        return []
    words, ends = said
    return [f"  not approved by its watcher: {one_line(words, 500)}"] + (
        [f"  what ends it: {one_line(ends, 500)}"] if ends else []
    )


def _seen(event: Mapping[str, Any]) -> str:
    when = "no time given"
    if event["notice"] is not None:
        at = event["not_before"]
        when = f"{seconds_until(event['notice'])} ({at})" if may_come(event) else f"not before {at}"
    whom = "this machine" if event["affects_self"] else listed(event["resources"])
    what = f"{event['type'] or 'Event'} {event['status'] or '(status unknown)'}"
    return f"{what}, {when}, {event['source'] or 'source unknown'}, affects {whom}, id {event['id']}"


def _mark_lines(found: Inspection, host: str, mark: Mapping[str, Any], wall: float) -> list[str]:
    if "unreadable" in mark:
        return [f"mark: {one_line(mark['unreadable'], 1000)}"]
    events = f"for {listed(one_line(event) for event in mark['events'])}" if mark["events"] else "for no event"
    lines = [
        f"mark: {mark['phase']} {events}, by {holder_since(mark)}{_age(mark['since'], wall)}",
        f"owner: {_life(found, host, mark)}",
    ]
    if found.owner(host) == COPIED:
        lines.append(
            f"made on {found.view(host).owner_words}, of which this one is a copy: nothing of it was done here"
        )
    if not is_made_for_azure(mark):
        lines.append(f"made for {service_words(mark)}")
    for state, words in _STEPS.items():
        steps = [_step_words(step) for step in mark["steps"] if step["state"] == state]
        lines += [f"{words}: {listed(steps)}"] if steps else []
    unverified = not_verified(mark)
    lines += [f"not verified: {listed(map(one_line, unverified))}"] if unverified else []
    return lines if mark["steps"] else [*lines, "steps: none"]


def _step_words(step: Mapping[str, Any]) -> str:
    note = one_line(step["note"]) if step["state"] in (FAILED, NOT_TAKEN_BACK) else ""
    return f"{one_line(step['key'])} ({note})" if note else one_line(step["key"])


def _age(since: str, wall: float) -> str:
    try:
        at = datetime.strptime(since, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc).timestamp()
    except ValueError:
        return ""
    return f" ({duration(wall - at)} ago)"


def _life(found: Inspection, host: str, mark: Mapping[str, Any]) -> str:
    """Whether who holds the mark counts as alive, and why."""
    if found.is_drains_own(host):
        return "recovered by role drain's entry point recover, or by the playbook recover with recover_take"
    silent = found.silent(host)
    if silent is None:
        if found.is_over(host):
            return (
                f"EXPIRED: the machine has been rebooted since the mark was last renewed ({one_line(mark['renewed'])})"
            )
        return f"last renewed {one_line(mark['renewed'])}"
    heard = f"last renewed {duration(silent)} ago"
    if found.is_left(host):
        return f"EXPIRED, {heard}: maintain or recover takes the machine over"
    return f"{heard}; without a renewal it counts as alive for another {duration(found.lasts(host))}"
