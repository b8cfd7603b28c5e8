# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Outages: whether a machine is to be prepared, brought back or left as it is, and what came of that. It changes the record, and nothing else.

Private to this collection.

A machine is asked to be "prepared" for events or "recovered"; how it gets there is its own affair. Only a machine that bears a
mark of this run, or one that a dead run left, is ever brought back, and only when its own document shows that its events are over.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ...module_utils._core.mark_view import COPIED, EXPIRED, FRESH, NOBODY, OURS, WATCHER
from ...module_utils._core.transitions import PREPARED, RECOVER_AGAIN, RECOVERED, Try, is_new_outage, taken_up
from ...module_utils._steps.sequence import BEGUN, DONE, FAILED, NOT_TAKEN_BACK, TAKEN_BACK, TAKING_BACK
from ...module_utils._text import clause, first_line
from .due import budget, is_last_call, may_come_now, must_prepare, preparation_end, undo_fits
from .judging import is_given_up, needs_preparation, title
from .life import STAYED, is_open, not_before
from .lost_marks import undo_words, undone_words
from .marks import has_restarted, holder_words, how_far, mark_keys, phase, whose
from .reports import happened, note, report, time_of_day
from .said_there import note_put_back
from .schema import EventState, HostResult, MachineState, Record
from .watchers import is_its_watchers, lacks_steps

LONG_TICK = 60.0
"""Seconds that a look may be old for a machine which could have been brought back that long ago: where all ticks are long, as while
load balancers hang, none is younger when its tick ends, and who does not hang must not wait for who does."""

LOOKS_IN_VAIN = 60.0
"""Seconds after which a machine is brought back that can be reached, but can't look: others have seen that its events are over."""


NOT_BEGUN = "NOT STARTED"


class Target(NamedTuple):
    """What a machine is asked to become."""

    to: str  # prepared or recovered
    events: list[str]  # ids
    left: float
    take: str = ""
    still: bool = False
    again: bool = False  # what a start of the machine has taken back is done once more
    turn_round: bool = False  # it is another outage: what the one before has under way in being undone is stopped


def target(record: Record, machine: MachineState, at: float) -> Target | None:
    """What the machine is to become; None when it is left as it is."""
    owner = whose(record, machine, at)
    if record["run"]["check"] or machine["aside"] or owner not in (NOBODY, OURS, EXPIRED):
        return None
    if owner == NOBODY and (is_its_watchers(machine) or lacks_steps(machine)):
        return None
    take = machine["mark"]["holder"]["run"] if owner == EXPIRED and machine["mark"] else ""
    wanted = wanted_events(record, machine, at)
    if wanted and owner == NOBODY and _rests(machine, PREPARED, at):
        return None
    if wanted:
        return _to_prepare(record, machine, wanted, owner, take, at)
    if owner == NOBODY:
        return None
    if is_kept(record, machine, at):
        moving = owner == OURS and phase(machine) in ("preparing", "recovering")
        to = "prepared" if phase(machine) == "preparing" else "recovered"
        if not (moving or machine["mark_lost"]):
            return None
        return Target(to, [], max(machine["needs"], RECOVER_AGAIN), take, still=True)
    if _rests(machine, RECOVERED, at):
        return None
    return (
        Target("recovered", [], _time_to_recover(record, machine, at), take)
        if _may_recover(record, machine, owner, at)
        else None
    )


def _rests(machine: MachineState, to: str, at: float) -> bool:
    """Whether it is too early to retry what did not come about."""
    times, failed_at = (1, machine["unbegun"]) if to == PREPARED else (machine["tries"], machine["tried"])
    return failed_at is not None and Try(to, failed_at, times).rests(to, at)


def of_machine(record: Record, machine: MachineState) -> dict[str, EventState]:
    """The events that are not gone and affect the machine, or stand in its mark."""
    keys = mark_keys(machine)
    return {
        key: entry
        for key, entry in record["events"].items()
        if entry["gone"] is None and (machine["host"] in entry["affected"] or key in keys)
    }


