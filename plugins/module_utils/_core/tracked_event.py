# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What polls make of an event: scheduled, started, gone, perhaps back again. One answer for the run and the watcher. Pure.

Private to this collection.

Several machines may observe one event, or a single one. Only a machine that was shown an event can say that it is gone: what others
don't see they may never have been shown. All moments are of the caller's monotonic clock.
"""

from typing import (
    Any,
    Callable,
    Collection,
    Dict,
    FrozenSet,
    Iterable,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
)

from .._events import lifecycle
from .._events.event import Event, event_from_dict, notification

GONE_APART = 5.0
"""Seconds between the two polls that show that an event is gone. Documents of one scope differed for 1.6 s, and came back empty for 3 s."""

UNBROKEN = 10.0
"""Seconds without a poll after which an event may have started and ended unseen: real ones stayed Started for 30 s at least (S9)."""

MOVED = 5.0
"""Seconds from which on a not-before is another one: whole seconds, and answers that take their time, make less."""

FOREVER = 1e9
"""Seconds: nobody has polled for as long as anybody knows."""


class Poll(NamedTuple):
    """One document, as one observer got it.

    asked: when it was asked for: it may be that old
    got: when it came
    events: those that it shows, by key
    notices: seconds from got to the not-before, by key, where that is known; also of known events that it lacks
    unreadable: keys of the entries that can't be read; "" for an entry that may be any event
    since: when the first poll of an unbroken series was asked for that ends with this one; None: it is alone
    unwatched: seconds without a poll before it, where the caller knows better (of a machine that stood still)
    """

    observer: str
    asked: float
    got: float
    events: Mapping[str, Event]
    notices: Mapping[str, float]
    unreadable: FrozenSet[str] = frozenset()
    since: Optional[float] = None
    unwatched: float = 0.0

    def may_hold(self, key: str) -> bool:
        """Whether it has the event as an entry that can't be read: then it is still there."""
        return bool(self.unreadable.intersection(("", key)))


class Sighting(NamedTuple):
    """One observer that was shown the event.

    first, last: its first and its last poll that showed it
    polled: its last poll that could be read, whatever that showed
    absent: since when its polls have lacked it
    doubted: that they lacked it was counted anew, as nobody had polled for a while
    """

    first: float
    last: float
    polled: float
    absent: Optional[float] = None
    doubted: bool = False


class TrackedEvent(NamedTuple):
    """One event.

    event: as it was last shown; what a document left out is kept, and so is every resource that it ever named
    notice: seconds, when it was first shown; None where that is not known
    first_names: of the machines that it listed at first, in lower case
    sightings: by observer
    deadline: its not-before; None where it names none
    deadline_notice: the seconds of notice that this not-before was first shown with
    started: when it was first seen to have started
    blind: the longest time, in seconds, without a poll since it was last shown
    gone: when that was known
    outcome: of lifecycle, once it is gone
    reappeared: how often it was gone and came back
    scheduled_again: when it was first seen Scheduled since it has started, without having been gone: it counts as started all the same
    """

    event: Event
    shown: float
    notice: Optional[float]
    first_names: FrozenSet[str]
    sightings: Mapping[str, Sighting]
    deadline: Optional[float] = None
    deadline_notice: Optional[float] = None
    started: Optional[float] = None
    blind: float = 0.0
    gone: Optional[float] = None
    outcome: str = ""
    reappeared: int = 0
    scheduled_again: Optional[float] = None

    @property
    def names(self) -> FrozenSet[str]:
        """Of all machines that it has ever listed, in lower case: an approval may hold for them all."""
        return _names(self.event)

    @property
    def is_recalled(self) -> bool:
        """Whether only a mark tells of it so far: it may have started since, or be over."""
        return self.blind >= FOREVER

    @property
    def last_polled(self) -> float:
        return max((sighting.polled for sighting in self.sightings.values()), default=self.shown)


