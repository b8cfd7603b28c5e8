# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run hands on: its result (``maintain_result``), and as lines for a person its record and what each tick has brought. Pure.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...module_utils._core.decision import acts
from ...module_utils._errors import ScheduledEventsError
from ...module_utils._events.event import notification
from ...module_utils._text import did_you_mean, listed, one_line
from .approving import ACCEPTED
from .reports import time_of_day
from .run_events import event_of, is_open, names_no_time, not_before
from .schema import Attempt, EventState, Happening, HostResult, Record
from .scopes import sentinels

_OF_EVENT = ("affected", "unknown", "action", "actions", "rule", "hold", "reasons", "outcome")


def result(record: Record) -> dict[str, Any]:
    """What is documented of a run, for people and for whatever comes after it. All times are of the day, in UTC."""
    run = record["run"]
    return {
        "format": 1,
        "run": run["run"],
        "job": run["job"],
        "controller": run["controller"],
        "began": time_of_day(record, record["clock"]["mono"]),
        "ended": time_of_day(record, record["at"]),
        "seconds": round(record["at"] - record["clock"]["mono"], 1),
        "rounds": record["rounds_done"],
        "timeline": lines(record),
        "events": [_event(record, entry) for entry in record["events"].values()],
        "problems": problems_of(record),
        "notes": notes_of(record),
    }


def shown(record: Any, part: str = "result") -> Any:
    """What people see of a record: its ``result``, ``timeline`` or ``plan``, or what is said at its ``end``."""
    parts: dict[str, Callable[[Record], Any]] = {
        "result": result,
        "timeline": lines,
        "plan": plan_lines,
        "end": end_lines,
    }
    if part not in parts:
        raise ScheduledEventsError(f"A record has no part {part!r}{did_you_mean(part, parts)}; it has {listed(parts)}.")
    return parts[part](record)


def problems_of(record: Record) -> list[str]:
    """What is left for a person."""
    return [*record["problems"].values(), *_unfinished(record)]


def notes_of(record: Record) -> list[str]:
    """What people may want to know."""
    return list(record["notes"].values())


def _unfinished(record: Record) -> list[str]:
    """A run ends when it has nothing left to do, or when it could not be decided on."""
    if record["finished"]:
        return []
    return ["The run ended although it was not over. Run it again: it goes on by the marks."]


def _event(record: Record, entry: EventState) -> dict[str, Any]:
    data: dict[str, Any] = dict(entry)
    return {
        **notification(event_of(entry), entry["notice"]),
        **{key: data[key] for key in _OF_EVENT},
        **{key: _moment(record, data[key]) for key in ("shown", "started", "gone")},
        "why": entry["words"],
        "seen_by": list(entry["sightings"]),
        "prepared": _of_hosts(record, entry["prepared"]),
        "recovered": _of_hosts(record, entry["recovered"]),
        "failed": "; ".join(f"{host}: {why}" for host, why in entry["failed"].items()),
        "unprepared": {host: how for host, how in entry["unprepared"].items() if how},
        "approval": _approval(record, entry),
    }


def _approval(record: Record, entry: EventState) -> dict[str, Any]:
    approval = entry["approval"]
    over = entry["started"] is not None or entry["gone"] is not None
    return {
        "sent": approval["sent"],
        "by": approval["by"],
        "at": _moment(record, approval["at"]),
        "confirmed": approval["sent"] and over,
        "tries": approval["tries"]["count"],
        "problem": "" if approval["sent"] else approval["tries"]["note"],
        "attempts": [
            {**one, "at": _moment(record, one["at"]), "until": _moment(record, one["until"])}
            for one in approval["attempts"]
        ],
    }


def _of_hosts(record: Record, results: Mapping[str, HostResult]) -> dict[str, dict[str, Any]]:
    return {host: {**one, "at": _moment(record, one["at"])} for host, one in results.items()}


def _moment(record: Record, at: float | None) -> str | None:
    return None if at is None else time_of_day(record, at)


MOST = 2000
"""Characters of a line, which may hold what came from anywhere: it is printed on terminals."""


