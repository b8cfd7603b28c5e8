# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The note in the watcher's mark: what has to outlive the watcher and the machine's restart. Pure.

Private to this collection.

::

    outage      its name
    types       of its events, by id
    started     ids of those that were seen Started
    over        how those ended that are gone, by id
    approved    ids of those whose approval was sent, or was about to be
    notices     seconds of notice when they were first seen, by id: by them the policy was asked
    said        what was reported of them, by id
"""

from typing import Any, Dict, Sequence

from ..._clock import iso_utc
from ..._core.lease import Moment
from .machine_event import MachineEvent
from .snapshot import Snapshot


def named(moment: Moment, other: str = "") -> str:
    """The name of an outage that begins now, fit for a file.

    :arg other: of the one whose place it takes, which may have begun in the same second
    """
    names = (iso_utc(moment.wall + later).replace("-", "").replace(":", "") for later in (0.0, 1.0))
    return next(name for name in names if name != other)


def note(here: Snapshot, outage: str, more: Sequence[MachineEvent] = ()) -> Dict[str, Any]:
    """The note as it should be.

    :arg more: events that join the outage
    """
    keys = {life.key for life in here.lives.values() if here.is_marked(life)}.union(life.key for life in more)
    lives = [here.lives[key] for key in sorted(keys)]
    return {
        "outage": outage,
        "types": {life.event.event_id: life.event.event_type for life in lives},
        "started": [life.event.event_id for life in lives if life.started],
        "over": {life.event.event_id: life.tracked.outcome for life in lives if not life.is_open},
        "approved": [life.event.event_id for life in lives if life.approved],
        "notices": {life.event.event_id: life.tracked.notice for life in lives},
        "said": {life.event.event_id: sorted(life.said) for life in lives},
    }