# ---- to be prepared ----


def wanted_events(record: Record, machine: MachineState, at: float) -> dict[str, EventState]:
    """The events that the machine is to be prepared for now."""
    keys, host = mark_keys(machine), machine["host"]
    if machine["mark_restored"]:
        return {}  # it is in service again, but for what others did: that is undone first
    wanted = {}
    for key, entry in of_machine(record, machine).items():
        if not is_open(entry) or not needs_preparation(entry, host) or host in entry["failed"] or is_given_up(entry):
            continue
        if is_last_call(entry) or (entry["started"] is None and (key in keys or _is_in_time(entry, machine, key, at))):
            wanted[key] = entry
    return _taken_up(record, machine, wanted, at) if wanted and machine["mark"] else wanted


def _taken_up(
    record: Record, machine: MachineState, wanted: Mapping[str, EventState], at: float
) -> dict[str, EventState]:
    """Those of them that its outage takes up now, by how far it is."""
    host = machine["host"]
    known = [record["events"][key] for key in mark_keys(machine) if key in record["events"]]
    keys = taken_up(
        how_far(record, machine, at),
        list(wanted),
        _is_struck(record, machine),
        lambda key: wanted[key]["type"].lower() == "preempt",
        lambda key: must_prepare(wanted[key], machine, at),
        retry=not any(host in entry["failed"] for entry in known),
    )
    return {key: wanted[key] for key in keys}


def _is_struck(record: Record, machine: MachineState) -> bool:
    """Whether one of its events is under way."""
    return any(entry["started"] is not None for entry in of_machine(record, machine).values())


def _is_seen(entry: EventState) -> bool:
    """Whether the last document of any that was shown it shows it still: what has left may be over, and nothing is begun for it."""
    return not entry["sightings"] or any(one["absent"] is None for one in entry["sightings"].values())


def _is_in_time(entry: EventState, machine: MachineState, key: str, at: float) -> bool:
    """Whether the machine may be prepared for an event that does not stand in its mark."""
    if not entry["may_prepare"] or _joined_what_is_full(entry, machine) or not _is_seen(entry):
        return False
    # A machine that is prepared already joins as long as the event has not come.
    end = not_before(entry) if phase(machine) == "prepared" else preparation_end(entry, machine)
    return end > at or may_come_now(entry, machine, key, at)


def _joined_what_is_full(entry: EventState, machine: MachineState) -> bool:
    """Whether it has turned out, since the event's turn came, to affect this machine, too, for which the capacity has no room."""
    if entry["turn"] == "due":
        return False
    return entry["too_large"] or (entry["full"] and machine["mark"] is None)


def _to_prepare(
    record: Record, machine: MachineState, wanted: Mapping[str, EventState], owner: str, take: str, at: float
) -> Target | None:
    keys = mark_keys(machine)
    seen = {key: entry for key, entry in wanted.items() if _is_seen(entry)}
    must = any(must_prepare(entry, machine, at) for entry in seen.values())
    wanted = seen if must else wanted  # what may be over holds up nothing that has to be done now
    still = not must and (len(seen) < len(wanted) or _is_struck(record, machine))
    left = budget(machine, wanted.items(), at)
    again = not still and left > 0 and any(_is_undone(machine, key, at) for key in wanted)
    if owner == OURS and phase(machine) == "prepared" and all(key in keys for key in wanted) and not again:
        return None
    is_new = is_new_outage(how_far(record, machine, at))
    if still and (is_new or owner != OURS):
        return None
    return Target("prepared", [entry["id"] for entry in wanted.values()], max(left, 0.0), take, still, again, is_new)


def _is_undone(machine: MachineState, key: str, at: float) -> bool:
    """Whether a start of the machine has taken back what was done, and its own document still announces the event: whatever made it
    start was not this event."""
    return has_restarted(machine) and _has_looked(machine, at) and key in machine["shows"]


