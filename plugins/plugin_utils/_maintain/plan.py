# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Many machines' documents in, one plan out. Pure: no clock, no network, no Ansible.

Private to this collection.

The plan is made per event: which machines it affects, whether it may be approved, by which machine, and how many
seconds there are to prepare.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from ...module_utils._events.event import Event, event_from_dict
from ...module_utils._events.policy import Rule, decide
from ...module_utils._text import listed
from .machines import Machine, PlanError, linux_first
from .schema import PlannedDict

SECONDS_WITHOUT_NOT_BEFORE = 600.0
"""The notice taken for a Scheduled event that names no time: the shortest of the usual ones (S4.8, Redeploy)."""

SHARE_OF_NOTICE_FOR_MARGIN = 0.25
"""A margin never eats more than this share of the notice, or nothing would be left of a Preempt's 30 s (S4.13)."""

VERDICTS = (
    "approve",  # at once
    "prepare_and_approve",  # after every affected machine is prepared
    "prepare",  # prepare, leave the start to Azure
    "watch",  # it is under way: wait until it leaves, then recover
    "later",  # would be prepared for, but is too far away to begin
    "notify",  # show it, and do nothing
    "ignore",
    "not_ours",  # none of its machines is one of ours
)
APPROVING = ("approve", "prepare_and_approve")
PREPARING = ("prepare", "prepare_and_approve")
ACTIONABLE = ("approve", "prepare_and_approve", "prepare", "watch")


class PlannedEvent(NamedTuple):
    """What is to be done about one event, and why."""

    event: Event
    verdict: str  # one of VERDICTS
    action: str  # what the policy says, before anything stands against it
    rule: str
    why: str
    hold: str  # why it must not be approved; "" when nothing stands against it
    affected: tuple[str, ...]
    unknown: tuple[str, ...]
    unreachable: tuple[str, ...]
    seen_by: tuple[str, ...]
    watchers: tuple[str, ...]
    approvers: tuple[str, ...]
    notice: float | None
    budget: float


class _Sighting(NamedTuple):
    """One event, and who was shown it."""

    event: Event
    notice: float | None
    hosts: list[str]


def plan_events(
    machines: Sequence[Machine],
    looks: Mapping[str, Mapping[str, Any]],
    rules: Sequence[Rule],
    margin: float = 60.0,
    allow_unknown: bool = False,
    prepare_within: float = 3600.0,
) -> tuple[PlannedEvent, ...]:
    """Plan for every event that any machine sees.

    :arg looks: results of ``scheduled_events_info`` by host, of sentinels or of all
    :arg rules: the policy
    :arg margin: seconds kept between the end of the preparation and the start of the event
    :arg allow_unknown: whether an event may be approved that also affects machines outside the run
    :arg prepare_within: seconds; what is not to be approved and further away than that is left for later
    :raises PlanError: a resource of an event is two inventory hosts
    """
    return tuple(
        _plan_event(sighting, machines, rules, margin, allow_unknown, prepare_within)
        for sighting in _sightings(machines, looks)
    )


def _sightings(machines: Sequence[Machine], looks: Mapping[str, Mapping[str, Any]]) -> list[_Sighting]:
    # Machines of one availability set that nobody declared as a scope each show the same event: it is one event.
    found: dict[str, _Sighting] = {}
    for machine in machines:
        for data in looks.get(machine.host, {}).get("events") or ():
            event = event_from_dict(data)
            if event.key not in found:
                found[event.key] = _Sighting(event, data.get("notice"), [])
            elif event.has_started and not found[event.key].event.has_started:
                found[event.key] = found[event.key]._replace(event=event, notice=None)
            found[event.key].hosts.append(machine.host)
    return list(found.values())


def _plan_event(
    sighting: _Sighting,
    machines: Sequence[Machine],
    rules: Sequence[Rule],
    margin: float,
    allow_unknown: bool,
    prepare_within: float,
) -> PlannedEvent:
    event = sighting.event
    seen_in = {machine.scope for machine in machines if machine.host in sighting.hosts}
    in_scope = [machine for machine in machines if machine.scope in seen_in]
    affected, unknown = _match(event, in_scope, [machine for machine in machines if _may_share_scope(machine, seen_in)])
    nameless = [
        machine.host
        for machine in machines
        if not machine.resource_name and (machine.scope in seen_in or _may_share_scope(machine, seen_in))
    ]
    notice = None if sighting.notice is None else float(sighting.notice)
    decision = decide(event, rules, notice)
    hold = _hold(affected, unknown, nameless, allow_unknown)
    verdict, why = _verdict(event, decision.action, affected, hold, notice, prepare_within)
    if verdict == "not_ours" and nameless:
        why += f", as far as is known: of {listed(nameless)} the VM's name is not known"
    able = [machine for machine in in_scope if machine.reachable]
    unaffected = linux_first([machine for machine in able if machine not in affected])
    return PlannedEvent(
        event=event,
        verdict=verdict,
        action=decision.action,
        rule=decision.rule,
        why=why or decision.reason,
        hold=hold,
        affected=tuple(machine.host for machine in affected),
        unknown=tuple(unknown),
        unreachable=tuple(machine.host for machine in affected if not machine.reachable),
        seen_by=tuple(sighting.hosts),
        watchers=tuple(machine.host for machine in unaffected),
        approvers=_approvers(event, [machine for machine in affected if machine.reachable], unaffected),
        notice=notice,
        budget=budget_of(notice, margin),
    )