def lines(record: Record) -> list[str]:
    """Every event of the run, oldest first: what happened when, to which machine; then what concerns no event."""
    said: list[str] = []
    for key, entry in sorted(record["events"].items(), key=lambda item: item[1]["shown"]):
        said.append(heading(entry))
        said.extend(_lines(record, [one for one in record["happenings"] if one["event"] == key], entry))
    others = [one for one in record["happenings"] if not one["event"]]
    if others:
        said.append("Besides")
        said.extend(_lines(record, others))
    return said or [_nothing(record, "No event was shown.")]


def end_lines(record: Record) -> list[str]:
    """What is said at the end: the timeline, in check mode the plan, what people may want to know, what is left for them."""
    said = plan_lines(record) if record["run"]["check"] else lines(record)
    for title, sentences in (("Notes", notes_of(record)), ("Left for a person", problems_of(record))):
        said += [title, *(f"  {one_line(one, MOST)}" for one in sentences)] if sentences else []
    return said


def plan_lines(record: Record) -> list[str]:
    """What the run is about to do, before it does it."""
    said = [f"{heading(entry)}: {decision(entry)}" for entry in record["events"].values() if is_open(entry)]
    return said or [_nothing(record, "No event is shown: there is nothing to do.")]


def _nothing(record: Record, words: str) -> str:
    """What is said where no event was seen, which is another thing where nobody could see any."""
    return "No machine could see its events: whether there are any is not known." if _all_are_blind(record) else words


def _all_are_blind(record: Record) -> bool:
    return all(
        machine["looked"] is None and (machine["look_problem"] or machine["lost"])
        for machine in record["hosts"].values()
    )


def _lines(record: Record, happenings: list[Happening], entry: EventState | None = None) -> list[str]:
    found = [(one["at"], one["what"], one["text"]) for one in happenings]
    if entry:
        found.append((entry["shown"], "planned", decision(entry)))
        found += [
            (one["at"], "tried", _tried_words(one))
            for one in entry["approval"]["attempts"]
            if one["answer"] != ACCEPTED
        ]
    found.sort(key=lambda one: (one[0], one[1] == "planned"))
    return [f"  {line(record, at, what, text)}" for at, what, text in found]


def _tried_words(attempt: Attempt) -> str:
    """An approval that was not accepted, as far as anybody knows."""
    times = f" ({attempt['times']} times)" if attempt["times"] > 1 else ""
    return f"to approve it, by {attempt['by']}: {attempt['answer']}{times}"


def line(record: Record, at: float, what: str, text: str) -> str:
    """What happened when."""
    return f"{time_of_day(record, at)}  {what:<9}  {one_line(text, MOST)}".rstrip()


def heading(entry: EventState) -> str:
    """An event, and whom it affects."""
    machines = listed(entry["affected"]) or "none of ours"
    source = entry["source"] or "source unknown"
    words = f"{entry['type'] or 'An event'} {entry['id']} ({source}) affects {listed(entry['resources'])} ({machines})"
    return one_line(words, MOST)


def decision(entry: EventState) -> str:
    """What is to be done about an event, and why."""
    parts = [entry["words"]]
    if any(map(acts, entry["actions"].values())) and entry["started"] is None:
        notice = not_before(entry) - entry["shown"]
        if names_no_time(entry):
            parts.append("it names no time")
        else:
            parts.append(f"{notice:.0f} s after it was shown at the latest" if notice > 0 else "its time is over")
        parts += [words for words in (entry["turn_words"], entry["hold"] and f"not approved: {entry['hold']}") if words]
    return "; ".join(parts)


# ---- what a tick has brought ----

LASTS = 30.0
"""Seconds after which a problem is said while the run goes on: many are over in the next tick."""

NOBODY_LASTS = 10.0
"""The same where no machine can approve an event that is ready: its notice may be short."""


def news(before: Record, after: Record) -> list[str]:
    """What is new since the tick before, in the order in which it happened.

    What concerns an event names it at the end of the line, as several may be under way.
    """
    lines = [_line(after, one) for one in new_happenings(before, after)]
    if after["todo"]["idle"] and not after["finished"] and not (before["ticks"] and before["todo"]["idle"]):
        lines.append(_waits(after))
    return lines


def new_happenings(before: Record, after: Record) -> list[Happening]:
    """The same as data: what happened, what was tried, decided, and found to be a problem."""
    found = after["happenings"][len(before["happenings"]) :]
    found = [*found, *_tried(before, after), *_decided(before, after), *_problems(before, after)]
    return sorted(found, key=lambda one: one["at"])