def note_restarts(record: Record, at: float) -> None:
    """Whatever was done for an event that is still to come counts no more on a machine that was started anew since."""
    for host, machine in record["hosts"].items():
        for key, entry in record["events"].items():
            affected = host in entry["affected"] or key in mark_keys(machine)
            if host in entry["restarted"] or not affected or not is_open(entry) or entry["started"] is not None:
                continue
            if whose(record, machine, at) in (OURS, EXPIRED, WATCHER) and _is_undone(machine, key, at):
                entry["restarted"][host] = machine["restarted"] = machine["begun"] = at
                if entry["prepared"].pop(host, None):
                    words = f"{host} was rebooted after it was prepared, and counts as in service until its steps are done again"
                    happened(record, at, "restarted", words, key, host)
                    note(
                        record,
                        f"event {key}: {host} restarted",
                        f"{title(entry)}: at {time_of_day(record, at)} {words}.",
                    )


# ---- to be kept, or brought back ----


def is_kept(record: Record, machine: MachineState, at: float) -> bool:
    """Whether an event that is not over holds the machine's recovery back."""
    return any(_keeps(record, key, entry, machine, at) for key, entry in of_machine(record, machine).items())


def _keeps(record: Record, key: str, entry: EventState, machine: MachineState, at: float) -> bool:
    if entry["started"] is not None or entry["approval"]["sent"]:
        return True  # what was approved may start at any moment
    if phase(machine) == "recovering" and not is_given_up(entry):
        return False  # what shows, or shows again, in the middle of it is another outage's
    if key not in mark_keys(machine):
        return phase(machine) != "recovering" and comes_soon(entry, machine, at)
    if not is_given_up(entry):
        return True
    if machine["options"]["on_failure"] != "revert":
        return True
    return _lacks_time_to_undo(record, machine, at)


def _lacks_time_to_undo(record: Record, machine: MachineState, at: float) -> bool:
    """Under an event nothing is put into service: there must be time for all of it, before any that comes."""
    return phase(machine) != "recovering" and not undo_fits(machine, _coming(record, machine).values(), at)


def _coming(record: Record, machine: MachineState) -> dict[str, EventState]:
    """Its events that are still watched and may start."""
    return {
        key: entry
        for key, entry in of_machine(record, machine).items()
        if entry["started"] is None and entry["closed"] != STAYED
    }


def _note_staying_out(record: Record, machine: MachineState, at: float) -> None:
    """Say once that a preparation which failed is not undone before its event, for want of time."""
    host = machine["host"]
    for key, entry in of_machine(record, machine).items():
        given_up = key in mark_keys(machine) and is_given_up(entry) and entry["started"] is None
        if not given_up or machine["options"]["on_failure"] != "revert" or not _lacks_time_to_undo(record, machine, at):
            continue
        if any((one["what"], one["event"], one["host"]) == ("stays", key, host) for one in record["happenings"]):
            continue
        left = max(min(not_before(one) - at for one in _coming(record, machine).values()), 0.0)
        words = (
            f"{host} out of service until the event is over: no time to undo its preparation (needs {machine['undo_needs']:.0f} s, "
            f"{left:.0f} s left)"
        )
        happened(record, at, "stays", words, key, host)


def comes_soon(entry: EventState, machine: MachineState, at: float) -> bool:
    """Whether an event comes too soon to bring a machine back that was out for another one: it could not be prepared for it any more,
    or, for one that was given up, not be in service before it."""
    if machine["host"] not in entry["affected"] or not needs_preparation(entry, machine["host"]):
        return False
    if entry["started"] is not None or entry["closed"] == STAYED:
        return False
    too_late = at >= preparation_end(entry, machine) and not is_given_up(entry)
    return too_late or not undo_fits(machine, [entry], at)


