# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the watcher's engine wants done. Pure.

Private to this collection.
"""

from typing import Any, Dict, NamedTuple, Optional, Tuple

from ..._events.event import Event


class Go(NamedTuple):
    """Have the machine program go on towards "prepared" or "recovered"."""

    to: str
    left: float  # seconds that are left for it
    events: Tuple[str, ...]  # ids, as they came
    note: Dict[str, Any]  # kept in the mark
    kinds: Tuple[
        str, ...
    ] = ()  # types of its events, in lower case: by them the steps are chosen, see ``plan.steps_of``
    parallel: bool = False  # all hooks side by side
    redo_after_reboot: bool = False  # the machine was rebooted by nobody's event: its steps are done again
    no_new_steps: bool = False  # only what runs goes on
    replace_outage: bool = False  # it is another outage: what the one before has under way in being undone is stopped


class Approve(NamedTuple):
    """POST these events."""

    events: Tuple[str, ...]  # ids, as they came
    own: Tuple[str, ...] = ()  # those for which the machine has to be prepared


class PutAside(NamedTuple):
    """It is of another machine, of which this one is a copy: out of the way, unread."""

    why: str
    what: str = "mark"  # or hold


class Remember(NamedTuple):
    """Keep this where it outlives the watcher and not the machine's next start (/run): the next ``Engine`` is made with it.

    What is lost of it costs a wait, says something twice, or has a recovery that nobody remembers reported as somebody else's.
    """

    what: Dict[str, Any]


class Say(NamedTuple):
    """What happened, for whoever listens."""

    happened: str
    message: str
    event: Optional[Event] = None
    notice: Optional[float] = None
    outcome: str = ""
    outage: str = ""
    details: Dict[str, Any] = {}
