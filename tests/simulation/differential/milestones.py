# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What was decided in a life, event by event, and where two lives of one script differ."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from lives.azure import Event
from lives.journal import Journal

ABOUT = 20.0
"""Seconds by which a moment may differ: polls, ticks and calls are not made at the same moments."""


class MarkAt(NamedTuple):
    """The machine's mark from a moment on: its phase, "" without one, and its events."""

    at: float
    phase: str
    events: tuple[str, ...]


class Lived(NamedTuple):
    """A script as one engine lived it.

    outcomes: how each event ended, as the engine says
    taken: whether an event has taken the machine away
    """

    engine: str
    journal: Journal
    events: dict[str, Event]
    marks: list[MarkAt]
    outcomes: dict[str, str]
    taken: bool


class Milestones(NamedTuple):
    """What was decided about one event, and when; None for what was not."""

    begun: float | None  # taken out of service for it
    prepared: float | None
    approved: float | None
    recovered: float | None  # back in service after it
    begun_again: float | None  # taken out of service for it once more
    outcome: str | None


class Difference(NamedTuple):
    """The first moment by which two lives of one script differ."""

    at: float
    event: str
    what: str
    run: Any
    watcher: Any

    def __str__(self) -> str:
        return f"{self.event} {self.what}: run {_words(self.run)}, watcher {_words(self.watcher)}"


def _words(value: Any) -> str:
    return f"at {value:.1f}" if isinstance(value, float) else "not" if value is None else str(value)


def of_event(lived: Lived, key: str, again: bool = False) -> Milestones:
    """
    :arg again: from when it was Scheduled once more, after it was over; else until then
    """
    event = lived.events[key]
    returned = 1e9 if event.returned is None else event.returned
    since, until = (returned, 1e9) if again else (0.0, returned)
    marks = [mark for mark in lived.marks if since <= mark.at < until]
    begun = _first(marks, lambda mark: key in mark.events and _is_begun(lived, mark, event))
    posts = [line["at"] for line in lived.journal.of("post") if line["event"] == key and line["status"] == "Scheduled"]
    back = None if begun is None else _first(marks, lambda mark: mark.at > begun and not mark.phase)
    is_last = again or event.returned is None
    return Milestones(
        begun=begun,
        prepared=_first(marks, lambda mark: begun is not None and key in mark.events and mark.phase == "prepared"),
        approved=next((at for at in posts if since <= at < until), None),
        recovered=None if lived.taken else back,
        begun_again=None if back is None else _first(marks, lambda mark: mark.at > back and key in mark.events),
        outcome=lived.outcomes.get(key) if is_last and not lived.taken else None,
    )


def _is_begun(lived: Lived, mark: MarkAt, event: Event) -> bool:
    """Whether it is prepared for then: that an event which has started keeps a machine out of service may be noted in its mark, too."""
    before = next((one.phase for one in reversed(lived.marks) if one.at < mark.at), "")
    return mark.phase in ("preparing", "prepared") and (not before or event.started is None or mark.at < event.started)


def _first(marks: list[MarkAt], is_it: Callable[[MarkAt], bool]) -> float | None:
    return next((mark.at for mark in marks if is_it(mark)), None)


def differences(run: Lived, watcher: Lived) -> Iterator[Difference]:
    """All milestones that are not the same in both."""
    for key, event in run.events.items():
        yield from _of_one(run, watcher, key, False)
        if event.returned is not None and watcher.events[key].returned is not None:
            yield from _of_one(run, watcher, key, True)


def _of_one(run: Lived, watcher: Lived, key: str, again: bool) -> Iterator[Difference]:
    one, other = of_event(run, key, again), of_event(watcher, key, again)
    events = [lived.events[key] for lived in (run, watcher)]
    ends = [event.left for event in events if again or event.returned is None]
    for what in Milestones._fields:
        left, right = getattr(one, what), getattr(other, what)
        if what == "outcome":
            if left != right:
                yield Difference(min((at for at in ends if at is not None), default=1e9), key, what, left, right)
        elif (left is None) != (right is None) or (left is not None and _apart(what, left, right, ends) > ABOUT):
            yield Difference(min(at for at in (left, right) if at is not None), key, what, left, right)


def _apart(what: str, left: float, right: float, ends: list[float | None]) -> float:
    """Seconds between two moments. How late a machine is back is counted from the end of its event, which may not be the same."""
    late = 0.0
    if what == "recovered" and len(ends) == 2 and ends[0] is not None and ends[1] is not None:
        late = ends[0] - ends[1]
    return abs(left - right - late)


def first_difference(run: Lived, watcher: Lived) -> Difference | None:
    """What follows from it is no difference of its own."""
    return min(differences(run, watcher), key=lambda one: one.at, default=None)