def _may_recover(record: Record, machine: MachineState, owner: str, at: float) -> bool:
    """Whether the machine has looked itself, just now, and its events are over."""
    if machine["lost"]:
        return False  # much may have changed meanwhile
    reverts = any(is_given_up(entry) for entry in of_machine(record, machine).values())
    looked = _has_looked(machine, at)
    if looked and reverts and owner == OURS:
        return True
    if looked:  # its events are gone, as others have it, and its own document does not say otherwise
        return not {"", *mark_keys(machine)}.intersection(machine["unreadable"])
    in_vain = machine["recovering"] is not None and at - machine["recovering"] >= LOOKS_IN_VAIN
    return owner == OURS and bool(machine["look_problem"]) and in_vain


def _has_looked(machine: MachineState, at: float) -> bool:
    if machine["looked"] is None or machine["look_problem"]:
        return False
    waits = at - machine["recovering"] if machine["recovering"] is not None else 0.0
    return at - machine["looked"] <= (LONG_TICK if waits >= LONG_TICK else FRESH)


def _time_to_recover(record: Record, machine: MachineState, at: float) -> float:
    coming = [not_before(entry) - at for entry in of_machine(record, machine).values() if is_given_up(entry)]
    if coming:
        return max(min(coming), 0.0)
    spent = at - machine["recovering"] if machine["recovering"] is not None else 0.0
    return max(machine["options"]["recover_timeout"] - spent, machine["needs"], RECOVER_AGAIN)


def follow(record: Record, at: float) -> None:
    """Note since when each machine could be brought back, by what is known of it and its events."""
    for machine in record["hosts"].values():
        owner = whose(record, machine, at)
        if not of_machine(record, machine):
            machine["unbegun"] = None
        if owner in (OURS, EXPIRED):
            _note_staying_out(record, machine, at)
        due = (
            owner in (OURS, EXPIRED, WATCHER)
            and not wanted_events(record, machine, at)
            and not is_kept(record, machine, at)
        )
        if not due:
            machine["recovering"] = None
        elif machine["recovering"] is None:
            machine["recovering"], machine["tried"], machine["tries"] = at, None, 0


# ---- what came of it ----


class Before(NamedTuple):
    """How a machine's mark was before an answer."""

    owner: str
    phase: str
    keys: list[str]
    recovering: bool
    words: str
    undone: str  # what is to be undone by it
    answered: float | None  # when it was seen


def before_answer(record: Record, machine: MachineState, at: float) -> Before:
    words = holder_words(machine) if machine["mark"] else ""
    return Before(
        whose(record, machine, at),
        phase(machine),
        mark_keys(machine),
        machine["recovering"] is not None,
        words,
        undone_words(machine),
        machine["answered"],
    )


_DO, _UNDO = "do", "undo"
_DIRECTION = {BEGUN: _DO, DONE: _DO, FAILED: _DO, TAKING_BACK: _UNDO, TAKEN_BACK: _UNDO, NOT_TAKEN_BACK: _UNDO}


def take_steps(machine: MachineState, answer: Mapping[str, Any]) -> None:
    """How far each step has come, by the machine's mark, or where it has just removed that, by what it says it did."""
    went = [one["steps"] for one in answer.get("answers") or () if one.get("steps")]
    mark = machine["mark"] or {}
    for entry in went[-1] if went else mark.get("steps") or ():
        direction = _DIRECTION.get(entry["state"])
        if direction:
            done = {"state": entry["state"], "seconds": round(entry["seconds"], 1), "note": entry["note"]}
            machine["steps_done"].setdefault(direction, {})[entry["key"]] = done  # type: ignore[assignment]
    if machine["mark"] is None and not went:
        machine["steps_done"] = {}


