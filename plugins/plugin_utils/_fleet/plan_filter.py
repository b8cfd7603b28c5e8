# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan for the documents of many machines, as the filter ``maintenance_plan`` gives it to users: the first tick of a run. Pure.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...module_utils._events.event import notification
from ...module_utils._events.policy import DEFAULT_POLICY
from .approving import approvers_of
from .event_state import EventState
from .event_terms import closed, preparation_end
from .inspection import Asked, facts_of, first_tick, options
from .run_events import has_failed, message_of, not_before
from .state import Record

_OF_EVENT = (
    *("id", "type", "status", "source", "resource_type", "resources", "raw_resources", "not_before", "description"),
    "duration",
)


def plan(
    found: Sequence[Mapping[str, Any]],
    policy: Sequence[Mapping[str, Any]] | None = None,
    margin: float = 60.0,
    allow_unknown: bool = False,
    prepare_before: float = 300.0,
    *,
    wall: float,
) -> list[dict[str, Any]]:
    """What to do about every event; the arguments are those of the filter.

    :arg wall: the Unix time of this moment
    :raises ScheduledEventsError: two hosts are the same VM, or the policy is wrong
    """
    given = options(
        policy=DEFAULT_POLICY if policy is None else policy,
        margin=margin,
        allow_unknown=allow_unknown,
        prepare_before=prepare_before,
    )
    facts = [facts_of(_asked(item), given) for item in found]
    answers = {str(item["host"]): _answer(item.get("look") or {}) for item in found}
    record = first_tick(facts, answers, "plan", 0.0, wall)
    return [_planned(record, entry) for entry in record.events.values()]


def _asked(item: Mapping[str, Any]) -> Asked:
    look = item.get("look") or {}
    # Before ansible-core 2.19 a template makes "False" of false; from then on it keeps the number that somebody wrote for a name.
    is_linux = str(item.get("is_linux", True)).lower() == "true"
    name = str(look.get("resource_name") or item.get("resource_name") or "")
    return Asked(str(item["host"]), is_linux, name, look, scope=str(item.get("scope") or ""))


def _answer(look: Mapping[str, Any]) -> dict[str, Any]:
    """What the machine program would have answered."""
    if look.get("unreachable") or has_failed(look):
        return {"lost": message_of(look) or ("it could not be asked" if look else "it was not asked")}
    hello = {"resource_name": look.get("resource_name"), "placement_group": look.get("placement_group"), "problem": ""}
    return {"lost": "", "answers": [hello, look], "mark": None, "boot_id": "", "yes": [], "took": 0.0, "number": 0}


def _planned(record: Record, entry: EventState) -> dict[str, Any]:
    event = notification(entry.event, entry.tracked.notice)
    ends = [preparation_end(entry, record.hosts[host]) for host in entry.affected]
    return {
        **{name: event[name] for name in _OF_EVENT},
        "action": entry.decided.action,
        "rule": entry.decided.rule,
        "hold": entry.against.hold,
        "affected": list(entry.affected),
        "unknown": list(entry.whom.unknown),
        "verdict": _verdict(record, entry),
        "why": f"{entry.decided.words}; {entry.turn.words}" if entry.turn.shut else entry.decided.words,
        "unreachable": [host for host in entry.affected if record.hosts[host].lost],
        "seen_by": list(entry.sightings),
        "approvers": approvers_of(record, entry)[:2],
        "notice": entry.tracked.notice,
        "budget": max(min(ends, default=1.0), 1.0),
    }


def _verdict(record: Record, entry: EventState) -> str:
    action = entry.decided.action
    if not entry.affected:
        return "not_ours"
    if action in ("ignore", "notify"):
        return action
    if entry.started is not None:
        return "watch"
    if entry.against.hold and action == "approve":
        return "watch"
    if entry.turn.state == "later" or _may_wait(record, entry):
        return "later"
    if not (entry.against.hold or entry.turn.shut):
        return action
    return "watch" if action == "approve" else "prepare"


def _may_wait(record: Record, entry: EventState) -> bool:
    """Whether its hours open in time, or there is time yet. How long its preparation takes is not known here."""
    if not entry.turn.shut or entry.turn.state != "waits":
        return False
    shut = closed(record, entry, 0.0)
    within = max(record.hosts[host].options.prepare_before for host in entry.affected)
    return not_before(entry) > within or (shut is not None and shut.opens is not None)
