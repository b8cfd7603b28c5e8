# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The life of one event as this machine sees it: shown, started, gone, perhaps back again. Pure.

Private to this collection.
"""

from typing import Any, Dict, FrozenSet, Mapping, NamedTuple, Optional, Sequence

from .._core.decision import Judged
from .._events import lifecycle
from .._events.event import Event, event_from_dict
from .._events.notification import notification

GONE_APART = 5.0
"""Seconds between the two looks that show that an event is gone: documents came back empty for 3 s."""

UNBROKEN = 10.0
"""Seconds without a document after which an event may have started and ended unseen."""


FOREVER = 1e9
"""Seconds: nobody has looked for as long as anybody knows."""


class Life(NamedTuple):
    """One event. Moments are of the clock that nobody sets."""

    event: Event  # as it was last seen
    shown: float
    notice: Optional[float]  # seconds, when it was first seen; None where nobody knows
    judged: Optional[Judged]  # by what the policy was asked: what was decided stays so
    names: FrozenSet[str]  # of all machines that it has ever listed, in lower case: an approval may hold for them all
    first_names: FrozenSet[str]  # of those that it listed at first
    seen: float  # when last
    seen_date: Optional[float] = None  # the Unix time of the answer that showed it then, where that was said
    started: bool = False
    blind: float = 0.0  # the longest time without a document since it was last seen
    absent: Optional[float] = None  # since when it is not in the document
    doubted: bool = False  # that it was not there was counted anew, as nobody had looked for a while
    gone: Optional[float] = None
    outcome: str = ""
    approved: bool = False  # an approval was sent, or is about to be
    asked: Optional[float] = None  # when last
    late: bool = False
    failed: str = ""  # why the machine could not be prepared for it
    lacked: str = ""  # which prepare hook was not run for it
    said: FrozenSet[str] = frozenset()  # what was reported

    @property
    def key(self) -> str:
        return self.event.key

    @property
    def is_open(self) -> bool:
        return self.gone is None

    @property
    def is_recalled(self) -> bool:
        """Whether only the mark tells of it so far: it may have started since, or be over."""
        return self.blind >= FOREVER

    @property
    def is_coming(self) -> bool:
        """Whether it is announced, and can still be prepared for."""
        return self.is_open and not self.started and (self.event.is_scheduled or self.event.is_advice)

    @property
    def has_struck(self) -> bool:
        """Whether its machine is being worked on."""
        return self.is_open and self.started

    @property
    def kind(self) -> str:
        return self.event.event_type.lower()


def shown(event: Event, at: float, wall: float, date: Optional[float] = None) -> Life:
    """An event that is seen for the first time.

    :arg wall: the Unix time of that
    :arg date: the Unix time of the answer, where it says that
    """
    notice = None if event.not_before_time is None else event.not_before_time - wall
    by = Judged(event.event_status, notice)
    return Life(event, at, notice, by, _names(event), _names(event), at, date, started=event.has_started)


def recalled(event_id: str, kind: str, name: str, note: Mapping[str, Any], at: float) -> Life:
    """An event that only the mark tells of, as after a reboot: whether it will have been cancelled, nobody can say."""
    started = _lists(note.get("started"), event_id)
    status = "Started" if started else "Scheduled"
    event = Event(event_id, kind, status, "VirtualMachine", (name,), (name,), "", None, "", "", None)
    notice = _of(note.get("notices"), event_id)
    outcome = _of(note.get("over"), event_id)
    return Life(
        event,
        at,
        notice,
        Judged("Started" if started and notice is None else "Scheduled", notice),  # as it was when it was prepared for
        _names(event),
        _names(event),
        at,
        started=started,
        blind=FOREVER,
        gone=None if outcome is None else at,
        outcome=outcome or "",
        approved=_lists(note.get("approved"), event_id),
        said=frozenset(_of(note.get("said"), event_id) or ()),
    )


def seen(life: Life, event: Event, at: float, date: Optional[float] = None) -> Life:
    """It is in the document. Blank once it has started is its not-before; what it was before is kept.

    :arg date: the Unix time of the answer, where it says that
    """
    if event.has_started:
        event = event._replace(
            not_before=event.not_before or life.event.not_before,
            not_before_time=event.not_before_time or life.event.not_before_time,
        )
    return life._replace(
        event=event,
        names=life.names | _names(event),
        # The mark does not say whom it listed at first.
        first_names=life.names | _names(event) if life.is_recalled else life.first_names,
        seen=at,
        seen_date=date,
        started=life.started or event.has_started,
        blind=0.0,
        absent=None,
        doubted=False,
        gone=None,
        outcome="",
    )


def missed(life: Life, asked: float, at: float, wall: float, gap: float) -> Life:
    """It is not in the document. Two such looks, some seconds apart, show that it is gone.

    :arg asked: when the document was asked for: it may be that old
    :arg at: when it came
    :arg gap: seconds between this look and the one before
    """
    life = life._replace(blind=max(life.blind, gap))
    if life.gone is not None:
        return life
    if life.absent is None:
        return life._replace(absent=at)
    if gap > UNBROKEN and not life.doubted:
        # Both looks may have met a document that lacked it for a moment. Where looks are always that rare, the next one counts.
        return life._replace(absent=at, doubted=True)
    if asked - life.absent < GONE_APART:
        return life
    # That it was not there before may have been an answer that lacked it for a moment: by now it may have started, too.
    return life._replace(gone=at, outcome=_outcome(life, wall))


def unread(life: Life, at: float, date: Optional[float] = None) -> Life:
    """It may be an entry that can't be read: what became of it since it was seen, nobody has watched.

    :arg date: the Unix time of the answer, where it says that: a machine does not feel it when Azure lets it stand still meanwhile
    """
    by_dates = 0.0 if date is None or life.seen_date is None else date - life.seen_date
    return life._replace(blind=max(life.blind, at - life.seen, by_dates))


def _outcome(life: Life, wall: float) -> str:
    """How it ended. Only one that could not have started until then, and was watched all the time, was cancelled."""
    if life.started:
        return lifecycle.COMPLETED
    could_start = life.approved or life.blind > UNBROKEN
    return lifecycle.outcome(life.event, (life.key,) if could_start else (), wall)


def _names(event: Event) -> FrozenSet[str]:
    return frozenset(name.lower() for name in event.resources)


def _lists(ids: Optional[Sequence[str]], event_id: str) -> bool:
    return event_id.upper() in {one.upper() for one in ids or ()}


def _of(values: Optional[Mapping[str, Any]], event_id: str) -> Any:
    return next((value for key, value in (values or {}).items() if key.upper() == event_id.upper()), None)


# ---- kept ----

_SETS = ("names", "first_names", "said")
_MOMENTS = ("shown", "seen", "absent", "gone", "asked")


def packed(life: Life) -> Dict[str, Any]:
    """As JSON."""
    sets = {name: sorted(getattr(life, name)) for name in _SETS}
    by = None if life.judged is None else dict(life.judged._asdict())
    return dict(life._asdict(), event=notification(life.event, None), judged=by, **sets)


def unpacked(data: Mapping[str, Any], shift: float) -> Life:
    """Out of JSON.

    :arg shift: by which the clock here is ahead of the one there
    """
    sets = {name: frozenset(data[name]) for name in _SETS}
    by = None if data["judged"] is None else Judged(**data["judged"])
    life = Life(**dict(data, event=event_from_dict(data["event"]), judged=by, **sets))
    moments = {name: getattr(life, name) for name in _MOMENTS}
    return life._replace(**{name: value + shift for name, value in moments.items() if value is not None})