def take_mark(record: Record, machine: MachineState, before: Before, asked: bool, at: float) -> None:
    """What has become of the machine's mark since it was last seen.

    :arg asked: whether it was asked to recover
    """
    owner, host = whose(record, machine, at), machine["host"]
    if before.owner == NOBODY and owner == EXPIRED:
        happened(
            record,
            at,
            "found",
            f"{host} is marked by {holder_words(machine)}, which is not heard of any more",
            host=host,
        )
    if before.owner == EXPIRED and owner == OURS:
        happened(record, at, "taken over", f"{host}, from {before.words}", host=host)
    if before.owner == COPIED and owner == NOBODY:
        words = f"{host}: the mark of {before.words}, which is that of the VM of which it is a copy; nothing of it was done here"
        happened(record, at, "put aside", words, host=host)
    note_put_back(record, machine, before.keys, before.answered)
    if phase(machine) == "recovering" or (before.owner != NOBODY and owner == NOBODY):
        machine["undone"] = at
    if owner in (OURS, WATCHER) and machine["begun"] is None:
        machine["begun"] = at
    if owner in (OURS, WATCHER) and phase(machine) == "prepared":
        _note_prepared(record, machine, at)
    if before.owner in (OURS, EXPIRED, WATCHER) and owner == NOBODY:
        if before.recovering or asked or before.owner in (EXPIRED, WATCHER):
            _note_recovered(record, machine, before.keys, True, "", at, by_watcher=before.owner == WATCHER)
        else:
            _note_removed(record, machine, before, at)
        machine["recovering"] = machine["tried"] = None
        machine["tries"] = 0
        machine["why"] = ""


def _note_prepared(record: Record, machine: MachineState, at: float) -> None:
    host = machine["host"]
    for key in mark_keys(machine):
        entry = record["events"].get(key)
        if entry and host in entry["restarted"] and has_restarted(machine):
            continue
        if entry and entry["gone"] is None and not _counts(entry, machine):
            entry["prepared"][host] = _result(machine, _DO, True, "", machine["begun"], at)
            entry["restarted"].pop(host, None)
            happened(record, at, "prepared", _in_seconds(host, entry["prepared"][host]), key, host)


def note_all_done(record: Record, machine: MachineState, event_ids: Iterable[str], at: float) -> None:
    """That a machine was prepared when others had done the last of its steps: it was approved in the call that was to note it, so that
    its events may have started by the time when its mark is seen.

    :arg at: when they had
    """
    host = machine["host"]
    for key in (event_id.upper() for event_id in event_ids):
        entry = record["events"].get(key)
        if entry and entry["gone"] is None and host not in entry["restarted"] and not _counts(entry, machine):
            entry["prepared"][host] = _result(machine, _DO, True, "", machine["begun"], at)
            entry["announced"] = max(
                entry["announced"], at
            )  # it was approved, or was to be, as one that has not started
            happened(record, at, "prepared", _in_seconds(host, entry["prepared"][host]), key, host)


def _counts(entry: EventState, machine: MachineState) -> bool:
    """Whether it is noted that the machine was prepared for the event, and that was not undone since."""
    result = entry["prepared"].get(machine["host"])
    return bool(result and result["ok"] and (machine["undone"] is None or machine["undone"] < result["at"]))


def _note_recovered(
    record: Record,
    machine: MachineState,
    keys: list[str],
    ok: bool,
    why: str,
    at: float,
    by_watcher: bool = False,
) -> None:
    host = machine["host"]
    known = [key for key in keys if key in record["events"]]
    for key in known:
        entry = record["events"][key]
        # A watcher may have seen that its event is gone before this run.
        reverted = entry["gone"] is None and not (by_watcher and entry["started"] is not None)
        result = _result(machine, _UNDO, ok, why, machine["recovering"], at)
        result["reverted"], result["rebooted"] = reverted, _rebooted(machine)
        entry["prepared"].pop(host, None) if reverted and ok and not entry["failed"] else None
        entry["recovered"][host] = result
        words = "NOT BACK" if not ok else "reverted" if reverted else "recovered"
        happened(record, at, words, _in_seconds(host, result), key, host)
    if not known:
        happened(record, at, "recovered" if ok else "NOT BACK", f"{host}{f': {why}' if why else ''}", host=host)