def _line(record: Record, one: Happening) -> str:
    entry = record["events"].get(one["event"])
    text = one["text"]
    if entry and one["what"] == "shown":
        text = f"{heading(entry)}: {text}"
    elif entry and one["what"] == "tried":
        text = f"to approve {name_of(entry)}, by {text}"
    elif entry:
        text = f"{text} ({name_of(entry)})"
    return line(record, one["at"], one["what"], text)


def _new(at: float, what: str, text: str, event: str = "", host: str = "") -> Happening:
    return {"at": at, "what": what, "text": text, "event": event, "host": host}


def _about(subject: str, after: Record, what: str, text: str) -> Happening:
    return {"at": after["at"], "what": what, "text": text, "event": "", "host": "", "subject": subject}


def _decided(before: Record, after: Record) -> list[Happening]:
    """What is to be done about an event, when it is shown and whenever that changes."""
    found = []
    for key, entry in after["events"].items():
        earlier = before["events"].get(key)
        same = earlier and (earlier["words"], earlier["action"]) == (entry["words"], entry["action"])
        if not same and entry["gone"] is None:
            # after what has happened in the same tick
            found.append(_new(after["at"], "planned", decision(entry), key))
    return found


def _tried(before: Record, after: Record) -> list[Happening]:
    """Approvals that were not accepted: an accepted one has happened."""
    found = []
    for key, entry in after["events"].items():
        known = len(before["events"][key]["approval"]["attempts"]) if key in before["events"] else 0
        for one in entry["approval"]["attempts"][known:]:
            if one["answer"] != ACCEPTED:
                found.append(_new(one["at"], "tried", f"{one['by']}: {one['answer']}", key, one["by"]))
    return found


def _problems(before: Record, after: Record) -> list[Happening]:
    """A problem that stays at once, any other when it has lasted; and that it is over, if it was said."""
    found = []
    for subject, words in after["problems"].items():
        stays = subject in after["lasting"] and subject not in before["lasting"]
        if stays or (not _is_said(before, subject) and _is_said(after, subject)):
            found.append(_about(subject, after, "problem", words))
    for subject, words in before["problems"].items():
        if _is_said(before, subject) and subject not in after["problems"]:
            found.append(_about(subject, after, "solved", words))
    for subject, words in after["notes"].items():
        if subject not in before["notes"] or not before["ticks"]:
            found.append(_about(subject, after, "note", words))
    return found


def _is_said(record: Record, subject: str) -> bool:
    if subject in record["lasting"]:
        return True
    most = NOBODY_LASTS if _is_unapprovable(record, subject) else LASTS
    lasts = subject in record["since"] and record["at"] - record["since"][subject] >= most
    return lasts and not _is_under_way(record, subject)


def _is_under_way(record: Record, subject: str) -> bool:
    """Whether it would be a problem if the run ended now, as a machine that is just being recovered. What goes wrong with that
    has happened: it is said as such."""
    _who, _colon, what = subject.rpartition(": ")
    entry = _approval_of(record, subject)
    return what == "left" or bool(entry and not entry["hold"] and not _is_unapprovable(record, subject))


def _is_unapprovable(record: Record, subject: str) -> bool:
    entry = _approval_of(record, subject)
    return bool(entry and entry["approval"]["nobody"])


def _approval_of(record: Record, subject: str) -> EventState | None:
    who, _colon, what = subject.rpartition(": ")
    return record["events"].get(who.removeprefix("event ")) if what == "approval" else None


def _waits(record: Record) -> str:
    until = time_of_day(record, record["clock"]["mono"] + record["same"]["wait_timeout"])
    who = list(sentinels(record).values())
    shown = ", ".join(who) if len(who) <= 5 else f"{len(who)} machines"
    poll = "polls" if len(who) == 1 else "poll"
    what = "no machine could see its events so far" if _all_are_blind(record) else "nothing is under way"
    return line(record, record["at"], "waits", f"{what}; {shown} {poll} for new events, until {until}")


def name_of(entry: EventState) -> str:
    return f"{entry['type'] or 'event'} {entry['id']}"
