# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Approvals: what the record says of an event's readiness, who sends the approval, and what came of it. Pure.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...module_utils._text import first_line, one_line
from .approval import Approver, Choice, Readiness, Standing, in_order, next_approver, readiness, tried
from .hold import said_yes
from .judging import is_acting, is_handled, needs_preparation, title
from .life import event_of, is_open, not_before
from .marks import DRAIN, FOREIGN, NOBODY, OURS, RUN, UNREADABLE, holder_words, is_prepared, whose
from .policies import APPROVING
from .reports import happened
from .schema import EventState, MachineState, Record
from .watchers import why_not_by_watcher


def readiness_of(record: Record, key: str, entry: EventState, at: float) -> Readiness:
    """Whether an event may be approved now, by the present marks of its machines."""
    capacity = entry["turn_words"] if entry["turn"] else ""
    return readiness(
        event_of(entry),
        entry["action"],
        [_standing(record, key, entry, record["hosts"][host], at) for host in entry["affected"]],
        entry["unknown"],
        entry["nameless"],
        entry["ambiguous"],
        capacity,
        yes=is_agreed(record, key, entry),
    )


def is_agreed(record: Record, key: str, entry: EventState) -> bool:
    """Whether a person has said yes on any of its machines."""
    return bool(said_yes(key, entry["affected"], {host: record["hosts"][host]["yes"] for host in entry["affected"]}))


def is_waiting_for_yes(record: Record, key: str, entry: EventState, at: float) -> bool:
    """Whether all is prepared, and only a person's yes is missing."""
    if not is_handled(entry) or entry["action"] != "hold" or entry["started"] is not None or entry["hold"]:
        return False
    ready = all(
        is_prepared(record, record["hosts"][host], key, at)
        for host in entry["affected"]
        if needs_preparation(entry, host)
    )
    return ready and not is_agreed(record, key, entry)


def _standing(record: Record, key: str, entry: EventState, machine: MachineState, at: float) -> Standing:
    host = machine["host"]
    return Standing(
        host=host,
        action=entry["actions"].get(host, ""),
        prepared=is_prepared(record, machine, key, at),
        allow_unknown=machine["options"]["allow_unknown"],
        problem=_why_not_preparable(record, key, entry, machine, at),
        denies=_denies(key, entry, machine),
    )


def _why_not_preparable(record: Record, key: str, entry: EventState, machine: MachineState, at: float) -> str:
    host = machine["host"]
    if machine["contradiction"]:
        return "goes by another name in the inventory"
    owner = whose(record, machine, at)
    if owner in (RUN, DRAIN, UNREADABLE, FOREIGN):
        return f"bears the mark of {holder_words(machine)}"
    if not needs_preparation(entry, host):
        return ""
    by_watcher = why_not_by_watcher(record, machine, is_prepared(record, machine, key, at), at)
    if by_watcher:
        return by_watcher
    if host in entry["failed"]:
        return f"could not be prepared: {entry['failed'][host]}"
    if machine["lost"]:
        return f"can't be reached: {machine['lost']}"
    return ""


def _denies(key: str, entry: EventState, machine: MachineState) -> bool:
    """Whether its own latest document lacks the event, though it is one of the machines that should be shown it."""
    return machine["looked"] is not None and machine["looked"] > entry["shown"] and key not in machine["shows"]


def note_readiness(record: Record, at: float) -> None:
    """Write down for each open event what stands against its approval, and what that waits for."""
    for key, entry in record["events"].items():
        if not is_open(entry) or entry["started"] is not None:
            continue
        wanted = is_acting(entry) and entry["action"] in APPROVING
        found = readiness_of(record, key, entry, at) if wanted else None
        entry["hold"] = found.against if found else ""
        entry["waits"] = found.yet if found else ""


# ---- who sends it ----


def to_approve(record: Record, at: float) -> dict[str, list[str]]:
    """The keys of the events that each machine approves now."""
    work: dict[str, list[str]] = {}
    if record["run"]["check"]:
        return work
    for key, entry in record["events"].items():
        choice = choice_of(record, key, entry, at)
        if choice and choice.host:
            work.setdefault(choice.host, []).append(key)
    return work


def choice_of(record: Record, key: str, entry: EventState, at: float) -> Choice | None:
    """Who approves an event now; None when it isn't ready, or needs no approval any more."""
    if not is_handled(entry) or entry["started"] is not None or entry["approval"]["sent"]:
        return None
    if entry["action"] not in APPROVING or not readiness_of(record, key, entry, at).ready:
        return None
    approvers = [_approver(record, key, entry, machine, at) for machine in record["hosts"].values()]
    left = not_before(entry) - at
    return next_approver(event_of(entry), approvers, entry["approval"]["tries"], at, record["same"]["takeover"], left)


