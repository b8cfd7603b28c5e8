# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run hands on: its result (``maintain_result``), and its record as lines for a person. Pure.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from ...module_utils._core.decision import acts
from ...module_utils._core.messages import RUN, Reason, ends_by, sentence
from ...module_utils._errors import ScheduledEventsError
from ...module_utils._events.event import notification
from ...module_utils._text import did_you_mean, listed, one_line
from .approving import ACCEPTED
from .event_state import Attempt, EventState, HostResult
from .reports import time_of_day
from .run_events import is_open, names_no_time, not_before
from .state import NEWS, Happening, Record


def result(record: Record) -> dict[str, Any]:
    """What is documented of a run, for people and for whatever comes after it. All times are of the day, in UTC."""
    run = record.run
    return {
        "format": 1,
        "run": run.name,
        "job": run.job,
        "controller": run.controller,
        "began": time_of_day(record, record.clock.mono),
        "ended": time_of_day(record, record.at),
        "seconds": round(record.at - record.clock.mono, 1),
        "rounds": record.rounds_done,
        "timeline": lines(record),
        "events": [_event(record, entry) for entry in record.events.values()],
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
    return [*record.problems.values(), *_unfinished(record)]


def notes_of(record: Record) -> list[str]:
    """What people may want to know."""
    return list(record.notes.values())


def _unfinished(record: Record) -> list[str]:
    """A run ends when it has nothing left to do, or when it could not be decided on."""
    if record.finished:
        return []
    return ["The run ended although it was not over. Run it again: it goes on by the marks."]


def _event(record: Record, entry: EventState) -> dict[str, Any]:
    return {
        **notification(entry.event, entry.tracked.notice),
        "affected": list(entry.affected),
        "unknown": list(entry.whom.unknown),
        "action": entry.decided.action,
        "actions": dict(entry.decided.actions),
        "rule": entry.decided.rule,
        "hold": entry.against.hold,
        "reasons": [_reason(reason, entry.event.event_id) for reason in entry.against.reasons],
        "outcome": entry.tracked.outcome,
        "shown": _moment(record, entry.shown),
        "started": _moment(record, entry.started),
        "gone": _moment(record, entry.gone),
        "why": entry.decided.words,
        "seen_by": list(entry.sightings),
        "prepared": _of_hosts(record, entry.prepared),
        "recovered": _of_hosts(record, entry.recovered),
        "failed": "; ".join(f"{host}: {why}" for host, why in entry.failed.items()),
        "unprepared": {host: how for host, how in entry.unprepared.items() if how},
        "approval": _approval(record, entry),
    }


def _reason(reason: Reason, event_id: str) -> dict[str, str]:
    words, ends = sentence(reason), ends_by(reason, RUN, event_id)
    return {"reason": reason.code, "about": reason.subject, "words": words, "ends_by": ends}


def _approval(record: Record, entry: EventState) -> dict[str, Any]:
    approval = entry.approval
    over = entry.started is not None or entry.gone is not None
    return {
        "sent": approval.sent,
        "by": approval.by,
        "at": _moment(record, approval.at),
        "confirmed": approval.sent and over,
        "tries": approval.tries.times,
        "problem": "" if approval.sent else approval.tries.note,
        "attempts": [
            {**asdict(one), "at": _moment(record, one.at), "until": _moment(record, one.until)}
            for one in approval.attempts
        ],
    }


def _of_hosts(record: Record, results: Mapping[str, HostResult]) -> dict[str, dict[str, Any]]:
    return {host: _of_host(record, one) for host, one in results.items()}


def _of_host(record: Record, one: HostResult) -> dict[str, Any]:
    steps = {key: step._asdict() for key, step in one.steps.items()}
    return {**one._asdict(), "at": _moment(record, one.at), "steps": steps}


def _moment(record: Record, at: float | None) -> str | None:
    return None if at is None else time_of_day(record, at)


MOST = 2000
"""Characters of a line, which may hold what came from anywhere: it is printed on terminals."""


def lines(record: Record) -> list[str]:
    """Every event of the run, oldest first: what happened when, to which machine; then what concerns no event."""
    said: list[str] = []
    for key, entry in sorted(record.events.items(), key=lambda item: item[1].shown):
        said.append(heading(entry))
        said.extend(
            _lines(record, [one for one in record.happenings if one.event == key and one.what not in NEWS], entry)
        )
    others = [one for one in record.happenings if not one.event and one.what not in NEWS]
    if others:
        said.append("Besides")
        said.extend(_lines(record, others))
    return said or [_nothing(record, "No event was shown.")]


def end_lines(record: Record) -> list[str]:
    """What is said at the end: the timeline, in check mode the plan, what people may want to know, what is left for them."""
    said = plan_lines(record) if record.run.check else lines(record)
    for title, sentences in (("Notes", notes_of(record)), ("Left for a person", problems_of(record))):
        said += [title, *(f"  {one_line(one, MOST)}" for one in sentences)] if sentences else []
    return said


def plan_lines(record: Record) -> list[str]:
    """What the run is about to do, before it does it."""
    said = [f"{heading(entry)}: {decision(entry)}" for entry in record.events.values() if is_open(entry)]
    return said or [_nothing(record, "No event is shown: there is nothing to do.")]


def _nothing(record: Record, words: str) -> str:
    """What is said where no event was seen, which is another thing where nobody could see any."""
    return "No machine could see its events: whether there are any is not known." if all_are_blind(record) else words


def all_are_blind(record: Record) -> bool:
    return all(machine.seen.at is None and (machine.seen.problem or machine.lost) for machine in record.hosts.values())


def _lines(record: Record, happenings: list[Happening], entry: EventState | None = None) -> list[str]:
    found = [(one.at, one.what, one.text) for one in happenings]
    if entry:
        found.append((entry.shown, "planned", decision(entry)))
        found += [(one.at, "tried", _tried_words(one)) for one in entry.approval.attempts if one.answer != ACCEPTED]
    found.sort(key=lambda one: (one[0], one[1] == "planned"))
    return [f"  {line(record, at, what, text)}" for at, what, text in found]


def _tried_words(attempt: Attempt) -> str:
    """An approval that was not accepted, as far as anybody knows."""
    times = f" ({attempt.times} times)" if attempt.times > 1 else ""
    return f"to approve it, by {attempt.by}: {attempt.answer}{times}"


def line(record: Record, at: float, what: str, text: str) -> str:
    """What happened when."""
    return f"{time_of_day(record, at)}  {what:<9}  {one_line(text, MOST)}".rstrip()


def heading(entry: EventState) -> str:
    """An event, and whom it affects."""
    machines = listed(entry.affected) or "none of ours"
    source = entry.event.source or "source unknown"
    words = f"{entry.event.event_type or 'An event'} {entry.event.event_id} ({source}) affects {listed(entry.event.resources)} ({machines})"
    return one_line(words, MOST)


def decision(entry: EventState) -> str:
    """What is to be done about an event, and why."""
    parts = [entry.decided.words]
    if any(map(acts, entry.decided.actions.values())) and entry.started is None:
        notice = not_before(entry) - entry.shown
        if names_no_time(entry):
            parts.append("it names no time")
        else:
            parts.append(f"{notice:.0f} s after it was shown at the latest" if notice > 0 else "its time is over")
        parts += [
            words for words in (entry.turn.words, entry.against.hold and f"not approved: {entry.against.hold}") if words
        ]
    return "; ".join(parts)


def name_of(entry: EventState) -> str:
    return f"{entry.event.event_type or 'event'} {entry.event.event_id}"
