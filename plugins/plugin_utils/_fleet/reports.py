# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run keeps for people: what happened, what is left for them, what they may want to know, and the same of many machines once. It
changes the record, and nothing else.

Private to this collection.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ...module_utils._clock import iso_utc
from ...module_utils._text import listed
from .state import Clock, Happening, Record

CORRECTED = 1.0
"""Seconds from which on the time of day has been set, or the controller was suspended: the monotonic clock stood still then."""

SAID = 30.0
"""Seconds from which on that is said."""


def wall_time(record: Record, at: float) -> float:
    """The Unix time of a moment of the run, as the controller's clock had it then."""
    clock = next((clock for clock in reversed(record.corrected) if clock.mono <= at), record.clock)
    return clock.wall + at - clock.mono


def note_clock(record: Record, at: float, wall: float) -> None:
    """What goes by the time of day goes by it as it is now, whatever it was when the run began."""
    ahead = wall - wall_time(record, at)
    if abs(ahead) < CORRECTED:
        return
    record.corrected.append(Clock(at, wall))
    if abs(ahead) >= SAID:
        words = f"The controller's time jumped {'forward' if ahead > 0 else 'back'} by {abs(ahead):.0f} s"
        happened(record, "clock", f"{words}: it was set, or the controller was suspended")


def time_of_day(record: Record, at: float) -> str:
    """A moment of the run for people."""
    return iso_utc(wall_time(record, at))


def happened(
    record: Record, what: str, text: str = "", event: str = "", host: str = "", at: float | None = None
) -> None:
    """Keep something for people to hear, and for the timeline.

    :arg event: its key
    :arg at: when it happened, where that was not now
    """
    record.happenings.append(Happening(record.at if at is None else at, what, text, event, host))


def has_happened(record: Record, what: str, event: str, host: str) -> bool:
    """Whether that is kept already."""
    return any((one.what, one.event, one.host) == (what, event, host) for one in record.happenings)


def report(record: Record, subject: str, sentence: str) -> None:
    """Keep a problem that no later happening takes back; about the same subject the latest sentence counts."""
    record.lasting[subject] = sentence


def note(record: Record, subject: str, sentence: str) -> None:
    """Keep something that people may want to know, though nothing is left for them to do."""
    record.notes[subject] = sentence


# ---- the same said of many machines, once ----


_NAMED = 5
_COUNTED = re.compile(r"\b[0-9]+(\.[0-9]+)? (s|times)\b")  # how long and how often differ from machine to machine


class Reason(NamedTuple):
    """Why something is so.

    subject: the same for all who say the same
    words: as the first of them says it
    """

    subject: str
    words: str
    hosts: list[str]


def by_reason(reasons: Mapping[str, str]) -> list[Reason]:
    """Those of several machines, each once.

    :arg reasons: by host
    """
    found: dict[str, Reason] = {}
    for host, words in reasons.items():
        subject = _COUNTED.sub("# \\2", words)
        found.setdefault(subject, Reason(subject, words, [])).hosts.append(host)
    return list(found.values())


def counted(hosts: Sequence[str]) -> str:
    """The hosts in a sentence: ``web1``, or ``4 machines (web1, web2, web3, web4)``"""
    return hosts[0] if len(hosts) == 1 else f"{len(hosts)} machines ({listed(hosts, _NAMED)})"