def approvers_of(record: Record, key: str, entry: EventState, at: float) -> list[str]:
    """Who can approve an event, the best first."""
    return in_order(
        event_of(entry), [_approver(record, key, entry, machine, at) for machine in record["hosts"].values()]
    )


def _approver(record: Record, key: str, entry: EventState, machine: MachineState, at: float) -> Approver:
    host = machine["host"]
    affected = any(host in other["affected"] for other in record["events"].values() if is_handled(other))
    able = not (machine["lost"] or machine["look_problem"] or machine["aside"])
    return Approver(
        host=host,
        is_linux=machine["is_linux"],
        shown=key in machine["shows"],
        affected=affected,
        own=host in entry["affected"],
        able=able and whose(record, machine, at) in (OURS, NOBODY),
    )


def approve_request(record: Record, keys: list[str]) -> dict[str, Any]:
    """What the approver is asked: which events, who is ready for them, who may be unknown."""
    entries = [record["events"][key] for key in keys]
    names = [record["hosts"][host]["resource_name"] for entry in entries for host in entry["affected"]]
    return {
        "do": "approve",
        "ids": [entry["id"] for entry in entries],
        "prepared": list(dict.fromkeys(names)),
        "allow_unknown": list(dict.fromkeys(name for entry in entries for name in entry["unknown"])),
    }


# ---- what came of it ----

ACCEPTED = "accepted"


def _note_try(entry: EventState, host: str, result: str, answer: str, at: float) -> None:
    """One more try: whose turn it is next, and what people may read of it."""
    approval = entry["approval"]
    words = one_line(answer, 1000) or result
    approval["tries"] = tried(approval["tries"], host, at, result, f"{host}: {words}" if answer else "")
    same = [one for one in approval["attempts"] if (one["by"], one["answer"]) == (host, words)]
    if not same:
        approval["attempts"].append({"by": host, "at": at, "until": at, "times": 1, "answer": words})
    for one in same:  # it is tried every two seconds, for hours perhaps
        one["until"], one["times"] = at, one["times"] + 1


def take_lost_approval(record: Record, host: str, ids: list[str], why: str, at: float) -> None:
    """Nothing came back from the approver: Azure may have got the approval."""
    for event_id in ids:
        entry = record["events"][event_id.upper()]
        entry["approval"]["maybe"] = True
        _note_try(entry, host, "lost", why, at)


def take_approval(record: Record, host: str, ids: list[str], answer: Mapping[str, Any], at: float) -> None:
    """What the approver answered."""
    approved = {str(event_id).upper() for event_id in answer.get("approved") or ()}
    already = {str(event_id).upper() for event_id in answer.get("already") or ()}
    refused = {str(item["id"]).upper(): item for item in answer.get("not_approved") or ()}
    for event_id in ids:
        key = event_id.upper()
        entry = record["events"][key]
        approval = entry["approval"]
        if key in approved:
            approval["sent"] = approval["maybe"] = True
            approval["by"], approval["at"] = host, at
            _note_try(entry, host, ACCEPTED, "", at)
            happened(record, at, "approved", f"by {host}", key, host)
        elif key in already:
            _note_try(entry, host, ACCEPTED, "it had started already", at)
        else:
            _take_refusal(entry, host, refused.get(key), answer, at)


def _take_refusal(
    entry: EventState, host: str, refused: Mapping[str, Any] | None, answer: Mapping[str, Any], at: float
) -> None:
    """Nothing is known to have come of it. Who would not was the machine; who could not, its service."""
    by_machine = refused is not None and not answer.get("failure")
    said = (refused or {}).get("message") or answer.get("msg") or answer.get("problem") or "it gave no reason"
    entry["approval"]["maybe"] = entry["approval"]["maybe"] or not by_machine
    _note_try(entry, host, "refused" if by_machine else "failed", first_line(said, 1000), at)


def no_approver_words(record: Record, key: str, entry: EventState, at: float) -> str:
    """Why an event that is ready has not been approved; "" where it is not ready, or was."""
    choice = choice_of(record, key, entry, at)
    if choice is None:
        return ""
    return f"{title(entry)} could not be approved: {entry['approval']['tries']['note'] or choice.words}"