def _note_removed(record: Record, machine: MachineState, before: Before, at: float) -> None:
    host = machine["host"]
    if all(key in machine["put_back"] for key in before.keys):
        return  # by a person, in spite of its events: that is said of each of them
    if before.undone:
        words = f"Somebody else removed the mark of {host}, so this run undoes nothing there. {undo_words(host, before.undone)}"
        report(record, f"machine {host}: removed", words)
    for key in before.keys:
        entry = record["events"].get(key)
        if entry and entry["gone"] is None:
            entry["prepared"].pop(host, None)
            entry["failed"].setdefault(host, "somebody else removed its mark, so this run leaves it alone")
            happened(record, at, "removed", f"{host}: somebody else removed its mark", key, host)


def take_go(
    record: Record, machine: MachineState, request: Mapping[str, Any], answer: Mapping[str, Any], at: float
) -> None:
    """What the machine answered to what it was asked to become."""
    state = answer.get("state")
    if state in ("failed", "half", "refused", "skipped") or answer.get("problem"):
        machine["why"] = first_line(answer.get("why") or answer.get("problem"), 1000)
    if not answer.get("ask") and not answer.get("problem") and state != "skipped":
        machine["before"], machine["outcomes"] = {}, {}
    if request["to"] == "prepared" and state == "failed":
        ids = [str(event_id).upper() for event_id in request["events"]]
        # Before its mark says that, nothing was done that could have failed: it may come about the next time.
        has_failed = phase(machine) == "half"
        (_note_failure if has_failed else _note_not_begun)(record, machine, ids, at)
    elif request["to"] == "prepared" and state in ("preparing", "prepared") and not answer.get("ask"):
        machine["unbegun"] = None
    elif request["to"] == "recovered" and state in ("failed", "half"):
        if machine["tried"] is None:
            _note_recovered(record, machine, mark_keys(machine), False, machine["why"] or "no reason was given", at)
        machine["tried"], machine["tries"] = at, machine["tries"] + 1


def _note_failure(record: Record, machine: MachineState, asked: list[str], at: float) -> None:
    host, why = machine["host"], machine["why"] or "no reason was given"
    for key in dict.fromkeys([*asked, *mark_keys(machine)]):
        entry = record["events"].get(key)
        if entry and entry["gone"] is None and host not in entry["failed"] and needs_preparation(entry, host):
            entry["failed"][host] = why
            entry["prepared"][host] = _result(machine, _DO, False, why, machine["begun"], at)
            happened(record, at, "FAILED", _in_seconds(host, entry["prepared"][host]), key, host)


def _note_not_begun(record: Record, machine: MachineState, asked: list[str], at: float) -> None:
    host, machine["unbegun"] = machine["host"], at
    for key in asked:
        known = [
            one for one in record["happenings"] if (one["what"], one["event"], one["host"]) == (NOT_BEGUN, key, host)
        ]
        if key in record["events"] and not known:
            why = clause(machine["why"] or "no reason was given", 1000)
            happened(record, at, NOT_BEGUN, f"{host}: {why}. It is tried again", key, host)


def _result(machine: MachineState, direction: str, ok: bool, why: str, since: float | None, at: float) -> HostResult:
    seconds = round(at - since, 1) if since is not None else 0.0
    steps = dict(machine["steps_done"].get(direction, {}))
    return {"ok": ok, "at": at, "seconds": seconds, "message": why, "reverted": False, "rebooted": None, "steps": steps}


def _rebooted(machine: MachineState) -> bool | None:
    if not machine["boot_id"] or not machine["boot_before"]:
        return None
    return machine["boot_id"] != machine["boot_before"]


def _in_seconds(host: str, result: HostResult) -> str:
    said = f": {clause(result['message'], 1000)}" if result["message"] and not result["ok"] else ""
    rebooted = {True: ", it had rebooted", False: ", without a reboot", None: ""}[result["rebooted"]]
    return f"{host} in {result['seconds']:.1f} s{said}{rebooted}"
