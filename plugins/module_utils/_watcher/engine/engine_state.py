# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the engine knows from earlier ticks, and how it is kept for the next process: each event of this machine with what the watcher has done
about it, its outage, and what was reported. Pure.

Private to this collection.

All of it may be lost at any instant: what must not be stands in the mark. Kept within one start of the machine, it saves a watcher
that is restarted from saying everything twice, and from waiting until nothing of other machines' can have left the document unseen.
"""

from typing import Any, Dict, FrozenSet, Mapping, NamedTuple, Optional, Sequence

from ..._clock import Moment
from ..._core import tracked_event as core
from ..._core.decision import Judged
from ..._core.tracked_event import TrackedEvent
from ..._core.transitions import Try
from ..._events.event import Event

HERE = "here"
"""The one observer: this machine."""

_OF_ONE_START = frozenset(
    ["started", "started_unprepared", "prepared", "prepare_failed", "not_prepared_in_time", "scheduled_again"]
)
"""What is reported anew when it is Scheduled again after it had started and was gone."""


class MachineEvent(NamedTuple):
    """One event. Moments are of the clock that nobody sets."""

    tracked: TrackedEvent
    judged: Judged  # by what the policy was asked: what was decided stays so
    approved: bool = False  # an approval was sent, or is about to be
    asked: Optional[float] = None  # when last
    begun: Optional[float] = None  # when its preparation was asked for first
    late: bool = False
    failed: str = ""  # why the machine could not be prepared for it
    lacked: str = ""  # which prepare hook was not run for it
    said: FrozenSet[str] = frozenset()  # what was reported
    from_mark: bool = False  # it was first shown to a process whose mark is all that is left: when, nobody knows

    @property
    def event(self) -> Event:
        return self.tracked.event

    @property
    def started(self) -> bool:
        return self.tracked.started is not None

    @property
    def is_lacking(self) -> bool:
        """Whether the last document that came does not show it."""
        return any(sighting.absent is not None for sighting in self.tracked.sightings.values())

    @property
    def key(self) -> str:
        return self.event.key

    @property
    def is_open(self) -> bool:
        return self.tracked.gone is None

    @property
    def is_recalled(self) -> bool:
        """Whether only the mark tells of it so far: it may have started since, or be over."""
        return self.tracked.is_recalled

    @property
    def has_come_started(self) -> bool:
        """Whether it was Started when it was first shown. An earlier process may have seen it come, and even have approved it."""
        return self.tracked.started is not None and self.tracked.started <= self.tracked.shown and not self.from_mark

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


def begun(tracked: TrackedEvent) -> MachineEvent:
    """Of an event that nothing was done about so far."""
    return MachineEvent(tracked, Judged(tracked.event.event_status, tracked.notice))


def followed(life: MachineEvent, tracked: TrackedEvent) -> MachineEvent:
    """The same event after another document."""
    if life.started and tracked.started is None:  # it was gone, and its maintenance is to come once more
        return MachineEvent(
            tracked, Judged(tracked.event.event_status, tracked.deadline_notice), said=life.said - _OF_ONE_START
        )
    return life._replace(tracked=tracked)


def recalled(event_id: str, kind: str, name: str, note: Mapping[str, Any], at: float) -> MachineEvent:
    """An event that only the mark tells of, as after a reboot."""
    started = _lists(note.get("started"), event_id)
    status = "Started" if started else "Scheduled"
    event = Event(event_id, kind, status, "VirtualMachine", (name,), (name,), "", None, "", "", None)
    notice, outcome = _of(note.get("notices"), event_id), _of(note.get("over"), event_id)
    return begun(core.recalled(event, HERE, notice, started, outcome or "", at))._replace(
        judged=Judged(
            "Started" if started and notice is None else "Scheduled", notice
        ),  # as it was when it was prepared for
        approved=_lists(note.get("approved"), event_id),
        said=frozenset(_of(note.get("said"), event_id) or ()),
        from_mark=True,
    )


def _lists(ids: Optional[Sequence[str]], event_id: str) -> bool:
    return event_id.upper() in {one.upper() for one in ids or ()}


def _of(values: Optional[Mapping[str, Any]], event_id: str) -> Any:
    return next((value for key, value in (values or {}).items() if key.upper() == event_id.upper()), None)


# ---- kept ----


def packed_event(life: MachineEvent) -> Dict[str, Any]:
    """As JSON."""
    return dict(
        life._asdict(), tracked=core.packed(life.tracked), judged=dict(life.judged._asdict()), said=sorted(life.said)
    )


def unpacked_event(data: Mapping[str, Any], shift: float) -> MachineEvent:
    """Out of JSON.

    :arg shift: by which the clock here is ahead of the one there
    """
    tracked, judged = core.unpacked(data["tracked"], shift), Judged(**data["judged"])
    life = MachineEvent(**dict(data, tracked=tracked, judged=judged, said=frozenset(data["said"])))
    moments = {name: getattr(life, name) for name in ("asked", "begun")}
    return life._replace(**{name: moment + shift for name, moment in moments.items() if moment is not None})


# ---- all that is known ----

FORMAT = 3


class Begun(NamedTuple):
    """The outage of the mark as it was last seen."""

    name: str = ""
    phase: str = ""
    keys: FrozenSet[str] = frozenset()


class Recollection:
    """Moments are of the clock that nobody sets.

    lives: this machine's events, by key; polled_at: when the last document came; date: the Unix time of that answer, where it said that;
    others: keys of the events of other machines in it; quiet_since: since when none of them has left; others_left:
    whether one did then, or nobody had polled before; reported: what was said of the
    machine itself, by what it is about; name: the last that was known of this machine, which only serves to leave out its own events
    from those of others
    """

    def __init__(self) -> None:
        self.lives: Dict[str, MachineEvent] = {}
        self.polled_at: Optional[float] = None
        self.date: Optional[float] = None
        self.others: FrozenSet[str] = frozenset()
        self.quiet_since = 0.0
        self.others_left = False
        self.begun = Begun()
        self.tried = Try()
        self.answered: Optional[float] = None  # when the last answer of the machine program came; of this process alone
        self.reported: Dict[str, str] = {}
        self.name = ""

    def packed(self, moment: Moment, now: float) -> Dict[str, Any]:
        """As JSON."""
        return {
            "format": FORMAT,
            "boot_id": moment.boot_id,
            "uptime": moment.uptime,
            "now": now,
            "lives": [packed_event(life) for life in self.lives.values()],
            "looked": self.polled_at,
            "date": self.date,
            "others": sorted(self.others),
            "quiet_since": self.quiet_since,
            "others_left": self.others_left,
            "begun": dict(self.begun._asdict(), keys=sorted(self.begun.keys)),
            "tried": dict(self.tried._asdict()),
            "reported": dict(self.reported),
            "name": self.name,
        }


def unpacked(data: Mapping[str, Any], moment: Moment, now: float) -> Optional[Recollection]:
    """Out of JSON; None where it is of an earlier start of the machine, of another version, or no such thing."""
    found = Recollection()
    try:
        if data["format"] != FORMAT or data["boot_id"] != moment.boot_id:
            return None
        # Another process may count from another moment; the time since the machine's start is the same for both.
        shift = (now - moment.uptime) - (data["now"] - data["uptime"])
        found.lives = {life.key: life for life in (unpacked_event(one, shift) for one in data["lives"])}
        found.polled_at = None if data["looked"] is None else data["looked"] + shift
        found.date = data["date"]
        found.others = frozenset(data["others"])
        found.quiet_since = data["quiet_since"] + shift
        found.others_left = bool(data.get("others_left"))
        found.begun = Begun(**dict(data["begun"], keys=frozenset(data["begun"]["keys"])))
        tried = Try(**data["tried"])
        found.tried = tried._replace(at=tried.at + shift)
        found.reported = {str(about): str(words) for about, words in data["reported"].items()}
        found.name = str(data["name"])
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
    return found