def polled(
    known: Mapping[str, TrackedEvent],
    polls: Iterable[Poll],
    at: float,
    approved: Collection[str] = (),
    concerns: Callable[[Event], bool] = lambda event: True,
    rebooted: Collection[str] = (),
) -> Dict[str, TrackedEvent]:
    """All events after the polls of one tick.

    :arg at: when the tick ended
    :arg approved: keys of the events that may have been approved: these could start at any time
    :arg concerns: whether an event that was not known is tracked
    :arg rebooted: keys of the approved events whose machine was rebooted since: a Reboot that is gone then took place
    """
    polls = sorted(polls, key=lambda poll: poll.got)
    shown: Dict[str, List[Tuple[Poll, Event]]] = {}
    for poll in polls:
        for key, event in poll.events.items():
            if key in known or concerns(event):
                shown.setdefault(key, []).append((poll, event))
    found = {
        key: tracked if key in shown else _lacked(tracked, polls, at, key in approved, key in rebooted)
        for key, tracked in known.items()
    }
    for key, showing in shown.items():
        found[key] = _seen(known.get(key) or _new(*showing[0]), showing, polls)
    return found


def recalled(
    event: Event, observer: str, notice: Optional[float], started: bool, outcome: str, at: float
) -> TrackedEvent:
    """An event that only a mark tells of: whether it will have been cancelled, nobody can say.

    :arg observer: the machine of the mark
    :arg outcome: how it ended, where the mark says that it did
    """
    return TrackedEvent(
        event,
        at,
        notice,
        _names(event),
        {observer: Sighting(at, at, at)},
        started=at if started else None,
        blind=FOREVER,
        gone=at if outcome else None,
        outcome=outcome,
    )


# ---- shown ----


def _new(poll: Poll, event: Event) -> TrackedEvent:
    return TrackedEvent(event, poll.got, poll.notices.get(event.key), _names(event), {})


def _seen(tracked: TrackedEvent, showing: Sequence[Tuple[Poll, Event]], polls: Sequence[Poll]) -> TrackedEvent:
    starts = [poll.got for poll, event in showing if event.has_started]
    if tracked.gone is not None:
        tracked = _back(tracked, bool(starts))
    event = tracked.event
    for _poll, shown in showing:
        event = _joined(event, shown)
    if tracked.started is None and starts:
        tracked = tracked._replace(started=min(starts))
    if tracked.started is not None:
        event = event._replace(event_status="Started")
        tracked = _scheduled_again(tracked, showing)
    if tracked.is_recalled:  # a mark does not say whom it listed at first
        notice = showing[0][0].notices.get(event.key) if tracked.notice is None else tracked.notice
        tracked = tracked._replace(first_names=_names(event), notice=notice)
    # It is there: nobody's polls lack it any more.
    sightings = {observer: Sighting(one.first, one.last, one.polled) for observer, one in tracked.sightings.items()}
    for poll, _event in showing:
        one = sightings.get(poll.observer, Sighting(poll.got, poll.got, poll.got))
        sightings[poll.observer] = Sighting(one.first, max(one.last, poll.got), one.polled)
    for poll in polls:
        if poll.observer in sightings and not poll.may_hold(event.key):
            one = sightings[poll.observer]
            sightings[poll.observer] = Sighting(one.first, one.last, max(one.polled, poll.got))
    tracked = tracked._replace(event=event, sightings=sightings, blind=0.0)
    return _timed(tracked, [poll for poll, _event in showing])


def _scheduled_again(tracked: TrackedEvent, showing: Sequence[Tuple[Poll, Event]]) -> TrackedEvent:
    """Azure says nothing of the kind, so a person has to look. Documents of one scope differ for a moment."""
    if tracked.started is None or tracked.scheduled_again is not None:
        return tracked
    again = [poll.got for poll, event in showing if event.is_scheduled and poll.asked >= tracked.started + UNBROKEN]
    return tracked._replace(scheduled_again=min(again, default=None))


