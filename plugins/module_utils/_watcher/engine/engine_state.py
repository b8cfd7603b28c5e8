# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the engine knows from earlier ticks, and how it is kept for the next process. Pure.

Private to this collection.

All of it may be lost at any instant: what must not be stands in the mark. Kept within one start of the machine, it saves a watcher
that is restarted from saying everything twice, and from waiting until nothing of other machines' can have left the document unseen.
"""

from typing import Any, Dict, FrozenSet, Mapping, NamedTuple, Optional

from ..._clock import Moment
from ..._core.transitions import Try
from . import machine_event as lives_of
from .machine_event import MachineEvent

FORMAT = 3


class Begun(NamedTuple):
    """The outage of the mark as it was last seen."""

    name: str = ""
    phase: str = ""
    keys: FrozenSet[str] = frozenset()


class Recollection:
    """Moments are of the clock that nobody sets.

    lives: this machine's events, by key; polled_at: when the last document came; date: the Unix time of that answer, where it said that;
    others: keys of the events of other machines in it; quiet_since: since when none of them has left; reported: what was said of the
    machine itself, by what it is about; name: the last that was known of this machine, which only serves to leave out its own events
    from those of others
    """

    def __init__(self) -> None:
        self.lives: Dict[str, MachineEvent] = {}
        self.polled_at: Optional[float] = None
        self.date: Optional[float] = None
        self.others: FrozenSet[str] = frozenset()
        self.quiet_since = 0.0
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
            "lives": [lives_of.packed(life) for life in self.lives.values()],
            "looked": self.polled_at,
            "date": self.date,
            "others": sorted(self.others),
            "quiet_since": self.quiet_since,
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
        found.lives = {life.key: life for life in (lives_of.unpacked(one, shift) for one in data["lives"])}
        found.polled_at = None if data["looked"] is None else data["looked"] + shift
        found.date = data["date"]
        found.others = frozenset(data["others"])
        found.quiet_since = data["quiet_since"] + shift
        found.begun = Begun(**dict(data["begun"], keys=frozenset(data["begun"]["keys"])))
        tried = Try(**data["tried"])
        found.tried = tried._replace(at=tried.at + shift)
        found.reported = {str(about): str(words) for about, words in data["reported"].items()}
        found.name = str(data["name"])
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
    return found