def _may_share_scope(machine: Machine, seen_in: Collection[str]) -> bool:
    """Whether a machine may well be in a scope where the event was seen, but could not be asked which scope it is in."""
    return not machine.reachable and machine.scope == machine.host and machine.scope not in seen_in


def _match(event: Event, machines: Sequence[Machine], others: Sequence[Machine]) -> tuple[list[Machine], list[str]]:
    """The machines of the run that the event affects, and the resources that are none of them.

    :arg machines: those of the scopes in which the event was seen
    :arg others: those that may be in these scopes
    """
    affected: list[Machine] = []
    unknown: list[str] = []
    for resource in event.resources:
        same = _named(resource, machines)
        if len(same) > 1:
            raise PlanError(
                f"Event {event.event_id} ({event.event_type}) names the VM {resource!r}, and the inventory has it as "
                f"{' and as '.join(machine.host for machine in same)}. Nothing was prepared or approved: "
                "remove one of them, or correct azure_maintenance_resource_name."
            )
        same = same or _named(resource, others)
        affected.extend(machine for machine in same if machine not in affected)
        if not same:
            unknown.append(resource)
    return affected, unknown


def _named(resource: str, machines: Sequence[Machine]) -> list[Machine]:
    return [machine for machine in machines if machine.resource_name.lower() == resource.lower()]


def _hold(affected: Sequence[Machine], unknown: Sequence[str], nameless: Sequence[str], allow_unknown: bool) -> str:
    """Why the event must stay unapproved, whatever the policy says."""
    unreachable = [machine for machine in affected if not machine.reachable]
    if unreachable:
        return "; ".join(
            f"it affects {machine.host}, which can't be prepared: {machine.problem}" for machine in unreachable
        )
    # What nobody knows may be allowed, but not what may be a machine of this run.
    if unknown and (nameless or not allow_unknown):
        hint = f" (of {listed(nameless)} the VM's name is not known)" if nameless else ""
        return f"it also affects {', '.join(unknown)}, which this run knows nothing about{hint}"
    return ""


def _verdict(
    event: Event,
    action: str,
    affected: Sequence[Machine],
    hold: str,
    notice: float | None,
    prepare_within: float,
) -> tuple[str, str]:
    if not affected:
        return "not_ours", "none of its machines is in this run"
    if action in ("ignore", "notify"):
        return action, ""
    if event.has_started:
        return "watch", "it has started already"
    if not event.is_scheduled:
        return "notify", f"its status {event.event_status} is not one that can be prepared for"
    if notice is not None and notice < 1 and action != "approve":
        return "watch", "its time has come: too late to prepare"
    if action == "approve" and not hold:
        return "approve", ""
    if action == "prepare_and_approve" and not hold:
        return "prepare_and_approve", ""
    if notice is not None and notice > prepare_within:
        return (
            "later",
            f"it is {notice:.0f} s away and will not be approved; preparation begins {prepare_within:.0f} s ahead",
        )
    if action == "approve":
        return "watch", f"not approved: {hold}"
    return "prepare", f"not approved: {hold}" if hold else ""


def _approvers(event: Event, affected: Sequence[Machine], unaffected: Sequence[Machine]) -> tuple[str, ...]:
    if event.is_terminate:
        # Only the machine that is deleted approves its deletion (S4.12).
        return tuple(machine.host for machine in affected)
    # A machine that is not affected can still confirm, when the event starts at once; any that sees it may approve (S4.1).
    return tuple(machine.host for machine in [*unaffected, *affected])[:2]


def budget_of(notice: float | None, margin: float) -> float:
    """Seconds that the preparation may take: the notice less a margin."""
    known = SECONDS_WITHOUT_NOT_BEFORE if notice is None else max(notice, 0.0)
    return max(known - min(margin, known * SHARE_OF_NOTICE_FOR_MARGIN), 1.0)


def plan_to_dict(planned: PlannedEvent) -> PlannedDict:
    """The plan of one event as a playbook sees it: the event's own keys, and what is to be done."""
    event = planned.event
    return {
        "id": event.event_id,
        "type": event.event_type,
        "status": event.event_status,
        "source": event.source,
        "resource_type": event.resource_type,
        "resources": list(event.resources),
        "raw_resources": list(event.raw_resources),
        "not_before": event.not_before,
        "description": event.description,
        "duration": event.duration,
        "verdict": planned.verdict,
        "action": planned.action,
        "rule": planned.rule,
        "why": planned.why,
        "hold": planned.hold,
        "affected": list(planned.affected),
        "unknown": list(planned.unknown),
        "unreachable": list(planned.unreachable),
        "seen_by": list(planned.seen_by),
        "watchers": list(planned.watchers),
        "approvers": list(planned.approvers),
        "notice": planned.notice,
        "budget": planned.budget,
    }