def _back(tracked: TrackedEvent, has_started: bool) -> TrackedEvent:
    """It was not gone. One that is to start (again) is another piece of maintenance than the one that had started."""
    tracked = tracked._replace(gone=None, outcome="", reappeared=tracked.reappeared + 1, scheduled_again=None)
    if has_started or tracked.started is None:
        return tracked
    return tracked._replace(started=None, deadline=None, deadline_notice=None)


def _joined(known: Event, shown: Event) -> Event:
    """What the document says now; what it left out, or has damaged, is kept, and so are the machines that were once listed."""
    listed = {name.lower() for name in known.resources}
    new = tuple(name for name in shown.resources if name.lower() not in listed)
    return shown._replace(
        event_type=shown.event_type or known.event_type,
        resource_type=shown.resource_type or known.resource_type,
        resources=known.resources + new,
        raw_resources=tuple(dict.fromkeys(known.raw_resources + shown.raw_resources)),
        not_before=shown.not_before or known.not_before,
        not_before_time=known.not_before_time if shown.not_before_time is None else shown.not_before_time,
        description=shown.description or known.description,
        source=shown.source or known.source,
        duration=known.duration if shown.duration is None else shown.duration,
    )


def _timed(tracked: TrackedEvent, polls: Iterable[Poll]) -> TrackedEvent:
    """Its not-before by the caller's clock, as polls tell it anew. Of several the earliest counts.

    Where that clock stood still, as it does in a machine that is frozen, the same not-before has come closer by as much.
    """
    key = tracked.event.key
    deadlines = [(poll.got + poll.notices[key], poll.got, poll.unwatched) for poll in polls if key in poll.notices]
    if tracked.started is not None or not deadlines:
        return tracked
    deadline, got, stood_still = min(deadlines)
    if tracked.deadline is None or abs(deadline - tracked.deadline) > MOVED + stood_still:
        tracked = tracked._replace(deadline_notice=deadline - got)
    return tracked._replace(deadline=deadline)


# ---- not shown ----


def _lacked(
    tracked: TrackedEvent, polls: Iterable[Poll], at: float, is_approved: bool, has_rebooted: bool
) -> TrackedEvent:
    """No document of this tick shows it."""
    for poll in polls:
        if tracked.gone is not None or poll.observer not in tracked.sightings:
            continue
        notice = poll.notices.get(tracked.event.key)
        if tracked.started is None and notice is not None:  # whoever stood still meanwhile has less of it left
            tracked = tracked._replace(deadline=poll.got + notice)
        if poll.may_hold(tracked.event.key):
            # What became of it since the last poll that could be read, nobody has watched.
            blind = max(tracked.blind + poll.unwatched, _gap(tracked, poll))
            tracked = tracked._replace(blind=blind)
        else:
            tracked = _missed(tracked, poll, at, is_approved, has_rebooted)
    return tracked


def _missed(tracked: TrackedEvent, poll: Poll, at: float, is_approved: bool, has_rebooted: bool) -> TrackedEvent:
    """Two polls of one observer, some seconds apart, that lack what it was shown show that it is gone."""
    gap = max(_gap(tracked, poll), poll.unwatched)
    tracked = tracked._replace(blind=max(tracked.blind, gap))
    sightings = dict(tracked.sightings)
    if gap > UNBROKEN:
        # Both may have met a document that lacked it for a moment. Where polls are always that rare, the next one counts.
        for observer, one in sightings.items():
            if one.absent is not None and not one.doubted:
                sightings[observer] = one._replace(absent=None, doubted=True)
    own = sightings[poll.observer]
    absent = own.absent
    sightings[poll.observer] = own._replace(
        absent=poll.got if absent is None else absent, polled=max(own.polled, poll.got)
    )
    tracked = tracked._replace(sightings=sightings)
    if absent is None or poll.asked - absent < GONE_APART:
        return tracked
    took_place = has_rebooted and tracked.event.reboots_machines
    outcome = lifecycle.COMPLETED if took_place else _outcome(tracked, poll.got, is_approved)
    return tracked._replace(gone=at, outcome=outcome)


def _gap(tracked: TrackedEvent, poll: Poll) -> float:
    """Seconds since the last poll that could be read, of any observer that was shown it."""
    return (poll.asked if poll.since is None else poll.since) - tracked.last_polled


def _outcome(tracked: TrackedEvent, got: float, is_approved: bool) -> str:
    """How it ended. Only one that could not have started until the poll that showed its end, and was watched all the time, was
    cancelled: the poll before may have met a document that lacked it for a moment."""
    could_start = is_approved or tracked.blind > UNBROKEN
    by_our_clock = tracked.event._replace(not_before_time=tracked.deadline)
    return lifecycle.outcome(by_our_clock, [by_our_clock.key] if could_start else [], got)


def _names(event: Event) -> FrozenSet[str]:
    return frozenset(name.lower() for name in event.resources)


# ---- what has changed ----

SCHEDULED, CHANGED, STARTED, ENDED, REAPPEARED = "scheduled", "changed", "started", "ended", "reappeared"
SCHEDULED_AGAIN = "scheduled_again"


class Change(NamedTuple):
    """One thing that happened to an event; ``before`` is None where that was not known."""

    kind: str
    before: Optional[TrackedEvent]
    after: TrackedEvent


def changes(before: Mapping[str, TrackedEvent], after: Mapping[str, TrackedEvent]) -> List[Change]:
    """What happened from one tick to the next, event by event."""
    found = []
    for key, now in after.items():
        was = before.get(key)
        if was is now:
            continue
        is_new = was is None or (was.is_recalled and not now.is_recalled)
        kinds = [
            (SCHEDULED, is_new),
            (REAPPEARED, was is not None and now.reappeared > was.reappeared),
            (CHANGED, was is not None and not is_new and _facts(was) != _facts(now)),
            (STARTED, now.started is not None and (was is None or was.started is None)),
            (SCHEDULED_AGAIN, now.scheduled_again is not None and (was is None or was.scheduled_again is None)),
            (ENDED, now.gone is not None and (was is None or was.gone is None)),
        ]
        found += [Change(kind, was, now) for kind, has_happened in kinds if has_happened]
    return found


def _facts(tracked: TrackedEvent) -> Tuple[Any, ...]:
    """By what a policy may decide anew."""
    return tracked.names, tracked.event.event_type, tracked.event.duration


# ---- kept ----

_MOMENTS = ("shown", "deadline", "started", "gone", "scheduled_again")
_PLAIN = ("deadline_notice", "blind", "outcome", "reappeared")


def packed(tracked: TrackedEvent) -> Dict[str, Any]:
    """As plain data, for a file; of the event itself as whatever else hears of it."""
    return dict(
        notification(tracked.event, tracked.notice),
        first_names=sorted(tracked.first_names),
        sightings={observer: dict(one._asdict()) for observer, one in tracked.sightings.items()},
        **{name: getattr(tracked, name) for name in _MOMENTS + _PLAIN},
    )


def unpacked(data: Mapping[str, Any], shift: float = 0.0) -> TrackedEvent:
    """Out of plain data, which may hold more than that.

    :arg shift: seconds by which the clock here is ahead of the one there
    :raises KeyError, TypeError, ValueError: it is no such thing
    """
    moments = {name: None if data[name] is None else data[name] + shift for name in _MOMENTS}
    return TrackedEvent(
        event=event_from_dict(data),
        notice=data["notice"],
        first_names=frozenset(data["first_names"]),
        sightings={observer: _sighting(one, shift) for observer, one in data["sightings"].items()},
        **dict({name: data[name] for name in _PLAIN}, **moments),
    )


def _sighting(data: Mapping[str, Any], shift: float) -> Sighting:
    absent = None if data["absent"] is None else data["absent"] + shift
    return Sighting(data["first"] + shift, data["last"] + shift, data["polled"] + shift, absent, data["doubted"])
